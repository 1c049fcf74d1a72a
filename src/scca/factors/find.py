"""Finding: the scores that all views predict best, by regularised canonical correlation analysis of their spectra."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import eigh, solve_triangular, svd
from scipy.sparse.linalg import LinearOperator, eigsh

from ..parallel import map_threads, one_blas_thread, parts, times
from ..views import FeatureView, LinearKernelView, View
from ._lanczos import leading_eigenvectors
from ._scores import PooledScores, Scores, inner_products

if TYPE_CHECKING:
    from .settings import Settings

__all__ = [
    "SharedFactors",
    "Spectrum",
    "factors_by_spectra",
    "of_two",
    "orthonormal",
    "ridge_of",
    "spectrum_of",
    "with_orthonormal_scores",
]

_SMALL = 1500  # eigenproblems up to this size are solved directly
_TOLERANCE = 1e-3  # relative residual of every factor; sigma then has an error of about its square
_SEED = 0
_ROWS = 1024  # of a product per task of a thread
_MANY, _FEW_OF = 2000, 40  # features from which on an iteration is faster, and per component
_MOST_COPIED = 1 << 20  # entries of a wide dense view that are copied for their singular values


@dataclass(frozen=True, eq=False)
class SharedFactors:
    """The leading solutions of the symmetric problem over views A_v (n x m_v), C_vu = A_v'A_u,

        sum over u != v of  C_vu w_u  =  sigma (C_vv + lambda_v I) w_v      for every view v.

    Attributes
    ----------
    scores : ndarray or PooledScores of shape (n, c)
        T, the pooled scores t = sum_v A_v w_v, orthonormalised in order.
    values : ndarray of shape (c,)
        sigma, largest first. For two views and lambda = r / (1 - r) these are 1 - r times the canonical values of
        kernel CCA with the regularisation r.
    residuals : ndarray of shape (c,)
        Residual norm of each solution, relative to the right side of the equation; recomputed at the end.
    converged : ndarray of bool of shape (c,)
        Whether the residual is at most 1e-3.
    """

    scores: Scores
    values: np.ndarray
    residuals: np.ndarray

    @property
    def converged(self) -> np.ndarray:
        return self.residuals <= _TOLERANCE

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        pooled = isinstance(self.scores, PooledScores)
        scores = self.scores.weights if isinstance(self.scores, PooledScores) else [self.scores]
        return {"values": self.values, "residuals": self.residuals, "pooled": np.array(pooled)} | {
            f"scores_{v}": part for v, part in enumerate(scores)
        }

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray], views: Sequence[View]) -> "SharedFactors":
        """The inverse of `arrays`, for the same views."""
        scores: Scores = stored["scores_0"]
        if stored["pooled"]:
            scores = PooledScores(views, [stored[f"scores_{v}"] for v in range(len(views))])
        return cls(scores, stored["values"], stored["residuals"])


def ridge_of(settings: "Settings", view: View) -> float:
    """lambda of one view; an automatic one is a multiple of the mean squared norm of its samples."""
    return settings.ridge * getattr(view, "unit", 1.0) if settings.ridge_is_automatic else settings.ridge


def factors_by_spectra(views: Sequence[View], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Up to `n_components` factors of two or more views; fewer if the views share fewer.

    With K_v = U L U' and w_v = (C_vv + lambda)^-1/2 z_v the problem is an ordinary one,

    sum over u != v of  G_v'G_u z_u = sigma z_v,    G_v = A_v (C_vv + lambda)^-1/2 = U sqrt(L / (L + lambda)).
    """
    spectra = [spectrum_of(view) for view in views]
    G = np.hstack([s.vectors * s.gain(1.0, ridge) for s, ridge in zip(spectra, ridges, strict=True)])
    ends = np.cumsum([0, *(len(s.values) for s in spectra)])
    blocks = [slice(*pair) for pair in pairwise(ends)]
    size = G.shape[1]
    n_components = min(n_components, *(len(s.values) for s in spectra))

    def products(z: np.ndarray) -> np.ndarray:
        out = G.T @ (G @ z)
        for block in blocks:  # no view predicts itself
            out[block] -= G[:, block].T @ (G[:, block] @ z[block])
        return out

    if len(views) == 2:
        values, Z = of_two(G[:, blocks[0]].T @ G[:, blocks[1]], n_components)
    elif size <= _SMALL:
        matrix = G.T @ G
        for block in blocks:
            matrix[block, block] = 0.0
        values, Z = eigh(matrix, subset_by_index=(size - n_components, size - 1))
    else:
        start = np.random.default_rng(_SEED).standard_normal(size)
        operator = LinearOperator((size, size), matvec=lambda z: products(z.ravel()), dtype=np.float64)
        values, Z = eigsh(operator, k=n_components, which="LA", v0=start)
    order = np.argsort(-values, kind="stable")
    values, Z = values[order], Z[:, order]
    residuals = np.linalg.norm(products(Z) - values * Z, axis=0) / np.maximum(np.abs(values), np.finfo(float).tiny)
    return with_orthonormal_scores(G @ Z, values, residuals)


