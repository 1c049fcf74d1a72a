"""Refitting: weights on the features that are read, by ridge regression of the factor, then of other views' scores.

A "sparse" view weighs for each factor those that an elastic net selected for it; a "joint" view weighs all that are
read. The last weights are fitted to the other views' scores because a new sample is compared with these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.linalg.lapack import dposv
from scipy.optimize import brentq, nnls

from .._wording import setting
from ..parallel import solve_by_triangle, triangle_of
from ..progress import Stage, from_checkpoint
from ..solver import ComponentResult
from ..views import FeatureView, PreparedView, PrimalView, View
from . import constants
from ._ridge import ridge_weights
from .find import ridge_of, spectrum_of
from .products import RidgeSolution, Scores, column_products, correlations, grams, regularised, scores_of

if TYPE_CHECKING:
    from .prepare import Prepared
    from .settings import Settings

__all__ = [
    "Regression",
    "Rendering",
    "Weighing",
    "dense_rendering",
    "dense_weights",
    "joint_regression",
    "joint_ridge",
    "joint_weights",
    "refit",
    "weigh_all",
    "weigh_features",
]

_FEW_SAMPLES = 3000  # maximum number of samples for which the full spectrum of a view is computed
_FEW_FOR_SPECTRA = 200  # maximum number of samples or features for which spectra are fast, and more precise
SCORING, WEIGHING = 1.6, 1.0  # approximate relative times: to score all views, to fit the weights of one view


@dataclass(frozen=True, eq=False)
class Rendering:
    """The factors in one view: the view restricted to features that are read, weights on coordinates, and certificates.

    `joint` says whether every factor weighs all features that are read. `selected` holds the solutions of the convex
    problems that selected the features; for a dual view their weights are also the final `weights`. `unsolved` is a
    sentence if the equations for weights on all features were not solved to their tolerance, and otherwise empty.
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
    joint: bool = False

    @property
    def shown(self) -> sp.csr_array | None:
        """The features that represent each factor to a reader, where it weighs more; None where they are those."""
        if not self.joint or not self.selected:
            return None
        weighed = self.weights.any(axis=1)
        return sp.csr_array(np.column_stack([(result.w != 0.0) & weighed for result in self.selected]))


def refit(
    prepared: "Prepared",
    scores: Scores,
    squares: np.ndarray,
    selected: Mapping[int, Sequence[ComponentResult]],
    dense: Mapping[int, Rendering],
    settings: "Settings",
    stage: Stage,
) -> list[Rendering]:
    """The factors T in every view, with weights on the `selected` features or, where they are known, `dense` weights.

    `squares` are ||t||^2 of every factor. Weights are fitted to the factor, then to the other views' scores.
    """
    renderings, most_explained = dict(dense), _most_explained(len(scores), settings)
    regressions: dict[str, Regression] = {}  # those of the factor are those of the other views' scores too
    names, samples = prepared.given.names, prepared.samples
    for v, results in selected.items():
        with stage.step(WEIGHING):
            view: Any = prepared.views[v]
            joint = settings.renderings[v] == "joint"
            ridge = ridge_of(settings, view)
            ridge = joint_ridge(ridge, len(scores)) if joint else constants.WEIGHT_RIDGE * ridge
            ridges = np.full(scores.shape[1], ridge)
            if joint:
                weights = np.zeros((view.shape[1], scores.shape[1]))
                weights[view.varying if prepared.kept[v] is None else prepared.kept[v]] = 1.0
            else:
                weights = np.column_stack([result.w for result in results])
            first = _rendering(view, weights, results, ridges, joint=joint)
            renderings[v] = _refitted(
                names[v], first, samples[v], lambda: scores, settings, most_explained, regressions
            )
    if selected:
        with stage.step(SCORING):
            views_scores = {v: scores_of([r.view], [r.weights]) for v, r in renderings.items()}
    for v in selected:

        def of_others(own: int = v) -> Scores:
            return _scores_of_others(own, views_scores, scores, np.sqrt(squares))

        with stage.step(WEIGHING):
            renderings[v] = _refitted(names[v], renderings[v], samples[v], of_others, settings, 1.0, regressions)
    return [renderings[v] for v in range(len(prepared.views))]


