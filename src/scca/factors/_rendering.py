"""Rendering: each factor as weights on few coordinates of a view, or on all."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from ..solver import ComponentResult, Penalty, no_view, solve_views
from ..views import FeatureView, RidgeView, View
from ._regression import ridge_weights
from ._spectrum import spectrum_of

__all__ = ["Weighing", "dense_weights", "select_features", "weigh_features"]

_FEW_SAMPLES = 3000  # up to which the full spectrum of a view is computed


def select_features(
    view: View,
    scores: np.ndarray,
    mus: np.ndarray,
    ridge: float,
    *,
    tol: float,
    max_iter: int,
    algorithm: str,
    start: np.ndarray | None = None,
    correlations: np.ndarray | None = None,
) -> list[ComponentResult]:
    """For each factor t, a column of `scores`, the elastic net

        min over w of  ||A w - t||^2 + mu ||w||_1 + ridge ||w||^2

    to a certified gap of at most tol ||t||^2, starting from `start`. The ridge makes w unique: identical
    features get the same weight. `correlations` are A't, one column per factor, computed together unless given.
    """
    correlations = view.rmatmat(scores) if correlations is None and start is None else correlations
    augmented = RidgeView(view, ridge)
    nothing, held = no_view(augmented.shape[0]), Penalty(value=np.inf)
    return [
        solve_views(
            *(augmented, nothing, None, augmented.target(t)),
            mu=Penalty(value=mu),
            gamma=held,
            tol=tol,
            max_iter=max_iter,
            algorithm=algorithm,
            w0=start,
            correlations_of_y=None if correlations is None else correlations[:, j],
        )
        for j, (t, mu) in enumerate(zip(scores.T, mus, strict=True))
    ]


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


def weigh_features(
    view: FeatureView,
    scores: np.ndarray,
    chosen: Sequence[np.ndarray],
    ridge: float | np.ndarray,
    most_explained: float = 1.0,
) -> Weighing:
    """Ridge regression of each factor on its own selected features, which undoes the shrinkage of the selection.

    The ridge, one for all or one per factor, is raised until the weights explain at most `most_explained` of a factor.
    """
    n_factors = scores.shape[1]
    weights, ridges = (
        np.zeros((view.shape[1], n_factors)),
        np.broadcast_to(np.asarray(ridge, dtype=np.float64), n_factors).copy(),
    )
    objective, dual_gap = np.zeros(n_factors), np.zeros(n_factors)
    for j, (t, features) in enumerate(zip(scores.T, chosen, strict=True)):
        if not len(features):
            objective[j] = t @ t
            continue
        selection = view.selection()
        selection.add(features)
        values, Q = eigh(selection.gram(0))
        along = Q.T @ selection.rmatvec(t[:, None])[:, 0]
        ridges[j] = _raised(np.maximum(values, 0.0), along**2, most_explained * (t @ t), float(ridges[j]))
        w = Q @ (along / (values + ridges[j]))
        r = t - selection.matvec(w)
        correlations = selection.rmatvec(r[:, None])[:, 0]
        weights[features, j] = w
        objective[j] = r @ r + ridges[j] * (w @ w)
        dual_gap[j] = objective[j] - (2 * (t @ r) - r @ r - correlations @ correlations / ridges[j])
    return Weighing(weights, objective, dual_gap, ridges)


def _raised(values: np.ndarray, squares: np.ndarray, most: float, ridge: float) -> float:
    """The smallest ridge, at least `ridge`, that explains no more than `most` of ||t||^2.

    With A'A = Q diag(values) Q' and `squares` those of Q'A't, ||t||^2 - ||t - A w||^2 is the sum of
    squares (values + 2 ridge) / (values + ridge)^2.
    """

    def excess(log_ridge: float) -> float:
        at = np.exp(log_ridge)
        return float(squares @ ((values + 2.0 * at) / (values + at) ** 2)) - most

    low = high = np.log(ridge)
    if excess(low) <= 0:
        return ridge
    while excess(high) > 0:
        high += 1.0
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def dense_weights(view: View, scores: np.ndarray, ridge: float) -> np.ndarray:
    """Ridge regression of each factor on all coordinates: (C + ridge I)^-1 A't; for a kernel, (K + ridge I)^-1 t."""
    if not isinstance(view, FeatureView) or view.shape[0] <= _FEW_SAMPLES:
        spectrum = spectrum_of(view)
        U, values = spectrum.vectors, spectrum.values
        coefficients = U @ ((U.T @ scores) / (values + ridge)[:, None])
        return coefficients if view.columns_are_samples else view.rmatmat(coefficients)
    return ridge_weights(view, scores, ridge)
