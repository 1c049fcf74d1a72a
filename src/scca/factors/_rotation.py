"""Rotation to simple structure: factors that concern few features and few samples each."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Rotation", "varimax"]

_MAX_ITER = 1000
_TOLERANCE = 1e-7  # relative gain of the criterion in a round


@dataclass(frozen=True, eq=False)
class Rotation:
    """An orthogonal matrix (c x c), and whether the iteration that found it converged."""

    matrix: np.ndarray
    converged: bool


def varimax(loadings: np.ndarray) -> Rotation:
    """The rotation R that maximises the variance of the squared entries of each column of `loadings` R, summed.

    Every round solves an orthogonal Procrustes problem: with B = loadings R, the gradient of the criterion is
    4 loadings'(B^3 - B diag(mean B^2)), and the next R is the orthogonal matrix nearest to it. The criterion never
    falls.
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
