"""Rendering of factors: weights on few features of each view, selected by certified problems and refitted together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._checks import Penalty
from .._wording import setting
from ..parallel import one_blas_thread
from ..progress import Stage, from_checkpoint
from ..solver import ComponentResult
from ..views import PreparedView, PrimalView
from ._nets import Nets
from ._products import RidgeSolution
from ._rendering import Weighing, dense_weights, weigh_features
from ._scores import Scores, column_products, correlations, scores_of
from ._settings import FactorSettings

__all__ = ["Rendering", "RenderingPath"]

_OF_RESULTS = ("objective", "dual_gap", "mu", "gamma", "n_iter", "n_passes", "converged")
_ROOM = 2  # times the most weights: features among which a penalty is searched at first
_SHARE = 0.15  # the automatic penalty: times the mean of |2 A't| over the features that are read
_OF_WEIGHTS = 4.0  # the ridge of the weights, relative to that of the factors
_UNEXPLAINED = 1.0  # over the root of the number of samples: the least share of a factor that stays unexplained
_ENOUGH = 0.9  # of the most weights: a raised penalty need not come closer
_NEAR = 1.02  # ratio of two penalties that are close enough
_POWERS = (0.3, 3.0)  # bounds on the power of the penalty that the number of weights is taken to fall with
_STEPS = (0.5, 2.0)  # bounds on the ratio of a penalty to the one tried before
_INSIDE = (0.25, 0.75)  # where between two penalties, one too low and one that need not be so high, the next one lies
_TRIALS = 100  # of penalties; far fewer suffice unless products overflow
# about how long steps take, relative to each other: the first and the last one for all views, the others for each
_CORRELATING, _SELECTING, _WEIGHING, _SCORING = 1.0, 1.4, 1.0, 1.6


@dataclass(frozen=True, eq=False)
class Rendering:
    """The factors in one view: the view restricted to what is read, weights on its coordinates, and certificates.

    `selected` holds the solutions of the convex problems that selected the features; for a dual view their weights are
    also the final `weights`. `unsolved` says in a sentence, if it is so, that the equations for weights on all features
    were not solved to their tolerance.
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
    unsolved: str = ""


class RenderingPath:
    """Factors T (n x c) in every view, at one penalty after another, each starting from the previous solution."""

    def __init__(self, views: Mapping[str, PreparedView], samples: Mapping[str, Any], T: Scores):
        self._samples, self._T = samples, T
        self._views = views
        self._selections: dict[str, _SelectionPath] = {}

    @cached_property
    def _squares(self) -> np.ndarray:
        """||t||^2 of every factor."""
        return column_products(self._T, self._T)

    def at(self, settings: FactorSettings) -> dict[str, Rendering]:
        """With these settings, which differ from the previous ones in the penalties alone.

        The weights of the selected features come from ridge regression, first of the factor, then of the scores that
        the other views' weights give: those scores are what a new sample is compared with.
        """
        T = self._T
        dense = {name: self._views[name] for name in settings.dense}
        renderings = {name: _dense(name, view, T, settings.ridge_of(view)) for name, view in dense.items()}
        sparse = [name for name in self._views if name not in settings.dense]
        if not sparse:
            return renderings
        most_explained = _most_explained(len(T), settings)
        stage = Stage("features", _CORRELATING + len(sparse) * (_SELECTING + 2 * _WEIGHING) + _SCORING)
        with stage.step(_CORRELATING):
            self._begin(sparse, settings)
        for name in sparse:
            with stage.step(_SELECTING):
                selections = self._selections[name]
                selected = from_checkpoint(
                    f"features of {name}", partial(selections.at, settings), _as_arrays, _as_results
                )
            weights = np.column_stack([result.w for result in selected])
            view = self._views[name]
            found = _rendering(view, weights, selected, np.full(T.shape[1], _OF_WEIGHTS * settings.ridge_of(view)))
            with stage.step(_WEIGHING):
                renderings[name] = self._weighed(name, found, lambda: T, settings, most_explained)
        with stage.step(_SCORING):
            scores = {name: scores_of([r.view], [r.weights]) for name, r in renderings.items()}

        def of_others(name: str) -> Scores:
            return _scores_of_others(name, scores, T, np.sqrt(self._squares))

        for name in sparse:
            with stage.step(_WEIGHING):
                renderings[name] = self._weighed(name, renderings[name], partial(of_others, name), settings, 1.0)
        return {name: renderings[name] for name in self._views}

    def _begin(self, sparse: Sequence[str], settings: FactorSettings) -> None:
        if self._selections:
            return
        with one_blas_thread():  # the same order of sums for any number of threads
            entries = correlations([self._views[name] for name in sparse], self._T)
        self._selections = {
            name: _SelectionPath(self._views[name], found, self._squares, settings)
            for name, found in zip(sparse, entries, strict=True)
        }

    def _weighed(
        self,
        name: str,
        rendering: Rendering,
        targets: Callable[[], Scores],
        settings: FactorSettings,
        most_explained: float,
    ) -> Rendering:
        """Weights refitted to `targets` on each factor's own features, in a view that reads no others; dual views stay.

        The ridge is raised where more than this share of a target would be explained.
        """
        view, samples = rendering.view, self._samples.get(name)
        if not isinstance(view, PrimalView) or view.preparation is None:
            return rendering

        def weigh() -> tuple[PrimalView, Weighing]:
            chosen = [np.flatnonzero(w) for w in rendering.weights.T]
            scores = targets()
            while True:
                read = _reading_only(view, np.unique(np.concatenate(chosen)), samples)
                # as large beside the features that are read as it was beside all
                ridge = rendering.ridge * (settings.ridge_of(read) / settings.ridge_of(view))
                weighed = weigh_features(read, scores, chosen, ridge, most_explained)
                few = [np.flatnonzero(w) for w in weighed.weights.T]
                if len(np.unique(np.concatenate(few))) == len(np.unique(np.concatenate(chosen))):
                    return read, weighed  # all that is read has a weight
                chosen = few

        def again(stored: Mapping[str, np.ndarray]) -> tuple[PrimalView, Weighing]:
            weighed = Weighing.of_arrays(stored)
            return _reading_only(view, np.flatnonzero(weighed.weights.any(axis=1)), samples), weighed

        read, found = from_checkpoint(f"weights of {name}", weigh, lambda both: both[1].arrays(), again)
        return _rendering(read, found.weights, rendering.selected, found.ridge, found.objective, found.dual_gap)


