"""The leading factors of large views by products alone: block Lanczos with a separate basis for each view."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh

from ..parallel import inner, map_threads, times
from ..views import PrimalView
from ._ridge import Coupled
from .products import images

__all__ = ["Solutions", "leading_solutions", "residuals_of"]

_DEPENDENT = 1e-8  # share of a squared norm: a smaller part of a direction outside the span of others is rounding error
_ORTHOGONAL = 1e-10  # inner product of unit directions above which they are orthogonalised again
_FIRST_CHECK = 3.0  # number of directions per view and wanted factor before convergence is first checked
_CHECK_GROWTH = 1.08  # growth of the number of directions between two checks
_BASIS_SIZE = 8  # maximum number of directions stored per view and wanted factor
_SHRUNK_BASIS_SIZE = 1.5  # number of directions per wanted factor that a full basis is shrunk to
_LEAST_BASIS_SIZE = 20  # smallest limit on the number of directions stored per view
_INNER_TOLERANCE = 1.0  # relative residual of inner solves, as a share of the tolerance: later ones correct the error

Blocks = list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Solutions:
    """Every sigma, largest first; its w, a column with w'Bw = 1; and ||Lw - sigma Bw|| / ||sigma Bw||, recomputed."""

    values: np.ndarray
    vectors: list[np.ndarray]
    residuals: np.ndarray
    n_products: int  # number of columns that the views were multiplied with


class _Basis:
    """Directions V_v of every view, V_v'B_vV_v = 1, with B_v V_v and the images C_uv V_v in every other view u."""

    def __init__(self, products: Sequence[Coupled], capacity: int):
        self._products = products
        sizes = [product.shape[1] for product in products]
        self.widths = [0] * len(sizes)
        self._capacities = [min(capacity, size) for size in sizes]
        self.n_products = 0
        # held[v][u] is C_uv V_v, and B_v V_v where u = v
        self._held = [[np.empty((m, k), order="F") for m in sizes] for k in self._capacities]
        self._directions = [np.empty((m, k), order="F") for m, k in zip(sizes, self._capacities, strict=True)]

    def directions(self, v: int) -> np.ndarray:
        return self._directions[v][:, : self.widths[v]]

    def held(self, v: int, u: int) -> np.ndarray:
        return self._held[v][u][:, : self.widths[v]]

    def has_room(self, width: int) -> bool:
        return all(self.widths[v] + width <= k or k == len(self._directions[v]) for v, k in enumerate(self._capacities))

    def add(self, new: Blocks) -> list[Blocks]:
        """Add the new part of directions in every view; returns the images of these parts, laid out as in `held`."""
        starts = list(self.widths)
        new = [self._new_part(v, block) for v, block in enumerate(new)]
        self.n_products += max(block.shape[1] for block in new)
        for v, (block, found) in enumerate(zip(new, images(*_views_and_ridges(self._products), new), strict=True)):
            self._append(v, block, found)
        return [[held[:, starts[v] : self.widths[v]] for held in self._held[v]] for v in range(len(new))]

    def _new_part(self, v: int, block: np.ndarray) -> np.ndarray:
        room = self._capacities[v] - self.widths[v]
        block = block[:, :room]
        block = block - times(self.directions(v), inner(self.held(v, v), block))
        norms = np.linalg.norm(block, axis=0)
        return block[:, norms > 0] / norms[norms > 0]

    def _append(self, v: int, block: np.ndarray, found: Blocks) -> None:
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", block, found[v]), np.finfo(np.float64).tiny))
        overlap = inner(self.directions(v), found[v]) / lengths
        block, found = block / lengths, [part / lengths for part in found]
        if np.abs(overlap).max(initial=0.0) > _ORTHOGONAL:
            block = block - times(self.directions(v), overlap)
            found = [part - times(self.held(v, u), overlap) for u, part in enumerate(found)]
        squares, mixture = eigh(_symmetric(inner(block, found[v])))
        kept = squares > _DEPENDENT
        mixture = mixture[:, kept] / np.sqrt(squares[kept])
        columns = slice(self.widths[v], self.widths[v] + mixture.shape[1])
        self._directions[v][:, columns] = times(block, mixture)
        for u, part in enumerate(found):
            self._held[v][u][:, columns] = times(part, mixture)
        self.widths[v] = columns.stop

    def best(self, count: int) -> tuple[np.ndarray, Blocks]:
        """The largest sigma within the spans of the bases, and the coefficients of their solutions."""
        cross = {(v, u): inner(self.directions(v), self.held(u, v)) for v in range(len(self.widths)) for u in range(v)}
        if len(self.widths) == 2 and count <= min(self.widths):
            values, mixtures = _singular(cross[1, 0], count)
            if values[-1] > _DEPENDENT * values[0]:
                return values, mixtures
        ends = np.cumsum([0, *self.widths])
        own = [slice(first, last) for first, last in pairwise(ends)]
        matrix = np.zeros((ends[-1], ends[-1]))
        for (v, u), block in cross.items():
            matrix[own[v], own[u]] = block
        values, mixture = eigh(matrix, lower=True, subset_by_index=(max(0, ends[-1] - count), ends[-1] - 1))
        return values[::-1], [np.ascontiguousarray(mixture[part, ::-1]) for part in own]

    def combined(self, mixtures: Blocks) -> Blocks:
        return [times(self.directions(v), mixture) for v, mixture in enumerate(mixtures)]

    def residuals(self, values: np.ndarray, mixtures: Blocks) -> tuple[Blocks, np.ndarray]:
        found = [[times(self.held(v, u), mixture) for u in range(len(mixtures))] for v, mixture in enumerate(mixtures)]
        return residuals_of(found, values)

    def shrink(self, mixtures: Blocks) -> None:
        """Shrink every basis to these combinations, made orthonormal."""
        for v, mixture in enumerate(mixtures):
            U, lengths, _ = np.linalg.svd(mixture, full_matrices=False)
            mixture = U[:, lengths > np.sqrt(_DEPENDENT) * lengths[0]]
            for part in (self._directions[v], *self._held[v]):
                part[:, : mixture.shape[1]] = times(part[:, : self.widths[v]], mixture)
            self.widths[v] = mixture.shape[1]


