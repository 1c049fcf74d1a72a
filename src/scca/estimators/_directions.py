"""What is taken from each view with a component: directions to deflate, and to project new samples on."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigs

from ..views import DeflatedView

__all__ = ["DIRECTIONS", "Directions"]

_TOLERANCE = 1e-8  # residual of the leading pair, relative to its eigenvalue
_SMALL = 32  # samples up to which the whole spectrum is cheaper than an iteration


@dataclass(frozen=True)
class Directions:
    """One direction a view, on its coordinates, and whether the iteration that found them converged."""

    left: np.ndarray
    right: np.ndarray
    converged: bool = True


def _smooth(left: DeflatedView, right: DeflatedView, component) -> Directions:
    """The paper's: each score taken back to its own view once more, u = X_j'X_j w and b = K_j e."""
    return Directions(left.direction(component.left_score), right.direction(component.right_score))


def _sparse(left: DeflatedView, right: DeflatedView, component) -> Directions:
    """How the coordinates that have a weight vary with the other view's score; nothing of the others.

    The weights themselves are those of a regression, which divides what correlated features share among them by chance;
    covariances do not.
    """
    return Directions(
        np.where(component.left_weights != 0, left.direction(component.right_score), 0.0),
        np.where(component.right_weights != 0, right.direction(component.left_score), 0.0),
    )


def _shared(left: DeflatedView, right: DeflatedView, component) -> Directions:
    """The leading pair of the covariance of what is left of the two views, wherever the component lies.

    With S and R the inner products of the samples in the left and the right view, the right score s of that pair is
    the leading eigenvector of R S, whose eigenvalues are real and not negative; the left one is S s.
    """

    def left_products(s):
        return left.matvec(left.direction(s))

    def products(s):
        return right.matvec(right.direction(left_products(s)))

    score = _leading_vector(products, component.right_score)
    image = products(score)
    residual = np.linalg.norm(image - (score @ image) * score)
    left_score = left_products(score)
    return Directions(
        left.direction(score),
        right.direction(left_score / np.linalg.norm(left_score)),
        converged=bool(residual <= 10 * _TOLERANCE * np.linalg.norm(image)),
    )


DIRECTIONS: dict[str, Callable[..., Directions]] = {"smooth": _smooth, "sparse": _sparse, "shared": _shared}


def _leading_vector(products: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    """The unit eigenvector of the largest eigenvalue, turned to where `start` points."""
    n = len(start)
    if n <= _SMALL:
        values, vectors = np.linalg.eig(np.column_stack([products(unit) for unit in np.eye(n)]))
        vector = vectors[:, values.real.argmax()]
    else:
        try:
            operator = LinearOperator((n, n), matvec=lambda s: products(s.ravel()), dtype=np.float64)
            vector = eigs(operator, k=1, v0=start, tol=_TOLERANCE)[1][:, 0]
        except ArpackNoConvergence as short:
            vector = short.eigenvectors[:, 0] if short.eigenvectors.size else start
        except ArpackError:  # the views have nothing in common but rounding error
            vector = start
    vector = np.real(vector)
    return vector * (np.sign(vector @ start) or 1.0) / np.linalg.norm(vector)