def _refitted(
    name: str,
    rendering: Rendering,
    samples: Any,
    targets: Callable[[], Scores],
    settings: "Settings",
    most_explained: float,
    regressions: dict[str, "Regression"],
) -> Rendering:
    """Weights refitted to `targets` on each factor's own features, in a view that reads only these; dual views stay.

    The ridge is raised where the weights would explain more than `most_explained` of a target. `regressions` has those
    of earlier calls by name of the view, and gets that of this call.
    """
    view = rendering.view
    if not isinstance(view, PrimalView) or view.preparation is None:
        return rendering

    def weigh() -> tuple[PrimalView, Weighing]:
        chosen = [np.flatnonzero(w) for w in rendering.weights.T]
        scores = targets()
        while True:
            read = _restricted_view(view, np.unique(np.concatenate(chosen)), samples)
            # the same ridge relative to the features that are read as it was relative to all
            ridge = rendering.ridge * (ridge_of(settings, read) / ridge_of(settings, view))
            if rendering.joint:
                before = regressions.get(name)
                if before is None or before.view is not read or before.ridge != ridge[0]:
                    regressions[name] = Regression(read, float(ridge[0]))
                weighed = weigh_all(regressions[name], scores)
            else:
                weighed = weigh_features(read, scores, chosen, ridge, most_explained)
            few = [np.flatnonzero(w) for w in weighed.weights.T]
            if len(np.unique(np.concatenate(few))) == len(np.unique(np.concatenate(chosen))):
                return read, weighed  # every feature that is read has a weight
            chosen = few

    def again(stored: Mapping[str, np.ndarray]) -> tuple[PrimalView, Weighing]:
        weighed = Weighing.of_arrays(stored)
        return _restricted_view(view, np.flatnonzero(weighed.weights.any(axis=1)), samples), weighed

    read, found = from_checkpoint(f"weights of {name}", weigh, lambda both: both[1].arrays(), again)
    certificate = found.ridge, found.objective, found.dual_gap
    return _rendering(read, found.weights, rendering.selected, *certificate, joint=rendering.joint)


def dense_rendering(name: str, view: PreparedView, T: Scores, ridge: float) -> Rendering:
    """The factors T in a view with weights on all coordinates."""
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
    """A sentence if the equations were not solved, otherwise an empty string."""
    short = found.residuals[~found.converged]
    if not len(short):
        return ""
    return (
        f"the equations for the weights on all features of {setting(name)} are not solved: {len(short)} of "
        f"{len(found.residuals)} components have a relative residual of up to {short.max():.2g}, above the required "
        f"{found.tol:.2g}; raise {setting('ridge')}, or scale the columns to similar variances."
    )


def _scores_of_others(own: int, scores: Mapping[int, Scores], T: Scores, norms: np.ndarray) -> Scores:
    """The other views' scores, summed and scaled to the factor's norm; the factor if they are 0.

    Each counts as much as it helps to predict the factor: scores of a view that does not share it would be noise.
    """
    others = [
        found * (1.0 / np.maximum(_norms(found), np.finfo(np.float64).tiny))
        for other, found in scores.items()
        if other != own
    ]
    counts = _shares(others, T)
    targets = others[0] * counts[0]
    for found, count in zip(others[1:], counts[1:], strict=True):
        targets = targets + found * count
    sizes = _norms(targets)
    targets = targets * (norms / np.where(sizes > 0, sizes, 1.0))
    return targets if sizes.all() else targets + T * (sizes == 0)


def _shares(scores: Sequence[Scores], T: Scores) -> np.ndarray:
    """The weights, none negative, of scores of unit norm that predict each factor best; shape (scores, factors)."""
    if len(scores) == 1:
        return np.ones((1, T.shape[1]))
    products = np.array([[column_products(one, other) for other in scores] for one in scores])
    with_factor = np.array([column_products(each, T) for each in scores])
    shares = np.empty_like(with_factor)
    for j in range(T.shape[1]):
        values, vectors = np.linalg.eigh(products[:, :, j])
        known = values > len(scores) * np.finfo(np.float64).eps * values[-1]  # scores of copies are the same
        root = (vectors[:, known] * np.sqrt(values[known])).T  # products are root'root
        target = (vectors[:, known] / np.sqrt(values[known])).T @ with_factor[:, j]
        shares[:, j] = nnls(root, target)[0]
    return shares


