"""Components that are shared factors: scores that both views predict, rendered by few features of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..engine import Pairs
from ..factors import dense_weights, select_features, shared_factors, varimax, weigh_features
from ..solver import ComponentResult, Penalty
from ..views import FeatureView, Preparation, PreparedView
from ._base import PairedTransformer
from ._components import NothingSharedError

_SHARE = 0.07  # of the largest penalty that leaves a weight: the automatic one

__all__ = ["FactorFit", "FactorSettings", "Rendering", "fit_factors", "held_out_scores"]


@dataclass(frozen=True)
class FactorSettings:
    """How factors are found and rendered.

    Attributes
    ----------
    ridge : float
        lambda of the factors and of the weights.
    mu, gamma : Penalty
        Of the selection of features, and of samples where a view is dual; the automatic value is a share of the largest
        penalty that leaves a weight, max |2 A't|.
    dense : bool
        Weights on all coordinates instead.
    effort : dict
        What every convex problem is solved with.
    """

    ridge: float
    mu: Penalty
    gamma: Penalty
    dense: bool
    effort: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Rendering:
    """The factors in one view: the view as it is read, weights on its coordinates, and their certificates."""

    view: PreparedView
    weights: np.ndarray
    mu: np.ndarray
    objective: np.ndarray
    dual_gap: np.ndarray
    n_iter: np.ndarray
    n_passes: np.ndarray
    converged: np.ndarray


@dataclass(frozen=True, eq=False)
class FactorFit:
    """Rotated factors T (n x c), how well the views share each (sigma of the unrotated ones), and their renderings."""

    scores: np.ndarray
    values: np.ndarray
    renderings: Mapping[str, Rendering]
    converged: bool


def fit_factors(
    views: Mapping[str, PreparedView],
    samples: Mapping[str, Any],
    n_components: int,
    settings: FactorSettings,
    turn: Callable[[np.ndarray], np.ndarray] | None = None,
) -> FactorFit:
    """Factors of the views, turned to simple structure (or by `turn`, a function of T) and rendered in each."""
    found = shared_factors(list(views.values()), n_components, [settings.ridge] * len(views))
    if not len(found.values):
        raise NothingSharedError("X and Y have nothing in common: no score is predicted by both; check the pairing.")
    T = found.scores * found.values  # what the views share most weighs most in whatever is compared by scores
    rotation = None
    if turn is None:
        loadings = np.vstack([view.rmatmat(T) for view in views.values()])
        rotation = varimax(loadings)
        R = rotation.matrix[:, np.argsort(-np.linalg.norm(T @ rotation.matrix, axis=0), kind="stable")]
        R = R * np.where(np.sum((loadings @ R) ** 3, axis=0) < 0, -1.0, 1.0)  # to where few coordinates load strongly
        T = T @ R
    else:
        T = turn(T)
    renderings = {name: render(view, samples.get(name), T, settings) for name, view in views.items()}
    converged = bool(found.converged.all()) and (rotation is None or rotation.converged)
    return FactorFit(T, found.values, renderings, converged)


def render(view: PreparedView, samples, T: np.ndarray, settings: FactorSettings) -> Rendering:
    """Weights of the factors on the coordinates of a view."""
    if settings.dense:
        nothing = np.zeros(T.shape[1])
        return Rendering(
            view=view,
            weights=dense_weights(view, T, settings.ridge),
            mu=nothing,
            objective=nothing,
            dual_gap=nothing,
            n_iter=nothing,
            n_passes=nothing,
            converged=np.ones(T.shape[1], dtype=bool),
        )
    largest = 2.0 * np.abs(view.rmatmat(T)).max(axis=0)  # penalties from here on leave nothing
    penalty = settings.gamma if view.columns_are_samples else settings.mu
    mus = _SHARE * penalty.factor * largest if penalty.value is None else np.full(T.shape[1], penalty.value)
    selected = select_features(view, T, mus, settings.ridge, **settings.effort)
    if not isinstance(view, FeatureView) or view.preparation is None:
        weights = np.column_stack([result.w for result in selected])
        return _rendering(view, weights, selected, 0.0, 0.0)
    chosen = [np.flatnonzero(result.w) for result in selected]
    read = _reading(view.preparation, view.shape[1], chosen).transform(samples)
    weighed = weigh_features(read, T, chosen, settings.ridge)
    return _rendering(read, weighed.weights, selected, weighed.objective, weighed.dual_gap)


def _reading(preparation: Preparation, n_features: int, chosen: Sequence[np.ndarray]) -> Preparation:
    """The preparation that reads the chosen features and no others, not even for the norm of a sample."""
    weights = np.ones(n_features) if preparation.feature_weights is None else preparation.feature_weights
    read = np.zeros(n_features)
    union = np.unique(np.concatenate(chosen))
    read[union] = weights[union]
    return preparation.weighted(read)


def _rendering(view, weights, selected: list[ComponentResult], objective, dual_gap) -> Rendering:
    """With the gap of the selection and that of the weights added up, each of which bounds its own error."""
    return Rendering(
        view=view,
        weights=weights,
        mu=np.array([result.mu for result in selected]),
        objective=np.array([result.objective for result in selected]) + objective,
        dual_gap=np.array([result.dual_gap for result in selected]) + dual_gap,
        n_iter=np.array([result.n_iter for result in selected]),
        n_passes=np.array([result.n_passes for result in selected]),
        converged=np.array([result.converged for result in selected]),
    )


def aligned(T: np.ndarray, target: np.ndarray) -> np.ndarray:
    """T turned (by an orthogonal matrix, as far as T has columns) to come nearest to `target`, of the same rows."""
    U, _, V = np.linalg.svd(T.T @ target, full_matrices=False)
    return T @ (U @ V)


def _unturned(T: np.ndarray) -> np.ndarray:
    return T


def held_out_scores(
    model: PairedTransformer,
    settings: FactorSettings,
    T: np.ndarray | None,
    pairs: Pairs,
    train: np.ndarray,
    test: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the pairs `test` in both views, by factors learnt anew from the pairs `train`.

    They are turned to T, scores of all pairs; without T they are not turned at all, the strongest first.
    """
    pair = model.prepare_checked(*pairs.training(train))
    n_components = pair.n_components if T is None else T.shape[1]
    turn = _unturned if T is None else partial(aligned, target=T[train])
    fit = fit_factors(pair.views, pair.samples, n_components, settings, turn=turn)
    x, y = (
        rendering.view.projector(rendering.weights)(*samples)
        for rendering, samples in zip(fit.renderings.values(), pairs.held_out(test, train), strict=True)
    )
    return x, y
