"""Checks that the parts of a loaded model fit together, as those of a fitted model do."""

from math import comb, isfinite
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import check_choice, check_count, check_flag, check_keywords, shown
from ._data import check_matrix
from ._sparse import check_structure
from .estimators import AnchoredCCA, MultiSparseCCA, PairedTransformer, SparseCCA
from .kinds import Kind, TextVectorizer
from .model import Model
from .text import BilingualModel
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
    if isinstance(model, Model):
        _check_model(model)
    else:
        _check_components(model)


def _check_model(model: Model) -> None:
    names, kinds, training, estimator = model.view_names_, model.kinds_, model.training_, model.estimator_
    for name, parts, kind in (("view_names_", names, str), ("kinds_", kinds, Kind)):
        _require(_is_tuple_of(parts, kind), f"{name} is no tuple of {kind.__name__}")
    n_views = len(names)
    _require(len(set(names)) == n_views and "" not in names, "two views have the same name, or one has none")
    _require(
        isinstance(training, tuple) and len(kinds) == len(training) == n_views, f"not all parts have {n_views} views"
    )
    is_bilingual = isinstance(model, BilingualModel)
    anchored = is_bilingual and model.anchors is not None
    expected = AnchoredCCA if anchored else SparseCCA if is_bilingual else MultiSparseCCA
    _require(type(estimator) is expected, f"estimator_ is no {expected.__name__}")
    if is_bilingual:
        _check_bilingual(model)
    c = _check_components(estimator)
    _require(len(estimator.view_names_) == n_views, f"estimator_ has not {n_views} views")
    _check_provenance(model.provenance_)
    n, sizes = training[0].shape[0], estimator.n_features_
    for kind, vectors, size in zip(kinds, training, sizes, strict=True):
        is_sparse = isinstance(vectors, sp.csr_array)
        _require(is_sparse or isinstance(vectors, np.ndarray), "training_ holds something else than matrices")
        _require(vectors.shape == (n, size), f"training_ has shape {vectors.shape}, not {(n, size)}")
        _check_numbers(vectors.data if is_sparse else vectors, "training_", (None,) if is_sparse else (n, size))
        if is_sparse:
            check_structure(vectors, "training_")
        kind.check_loaded(size)
    samples = model.samples_
    _require(
        samples is None
        or (
            isinstance(samples, tuple)
            and len(samples) == n_views
            and all(each is None or _are_texts(each, n) for each in samples)
        ),
        f"samples_ is neither None nor lists of {n} texts",
    )
    _check_numbering(model, n)
    if anchored:
        _check_array(estimator.weights_[1], "weights_", (n, c))


def _check_bilingual(model: BilingualModel) -> None:
    check_choice(model.estimator_.kernel, "kernel", ("linear",))
    _require(
        _is_tuple_of(model.kinds_, TextVectorizer) and len(model.kinds_) == 2, "kinds_ are not two TextVectorizers"
    )
    prepared = model.estimator_.preparations_
    _require(all(isinstance(each, Preparation) for each in prepared), "a text is prepared by a kernel")


def _check_numbering(model: Model, n: int) -> None:
    """Check the numbers of the stored samples."""
    total, numbers = model.n_samples_, model.sample_numbers_
    check_count(total, "n_samples_", least=n)
    if numbers is None:
        _require(total == n, f"{n} of {total} samples are stored, without their numbers")
        return
    _check_array(numbers, "sample_numbers_", (n,), kinds="i")
    _require(bool((np.diff(numbers) > 0).all()) and numbers[0] >= 0 and numbers[-1] < total, "wrong sample_numbers_")


def _check_components(model: Any) -> int:
    """The number of components of an estimator."""
    c = check_count(model.n_components_, "n_components_", least=0)
    names = model.view_names_
    _require(isinstance(names, list) and len(names) >= 2 and _are_texts(names, len(names)), "view_names_ are no texts")
    _require(not isinstance(model, PairedTransformer) or len(names) == 2, "an estimator of pairs has not 2 views")
    by_view = ("weights_", "scales_", "preparations_", "feature_weights_", "kernel_errors_", "n_features_")
    more = tuple(name for name in ("loadings_", "rotations_") if hasattr(model, name))
    for name in (*by_view, *more, "feature_names_", "_projectors"):
        parts = getattr(model, name)
        _require(isinstance(parts, list) and len(parts) == len(names), f"{name} has no entry for each view")
    for v, view in enumerate(names):
        count, known = model.n_features_[v], model.feature_names_[v]
        check_count(count, "the number of features")
        _require(
            known is None or (isinstance(known, np.ndarray) and known.ndim == 1 and _are_texts(known.tolist(), count)),
            f"the names of features of {view} are not {count} texts",
        )
        projector = model._projectors[v]
        _require(isinstance(projector, Projector), "a projector is something else")
        rows = _check_preparation(projector.preparation, count)
        _check_numbers(projector.directions, "directions", (rows, c))
        _check_preparation(model.preparations_[v], count)
        _check_numbers(model.weights_[v], "weights_", (None if model.are_dual_[v] else count, c))
        for name in more:
            _check_numbers(getattr(model, name)[v], name, model.weights_[v].shape)
        error = model.kernel_errors_[v]
        _require(error is None or _is_number(error), f"the error of a kernel is {shown(error)}")
        check_choice(model.scales_[v], "scales_", SCALES)
    _check_certificates(model, len(names), c)
    if isinstance(model, MultiSparseCCA):
        _check_reading(model, c)
    _check_evidence(model, len(names), c)
    _check_provenance(getattr(model, "provenance_", {}))
    return c


