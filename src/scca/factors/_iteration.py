"""The leading solutions of a large symmetric eigenproblem by products alone, all at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

__all__ = ["Solutions", "leading_solutions"]

_DEPENDENT = 1e-12  # of the largest eigenvalue of a basis' inner products: from here on a direction is rounding error

Images = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Solutions:
    """sigma, the largest first; w, a column each, w'Bw = 1; and ||Lw - sigma Bw|| / ||sigma Bw|| by true products."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray


@dataclass(eq=False)
class _Block:
    """Directions with their images under both sides of the problem, which linear combinations share."""

    vectors: np.ndarray
    left: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, images: Images) -> "_Block":
        return cls(vectors, *images(vectors))

    @property
    def width(self) -> int:
        return self.vectors.shape[1]

    def joined(self, other: "_Block") -> "_Block":
        return _Block(*(np.hstack(pair) for pair in zip(self._parts, other._parts, strict=True)))

    def plus(self, other: "_Block") -> "_Block":
        return _Block(*(one + two for one, two in zip(self._parts, other._parts, strict=True)))

    def chosen(self, columns: np.ndarray) -> "_Block":
        return _Block(*(part[:, columns] for part in self._parts))

    def combined(self, mixture: np.ndarray) -> "_Block":
        return _Block(*(part @ mixture for part in self._parts))

    @property
    def _parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.vectors, self.left, self.right

    def residuals(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lw - sigma Bw, and its norm relative to that of sigma Bw."""
        residual = self.left - values * self.right
        size = np.abs(values) * np.linalg.norm(self.right, axis=0)
        return residual, np.linalg.norm(residual, axis=0) / np.maximum(size, np.finfo(np.float64).tiny)


def leading_solutions(
    images: Images,
    precondition: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    n_wanted: int,
    *,
    tol: float,
    max_iter: int,
) -> Solutions:
    """The `n_wanted` largest sigma of  L w = sigma B w,  B positive definite; `images` gives L W and B W.

    The locally optimal block preconditioned conjugate gradient method (Knyazev, 2001): in every round the best
    combinations of the directions X so far, their preconditioned residuals and the steps P that led to X. What `start`
    has beyond the wanted directions keeps the last of these from converging slowly. A direction that has converged is
    still improved, but sends no residual of its own. What the recurrences call converged must be so by true products;
    otherwise the round starts from these.
    """
    X, values = _rotated(_Block.of(start, images))
    P, fresh = None, False
    for _ in range(max_iter):
        residual, sizes = X.residuals(values)
        if (sizes[:n_wanted] <= tol).all():
            if fresh:
                break
            X, values = _rotated(_Block.of(X.vectors, images))
            P, fresh = None, True
            continue
        open_ = sizes > tol / 2
        new = precondition(residual[:, open_])
        new -= X.vectors @ (X.right.T @ new)
        norms = np.linalg.norm(new, axis=0)
        W = _Block.of(new[:, norms > 0] / norms[norms > 0], images)
        beside = W if P is None else W.joined(P)
        values, mixture = _best(X, values, beside)
        step = beside.combined(mixture[len(mixture) - beside.width :])
        X = X.combined(mixture[: X.width]).plus(step)
        P, fresh = step.chosen(open_), False
    wanted = _Block.of(X.vectors[:, :n_wanted], images)
    return Solutions(values[:n_wanted], wanted.vectors, wanted.residuals(values[:n_wanted])[1])


def _rotated(block: _Block) -> tuple[_Block, np.ndarray]:
    """The best combinations of a block alone, for which V'BV = 1 and V'LV = diag(sigma)."""
    values, mixture = _ritz(block.vectors.T @ block.right, block.vectors.T @ block.left, block.width)
    return block.combined(mixture), values


def _best(X: _Block, values: np.ndarray, beside: _Block) -> tuple[np.ndarray, np.ndarray]:
    """The best combinations of X, which is rotated already, and what stands beside it."""
    right = np.hstack([beside.vectors.T @ X.right, beside.vectors.T @ beside.right])
    left = np.hstack([beside.vectors.T @ X.left, beside.vectors.T @ beside.left])
    k = X.width
    inner = np.block([[np.eye(k), right[:, :k].T], [right]])
    outer = np.block([[np.diag(values), left[:, :k].T], [left]])
    return _ritz(inner, outer, k)


def _ritz(inner: np.ndarray, outer: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest sigma within the span of a basis V, of V'BV and V'LV, and how the basis is to be combined.

    A basis that is nearly dependent is cut down to the directions that rounding error left intact.
    """
    scale = 1.0 / np.sqrt(np.maximum(np.diag(inner), np.finfo(np.float64).tiny))
    inner, outer = (scale[:, None] * (matrix + matrix.T) * (scale / 2) for matrix in (inner, outer))
    lengths, directions = eigh(inner)
    kept = lengths > _DEPENDENT * lengths[-1]
    orthonormal = directions[:, kept] / np.sqrt(lengths[kept])
    size = orthonormal.shape[1]
    values, mixture = eigh(orthonormal.T @ outer @ orthonormal, subset_by_index=(max(0, size - count), size - 1))
    return values[::-1], scale[:, None] * (orthonormal @ mixture[:, ::-1])
