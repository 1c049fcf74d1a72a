"""How well components hold on pairs left out of the fit: correlations to expect on new pairs, with intervals."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri, stdtrit

from ..parallel import is_small, run_tasks
from ..progress import report, unreported
from ..samples import AllBut, Groups, Pairs, remote_blocks_of
from ._chance import LEADING
from ._left_out import (
    FEWEST_PAIRS,
    FoldScores,
    Split,
    has_many,
    leave_out,
    scores_of_split,
    standardized,
)
from ._sharing import p_values

__all__ = ["HeldOut", "held_out_correlations"]

_FEW_PAIRS = 3_000  # up to here several folds are fitted at a time
# Few pairs, or groups of them, have small folds: drawing five of them twice gives a less variable mean than more. With
# more pairs eight folds, whose fits learn from nearly all pairs; with many, time allows five.
_FEW_GROUPS, _MANY_GROUPS = 100, 2_000
_FEW_LARGE_GROUPS = 20  # of several samples each: ten folds, so that a fit learns from nearly all groups
_LEVEL = 0.95  # of the intervals
# Folds share training pairs, and a fit to other pairs would find somewhat other components: the error of a claim about
# new pairs is about twice the standard error of a correlation (python -m benchmarks honesty).
_WIDENED = 2.2


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
    n_folds: int | None,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    tested: bool,
) -> HeldOut:
    """Correlations on the pairs left out of folds, with intervals; with `tested`, a p-value from the first fold.

    `scores` learns everything from the other pairs, and gives scores in units of their standard deviation there, so
    that those of all folds can be pooled. `n_folds` None: 5 folds, drawn twice, of fewer than 100 pairs (or groups), 8
    of up to 2,000, 5 of more. With 20,000 pairs or more there is a single fold. With too few pairs to leave any out,
    everything is NaN.
    """
    nothing = np.full((n_components, 2), np.nan)
    if len(pairs) < FEWEST_PAIRS:
        return HeldOut(nothing[:, 0], nothing, 0)
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    repeats = _repeats(pairs.groups, n_folds, rng)
    splits = [split for repeat in repeats for split in repeat]
    n_jobs = None if remote_blocks_of([pairs.X]) else n_jobs  # other processes here could not reach such samples
    # folds of many pairs take too much memory to have several at a time, and share their work among threads themselves
    few = len(pairs) <= _FEW_PAIRS and is_small(pairs.X.size, pairs.Y.size)
    compute = partial(_quietly_of_split if few else _of_split, scores, pairs)
    tasks = [(f"fold {i + 1}", split) for i, split in enumerate(splits)]
    if few:
        _report(0, len(splits))
    found = run_tasks(compute, tasks, len(splits), "folds", n_jobs=n_jobs, in_threads=few, progress=_report)

    z, errors = [], []
    first = 0
    for folds in repeats:
        here = found[first : first + len(folds)]
        first += len(folds)
        rows = np.concatenate([test for _, test in folds])
        fold_of = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        A, B = (np.concatenate(sides) for sides in zip(*here, strict=True))
        centre, error = _correlations(A, B, fold_of, pairs.groups.chosen(rows))
        z.append(centre)
        errors.append(error)
    centre, reach = np.mean(z, axis=0), _quantile(pairs.groups) * np.mean(errors, axis=0)
    p_value = np.nan
    if tested:
        x, y = (scores[:, :LEADING] for scores in found[0])
        p_value = float(p_values(x, y, pairs.groups.chosen(splits[0][1]), rng)[0])
    return HeldOut(np.tanh(centre), np.tanh(np.column_stack([centre - reach, centre + reach])), len(splits), p_value)


def _repeats(groups: Groups, n_folds: int | None, rng: np.random.Generator) -> list[list[Split]]:
    """The folds of every repeat; with many pairs a single fold."""
    few = groups.n_groups < _FEW_GROUPS
    few_large = groups.labels is not None and groups.n_groups <= _FEW_LARGE_GROUPS
    n_repeats = 2 if n_folds is None and few and not few_large else 1
    if n_folds is None:
        n_folds = 10 if few_large else 5 if few or groups.n_groups > _MANY_GROUPS else 8
    n_folds = max(2, min(n_folds, groups.n_groups, groups.n // 3))
    if has_many(groups.n):
        return [[leave_out(groups, groups.n // n_folds, rng)]]
    if n_folds == groups.n_groups:
        n_repeats = 1  # each would leave out the same
    return [[(AllBut(groups.n, test), test) for test in groups.parts(n_folds, rng)] for _ in range(n_repeats)]


def _correlations(A: np.ndarray, B: np.ndarray, fold_of: np.ndarray, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
    """Fisher's z of the correlation of every column of A with that of B, and its error as a claim about new pairs.

    With standardised scores a and b, sample i moves z by (a b - r (a^2 + b^2) / 2) / (1 - r^2) / n, so that the
    variance of z is the sum over groups of the squares of their sums, whatever the distribution of the scores; it is
    not taken below that of normal scores, 1 / (n - 3). 2.2 times its root is widened by how much more the folds differ
    than samples explain: their fits may have found different components.
    """
    A, B = standardized(A), standardized(B)
    r = np.clip(np.einsum("ij,ij->j", A, B), -1 + 1e-12, 1 - 1e-12)
    influence = (A * B - r / 2 * (A * A + B * B)) / (1 - r * r)
    variance = np.maximum(np.sum(groups.sums(influence) ** 2, axis=0), 1.0 / max(len(A) - 3, 1))
    return np.arctanh(r), np.sqrt(_WIDENED**2 * variance + _between(len(A) * influence, fold_of))


def _quantile(groups: Groups) -> float:
    """How many errors an interval reaches to either side: by the normal distribution, or by Student's t with groups."""
    upper = (1 + _LEVEL) / 2
    return float(ndtri(upper) if groups.labels is None else stdtrit(max(groups.n_groups - 1, 1), upper))


def _between(influence: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """The variance of the folds' means less what is due to the samples in them; 0 for a single fold."""
    folds = [influence[fold_of == fold] for fold in range(fold_of[-1] + 1)]
    if len(folds) < 2:
        return np.zeros(influence.shape[1])
    means = np.var([fold.mean(axis=0) for fold in folds], axis=0, ddof=1)
    of_samples = np.mean([fold.var(axis=0) / max(len(fold) - 1, 1) for fold in folds], axis=0)
    return np.maximum(means - of_samples, 0.0)


def _of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, Split]) -> tuple[np.ndarray, np.ndarray]:
    return scores_of_split(task[0], scores, pairs, task[1])


def _quietly_of_split(scores: FoldScores, pairs: Pairs, task: tuple[str, Split]) -> tuple[np.ndarray, np.ndarray]:
    with unreported():
        return _of_split(scores, pairs, task)


def _report(done: int, total: int) -> None:
    report("folds left out", done, total)
