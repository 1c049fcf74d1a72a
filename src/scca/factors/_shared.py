"""Shared factors: the scores that all views predict best, by regularised canonical correlation analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.sparse.linalg import LinearOperator, eigsh

from ..parallel import one_blas_thread
from ..samples import remote_blocks_of
from ..views import LinearKernelView, PrimalView, View
from ._iteration import Solutions, leading_solutions
from ._products import Products
from ._scores import PooledScores, Scores, inner_products, scores_of
from ._spectrum import spectrum_of
from ._whitened import of_two, whitened_cost, whitened_solutions

__all__ = ["SharedFactors", "factor_cost", "orthonormal", "shared_factors"]

_FEW = 3000  # samples, or features of a view, up to which its full spectrum is computed
_MOST_ENTRIES = 1 << 27  # of all eigenvectors, which are dense
_SMALL = 1500  # eigenproblems up to this size are solved directly
_AT_ONCE = (8, 16)  # directions added per round of the iteration, at least and at most
_MAX_ITER = 200
_TOLERANCE = 1e-3  # relative residual of every factor; sigma then has an error of about its square
_SEED = 0
_MOST_FEATURES = 6000  # of a view of many samples, those that vary most, in which its factors are found
_MOST_OF_VARIANCE = 0.8  # that these have; otherwise factors are found in all features


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


def shared_factors(
    views: Sequence[View], n_components: int, ridges: Sequence[float], most_features: int | None = None
) -> SharedFactors:
    """Up to `n_components` factors of two or more views; fewer if the views share fewer.

    Small views and kernel matrices by their spectra. Large views by the covariances of their features, if at most 6,000
    (or `most_features`) of them have most of the variance, and otherwise by products with all features.
    """
    features = [view for view in map(_features, views) if view is not None]
    ranks = [min(view.shape) for view in features]
    large = max(ranks, default=0) > _FEW or views[0].shape[0] * sum(ranks) > _MOST_ENTRIES
    if (large or remote_blocks_of(views)) and len(features) == len(views):
        return _orthonormal(*_by_features(features, n_components, ridges, most_features or _MOST_FEATURES))
    return _orthonormal(*_by_spectra(views, n_components, ridges))


def _orthonormal(pooled: Scores, values: np.ndarray, residuals: np.ndarray) -> SharedFactors:
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


def factor_cost(views: Sequence[View], n_components: int, most_features: int | None = None) -> float:
    """About how long `shared_factors` takes for many samples, in nanoseconds of a core; only ratios matter."""
    products = 5.0 * n_components * sum(view.n_stored for view in views)
    return whitened_cost(views, most_features or _MOST_FEATURES) + products


def _features(view: View) -> PrimalView | None:
    if isinstance(view, LinearKernelView):
        return view.features
    return view if isinstance(view, PrimalView) else None


def _by_spectra(views: Sequence[View], n_components: int, ridges: Sequence[float]) -> tuple[Any, ...]:
    """With K_v = U L U' and w_v = (C_vv + lambda)^-1/2 z_v the problem is an ordinary one,

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
    return G @ Z, values, residuals


def _by_features(
    views: Sequence[PrimalView], n_components: int, ridges: Sequence[float], most_features: int
) -> tuple[Any, ...]:
    leading = [_leading_features(view, most_features) for view in views]
    n_components = min(n_components, *map(len, leading))
    if max(map(len, leading)) <= _MOST_FEATURES:
        found = whitened_solutions(views, leading, n_components, ridges)
    else:
        found = _iterated(views, n_components, ridges)
    return scores_of(views, found.vectors), found.values, found.residuals


def _leading_features(view: PrimalView, most_features: int) -> np.ndarray:
    """The features that vary most, if they have most of the variance: rare words share what frequent ones share."""
    squares = view.square_norms()
    order = np.argsort(-squares, kind="stable")
    if most_features >= len(order) or squares[order[:_MOST_FEATURES]].sum() < _MOST_OF_VARIANCE * squares.sum():
        return np.arange(len(order))
    return np.sort(order[:most_features])


def _iterated(views: Sequence[PrimalView], n_components: int, ridges: Sequence[float]) -> Solutions:
    """By an iteration on the features of all views, with the scores of only some rows in memory at a time."""
    products = [Products(view, ridge) for view, ridge in zip(views, ridges, strict=True)]
    for product in products:
        product.couple()
    at_once = int(np.clip(n_components // 8, *_AT_ONCE))
    rng = np.random.default_rng(_SEED)
    start = [product.precondition(rng.standard_normal((product.shape[1], at_once))) for product in products]
    with one_blas_thread():  # threads share parts of products
        return leading_solutions(products, start, n_components, tol=_TOLERANCE, max_iter=_MAX_ITER)