def _norms(scores: Scores) -> np.ndarray:
    return np.sqrt(column_products(scores, scores))


def _most_explained(n_samples: int, settings: "Settings") -> float:
    """The largest share of a factor that its weights may explain.

    Features selected among many can explain all of a factor of few samples, by fitting its noise.
    """
    return 1.0 - constants.UNEXPLAINED / np.sqrt(n_samples) if settings.ridge_is_automatic else 1.0


def _restricted_view(view: PrimalView, features: np.ndarray, samples: Any) -> PrimalView:
    """The view prepared to read only these features, also for the norm of a sample; itself if it already does.

    A document without any of these words becomes zero; in a table, zeros are ordinary measurements.
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
    *,
    joint: bool = False,
) -> Rendering:
    """A rendering whose objective and gap add those of the selection and those of the refitted weights."""

    def of_nets(name: str) -> np.ndarray:
        if not selected:  # a joint view whose features nobody is shown
            return np.ones(weights.shape[1], bool) if name == "converged" else np.zeros(weights.shape[1])
        return np.array([getattr(result, name) for result in selected])

    return Rendering(
        view=view,
        weights=weights,
        selected=selected,
        ridge=ridge,
        mu=of_nets("mu"),
        objective=of_nets("objective") + objective,
        dual_gap=of_nets("dual_gap") + dual_gap,
        n_iter=of_nets("n_iter"),
        n_passes=of_nets("n_passes"),
        converged=of_nets("converged"),
        joint=joint,
    )


# --- ridge regression -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Weighing:
    """Weights of the factors on selected features, one column per factor, and their certificates.

    With r = t - A w and P = ||r||^2 + ridge ||w||^2 over the selected features, D = 2 t'r - ||r||^2 - ||A'r||^2 / ridge
    is at most the optimum; `dual_gap` is P - D. `ridge` has the ridge of each factor.
    """

    weights: np.ndarray
    objective: np.ndarray
    dual_gap: np.ndarray
    ridge: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, for a checkpoint."""
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

    The ridge, one for all factors or one per factor, is raised until the weights explain at most `most_explained` of a
    factor. Only A't, ||t||^2 and A'A on the selected features are computed from the data.
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
            ridges[j] = _raised_ridge(gram, target, most_explained * square, float(ridges[j]))
            w = _regressed(gram, target, ridges[j])
            products = gram @ w
            residual = square - 2.0 * (w @ target) + w @ products
        of_residual = target - products  # A'r
        weights[chosen[j], j] = w + 0.0  # without negative zeros, which a checkpoint does not keep
        objective[j] = residual + ridges[j] * (w @ w)
        bound = 2.0 * (square - w @ target) - residual - of_residual @ of_residual / ridges[j]
        dual_gap[j] = objective[j] - bound
    return Weighing(weights, objective, dual_gap, ridges)


def weigh_all(regression: "Regression", scores: Scores) -> Weighing:
    """Ridge regression of every factor on all features of a view that are read.

    With C = A'A + ridge and the residual q = A't - C w of the equations, P - D = ||q||^2 / ridge.
    """
    view, ridge = regression.view, regression.ridge
    weights = regression.weights_of(scores).weights
    targets, squares = correlations([view], scores)[0], column_products(scores, scores)
    residual = targets - regularised(view, ridge, weights)
    objective = squares - column_products(weights, targets + residual)
    gaps = column_products(residual, residual) / ridge
    return Weighing(weights + 0.0, objective, gaps, np.full(scores.shape[1], ridge))


def joint_ridge(ridge: float, n_samples: int) -> float:
    """The ridge of weights on all features that are read, given that of the factors."""
    root = np.sqrt(min(n_samples, constants.JOINT_RIDGE_SAMPLES))
    return ridge * max(1.0, constants.JOINT_RIDGE * float(root))


def joint_regression(view: Any, ridge: float) -> "Regression":
    """The regression of factors on all features of a view, as `refit` does it, given the factors' ridge."""
    return Regression(view, joint_ridge(ridge, view.shape[0]))


