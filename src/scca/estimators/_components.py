"""Algorithm 4: one component after another, each on what the ones before it left."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from ..engine import in_this_context, warn
from ..solver import ComponentResult, Penalty, solve_views
from ..views import DeflatedView, Deflation, OrientedView, View
from ._anchors import AnchorStrategy
from ._directions import DIRECTIONS
from ._refinement import refine

__all__ = ["Component", "EmptyComponentWarning", "Extraction", "NothingSharedError", "Settings", "extract_components"]

_EXHAUSTED = 1e-12  # share of a view's squared norm below which what is left is rounding error
_ORTHOGONAL = 1e-10  # cosine below which an anchor has nothing in common with the other view

logger = logging.getLogger(__name__)


class NothingSharedError(ValueError):
    """The views have not a single component."""


class EmptyComponentWarning(UserWarning):
    """A component could only be had by holding e at its anchor, or with a smaller penalty."""


@dataclass(frozen=True)
class Settings:
    """How each component's problem is solved."""

    mu: Penalty
    gamma: Penalty
    tol: float
    max_iter: int
    algorithm: str
    oriented: bool = False  # the anchored view's coordinates are features, whose signs mean nothing
    refine: bool = False
    directions: str = "smooth"
    n_jobs: int | None = None  # threads that share the anchors to compare

    @property
    def effort(self) -> dict:
        """What every convex problem is solved with."""
        return {"tol": self.tol, "max_iter": self.max_iter, "algorithm": self.algorithm}


@dataclass(frozen=True)
class Component:
    """One component: its anchor, the solver's answer, and weights scaled to training scores of unit norm."""

    anchor: int
    result: ComponentResult
    left_score: np.ndarray
    right_score: np.ndarray
    left_weights: np.ndarray
    right_weights: np.ndarray
    converged: bool

    @property
    def correlation(self) -> float:
        """The cosine of the two scores, the paper's rho."""
        return float(self.left_score @ self.right_score)

    @property
    def correlation_elsewhere(self) -> float:
        """The cosine of the two scores without the anchor's own sample, which both were made to fit."""
        left, right = np.delete(self.left_score, self.anchor), np.delete(self.right_score, self.anchor)
        norms = np.linalg.norm(left) * np.linalg.norm(right)
        return float(left @ right / norms) if norms > _ORTHOGONAL else 0.0


@dataclass(frozen=True)
class Extraction:
    """All components found, and what was taken from each view with them."""

    components: list[Component]
    left: Deflation
    right: Deflation

    def __len__(self) -> int:
        return len(self.components)


def extract_components(
    left_view: View,
    right_view: View,
    n_components: int,
    anchors: AnchorStrategy,
    settings: Settings,
    level: int = logging.DEBUG,
    progress: Callable[[int, int], None] | None = None,
) -> Extraction:
    """Up to `n_components` components of two views, each of what the ones before it left; fewer if one is exhausted."""
    found: list[Component] = []
    search = _Search(anchors, settings)
    left, right = DeflatedView(left_view), DeflatedView(right_view)
    while len(found) < n_components and min(left.remaining, right.remaining) > _EXHAUSTED:
        component = search.next(left, right)
        if component is None:
            break
        taken = DIRECTIONS[settings.directions](left, right, component)
        left_rest, right_rest = left.deflated(taken.left), right.deflated(taken.right)
        if left_rest is None or right_rest is None:
            break
        left, right = left_rest, right_rest
        found.append(replace(component, converged=component.converged and taken.converged))
        _log(found, level)
        if progress is not None:
            progress(len(found), n_components)
    if not found:
        raise NothingSharedError(
            "X and Y have nothing in common: no feature is correlated with any anchor; check the pairing."
        )
    _warn_of_shortcomings(found, n_components)
    return Extraction(found, left.deflation, right.deflation)


def _log(found: list[Component], level: int) -> None:
    component = found[-1]
    logger.log(
        level,
        "component %d: anchor %d, %d and %d weights, correlation %.4f, gap %.1e, %d passes",
        *(len(found), component.anchor),
        *(np.count_nonzero(weights) for weights in (component.left_weights, component.right_weights)),
        *(component.correlation, component.result.dual_gap, component.result.n_passes),
    )


def _warn_of_shortcomings(found: list[Component], n_components: int) -> None:
    if len(found) < n_components:
        warn(
            f"the views are exhausted after {len(found)} of n_components={n_components} components: nothing they share "
            f"is left; set n_components={len(found)}.",
            ConvergenceWarning,
        )
    short = [number for number, component in enumerate(found) if not component.converged]
    if short:
        warn(
            f"{len(short)} of {len(found)} components did not converge (first: {short[0]}), as converged_ says: raise "
            "max_iter or tol, or take refine=False or other directions.",
            ConvergenceWarning,
        )


