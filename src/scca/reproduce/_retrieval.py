"""Figures 2 to 5: retrieval error, and words and documents used, against the number of projections."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from .._checks import DataWarning, EmptyComponentWarning, silenced
from ..estimators import AnchoredCCA, KernelCCA
from ..results import running_union
from ..retrieval import average_precision
from ..views import Preparation
from ._corpus import Corpus
from ._run_settings import Settings, Size

__all__ = ["PAPER_REGULARIZATION", "SPARSE", "retrieve"]

PAPER_REGULARIZATION = 0.03
SPARSE = ("scca",)  # the sparse methods

Views = tuple[sp.csr_array, sp.csr_array]
Scores = tuple[np.ndarray, np.ndarray]
Curve = dict[str, list[float]]


# fewer components, components with a smaller penalty, words that no training document has: all normal here
_EXPECTED = (ConvergenceWarning, EmptyComponentWarning, DataWarning)


def retrieve(corpus: Corpus, settings: Settings, size: Size, split: int) -> dict[str, Any]:
    """One random split: errors of every method and what sparse CCA uses, for 1, 2, ... projections.

    Errors are 1 - p, p the average precision: `a_to_b` for queries of the first language, `b_to_a` for those of the
    second.
    """
    with silenced(*_EXPECTED):
        return _retrieve(corpus, settings, size, split)


def _retrieve(corpus: Corpus, settings: Settings, size: Size, split: int) -> dict[str, Any]:
    train, test = random_split(len(corpus), size, settings.seed, split)
    training, unseen = _views(corpus, settings, train, test)
    n_components = len(train) - 1
    n_sparse = min(n_components, training[0].shape[1])
    sparse = {name: AnchoredCCA(n_sparse).fit(*training) for name in SPARSE}
    choices = choose_regularization(corpus, settings, train)
    kernel_cca = _KernelCurves(training, unseen, n_components)
    return {
        "methods": {
            **{name: _curve(_scores(model, unseen), n_components) for name, model in sparse.items()},
            "kcca": kernel_cca(lambda j: PAPER_REGULARIZATION),
            "kcca-tuned": kernel_cca(lambda j: choices[min(j, len(choices)) - 1]),
        },
        "no-learning": _curve(_similarities(training, unseen), 1, start=None),
        "regularization": [choices[min(j, len(choices)) - 1] for j in range(1, n_components + 1)],
        "words": {name: _used(model.x_weights_, n_components) for name, model in sparse.items()},
        "documents": {name: _used(model.y_weights_, n_components) for name, model in sparse.items()},
        "vocabulary": [view.shape[1] for view in training],
    }


def random_split(n: int, size: Size, seed: int, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test documents of a split, drawn from all `n`; the same for any number of splits."""
    order = np.random.default_rng([seed, size.train, size.test, split]).permutation(n)
    return order[: size.train], order[size.train : size.train + size.test]


def choose_regularization(corpus: Corpus, settings: Settings, train: np.ndarray) -> list[float]:
    """The regularisation that finds most mates of held-out training pairs, for 1, 2, ... projections.

    Words and document frequencies of each fold come from its training part alone. There are as many entries as
    projections in the smallest fold.
    """
    folds = KFold(min(settings.folds, len(train) // 2), shuffle=True, random_state=settings.seed)
    total = {r: np.zeros(len(train)) for r in settings.regularizations}
    longest = len(train)
    for learnt, held_out in folds.split(train):
        training, unseen = _views(corpus, settings, train[learnt], train[held_out])
        longest = min(longest, len(learnt) - 1)
        for r in settings.regularizations:
            curve = _curve(_scores(_kernel_cca(training, len(learnt) - 1, r), unseen), len(learnt) - 1)
            total[r][: len(learnt) - 1] += _mean_of_directions(curve)
    errors = np.array([total[r][:longest] for r in settings.regularizations])
    return [settings.regularizations[best] for best in errors.argmin(axis=0)]


class _KernelCurves:
    """Errors of kernel CCA with a regularisation that may depend on the number of projections; each is fitted once."""

    def __init__(self, training: Views, unseen: Views, n_components: int):
        self._training, self._unseen, self._n_components = training, unseen, n_components
        self._scores: dict[float, Scores] = {}

    def __call__(self, regularization: Callable[[int], float]) -> Curve:
        errors = [_errors(self._of(regularization(j)), j) for j in range(1, self._n_components + 1)]
        return _transposed(errors)

    def _of(self, r: float) -> Scores:
        if r not in self._scores:
            self._scores[r] = _scores(_kernel_cca(self._training, self._n_components, r), self._unseen)
        return self._scores[r]


def _kernel_cca(training: Views, n_components: int, r: float) -> KernelCCA:
    return KernelCCA(n_components, regularization=r, scale="rows").fit(*training)


def _views(corpus: Corpus, settings: Settings, train: np.ndarray, test: np.ndarray) -> tuple[Views, Views]:
    sides = [corpus.vectors(side, train, test, settings.frequencies) for side in (0, 1)]
    return (sides[0][0], sides[1][0]), (sides[0][1], sides[1][1])


def _scores(model: Any, unseen: Views) -> Scores:
    return _blanked(model.transform_pair(*unseen), unseen)


def _similarities(training: Views, unseen: Views) -> Scores:
    """No learning: a document's scores are its similarities to the training documents of its language."""
    scores = []
    for learnt, new in zip(training, unseen, strict=True):
        preparation = Preparation.fit(learnt)
        scores.append(preparation.transform(learnt).similarities(preparation.transform(new)))
    return _blanked((scores[0], scores[1]), unseen)


def _blanked(scores: Scores, unseen: Views) -> Scores:
    """Zero scores for documents without a known word; centring would make them minus the mean."""
    for score, vectors in zip(scores, unseen, strict=True):
        score[np.diff(vectors.indptr) == 0] = 0.0
    return scores


def _curve(scores: Scores, length: int, start: int | None = 1) -> Curve:
    """Errors with the first 1, 2, ... `length` projections, or with all at once if `start` is None.

    If fewer projections exist, the last error is repeated.
    """
    available = scores[0].shape[1]
    counts = [available] if start is None else range(start, min(length, available) + 1)
    return _transposed(list(_extended([_errors(scores, j) for j in counts], length)))


def _errors(scores: Scores, j: int) -> tuple[float, float]:
    """Errors of both directions with the first `j` projections, or with all if fewer exist."""
    found = average_precision(scores[0][:, :j], scores[1][:, :j])
    return 1.0 - found.a_to_b, 1.0 - found.b_to_a


def _transposed(errors: list[tuple[float, float]]) -> Curve:
    return {"a_to_b": [error for error, _ in errors], "b_to_a": [error for _, error in errors]}


def _used(weights: np.ndarray, length: int) -> list[int]:
    return list(_extended(running_union(weights), length))


def _extended(values: list[Any], length: int) -> Iterator[Any]:
    for j in range(length):
        yield values[min(j, len(values) - 1)]


def _mean_of_directions(curve: Curve) -> np.ndarray:
    return (np.array(curve["a_to_b"]) + np.array(curve["b_to_a"])) / 2
