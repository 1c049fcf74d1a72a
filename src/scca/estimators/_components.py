"""Algorithm 4: one component after another, each on what the ones before it left."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._wording import called, either
from ..engine import warn
from ..solver import ComponentResult, Penalty, solve_views
from ..views import DeflatedView, Deflation, OrientedView, View
from ._anchors import AnchorStrategy

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

    @property
    def effort(self) -> dict[str, Any]:
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
        # each score is taken back to its own view once more: u = X_j'X_j w and b = K_j e
        left_rest = left.deflated(left.direction(component.left_score))
        right_rest = right.deflated(right.direction(component.right_score))
        if left_rest is None or right_rest is None:
            break
        left, right = left_rest, right_rest
        found.append(component)
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
            f"the views are exhausted after {len(found)} of {called('n_components', n_components)} components: nothing "
            f"they share is left; set {called('n_components', len(found))}.",
            ConvergenceWarning,
        )
    short = [component for component in found if not component.converged]
    if short:
        warn(
            f"{len(short)} of {len(found)} components did not converge; raise {either('max_iter', 'tol', 'mu')}.",
            ConvergenceWarning,
        )


class _Search:
    """The search for the next component that is not empty."""

    def __init__(self, anchors: AnchorStrategy, settings: Settings):
        self._anchors = anchors
        self._settings = settings
        self._largest = 0.0  # squared norm of the largest target seen: what is tiny beside it is rounding error

    def next(self, left: DeflatedView, right: DeflatedView) -> Component | None:
        """The component of the first candidate that has one; None if the views share nothing more."""
        empty: list[int] = []
        fallback = None
        for anchor in self._anchors.candidates(left, right):
            y = right.columns(np.array([anchor]))[:, 0]
            square = float(y @ y)
            self._largest = max(self._largest, square)
            if self._is_visible(square):
                found = self._solve(left, right, anchor, y, self._settings.mu, self._settings.gamma)
                if found is not None:
                    self._anchors.take(anchor, empty)
                    return found
                fallback = anchor if fallback is None else fallback
            empty.append(anchor)
        held = None if fallback is None else self._hold(left, right, fallback)
        if held is not None:
            self._anchors.take(held.anchor, empty)
        return held

    def _is_visible(self, square: float) -> bool:
        return square > _ORTHOGONAL**2 * self._largest

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
                f"every anchor left gives an empty component; one is made with "
                f"{called('mu', float(f'{component.result.mu:.3g}'))}: lower {called('mu')} or raise "
                f"{called('gamma')} to choose otherwise.",
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


def _oriented(right: DeflatedView, y: np.ndarray) -> OrientedView:
    """The right view with every feature turned to where it goes with the anchor, not against it.

    With free signs the other features would cancel the anchor instead of joining it.
    """
    return OrientedView(right, np.where(right.rmatvec(y) < 0, -1.0, 1.0))
