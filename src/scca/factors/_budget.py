"""The share of the features that the factors need to find the mates of pairs left out."""

from typing import Any

import numpy as np

from .._arrays import chosen_rows
from .._checks import NothingSharedError
from .._types import MatrixLike
from ..parallel import is_small, map_threads, one_blas_thread
from ..progress import Stage, from_checkpoint, report, unreported
from ..retrieval import mate_ranks
from ..samples import Groups
from ._preparing import Preparing
from ._settings import FactorSettings
from ._steps import fit_factors
from ._weights import FEWEST_PAIRS, KEPT, MOST_PAIRS, elimination

__all__ = ["needed_share"]

_LEAST = 0.15  # smallest share of a view's features
_LEAST_PER_PAIR = 10  # features per pair that are always enough
_WORTH = 0.85  # of the best precision has to remain
_CLEARLY = 5.0  # standard errors of the difference that the loss may not exceed
_JUDGED = 1000  # pairs that are split in halves, about, of more than that
_SEED = 0


def needed_share(
    X: MatrixLike, Y: MatrixLike, preparing: Preparing, n_components: int, settings: FactorSettings
) -> float | None:
    """The smallest share of both views' features that is not clearly worse than the best; None for all.

    Half of the pairs select the features, in the rounds of `elimination`, and find the factors, by which the mates of
    the other half are searched; then the halves swap roles. A share is clearly worse if its precision, the mean of
    1 / rank, is below 0.85 times that of the best, or below it by more than five standard errors. With more pairs than
    `elimination` can use, all features are read: a sample of the pairs would have too few with a rare feature.
    """
    n = X.shape[0]
    groups = preparing.groups or Groups.of(None, n)
    if not 4 * FEWEST_PAIRS <= n <= MOST_PAIRS or groups.n_groups < 2:
        return None
    # at random, since pairs may come in any order, but the same for all seeds: what is learnt does not depend on them
    halves = groups.parts(max(2, round(2 * n / _JUDGED)), np.random.default_rng(_SEED))[:2]
    fewest = min(data.shape[1] for name, data in (("X", X), ("Y", Y)) if name not in preparing.as_they_are)
    least = min(_LEAST, _LEAST_PER_PAIR * n / fewest)

    at_once = is_small(X.size, Y.size)
    stage = Stage("choosing features", 1.0 if at_once else 2.0)

    def judged(half: int) -> list[np.ndarray]:
        train, test = halves[half], halves[1 - half]
        with unreported() if half and at_once else stage.step(1.0):
            return from_checkpoint(  # by a name of its own: the steps of both halves are stored in any order
                f"half {half + 1}",
                lambda: _precisions(X, Y, train, test, preparing, least, n_components, settings),
                lambda found: {"precisions": np.array(found).reshape(len(found), len(test))},
                lambda stored: list(stored["precisions"]),
            )

    with one_blas_thread():  # the same order of sums for any number of threads
        found = map_threads(judged, range(2)) if at_once else list(map(judged, range(2)))
    rounds = min(map(len, found))
    if not rounds:
        return None
    precisions = np.hstack([np.array(half[:rounds]) for half in found])
    means = precisions.mean(axis=1)
    lost = precisions[np.argmax(means)] - precisions
    unsure = lost.mean(axis=1) <= _CLEARLY * lost.std(axis=1) / np.sqrt(lost.shape[1])
    last = int(np.flatnonzero(unsure & (means >= _WORTH * means.max()))[-1])
    return max(least, KEPT**last) if last else None


def _precisions(
    X: MatrixLike,
    Y: MatrixLike,
    train: np.ndarray,
    test: np.ndarray,
    preparing: Preparing,
    least: float,
    n_components: int,
    settings: FactorSettings,
) -> list[np.ndarray]:
    """1 / rank of the mates of the pairs `test`, for every round of the elimination on the pairs `train`."""
    samples = {"X": chosen_rows(X, train), "Y": chosen_rows(Y, train)}
    views: dict[str, Any] = {name: preparing.unweighted(data, name) for name, data in samples.items()}
    precisions: list[np.ndarray] = []
    judged = [preparing.judged(view, name) for name, view in views.items()]
    groups = None if preparing.groups is None else preparing.groups.chosen(train)
    for n_rounds, weights in enumerate(elimination(judged[0], judged[1], least, groups)):
        report("choosing features", 1.0 - KEPT**n_rounds, 1.0 - least)  # a round takes as long as it has features
        read = {
            name: view if w is None else view.preparation.weighted(w, samples[name]).transform(samples[name])
            for (name, view), w in zip(views.items(), weights, strict=True)
        }
        if not all(view.square_norms().any() for view in read.values()):  # no feature varies in this half
            break
        try:
            fit = fit_factors(read, samples, min(n_components, len(train) - 1), settings, rotate=lambda T: T)
        except NothingSharedError:
            break
        x, y = (
            fit.renderings[name].view.projector(fit.renderings[name].weights)(chosen_rows(data, test))
            for name, data in (("X", X), ("Y", Y))
        )
        precisions.append(np.mean([1.0 / ranks for ranks in mate_ranks(x, y)], axis=0))
    return precisions
