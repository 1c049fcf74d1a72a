"""Algorithm 4: one component after another, each from what the previous ones left of the views."""

import logging
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._checks import EmptyComponentWarning, NothingSharedError, Penalty, warn
from .._wording import any_setting, setting
from ..progress import from_checkpoint, report
from ..solver import ComponentResult, solve_views
from ..views import View
from ._anchors import AnchorStrategy
from ._deflation import DeflatedView, Deflation
from ._signed import SignedView

__all__ = ["Component", "Extraction", "AnchoredSettings", "extract_components"]

_EXHAUSTED_VIEW = 1e-12  # share of a view's squared norm below which the rest is rounding error
_ORTHOGONAL = 1e-10  # cosine below which an anchor has nothing in common with the other view

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class AnchoredSettings:
    """How samples are read, and how each component's problem is solved."""

    mu: Penalty
    gamma: Penalty
    tol: float
    max_iter: int
    algorithm: str
    signed: bool = False  # the e view has features, whose signs are arbitrary
    reading: Any = None
    n_components: int = 0

    @property
    def effort(self) -> dict[str, Any]:
        """The solver's settings, as keyword arguments."""
        return {"tol": self.tol, "max_iter": self.max_iter, "algorithm": self.algorithm}


@dataclass(frozen=True)
class Component:
    """One component: its anchor, the solver's result, and weights scaled so that training scores have unit norm."""

    anchor: int
    result: ComponentResult
    w_score: np.ndarray
    e_score: np.ndarray
    w_weights: np.ndarray
    e_weights: np.ndarray
    converged: bool

    @property
    def correlation(self) -> float:
        """The cosine of the two scores, the paper's rho."""
        return float(self.w_score @ self.e_score)


@dataclass(frozen=True)
class Extraction:
    """All components found, and the deflation of each view."""

    components: list[Component]
    w_deflation: Deflation
    e_deflation: Deflation

    def __len__(self) -> int:
        return len(self.components)


def extract_components(
    w_view: View,
    e_view: View,
    n_components: int,
    anchors: AnchorStrategy,
    settings: AnchoredSettings,
) -> Extraction:
    """Up to `n_components` components of two views, each from what the previous ones left; fewer if one is exhausted.

    `w_view` has the weights w of the problem, `e_view` the anchored weights e.
    """
    found: list[Component] = []
    search = _Search(anchors, settings)
    w_rest, e_rest = DeflatedView(w_view), DeflatedView(e_view)
    while len(found) < n_components and min(w_rest.remaining, e_rest.remaining) > _EXHAUSTED_VIEW:
        component = search.next(w_rest, e_rest)
        if component is None:
            break
        # each score is mapped back to its own view: u = X_j'X_j w and b = K_j e
        w_next = w_rest.deflated(w_rest.direction(component.w_score))
        e_next = e_rest.deflated(e_rest.direction(component.e_score))
        if w_next is None or e_next is None:
            break
        w_rest, e_rest = w_next, e_next
        found.append(component)
        _log(found)
        report("components", len(found), n_components)
    if not found:
        raise NothingSharedError(
            "X and Y have nothing in common: no feature is correlated with any anchor; check the pairing."
        )
    _warn_of_shortcomings(found, n_components)
    return Extraction(found, w_rest.deflation, e_rest.deflation)


def _log(found: list[Component]) -> None:
    component = found[-1]
    logger.info(
        "component %d: anchor %d, %d and %d weights, correlation %.4f, gap %.1e, %d passes",
        *(len(found), component.anchor),
        *(np.count_nonzero(weights) for weights in (component.w_weights, component.e_weights)),
        *(component.correlation, component.result.dual_gap, component.result.n_passes),
    )


def _warn_of_shortcomings(found: list[Component], n_components: int) -> None:
    if len(found) < n_components:
        warn(
            f"the views are exhausted after {len(found)} of {setting('n_components', n_components)} components: "
            f"nothing they share is left; set {setting('n_components', len(found))}.",
            ConvergenceWarning,
        )
    short = [component for component in found if not component.converged]
    if short:
        warn(
            f"{len(short)} of {len(found)} components did not converge; raise {any_setting('max_iter', 'tol', 'mu')}.",
            ConvergenceWarning,
        )