class _SelectionPath:
    """The elastic nets of one view, at one penalty after another; `correlations` are A'T."""

    def __init__(self, view: PreparedView, correlations: np.ndarray, squares: np.ndarray, settings: FactorSettings):
        self._is_dual = view.columns_are_samples
        self._entry = 2.0 * np.abs(correlations)
        ridge, room = settings.ridge_of(view), _ROOM * settings.most
        self._nets = Nets(view, correlations, squares, ridge, **settings.effort, room=room)
        self._automatic: list[ComponentResult] | None = None
        self._before: tuple[Penalty, list[ComponentResult]] | None = None

    def at(self, settings: FactorSettings) -> list[ComponentResult]:
        penalty = settings.gamma if self._is_dual else settings.mu
        if self._before is None or self._before[0] != penalty:
            with one_blas_thread():  # each thread solves one factor
                self._before = penalty, self._selected(penalty, settings)
        return self._before[1]

    def _selected(self, penalty: Penalty, settings: FactorSettings) -> list[ComponentResult]:
        """The elastic nets at `penalty`; the automatic one allows at most `settings.most` weights per factor."""
        if penalty.value is not None:
            return self._solved(np.full(self._entry.shape[1], penalty.value))
        if self._automatic is None:
            self._automatic = self._automatically_selected(settings.most)
        if penalty.factor == 1.0:
            return self._automatic
        return self._solved(penalty.factor * np.array([result.mu for result in self._automatic]))

    def _solved(self, mus: np.ndarray) -> list[ComponentResult]:
        found = self._nets.solve(dict(enumerate(mus.tolist())))
        return [found[j] for j in range(len(mus))]

    def _automatically_selected(self, most: int) -> list[ComponentResult]:
        """Each factor at its own penalty, found among the features of its working set."""
        n_read = max(np.count_nonzero(self._entry.any(axis=1)), 1)
        mus = _SHARE * self._entry.sum(axis=0) / n_read
        found = self._nets.solve(
            {j: partial(_few_weights, self._entry[:, j], float(mu), most) for j, mu in enumerate(mus)}
        )
        return [found[j] for j in range(len(mus))]


def _as_arrays(selected: Sequence[ComponentResult]) -> dict[str, np.ndarray]:
    """The solutions of elastic nets, for a checkpoint."""
    weights = sp.csc_array(np.column_stack([result.w for result in selected]))
    stored = {"data": weights.data, "indices": weights.indices, "indptr": weights.indptr}
    stored["shape"] = np.array(weights.shape)
    return stored | {name: np.array([getattr(result, name) for result in selected]) for name in _OF_RESULTS}


