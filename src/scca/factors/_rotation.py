"""Rotation to simple structure: factors that concern few features and few samples each."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Rotation", "equalized", "varimax"]

_MAX_ITER = 1000
_DAMPING = 0.1  # of the mean squared norm of a row: rows far below it are mostly noise, and stay small
_TOLERANCE = 1e-7  # relative gain of the criterion per iteration


@dataclass(frozen=True, eq=False)
class Rotation:
    """An orthogonal matrix (c x c), and whether the iteration that found it converged."""

    matrix: np.ndarray
    converged: bool


def equalized(loadings: np.ndarray) -> np.ndarray:
    """Rows of about unit norm (Kaiser's normalisation), so that large features do not dominate the rotation.

    Small rows stay small: row / sqrt(||row||^2 + 0.1 times the mean of ||row||^2).
    """
    squares = np.einsum("ij,ij->i", loadings, loadings)
    damped = squares + _DAMPING * squares.mean()
    return loadings / np.sqrt(np.where(damped > 0, damped, 1.0))[:, None]


def varimax(loadings: np.ndarray) -> Rotation:
    """The rotation R that maximises the variance of the squared entries of each column of `loadings` R, summed.

    Every iteration solves an orthogonal Procrustes problem: with B = loadings R, the gradient of the criterion is
    4 loadings'(B^3 - B diag(mean B^2)), and the next R is the orthogonal matrix nearest to it. The criterion never
    decreases.
    """
    n_factors = loadings.shape[1]
    R, before = np.eye(n_factors), -np.inf
    for _ in range(_MAX_ITER):
        B = loadings @ R
        squares = B * B
        U, values, V = np.linalg.svd(loadings.T @ (B * (squares - squares.mean(axis=0))))
        R, total = U @ V, float(values.sum())
        if total - before <= _TOLERANCE * total:
            return Rotation(R, True)
        before = total
    return Rotation(R, False)
