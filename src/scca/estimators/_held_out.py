"""How well components hold on pairs left out of the fit: correlations to expect on new pairs, with intervals."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from ..engine import AllBut, Groups, Pairs, is_small, report, run_tasks, samples_elsewhere, unreported
from ._left_out import FEWEST_PAIRS, MANY_PAIRS, FoldScores, Split, leave_out, scores_of_split, standardized
from ._sharing import p_values

__all__ = ["HeldOut", "held_out_correlations", "n_repeats"]

_FEW_PAIRS = 3_000  # up to here several folds are fitted at a time
_REPEATED = 2_000  # pairs up to which the folds are drawn twice
_LEVEL = 0.95  # of the intervals
# Folds share training pairs, and a fit to other pairs would find somewhat other components: the error of a claim about
# new pairs is up to twice the standard error of a correlation (python -m benchmarks honesty).
_WIDENED = 2.0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the folds show of every component.

    Attributes
    ----------
    correlations : ndarray of shape (c,)
        Correlation of the two views' scores on pairs left out. Each fold finds, rotates and orders its components by
        itself: the j-th value is what the j-th strongest component of a fit to about this many pairs reaches.
    intervals : ndarray of shape (c, 2)
    n_folds : int
        Number of fits.
    p_value : float
        Of the test on the pairs left out in the first fold; NaN if it was not asked for.
    """

    correlations: np.ndarray
    intervals: np.ndarray
    n_folds: int
    p_value: float = np.nan


def held_out_correlations(
    scores: FoldScores,
    pairs: Pairs,
    n_components: int,
    n_folds: int,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    tested: bool,
) -> HeldOut:
    """Correlations on the pairs left out of folds, with intervals; with `tested`, a p-value from the first fold.

    `scores` learns everything from the other pairs, and gives scores in units of their standard deviation there, so
    that those of all folds can be pooled. With 20,000 pairs or more there is a single fold. With too few pairs to
    leave any out, everything is NaN.
    """
    nothing = np.full((n_components, 2), np.nan)
    if len(pairs) < FEWEST_PAIRS:
        return HeldOut(nothing[:, 0], nothing, 0)
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    repeats = _repeats(pairs.groups, n_folds, rng)
    splits = [split for repeat in repeats for split in repeat]
    n_jobs = None if samples_elsewhere([pairs.X]) else n_jobs  # other processes here could not reach such samples
    # folds of many pairs take too much memory to have several at a time, and share their work among threads themselves
    few = len(pairs) <= _FEW_PAIRS and is_small(pairs.X.size, pairs.Y.size)
    compute = partial(_quietly_of_split if few else _of_split, scores, pairs)
    tasks = [(f"fold {i + 1}", split) for i, split in enumerate(splits)]
    if few:
        _report(0, len(splits))
    found = run_tasks(compute, tasks, len(splits), "folds", n_jobs=n_jobs, in_threads=few, progress=_report)

    z, errors = [], []
    for i in range(len(repeats)):
        those = slice(i * len(repeats[0]), (i + 1) * len(repeats[0]))
        rows = np.concatenate([test for _, test in splits[those]])
        A, B = (np.concatenate(sides) for sides in zip(*found[those], strict=True))
        correlation, error = _correlations(A, B, pairs.groups.chosen(rows))
        z.append(correlation)
        errors.append(error)
    centre, reach = np.mean(z, axis=0), -ndtri((1 - _LEVEL) / 2) * _WIDENED * np.mean(errors, axis=0)
    p_value = float(p_values(found[0][0], found[0][1], pairs.groups.chosen(splits[0][1]), rng)[0]) if tested else np.nan
    return HeldOut(np.tanh(centre), np.tanh(np.column_stack([centre - reach, centre + reach])), len(splits), p_value)


def n_repeats(groups: Groups, n_folds: int) -> int:
    """How often the folds are drawn: twice if time allows, once if every group is a fold."""
    return 2 if groups.n <= _REPEATED and n_folds < groups.n_groups else 1


def _repeats(groups: Groups, n_folds: int, rng: np.random.Generator) -> list[list[Split]]:
    """The folds of every repeat; with many pairs a single fold."""
    n_folds = max(2, min(n_folds, groups.n_groups, groups.n // 3))
    if groups.n >= MANY_PAIRS:
        return [[leave_out(groups, groups.n // n_folds, rng)]]
    return [
        [(AllBut(groups.n, test), test) for test in groups.parts(n_folds, rng)]
        for _ in range(n_repeats(groups, n_folds))
    ]


def _correlations(A: np.ndarray, B: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Fisher's z of the correlation of every column of A with that of B, and its standard error.

    The error is that of independent groups, whatever the distribution of the scores: with standardised scores a and b,
    the sum over groups of (sum of (a b - r (a^2 + b^2) / 2))^2, divided by n^2 (1 - r^2)^2. It is not taken below
    1 / sqrt(number of groups - 3), that of normal scores.
    """
    A, B = standardized(A), standardized(B)
    r = np.clip(np.einsum("ij,ij->j", A, B), -1 + 1e-12, 1 - 1e-12)
    influence = groups.sums(A * B - r / 2 * (A * A + B * B))
    error = np.linalg.norm(influence, axis=0) / (1 - r * r)
    return np.arctanh(r), np.maximum(error, 1.0 / np.sqrt(max(groups.n_groups - 3, 1)))


def _of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, Split]) -> tuple[np.ndarray, np.ndarray]:
    return scores_of_split(task[0], scores, pairs, task[1])


def _quietly_of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, Split]) -> tuple[np.ndarray, np.ndarray]:
    with unreported():
        return _of_split(scores, pairs, task)


def _report(done: int, total: int) -> None:
    report("folds left out", done, total)
