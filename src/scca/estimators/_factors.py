"""Components that are shared factors: scores that both views predict, rendered by few features of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..engine import Pairs, one_blas_thread
from ..factors import dense_weights, equalized, select_features, shared_factors, together, varimax, weigh_features
from ..solver import ComponentResult, Penalty
from ..views import FeatureView, Preparation, PreparedView
from ._base import PairedTransformer
from ._components import NothingSharedError

_SHARE = 0.15  # of the mean of |2 A't| over the features that are read: the automatic penalty
_OF_WEIGHTS = 4.0  # ridges: the selected features are weighed with more care than the factor was found with
_UNEXPLAINED = 0.5  # over the root of the number of samples: the least share of a factor that its weights leave
_MANY = 3  # times as many features that pull harder than the penalty: then it is approached from above
_ENOUGH = 0.9  # of the most weights: a raised penalty need not come nearer
_NEAR = 1.02  # two penalties so near each other are not told apart
_RAISED = (1.1, 2.0)  # by the root of how many times too many weights there are, within these bounds
_LOWERED = (0.5, 0.95)  # the same where there are too few

__all__ = [
    "FactorFit",
    "FactorSettings",
    "Factors",
    "Rendering",
    "factor_path",
    "find_factors",
    "fit_factors",
    "held_out_scores",
]


@dataclass(frozen=True)
class FactorSettings:
    """How factors are found and rendered.

    Attributes
    ----------
    ridge : float
        lambda of the factors and, four times it, of the weights.
    ridge_is_automatic : bool
        Then it is raised where weights explain more of a factor than so few samples can tell.
    mu, gamma : Penalty
        Of the selection of features, and of samples where a view is dual; the automatic value is a share of the mean of
        |2 A't|, raised where more than `most` would be selected.
    most : int
        Weights of a factor: with more of them its automatic penalty is raised.
    dense : bool
        Weights on all coordinates instead.
    effort : dict
        What every convex problem is solved with.
    """

    ridge: float
    ridge_is_automatic: bool
    mu: Penalty
    gamma: Penalty
    most: int
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
class Factors:
    """Rotated factors T (n x c), and how well the views share each (sigma of the unrotated ones)."""

    scores: np.ndarray
    values: np.ndarray
    converged: bool


@dataclass(frozen=True, eq=False)
class FactorFit(Factors):
    """Factors and their renderings in both views."""

    renderings: Mapping[str, Rendering]


def fit_factors(
    views: Mapping[str, PreparedView],
    samples: Mapping[str, Any],
    n_components: int,
    settings: FactorSettings,
    turn: Callable[[np.ndarray], np.ndarray] | None = None,
) -> FactorFit:
    """Factors of the views, turned to simple structure (or by `turn`, a function of T) and rendered in each."""
    found = find_factors(views, n_components, settings.ridge, turn)
    return next(factor_path(views, samples, found, [settings]))


def find_factors(
    views: Mapping[str, PreparedView],
    n_components: int,
    ridge: float,
    turn: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Factors:
    """Factors of the views, turned to simple structure (or by `turn`, a function of T)."""
    found = shared_factors(list(views.values()), n_components, [ridge] * len(views))
    if not len(found.values):
        raise NothingSharedError("X and Y have nothing in common: no score is predicted by both; check the pairing.")
    T = found.scores * found.values  # what the views share most weighs most in whatever is compared by scores
    rotation = None
    if turn is None:
        loadings = np.vstack([view.rmatmat(T) for view in views.values()])
        rotation = varimax(equalized(loadings))
        R = rotation.matrix[:, np.argsort(-np.linalg.norm(T @ rotation.matrix, axis=0), kind="stable")]
        R = R * np.where(np.sum((loadings @ R) ** 3, axis=0) < 0, -1.0, 1.0)  # to where few coordinates load strongly
        T = T @ R
    else:
        T = turn(T)
    return Factors(T, found.values, bool(found.converged.all()) and (rotation is None or rotation.converged))


def factor_path(
    views: Mapping[str, PreparedView], samples: Mapping[str, Any], found: Factors, settings: Sequence[FactorSettings]
) -> Iterator[FactorFit]:
    """The same factors with one penalty after the other, each solved from the answer before: the largest had best be
    first. One fit at a time is in memory.
    """
    paths = {name: _RenderingPath(view, samples.get(name), found.scores) for name, view in views.items()}
    for setting in settings:
        renderings = {name: path.at(setting) for name, path in paths.items()}
        yield FactorFit(found.scores, found.values, found.converged, renderings)


class _RenderingPath:
    """One view of the factors, at one penalty after the other."""

    def __init__(self, view: PreparedView, samples, T: np.ndarray):
        self._view, self._samples, self._T = view, samples, T
        self._automatic: list[ComponentResult] | None = None
        self._before: tuple[Penalty, list[ComponentResult], Rendering] | None = None

    def at(self, settings: FactorSettings) -> Rendering:
        """With these settings, which differ from those before by the penalty alone."""
        if settings.dense:
            return _dense_rendering(self._view, self._T, settings)
        penalty = settings.gamma if self._view.columns_are_samples else settings.mu
        if self._before is None or self._before[0] != penalty:
            with one_blas_thread():  # a factor at a time in each thread
                selected = self._selected(penalty, settings)
            self._before = penalty, selected, _weighed(self._view, self._samples, self._T, selected, settings)
        return self._before[2]

    def _selected(self, penalty: Penalty, settings: FactorSettings) -> list[ComponentResult]:
        """The elastic nets; the automatic penalty leaves no factor more than `settings.most` weights."""
        if penalty.value is not None:
            return self._solved(np.full(self._T.shape[1], penalty.value), settings)
        if self._automatic is None:
            self._automatic = _automatically_selected(self._view, self._T, settings)
        if penalty.factor == 1.0:
            return self._automatic
        return self._solved(penalty.factor * np.array([result.mu for result in self._automatic]), settings)

    def _solved(self, mus: np.ndarray, settings: FactorSettings) -> list[ComponentResult]:
        starts = [None] * len(mus) if self._before is None else [result.w for result in self._before[1]]

        def solve(j: int) -> ComponentResult:
            t, mu = self._T[:, [j]], mus[[j]]
            return select_features(self._view, t, mu, settings.ridge, start=starts[j], **settings.effort)[0]

        return together(solve, range(len(mus)))


def _dense_rendering(view: PreparedView, T: np.ndarray, settings: FactorSettings) -> Rendering:
    """Weights of the factors on all coordinates of a view."""
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


def _weighed(
    view: PreparedView, samples, T: np.ndarray, selected: list[ComponentResult], settings: FactorSettings
) -> Rendering:
    """Weights of the factors on the coordinates that were selected, of which alone the view is made anew."""
    if not isinstance(view, FeatureView) or view.preparation is None:
        weights = np.column_stack([result.w for result in selected])
        return _rendering(view, weights, selected, 0.0, 0.0)
    chosen = [np.flatnonzero(result.w) for result in selected]
    while True:
        union = np.unique(np.concatenate(chosen))
        read = _reading(view, union).transform(samples)
        weighed = weigh_features(read, T, chosen, _OF_WEIGHTS * settings.ridge, _most_explained(len(T), settings))
        chosen = [np.flatnonzero(w) for w in weighed.weights.T]
        if np.array_equal(np.flatnonzero(weighed.weights.any(axis=1)), union):  # what is read is used
            break
    return _rendering(read, weighed.weights, selected, weighed.objective, weighed.dual_gap)


def _most_explained(n_samples: int, settings: FactorSettings) -> float:
    """Of a factor, by its weights: features chosen among many can explain all of a factor of few samples.

    Those that only fit its noise would weigh as much as the rest.
    """
    return 1.0 - _UNEXPLAINED / np.sqrt(n_samples) if settings.ridge_is_automatic else 1.0


def _automatically_selected(view: PreparedView, T: np.ndarray, settings: FactorSettings) -> list[ComponentResult]:
    pull = 2.0 * np.abs(view.rmatmat(T))
    n_read = max(np.count_nonzero(pull.any(axis=1)), 1)
    mus = _SHARE * pull.sum(axis=0) / n_read
    return together(lambda j: _few_selected(view, T[:, [j]], pull[:, j], mus[j], settings), range(len(mus)))


def _few_selected(view: PreparedView, t, pull: np.ndarray, mu: float, settings: FactorSettings) -> ComponentResult:
    """The elastic net with the penalty `mu`; if that selects too many features, with about the least that does not.

    Where many features pull harder than `mu`, which takes long to solve, the penalty is lowered to it from where few
    do.
    """
    most = settings.most

    def solve(penalty, start=None):
        return select_features(view, t, np.array([penalty]), settings.ridge, start=start, **settings.effort)[0]

    at = mu if np.count_nonzero(pull > mu) <= _MANY * most else float(np.partition(pull, -most)[-most])
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


def _reading(view: FeatureView, features: np.ndarray) -> Preparation:
    """The preparation that reads these features and no others, not even for the norm of a sample.

    A sample that has none of them is zero: there is nothing to say of it.
    """
    preparation = view.preparation
    assert preparation is not None
    weights = np.ones(view.shape[1]) if preparation.feature_weights is None else preparation.feature_weights
    read = np.zeros(view.shape[1])
    read[features] = weights[features]
    return replace(preparation, feature_weights=read, blank=True)


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
