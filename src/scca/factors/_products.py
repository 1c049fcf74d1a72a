"""Products with views of many samples: all that an iteration over factors asks of them, a block of rows at a time."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from ..views import FeatureView
from ..views._storage import SparseStorage

__all__ = ["Products", "row_blocks"]

_BLOCK_ENTRIES = 1 << 21  # scores held at a time
_MOST_COUPLED = 3000  # features whose covariances are factorised
_MOST_COPIED = 1 << 27  # numbers of dense columns that their covariances are made of


class Products:
    """A view M (n x m) with its ridge: products with M, with M', and nearly with (M'M + ridge)^-1.

    Sparse features are kept by rows, already scaled: a row of scores is then read and written once, which is several
    times faster than by columns. They are centred on the way, M = S - d a', d the scales of the samples.
    """

    def __init__(self, view: FeatureView, ridge: float):
        self.shape = view.shape
        self.ridge = ridge
        self._view = view
        self._rows: Any = None
        self._scale = np.ones(view.shape[0]) if view.scale is None else view.scale
        if isinstance(view.storage, SparseStorage):
            self._rows = sp.csr_array(view.storage.csc, dtype=np.float64)
            self._rows.data *= np.repeat(self._scale, np.diff(self._rows.indptr))
        self._squares = view.square_norms() + ridge

    @property
    def by_rows(self) -> bool:
        """Whether products with some of the rows cost no more than their share."""
        return self._rows is not None

    def scores(self, W: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """M W, of some rows."""
        if self._rows is None:
            return self._view.matmat(W)[rows]
        scores = self._part(rows) @ W
        if self._view.mean is not None:
            scores -= np.outer(self._scale[rows], self._view.mean @ W)
        return scores

    def correlate(self, T: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """M'T, of some rows of M that T belongs to."""
        if self._rows is None:
            return self._view.rmatmat(T)
        out = self._part(rows).T @ T
        if self._view.mean is not None:
            out -= np.outer(self._view.mean, self._scale[rows] @ T)
        return out

    def _part(self, rows: slice) -> sp.csr_array:
        """Some rows, without a copy of what is stored."""
        start, stop, _ = rows.indices(self.shape[0])
        if stop - start == self.shape[0]:
            return self._rows
        first, last = self._rows.indptr[start], self._rows.indptr[stop]
        stored = self._rows.data[first:last], self._rows.indices[first:last]
        return sp.csr_array((*stored, self._rows.indptr[start : stop + 1] - first), shape=(stop - start, self.shape[1]))

    def regularised(self, W: np.ndarray) -> np.ndarray:
        """(M'M + ridge) W."""
        out = self.ridge * W
        for rows in row_blocks([self], W.shape[1]):
            out += self.correlate(self.scores(W, rows), rows)
        return out

    def couple(self) -> None:
        """Factorise the covariances of the features that vary most, which `precondition` inverts exactly."""
        n, m = self.shape
        size = min(m, _MOST_COUPLED, m if self.by_rows else max(1, _MOST_COPIED // n))
        self._coupled = np.sort(np.argsort(-self._squares, kind="stable")[:size])
        selection = self._view.selection()
        selection.add(self._coupled)
        covariance = selection.gram(0)
        covariance[np.diag_indices_from(covariance)] += self.ridge
        self._factor = cho_factor(covariance, lower=True, overwrite_a=True)

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Nearly (M'M + ridge)^-1 R: exact for the features that vary most, one by one for the others."""
        out = R / self._squares[:, None]
        out[self._coupled] = cho_solve(self._factor, R[self._coupled])
        return out


def row_blocks(products: Sequence[Products], n_columns: int) -> Iterator[slice]:
    """Rows whose scores are held at a time, `n_columns` of them in every view; all at once where one is dense."""
    n = products[0].shape[0]
    step = max(1, _BLOCK_ENTRIES // (n_columns * len(products))) if all(view.by_rows for view in products) else n
    return (slice(start, min(n, start + step)) for start in range(0, n, step))
