"""Holding out: how well components hold on samples left out of the fit, as correlations to expect, with intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from ..parallel import is_small, run_tasks
from ..progress import from_checkpoint, part_of, report, unreported
from ..samples import AllBut, Groups, Views, remote_blocks_of
from . import constants
from .chance import p_values, standardized

__all__ = ["FoldScores", "HeldOut", "Split", "has_many", "held_out_correlations", "leave_out", "scores_of_split"]

_FEW_SAMPLES = 3_000  # maximum number of samples for which several folds are fitted at a time

Split = tuple[Any, np.ndarray]  # training rows, and rows left out
# scores of the rows left out in every view, given the views, the training rows and the rows left out
FoldScores = Callable[[Views, Any, np.ndarray], Sequence[np.ndarray]]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """How well every component holds on samples left out.

    Attributes
    ----------
    correlations : ndarray of shape (c,)
        Correlation of the views' scores on samples left out; of more than two views, the mean over pairs. Each
        fold finds, rotates and orders its own components: the j-th value is what the j-th strongest component of a fit
        to about this many samples reaches.
    intervals : ndarray of shape (c, 2)
    pair_correlations : ndarray of shape (pairs, c)
    pair_intervals : ndarray of shape (pairs, c, 2)
        The same for each pair of views.
    n_folds : int
        Number of fits.
    p_value : float
        p-value of the test on the pairs left out in the first fold; NaN without a test.
    """

    correlations: np.ndarray
    intervals: np.ndarray
    pair_correlations: np.ndarray
    pair_intervals: np.ndarray
    n_folds: int
    p_value: float = np.nan


def held_out_correlations(
    scores: FoldScores,
    views: Views,
    n_components: int,
    n_folds: int | None,
    n_jobs: int | None,
    random_state: np.random.RandomState,
    tested: bool,
) -> HeldOut:
    """Correlations on the samples left out of folds, with intervals; with `tested`, a p-value from the first fold.

    `scores` learns everything from the other samples, and gives scores in units of their standard deviation in
    training, so that the scores of all folds can be pooled. `n_folds` None: 5 folds, drawn twice, of fewer than 100
    samples (or groups), 8 of up to 1,000, 5 of more. With 20,000 samples or more there is a single fold. With too few
    samples to leave any out, everything is NaN.
    """
    if len(views) < constants.FEWEST_HELD_OUT:
        nothing = np.full((1 + comb(len(views.data), 2), n_components, 2), np.nan)
        return HeldOut(nothing[0, :, 0], nothing[0], nothing[1:, :, 0], nothing[1:], 0)
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    repeats = _repeats(views.groups, n_folds, rng)
    splits = [split for repeat in repeats for split in repeat]
    n_jobs = None if remote_blocks_of(views.data) else n_jobs  # other processes could not reach remote samples
    # folds of many samples take too much memory to fit several at a time; each shares its work among threads
    few = len(views) <= _FEW_SAMPLES and is_small(*(data.size for data in views.data))
    tasks = [(f"fold {i + 1}", split) for i, split in enumerate(splits)]
    if few:
        _report(0, len(splits))
    compute = partial(_scores_of_task, scores, views, few)
    found = run_tasks(compute, tasks, len(splits), "folds", n_jobs=n_jobs, in_threads=few, progress=_report)

    z, errors = [], []
    first = 0
    for folds in repeats:
        here = found[first : first + len(folds)]
        first += len(folds)
        rows = np.concatenate([test for _, test in folds])
        fold_of = np.repeat(np.arange(len(folds)), [len(test) for _, test in folds])
        pooled = [np.concatenate(parts) for parts in zip(*here, strict=True)]
        groups = views.groups.chosen(rows)
        of_pairs = [_fisher(A, B) for A, B in combinations(pooled, 2)]
        of_pairs = [tuple(np.mean(each, axis=0) for each in zip(*of_pairs, strict=True)), *of_pairs]
        z.append([centre for centre, _ in of_pairs])
        errors.append([_error(influence, fold_of, groups) for _, influence in of_pairs])
    centre, reach = np.mean(z, axis=0), _quantile(views.groups) * np.mean(errors, axis=0)
    correlations, intervals = np.tanh(centre), np.tanh(np.stack([centre - reach, centre + reach], axis=2))
    p_value = np.nan
    if tested:
        leading = [each[:, : constants.LEADING] for each in found[0]]
        p_value = float(p_values(leading, views.groups.chosen(splits[0][1]), rng)[0])
    return HeldOut(correlations[0], intervals[0], correlations[1:], intervals[1:], len(splits), p_value)


def _repeats(groups: Groups, n_folds: int | None, rng: np.random.Generator) -> list[list[Split]]:
    """The folds of every repetition; with many pairs a single fold."""
    few = groups.n_groups < constants.FEW_GROUPS
    few_large = groups.labels is not None and groups.n_groups <= constants.FEW_LARGE_GROUPS
    n_repeats = 2 if n_folds is None and few and not few_large else 1
    if n_folds is None:
        n_folds = 10 if few_large else 5 if few or groups.n_groups > constants.MANY_GROUPS else 8
    n_folds = max(2, min(n_folds, groups.n_groups, groups.n // 3))
    if has_many(groups.n):
        return [[leave_out(groups, groups.n // n_folds, rng)]]
    if n_folds == groups.n_groups:
        n_repeats = 1  # all repetitions would leave out the same samples
    return [[(AllBut(groups.n, test), test) for test in groups.parts(n_folds, rng)] for _ in range(n_repeats)]


def _fisher(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fisher's z of the correlation of every column of A with that of B, and how far each sample moves it.

    With scores a and b of mean 0 and unit norm, sample i moves z by (a b - r (a^2 + b^2) / 2) / (1 - r^2).
    """
    A, B = standardized(A), standardized(B)
    r = np.clip(np.einsum("ij,ij->j", A, B), -1 + 1e-12, 1 - 1e-12)
    return np.arctanh(r), (A * B - r / 2 * (A * A + B * B)) / (1 - r * r)


