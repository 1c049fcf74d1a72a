"""A primal view: weights on features."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ._basis import GrowingRows, SampleBasis
from ._selection import Selection
from ._storage import SparseStorage, Storage, WeightedStorage, float64_rows, storage_of
from .base import Projector, View

__all__ = ["FeatureProjector", "FeatureView", "deflated_diagonal", "inverse_norms"]

_ROUNDING = 1e-14  # squared norms below this share of what they were computed from are zero


class FeatureView(View):
    """M = (I - T T') D (A - 1 a'): stored data A, feature means a, D = diag(1 / sample norms), deflated scores T.

    L = D (A - 1 a') is the view before deflation. With feature weights c, A is the data times diag(c).
    """

    def __init__(
        self, storage: Storage, mean=None, scale=None, squares: np.ndarray | None = None, feature_weights=None
    ):
        self.storage = storage
        self.feature_weights = feature_weights
        self.shape = storage.shape
        self.n_stored = storage.n_stored
        self.mean = mean
        self.scale = scale
        self.basis = SampleBasis(self.shape[0])
        self._loadings = GrowingRows(self.shape[1])
        self._squares = np.full(self.shape[0], np.nan) if squares is None else squares  # of the rows of L
        self._energy = self._left = float(self._squares.sum())

    @classmethod
    def of(cls, data, *, center: bool, normalize: bool, feature_weights: np.ndarray | None = None) -> "FeatureView":
        """The view of a checked array or sparse matrix, its features weighted, centred and scaled as asked."""
        n = data.shape[0]
        if feature_weights is None:
            storage = storage_of(data)
        elif sp.issparse(data):
            storage = storage_of(_weighted(data, feature_weights))
        else:
            storage = WeightedStorage(storage_of(data), feature_weights)
        mean = storage.rmatvec(np.full(n, 1.0 / n)) if center else None
        squares, size = centred_square_norms(data, mean, feature_weights)
        scale = inverse_norms(squares, size) if normalize else None
        return cls(storage, mean, scale, squares if scale is None else squares * scale**2, feature_weights)

    @property
    def loadings(self) -> np.ndarray:
        """T'L: what deflation takes from M'M is loadings'loadings."""
        return self._loadings.array

    @property
    def is_sparse(self) -> bool:
        return isinstance(self.storage, SparseStorage)

    def matvec(self, weights):
        return self.basis.project(self._matvec_undeflated(weights))

    def _matvec_undeflated(self, weights):
        scores = self.storage.matvec(weights)
        if self.mean is not None:
            scores = scores - self.mean @ weights
        return scores if self.scale is None else scores * self.scale

    def rmatvec(self, r, columns=None):
        return self.rmatvec_undeflated(self.basis.project(r), columns)

    def rmatvec_undeflated(self, r, columns=None):
        """L'r, of the view before deflation, for a vector or a matrix r, of all columns or of the given ones."""
        if self.scale is not None:
            r = (self.scale * r.T).T
        out = self.storage.rmatvec(r, columns)
        if self.mean is not None:
            mean = self.mean if columns is None else self.mean[columns]
            out = out - np.multiply.outer(mean, r.sum(axis=0))
        return out

    def columns(self, indices):
        return self.basis.project(self._columns_undeflated(indices))

    def _columns_undeflated(self, indices):
        block = self.storage.columns(indices)
        if self.mean is not None:
            block = block - self.mean[indices]
        return block if self.scale is None else block * self.scale[:, None]

    def square_norms(self):
        if not isinstance(self.storage, SparseStorage):
            return super().square_norms()
        weights = np.ones(self.shape[0]) if self.scale is None else self.scale**2
        squares = self.storage.square_norms(weights)
        if self.mean is not None:
            squares += self.mean * (self.mean * weights.sum() - 2.0 * self.storage.rmatvec(weights))
        return np.maximum(squares - np.sum(self.loadings**2, axis=0), 0.0)

    def sample_squares(self):
        """Squared norms of the rows of M, the diagonal of M M' with M = (I - T T') L."""
        if not len(self.basis):
            return self._squares
        images = np.array([self._matvec_undeflated(loading) for loading in self.loadings])
        return deflated_diagonal(self._squares, self.basis.vectors, images)

    def selection(self):
        return SparseSelection(self, self.storage) if isinstance(self.storage, SparseStorage) else super().selection()

    def outer(self) -> np.ndarray:
        """The linear kernel L L' of the view before deflation, an (n, n) array."""
        n, m = self.shape
        if isinstance(self.storage, SparseStorage):
            kernel = self.storage.outer()
            if self.mean is not None:
                cross = self.storage.matvec(self.mean)
                kernel += self.mean @ self.mean - cross[:, None] - cross
            return kernel if self.scale is None else kernel * self.scale[:, None] * self.scale
        kernel = np.zeros((n, n))
        for start in range(0, m, n + 1):  # blocks of features that take no more memory than the kernel itself
            block = self._columns_undeflated(np.arange(start, min(m, start + n + 1)))
            kernel += block @ block.T
        return kernel

    def similarities(self, sample) -> np.ndarray:
        """Inner products of a new sample, a single row, with those of the view; centred and scaled as they are."""
        dense = np.asarray(sample.toarray() if sp.issparse(sample) else sample, dtype=np.float64)
        if self.mean is not None:
            dense = dense - self.mean
        if self.scale is not None:
            norm = np.linalg.norm(dense)
            dense = dense / (norm if norm > 0 else 1.0)
        return self.matvec(dense[0])

    def direction(self, score):
        return self.rmatvec(score)

    def deflate(self, direction):
        coefficients = self.basis.append(self._matvec_undeflated(direction))
        if coefficients is not None:
            loading = self.rmatvec_undeflated(self.basis.vectors[:, -1])
            self._loadings.extend(loading[None])
            self._left -= float(loading @ loading)
        return coefficients

    @property
    def remaining(self):
        return self._left / self._energy if self._energy > 0 else 0.0

    def projector(self, rotations):
        return FeatureProjector(self.mean, self.scale is not None, rotations, self.feature_weights)


class SparseSelection(Selection):
    """Columns of a sparse feature view, which are multiplied where they are stored."""

    def __init__(self, view: FeatureView, storage: SparseStorage):
        self._view = view
        self._storage = storage
        self._indices = np.empty(0, dtype=np.intp)

    def __len__(self):
        return len(self._indices)

    def add(self, indices):
        self._indices = np.concatenate([self._indices, indices])

    def matvec(self, weights):
        everywhere = np.zeros(self._view.shape[1])
        everywhere[self._indices] = weights
        return self._view.matvec(everywhere)

    def rmatvec(self, r, start=0):
        return self._view.rmatvec(r, self._indices[start:])

    def gram(self, start):
        """L_S'L_N of the stored, centred and scaled columns, less what deflation took."""
        view, rows, columns = self._view, self._indices, self._indices[start:]
        weights = None if view.scale is None else view.scale**2
        gram = self._storage.gram(rows, columns, weights)
        if view.mean is not None:
            weights = np.ones(view.shape[0]) if weights is None else weights
            left, right = view.mean[rows], view.mean[columns]
            gram -= np.outer(self._storage.rmatvec(weights, rows), right)
            gram -= np.outer(left, self._storage.rmatvec(weights, columns))
            gram += weights.sum() * np.outer(left, right)
        return gram - view.loadings[:, rows].T @ view.loadings[:, columns]


@dataclass(frozen=True)
class FeatureProjector(Projector):
    """x -> R'(c x - a) / ||c x - a||, c the feature weights, if any, and a the mean of c x."""

    mean: np.ndarray | None
    normalize: bool
    rotations: np.ndarray
    feature_weights: np.ndarray | None = None

    def __call__(self, samples, diagonal=None):
        weighted = self.rotations
        if self.feature_weights is not None:
            weighted = (self.feature_weights[:, None] * weighted).astype(weighted.dtype)
        scores = np.asarray(samples @ weighted, dtype=np.float64)
        if self.mean is not None:
            scores -= self.mean @ self.rotations
        if self.normalize:
            scores *= inverse_norms(*centred_square_norms(samples, self.mean, self.feature_weights))[:, None]
        return scores


def _weighted(data, weights: np.ndarray):
    """Sparse data times diag(weights), in the type of the data."""
    return (data @ sp.diags_array(weights.astype(data.dtype))).tocsc()


def centred_square_norms(data, mean: np.ndarray | None, weights=None) -> tuple[np.ndarray, np.ndarray]:
    """||c x - a||^2 of every sample, c the weights, and the size of the terms it was computed from."""
    if sp.issparse(data):
        data = data if weights is None else _weighted(data, weights)
        squares = np.asarray(data.astype(np.float64).power(2).sum(axis=1)).ravel()
        if mean is None:
            return squares, squares
        size = squares + mean @ mean
        return size - 2 * (data @ mean), size
    squares, size = np.empty(data.shape[0]), np.empty(data.shape[0])
    for rows, block in float64_rows(data):
        block = block if weights is None else block * weights
        size[rows] = np.einsum("ij,ij->i", block, block)
        if mean is not None:
            block = block - mean
        squares[rows] = np.einsum("ij,ij->i", block, block)
    return squares, size


def deflated_diagonal(diagonal: np.ndarray, T: np.ndarray, images: np.ndarray) -> np.ndarray:
    """The diagonal of P K P, P = I - T T', from that of K and the rows (K T)'."""
    return diagonal - np.einsum("ij,ij->i", T, 2.0 * images.T - T @ (images @ T))


def inverse_norms(squares: np.ndarray, size: np.ndarray) -> np.ndarray:
    """1 / norm of every sample; a sample of norm zero (to the rounding error of `size`) is left as it is, zero."""
    nonzero = squares > _ROUNDING * size
    return np.where(nonzero, 1.0 / np.sqrt(np.where(nonzero, squares, 1.0)), 1.0)
