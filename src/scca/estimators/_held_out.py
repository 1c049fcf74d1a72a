"""How well components hold on pairs that were left out in fitting them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..engine import Pairs, Progress, Split, random_folds, run_tasks

__all__ = ["HeldOut", "held_out_correlations"]

_MANY_PAIRS = 5000  # above, one split tells enough
_MOST_PAIRS = 20_000  # that it leaves out
_PERMUTATIONS = 199
_LEAST = 3  # pairs left out, for a correlation to mean anything


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Correlations (c,) of the two views' scores on pairs left out, and the chance that they share nothing.

    `p_value` tests the largest correlation on pairs left out in one split, half of them unless there are many, over all
    components learnt from the others, against the same with the pairs permuted.
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
    progress: Progress | None = None,
) -> HeldOut:
    """Average over folds, by Fisher's z, the correlations within the pairs left out; and test whether there are any.

    Everything is learnt anew from the other pairs by `scores`. The test has a split of its own, half of the pairs:
    there, permuting the pairs left out needs no other fit and is exact, whereas the folds learn from each other's pairs
    and vary more together than permutations of each tell. Of many pairs one split leaves enough out for both. Where
    there are too few pairs to leave any out, all is NaN.
    """
    if len(pairs) < 2 * _LEAST:
        return HeldOut(np.full(n_components, np.nan), np.nan)
    rng = np.random.default_rng(0)  # the same folds in every fit of the same number of pairs
    splits = _splits(len(pairs), n_folds, rng)
    compute = partial(_of_split, scores, pairs)
    tested, *folds = run_tasks(compute, splits, len(splits), "folds", n_jobs=n_jobs, progress=progress)
    A, B = tested
    largest = _correlations(A, B).max()
    null = [_correlations(A, B[rng.permutation(len(B))]).max() for _ in range(_PERMUTATIONS)]
    p_value = (1 + int(np.sum(null >= largest))) / (1 + _PERMUTATIONS)
    return HeldOut(_averaged([_correlations(*fold) for fold in folds or [tested]]), p_value)


def _splits(n: int, n_folds: int, rng: np.random.Generator) -> list[Split]:
    """The split of the test, then the folds; of many pairs the former alone."""
    if n > _MANY_PAIRS:
        return [_leaving_out(min(n // 5, _MOST_PAIRS), n, rng)]
    half = _leaving_out(n // 2, n, rng)
    seed = np.random.RandomState(int(rng.integers(2**31)))
    return [half, *random_folds(min(n_folds, n // _LEAST), n, seed)]


def _leaving_out(size: int, n: int, rng: np.random.Generator) -> Split:
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])


def _of_split(scores: FoldScores, pairs: Pairs, split: Split) -> tuple[np.ndarray, np.ndarray]:
    return scores(pairs, *split)


def _correlations(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)


def _averaged(correlations: list[np.ndarray]) -> np.ndarray:
    z = np.arctanh(np.clip(correlations, -1 + 1e-12, 1 - 1e-12))
    return np.tanh(np.mean(z, axis=0))