class _Search:
    """The search for the next component that is not empty."""

    def __init__(self, anchors: AnchorStrategy, settings: Settings):
        self._anchors = anchors
        self._settings = settings
        self._largest = 0.0  # squared norm of the largest target seen: what is tiny beside it is rounding error

    def next(self, left: DeflatedView, right: DeflatedView) -> Component | None:
        """The best component of the first candidates that have one; None if the views share nothing more."""
        anchors = self._anchors
        candidates = anchors.candidates(left, right)
        empty: list[int] = []
        fallback, attempt = None, in_this_context(self._try)
        while group := list(islice(candidates, anchors.compared)):
            n_jobs = self._settings.n_jobs if len(group) > 1 else 1
            trials = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(attempt)(left, right, k) for k in group)
            self._largest = max(self._largest, *(square for square, _ in trials))
            visible = {k: found for k, (square, found) in zip(group, trials, strict=True) if self._is_visible(square)}
            found = [component for component in visible.values() if component is not None]
            empty += [k for k in group if visible.get(k) is None]
            if found:
                best = max(found, key=_merit_by_sample if right.columns_are_samples else _merit)
                anchors.take(best.anchor, empty)
                return best
            fallback = next(iter(visible), None) if fallback is None else fallback
        held = None if fallback is None else self._hold(left, right, fallback)
        if held is not None:
            anchors.take(held.anchor, empty)
        return held

    def _is_visible(self, square: float) -> bool:
        return square > _ORTHOGONAL**2 * self._largest

    def _try(self, left: DeflatedView, right: DeflatedView, anchor: int) -> tuple[float, Component | None]:
        """The squared norm of an anchor's target, and its component if that is neither empty nor rounding error."""
        y = right.columns(np.array([anchor]))[:, 0]
        square = float(y @ y)
        if not self._is_visible(square):
            return square, None
        return square, self._solve(left, right, anchor, y, self._settings.mu, self._settings.gamma)

    def _hold(self, left: DeflatedView, right: DeflatedView, anchor: int) -> Component | None:
        """The component with e held at its anchor and, if even that is empty, half the largest mu with a weight."""
        y = right.columns(np.array([anchor]))[:, 0]
        held = Penalty(value=np.inf)
        component = self._solve(left, right, anchor, y, self._settings.mu, held)
        if component is None:
            largest = 2.0 * float(np.abs(left.rmatvec(y)).max())
            half = Penalty(value=0.5 * largest)
            component = self._solve(left, right, anchor, y, half, held) if largest > 0 else None
        if component is not None:
            warn(
                f"every anchor left gives an empty component; one is made with e held at anchor {anchor} and "
                f"mu={component.result.mu:.3g}: lower mu or raise gamma to choose otherwise.",
                EmptyComponentWarning,
            )
        return component

    def _solve(
        self, left: DeflatedView, right: DeflatedView, anchor: int, y: np.ndarray, mu: Penalty, gamma: Penalty
    ) -> Component | None:
        settings = self._settings
        anchored = _oriented(right, y) if settings.oriented else right
        result = solve_views(left, anchored, anchor, y, mu=mu, gamma=gamma, **settings.effort)
        if not result.w.any():
            return None
        if isinstance(anchored, OrientedView):
            result = replace(result, e=anchored.signs * np.asarray(result.e))
        if settings.refine and np.isfinite(result.gamma):
            result = refine(left, right, result, **settings.effort) or result
        w, e = result.w, np.asarray(result.e)
        left_score, right_score = left.matvec(w), right.matvec(e)
        left_norm, right_norm = np.linalg.norm(left_score), np.linalg.norm(right_score)
        if not left_score @ right_score > _ORTHOGONAL * left_norm * right_norm:
            return None  # weights that rounding errors made
        return Component(
            anchor=anchor,
            result=result,
            left_score=left_score / left_norm,
            right_score=right_score / right_norm,
            left_weights=w / left_norm,
            right_weights=e / right_norm,
            converged=result.converged,
        )


def _merit(component: Component) -> float:
    """What the components of several anchors are compared by."""
    return component.correlation


def _merit_by_sample(component: Component) -> float:
    """The same where an anchor is a sample, which both scores were made to fit."""
    return component.correlation_elsewhere


def _oriented(right: DeflatedView, y: np.ndarray) -> OrientedView:
    """The right view with every feature turned to where it goes with the anchor, not against it.

    With free signs the other features would cancel the anchor instead of joining it.
    """
    return OrientedView(right, np.where(right.rmatvec(y) < 0, -1.0, 1.0))
