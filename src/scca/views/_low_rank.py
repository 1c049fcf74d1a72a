"""Factors of a kernel matrix, K ~ Z Z' with few columns in Z, and the map from a new sample to its row of Z."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from .._types import MatrixLike, SeedLike
from ..parallel import one_blas_thread
from ._kernels import Kernel, check_symmetric

__all__ = ["KernelFactors", "Landmarks", "RandomFeatures", "SampleMap", "factorised", "mapped"]

_ROWS_AT_ONCE = 2048  # number of rows mapped at a time: fixed, so that results do not depend on the number of workers
_EXHAUSTED = 1e-12  # share of the largest k(x, x): a smaller rest of a sample counts as explained by the landmarks
_MOST_INDEFINITE = 1e-6  # share of the largest k(x, x): a rest further below 0 is no rounding error
_N_CHECKED = 32  # number of samples on which a kernel function is tried in both orders
_N_COMPARED = 1000  # maximum number of samples on which random features are compared with the kernel


class SampleMap(Protocol):
    """A map from samples to rows of Z."""

    @property
    def rank(self) -> int:
        """Number of columns of Z."""

    def rows(self, samples: MatrixLike) -> np.ndarray:
        """Rows of Z of a block of samples."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """z(y) = L^-1 k(P, y): landmarks P, some of the training samples, with k(P, P) = L L'.

    Z Z' is then the Nystroem approximation of the kernel, exact for the landmarks. L is triangular, and solving with it
    loses no digits, unlike the inverse roots of small eigenvalues.
    """

    kernel: Kernel
    samples: Any
    triangle: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.triangle)

    def rows(self, samples: MatrixLike) -> np.ndarray:
        values = self.kernel.matrix(samples, self.samples)
        return solve_triangular(self.triangle, values.T, lower=True, overwrite_b=True, check_finite=False).T


@dataclass(frozen=True, eq=False)
class RandomFeatures:
    """z(y) = sqrt(2 / rank) cos(D'y + o): random directions D and offsets o, whose mean product is the rbf kernel."""

    directions: np.ndarray
    offsets: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.offsets)

    def rows(self, samples: MatrixLike) -> np.ndarray:
        return np.sqrt(2.0 / self.rank) * np.cos(np.asarray(samples @ self.directions) + self.offsets)


@dataclass(frozen=True, eq=False)
class KernelFactors:
    """Z of the training samples, the map that gives it, and the error of Z Z' relative to K."""

    Z: np.ndarray
    map: SampleMap
    error: float


def factorised(
    samples: MatrixLike,
    kernel: Kernel,
    rank: int,
    method: str,
    random_state: SeedLike = None,
    n_jobs: int | None = None,
) -> KernelFactors:
    """K ~ Z Z' for the kernel of checked samples, Z of at most `rank` columns.

    "cholesky": each landmark is drawn in proportion to the part of a sample that earlier ones do not explain (randomly
    pivoted Cholesky factorisation). "nystroem": all samples are equally likely. The error of both is tr(K - Z Z') / tr
    K, the trace norm, since K - Z Z' is positive semi-definite. "random": random features of the rbf kernel, with the
    error ||K - Z Z'|| / ||K|| (Frobenius) over at most 1,000 samples.
    """
    from sklearn.utils import check_random_state  # imported late: only kernels need it

    rng = check_random_state(0 if random_state is None else random_state)
    n = samples.shape[0]
    with one_blas_thread():  # the same order of sums for any number of threads
        if method == "random":
            found: SampleMap = _drawn_features(samples.shape[1], kernel, rank, rng)
            Z = mapped(found, samples, n_jobs)
            return KernelFactors(Z, found, _entry_error(samples, kernel, Z, rng))
        drawn = np.sort(rng.choice(n, min(rank, n), replace=False)) if method == "nystroem" else slice(None)
        found = _landmarks(samples[drawn], kernel, rank, rng)
        Z = mapped(found, samples, n_jobs)
        diagonal = kernel.diagonal(samples)
        left = diagonal - np.einsum("ij,ij->i", Z, Z)
        _check_definite(left, diagonal, kernel)
        return KernelFactors(Z, found, float(np.maximum(left, 0.0).sum() / diagonal.sum()))


