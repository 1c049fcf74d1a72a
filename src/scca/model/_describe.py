"""The result of a model: its kinds' words for features, and its training samples."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kinds import Kind
from ..parallel import parts
from ..results import Described, Feature, Result, Sample, ordered_features, result_of

if TYPE_CHECKING:
    from ._model import Model

__all__ = ["describe", "strongest"]

_ROWS = 1 << 14  # number of samples scored at a time
_MOST_SAMPLES = 10  # number of samples of a shared factor; every sample has a score


def describe(model: "Model", top: int | None) -> Result:
    """The result of a fitted model."""
    anchored, shown = hasattr(model.estimator_, "anchors_"), top != 0
    return result_of(
        model.estimator_,
        [_described(model, v) for v in range(len(model.view_names_))],
        samples=(_anchored_samples(model) if anchored else _strongest_samples(model)) if shown else None,
        features=[None, _words_of_samples(model)] if anchored and shown else None,
        n_samples=model.n_samples_,
        provenance=model.provenance_,
        withheld=model.samples_ is None,
        top=top,
    )


def _described(model: "Model", v: int) -> Described:
    kind: Kind = model.kinds_[v]
    names = () if kind.dense else kind.feature_names_
    words = {name: getattr(kind, name) for name in ("kind", "unit", "units", "sample", "samples")}
    return Described(
        name=model.view_names_[v],
        **words,
        feature=lambda i: str(names[i]),
        drawing=kind.drawing,
        positive_first=kind.zeros_say_nothing,
        shows_features=not kind.dense,
    )


def _strongest_samples(model: "Model") -> list[list[list[Sample]]]:
    """By component, the samples with the largest mean score of all views, with their scores in each view."""
    n_views, c = len(model.view_names_), model.estimator_.n_components_
    chosen = _rows_with_largest_scores(model)
    rows = np.unique(np.concatenate([np.empty(0, np.intp), *chosen]))
    scores = [_scores(model, v, rows) for v in range(n_views)]
    return [
        [[_sample(model, v, int(i), scores[v][np.searchsorted(rows, i), j]) for i in chosen[j]] for v in range(n_views)]
        for j in range(c)
    ]


def _rows_with_largest_scores(model: "Model") -> list[np.ndarray]:
    """By component, the rows with the largest scores above 0, summed over views, largest first, ties by position."""
    n, c = model.training_[0].shape[0], model.estimator_.n_components_
    best, scores = np.empty((0, c), np.intp), np.empty((0, c))
    for part in parts(0, n, _ROWS):  # a million samples have more scores than memory
        total = sum(_scores(model, v, part) for v in range(len(model.view_names_)))
        places = np.argsort(-total, axis=0, kind="stable")[:_MOST_SAMPLES]
        best = np.vstack([best, part.start + places])
        scores = np.vstack([scores, np.take_along_axis(total, places, axis=0)])
        order = np.argsort(-scores, axis=0, kind="stable")[:_MOST_SAMPLES]
        best, scores = np.take_along_axis(best, order, axis=0), np.take_along_axis(scores, order, axis=0)
    return [best[scores[:, j] > 0, j] for j in range(c)]


def _scores(model: "Model", v: int, rows: Any) -> np.ndarray:
    return model.scores_of(model.training_[v][rows], v)[0]


def _anchored_samples(model: "Model") -> list[list[list[Sample]]]:
    """By component, the samples of the second view with a weight."""
    weights = model.estimator_.weights_[1]
    return [
        [[], [_sample(model, 1, int(i), weights[i, j]) for i in ordered_features(weights[:, j], None, False)]]
        for j in range(weights.shape[1])
    ]


def _words_of_samples(model: "Model") -> list[list[Feature]]:
    """By anchored component, the words of the second view that its samples have, the heaviest first; ties by rarity."""
    estimator, kind = model.estimator_, model.kinds_[1]
    prepared = estimator.preparations_[1].transform(model.training_[1])
    weights = prepared.rmatvec(estimator.weights_[1])
    found = []
    for column in weights.T:
        order = np.lexsort((kind.idf_, -np.abs(column).round(9)))
        found.append([Feature(str(kind.words_[i]), float(column[i]), None, int(i)) for i in order if column[i] != 0])
    return found


def _sample(model: "Model", v: int, row: int, score: float) -> Sample:
    numbers, shown = model.sample_numbers_, None if model.samples_ is None else model.samples_[v]
    return Sample(row if numbers is None else int(numbers[row]), float(score), None if shown is None else shown[row])


def strongest(kind: Kind, loadings: np.ndarray, most: int) -> Sequence[str]:
    """The names of the features with the largest loadings."""
    order = np.argsort(-(loadings if kind.zeros_say_nothing else np.abs(loadings)), kind="stable")[:most]
    return [str(kind.feature_names_[i]) for i in order]
