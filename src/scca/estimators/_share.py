"""Which share of the features the factors need: as few as find the mates of pairs left out."""

from typing import Any

import numpy as np

from ..retrieval import mate_ranks
from ._components import NothingSharedError
from ._factors import FactorSettings, fit_factors
from ._feature_weights import FEWEST_PAIRS, KEPT, MOST_PAIRS, elimination
from ._preparing import Preparing

__all__ = ["needed_share"]

_LEAST = 0.15  # of a view's features: no fewer are left
_CLEARLY = 5.0  # standard errors: short texts, which need each of their words, are beyond; few pairs are not
_JUDGED = 1000  # pairs that are halved, at most


def needed_share(X, Y, preparing: Preparing, n_components: int, settings: FactorSettings) -> float | None:
    """The smallest share of both views' features that is not clearly worse than the best; None for all.

    Half of the pairs choose the features, round by round of `elimination`, and find the factors; the mates of the other
    half are looked for; then the halves change places. A share is clearly worse if its mean of 1 - 1 / rank is above
    the best one's by more than five standard errors of the difference. Where there are more pairs than `elimination`
    is judged from, a sample of them has too few with a rare feature, and all are read.
    """
    n = X.shape[0]
    if not 4 * FEWEST_PAIRS <= n <= MOST_PAIRS:
        return None
    rows = np.unique(np.linspace(0, n - 1, min(n, _JUDGED)).astype(int))
    halves = rows[::2], rows[1::2]
    found = [_errors(X, Y, *order, preparing, n_components, settings) for order in (halves, halves[::-1])]
    rounds = min(map(len, found))
    if not rounds:
        return None
    errors = np.hstack([np.array(half[:rounds]) for half in found])
    excess = errors - errors[np.argmin(errors.mean(axis=1))]
    as_good = excess.mean(axis=1) <= _CLEARLY * excess.std(axis=1) / np.sqrt(excess.shape[1])
    last = int(np.flatnonzero(as_good)[-1])
    return max(_LEAST, KEPT**last) if last else None


def _errors(X, Y, train, test, preparing: Preparing, n_components: int, settings: FactorSettings) -> list[np.ndarray]:
    """1 - 1 / rank of the mate of each pair `test`, for every round of the elimination that `train` makes."""
    samples = {"X": X[train], "Y": Y[train]}
    views: dict[str, Any] = {name: preparing.unweighted(data, name) for name, data in samples.items()}
    errors = []
    for weights in elimination(views["X"], views["Y"], _LEAST):
        read = {
            name: view.preparation.weighted(w).transform(samples[name])
            for (name, view), w in zip(views.items(), weights, strict=True)
        }
        if not all(view.square_norms().any() for view in read.values()):  # nothing varies in this half
            break
        try:
            fit = fit_factors(read, samples, min(n_components, len(train) - 1), settings, turn=lambda T: T)
        except NothingSharedError:
            break
        x, y = (
            fit.renderings[name].view.projector(fit.renderings[name].weights)(data[test])
            for name, data in (("X", X), ("Y", Y))
        )
        errors.append(1.0 - np.mean([1.0 / ranks for ranks in mate_ranks(x, y)], axis=0))
    return errors
