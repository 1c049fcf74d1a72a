"""The leading factors of views with many samples and not too many features, by covariances instead of iterations."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..parallel import times
from ..progress import Stage
from ..views import PrimalView, View
from ._iteration import Solutions, residuals_of
from ._triangle import Triangle
from .find import of_many, of_two
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
            own = covariance(view, view, rows=features, columns=features)
            own[np.diag_indices_from(own)] += ridge
            triangles.append(Triangle(own))

    def between(v: int, u: int) -> np.ndarray:
        with stage.step(_covariance_cost(views, sizes, v, u)):
            half = triangles[v].forward(covariance(views[v], views[u], rows=kept[v], columns=kept[u]))
            return triangles[u].forward(half.T).T

    if len(views) == 2:
        M = between(0, 1)
        with stage.step(_VECTORS_TIME * max(sizes) ** 3):
            values, Z = of_two(M, n_components)
    else:
        ends = np.cumsum([0, *sizes])
        own_rows = [slice(*pair) for pair in pairwise(ends)]
        pairs = {(v, u): between(v, u) for v in range(len(views)) for u in range(v)}

        def multiply(Z: np.ndarray) -> np.ndarray:
            found = np.zeros_like(Z)
            for (v, u), block in pairs.items():
                found[own_rows[v]] += times(block, Z[own_rows[u]])
                found[own_rows[u]] += times(block.T, Z[own_rows[v]])
            return found

        def matrix() -> np.ndarray:
            found = np.zeros((ends[-1], ends[-1]))
            for (v, u), block in pairs.items():
                found[own_rows[v], own_rows[u]] = block
            return found

        with stage.step(_VECTORS_TIME * max(sizes) ** 3):
            values, Z = of_many(multiply, matrix, int(ends[-1]), n_components)
    vectors = [triangle.backward(z) for triangle, z in zip(triangles, np.split(Z, np.cumsum(sizes)[:-1]), strict=True)]
    return np.maximum(values, 0.0), vectors
