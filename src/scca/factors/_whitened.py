"""The leading factors of views with many samples and not too many features, by covariances instead of iterations."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from ..parallel import blas_threads_for, one_blas_thread
from ..progress import Stage
from ..views import PrimalView, View
from ._iteration import Solutions, residuals_of
from .find import of_two
from .products import covariance, images

__all__ = ["whitened_cost", "whitened_solutions"]

# Approximate times of steps with m features, in nanoseconds per m^3; only ratios matter.
_TRIANGLE_TIME, _DIVISION_TIME, _VECTORS_TIME = 0.006, 0.027, 0.03


def whitened_solutions(
    views: Sequence[PrimalView], kept: Sequence[np.ndarray], n_components: int, ridges: Sequence[float]
) -> Solutions:
    """The largest solutions with weights on the `kept` features of each view alone.

    With C_vv + lambda_v = L_v L_v' and w_v = L_v'^-1 z_v the problem is an ordinary one,

    sum over u != v of  L_v^-1 C_vu L_u'^-1 z_u = sigma z_v.

    Single precision would rotate factors by about 1e-5, which changes the selected features; so this is in double.
    """
    with blas_threads_for(max(map(len, kept)) ** 2):
        values, found = _solve(views, kept, n_components, ridges)
    vectors = [np.zeros((view.shape[1], len(values))) for view in views]
    for W, features, w in zip(vectors, kept, found, strict=True):
        W[features] = w
    found_images = images(views, ridges, vectors)
    of_kept = [[block[kept[u]] for u, block in enumerate(blocks)] for blocks in found_images]
    return Solutions(values, vectors, residuals_of(of_kept, values)[1], n_components)


def whitened_cost(views: Sequence[View], most_features: int) -> float:
    """Approximate time to find factors in at most `most_features` features of each view, in nanoseconds."""
    sizes = [min(view.shape[1], most_features) for view in views]
    pairs = [(v, u) for v in range(len(views)) for u in range(v + 1)]
    return sum(_covariance_cost(views, sizes, v, u) for v, u in pairs) + _VECTORS_TIME * max(sizes) ** 3


def _covariance_cost(views: Sequence[View], sizes: Sequence[int], v: int, u: int) -> float:
    """Time to compute the covariances of two views and divide them by triangles, or those of one and its triangle."""
    factor = _TRIANGLE_TIME if v == u else _DIVISION_TIME
    return views[v].n_stored * views[u].n_stored / views[0].shape[0] + factor * max(sizes[v], sizes[u]) ** 3


def _solve(
    views: Sequence[PrimalView], kept: Sequence[np.ndarray], n_components: int, ridges: Sequence[float]
) -> tuple[np.ndarray, list[np.ndarray]]:
    sizes, triangles = [len(features) for features in kept], []
    stage = Stage("factors", whitened_cost(views, max(sizes)))
    for v, (view, features, ridge) in enumerate(zip(views, kept, ridges, strict=True)):
        with stage.step(_covariance_cost(views, sizes, v, v)):
            own = _covariance(view, view, features, features)
            own[np.diag_indices_from(own)] += ridge
            triangles.append(cholesky(own.T, lower=True, overwrite_a=True, check_finite=False))  # in place, by columns

    def between(v: int, u: int) -> np.ndarray:
        with stage.step(_covariance_cost(views, sizes, v, u)):
            half = _divided(triangles[u], _covariance(views[v], views[u], kept[v], kept[u]).T)
            return _divided(triangles[v], half.T)

    if len(views) == 2:
        M = between(0, 1)
        with stage.step(_VECTORS_TIME * max(sizes) ** 3):
            values, Z = of_two(M, n_components)
    else:
        ends = np.cumsum([0, *sizes])
        own_rows = [slice(*pair) for pair in pairwise(ends)]
        matrix = np.zeros((ends[-1], ends[-1]))
        for v in range(len(views)):
            for u in range(v):
                matrix[own_rows[v], own_rows[u]] = between(v, u)
        values, Z = eigh(matrix, lower=True, overwrite_a=True, subset_by_index=(ends[-1] - n_components, ends[-1] - 1))
        values, Z = values[::-1], Z[:, ::-1]
    parts = np.split(Z, np.cumsum(sizes)[:-1])
    vectors = [_divided(L, z, transposed=True) for L, z in zip(triangles, parts, strict=True)]
    return np.maximum(values, 0.0), vectors


def _covariance(first: PrimalView, second: PrimalView, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    with one_blas_thread():  # threads share blocks of rows
        return covariance(first, second, rows=rows, columns=columns)


def _divided(L: np.ndarray, R: np.ndarray, *, transposed: bool = False) -> np.ndarray:
    """L^-1 R, or L'^-1 R; R is overwritten if it is stored by columns."""
    return solve_triangular(L, R, trans=int(transposed), lower=True, overwrite_b=True, check_finite=False)