def joint_weights(regressions: Sequence["Regression"], scores: Scores) -> list[np.ndarray]:
    """Weights of the factors T on all features of every view, as `refit` finds them."""
    views = [regression.view for regression in regressions]
    first = [regression.weights_of(scores).weights for regression in regressions]
    found = {v: scores_of([view], [W]) for v, (view, W) in enumerate(zip(views, first, strict=True))}
    norms = _norms(scores)
    return [
        regression.weights_of(_scores_of_others(v, found, scores, norms)).weights
        for v, regression in enumerate(regressions)
    ]


def _regressed(gram: np.ndarray, target: np.ndarray, ridge: float) -> np.ndarray:
    """(gram + ridge)^-1 target."""
    ridged = gram.copy()
    ridged.flat[:: len(gram) + 1] += ridge
    _, w, problem = dposv(ridged.T, target, overwrite_a=True)  # there are thousands of small problems
    if problem:  # the ridge is below rounding error
        values, Q = eigh(gram)
        return Q @ ((Q.T @ target) / (np.maximum(values, 0.0) + ridge))
    return w


def _raised_ridge(gram: np.ndarray, target: np.ndarray, most: float, ridge: float) -> float:
    """The smallest ridge, at least `ridge`, that explains no more than `most` of ||t||^2.

    With A'A = Q diag(values) Q' and `squares` the squares of Q'A't, ||t||^2 - ||t - A w||^2 is the sum of
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


@dataclass(frozen=True, eq=False)
class Regression:
    """Ridge regression of scores on all coordinates: (C + ridge I)^-1 A't; for a kernel, (K + ridge I)^-1 t.

    What takes most of the time, a decomposition of a square matrix, is done once for any number of scores.
    """

    view: Any
    ridge: float

    def weights_of(self, scores: Scores, tol: float | None = None) -> RidgeSolution:
        """The weights of each column of `scores`; to a relative residual `tol`, where they are found by iteration."""
        view, ridge = self.view, self.ridge
        if isinstance(view, PrimalView) and (view.shape[0] > _FEW_SAMPLES or view.remote is not None):
            return ridge_weights(view, scores, ridge) if tol is None else ridge_weights(view, scores, ridge, tol)
        scores = np.asarray(scores)
        if self._triangle is not None:
            return RidgeSolution(self._by_triangle(self._triangle, scores), np.zeros(scores.shape[1]), 0.0)
        spectrum = spectrum_of(view)
        U, values = spectrum.vectors, spectrum.values
        coefficients = U @ ((U.T @ scores) / (values + ridge)[:, None])
        weights = coefficients if view.columns_are_samples else view.rmatmat(coefficients)
        return RidgeSolution(weights, np.zeros(scores.shape[1]), 0.0)  # exact: no iteration could stop early

    @cached_property
    def _triangle(self) -> np.ndarray | None:
        """The triangle of A'A + ridge, or of A A' + ridge if it is smaller; None if rounding errors forbid it."""
        view = self.view
        if not isinstance(view, FeatureView) or min(view.shape) <= _FEW_FOR_SPECTRA:
            return None
        if self._is_of_features:
            columns = view.columns(view.varying)
            square = columns.T @ columns
        else:
            square = view.outer()
        square.flat[:: len(square) + 1] += self.ridge
        try:
            return triangle_of(square)
        except np.linalg.LinAlgError:
            return None

    @property
    def _is_of_features(self) -> bool:
        return len(self.view.varying) <= self.view.shape[0]

    def _by_triangle(self, L: np.ndarray, scores: np.ndarray) -> np.ndarray:
        view = self.view
        if not self._is_of_features:
            return view.rmatmat(solve_by_triangle(L, scores))
        weights = np.zeros((view.shape[1], scores.shape[1]))
        weights[view.varying] = solve_by_triangle(L, view.rmatmat(scores)[view.varying])
        return weights


def dense_weights(view: View, scores: Scores, ridge: float) -> RidgeSolution:
    """Ridge regression of each factor on all coordinates of a view."""
    return Regression(view, ridge).weights_of(scores)
