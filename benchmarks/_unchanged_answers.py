"""What a version answers, as arrays by name: fits, searches, tests, one component, bilingual models."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import scca
from scca.inference import permutation_test, stability_selection
from scca.text import BilingualModel, PairedText

from ._unchanged_spelling import generator

__all__ = [
    "Answers",
    "Texts",
    "Views",
    "fitted",
    "generated",
    "one_component",
    "path_of_component",
    "path_of_model",
    "permuted",
    "read_again",
    "said_of_texts",
    "searched",
    "stable",
]

Answers = dict[str, np.ndarray]
Maker = Callable[[], Any]  # of an estimator that is not fitted
Texts = list[tuple[str, str]]

_FITTED = (  # whatever of these a model has
    *("n_components_", "x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_", "y_rotations_"),
    *("correlations_", "canonical_values_", "mu_", "objective_", "converged_", "anchors_", "x_scale_", "y_scale_"),
    *("held_out_correlations_", "held_out_intervals_", "p_value_", "n_folds_", "x_kernel_error_", "y_kernel_error_"),
    *("x_feature_weights_", "y_feature_weights_", "feature_names_in_", "feature_names_y_"),
)
_SEARCHED = (
    *("best_index_", "best_score_", "component_scores_", "n_splits_"),
    *("mu_factor_", "gamma_factor_", "ridge_factor_"),
)
_ONLY_ANCHORED, _ONLY_FACTORS = ("gamma_factor", "gamma_factor_"), ("ridge_factor",)
_NEW_TEXTS = 100  # that a bilingual model is asked about, or a third of all
_MATES = 5  # best candidates that are compared
_TIED = 1e-6  # difference of cosines below which candidates are as good
_QUERIES = 40  # documents that words are generated for


@dataclass(frozen=True)
class Views:
    """Training samples, and new ones with the diagonals that those of precomputed kernels need."""

    train: tuple[Any, Any]
    new: tuple[Any, Any]
    diagonals: tuple[Any, Any] = (None, None)


# --- two views --------------------------------------------------------------------------------------------------------


def fitted(make: Maker, views: Views, **more: Any) -> Answers:
    """All that a fit says, and the scores of new samples."""
    model = make().fit(*views.train, **more)
    return _said(model, _FITTED) | _scored(model, views)


def searched(make: Maker, views: Views, **more: Any) -> Answers:
    """What a search by cross-validation chose, the scores that it chose by, and the fit."""
    model = make().fit(*views.train, **more)
    table = {name: np.asarray(column) for name, column in model.cv_results_.items() if name != "params"}
    searched = _said(model, _SEARCHED)
    for name in _ONLY_ANCHORED if hasattr(model, "ridge_factor_") else _ONLY_FACTORS:
        table.pop(name, None)  # penalties of the other method, which need not be mentioned
        searched.pop(name, None)
    return table | searched | _said(model, _FITTED) | _scored(model, views)


def read_again(make: Maker, views: Views) -> Answers:
    """A model that was saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.scca")
        scca.save(make().fit(*views.train), path)
        model = scca.load(path)
    return _said(model, _FITTED) | _scored(model, views)


def path_of_model(make: Maker, views: Views, **more: Any) -> Answers:
    """All that a path says, but for the first of its own penalties, at which rounding decides the last weight."""
    path = scca.model_path(make(), *views.train, **more)
    told = slice(1 if "mu_factors" not in more else 0, None)
    weights = {name: sp.hstack(getattr(path, name)[told]).toarray() for name in ("x_weights", "y_weights")}
    return {name: np.array(values[told]) for name, values in path.numbers().items()} | weights


def permuted(make: Maker, views: Views, **more: Any) -> Answers:
    found = permutation_test(make(), *views.train, n_permutations=19, random_state=0, **more)
    return _said(found, ("p_values", "adjusted_p_values", "statistics", "null"))


def stable(make: Maker, views: Views, **more: Any) -> Answers:
    found = stability_selection(make(), *views.train, n_subsamples=10, threshold=0.7, random_state=0, **more)
    views_ = [f"{view}_{name}" for view in "xy" for name in ("probabilities", "mean_selected")]
    return _said(found, (*views_, "selected_x", "selected_y"))


def _said(result: Any, names: Iterable[str]) -> Answers:
    told = {name: np.asarray(getattr(result, name)) for name in names if getattr(result, name, None) is not None}
    return {name: array.astype(str) if array.dtype == object else array for name, array in told.items()}


