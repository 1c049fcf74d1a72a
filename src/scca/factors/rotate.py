"""Rotating: factors to simple structure, so that each concerns few features and few samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._arrays import column_blocks
from ..parallel import inner, map_threads, one_blas_thread, parts
from ..views import PreparedView, PrimalView
from . import constants

__all__ = ["Rotation", "equalized", "simple_structure", "varimax"]

_MAX_ITER = 1000
_TOLERANCE = 1e-7  # relative gain of the criterion per iteration
_ROWS = 2048  # per task of a thread
_FEW_FACTORS = 32  # whose fourth moments take little memory


@dataclass(frozen=True, eq=False)
class Rotation:
    """An orthogonal matrix (c x c), and whether the iteration that found it converged."""

    matrix: np.ndarray
    converged: bool

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        return {"matrix": self.matrix, "converged": np.array(self.converged)}

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray]) -> "Rotation":
        return cls(stored["matrix"], bool(stored["converged"]))


def simple_structure(views: Sequence[PreparedView], correlations: Sequence[np.ndarray], values: np.ndarray) -> Rotation:
    """The rotation of factors T, whose columns are orthogonal and as long as `values`; the longest rotated one first.

    `correlations` are A_v'T of every view. The sign of a factor makes the few large loadings positive.
    """
    # each view in its own unit, so that the one with the larger numbers does not decide alone
    found = [each / np.sqrt(view.unit) for view, each in zip(views, correlations, strict=True)]
    loadings = np.vstack(
        [each[view.varying] if isinstance(view, PrimalView) else each for view, each in zip(views, found, strict=True)]
    )
    rotation = varimax(equalized(loadings))
    sizes = np.linalg.norm(values[:, None] * rotation.matrix, axis=0)  # of the columns of T R
    R = rotation.matrix[:, np.argsort(-sizes, kind="stable")]
    skewness = sum(np.sum((loadings[rows] @ R) ** 3, axis=0) for rows in column_blocks(*loadings.shape[::-1]))
    return Rotation(R * np.where(skewness < 0, -1.0, 1.0), rotation.converged)


def equalized(loadings: np.ndarray) -> np.ndarray:
    """Rows of about unit norm (Kaiser's normalisation), so that large features do not dominate the rotation.

    Small rows stay small: row / sqrt(||row||^2 + 0.1 times the mean of ||row||^2).
    """
    squares = np.einsum("ij,ij->i", loadings, loadings)
    damped = squares + constants.ROW_DAMPING * squares.mean()
    return loadings / np.sqrt(np.where(damped > 0, damped, 1.0))[:, None]


def varimax(loadings: np.ndarray) -> Rotation:
    """The rotation R that maximises the variance of the squared entries of each column of `loadings` R, summed.

    With B = loadings R, the gradient of the criterion is 4 loadings'(B^3 - B diag(mean B^2)), and a plain step goes to
    the orthogonal matrix nearest to it, which never decreases the criterion. As gradients change steadily, a step
    nearest to the gradient plus its last change gets further; if it gains nothing, a plain one is taken from where the
    criterion was largest.
    """
    n_rows, n_factors = loadings.shape
    loadings = loadings[loadings.any(axis=1)]  # rows of zeros, of features that are not read, count in means alone
    R = np.eye(n_factors)
    if not len(loadings):
        return Rotation(R, True)
    by_moments = n_factors <= _FEW_FACTORS and n_factors**3 < len(loadings)  # then an iteration costs less
    best, largest, before = R, -np.inf, None  # where the criterion was largest, and the gradient there
    is_plain = True
    with one_blas_thread():  # the same order of sums for any number of threads
        gradient_at = (_gradient_by_moments if by_moments else _gradient_by_rows)(loadings, n_rows)
        for _ in range(_MAX_ITER):
            gradient = gradient_at(R)
            criterion = float(np.sum(R * gradient))  # times the number of rows
            if before is None or criterion - largest > _TOLERANCE * criterion:
                direction = gradient if before is None else 2.0 * gradient - before
                is_plain = before is None
                best, largest, before = R, criterion, gradient
            elif is_plain:
                return Rotation(best, True)
            else:
                direction, is_plain = before, True
            U, _, V = np.linalg.svd(direction)
            R = U @ V
    return Rotation(best, False)


def _gradient_by_rows(loadings: np.ndarray, n_rows: int) -> Callable[[np.ndarray], np.ndarray]:
    """As a function of R; the means are over `n_rows`, of which all others are zero."""
    own = inner(loadings, loadings)

    def gradient(R: np.ndarray) -> np.ndarray:
        mean = np.einsum("ij,ij->j", R, own @ R) / n_rows  # of the columns of B^2

        def of_rows(rows: slice) -> np.ndarray:
            B = loadings[rows] @ R
            return loadings[rows].T @ (B * (B * B - mean))

        first, *others = map_threads(of_rows, parts(0, len(loadings), _ROWS))
        return sum(others, start=first)

    return gradient


def _gradient_by_moments(loadings: np.ndarray, n_rows: int) -> Callable[[np.ndarray], np.ndarray]:
    """The same, from the fourth moments of the rows, sums of l_a l_b l_c l_d, which do not change with R."""
    c = loadings.shape[1]
    first, second = np.triu_indices(c)
    fourth = np.zeros((len(first), len(first)))
    for rows in column_blocks(len(first), len(loadings)):
        products = loadings[rows, first] * loadings[rows, second]
        fourth += products.T @ products
    place = np.empty((c, c), dtype=np.intp)  # of a pair of factors, in either order
    place[first, second] = place[second, first] = np.arange(len(first))
    moments = fourth[np.ix_(place.ravel(), place.ravel())].reshape(c**3, c)
    covariance = inner(loadings, loadings)

    def gradient(R: np.ndarray) -> np.ndarray:
        images = covariance @ R
        cubes = np.einsum("abj,bj->aj", np.einsum("abcj,cj->abj", (moments @ R).reshape(c, c, c, c), R), R)
        return cubes - images * (np.sum(R * images, axis=0) / n_rows)

    return gradient
