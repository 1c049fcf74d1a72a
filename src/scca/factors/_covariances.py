"""Covariances of the features of views: M'N for all pairs of features at once, threads sharing fixed blocks of rows."""

import numpy as np

from .._compile import compiled
from ..engine import parts, together
from ..views import FeatureView, SparseStorage

__all__ = ["covariance", "sample_scale"]

_FEATURES_PER_TASK = 512
_DENSE_ENTRIES = 1 << 24  # of dense columns held at a time by a thread


def sample_scale(view: FeatureView) -> np.ndarray:
    """d, by which a view scales its samples."""
    return np.ones(view.shape[0]) if view.scale is None else view.scale


def covariance(first: FeatureView, second: FeatureView, dtype: type = np.float64) -> np.ndarray:
    """M'N of two views of the same samples, summed in double precision."""
    out: np.ndarray = np.empty((first.shape[1], second.shape[1]), dtype=dtype)
    one, other = first.storage, second.storage
    if not (isinstance(one, SparseStorage) and isinstance(other, SparseStorage)):
        step = max(1, min(_FEATURES_PER_TASK, _DENSE_ENTRIES // first.shape[0]))

        def compute(chosen: slice) -> None:
            out[chosen] = second.rmatmat(first.columns(np.arange(chosen.start, chosen.stop))).T

    else:
        step = _FEATURES_PER_TASK
        columns, rows = one.stored.columns, other.stored.rows
        stored = (columns.data, columns.indices, columns.indptr, rows.data, rows.indices, rows.indptr)
        weights = sample_scale(first) * sample_scale(second)
        a, b = (np.zeros(view.shape[1]) if view.mean is None else view.mean for view in (first, second))
        factors = [
            np.ones(storage.shape[1]) if storage.weights is None else storage.weights for storage in (one, other)
        ]
        sums = one.rmatvec(weights), other.rmatvec(weights)

        def compute(chosen: slice) -> None:
            _covariances(
                *stored, weights, *factors, a, sums[0], b, sums[1], weights.sum(), chosen.start, chosen.stop, out
            )

    together(compute, parts(0, first.shape[1], step))
    return out


@compiled
def _covariances(
    by_column: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    by_row: np.ndarray,
    columns: np.ndarray,
    row_starts: np.ndarray,
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
    out: np.ndarray,
) -> None:
    """Rows first:last of (A F - 1 a')' W (B G - 1 b'), through the rows of B.

    W has the weights of the samples, whose sum is `weight`, F and G the factors of the features; the sums are
    F A'W 1 and G B'W 1.
    """
    line = np.empty(len(b))
    for j in range(first, last):
        line[:] = 0.0
        for p in range(np.uint64(starts[j]), np.uint64(starts[j + 1])):
            i = np.uint64(rows[p])
            value = by_column[p] * weights[i]
            for q in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + np.uint64(1)])):
                line[np.uint64(columns[q])] += value * by_row[q]
        for k in range(len(b)):
            of_means = (weight * a[j] - a_sums[j]) * b[k] - a[j] * b_sums[k]
            out[j, k] = a_factors[j] * b_factors[k] * line[k] + of_means
