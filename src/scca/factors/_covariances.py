"""Covariances of the features of views: M'N for all pairs of features at once, threads sharing fixed blocks of rows."""

import numpy as np
import scipy.sparse as sp

from .._compile import compiled
from ..views import FeatureView, SparseStorage
from ._together import parts, together

__all__ = ["covariance", "sample_scale", "scaled_rows"]

_FEATURES_PER_TASK = 512
_DENSE_ENTRIES = 1 << 24  # of dense columns held at a time by a thread


def sample_scale(view: FeatureView) -> np.ndarray:
    """d, by which a view scales its samples."""
    return np.ones(view.shape[0]) if view.scale is None else view.scale


def scaled_rows(view: FeatureView) -> sp.csr_array | None:
    """S of a sparse view M = S - d a', by rows; None for a dense one."""
    if not isinstance(view.storage, SparseStorage):
        return None
    rows = sp.csr_array(view.storage.csc, dtype=np.float64)
    rows.data *= np.repeat(sample_scale(view), np.diff(rows.indptr))
    return rows


def covariance(first: FeatureView, second: FeatureView, dtype: type = np.float64) -> np.ndarray:
    """M'N of two views of the same samples, summed in double precision."""
    out: np.ndarray = np.empty((first.shape[1], second.shape[1]), dtype=dtype)
    S, R = scaled_rows(first), scaled_rows(second)
    if S is None or R is None:
        step = max(1, min(_FEATURES_PER_TASK, _DENSE_ENTRIES // first.shape[0]))

        def compute(chosen: slice) -> None:
            out[chosen] = second.rmatmat(first.columns(np.arange(chosen.start, chosen.stop))).T

    else:
        step = _FEATURES_PER_TASK
        columns = S.tocsc()
        d, e = sample_scale(first), sample_scale(second)
        a, b = (np.zeros(view.shape[1]) if view.mean is None else view.mean for view in (first, second))
        sums = S.T @ e, R.T @ d

        def compute(chosen: slice) -> None:
            stored = (columns.data, columns.indices, columns.indptr, R.data, R.indices, R.indptr)
            _covariances(*stored, a, sums[0], b, sums[1], float(d @ e), chosen.start, chosen.stop, out)

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
    a: np.ndarray,
    a_sums: np.ndarray,
    b: np.ndarray,
    b_sums: np.ndarray,
    weight: float,
    first: int,
    last: int,
    out: np.ndarray,
) -> None:
    """Rows first:last of (S - d a')'(R - e b'), through the rows of R; the sums are S'e and R'd, the weight d'e."""
    line = np.empty(len(b))
    for j in range(first, last):
        for other in range(len(b)):
            line[other] = (weight * a[j] - a_sums[j]) * b[other] - a[j] * b_sums[other]
        for p in range(np.uint64(starts[j]), np.uint64(starts[j + 1])):
            i, value = np.uint64(rows[p]), by_column[p]
            for q in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + np.uint64(1)])):
                line[np.uint64(columns[q])] += value * by_row[q]
        for other in range(len(b)):
            out[j, other] = line[other]
