"""Shared factors: the scores that all views predict best, by regularised canonical correlation analysis."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from ..engine import one_blas_thread
from ..views import FeatureView, LinearKernelView, View
from ._iteration import leading_solutions
from ._products import Products
from ._spectrum import spectrum_of

__all__ = ["SharedFactors", "shared_factors"]

_FEW = 3000  # samples, or features of a view, up to which its full spectrum is computed
_MOST_ENTRIES = 1 << 27  # of all eigenvectors, which are dense
_SMALL = 1500  # eigenproblems up to this size are solved directly
_AT_ONCE = (8, 16)  # directions added per round of the iteration, at least and at most
_MAX_ITER = 200
_TOLERANCE = 1e-3  # relative residual of every factor; sigma then has an error of about its square
_SEED = 0


@dataclass(frozen=True, eq=False)
class SharedFactors:
    """The leading solutions of the symmetric problem over views A_v (n x m_v), C_vu = A_v'A_u,

        sum over u != v of  C_vu w_u  =  sigma (C_vv + lambda_v I) w_v      for every view v.

    Attributes
    ----------
    scores : ndarray of shape (n, c)
        T, the pooled scores t = sum_v A_v w_v, orthonormalised in order.
    values : ndarray of shape (c,)
        sigma, largest first. For two views and lambda = r / (1 - r) these are 1 - r times the canonical values of
        kernel CCA with the regularisation r.
    residuals : ndarray of shape (c,)
        Residual norm of each solution, relative to the right side of the equation; recomputed at the end.
    converged : ndarray of bool of shape (c,)
        Whether the residual is at most 1e-3.
    """

    scores: np.ndarray
    values: np.ndarray
    residuals: np.ndarray

    @property
    def converged(self) -> np.ndarray:
        return self.residuals <= _TOLERANCE


def shared_factors(views: Sequence[View], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Up to `n_components` factors of two or more views; fewer if the views share fewer.

    Small views and kernel matrices by their spectra; large views by products with their features alone, for all factors
    at once.
    """
    features = [view for view in map(_features, views) if view is not None]
    ranks = [min(view.shape) for view in features]
    large = max(ranks, default=0) > _FEW or views[0].shape[0] * sum(ranks) > _MOST_ENTRIES
    if large and len(features) == len(views):
        with one_blas_thread():  # the same order of sums for any number of threads
            return _orthonormal(*_by_products(features, n_components, ridges))
    return _orthonormal(*_by_spectra(views, n_components, ridges))


def _orthonormal(pooled: np.ndarray, values: np.ndarray, residuals: np.ndarray) -> SharedFactors:
    """The factors with orthonormal scores, without the directions that the views do not share."""
    positive = values > np.finfo(np.float64).eps * len(pooled) * values.max(initial=0.0)
    T, R = np.linalg.qr(pooled[:, positive])
    return SharedFactors(T * np.sign(np.diag(R)), values[positive], residuals[positive])


def _features(view: View) -> FeatureView | None:
    if isinstance(view, LinearKernelView):
        return view.features
    return view if isinstance(view, FeatureView) else None


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
        values, Z = _of_two(G[:, blocks[0]].T @ G[:, blocks[1]], n_components)
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


def _of_two(M: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """For two views the eigenvectors are pairs of singular vectors of M = G_1'G_2, found from the smaller product."""
    transposed = M.shape[0] > M.shape[1]
    M = M.T if transposed else M
    size = len(M)
    squares, U = eigh(M @ M.T, subset_by_index=(size - n_components, size - 1))
    squares[squares <= size * np.finfo(np.float64).eps * squares.max(initial=0.0)] = (
        0.0  # rounding error of the squares
    )
    values = np.sqrt(squares)
    V = M.T @ U / np.where(values > 0, values, 1.0)
    return values, np.vstack([V, U] if transposed else [U, V]) / np.sqrt(2.0)


def _by_products(views: Sequence[FeatureView], n_components: int, ridges: Sequence[float]) -> tuple[Any, ...]:
    """By an iteration on the features of all views, with the scores of only some rows in memory at a time."""
    products = [Products(view, ridge) for view, ridge in zip(views, ridges, strict=True)]
    for product in products:
        product.couple()
    n_components = min(n_components, *(view.shape[1] for view in views))
    at_once = int(np.clip(n_components // 8, *_AT_ONCE))
    rng = np.random.default_rng(_SEED)
    start = [product.precondition(rng.standard_normal((product.shape[1], at_once))) for product in products]
    found = leading_solutions(products, start, n_components, tol=_TOLERANCE, max_iter=_MAX_ITER)
    pooled = sum(product.scores(vectors) for product, vectors in zip(products, found.vectors, strict=True))
    return pooled, found.values, found.residuals
