"""Rendering: each factor as weights on few coordinates of a view, or on all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv
from scipy.optimize import brentq

from ..views import PrimalView, View
from ._grams import grams
from ._products import RidgeSolution
from ._regression import ridge_weights
from ._scores import Scores, column_products, correlations
from ._spectrum import spectrum_of

__all__ = ["Weighing", "dense_weights", "weigh_features"]

_FEW_SAMPLES = 3000  # up to which the full spectrum of a view is computed


@dataclass(frozen=True, eq=False)
class Weighing:
    """Weights of the factors on selected features, one column per factor, and their certificates.

    With r = t - A w and P = ||r||^2 + ridge ||w||^2 over the selected features, D = 2 t'r - ||r||^2 - ||A'r||^2 / ridge
    is at most the optimum; `dual_gap` is P - D. `ridge` is the one used for each factor.
    """

    weights: np.ndarray
    objective: np.ndarray
    dual_gap: np.ndarray
    ridge: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        rows, columns = np.nonzero(self.weights)
        few = {"rows": rows, "columns": columns, "values": self.weights[rows, columns]}
        others = {"objective": self.objective, "dual_gap": self.dual_gap, "ridge": self.ridge}
        return few | others | {"shape": np.array(self.weights.shape)}

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray]) -> "Weighing":
        weights = np.zeros(tuple(stored["shape"]))
        weights[stored["rows"], stored["columns"]] = stored["values"]
        return cls(weights, stored["objective"], stored["dual_gap"], stored["ridge"])


def weigh_features(
    view: PrimalView,
    scores: Scores,
    chosen: Sequence[np.ndarray],
    ridge: float | np.ndarray,
    most_explained: float = 1.0,
) -> Weighing:
    """Ridge regression of each factor on its own selected features, which undoes the shrinkage of the selection.

    The ridge, one for all or one per factor, is raised until the weights explain at most `most_explained` of a factor.
    Of the data only A't, ||t||^2 and A'A on the selected features are needed.
    """
    n_factors = scores.shape[1]
    weights = np.zeros((view.shape[1], n_factors))
    ridges = np.broadcast_to(np.asarray(ridge, dtype=np.float64), n_factors).copy()
    targets = correlations([view], scores)[0]
    squares = column_products(scores, scores)
    objective, dual_gap = squares.copy(), np.zeros(n_factors)
    some = [j for j in range(n_factors) if len(chosen[j])]
    for j, gram in zip(some, grams(view, [(chosen[j], chosen[j]) for j in some]), strict=True):
        target, square = targets[chosen[j], j], squares[j]
        w = _regressed(gram, target, ridges[j])
        products = gram @ w
        residual = square - 2.0 * (w @ target) + w @ products  # r'r
        if square - residual > most_explained * square:
            ridges[j] = _raised(gram, target, most_explained * square, float(ridges[j]))
            w = _regressed(gram, target, ridges[j])
            products = gram @ w
            residual = square - 2.0 * (w @ target) + w @ products
        of_residual = target - products  # A'r
        weights[chosen[j], j] = w + 0.0  # without negative zeros, which a checkpoint does not keep
        objective[j] = residual + ridges[j] * (w @ w)
        bound = 2.0 * (square - w @ target) - residual - of_residual @ of_residual / ridges[j]
        dual_gap[j] = objective[j] - bound
    return Weighing(weights, objective, dual_gap, ridges)


def _regressed(gram: np.ndarray, target: np.ndarray, ridge: float) -> np.ndarray:
    """(gram + ridge)^-1 target."""
    ridged = gram.copy()
    ridged.flat[:: len(gram) + 1] += ridge
    _, w, problem = dposv(ridged.T, target, overwrite_a=True)  # there are thousands, of few features each
    if problem:  # the ridge is below rounding error
        values, Q = eigh(gram)
        return Q @ ((Q.T @ target) / (np.maximum(values, 0.0) + ridge))
    return w


def _raised(gram: np.ndarray, target: np.ndarray, most: float, ridge: float) -> float:
    """The smallest ridge, at least `ridge`, that explains no more than `most` of ||t||^2.

    With A'A = Q diag(values) Q' and `squares` those of Q'A't, ||t||^2 - ||t - A w||^2 is the sum of
    squares (values + 2 ridge) / (values + ridge)^2.
    """
    values, Q = eigh(gram)
    values, squares = np.maximum(values, 0.0), (Q.T @ target) ** 2

    def excess(log_ridge: float) -> float:
        at = np.exp(log_ridge)
        return float(squares @ ((values + 2.0 * at) / (values + at) ** 2)) - most

    low = high = np.log(ridge)
    if excess(low) <= 0:
        return ridge
    while excess(high) > 0:
        high += 1.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def dense_weights(view: View, scores: Scores, ridge: float) -> RidgeSolution:
    """Ridge regression of each factor on all coordinates: (C + ridge I)^-1 A't; for a kernel, (K + ridge I)^-1 t."""
    if not isinstance(view, PrimalView) or (view.shape[0] <= _FEW_SAMPLES and view.remote is None):
        scores = np.asarray(scores)
        spectrum = spectrum_of(view)
        U, values = spectrum.vectors, spectrum.values
        coefficients = U @ ((U.T @ scores) / (values + ridge)[:, None])
        weights = coefficients if view.columns_are_samples else view.rmatmat(coefficients)
        return RidgeSolution(weights, np.zeros(scores.shape[1]), 0.0)  # without an iteration that could stop early
    return ridge_weights(view, scores, ridge)
