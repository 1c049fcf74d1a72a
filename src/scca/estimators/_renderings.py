"""Rendering of factors: weights on few features of each view, selected by certified problems and refitted together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import MatrixLike
from ..engine import one_blas_thread
from ..factors import dense_weights, select_features, together, weigh_features
from ..solver import ComponentResult, Penalty
from ..views import FeatureView, Preparation, PreparedView
from ._factor_settings import FactorSettings

__all__ = ["Rendering", "RenderingPath"]

_SHARE = 0.15  # the automatic penalty: times the mean of |2 A't| over the features that are read
_OF_WEIGHTS = 4.0  # the ridge of the weights, relative to that of the factors
_UNEXPLAINED = 1.0  # over the root of the number of samples: the least share of a factor that stays unexplained
_MANY = 3  # times the most weights: if more features have entry penalties above the penalty, approach it from above
_ENOUGH = 0.9  # of the most weights: a raised penalty need not come closer
_NEAR = 1.02  # ratio of two penalties that are close enough
_RAISED = (1.1, 2.0)  # bounds on the factor of a raised penalty, the root of (weights / most weights)
_LOWERED = (0.5, 0.95)  # the same for a lowered penalty


@dataclass(frozen=True, eq=False)
class Rendering:
    """The factors in one view: the view restricted to what is read, weights on its coordinates, and certificates.

    `selected` holds the solutions of the convex problems that selected the features; for a dual view their weights are
    also the final `weights`.
    """

    view: PreparedView
    weights: np.ndarray
    selected: Sequence[ComponentResult]
    ridge: np.ndarray
    mu: np.ndarray
    objective: np.ndarray
    dual_gap: np.ndarray
    n_iter: np.ndarray
    n_passes: np.ndarray
    converged: np.ndarray


class RenderingPath:
    """Factors T (n x c) in every view, at one penalty after another, each starting from the previous solution."""

    def __init__(self, views: Mapping[str, PreparedView], samples: Mapping[str, Any], T: np.ndarray):
        self._samples, self._T = samples, T
        self._views = views
        self._selections = {name: _SelectionPath(view, T) for name, view in views.items()}

    def at(self, settings: FactorSettings) -> dict[str, Rendering]:
        """With these settings, which differ from the previous ones in the penalties alone.

        The weights of the selected features come from ridge regression, first of the factor, then of the scores that
        the other views' weights give: those scores are what a new sample is compared with.
        """
        T = self._T
        most_explained = _most_explained(len(T), settings)
        ridge = np.full(T.shape[1], _OF_WEIGHTS * settings.ridge)
        renderings = {}
        for name, view in self._views.items():
            if name in settings.dense:
                renderings[name] = _dense(view, T, settings.ridge)
                continue
            selected = self._selections[name].at(settings)
            weights = np.column_stack([result.w for result in selected])
            found = _rendering(view, weights, selected, ridge)
            renderings[name] = _weighed(found, self._samples.get(name), T, most_explained)
        if len(settings.dense) == len(renderings):
            return renderings
        scores = {name: r.view.matmat(r.weights) for name, r in renderings.items()}
        return {
            name: r
            if name in settings.dense
            else _weighed(r, self._samples.get(name), _scores_of_others(name, scores, T), 1.0)
            for name, r in renderings.items()
        }


class _SelectionPath:
    """The elastic nets of one view, at one penalty after another."""

    def __init__(self, view: PreparedView, T: np.ndarray):
        self._view, self._T = view, T
        self._correlations: np.ndarray | None = None  # A'T, from which all problems start
        self._automatic: list[ComponentResult] | None = None
        self._before: tuple[Penalty, list[ComponentResult]] | None = None

    def at(self, settings: FactorSettings) -> list[ComponentResult]:
        penalty = settings.gamma if self._view.columns_are_samples else settings.mu
        if self._before is None or self._before[0] != penalty:
            with one_blas_thread():  # each thread solves one factor
                self._before = penalty, self._selected(penalty, settings)
        return self._before[1]

    def _selected(self, penalty: Penalty, settings: FactorSettings) -> list[ComponentResult]:
        """The elastic nets at `penalty`; the automatic one allows at most `settings.most` weights per factor."""
        if self._correlations is None:
            self._correlations = self._view.rmatmat(self._T)
        if penalty.value is not None:
            return self._solved(np.full(self._T.shape[1], penalty.value), settings)
        if self._automatic is None:
            self._automatic = _automatically_selected(self._view, self._T, self._correlations, settings)
        if penalty.factor == 1.0:
            return self._automatic
        return self._solved(penalty.factor * np.array([result.mu for result in self._automatic]), settings)

    def _solved(self, mus: np.ndarray, settings: FactorSettings) -> list[ComponentResult]:
        starts = [None] * len(mus) if self._before is None else [result.w for result in self._before[1]]
        correlations = self._correlations
        assert correlations is not None

        def solve(j: int) -> ComponentResult:
            return select_features(
                *(self._view, self._T[:, [j]], mus[[j]], settings.ridge),
                start=starts[j],
                correlations=correlations[:, [j]],
                **settings.effort,
            )[0]

        return together(solve, range(len(mus)))


def _automatically_selected(
    view: PreparedView, T: np.ndarray, correlations: np.ndarray, settings: FactorSettings
) -> list[ComponentResult]:
    entry = 2.0 * np.abs(correlations)
    n_read = max(np.count_nonzero(entry.any(axis=1)), 1)
    mus = _SHARE * entry.sum(axis=0) / n_read
    return together(lambda j: _few_selected(view, T[:, [j]], correlations[:, [j]], mus[j], settings), range(len(mus)))


def _few_selected(
    view: PreparedView, t: np.ndarray, correlations: np.ndarray, mu: float, settings: FactorSettings
) -> ComponentResult:
    """The elastic net with the penalty `mu` or, if that selects too many features, about the smallest that does not.

    `correlations` are A't. If many of the entry penalties |2 A't| exceed `mu`, which is slow to solve, the penalty is
    lowered to it from a larger one.
    """
    most, entry = settings.most, 2.0 * np.abs(correlations[:, 0])

    def solve(penalty: Any, start: Any = None) -> Any:
        return select_features(
            *(view, t, np.array([penalty]), settings.ridge),
            start=start,
            correlations=correlations,
            **settings.effort,
        )[0]

    at = mu if np.count_nonzero(entry > mu) <= _MANY * most else float(np.partition(entry, -most)[-most])
    few, too_low, found = None, None, solve(at)
    while True:
        count = np.count_nonzero(found.w)
        if count <= most:
            few = found
            if at <= mu or count >= _ENOUGH * most:
                return few
        else:
            too_low = at
        if few is None:
            at *= np.clip(np.sqrt(count / most), *_RAISED)
        elif too_low is None:
            at = max(mu, at * np.clip(np.sqrt(count / most), *_LOWERED))
        elif few.mu <= _NEAR * too_low:
            return few
        else:
            at = np.sqrt(too_low * few.mu)
        found = solve(at, found.w)


def _dense(view: PreparedView, T: np.ndarray, ridge: float) -> Rendering:
    nothing = np.zeros(T.shape[1])
    return Rendering(
        view=view,
        weights=dense_weights(view, T, ridge),
        selected=(),
        ridge=np.full(T.shape[1], ridge),
        mu=nothing,
        objective=nothing,
        dual_gap=nothing,
        n_iter=nothing,
        n_passes=nothing,
        converged=np.ones(T.shape[1], dtype=bool),
    )


def _weighed(rendering: Rendering, samples: MatrixLike, targets: np.ndarray, most_explained: float) -> Rendering:
    """Weights refitted to `targets` on each factor's own features, in a view that reads no others; dual views stay.

    The ridge is raised where more than this share of a target would be explained.
    """
    view = rendering.view
    if not isinstance(view, FeatureView) or view.preparation is None:
        return rendering
    chosen = [np.flatnonzero(w) for w in rendering.weights.T]
    while True:
        union = np.unique(np.concatenate(chosen))
        read = _reading(view, union).transform(samples)
        weighed = weigh_features(read, targets, chosen, rendering.ridge, most_explained)
        chosen = [np.flatnonzero(w) for w in weighed.weights.T]
        if np.array_equal(np.flatnonzero(weighed.weights.any(axis=1)), union):  # all that is read has a weight
            return _rendering(
                read, weighed.weights, rendering.selected, weighed.ridge, weighed.objective, weighed.dual_gap
            )


def _scores_of_others(name: str, scores: Mapping[str, np.ndarray], T: np.ndarray) -> np.ndarray:
    """The other views' scores, each of unit norm, summed and scaled to the factor's norm; the factor if they are 0."""
    targets = np.zeros_like(T)
    for other, found in scores.items():
        if other != name:
            targets += found / np.maximum(np.linalg.norm(found, axis=0), np.finfo(T.dtype).tiny)
    norms = np.linalg.norm(targets, axis=0)
    return np.where(norms > 0, targets * (np.linalg.norm(T, axis=0) / np.where(norms > 0, norms, 1.0)), T)


def _most_explained(n_samples: int, settings: FactorSettings) -> float:
    """The largest share of a factor that its weights may explain.

    Features selected among many can explain all of a factor of few samples, by fitting its noise.
    """
    return 1.0 - _UNEXPLAINED / np.sqrt(n_samples) if settings.ridge_is_automatic else 1.0


def _reading(view: FeatureView, features: np.ndarray) -> Preparation:
    """The preparation that reads these features and no others, not even for the norm of a sample.

    A sample that has none of them becomes zero.
    """
    preparation = view.preparation
    assert preparation is not None
    weights = np.ones(view.shape[1]) if preparation.feature_weights is None else preparation.feature_weights
    read = np.zeros(view.shape[1])
    read[features] = weights[features]
    return replace(preparation, feature_weights=read, blank=True)


def _rendering(
    view: Any,
    weights: np.ndarray,
    selected: Sequence[ComponentResult],
    ridge: np.ndarray,
    objective: np.ndarray | float = 0.0,
    dual_gap: np.ndarray | float = 0.0,
) -> Rendering:
    """A rendering whose objective and gap are the sums of those of the selection and of the refitted weights."""
    return Rendering(
        view=view,
        weights=weights,
        selected=selected,
        ridge=ridge,
        mu=np.array([result.mu for result in selected]),
        objective=np.array([result.objective for result in selected]) + objective,
        dual_gap=np.array([result.dual_gap for result in selected]) + dual_gap,
        n_iter=np.array([result.n_iter for result in selected]),
        n_passes=np.array([result.n_passes for result in selected]),
        converged=np.array([result.converged for result in selected]),
    )