def _scored(model: Any, views: Views) -> Answers:
    x_scores = np.asarray(model.transform(views.new[0], views.diagonals[0]))
    y_scores = np.asarray(model.transform_y(views.new[1], views.diagonals[1]))
    found, cosines = scca.retrieval.best_matches(x_scores, y_scores, _MATES + 1)
    return {
        "transform": x_scores,
        "transform_y": y_scores,
        "ranks": np.array(scca.retrieval.mate_ranks(x_scores, y_scores)),
        "mates": _without_ties(found, cosines),
        "cosines of mates": cosines,
        "average precision": _numbers(scca.retrieval.average_precision(x_scores, y_scores)),
    }


def _without_ties(found: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """The best candidates but the last, -1 for those that are as good as another, of which rounding decides."""
    near = -np.diff(cosines, axis=1) < _TIED
    tied = near | np.pad(near, ((0, 0), (1, 0)))[:, :-1]
    return np.where(tied, -1, found[:, :-1])


def _numbers(precision: Any) -> np.ndarray:
    return np.array([precision.average_precision, precision.a_to_b, precision.b_to_a])


# --- one component ----------------------------------------------------------------------------------------------------


def one_component(algorithm: str, views: Views) -> Answers:
    X, Y = views.train
    found = scca.solve_component(X, Y @ Y.T, 3, algorithm=algorithm)
    return _said(found, ("w", "e", "objective", "mu", "gamma", "converged"))


def path_of_component(fit_dual: bool, views: Views) -> Answers:
    X, Y = views.train
    mus = [f"auto*{factor}" for factor in (4, 2, 1, 0.5, 0.25)]
    return _stacked(scca.component_path(X, Y @ Y.T, 3, mus=mus, fit_dual=fit_dual), ("w", "e", "objective", "mu"))


def generated(views: Views) -> Answers:
    made, queries = generator(*views.train), views.new[1]
    found = made.generate(queries[:10]) + made.path(queries[:1], ["auto*2", "auto", "auto*0.5"])
    return _stacked(found, ("weights", "mu", "objective")) | {"least squares": made.least_squares(queries[:3])}


def _stacked(results: Iterable[Any], names: Iterable[str]) -> Answers:
    results = list(results)
    return {name: np.array([getattr(one, name) for one in results]) for name in names}


# --- texts ------------------------------------------------------------------------------------------------------------


def said_of_texts(make: Maker, pairs: Texts) -> Answers:
    """All that a bilingual model says of documents that it has not seen, and of its own words."""
    first, second = zip(*pairs, strict=True)
    n = len(pairs) - min(_NEW_TEXTS, len(pairs) // 3)
    model = make().fit(PairedText.of(first[:n], second[:n], ("a", "b")))
    return _mates_of(model, first[n:], second[n:]) | _words_of(model, first[n:]) | _components_of(model)


def _mates_of(model: BilingualModel, first: tuple[str, ...], second: tuple[str, ...]) -> Answers:
    found = model.mates(first, second, source="a", top=_MATES + 1)
    return {
        "project": model.project(first, "a"),
        "project, second": model.project(second, "b"),
        "mates": _without_ties(found.indices, found.similarities),
        "cosines of mates": found.similarities,
        "known": found.known,
        "ranks": np.array(model.ranks(first, second)),
        "average precision": _numbers(model.average_precision(first, second)),
    }


def _words_of(model: BilingualModel, queries: tuple[str, ...]) -> Answers:
    """Generated words, the word list, and translations of its first words."""
    listed = model.lexicon(top=3)
    asked = [entry.word for entry in listed[:5]]
    answers = _weighted("generated", [text.words for text in model.generate(queries[:_QUERIES], source="a", top=10)])
    answers |= _weighted("translated", [each.words for each in model.translate(asked, source="a")])
    answers |= _weighted("listed mates", [entry.mates for entry in listed])
    return answers | _stacked(listed, ("word", "trust"))


def _components_of(model: BilingualModel) -> Answers:
    components = model.components()
    answers = {"number of components": np.array(len(components))}
    for name in ("words", "mate_words", "documents"):
        answers |= _weighted(name, [getattr(one, name) for one in components])
    told = [name for name in ("held_out_correlation", "held_out_interval") if getattr(components[0], name) is not None]
    return answers | _stacked(components, ("correlation", "mu", *told))


def _weighted(name: str, lists: list[tuple[Any, ...]]) -> Answers:
    """The names and the weights in all lists of weighted words, and how long each list is."""
    items = [item for each in lists for item in each]
    return {
        f"{name}, lengths": np.array([len(each) for each in lists]),
        f"{name}, names": np.array([item.name for item in items], dtype=str),
        f"{name}, weights": np.array([item.weight for item in items], dtype=float),
    }