def _error(influence: np.ndarray, fold_of: np.ndarray, groups: Groups) -> np.ndarray:
    """The error of z, or of its mean over pairs of views, as a claim about new samples, given how samples move it.

    The variance of z is the sum over groups of their squared sums, whatever the distribution of the scores; its lower
    bound is the variance for normal scores, 1 / (n - 3). The error is 2.2 times the root of that variance, widened by
    how much more the folds differ than their samples explain: their fits may have found different components.
    """
    n = len(influence)
    variance = np.maximum(np.sum(groups.sums(influence) ** 2, axis=0), 1.0 / max(n - 3, 1))
    between = _excess_variance(n * influence, fold_of)
    return np.sqrt(constants.INTERVAL_WIDENING**2 * variance + between)


def _quantile(groups: Groups) -> float:
    """Half the width of an interval in standard errors: by the normal distribution or, with groups, by Student's t."""
    upper = (1 + constants.INTERVAL_LEVEL) / 2
    return float(ndtri(upper) if groups.labels is None else stdtrit(max(groups.n_groups - 1, 1), upper))


def _excess_variance(influence: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """The variance of the folds' means less the part that the samples in them explain; 0 for a single fold."""
    folds = [influence[fold_of == fold] for fold in range(fold_of[-1] + 1)]
    if len(folds) < 2:
        return np.zeros(influence.shape[1])
    means = np.var([fold.mean(axis=0) for fold in folds], axis=0, ddof=1)
    of_samples = np.mean([fold.var(axis=0) / max(len(fold) - 1, 1) for fold in folds], axis=0)
    return np.maximum(means - of_samples, 0.0)


def _scores_of_task(scores: FoldScores, views: Views, quietly: bool, task: tuple[str, Split]) -> Sequence[np.ndarray]:
    with unreported(quietly):
        return scores_of_split(task[0], scores, views, task[1])


def _report(done: int, total: int) -> None:
    report("folds left out", done, total)


# --- which samples ----------------------------------------------------------------------------------------------------


def has_many(n: int) -> bool:
    """Whether `n` pairs are so many that a single split is enough."""
    return n >= constants.MANY_SAMPLES


def leave_out(groups: Groups, n_left_out: int, rng: np.random.Generator) -> Split:
    """Random pairs to learn from, and about `n_left_out` others, at most 20,000, to test on; groups stay together."""
    n_left_out = min(n_left_out, constants.MANY_SAMPLES)
    if groups.labels is not None:
        order = rng.permutation(groups.n_groups)
        totals = np.cumsum(np.bincount(groups.labels)[order])
        test = groups.samples(order[: max(1, int(np.searchsorted(totals, n_left_out, side="right")))])
    elif not has_many(groups.n):
        test = rng.permutation(groups.n)[:n_left_out]
    else:  # without an array of all pairs, which are many
        test = rng.choice(groups.n, n_left_out, replace=False, shuffle=False)
    return AllBut(groups.n, np.sort(test)), np.sort(test)


def scores_of_split(name: str, scores: FoldScores, views: Views, split: Split) -> Sequence[np.ndarray]:
    """`scores` of the pairs left out, stored in a checkpoint as the step `name`."""
    with part_of("pairs left out"):
        return from_checkpoint(
            name,
            lambda: scores(views, *split),
            lambda found: {f"scores_{v}": each for v, each in enumerate(found)},
            lambda stored: [stored[f"scores_{v}"] for v in range(len(views.data))],
        )
