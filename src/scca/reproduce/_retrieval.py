"""Figures 2 to 5: retrieval error, and words and documents used, against the number of projections."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from .._checks import DataWarning, EmptyComponentWarning, silenced
from ..estimators import AnchoredCCA, KernelCCA, SparseCCA
from ..results import running_union
from ..retrieval import average_precision
from ..views import Preparation
from ._corpus import Corpus
from ._run_settings import Settings, Size

__all__ = ["PAPER_REGULARIZATION", "SPARSE", "retrieve"]

PAPER_REGULARIZATION = 0.03
SPARSE = ("scca", "shared")  # the methods that use only some words

_NOTHING_SHOWN = 1e3
"""A penalty at which no word is selected for a reader. The weights of all words that are read do not depend on it, and
a fit takes a third of the time."""

Views = tuple[sp.csr_array, sp.csr_array]
Scores = tuple[np.ndarray, np.ndarray]
Curve = dict[str, list[Any]]


# fewer components, components with a smaller penalty, words that no training document has: all normal here
_EXPECTED = (ConvergenceWarning, EmptyComponentWarning, DataWarning)


def retrieve(corpus: Corpus, settings: Settings, size: Size, split: int) -> dict[str, Any]:
    """One random split: errors of every method and what the sparse ones use, for some numbers of projections.

    Errors are 1 - p, p the average precision: `a_to_b` for queries of the first language, `b_to_a` for those of the
    second. All methods learn from the same vectors and are tested on the same vectors.
    """
    with silenced(*_EXPECTED):
        return _retrieve(corpus, settings, size, split)


def _retrieve(corpus: Corpus, settings: Settings, size: Size, split: int) -> dict[str, Any]:
    train, test = random_split(len(corpus), size, settings.seed, split)
    training, unseen = _views(corpus, settings, train, test)
    n_components = len(train) - 1
    n_sparse = min(n_components, training[0].shape[1])
    anchored = AnchoredCCA(n_sparse).fit(*training)
    shared = _SharedFactors(training, unseen, n_components, settings)
    choices = choose_regularization(corpus, settings, train)
    kernel_cca = _KernelCurves(training, unseen, n_components)
    return {
        "methods": {
            "scca": _curve(_scores(anchored, unseen), n_components),
            "kcca": kernel_cca(lambda j: PAPER_REGULARIZATION),
            "kcca-tuned": kernel_cca(lambda j: choices[min(j, len(choices)) - 1]),
            "shared": shared.curve,
        },
        "no-learning": _with_all(_similarities(training, unseen)),
        "regularization": [choices[min(j, len(choices)) - 1] for j in range(1, n_components + 1)],
        "words": {"scca": _used(anchored.x_weights_, n_components), "shared": shared.words},
        "documents": {"scca": _used(anchored.y_weights_, n_components)},
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


class _SharedFactors:
    """Errors of the default method, and the words of the first language that it reads.

    The words are chosen for all factors together. The first factors of a larger model are therefore not those of a
    smaller one, and every number of projections is a fit of its own. Both views are read by words, so no documents are
    counted.
    """

    def __init__(self, training: Views, unseen: Views, n_components: int, settings: Settings):
        numbers = sorted({*(j for j in settings.projections if j < n_components), n_components})
        errors = []
        self.words: list[int] = []
        for j in numbers:
            model = _shared_factors(training, j)
            errors.append(_errors(_scores(model, unseen), j))
            self.words.append(int(np.count_nonzero(model.x_weights_.any(axis=1))))
        self.curve = _transposed(numbers, errors)


class _KernelCurves:
    """Errors of kernel CCA with a regularisation that may depend on the number of projections; each is fitted once."""

    def __init__(self, training: Views, unseen: Views, n_components: int):
        self._training, self._unseen, self._n_components = training, unseen, n_components
        self._scores: dict[float, Scores] = {}

    def __call__(self, regularization: Callable[[int], float]) -> Curve:
        numbers = range(1, self._n_components + 1)
        return _transposed(numbers, [_errors(self._of(regularization(j)), j) for j in numbers])

    def _of(self, r: float) -> Scores:
        if r not in self._scores:
            self._scores[r] = _scores(_kernel_cca(self._training, self._n_components, r), self._unseen)
        return self._scores[r]


def _shared_factors(training: Views, n_components: int) -> SparseCCA:
    """What `SparseCCA` does by default with TF-IDF vectors, without what it shows to a reader."""
    possible = min(n_components, *(view.shape[1] for view in training))
    return SparseCCA(possible, rendering="joint", scale="rows", mu=_NOTHING_SHOWN, held_out=0).fit(*training)


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


def _curve(scores: Scores, length: int) -> Curve:
    """Errors with the first 1, 2, ... `length` projections.

    If fewer projections exist, the last error is repeated.
    """
    errors = [_errors(scores, j) for j in range(1, min(length, scores[0].shape[1]) + 1)]
    return _transposed(range(1, length + 1), list(_extended(errors, length)))


def _with_all(scores: Scores) -> Curve:
    """Errors with all projections at once."""
    n = scores[0].shape[1]
    return _transposed([n], [_errors(scores, n)])


def _errors(scores: Scores, j: int) -> tuple[float, float]:
    """Errors of both directions with the first `j` projections, or with all if fewer exist."""
    found = average_precision(scores[0][:, :j], scores[1][:, :j])
    return 1.0 - found.a_to_b, 1.0 - found.b_to_a


def _transposed(projections: Iterable[int], errors: list[tuple[float, float]]) -> Curve:
    a_to_b, b_to_a = ([error[way] for error in errors] for way in (0, 1))
    return {"projections": list(projections), "a_to_b": a_to_b, "b_to_a": b_to_a}


def _used(weights: np.ndarray, length: int) -> list[int]:
    return list(_extended(running_union(weights), length))


def _extended(values: list[Any], length: int) -> Iterator[Any]:
    for j in range(length):
        yield values[min(j, len(values) - 1)]


def _mean_of_directions(curve: Curve) -> np.ndarray:
    return (np.array(curve["a_to_b"]) + np.array(curve["b_to_a"])) / 2
