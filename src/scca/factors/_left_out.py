"""Leaving pairs out: which ones, and the scores that a fit to the others gives them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..progress import from_checkpoint, part_of
from ..samples import AllBut, Groups, Pairs

__all__ = [
    "FEWEST_PAIRS",
    "MANY_PAIRS",
    "FoldScores",
    "Split",
    "has_many",
    "leave_out",
    "scores_of_split",
    "standardized",
]

FEWEST_PAIRS = 6  # for any to be left out
MANY_PAIRS = 20_000  # from here on a single split is enough; it leaves out at most as many

Split = tuple[Any, np.ndarray]  # training rows, and rows left out
# scores of held-out samples in both views, given the pairs, the training rows and the rows left out
FoldScores = Callable[[Pairs, Any, np.ndarray], tuple[np.ndarray, np.ndarray]]


def has_many(n: int) -> bool:
    """Whether so many pairs are left out in a single split."""
    return n >= MANY_PAIRS


def leave_out(groups: Groups, n_left_out: int, rng: np.random.Generator) -> Split:
    """Random pairs to learn from, and about so many others, at most 20,000; whole groups are left out."""
    n_left_out = min(n_left_out, MANY_PAIRS)
    if groups.labels is not None:
        order = rng.permutation(groups.n_groups)
        totals = np.cumsum(np.bincount(groups.labels)[order])
        test = groups.samples(order[: max(1, int(np.searchsorted(totals, n_left_out, side="right")))])
    elif not has_many(groups.n):
        test = rng.permutation(groups.n)[:n_left_out]
    else:  # of many pairs, no array of all is made
        test = rng.choice(groups.n, n_left_out, replace=False, shuffle=False)
    return AllBut(groups.n, np.sort(test)), np.sort(test)


def scores_of_split(name: str, scores: FoldScores, pairs: Pairs, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """`scores` of the pairs left out; a step of this name in a checkpoint."""
    with part_of("pairs left out"):
        return from_checkpoint(
            name,
            lambda: scores(pairs, *split),
            lambda found: dict(zip(("x", "y"), found, strict=True)),
            lambda stored: (stored["x"], stored["y"]),
        )


def standardized(scores: np.ndarray) -> np.ndarray:
    """Centred columns of unit norm; constant ones become 0."""
    centred = scores - scores.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 0, norms, 1.0)