def leading_solutions(
    products: Sequence[Coupled], start: Blocks, n_wanted: int, *, tol: float, max_iter: int
) -> Solutions:
    """The `n_wanted` largest sigma of  sum over u != v of C_vu w_u = sigma B_v w_v,  B_v = C_vv + ridge.

    Every round multiplies the images of the newest directions by B_v^-1 (to the tolerance) and adds their new part to
    the basis of the view. From time to time the best combinations are checked. A full basis is shrunk to these,
    and the iteration continues from the ones whose residuals are too large. Convergence according to the recurrences is
    confirmed by recomputed products.
    """
    at_once = max(block.shape[1] for block in start)
    capacity = max(_LEAST_BASIS_SIZE, _BASIS_SIZE * n_wanted) + at_once
    basis = _Basis(products, capacity)
    new, look = start, _FIRST_CHECK * n_wanted
    for n_rounds in range(1, max_iter + 1):
        before = list(basis.widths)
        found = basis.add(new)
        is_last = before == basis.widths or n_rounds == max_iter
        ahead, is_full = _next_directions(basis, found, at_once), not basis.has_room(at_once)
        if is_last or is_full or max(basis.widths) >= look:
            values, mixtures = basis.best(n_wanted)
            residuals, sizes = basis.residuals(values, mixtures)
            if is_last or (sizes <= tol).all():
                vectors = basis.combined(mixtures)
                residuals, sizes = residuals_of(images(*_views_and_ridges(products), vectors), values)
                basis.n_products += len(values)
                if is_last or (sizes <= tol).all():
                    break
            look = _CHECK_GROWTH * max(basis.widths)
            if is_full:
                basis.shrink(basis.best(int(_SHRUNK_BASIS_SIZE * n_wanted))[1])
                look = max(basis.widths) + n_wanted
                ahead = [block[:, sizes > tol][:, :at_once] for block in residuals]
        new = _inverted(products, ahead, _INNER_TOLERANCE * tol)
    return Solutions(values, vectors, sizes, basis.n_products)


def _inverted(products: Sequence[Coupled], blocks: Blocks, tol: float) -> Blocks:
    """B_v^-1 times a block, in every view; inexact is fine, since the residuals of the factors are checked."""
    return map_threads(lambda v: products[v].solve(blocks[v], tol).weights, range(len(products)))


def _next_directions(basis: _Basis, found: list[Blocks], at_once: int) -> Blocks:
    """The sum of the newest directions' images in every view, orthogonal to the last two blocks of its basis."""
    ahead = []
    for v in range(len(found)):
        block = np.zeros((len(found[v][v]), at_once))
        for u, parts in enumerate(found):
            if u != v:
                block[:, : parts[v].shape[1]] += parts[v]
        last = slice(-2 * at_once, None)  # these have the largest overlap
        ahead.append(block - times(basis.held(v, v)[:, last], inner(basis.directions(v)[:, last], block)))
    return ahead


def _singular(matrix: np.ndarray, count: int) -> tuple[np.ndarray, Blocks]:
    """The largest solutions of two views, from singular vectors: a problem half the size of the joint one."""
    size = len(matrix)
    squares, left = eigh(matrix @ matrix.T, subset_by_index=(size - count, size - 1))
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    left = np.ascontiguousarray(left[:, ::-1]) / np.sqrt(2.0)
    return values, [matrix.T @ left / np.maximum(values, np.finfo(np.float64).tiny), left]


def _views_and_ridges(products: Sequence[Coupled]) -> tuple[list[PrimalView], list[float]]:
    return [product.view for product in products], [product.ridge for product in products]


def residuals_of(found: list[Blocks], values: np.ndarray) -> tuple[Blocks, np.ndarray]:
    """sum over u != v of C_vu w_u - sigma B_v w_v in every view, and its norm relative to that of sigma B w."""
    views = range(len(found))
    right = [values * found[v][v] for v in views]
    residuals = [sum(found[u][v] for u in views if u != v) - right[v] for v in views]
    above, below = (np.sqrt(sum(np.sum(block**2, axis=0) for block in side)) for side in (residuals, right))
    return residuals, above / np.maximum(below, np.finfo(np.float64).tiny)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2