class _Search:
    """Searches for the next component that is not empty."""

    def __init__(self, anchors: AnchorStrategy, settings: AnchoredSettings):
        self._anchors = anchors
        self._settings = settings
        self._n_solved = 0
        self._largest = 0.0  # largest squared norm of a target so far: one that is tiny in comparison is rounding error

    def next(self, w_view: DeflatedView, e_view: DeflatedView) -> Component | None:
        """The component of the first candidate that has one, or the best of several; None if nothing more is shared."""
        empty: list[int] = []
        fallback, found = None, []
        for anchor in self._anchors.candidates(w_view, e_view):
            y = e_view.columns(np.array([anchor]))[:, 0]
            square = float(y @ y)
            self._largest = max(self._largest, square)
            component = None
            if self._is_visible(square):
                component = self._solve(w_view, e_view, anchor, y, self._settings.mu, self._settings.gamma)
                fallback = anchor if fallback is None else fallback
            if component is None:
                empty.append(anchor)
            else:
                found.append(component)
                if len(found) == self._anchors.compared:
                    break
        best = min(found, key=lambda component: component.result.objective, default=None)
        if best is None and fallback is not None:
            best = self._component_with_fixed_e(w_view, e_view, fallback)
        if best is not None:
            self._anchors.take(best.anchor, empty)
        return best

    def _is_visible(self, square: float) -> bool:
        return square > _ORTHOGONAL**2 * self._largest

    def _component_with_fixed_e(self, w_view: DeflatedView, e_view: DeflatedView, anchor: int) -> Component | None:
        """The component with e fixed at its anchor; if that is empty, with half the largest mu that gives a weight."""
        y = e_view.columns(np.array([anchor]))[:, 0]
        held = Penalty(value=np.inf)
        component = self._solve(w_view, e_view, anchor, y, self._settings.mu, held)
        if component is None:
            largest = 2.0 * float(np.abs(w_view.rmatvec(y)).max())
            half = Penalty(value=0.5 * largest)
            component = self._solve(w_view, e_view, anchor, y, half, held) if largest > 0 else None
        if component is not None:
            warn(
                f"every remaining anchor gives an empty component; one is made with "
                f"{setting('mu', float(f'{component.result.mu:.3g}'))}: lower {setting('mu')} or raise "
                f"{setting('gamma')} to avoid this.",
                EmptyComponentWarning,
            )
        return component

    def _solve(
        self, w_view: DeflatedView, e_view: DeflatedView, anchor: int, y: np.ndarray, mu: Penalty, gamma: Penalty
    ) -> Component | None:
        settings = self._settings
        anchored = _signed(e_view, y) if settings.signed else e_view
        self._n_solved += 1
        result = from_checkpoint(
            f"problem {self._n_solved}",
            partial(solve_views, w_view, anchored, anchor, y, mu=mu, gamma=gamma, **settings.effort),
            ComponentResult.arrays,
            ComponentResult.of_arrays,
        )
        if not result.w.any():
            return None
        if isinstance(anchored, SignedView):
            result = replace(result, e=anchored.signs * np.asarray(result.e))
        w, e = result.w, np.asarray(result.e)
        w_score, e_score = w_view.matvec(w), e_view.matvec(e)
        w_norm, e_norm = np.linalg.norm(w_score), np.linalg.norm(e_score)
        if not w_score @ e_score > _ORTHOGONAL * w_norm * e_norm:
            return None  # all weights are rounding error
        return Component(
            anchor=anchor,
            result=result,
            w_score=w_score / w_norm,
            e_score=e_score / e_norm,
            w_weights=w / w_norm,
            e_weights=e / e_norm,
            converged=result.converged,
        )


def _signed(e_view: DeflatedView, y: np.ndarray) -> SignedView:
    """The e view with the sign of every feature chosen so that it correlates positively with the anchor.

    With free signs the other features would cancel the anchor instead of supporting it.
    """
    return SignedView(e_view, np.where(e_view.rmatvec(y) < 0, -1.0, 1.0))