def _check_certificates(model: Any, n_views: int, c: int) -> None:
    """Check the penalties and certificates, of which kernel CCA has none."""
    anchored = isinstance(model, AnchoredCCA)
    if anchored or isinstance(model, MultiSparseCCA):
        for name in ("mu_", "dual_gap_"):
            _check_array(getattr(model, name), name, (c,) if anchored else (n_views, c))
        _require(hasattr(model, "rotations_" if anchored else "loadings_"), "there are no loadings or rotations")
    if anchored:
        _check_array(model.gamma_, "gamma_", (c,))
        _check_array(model.anchors_, "anchors_", (c,), kinds="i")


def _check_reading(model: Any, c: int) -> None:
    """Check which features are read and shown, and what that costs."""
    n_views = len(model.view_names_)
    for name in ("rendering_", "shown_", "n_read_"):
        parts = getattr(model, name)
        _require(isinstance(parts, list) and len(parts) == n_views, f"{name} has no entry for each view")
    for rendering, shown_, count, weights in zip(
        model.rendering_, model.shown_, model.n_read_, model.weights_, strict=True
    ):
        check_choice(rendering, "rendering_", ("sparse", "joint", "dense"))
        _require(type(count) is int and 0 <= count <= len(weights), "n_read_ holds no numbers of features")
        if shown_ is not None:
            _require(isinstance(shown_, sp.csr_array) and shown_.dtype == bool, "shown_ holds no sparse truth values")
            _require(shown_.shape == (len(weights), c), f"shown_ has shape {shown_.shape}, not {(len(weights), c)}")
            check_structure(shown_, "shown_")
    if hasattr(model, "mates_kept_"):
        _require(_is_number(model.mates_kept_), "mates_kept_ is no number")
        _check_array(model.mates_kept_interval_, "mates_kept_interval_", (2,))
        _check_numbers(model.reading_path_, "reading_path_", (None, 2))


def _check_evidence(model: Any, n_views: int, c: int) -> None:
    pairs = comb(n_views, 2)
    _check_numbers(model.correlations_, "correlations_", (c,))
    if hasattr(model, "pair_correlations_"):
        _check_numbers(model.pair_correlations_, "pair_correlations_", (pairs, c))
    shapes: dict[str, tuple[int | None, ...]] = {
        "held_out_correlations_": (c,),
        "canonical_values_": (c,),
        "held_out_intervals_": (c, 2),
        "held_out_pair_correlations_": (pairs, c),
        "held_out_pair_intervals_": (pairs, c, 2),
    }
    for name, shape in shapes.items():
        if hasattr(model, name):
            _check_array(getattr(model, name), name, shape)
    _require(isinstance(getattr(model, "verdict_", ""), str), "verdict_ is no text")
    _require(isinstance(getattr(model, "p_value_", 1.0), int | float), "p_value_ is no number")
    _require(type(getattr(model, "n_folds_", 0)) is int, "n_folds_ is no integer")


def _check_provenance(provenance: Any) -> None:
    """Refuse an origin that is no JSON, or has no shape of the inputs it names."""
    _require(isinstance(provenance, dict) and _is_plain(provenance), "provenance_ has something else than plain values")
    inputs = provenance.get("inputs", [])
    _require(
        isinstance(inputs, list)
        and all(
            isinstance(each, dict)
            and isinstance(shape := each.get("shape"), list)
            and len(shape) == 2
            and all(type(size) is int and 0 <= size < 2**63 for size in shape)
            for each in inputs
        ),
        "provenance_ has inputs without a shape",
    )


def _is_plain(value: Any) -> bool:
    """Whether JSON holds a value as it is."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))


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


def _is_tuple_of(parts: Any, kind: type) -> bool:
    return isinstance(parts, tuple) and len(parts) >= 2 and all(isinstance(part, kind) for part in parts)


def _are_texts(texts: Any, count: int) -> bool:
    return isinstance(texts, list) and len(texts) == count and all(isinstance(text, str) for text in texts)


def _require(fits: bool, complaint: str) -> None:
    if not fits:
        raise ValueError(complaint)
