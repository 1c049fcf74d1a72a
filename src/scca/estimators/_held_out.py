"""How well components hold on pairs that were left out in fitting them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..engine import Pairs, Progress, Split, random_folds, run_tasks

__all__ = ["CHANCE", "HeldOut", "count_shared", "held_out_correlations"]

CHANCE = 0.05  # level of the tests whether the pairs share anything

_MOST_PAIRS = 20_000  # above, one split that leaves so many out
_PERMUTATIONS = 199
_LEAST = 3  # pairs left out, for a correlation to mean anything


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Correlations (c,) of the two views' scores on pairs left out, and the chance that they share nothing.

    `p_value` tests the largest correlation on one half of the pairs, over all components learnt from the other half,
    against the same with the pairs permuted.
    """

    correlations: np.ndarray
    p_value: float


# the scores of held-out samples in both views, given the pairs, the rows to learn from and the rows left out
FoldScores = Callable[[Pairs, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def held_out_correlations(
    scores: FoldScores,
    pairs: Pairs,
    n_components: int,
    n_folds: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    progress: Progress | None = None,
) -> HeldOut:
    """Average over folds, by Fisher's z, the correlations within the pairs left out; and test whether there are any.

    Everything is learnt anew from the other pairs by `scores`. The test has a split of its own, half of the pairs:
    there, permuting the pairs left out needs no other fit and is exact, whereas the folds learn from each other's pairs
    and vary more together than permutations of each tell. Where there are too few pairs to leave any out, all is NaN.
    """
    if len(pairs) < 2 * _LEAST:
        return HeldOut(np.full(n_components, np.nan), np.nan)
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    splits = [_half(len(pairs), rng), *_splits(len(pairs), n_folds, rng)]
    compute = partial(_of_split, scores, pairs)
    (A, B), *folds = run_tasks(compute, splits, len(splits), "folds", n_jobs=n_jobs, progress=progress)
    return HeldOut(_averaged([_correlations(*fold) for fold in folds]), float(_p_values(A, B, rng)[0]))


def count_shared(scores: FoldScores, pairs: Pairs, random_state: np.random.RandomState) -> int:
    """How many factors, the strongest first, come before the first J such that the J-th and all after it are chance.

    `scores` gives factors as regularised CCA orders them. They are learnt from half of the pairs; the largest
    correlation of the J-th and those after it, on the other half, is tested as in `held_out_correlations`.
    """
    if len(pairs) < 2 * _LEAST:
        return 1
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    p_values = _p_values(*scores(pairs, *_half(len(pairs), rng)), rng)
    chance = np.flatnonzero(p_values > CHANCE)
    return max(1, int(chance[0])) if len(chance) else len(p_values)


def _p_values(A: np.ndarray, B: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each column, the p-value of the largest correlation of it and those after it, against permuted pairs."""

    def largest_from_here(correlations):
        return np.maximum.accumulate(correlations[::-1])[::-1]

    found = largest_from_here(_correlations(A, B))
    null = [largest_from_here(_correlations(A, B[rng.permutation(len(B))])) for _ in range(_PERMUTATIONS)]
    return (1 + np.sum(np.array(null) >= found, axis=0)) / (1 + _PERMUTATIONS)


def _half(n: int, rng: np.random.Generator) -> Split:
    order, size = rng.permutation(n), min(n // 2, _MOST_PAIRS)
    return np.sort(order[size:]), np.sort(order[:size])


def _splits(n: int, n_folds: int, rng: np.random.Generator) -> list[Split]:
    if n > 2 * _MOST_PAIRS:
        order = rng.permutation(n)
        return [(np.sort(order[_MOST_PAIRS:]), np.sort(order[:_MOST_PAIRS]))]
    seed = np.random.RandomState(int(rng.integers(2**31)))
    return random_folds(min(n_folds, n // _LEAST), n, seed)


def _of_split(scores: FoldScores, pairs: Pairs, split: Split) -> tuple[np.ndarray, np.ndarray]:
    return scores(pairs, *split)


def _correlations(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)


def _averaged(correlations: list[np.ndarray]) -> np.ndarray:
    z = np.arctanh(np.clip(correlations, -1 + 1e-12, 1 - 1e-12))
    return np.tanh(np.mean(z, axis=0))