def mapped(found: SampleMap, samples: MatrixLike, n_jobs: int | None = None) -> np.ndarray:
    """Z of any number of samples, a block at a time."""
    from joblib import Parallel, delayed

    n = samples.shape[0]
    Z = np.empty((n, found.rank))

    def fill(start: int) -> None:
        Z[start : start + _ROWS_AT_ONCE] = found.rows(samples[start : start + _ROWS_AT_ONCE])

    Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fill)(start) for start in range(0, n, _ROWS_AT_ONCE))
    return Z


def _landmarks(samples: MatrixLike, kernel: Kernel, rank: int, rng: np.random.RandomState) -> Landmarks:
    """At most `rank` of the samples, drawn one after another; fewer if they explain all samples.

    The pivoted Cholesky factorisation, which needs one column of K per landmark: after j of them, the factor C (n x j)
    has C C' = K in their rows and columns, and the rest of a sample x is k(x, x) - ||c(x)||^2. Always taking the sample
    with the largest rest would collect outliers; draws in proportion to the rest have nearly the best error of their
    rank (Chen et al., 2022).
    """
    if callable(kernel.function):
        check_symmetric(kernel.matrix(samples[:_N_CHECKED]))
    diagonal = kernel.diagonal(samples)
    largest = float(diagonal.max())
    if largest <= 0.0:
        raise ValueError(f"the kernel {kernel.name} gives no k(x, x) above 0: choose another, or other data.")
    left = diagonal.copy()
    C = np.empty((len(left), min(rank, len(left))), order="F")
    pivots: list[int] = []
    while len(pivots) < C.shape[1]:
        shares = np.cumsum(np.where(left > _EXHAUSTED * largest, left, 0.0))
        if shares[-1] == 0.0:
            break
        pivot, j = int(np.searchsorted(shares, rng.uniform() * shares[-1], side="right")), len(pivots)
        column = kernel.column(samples, pivot) - C[:, :j] @ C[pivot, :j]
        C[:, j] = column / np.sqrt(left[pivot])
        C[pivots, j] = 0.0
        C[pivot, j] = np.sqrt(left[pivot])
        left -= C[:, j] ** 2
        left[pivot] = 0.0
        pivots.append(pivot)
        _check_definite(left, diagonal, kernel)
    triangle = C[pivots, : len(pivots)]
    return Landmarks(kernel, samples[pivots], np.ascontiguousarray(triangle))


def _check_definite(left: np.ndarray, diagonal: np.ndarray, kernel: Kernel) -> None:
    if left.min() < -_MOST_INDEFINITE * np.abs(diagonal).max():
        raise ValueError(
            f"the kernel {kernel.name} must be positive semi-definite; samples explain {-left.min():.3g} more of "
            f"another than its k(x, x) of {diagonal[left.argmin()]:.3g}: choose a positive semi-definite kernel (rbf, "
            "polynomial, laplacian, ...)."
        )


def _drawn_features(n_features: int, kernel: Kernel, rank: int, rng: np.random.RandomState) -> RandomFeatures:
    from sklearn.kernel_approximation import RBFSampler

    kernel.matrix(np.zeros((1, n_features)))  # refuses unknown parameters
    gamma = kernel.params.get("gamma")
    gamma = 1.0 / n_features if gamma is None else float(gamma)
    sampler = RBFSampler(gamma=gamma, n_components=rank, random_state=rng).fit(np.zeros((1, n_features)))
    return RandomFeatures(np.ascontiguousarray(sampler.random_weights_), np.ascontiguousarray(sampler.random_offset_))


def _entry_error(samples: MatrixLike, kernel: Kernel, Z: np.ndarray, rng: np.random.RandomState) -> float:
    """||K - Z Z'|| / ||K|| over the entries of some samples."""
    rows = np.sort(rng.choice(len(Z), min(_N_COMPARED, len(Z)), replace=False))
    K = kernel.matrix(samples[rows])
    return float(np.linalg.norm(K - Z[rows] @ Z[rows].T) / np.linalg.norm(K))
