"""Ridge regression of many scores on the features of a large view."""

from ..views import PrimalView
from ._products import Products, RidgeSolution
from ._scores import Scores, correlations

__all__ = ["ridge_weights"]

_TOLERANCE = 1e-8  # relative residual of the normal equations


def ridge_weights(view: PrimalView, scores: Scores, ridge: float) -> RidgeSolution:
    """(M'M + ridge)^-1 M't for every column t of `scores`, by conjugate gradients on all columns at once."""
    products = Products(view, ridge)
    products.couple()
    return products.solve(correlations([view], scores)[0], _TOLERANCE)
