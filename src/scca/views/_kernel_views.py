"""Dual views: weights on the training samples, represented by a kernel."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import MatrixLike
from ._features import FeatureView
from ._kernels import Kernel, check_positive_semidefinite, check_symmetric
from ._preparation import Norm, Projector, Scale, divided, norm_of
from ._storage import storage_of
from .base import PreparedView

__all__ = ["KernelPreparation", "LinearKernelView", "StoredKernelView", "linear_kernel_view"]

_ROUNDING = 1e-14  # squared norms below this share of the terms they were computed from are zero

# Whether storing a linear kernel pays, in units of a multiplication in a dense matrix-vector product.
_PRODUCTS_PER_COMPONENT = 10  # about how often the solver and deflation multiply by K
_SPARSE_COST = 3.5  # cost of one multiplication with a sparse matrix
_CALL_COST = 100_000  # overhead of a product that goes through the features
_GEMM_GAIN = 20  # ratio by which a multiplication in a matrix-matrix product is cheaper


@dataclass(frozen=True, eq=False)
class KernelPreparation:
    """Maps y to k(y), its kernel values with the training samples, centred by their means and scaled by norms.

    Centring and scaling happen in the kernel's feature space: with the kernel K of the training samples, its column
    means c and their mean g, the prepared kernel is D (K - 1 c' - c 1' + g 1 1') D, D = diag(scale), 1 / scale the
    norms. Before that, columns of the samples are divided by their `spread`, if any; those of `training` already are.
    """

    kernel: Kernel
    training: Any  # the training samples; None with a precomputed kernel
    means: np.ndarray | None
    grand_mean: float
    scale: np.ndarray | None
    norm: Norm | None = None
    spread: np.ndarray | None = None

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        samples = divided(samples, self.spread)
        if samples is self.training:  # BLAS multiplies a matrix by itself in another order than by a copy of it
            samples = samples.copy()
        block = samples if self.kernel.precomputed else self.kernel.matrix(samples, self.training)
        directions = np.asarray(directions, dtype=np.float64)
        directions = directions if self.scale is None else directions * self.scale[:, None]
        scores = np.asarray(block @ directions, dtype=np.float64)
        row_means = np.zeros(block.shape[0])
        if self.means is not None:
            row_means = np.asarray(block.mean(axis=1, dtype=np.float64)).ravel()
            scores -= self.means @ directions + np.multiply.outer(row_means - self.grand_mean, directions.sum(axis=0))
        if self.norm is not None:
            if diagonal is None and not self.kernel.precomputed:
                diagonal = self.kernel.diagonal(samples)
            if diagonal is not None:
                scores *= self.norm.inverse(*_centred_diagonal(diagonal, row_means, self.grand_mean))[:, None]
        return scores


class StoredKernelView(PreparedView):
    """M = D (K - 1 c' - c 1' + g 1 1') D of a stored kernel K, prepared as in `KernelPreparation`.

    The kernel of a feature view is stored unchanged, and its new samples are prepared as features.
    """

    columns_are_samples = True

    def __init__(self, matrix: MatrixLike, preparation: KernelPreparation | None, features: FeatureView | None = None):
        self.storage = storage_of(matrix)
        self.shape = self.storage.shape
        self.n_stored = self.storage.n_stored
        self._preparation, self._features = preparation, features
        self._means = self._scale = None
        self._grand_mean = 0.0
        if preparation is not None:
            self._means, self._grand_mean = preparation.means, preparation.grand_mean
            self._scale = preparation.scale
        squares, _ = _centred_diagonal(matrix.diagonal(), 0.0 if self._means is None else self._means, self._grand_mean)
        self._squares = squares if self._scale is None else squares * self._scale**2

    @classmethod
    def of(
        cls,
        data: MatrixLike,
        kernel: Kernel,
        *,
        center: bool,
        scale: Scale,
        spread: np.ndarray | None = None,
        n_jobs: int | None = None,
        name: str = "the kernel matrix",
    ) -> "StoredKernelView":
        """The view of checked samples (or a checked kernel matrix, if precomputed), centred and scaled on request.

        The columns have been divided by `spread`, and those of new samples will be.
        """
        matrix = data if kernel.precomputed else kernel.matrix(data, n_jobs=n_jobs)
        if callable(kernel.function):
            check_symmetric(matrix)
        training = None if kernel.precomputed else data
        means, grand_mean = None, 0.0
        if center:
            means = np.asarray(matrix.mean(axis=0, dtype=np.float64)).ravel()
            grand_mean = float(means.mean())
        squares, noise = _centred_diagonal(matrix.diagonal(), 0.0 if means is None else means, grand_mean)
        if (np.abs(squares) < noise).all():
            raise ValueError(
                f"{name} does not show how samples differ: their squared norms are rounding error relative to its "
                "entries; centre the data that it is computed from."
            )
        unscaled = cls(matrix, KernelPreparation(kernel, training, means, grand_mean, None, spread=spread))
        check_positive_semidefinite(unscaled.matvec, unscaled.shape[0], name)
        norm = norm_of(scale, unscaled.columns(np.arange(len(squares))) if scale == "both" else matrix)
        if norm is None:
            unscaled.unit = max(float(squares.mean()), 0.0) or 1.0
            return unscaled
        scales = norm.inverse(squares, noise)
        return cls(matrix, KernelPreparation(kernel, training, means, grand_mean, scales, norm, spread))

    @classmethod
    def of_linear(cls, features: FeatureView) -> "StoredKernelView":
        """The linear kernel of a feature view, whose new samples never need a kernel."""
        view = cls(features.outer(), None, features)
        view.unit = features.unit
        return view

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self._product(self.storage.matvec, weights)

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return self._product(self.storage.rmatvec, r)

    def _product(self, multiply: Callable[[np.ndarray], np.ndarray], v: np.ndarray) -> np.ndarray:
        if self._scale is not None:
            v = self._scale * v
        out = multiply(v)
        if self._means is not None:
            out = out - self._means @ v - (self._means - self._grand_mean) * v.sum()
        return out if self._scale is None else self._scale * out

    def among(self, rows: np.ndarray) -> np.ndarray:
        """The kernel of some samples."""
        return self.columns(rows)[rows]

    def columns(self, indices: np.ndarray) -> np.ndarray:
        block = self.storage.columns(indices)
        if self._means is not None:
            block = block - self._means[indices] - (self._means - self._grand_mean)[:, None]
        if self._scale is not None:
            block = block * self._scale[:, None] * self._scale[indices]
        return block

    def sample_squares(self) -> np.ndarray:
        return self._squares

    def reweighted(self, factors: np.ndarray) -> "StoredKernelView":
        view = copy(self)
        view._preparation = view._features = None
        view._scale = factors if self._scale is None else self._scale * factors
        view._squares = self._squares * factors**2
        return view

    def projector(self, rotations: np.ndarray) -> Projector:
        if self._features is not None:
            return _linear_projector(self._features, rotations)
        if self._preparation is None:
            raise ValueError("a kernel used unchanged cannot prepare new samples; create the view by `of`.")
        return Projector(self._preparation, rotations)


class LinearKernelView(PreparedView):
    """M = F F' for a feature view F of the same samples, without computing the (n, n) matrix."""

    passes_for_columns = 1
    columns_are_samples = True

    def __init__(self, features: FeatureView):
        self.features = features
        self.shape = (features.shape[0], features.shape[0])
        self.n_stored, self.unit = features.n_stored, features.unit

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self.features.matvec(self.features.rmatvec(weights))

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return self.matvec(r)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns, computed together by one pass over the features."""
        units = np.zeros((self.shape[0], len(indices)))
        units[indices, np.arange(len(indices))] = 1.0
        return self.features.matmat(self.features.rmatmat(units))

    def sample_squares(self) -> np.ndarray:
        return self.features.sample_squares()

    def reweighted(self, factors: np.ndarray) -> "LinearKernelView":
        return LinearKernelView(self.features.reweighted(factors))

    def projector(self, rotations: np.ndarray) -> Projector:
        return _linear_projector(self.features, rotations)


def linear_kernel_view(features: FeatureView, n_components: int) -> PreparedView:
    """The dual view of prepared features, in the cheaper storage for this number of components."""
    if _storing_is_cheaper(features, n_components):
        return StoredKernelView.of_linear(features)
    return LinearKernelView(features)


def _storing_is_cheaper(features: FeatureView, n_components: int) -> bool:
    """Whether products with K are cheaper than products through the features, and frequent enough to pay for K."""
    n = features.shape[0]
    through_features = 2 * features.n_stored * (_SPARSE_COST if features.is_sparse else 1) + _CALL_COST
    return n * n <= through_features and n <= _GEMM_GAIN * _PRODUCTS_PER_COMPONENT * n_components


def _linear_projector(features: FeatureView, rotations: np.ndarray) -> Projector:
    """Rotations on samples become rotations on features, so that no kernel with the training samples is needed."""
    return features.projector(features.rmatvec(rotations).astype(rotations.dtype, order="C"))


def _centred_diagonal(
    diagonal: np.ndarray, row_means: np.ndarray | float, grand_mean: float
) -> tuple[np.ndarray, np.ndarray]:
    """||phi(y) - mean||^2 from k(y, y), and a bound on its rounding error."""
    diagonal = np.asarray(diagonal, dtype=np.float64)
    squares = diagonal - 2 * row_means + grand_mean
    return squares, _ROUNDING * (np.abs(diagonal) + 2 * np.abs(row_means) + abs(grand_mean))
