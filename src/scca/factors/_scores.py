"""Scores of many samples that are not stored: sums of views times weights, a block of rows at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..parallel import map_threads, one_blas_thread, parts
from ..samples import each, remote_blocks_of, summed
from ..views import FeatureView, PrimalView, View
from ._products import correlate, score_rows

__all__ = ["PooledScores", "Scores", "column_products", "correlations", "inner_products", "row_squares", "scores_of"]

_MOST_STORED = 1 << 25  # scores that are stored: 256 MB
_ROWS = 4096  # whose scores are in memory at a time
_PER_LANE = 16  # such blocks; each lane has sums of its own


@dataclass(frozen=True, eq=False)
class PooledScores:
    """T = sum over v of M_v W_v, for sparse views M_v or samples elsewhere; of all samples, or those in `rows`.

    Like an array it can be multiplied by a matrix or by a number per column, added to another, and restricted to some
    samples. None of these computes a score.
    """

    views: Sequence[Any]  # PrimalView
    weights: Sequence[np.ndarray]
    rows: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        n = self.views[0].shape[0] if self.rows is None else len(self.rows)
        return n, self.weights[0].shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, matrix: np.ndarray) -> "PooledScores":
        return replace(self, weights=[W @ matrix for W in self.weights])

    def __mul__(self, factors: np.ndarray) -> "PooledScores":
        return replace(self, weights=[W * factors for W in self.weights])

    def __add__(self, other: "PooledScores") -> "PooledScores":
        return replace(self, views=[*self.views, *other.views], weights=[*self.weights, *other.weights])

    def __getitem__(self, rows: Any) -> "PooledScores":
        if remote_blocks_of(self.views):
            return replace(self, views=[view.chosen(rows) for view in self.views])
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        out = np.empty(self.shape)
        block = self.blocks()

        def fill(part: slice) -> None:
            out[part] = block(np.arange(part.start, part.stop))

        map_threads(fill, parts(0, len(self), _ROWS))
        return out

    def blocks(self) -> Callable[[np.ndarray], np.ndarray]:
        """A function from some rows, their numbers, to their scores."""
        sides = [score_rows(view, W) for view, W in zip(self.views, self.weights, strict=True)]

        def block(rows: np.ndarray) -> np.ndarray:
            rows = rows if self.rows is None else self.rows[rows]
            first, *others = (side(rows) for side in sides)
            for scores in others:
                first += scores
            return first

        return block


Scores = np.ndarray | PooledScores


def scores_of(views: Sequence[View], weights: Sequence[np.ndarray]) -> Scores:
    """sum over v of M_v W_v: stored, or pooled if that takes much memory and all views are sparse."""
    large = views[0].shape[0] * weights[0].shape[1] > _MOST_STORED
    if remote_blocks_of(views) or (large and _all_sparse(views)):
        return PooledScores(views, weights)
    return sum(view.matmat(W) for view, W in zip(views, weights, strict=True))  # type: ignore[return-value]


def correlations(views: Sequence[View], T: Scores) -> list[np.ndarray]:
    """M_v'T for every view, computing each score of T once."""
    if isinstance(T, PooledScores) and (remote_blocks_of(views) or _all_sparse(views)):
        return summed(_correlations, [*views, *T.views], len(views), list(T.weights))
    T = np.asarray(T)
    return [view.rmatmat(T) for view in views]


def _correlations(views: Sequence[FeatureView], n_correlated: int, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
    T = PooledScores(views[n_correlated:], weights)
    with one_blas_thread():
        return correlate(views[:n_correlated], T.blocks(), T.shape[1])


def inner_products(T: Scores, U: Scores) -> np.ndarray:
    """T'U."""
    return _over_samples(_all_products, T, U)


def column_products(T: Scores, U: Scores) -> np.ndarray:
    """The diagonal of T'U."""
    return _over_samples(_own_products, T, U)


def row_squares(T: Scores) -> Any:
    """The squared norm of every sample's scores."""
    if not isinstance(T, PooledScores):
        return np.sum(T**2, axis=1)
    return each(_row_squares, T.views, list(T.weights))


def _row_squares(views: Sequence[FeatureView], weights: Sequence[np.ndarray]) -> np.ndarray:
    T = PooledScores(views, weights)
    block = T.blocks()
    blocks = map_threads(
        lambda part: np.sum(block(np.arange(part.start, part.stop)) ** 2, axis=1), parts(0, len(T), _ROWS)
    )
    return np.concatenate(blocks)


def _all_sparse(views: Sequence[View]) -> bool:
    return all(isinstance(view, PrimalView) and view.is_sparse for view in views)


def _all_products(t: np.ndarray, u: np.ndarray) -> np.ndarray:
    return t.T @ u


def _own_products(t: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", t, u)


Product = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _over_samples(compute: Product, T: Scores, U: Scores) -> np.ndarray:
    """The sum of `compute` over blocks of rows of both."""
    if isinstance(T, PooledScores) and isinstance(U, PooledScores) and remote_blocks_of(T.views):
        others = [] if U is T else list(U.views)
        return summed(_of_pooled, [*T.views, *others], compute, list(T.weights), list(U.weights))
    if not isinstance(T, PooledScores) and not isinstance(U, PooledScores):
        return compute(T, U)
    first, second = _blocks_of(T), _blocks_of(T) if U is T else _blocks_of(U)

    def of_lane(lane: slice) -> np.ndarray:
        total: np.ndarray | float = 0.0
        for part in parts(lane.start, lane.stop, _ROWS):
            rows = np.arange(part.start, part.stop)
            t = first(rows)
            total = total + compute(t, t if U is T else second(rows))
        return np.asarray(total)

    with one_blas_thread():
        lanes = map_threads(of_lane, parts(0, len(T), _PER_LANE * _ROWS))
    return sum(lanes[1:], start=lanes[0])


def _of_pooled(
    views: Sequence[FeatureView], compute: Product, first: Sequence[np.ndarray], second: Sequence[np.ndarray]
) -> np.ndarray:
    T = PooledScores(views[: len(first)], first)
    return _over_samples(compute, T, PooledScores(views[len(first) :], second) if len(views) > len(first) else T)


def _blocks_of(T: Scores) -> Callable[[np.ndarray], np.ndarray]:
    return T.blocks() if isinstance(T, PooledScores) else lambda rows: T[rows]
