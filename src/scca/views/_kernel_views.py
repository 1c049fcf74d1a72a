"""Dual views: weights on the training samples, seen through a kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ._basis import GrowingRows, SampleBasis
from ._features import FeatureProjector, FeatureView, deflated_diagonal, inverse_norms
from ._kernels import Kernel
from ._storage import storage_of
from .base import Projector, View

__all__ = ["KernelProjector", "LinearKernelView", "StoredKernelView", "kernel_view"]

# What decides whether a linear kernel is worth storing, in multiplications of a dense matrix-vector product.
_PRODUCTS_A_COMPONENT = 10  # about how often the solver and deflation multiply by K for one component
_SPARSE_COST = 3.5  # of one multiplication with a sparse matrix
_CALL_COST = 100_000  # of the extra steps of a product through the features
_GEMM_GAIN = 20  # how much less a multiplication costs inside a matrix-matrix product


class StoredKernelView(View):
    """M = P L P with L = D (K - 1 c' - c 1' + g 1 1') D and P = I - T T'.

    K is stored, c are its column means and g their mean (centring in the kernel's feature space), D scales every sample
    to unit norm. `_images` keeps L T.
    """

    columns_are_samples = True

    def __init__(self, matrix, projector_of: Callable[[np.ndarray], Projector], means=None, grand_mean=0.0, scale=None):
        self.storage = storage_of(matrix)
        self.shape = self.storage.shape
        self.n_stored = self.storage.n_stored
        self.means = means
        self.grand_mean = grand_mean
        self.scale = scale
        self.basis = SampleBasis(self.shape[0])
        self._images = GrowingRows(self.shape[0])
        squares, _ = _centred_diagonal(matrix.diagonal(), means if means is not None else 0.0, grand_mean)
        self._squares = squares if scale is None else squares * scale**2
        self._energy = self._left = float(self._squares.sum())
        self._projector_of = projector_of

    @classmethod
    def of(cls, data, kernel: Kernel, *, center: bool, normalize: bool, n_jobs=None) -> "StoredKernelView":
        """The view of checked samples (of a checked kernel matrix, if precomputed), centred and scaled as asked."""
        matrix = data if kernel.precomputed else kernel.matrix(data, n_jobs=n_jobs)
        means, grand_mean, scale = None, 0.0, None
        if center:
            means = np.asarray(matrix.mean(axis=0, dtype=np.float64)).ravel()
            grand_mean = float(means.mean())
        if normalize:
            squares, size = _centred_diagonal(matrix.diagonal(), means if center else 0.0, grand_mean)
            _check_norms(squares, size)
            scale = inverse_norms(squares, size)
        training = None if kernel.precomputed else data
        projector_of = partial(KernelProjector, kernel, training, means, grand_mean, scale)
        return cls(matrix, projector_of, means, grand_mean, scale)

    @classmethod
    def of_linear(cls, features: FeatureView) -> "StoredKernelView":
        """The linear kernel of a feature view, whose new samples never need a kernel."""
        return cls(features.outer(), partial(_linear_projector, features))

    def matvec(self, weights):
        return self._product(self.storage.matvec, weights)

    def rmatvec(self, r):
        return self._product(self.storage.rmatvec, r)

    def _product(self, multiply, v):
        return self.basis.project(self._product_undeflated(multiply, self.basis.project(v)))

    def _product_undeflated(self, multiply, v):
        if self.scale is not None:
            v = self.scale * v
        out = multiply(v)
        if self.means is not None:
            out = out - self.means @ v - (self.means - self.grand_mean) * v.sum()
        return out if self.scale is None else self.scale * out

    def columns(self, indices):
        block = self.storage.columns(indices)
        if self.means is not None:
            block = block - self.means[indices] - (self.means - self.grand_mean)[:, None]
        if self.scale is not None:
            block = block * self.scale[:, None] * self.scale[indices]
        return self.basis.project(block - self._images.array.T @ self.basis.vectors[indices].T)

    def coordinate_products(self, weights):
        return self.matvec(weights)

    def coordinate_squares(self):
        return deflated_diagonal(self._squares, self.basis.vectors, self._images.array)

    def direction(self, score):
        return score

    def deflate(self, direction):
        coefficients = self.basis.append(self._product_undeflated(self.storage.matvec, direction))
        if coefficients is not None:
            image = self._product_undeflated(self.storage.matvec, self.basis.vectors[:, -1])
            self._images.extend(image[None])
            self._left -= float(self.basis.vectors[:, -1] @ image)
        return coefficients

    @property
    def remaining(self):
        return self._left / self._energy if self._energy > 0 else 0.0

    def projector(self, rotations):
        return self._projector_of(rotations)


class LinearKernelView(View):
    """M = F F' for a feature view F of the same samples: the (n, n) matrix does not exist."""

    passes_per_column = 1
    columns_are_samples = True

    def __init__(self, features: FeatureView):
        self.features = features
        self.shape = (features.shape[0], features.shape[0])
        self.n_stored = features.n_stored
        self.basis = features.basis

    def matvec(self, weights):
        return self.features.matvec(self.features.rmatvec(weights))

    def rmatvec(self, r):
        return self.matvec(r)

    def columns(self, indices):
        block = np.empty((self.shape[0], len(indices)), order="F")
        for position, index in enumerate(indices):
            unit = np.zeros(self.shape[0])
            unit[index] = 1.0
            block[:, position] = self.matvec(unit)
        return block

    def coordinate_products(self, weights):
        return self.matvec(weights)

    def coordinate_squares(self):
        return self.features.sample_squares()

    def direction(self, score):
        return score

    def deflate(self, direction):
        return self.features.deflate(self.features.direction(direction))

    @property
    def remaining(self):
        return self.features.remaining

    def projector(self, rotations):
        return _linear_projector(self.features, rotations)


@dataclass(frozen=True)
class KernelProjector(Projector):
    """y -> Q'k(y) with k(y) centred by the training kernel's means and scaled by its norms and by ||y||."""

    kernel: Kernel
    training: object  # the training samples; None with a precomputed kernel
    means: np.ndarray | None
    grand_mean: float
    scale: np.ndarray | None
    rotations: np.ndarray

    def __call__(self, samples, diagonal=None):
        block = samples if self.kernel.precomputed else self.kernel.matrix(samples, self.training)
        row_means = np.zeros(block.shape[0])
        rotations = self.rotations if self.scale is None else self.rotations * self.scale[:, None]
        scores = np.asarray(block @ rotations, dtype=np.float64)
        if self.means is not None:
            row_means = np.asarray(block.mean(axis=1, dtype=np.float64)).ravel()
            scores -= self.means @ rotations + np.multiply.outer(row_means - self.grand_mean, rotations.sum(axis=0))
        if self.scale is not None:
            if diagonal is None and not self.kernel.precomputed:
                diagonal = self.kernel.diagonal(samples)
            if diagonal is not None:
                scores *= inverse_norms(*_centred_diagonal(diagonal, row_means, self.grand_mean))[:, None]
        return scores


def kernel_view(
    data, kernel: Kernel, *, center: bool, normalize: bool, n_components: int, feature_weights=None, n_jobs=None
) -> View:
    """The dual view of checked samples (of a checked kernel matrix, if precomputed), in the cheapest storage.

    Feature weights are for a linear kernel alone.
    """
    if not kernel.linear:
        return StoredKernelView.of(data, kernel, center=center, normalize=normalize, n_jobs=n_jobs)
    features = FeatureView.of(data, center=center, normalize=normalize, feature_weights=feature_weights)
    if _storing_is_cheaper(features, n_components):
        return StoredKernelView.of_linear(features)
    return LinearKernelView(features)


def _storing_is_cheaper(features: FeatureView, n_components: int) -> bool:
    """Whether products with K cost less than products through the features, often enough to pay for making K."""
    n = features.shape[0]
    through_features = 2 * features.n_stored * (_SPARSE_COST if features.is_sparse else 1) + _CALL_COST
    return n * n <= through_features and n <= _GEMM_GAIN * _PRODUCTS_A_COMPONENT * n_components


def _linear_projector(features: FeatureView, rotations: np.ndarray) -> FeatureProjector:
    """Rotations on samples become rotations on features: no kernel with the training samples is ever computed."""
    primal = features.rmatvec_undeflated(rotations).astype(rotations.dtype)
    return FeatureProjector(features.mean, features.scale is not None, primal, features.feature_weights)


def _check_norms(squares: np.ndarray, size: np.ndarray) -> None:
    worst = int(np.argmin(squares))
    if squares[worst] < -1e-8 * size[worst]:
        raise ValueError(
            f"a kernel must be positive semi-definite, but sample {worst} has the squared norm {squares[worst]:.3g}; "
            "use another kernel or normalize=False."
        )


def _centred_diagonal(diagonal, row_means, grand_mean: float) -> tuple[np.ndarray, np.ndarray]:
    """||phi(y) - mean||^2 from k(y, y), and the size of the terms it was computed from."""
    diagonal = np.asarray(diagonal, dtype=np.float64)
    squares = diagonal - 2 * row_means + grand_mean
    return squares, np.abs(diagonal) + 2 * np.abs(row_means) + abs(grand_mean)
