"""How well components hold on pairs left out of the fit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..engine import (
    AllBut,
    Pairs,
    is_small,
    kept,
    one_blas_thread,
    part_of,
    random_folds,
    report,
    run_tasks,
    samples_elsewhere,
    unreported,
)

__all__ = ["CHANCE", "MANY_PAIRS", "HeldOut", "count_shared", "held_out_correlations"]

CHANCE = 0.05  # level of the tests whether the pairs share anything

MANY_PAIRS = 20_000  # from here on a single split is enough; it leaves out at most as many
_FEW_PAIRS = 3_000  # up to here several folds are fitted at a time
_PERMUTATIONS = 199
_LOOKED_AHEAD = 10  # factors in a row that have to be no better than chance
_LEAST = 3  # pairs left out, for a correlation to be meaningful


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Correlations (c,) of the two views' scores on pairs left out, and a p-value for sharing nothing.

    `p_value` tests the largest correlation over all components, on the pairs left out in one split (half of them, or
    one fold if there are many pairs), against permuted pairs.
    """

    correlations: np.ndarray
    p_value: float


# scores of held-out samples in both views, given the pairs, the training rows and the rows left out
FoldScores = Callable[[Pairs, Any, np.ndarray], tuple[np.ndarray, np.ndarray]]
_Split = tuple[np.ndarray | AllBut, np.ndarray]  # training rows, and rows left out


def held_out_correlations(
    scores: FoldScores,
    pairs: Pairs,
    n_components: int,
    n_folds: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
) -> HeldOut:
    """Correlations on the pairs left out, averaged over folds by Fisher's z, and a test whether there are any.

    `scores` learns everything from the other pairs. The test has a split of its own, half of the pairs: there,
    permuting the pairs left out needs no further fit and is exact, whereas folds learn from each other's pairs, so
    that their results depend on each other. With many pairs one split serves both. With too few pairs to leave any
    out, everything is NaN.
    """
    if len(pairs) < 2 * _LEAST:
        return HeldOut(np.full(n_components, np.nan), np.nan)
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    splits = _splits(len(pairs), n_folds, rng)
    n_jobs = None if samples_elsewhere([pairs.X]) else n_jobs  # other processes here could not reach such samples
    # folds of many pairs take too much memory to have several at a time, and share their work among threads themselves
    few = len(pairs) <= _FEW_PAIRS and is_small(pairs.X.size, pairs.Y.size)
    compute = partial(_quietly_of_split if few else _of_split, scores, pairs)
    tasks = [(f"fold {i}" if i else "test", split) for i, split in enumerate(splits)]
    if few:
        _report(0, len(splits))
    tested, *folds = run_tasks(compute, tasks, len(splits), "folds", n_jobs=n_jobs, in_threads=few, progress=_report)
    correlations = [_correlations(*fold) for fold in folds or [tested]]
    return HeldOut(_averaged(correlations), float(_p_values(tested[0], tested[1], rng)[0]))


def count_shared(scores: FoldScores, pairs: Pairs, random_state: np.random.RandomState) -> int:
    """How many factors, strongest first, come before ten in a row that are no better than chance.

    `scores` gives factors as regularised CCA orders them. For J = 1, 2, ..., the largest correlation of the J-th and
    the next nine on pairs left out is tested as in `held_out_correlations`: a single factor that does not hold does not
    end the count, and a single one among hundreds that holds by chance does not extend it to all before.

    So it counts too many in about 1 of 20 data sets, or a little more: what half of the pairs cannot tell of the shared
    factors is left to those after them, which then are not quite chance.
    """
    if len(pairs) < 2 * _LEAST:
        return 1
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    with one_blas_thread():  # as in the folds: the same order of sums for any number of threads
        A, B = _of_split(scores, pairs, ("count", _split(len(pairs), len(pairs) // 2, rng)))
    p_values = _p_values(A, B, rng, _LOOKED_AHEAD)
    chance = np.flatnonzero(p_values > CHANCE)
    return max(1, int(chance[0])) if len(chance) else len(p_values)


def _p_values(A: np.ndarray, B: np.ndarray, rng: np.random.Generator, width: int | None = None) -> np.ndarray:
    """For each column, the p-value of the largest statistic of it and the next `width` - 1 (or all) columns.

    By permutation of the pairs, which is exact for any statistic. It is sum(a b) / sqrt(sum(a^2 b^2)), not the
    correlation: samples of unit norm that have much of a strong factor vary little in both views, and a common scale
    makes correlations larger by chance than those of permuted pairs.
    """
    A, B = _standardized(A), _standardized(B)

    def statistics(permuted: np.ndarray) -> np.ndarray:
        products = A * permuted
        spread = np.sqrt(np.einsum("ij,ij->j", products, products))
        return products.sum(axis=0) / np.where(spread > 0, spread, 1.0)

    permuted = (B[rng.permutation(len(B))] for _ in range(_PERMUTATIONS))
    found, *null = _largest(np.array([statistics(B), *map(statistics, permuted)]), width or A.shape[1])
    return (1 + np.sum(np.array(null) >= found, axis=0)) / (1 + _PERMUTATIONS)


def _largest(values: np.ndarray, width: int) -> np.ndarray:
    """The largest of each value and the next `width` - 1 in its row."""
    padded = np.pad(values, ((0, 0), (0, width - 1)), constant_values=-np.inf)
    return sliding_window_view(padded, width, axis=1).max(axis=2)


def _splits(n: int, n_folds: int, rng: np.random.Generator) -> list[_Split]:
    """The split of the test, then the folds; with many pairs a single fold, which also serves the test."""
    if n >= MANY_PAIRS:
        return [_split(n, n // max(n_folds, 2), rng)]
    tested = _split(n, n // 2, rng)
    seed = np.random.RandomState(int(rng.integers(2**31)))
    return [tested, *random_folds(min(n_folds, n // _LEAST), n, seed)]


def _split(n: int, left_out: int, rng: np.random.Generator) -> _Split:
    left_out = min(left_out, MANY_PAIRS)
    few = n < MANY_PAIRS  # of many pairs, no array of all is made
    test = rng.permutation(n)[:left_out] if few else rng.choice(n, left_out, replace=False, shuffle=False)
    return AllBut(n, np.sort(test)), np.sort(test)


def _of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, _Split]) -> tuple[np.ndarray, np.ndarray]:
    name, split = task
    with part_of("pairs left out"):
        return kept(
            name,
            lambda: scores(pairs, *split),
            lambda found: dict(zip(("x", "y"), found, strict=True)),
            lambda stored: (stored["x"], stored["y"]),
        )


def _quietly_of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, _Split]) -> tuple[np.ndarray, np.ndarray]:
    with unreported():
        return _of_split(scores, pairs, task)


def _report(done: int, total: int) -> None:
    report("folds left out", done, total)


def _correlations(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", _standardized(A), _standardized(B))


def _standardized(scores: np.ndarray) -> np.ndarray:
    """Centred columns of unit norm; constant ones become 0."""
    centred = scores - scores.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 0, norms, 1.0)


def _averaged(correlations: list[np.ndarray]) -> np.ndarray:
    z = np.arctanh(np.clip(correlations, -1 + 1e-12, 1 - 1e-12))
    return np.tanh(np.mean(z, axis=0))
