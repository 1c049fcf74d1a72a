"""Products with views of many samples, a block of rows at a time, as the iteration over factors needs them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..views import FeatureView
from ._covariances import covariance, sample_scale, scaled_rows
from ._together import parts, together
from ._triangle import Triangle

__all__ = ["Products", "images"]

_BLOCK_ENTRIES = 1 << 19  # scores in memory per thread
_MOST_BLOCKS = 16  # blocks of rows: each has its own sums over all features
_MOST_COUPLED = 24_000  # features whose covariance matrix is factorised: it takes 2.3 GB
_SINGLE = 3e-6  # relative residual of an inverse in single precision
_LEAST_SHIFT = 1e-6  # of the trace: a smaller ridge is lost in single precision
_MAX_ITER = 1000
_MOST_COPIED = 1 << 27  # entries of dense columns copied to compute their covariances


class Products:
    """A view M (n x m) with its ridge: products with M, with M', and approximately with (M'M + ridge)^-1.

    Sparse features are stored by rows, already scaled: a row of scores is then read and written once, which is several
    times faster than by columns. Centring is applied within the products, M = S - d a', d the scales of the samples.
    """

    def __init__(self, view: FeatureView, ridge: float):
        self.shape = view.shape
        self.ridge = ridge
        self._view = view
        self._rows: Any = scaled_rows(view)
        self._scale = sample_scale(view)
        self._squares = view.square_norms() + ridge

    @property
    def by_rows(self) -> bool:
        """Whether products with some of the rows cost only their share."""
        return self._rows is not None

    def scores(self, W: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """M W, for some rows of M."""
        if self._rows is None:
            return self._view.matmat(W)[rows]
        scores = self._part(rows) @ W
        if self._view.mean is not None:
            scores -= np.outer(self._scale[rows], self._view.mean @ W)
        return scores

    def correlate(self, T: np.ndarray, rows: slice = slice(None)) -> np.ndarray:
        """M'T, over some rows of M, those that T has."""
        if self._rows is None:
            return self._view.rmatmat(T)
        out = self._part(rows).T @ T
        if self._view.mean is not None:
            out -= np.outer(self._view.mean, self._scale[rows] @ T)
        return out

    def _part(self, rows: slice) -> sp.csr_array:
        """Some rows, without copying them."""
        start, stop, _ = rows.indices(self.shape[0])
        if stop - start == self.shape[0]:
            return self._rows
        first, last = self._rows.indptr[start], self._rows.indptr[stop]
        stored = self._rows.data[first:last], self._rows.indices[first:last]
        return sp.csr_array((*stored, self._rows.indptr[start : stop + 1] - first), shape=(stop - start, self.shape[1]))

    def regularised(self, W: np.ndarray) -> np.ndarray:
        """(M'M + ridge) W."""
        return images([self], [W])[0][0]

    def solve(self, R: np.ndarray, tol: float) -> np.ndarray:
        """(M'M + ridge)^-1 R, by conjugate gradients on all columns at once.

        If all features are coupled and single precision suffices for `tol`, no iteration is needed.
        """
        if self._is_exact and tol >= _SINGLE:
            return self.precondition(R)
        size = np.linalg.norm(R, axis=0)
        solution, residual = np.zeros_like(R), R.copy()
        direction = z = self.precondition(residual)
        slope = np.einsum("ij,ij->j", residual, z)
        for _ in range(_MAX_ITER):
            is_open = np.linalg.norm(residual, axis=0) > tol * size
            if not is_open.any():
                break
            image = self.regularised(direction)
            curvature = np.einsum("ij,ij->j", direction, image)
            length = np.where(is_open, slope / np.where(curvature > 0, curvature, 1.0), 0.0)
            solution += length * direction
            residual -= length * image
            z = self.precondition(residual)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / np.where(before > 0, before, 1.0) * direction
        return solution

    def couple(self) -> None:
        """Factorise the covariance matrix of the features that vary most, which `precondition` inverts exactly."""
        n, m = self.shape
        size = min(m, _MOST_COUPLED, m if self.by_rows else max(1, _MOST_COPIED // n))
        self._coupled = np.sort(np.argsort(-self._squares, kind="stable")[:size])
        shift = max(self.ridge, _LEAST_SHIFT * float(self._squares.sum()))
        coupled = self._view.restricted(self._coupled)
        while True:
            covariance_ = covariance(coupled, coupled, np.float32)
            covariance_[np.diag_indices_from(covariance_)] += shift
            try:
                self._triangle = Triangle(covariance_)
                break
            except np.linalg.LinAlgError:  # rounding error is larger than the smallest eigenvalues
                shift *= 10
        self._is_exact = size == m and shift == self.ridge

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Approximately (M'M + ridge)^-1 R: exact for the features that vary most, diagonal for the others."""
        out = R / self._squares[:, None]
        out[self._coupled] = self._triangle.solve(R[self._coupled])
        return out


def images(products: Sequence[Products], blocks: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """For directions W_v of every view: found[v][u] = A_u'A_v W_v for every view u, plus ridge W_v for u = v."""
    blocks = [np.ascontiguousarray(block) for block in blocks]
    ends = np.cumsum([block.shape[1] for block in blocks])

    def of_rows(rows: slice) -> list[np.ndarray]:
        scores = np.hstack([product.scores(block, rows) for product, block in zip(products, blocks, strict=True)])
        return [product.correlate(scores, rows) for product in products]

    by_rows = together(of_rows, row_blocks(products, int(ends[-1])))
    sums = [sum(side[1:], start=side[0]) for side in zip(*by_rows, strict=True)]
    found = [list(split) for split in zip(*(np.hsplit(side, ends[:-1]) for side in sums), strict=True)]
    for v, (product, block) in enumerate(zip(products, blocks, strict=True)):
        found[v][v] = found[v][v] + product.ridge * block
    return found


def row_blocks(products: Sequence[Products], n_columns: int) -> list[slice]:
    """Blocks of rows whose `n_columns` scores a thread has in memory at a time; a single block if a view is dense."""
    n = products[0].shape[0]
    step = max(_BLOCK_ENTRIES // max(1, n_columns), -(-n // _MOST_BLOCKS))
    return parts(0, n, max(1, step)) if all(view.by_rows for view in products) else [slice(0, n)]
