"""Covariances of the features of views: M'N for all pairs of features at once, threads sharing fixed blocks of rows."""

from collections.abc import Sequence

import numpy as np

from .._compile import compiled
from ..parallel import map_threads, parts
from ..samples import summed
from ..views import FeatureView, PrimalView, SparseStorage

__all__ = ["covariance", "sample_scale"]

_FEATURES_PER_TASK = 512
_DENSE_ENTRIES = 1 << 24  # of dense columns held at a time by a thread


def sample_scale(view: FeatureView) -> np.ndarray:
    """d, by which a view scales its samples."""
    return np.ones(view.shape[0]) if view.scale is None else view.scale


def covariance(
    first: PrimalView,
    second: PrimalView,
    dtype: type = np.float64,
    rows: np.ndarray | None = None,
    columns: np.ndarray | None = None,
) -> np.ndarray:
    """M'N of two views of the same samples, summed in double precision: of all features, or of chosen ones of each."""
    rows = np.arange(first.shape[1]) if rows is None else rows
    columns = np.arange(second.shape[1]) if columns is None else columns
    if first is second and np.array_equal(rows, columns) and (np.diff(rows) > 0).all():
        return _whole(summed(_lower_half, [first], dtype, rows), dtype)
    return summed(_covariance, [first, second], dtype, rows, columns)


def _lower_half(views: Sequence[FeatureView], dtype: type, rows: np.ndarray) -> list[np.ndarray]:
    """Of M'M for chosen features, in blocks of rows up to the diagonal: fewer sums, and fewer bytes on a cluster."""
    covariances = _covariance([views[0], views[0]], dtype, rows, rows, lower=True)
    return [covariances[part, : part.stop].copy() for part in parts(0, len(rows), _FEATURES_PER_TASK)]


def _whole(blocks: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    """The symmetric matrix with this lower half."""
    n = sum(map(len, blocks))
    out: np.ndarray = np.empty((n, n), dtype=dtype)
    stop = 0
    for block in blocks:
        start, stop = stop, stop + len(block)
        out[start:stop, :start] = block[:, :start]
        out[:start, start:stop] = block[:, :start].T
        out[start:stop, start:stop] = np.tril(block[:, start:]) + np.tril(block[:, start:], -1).T
    return out


def _covariance(
    views: Sequence[FeatureView], dtype: type, rows: np.ndarray, columns: np.ndarray, lower: bool = False
) -> np.ndarray:
    """With `lower`, of the same features twice, what is above the diagonal may be missing."""
    first, second = views
    out: np.ndarray = np.zeros((len(rows), len(columns)), dtype=dtype)
    one, other = first.storage, second.storage
    if not (isinstance(one, SparseStorage) and isinstance(other, SparseStorage)):
        step = max(1, min(_FEATURES_PER_TASK, _DENSE_ENTRIES // first.shape[0]))
        part = second if len(columns) == second.shape[1] else second.restricted(columns)

        def compute(chosen: slice) -> None:
            out[chosen] = part.rmatmat(first.columns(rows[chosen])).T

    else:
        step = _FEATURES_PER_TASK
        by_column, by_row = one.stored.columns, other.stored.rows
        stored = (by_column.data, by_column.indices, by_column.indptr, by_row.data, by_row.indices, by_row.indptr)
        place = np.full(second.shape[1], -1)
        place[columns] = np.arange(len(columns))
        weights = sample_scale(first) * sample_scale(second)
        a, b = (
            np.zeros(len(kept)) if view.mean is None else view.mean[kept]
            for view, kept in ((first, rows), (second, columns))
        )
        factors = [
            np.ones(len(kept)) if side.weights is None else side.weights[kept]
            for side, kept in ((one, rows), (other, columns))
        ]
        of_means = a, one.rmatvec(weights, rows), b, other.rmatvec(weights, columns), weights.sum()
        lower = bool(lower and by_row.has_sorted_indices)

        def compute(chosen: slice) -> None:
            _covariances(*stored, rows, place, weights, *factors, *of_means, chosen.start, chosen.stop, lower, out)

    map_threads(compute, parts(0, len(rows), step))
    return out


@compiled
def _covariances(
    by_column: np.ndarray,
    samples: np.ndarray,
    starts: np.ndarray,
    by_row: np.ndarray,
    features: np.ndarray,
    row_starts: np.ndarray,
    chosen: np.ndarray,
    place: np.ndarray,
    weights: np.ndarray,
    a_factors: np.ndarray,
    b_factors: np.ndarray,
    a: np.ndarray,
    a_sums: np.ndarray,
    b: np.ndarray,
    b_sums: np.ndarray,
    weight: float,
    first: int,
    last: int,
    lower: bool,
    out: np.ndarray,
) -> None:
    """Rows first:last of (A F - 1 a')' W (B G - 1 b'), through the rows of B.

    For the chosen features of A, and for those of B that have a place, which is -1 for others. W has the weights of the
    samples, whose sum is `weight`, F and G the factors of the features; the sums are F A'W 1 and G B'W 1.
    With `lower`, no more than the columns up to the diagonal: features of samples, and their places, are in order.
    """
    line = np.empty(len(b))
    for j in range(first, last):
        line[:] = 0.0
        for p in range(np.uint64(starts[chosen[j]]), np.uint64(starts[chosen[j] + 1])):
            i = np.uint64(samples[p])
            value = by_column[p] * weights[i]
            for q in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + np.uint64(1)])):
                k = place[np.uint64(features[q])]
                if lower and k > j:
                    break
                if k >= 0:
                    line[np.uint64(k)] += value * by_row[q]
        for k in range(j + 1 if lower else len(b)):
            of_means = (weight * a[j] - a_sums[j]) * b[k] - a[j] * b_sums[k]
            out[j, k] = a_factors[j] * b_factors[k] * line[k] + of_means
