"""Ridge regression of many scores at once on the features of a large view."""

import numpy as np

from ..engine import one_blas_thread
from ..views import FeatureView
from ._products import Products

__all__ = ["ridge_weights"]

_TOLERANCE = 1e-8  # relative residual of the normal equations
_MAX_ITER = 1000


def ridge_weights(view: FeatureView, scores: np.ndarray, ridge: float) -> np.ndarray:
    """(M'M + ridge)^-1 M't for every column t of `scores`, by conjugate gradients on all columns side by side."""
    with one_blas_thread():  # sums in one order, however many threads there are
        products = Products(view, ridge)
        products.couple()
        residual = products.correlate(scores)
        size = np.linalg.norm(residual, axis=0)
        weights = np.zeros_like(residual)
        direction = z = products.precondition(residual)
        slope = np.einsum("ij,ij->j", residual, z)
        for _ in range(_MAX_ITER):
            open_ = np.linalg.norm(residual, axis=0) > _TOLERANCE * size
            if not open_.any():
                break
            image = products.regularised(direction)
            curvature = np.einsum("ij,ij->j", direction, image)
            length = np.where(open_, slope / np.where(curvature > 0, curvature, 1.0), 0.0)
            weights += length * direction
            residual -= length * image
            z = products.precondition(residual)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / np.where(before > 0, before, 1.0) * direction
    return weights
