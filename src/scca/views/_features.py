"""A primal view: weights on features."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.blas import dtrmm

from ..parallel import map_threads, one_blas_thread, parts
from ..samples import column_blocks
from ._chosen_columns import ChosenColumns
from ._storage import SparseStorage, Storage
from .base import PrimalView

if TYPE_CHECKING:
    from ._preparation import Preparation, Projector

__all__ = ["FeatureView"]

_N_PARTS = 8  # number of parts of a sum over features that threads share: each part has its own kernel


class FeatureView(PrimalView):
    """M = D (A - 1 a'): stored data A, feature means a, D = diag(1 / sample norms).

    It is made by `Preparation.transform`, which applies the feature weights to A, or from a matrix used unchanged.
    """

    def __init__(
        self,
        storage: Storage,
        mean: np.ndarray | None = None,
        scale: np.ndarray | None = None,
        squares: np.ndarray | None = None,
        preparation: "Preparation | None" = None,
    ):
        self.storage = storage
        self.shape = storage.shape
        self.n_stored = storage.n_stored
        self.mean = mean
        self.scale = scale
        self.preparation = preparation
        self.unit = 1.0 if preparation is None else preparation.unit
        self._squares = squares

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.storage, SparseStorage)

    @property
    def varying(self) -> np.ndarray:
        spread = None if self.preparation is None else self.preparation.spread
        return np.arange(self.shape[1]) if spread is None else np.flatnonzero(spread)

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        scores = self.storage.matvec(weights)
        if self.mean is not None:
            scores = scores - self.mean @ weights
        return scores if self.scale is None else scores * self.scale

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """M'r for a vector or a matrix r, for all columns of M or the given ones."""
        if self.scale is not None:
            r = (self.scale * r.T).T
        out = self.storage.rmatvec(r, columns)
        if self.mean is not None:
            mean = self.mean if columns is None else self.mean[columns]
            out = out - np.multiply.outer(mean, r.sum(axis=0))
        return out

    def matmat(self, weights: np.ndarray) -> np.ndarray:
        scores = self.storage.matmat(weights)
        if self.mean is not None:
            scores = scores - self.mean @ weights
        return scores if self.scale is None else scores * self.scale[:, None]

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        if self.scale is not None:
            R = self.scale[:, None] * R
        out = self.storage.rmatmat(R)
        if self.mean is not None:
            for column, total in zip(out.T, R.sum(axis=0), strict=True):  # in place, since `out` may be large
                column -= total * self.mean
        return out

    def columns(self, indices: Any) -> np.ndarray:
        block = self.storage.columns(indices)
        if self.mean is not None:
            block = block - self.mean[indices]
        return block if self.scale is None else block * self.scale[:, None]

    def sample_squares(self) -> np.ndarray:
        if self._squares is None:
            raise ValueError("a matrix used unchanged has no sample norms; create the view by a Preparation.")
        return self._squares

    def square_norms(self) -> np.ndarray:
        if not isinstance(self.storage, SparseStorage):
            squares = np.zeros(self.shape[1])
            for columns in self._column_blocks():
                block = self.columns(columns)
                squares[columns] = np.einsum("ij,ij->j", block, block)
            return squares
        weights = np.ones(self.shape[0]) if self.scale is None else self.scale**2
        squares = self.storage.square_norms(weights)
        if self.mean is not None:
            squares += self.mean * (self.mean * weights.sum() - 2.0 * self.storage.rmatvec(weights))
        return np.maximum(squares, 0.0)

    def deviations(self, L: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """||L a||^2 and ||a - mean(a)||^2 of every feature a, for a square L (n x n)."""
        n, m = self.shape
        if isinstance(self.storage, SparseStorage):
            around_mean = self.square_norms() - self.rmatvec(np.ones(n)) ** 2 / n
            return self._quadratic_forms(self.storage, L.T @ L), np.maximum(around_mean, 0.0)
        images, around_mean = np.zeros(m), np.zeros(m)
        triangle = np.linalg.qr(L, mode="r")  # a triangle takes half as many multiplications

        def compute(columns: Any) -> None:
            block = self.columns(columns)
            image = dtrmm(1.0, triangle, block.T, side=1, trans_a=1)
            images[columns] = np.einsum("ji,ji->j", image, image)
            squares = np.einsum("ij,ij->j", block, block)
            around_mean[columns] = np.maximum(squares - block.sum(axis=0) ** 2 / n, 0.0)

        with one_blas_thread():
            map_threads(compute, self._column_blocks())
        return images, around_mean

    def _quadratic_forms(self, storage: SparseStorage, Q: np.ndarray) -> np.ndarray:
        """a'Q a of every feature a, for a symmetric positive semi-definite Q (n x n)."""
        if self.scale is not None:
            Q = Q * self.scale[:, None] * self.scale
        forms = storage.quadratic_forms(np.ascontiguousarray(Q))
        if self.mean is not None:
            sums = Q.sum(axis=0)
            forms += self.mean * (self.mean * sums.sum() - 2.0 * storage.rmatvec(sums))
        return np.maximum(forms, 0.0)

    def selection(self) -> ChosenColumns:
        return SparseColumns(self, self.storage) if isinstance(self.storage, SparseStorage) else super().selection()

    def restricted(self, columns: np.ndarray) -> "FeatureView":
        """Only the chosen features, centred and scaled like the whole view."""
        return FeatureView(
            self.storage.restricted(columns), None if self.mean is None else self.mean[columns], self.scale
        )

    def reweighted(self, factors: Any) -> "FeatureView":
        squares = None if self._squares is None else self._squares * factors**2
        return FeatureView(self.storage, self.mean, factors if self.scale is None else self.scale * factors, squares)

    def outer(self) -> np.ndarray:
        """The linear kernel M M', an (n, n) array."""
        if isinstance(self.storage, SparseStorage):
            kernel = self.storage.outer()
            if self.mean is not None:
                cross = self.storage.matvec(self.mean) - 0.5 * (self.mean @ self.mean)
                kernel -= cross[:, None]
                kernel -= cross
            if self.scale is not None:
                kernel *= self.scale[:, None]
                kernel *= self.scale
            return kernel
        blocks = list(self._column_blocks())

        def sum_of(part: slice) -> np.ndarray:
            kernel = np.zeros((self.shape[0], self.shape[0]))
            for columns in blocks[part]:
                block = self.columns(columns)
                kernel += block @ block.T
            return kernel

        with one_blas_thread():
            kernels = map_threads(sum_of, parts(0, len(blocks), max(1, -(-len(blocks) // _N_PARTS))))
        return sum(kernels, start=np.zeros((self.shape[0], self.shape[0])))

    def _column_blocks(self) -> Iterator[Any]:
        """Blocks of columns, slices or indices, of a view that is not sparse, without columns known to be zero."""
        read = self.storage.read
        whole = column_blocks(self.shape[0], self.shape[1] if read is None else len(read))
        return whole if read is None else (read[block] for block in whole)

    def similarities(self, others: "FeatureView") -> np.ndarray:
        """Inner products of the samples of `others`, one row each, with those of this view of the same features."""
        products = np.empty((others.shape[0], self.shape[0]))
        for i, unit in enumerate(np.eye(len(products))):
            products[i] = self.matvec(others.rmatvec(unit))
        return products

    def projector(self, rotations: np.ndarray) -> "Projector":
        if self.preparation is None:
            raise ValueError("a matrix used unchanged cannot prepare new samples; create the view by a Preparation.")
        return self.preparation.projector(rotations)


class SparseColumns(ChosenColumns):
    """Columns of a sparse feature view, which are multiplied where they are stored."""

    def __init__(self, view: FeatureView, storage: SparseStorage):
        self._view = view
        self._storage = storage
        self._indices = np.empty(0, dtype=np.intp)
        self._gram = storage.gram(None if view.scale is None else view.scale**2)

    def __len__(self) -> int:
        return len(self._indices)

    def add(self, indices: np.ndarray) -> None:
        self._indices = np.concatenate([self._indices, indices])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        view, support = self._view, np.flatnonzero(weights)
        columns, weights = self._indices[support], weights[support]
        scores = self._storage.combination(columns, weights)
        if view.mean is not None:
            scores -= view.mean[columns] @ weights
        return scores if view.scale is None else scores * view.scale

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return self._view.rmatvec(r, self._indices[start:])

    def gram(self, start: int) -> np.ndarray:
        """M_S'M_N of the stored, centred and scaled columns."""
        view, rows, columns = self._view, self._indices, self._indices[start:]
        gram = self._gram.products(rows, start)
        if view.mean is not None:
            weights = self._gram.weights
            row_means, column_means = view.mean[rows], view.mean[columns]
            gram -= np.outer(self._storage.rmatvec(weights, rows), column_means)
            gram -= np.outer(row_means, self._storage.rmatvec(weights, columns))
            gram += weights.sum() * np.outer(row_means, column_means)
        return gram