def with_orthonormal_scores(pooled: Scores, values: np.ndarray, residuals: np.ndarray) -> SharedFactors:
    """The factors with orthonormal scores, without the directions that the views do not share."""
    positive = values > np.finfo(np.float64).eps * len(pooled) * values.max(initial=0.0)
    pooled = pooled @ np.eye(len(values))[:, positive] if isinstance(pooled, PooledScores) else pooled[:, positive]
    return SharedFactors(orthonormal(pooled), values[positive], residuals[positive])


def orthonormal(pooled: Scores) -> Scores:
    """The columns orthonormalised in order.

    Scores that are not stored by the Cholesky factor of their inner products, which is precise enough: for solutions of
    the problem above these are at least diag(sigma), since w_i'L w_j = sigma_i if i = j, and otherwise 0.
    """
    if isinstance(pooled, PooledScores):
        L = np.linalg.cholesky(inner_products(pooled, pooled))
        return pooled @ solve_triangular(L, np.eye(len(L)), lower=True).T
    T, R = np.linalg.qr(pooled)
    return T * np.sign(np.diag(R))


def of_two(M: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """For two views the solutions are pairs of singular vectors of M, found from the smaller product."""
    is_tall = M.shape[0] > M.shape[1]
    M = np.ascontiguousarray(M.T if is_tall else M)
    squares, U = _few_leading(M, n_components) or _leading(M, n_components)
    rounding = len(M) * np.finfo(M.dtype).eps * squares.max(initial=0.0)
    values = np.sqrt(np.where(squares > rounding, squares, 0.0))
    V = M.T @ U / np.where(values > 0, values, 1.0)
    return values, np.vstack([V, U] if is_tall else [U, V]) / np.sqrt(2.0)


def _few_leading(M: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The largest eigenvalues of M M', and their vectors, if they are few of many and an iteration finds them."""
    if len(M) < max(_MANY, _FEW_OF * count):
        return None
    with one_blas_thread():  # the same order of sums for any number of threads
        return leading_eigenvectors(lambda V: times(M, times(M.T, V)), len(M), count)


def _leading(M: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The same, by a decomposition."""
    size = len(M)
    product = np.zeros((size, size), dtype=M.dtype)

    def multiply(rows: slice) -> None:
        product[rows, : rows.stop] = M[rows] @ M[: rows.stop].T  # the lower half

    map_threads(multiply, parts(0, size, _ROWS))
    squares, U = eigh(product, lower=True, overwrite_a=True, subset_by_index=(size - count, size - 1))
    return squares[::-1], U[:, ::-1]


# --- spectra ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K = U L U': `vectors` U (n x rank), `values` L (rank,)."""

    vectors: np.ndarray
    values: np.ndarray

    def gain(self, variance: float, ridge: float) -> np.ndarray:
        """sqrt(L / (variance L + ridge)): how much of each eigenvector the regularisation keeps."""
        return np.sqrt(self.values / (variance * self.values + ridge))

    def coefficients(self, scores: np.ndarray) -> np.ndarray:
        """a with K a = `scores`, for scores in the span of U."""
        return self.vectors @ ((self.vectors.T @ scores) / self.values[:, None])


_found: WeakKeyDictionary[View, Spectrum] = WeakKeyDictionary()  # the factors and their dense weights need the same


def spectrum_of(view: View) -> Spectrum:
    """The spectrum of M M' for features, of M for a kernel; computed once for every view."""
    if isinstance(view, LinearKernelView):
        view = view.features
    if view not in _found:
        _found[view] = (
            _of_features(view) if isinstance(view, FeatureView) else _of_matrix(view.columns(np.arange(view.shape[0])))
        )
    return _found[view]


def _of_features(features: FeatureView) -> Spectrum:
    n, m = features.shape
    large = n < m and features.n_stored > _MOST_COPIED
    if not features.is_sparse and not large:  # singular values are more precise than the roots of their squares
        read = features.storage.read
        vectors, singular = _singular(features.columns(np.arange(m) if read is None else read))
        kept = singular > singular[0] * max(n, m) * np.finfo(np.float64).eps
        return Spectrum(vectors[:, kept], singular[kept] ** 2)
    if n <= m:
        return _of_matrix(features.outer())
    everything = features.selection()
    everything.add(np.arange(m))
    covariance = _of_matrix(everything.gram(0))
    return Spectrum(features.matmat(covariance.vectors) / np.sqrt(covariance.values), covariance.values)


def _singular(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and singular values."""
    try:
        vectors, singular, _ = svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:  # divide and conquer may fail to converge, on tables of zeros and ones for example
        vectors, singular, _ = svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return vectors, singular


def _of_matrix(matrix: np.ndarray) -> Spectrum:
    values, vectors = eigh(matrix)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    return Spectrum(vectors[:, kept], values[kept])
