"""Ridge regression on many features: conjugate gradients, preconditioned by the features that vary most."""

import numpy as np

from ..parallel import one_blas_thread
from ..views import PrimalView
from ._triangle import Triangle
from .products import RidgeSolution, Scores, correlations, covariance, regularised

__all__ = ["Coupled", "ridge_weights"]

_MOST_COUPLED = 16_000  # maximum number of features whose covariance matrix is factorised: it takes 1 GB
_PER_ROOT = 4.0  # coupled features per root of the number of stored entries: they take about as long as a product
_SINGLE = 3e-6  # relative residual of an inverse in single precision
_LEAST_SHIFT = 1e-6  # smallest ridge, as a share of the trace, that single precision resolves
_MAX_ITER = 1000  # maximum number of steps of conjugate gradients
_MOST_COPIED = 1 << 27  # maximum number of entries of dense columns that are copied to compute covariances
_TOLERANCE = 1e-8  # relative residual of the normal equations


class Coupled:
    """A view M (n x m) with its ridge: products with M'M + ridge and, approximately, with its inverse."""

    def __init__(self, view: PrimalView, ridge: float = 0.0):
        self.shape = view.shape
        self.ridge = ridge
        self.view = view

    def solve(self, R: np.ndarray, tol: float) -> RidgeSolution:
        """(M'M + ridge)^-1 R, by at most 1,000 steps of conjugate gradients on all columns at once.

        If all features are coupled and single precision suffices for `tol`, no iteration is needed.
        """
        if self._is_exact and tol >= _SINGLE:
            return RidgeSolution(self.precondition(R), np.full(R.shape[1], _SINGLE), tol)
        size = np.linalg.norm(R, axis=0)
        size[size == 0] = 1.0
        solution, residual = np.zeros_like(R), R.copy()
        direction = z = self.precondition(residual)
        slope = np.einsum("ij,ij->j", residual, z)
        for _ in range(_MAX_ITER):
            is_open = np.linalg.norm(residual, axis=0) / size > tol
            if not is_open.any():
                break
            image = regularised(self.view, self.ridge, direction)
            curvature = np.einsum("ij,ij->j", direction, image)
            length = np.where(is_open, slope / np.where(curvature > 0, curvature, 1.0), 0.0)
            solution += length * direction
            residual -= length * image
            z = self.precondition(residual)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / np.where(before > 0, before, 1.0) * direction
        return RidgeSolution(solution, np.linalg.norm(residual, axis=0) / size, tol)

    def couple(self) -> None:
        """Factorise the covariance matrix of the features that vary most, which `precondition` inverts exactly.

        If there are few enough features, all are coupled, and no iteration is needed. Otherwise, the fewer entries a
        view stores, the faster a step of the iteration, and the fewer features are worth coupling.
        """
        squares = self.view.square_norms()
        n, m = self.shape[0], int(np.count_nonzero(squares))  # features that are not read do not vary
        self._squares = squares + self.ridge
        size = min(m, _MOST_COUPLED, m if self.view.is_sparse else max(1, _MOST_COPIED // n))
        if size < m:
            size = min(size, 1 + int(_PER_ROOT * np.sqrt(self.view.n_stored)))
        self._coupled = np.sort(np.argsort(-self._squares, kind="stable")[:size])
        shift = max(self.ridge, _LEAST_SHIFT * float(self._squares.sum()))
        while True:
            covariance_ = covariance(self.view, self.view, np.float32, self._coupled, self._coupled)
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


def ridge_weights(view: PrimalView, scores: Scores, ridge: float, tol: float = _TOLERANCE) -> RidgeSolution:
    """(M'M + ridge)^-1 M't for every column t of `scores`, by conjugate gradients on all columns at once."""
    with one_blas_thread():  # the same order of sums for any number of threads
        products = Coupled(view, ridge)
        products.couple()
        return products.solve(correlations([view], scores)[0], tol)
