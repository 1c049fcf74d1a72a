"""Whether two views share anything, and how many factors: pairs left out against permuted pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import AllBut, Groups, Pairs, kept, one_blas_thread, report
from ..factors import WhitenedPair, associations, window_strengths
from ..views import View
from ._left_out import FEWEST_PAIRS, MANY_PAIRS, FoldScores, leave_out, scores_of_split, standardized

__all__ = ["CHANCE", "Sharing", "count_shared", "p_values", "refitted_test"]

CHANCE = 0.05  # level of the test whether the pairs share anything

_PERMUTATIONS = 199
_FEW_FOLDS, _MOST_FOLDS = 2, 5  # of a partition in which factors are found again for every order of the pairs
_MOST_PARTITIONS = 4  # over which the test averages: more of them make it stronger and less a matter of the seed
_SMALL_WORK, _MEDIUM_WORK, _MOST_WORK = 4e4, 5e6, 1.2e7  # samples times ranks: one partition, fewer folds, no refits


@dataclass(frozen=True, eq=False)
class Sharing:
    """The test whether two views share anything.

    Attributes
    ----------
    p_value : float
        The share of orders of the pairs, the given one included, in which the leading factors of a part of the pairs
        hold at least as well on the others.
    null : ndarray
        How well they hold, by `window_strengths`, in every other order.
    partitions : sequence of sequences of ndarray of int
        The parts of the samples that are left out in turn.
    """

    p_value: float
    null: np.ndarray
    partitions: Sequence[Sequence[np.ndarray]]


def refitted_test(
    views: Sequence[View], ridge: float, groups: Groups, random_state: np.random.RandomState
) -> Sharing | None:
    """The test with factors found again for every order of the pairs; None if there are too many, or too few, pairs.

    Factors have dense weights without selection, so that everything but the products of paired samples is computed
    once. The test is exact for any statistic, since it does to permuted pairs whatever it does to the given ones.
    Whole groups are permuted.
    """
    effort = _effort(groups, [min(view.shape) for view in views])
    if effort is None:
        return None
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    n_folds, n_partitions = effort
    partitions = [groups.parts(n_folds, rng) for _ in range(n_partitions)]
    orders = np.array([np.arange(groups.n), *groups.orders(_PERMUTATIONS, rng)])

    def strengths() -> np.ndarray:
        report("permuted pairs", 0, 1)
        return window_strengths(WhitenedPair.of(views, ridge, groups).associations(orders, partitions))[:, 0]

    found, *null = kept("permuted pairs", strengths, lambda values: {"strengths": values}, _strengths)
    return Sharing(_p_value(found, np.array(null)), np.array(null), partitions)


def _strengths(stored: Mapping[str, np.ndarray]) -> np.ndarray:
    return stored["strengths"]


def _p_value(found: float, null: np.ndarray) -> float:
    return float((1 + np.count_nonzero(null >= found)) / (1 + len(null)))


def _effort(groups: Groups, ranks: Sequence[int]) -> tuple[int, int] | None:
    """Folds of a partition, and partitions: as many as take little time beside a fit."""
    work = float(groups.n * sum(ranks))
    if groups.n < FEWEST_PAIRS or groups.n >= MANY_PAIRS or work > _MOST_WORK:
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

    So it counts too many in about 1 of 12 data sets: what the pairs cannot tell of the shared factors is left to those
    after them, which then are not quite chance.
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
    """The associations of all factors, of whose parts each is left out in turn."""
    A: Any = None
    B: Any = None
    for i, test in enumerate(parts):
        a, b = scores_of_split(f"count {number + 1} {i + 1}", scores, pairs, (AllBut(len(pairs), test), test))
        if A is None:
            A, B = np.zeros((2, len(pairs), a.shape[1]))
        c = min(A.shape[1], a.shape[1])  # smaller parts may leave a factor more
        A, B = A[:, :c], B[:, :c]
        A[test], B[test] = a[:, :c], b[:, :c]
    return associations(A, B, pairs.groups)


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
