"""Checks that the parts of a loaded model fit together, as those of a fitted model do."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import check_choice, check_count, check_flag, check_keywords, shown
from ._data import check_matrix
from ._sparse import check_structure
from .estimators import AnchoredCCA, SparseCCA
from .text import BilingualModel, TextVectorizer
from .views import (
    SCALES,
    Kernel,
    KernelPreparation,
    Landmarks,
    LowRankPreparation,
    Norm,
    Preparation,
    Projector,
    RandomFeatures,
)

__all__ = ["check_loaded"]

_LARGEST = 1e75  # largest number that samples may be multiplied by, the same as for samples


def check_loaded(model: Any) -> None:
    """Refuse parts of the wrong kind, shape or size, and numbers that are not finite, before anything is computed."""
    if isinstance(model, BilingualModel):
        _check_bilingual(model)
    else:
        _check_components(model)


def _check_bilingual(model: BilingualModel) -> None:
    languages, vectorizers, training = model.languages_, model.vectorizers_, model.training_
    for name, parts, kind in (
        ("languages_", languages, str),
        ("vectorizers_", vectorizers, TextVectorizer),
        ("training_", training, sp.csr_array),
    ):
        _require(_is_pair_of(parts, kind), f"{name} is no pair of {kind.__name__}")
    _require(languages[0] != languages[1], f"both languages are {shown(languages[0])}")
    scca: Any = model.scca_
    anchored = isinstance(scca, AnchoredCCA)
    _require(type(scca) in (SparseCCA, AnchoredCCA), "scca_ is no SparseCCA and no AnchoredCCA")
    _require(anchored == (model.anchors is not None), "scca_ is not what the anchors say")
    check_choice(scca.kernel, "kernel", ("linear",))
    n, c = training[0].shape[0], _check_components(scca)
    sizes = scca.n_features_in_, scca.n_features_y_
    for vectorizer, vectors, preparation, size in zip(
        vectorizers, training, (scca.x_preparation_, scca.y_preparation_), sizes, strict=True
    ):
        _check_vectorizer(vectorizer, size)
        _require(isinstance(preparation, Preparation), "a text is prepared by a kernel")
        _require(vectors.shape == (n, size), f"training_ has shape {vectors.shape}, not {(n, size)}")
        _check_numbers(vectors.data, "training_", (None,))
        check_structure(vectors, "training_")
    texts = model.texts_
    _require(texts is None or _are_texts(texts, n), f"texts_ is not None, nor a list of {n} texts")
    _check_numbering(model, n)

    each = (c,) if anchored else (2, c)
    shapes = {
        "x_weights_": (sizes[0], c),
        "y_weights_": (n if anchored else sizes[1], c),
        "mu_": each,
        "dual_gap_": each,
    }
    shapes |= (
        {"anchors_": (c,), "gamma_": (c,)} if anchored else {"x_loadings_": (sizes[0], c), "y_loadings_": (sizes[1], c)}
    )
    for name, shape in shapes.items():
        _check_array(getattr(scca, name), name, shape)
    if anchored:
        _check_array(scca.anchors_, "anchors_", (c,), kinds="i")


def _check_numbering(model: BilingualModel, n: int) -> None:
    """Check the numbers of the stored documents; files of earlier versions store all documents."""
    if not hasattr(model, "n_documents_"):
        model.n_documents_, model.document_numbers_ = n, None
    total, numbers = model.n_documents_, model.document_numbers_
    check_count(total, "n_documents_", least=n)
    if numbers is None:
        _require(total == n, f"{n} of {total} documents are stored, without their numbers")
        return
    _check_array(numbers, "document_numbers_", (n,), kinds="i")
    _require(bool((np.diff(numbers) > 0).all()) and numbers[0] >= 0 and numbers[-1] < total, "wrong document_numbers_")


def _check_vectorizer(vectorizer: TextVectorizer, size: int) -> None:
    vectorizer.check_settings()
    words = vectorizer.words_
    _require(isinstance(words, np.ndarray) and _are_texts(list(words), size), f"words_ are not {size} texts")
    _require(len(set(words)) == size, "a word stands twice in words_")
    _check_numbers(vectorizer.idf_, "idf_", (size,))


def _check_components(model: Any) -> int:
    """The number of components of an estimator of two views."""
    c = check_count(model.n_components_, "n_components_", least=0)
    for view, prefix, count, names in (
        ("X", "x", model.n_features_in_, getattr(model, "feature_names_in_", None)),
        ("Y", "y", model.n_features_y_, getattr(model, "feature_names_y_", None)),
    ):
        check_count(count, "the number of features")
        _require(
            names is None or _are_texts(list(names), count), f"the names of features of {view} are not {count} texts"
        )
        projector = model._projectors[view]
        _require(isinstance(projector, Projector), "a projector is something else")
        rows = _check_preparation(projector.preparation, count)
        _check_numbers(projector.directions, "directions", (rows, c))
        _check_preparation(getattr(model, f"{prefix}_preparation_"), count)
        _check_numbers(getattr(model, f"{prefix}_weights_"), f"{prefix}_weights_", (None, c))
        error = getattr(model, f"{prefix}_kernel_error_", 0.0)
        _require(_is_number(error), f"{prefix}_kernel_error_ is {shown(error)}")
        if hasattr(model, f"{prefix}_rotations_"):
            _check_numbers(getattr(model, f"{prefix}_rotations_"), f"{prefix}_rotations_", (None, c))
    for name in ("correlations_", "held_out_correlations_", "canonical_values_"):
        if name == "correlations_" or hasattr(model, name):
            _check_array(getattr(model, name), name, (c,))
    if hasattr(model, "held_out_intervals_"):
        _check_array(model.held_out_intervals_, "held_out_intervals_", (c, 2))
    _require(isinstance(getattr(model, "verdict_", ""), str), "verdict_ is no text")
    for name in ("x_scale_", "y_scale_"):
        check_choice(getattr(model, name), name, SCALES)
    return c


def _check_preparation(preparation: Any, count: int) -> int:
    """The number of rows that directions must have after this preparation of samples with `count` features."""
    if isinstance(preparation, Preparation):
        for name in ("mean", "spread", "feature_weights"):
            if getattr(preparation, name) is not None:
                _check_numbers(getattr(preparation, name), name, (count,))
        offset = _check_array(preparation.offset, "offset", (None,), kinds="i")
        rises = len(offset) == 0 or (offset[0] >= 0 and offset[-1] < count and bool((offset[1:] > offset[:-1]).all()))
        _require(rises, f"offset holds columns that do not rise from 0 to {count - 1}")
        check_choice(preparation.scale, "scale", SCALES)
        _check_norm(preparation.norm)
        _check_spread(preparation.spread)
        _require(_is_number(preparation.unit) and preparation.unit > 0, "the unit of a view is not positive")
        check_flag(preparation.blank, "blank")
        return count
    if isinstance(preparation, LowRankPreparation):
        _require(_is_number(preparation.error), f"the error of a kernel is {shown(preparation.error)}")
        _check_columns(preparation.spread, count)
        _require(isinstance(preparation.preparation, Preparation), "a part of a preparation is something else")
        return _check_preparation(preparation.preparation, _check_map(preparation.map, count))
    _require(isinstance(preparation, KernelPreparation), "a preparation is something else")
    _check_kernel(preparation.kernel)
    if preparation.kernel.precomputed:
        _require(preparation.training is None, "a precomputed kernel has training samples")
        rows = count
    else:
        rows = _check_training(preparation.kernel, preparation.training, count)
    _check_norm(preparation.norm)
    _check_columns(preparation.spread, count)
    _require((preparation.norm is None) == (preparation.scale is None), "a kernel has norms without a rule for them")
    for name in ("means", "scale"):
        if getattr(preparation, name) is not None:
            _check_numbers(getattr(preparation, name), name, (rows,))
    _require(_is_number(preparation.grand_mean), f"grand_mean is {shown(preparation.grand_mean)}")
    return rows


def _check_norm(norm: Any) -> None:
    if norm is None:
        return
    _require(
        isinstance(norm, Norm) and _is_number(norm.shrinkage) and _is_number(norm.size), "a norm is something else"
    )
    _require(0 <= norm.shrinkage <= 1 and norm.size >= 0, "a norm is shrunk by more than all, or negative")


def _check_columns(spread: Any, count: int) -> None:
    if spread is not None:
        _check_numbers(spread, "spread", (count,))
        _check_spread(spread)


def _check_spread(spread: np.ndarray | None) -> None:
    _require(spread is None or bool((spread >= 0).all()), "a column has a negative spread")


def _check_training(kernel: Kernel, training: Any, count: int) -> int:
    """The number of training samples of a kernel."""
    _require(isinstance(training, np.ndarray) or sp.issparse(training), "a kernel has no training samples")
    rows = check_matrix(training, "training").shape[0]
    _require(training.shape == (rows, count), f"training has shape {training.shape}, not {(rows, count)}")
    kernel.diagonal(training[:1])  # raises an error for unknown parameters
    return rows


def _check_map(map_: Any, count: int) -> int:
    """The rank of an approximated kernel of samples with `count` features."""
    if isinstance(map_, RandomFeatures):
        _check_numbers(map_.offsets, "offsets", (None,))
        _require(len(map_.offsets) > 0, "there are no random features")
        _check_numbers(map_.directions, "directions", (count, len(map_.offsets)))
        return len(map_.offsets)
    _require(isinstance(map_, Landmarks), "the factor of a kernel is something else")
    _check_kernel(map_.kernel)
    _require(not map_.kernel.precomputed, "an approximated kernel is precomputed")
    rank = _check_training(map_.kernel, map_.samples, count)
    _check_numbers(map_.triangle, "triangle", (rank, rank))
    _require(bool((np.diag(map_.triangle) > 0).all()), "triangle is singular")
    return rank


def _check_kernel(kernel: Any) -> None:
    _require(isinstance(kernel, Kernel), "a kernel is something else")
    check_keywords(kernel.params, "the parameters of a kernel")
    for name, value in kernel.params.items():
        _require(value is None or _is_number(value), f"{shown(name)} of the kernel is {shown(value)}")
    _require("n_jobs" not in kernel.params, "the kernel asks for workers")


# --- parts ------------------------------------------------------------------------------------------------------------


def _check_array(array: Any, name: str, shape: tuple[int | None, ...], kinds: str = "iuf") -> np.ndarray:
    """`array`, if it is an array of this shape, in which None matches any size."""
    _require(isinstance(array, np.ndarray) and array.dtype.kind in kinds, f"{name} is no array of numbers")
    fits = array.ndim == len(shape) and all(size in (None, has) for size, has in zip(shape, array.shape, strict=True))
    _require(fits, f"{name} has shape {array.shape}, not {shape}")
    return array


def _check_numbers(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """Refuse anything but an array of finite floats."""
    _check_array(array, name, shape, kinds="f")
    largest = max(float(array.max(initial=0.0)), -float(array.min(initial=0.0)))  # NaN if there is one
    _require(largest <= _LARGEST, f"{name} holds numbers that are not finite or above {_LARGEST:g}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= _LARGEST


def _is_pair_of(parts: Any, kind: type) -> bool:
    return isinstance(parts, tuple) and len(parts) == 2 and all(isinstance(part, kind) for part in parts)


def _are_texts(texts: Any, count: int) -> bool:
    return isinstance(texts, list) and len(texts) == count and all(isinstance(text, str) for text in texts)


def _require(fits: bool, complaint: str) -> None:
    if not fits:
        raise ValueError(complaint)
