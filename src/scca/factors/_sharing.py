"""Whether two views share anything, and how many factors: pairs left out against permuted pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..parallel import one_blas_thread
from ..progress import from_checkpoint, report
from ..samples import AllBut, Groups, Pairs
from ..views import PreparedView
from ._chance import WhitenedPair, associations, strongest_features, window_strengths
from ._left_out import (
    FEWEST_PAIRS,
    FoldScores,
    has_many,
    leave_out,
    scores_of_split,
    standardized,
)

__all__ = ["CHANCE", "Sharing", "can_refit", "count_shared", "p_values", "refitted_test"]

CHANCE = 0.05  # level of the test whether the pairs share anything

_PERMUTATIONS = 199
_ROUNDING = 1e-9  # statistics that differ by less are equal
_LARGE_RIDGE = 1.0  # times the number of samples: nearly no whitening, so that the strongest covariances lead
_FEW_FOLDS, _MOST_FOLDS = 2, 5  # of a partition in which factors are found again for every order of the pairs
_MOST_PARTITIONS = 2  # over which the test averages: more of them make it stronger and less a matter of the seed
_SMALL_WORK, _MEDIUM_WORK, _MOST_WORK = 2e4, 5e6, 1.2e7  # samples times ranks: one partition, fewer folds, no refits


@dataclass(frozen=True, eq=False)
class Sharing:
    """The test whether two views share anything.

    Attributes
    ----------
    p_value : float
    null : ndarray
        How well the leading factors hold on pairs left out, by `window_strengths`, in orders other than the given one.
    partitions : sequence of sequences of ndarray of int
        The parts of the samples that are left out in turn.
    """

    p_value: float
    null: np.ndarray
    partitions: Sequence[Sequence[np.ndarray]]


def refitted_test(
    views: Sequence[PreparedView], ridges: Sequence[float], groups: Groups, random_state: np.random.RandomState
) -> Sharing | None:
    """The test whether the views are related; None if there are too many pairs, or too few.

    Three statistics of how the views go together are compared with those of 199 orders in which the pairs are permuted,
    whole groups at a time:

    - how well the leading factors of some pairs hold on the others, with the ridge of the fit: this finds what is
      shared beside strong variance of one view alone;
    - the same with nearly no whitening: this finds what is shared by strong directions, where features are many;
    - the strongest association of a feature of one view with a feature of the other: this finds single features.

    For each statistic, every order has a rank; the p-value is the share of orders, the given one included, whose best
    rank is at least as good. So it is exact for independent views, since it does to permuted pairs whatever it does to
    the given ones. Factors have dense weights without selection, so that they are found again quickly.
    """
    effort = _effort(groups, [min(view.shape) for view in views])
    if effort is None:
        return None
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    n_folds, n_partitions = effort
    partitions = [groups.parts(n_folds, rng) for _ in range(n_partitions)]
    orders = np.array([np.arange(groups.n), *groups.orders(_PERMUTATIONS, rng)])

    def statistics() -> np.ndarray:
        report("permuted pairs", 0, 1)
        large = [_LARGE_RIDGE * groups.n * view.unit for view in views]
        pairs = (WhitenedPair.of(views, at, groups) for at in (ridges, large))
        strengths = [window_strengths(pair.associations(orders, partitions))[:, 0] for pair in pairs]
        return np.array([*strengths, strongest_features(views, orders)])

    found = from_checkpoint("permuted pairs", statistics, lambda values: {"statistics": values}, _statistics)
    return Sharing(_combined(found), found[0, 1:], partitions)


def _statistics(stored: Mapping[str, np.ndarray]) -> np.ndarray:
    return stored["statistics"]


def _combined(statistics: np.ndarray) -> float:
    """The p-value of the first order, with several statistics (rows) of all orders (columns)."""
    ranks = np.sum(statistics[:, None, :] >= statistics[:, :, None] * (1 - _ROUNDING), axis=2)
    best = ranks.min(axis=0)
    return float(np.mean(best <= best[0]))


def _p_value(found: float, null: np.ndarray) -> float:
    return float((1 + np.count_nonzero(null >= found)) / (1 + len(null)))


def can_refit(groups: Groups, shapes: Sequence[tuple[int, int]]) -> bool:
    """Whether views of these shapes are small enough for `refitted_test`."""
    return _effort(groups, [min(shape) for shape in shapes]) is not None


def _effort(groups: Groups, ranks: Sequence[int]) -> tuple[int, int] | None:
    """Folds of a partition, and partitions: as many as take little time beside a fit."""
    work = float(groups.n * sum(ranks))
    if groups.n < FEWEST_PAIRS or has_many(groups.n) or work > _MOST_WORK:
        return None
    n_folds = min(int(np.clip(round(_MEDIUM_WORK / work), _FEW_FOLDS, _MOST_FOLDS)), groups.n_groups)
    leaves_each_out = n_folds == groups.n_groups  # then all partitions are the same
    return n_folds, 1 if leaves_each_out else int(np.clip(_SMALL_WORK / work, 1, _MOST_PARTITIONS))


def count_shared(scores: FoldScores, pairs: Pairs, sharing: Sharing | None, random_state: np.random.RandomState) -> int:
    """How many factors, strongest first, come before five in a row that are no better than chance.

    `scores` gives factors as regularised CCA orders them. For J = 1, 2, ..., the strength of the J-th and the next
    four on pairs left out is tested: a single factor that does not hold does not end the count, and a single one among
    hundreds that holds by chance does not extend it to all before. The factors after the last shared one are taken to
    hold by chance as well as the first ones of permuted pairs; without such a test, the pairs left out are permuted.

    So it counts too many in about 1 of 20 data sets, or a little more: what the pairs cannot tell of the shared factors
    is left to those after them, which then are not quite chance.
    """
    if len(pairs) < FEWEST_PAIRS:
        return 1
    with one_blas_thread():  # as in the folds: the same order of sums for any number of threads
        if sharing is None:
            rng = np.random.default_rng(random_state.randint(2**31 - 1))
            train, test = leave_out(pairs.groups, len(pairs) // 2, rng)
            A, B = scores_of_split("count", scores, pairs, (train, test))
            p = p_values(A, B, pairs.groups.chosen(test), rng)
        else:
            found = np.mean([_of_partition(scores, pairs, i, parts) for i, parts in enumerate(sharing.partitions)], 0)
            strengths = window_strengths(found)
            p = np.array([_p_value(strength, sharing.null) for strength in strengths])
    chance = np.flatnonzero(p > CHANCE)
    return max(1, int(chance[0])) if len(chance) else len(p)


def _of_partition(scores: FoldScores, pairs: Pairs, number: int, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The associations of all factors, each part being left out in turn."""
    found = [
        scores_of_split(f"count {number + 1} {i + 1}", scores, pairs, (AllBut(len(pairs), test), test))
        for i, test in enumerate(parts)
    ]
    A, B = (np.concatenate(sides) for sides in zip(*found, strict=True))
    return associations(A, B, pairs.groups.chosen(np.concatenate(parts)))


def p_values(A: np.ndarray, B: np.ndarray, groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """For each factor, the p-value of its strength with the next four, on pairs that were left out of a single fit.

    By permuting these pairs, which needs no further fit and is exact. Pairs left out of several fits must not be
    permuted so: each fit has learnt from the pairs that others leave out.
    """
    A, B = standardized(A), standardized(B)
    found = window_strengths(associations(A, B, groups))
    null = np.array(
        [window_strengths(associations(A, B[order], groups)) for order in groups.orders(_PERMUTATIONS, rng)]
    )
    return (1 + np.count_nonzero(null >= found, axis=0)) / (1 + _PERMUTATIONS)