def _as_results(stored: Mapping[str, np.ndarray]) -> list[ComponentResult]:
    parts = stored["data"], stored["indices"], stored["indptr"]
    weights = sp.csc_array(parts, shape=tuple(stored["shape"])).toarray()
    return [
        ComponentResult(w=weights[:, j], e=None, **{name: stored[name][j].item() for name in _OF_RESULTS})
        for j in range(weights.shape[1])
    ]


def _few_weights(
    entry: np.ndarray, mu: float, most: int, count_at: Callable[[float], int], before: float | None
) -> float:
    """The penalty `mu` or, if that gives too many weights, about the smallest that does not, searched from `before`.

    `entry` is |2 A't|, the penalty below which each feature alone would get a weight. The search comes from above,
    where solutions have few weights and take little time, and expects the number of weights to be a power of the
    penalty, through the last two that were tried.
    """
    if (at := before) is None:
        above = entry[entry > mu]
        at = mu if len(above) <= most else float(np.partition(above, -most)[-most])
    few, too_low, last, power = np.inf, 0.0, None, 1.0
    for _ in range(_TRIALS):
        count = count_at(at)
        if count > most:
            too_low = at
        elif at <= mu or count >= _ENOUGH * most:
            return at
        else:
            few = at
        if few <= _NEAR * too_low:
            break
        here = np.log(at), np.log(max(count, 1))
        if last is not None and here[0] != last[0]:
            power = float(np.clip((last[1] - here[1]) / (here[0] - last[0]), *_POWERS))
        last = here
        guess = at * float(np.clip((count / (np.sqrt(_ENOUGH) * most)) ** (1.0 / power), *_STEPS))
        if too_low > 0.0 and few < np.inf:  # well inside the bounds, so that they approach each other
            between = np.log(guess / too_low) / np.log(few / too_low)
            guess = too_low * (few / too_low) ** float(np.clip(between, *_INSIDE))
        at = max(mu, guess)
    return few if few < np.inf else at


def _dense(name: str, view: PreparedView, T: Scores, ridge: float) -> Rendering:
    nothing, found = np.zeros(T.shape[1]), dense_weights(view, T, ridge)
    return Rendering(
        view=view,
        weights=found.weights,
        selected=(),
        ridge=np.full(T.shape[1], ridge),
        mu=nothing,
        objective=nothing,
        dual_gap=nothing,
        n_iter=nothing,
        n_passes=nothing,
        converged=found.converged,
        unsolved=_unsolved(found, name),
    )


def _unsolved(found: RidgeSolution, name: str) -> str:
    """One sentence if the equations were not solved, otherwise an empty one."""
    short = found.residuals[~found.converged]
    if not len(short):
        return ""
    return (
        f"the equations for the weights on all features of {setting(name)} are not solved: {len(short)} of "
        f"{len(found.residuals)} components have a relative residual of up to {short.max():.2g}, above the required "
        f"{found.tol:.2g}; raise {setting('ridge')}, or scale the columns to similar variances."
    )


def _scores_of_others(name: str, scores: Mapping[str, Scores], T: Scores, norms: np.ndarray) -> Scores:
    """The other views' scores, each of unit norm, summed and scaled to the factor's norm; the factor if they are 0."""
    targets: Scores | None = None
    for other, found in scores.items():
        if other != name:
            scaled = found * (1.0 / np.maximum(_norms(found), np.finfo(np.float64).tiny))
            targets = scaled if targets is None else targets + scaled
    assert targets is not None
    sizes = _norms(targets)
    targets = targets * (norms / np.where(sizes > 0, sizes, 1.0))
    return targets if sizes.all() else targets + T * (sizes == 0)


def _norms(scores: Scores) -> np.ndarray:
    return np.sqrt(column_products(scores, scores))


def _most_explained(n_samples: int, settings: FactorSettings) -> float:
    """The largest share of a factor that its weights may explain.

    Features selected among many can explain all of a factor of few samples, by fitting its noise.
    """
    return 1.0 - _UNEXPLAINED / np.sqrt(n_samples) if settings.ridge_is_automatic else 1.0


def _reading_only(view: PrimalView, features: np.ndarray, samples: Any) -> PrimalView:
    """The view prepared to read these features and no others, not even for the norm of a sample; itself if it does.

    A document that has none of these words becomes zero; in a table, zeros are measurements like others.
    """
    preparation = view.preparation
    assert preparation is not None
    weights, blank = preparation.feature_weights, not preparation.reads_zeros
    if preparation.blank == blank and weights is not None and np.array_equal(np.flatnonzero(weights), features):
        return view
    read = np.zeros(view.shape[1])
    read[features] = 1.0 if weights is None else weights[features]
    return replace(preparation, blank=blank).weighted(read, samples).transform(samples)


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
