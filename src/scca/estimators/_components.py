"""Algorithm 4: one component after another, each on what the ones before it left."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from ..engine import in_this_context, warn
from ..solver import ComponentResult, Penalty, solve_views
from ..views import OrientedView, View
from ._anchors import AnchorStrategy
from ._refinement import refine

__all__ = ["DIRECTIONS", "Components", "Settings", "extract_components"]

_EXHAUSTED = 1e-12  # share of a view's squared norm below which what is left is rounding error
_SHARED_ROUNDS = 50
_SETTLED = 1e-2  # change of a unit score in a round
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
class Choice:
    """One component: its anchor, the solver's answer, and the two training scores scaled to unit norm."""

    anchor: int
    result: ComponentResult
    left_score: np.ndarray
    right_score: np.ndarray
    left_weights: np.ndarray
    right_weights: np.ndarray

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


class Rotations:
    """Deflated directions U and the triangular C with M U = T C; U C^-1 has the orthonormal training scores T."""

    def __init__(self):
        self._directions: list[np.ndarray] = []
        self._coefficients: list[np.ndarray] = []

    def append(self, direction: np.ndarray, coefficients: np.ndarray) -> None:
        self._directions.append(direction)
        self._coefficients.append(coefficients)

    def matrix(self) -> np.ndarray:
        size = len(self._directions)
        C = np.zeros((size, size))
        for j, column in enumerate(self._coefficients):
            C[: j + 1, j] = column
        return solve_triangular(C, np.array(self._directions), trans="T").T


class Components:
    """All components found, and what the deflations of both views come to."""

    def __init__(self):
        self.choices: list[Choice] = []
        self.left = Rotations()
        self.right = Rotations()

    def __len__(self) -> int:
        return len(self.choices)


def extract_components(
    left: View,
    right: View,
    n_components: int,
    anchors: AnchorStrategy,
    settings: Settings,
    level: int = logging.DEBUG,
    progress: Callable[[int, int], None] | None = None,
) -> Components:
    """Up to `n_components` components of two views, which are deflated on the way; fewer if a view is exhausted."""
    found = Components()
    extraction = _Extraction(left, right, settings)
    while len(found) < n_components and min(left.remaining, right.remaining) > _EXHAUSTED:
        choice = extraction.next(anchors)
        if choice is None:
            break
        left_direction, right_direction = DIRECTIONS[settings.directions](left, right, choice)
        left_column, right_column = left.deflate(left_direction), right.deflate(right_direction)
        if left_column is None or right_column is None:
            break
        found.choices.append(choice)
        found.left.append(left_direction, left_column)
        found.right.append(right_direction, right_column)
        if progress is not None:
            progress(len(found), n_components)
        result = choice.result
        logger.log(
            level,
            "component %d: anchor %d, %d and %d weights, correlation %.4f, gap %.1e, %d passes",
            *(len(found), choice.anchor, np.count_nonzero(result.w), np.count_nonzero(choice.right_weights)),
            *(choice.correlation, result.dual_gap, result.n_passes),
        )
    if not len(found):
        raise NothingSharedError(
            "X and Y have nothing in common: no feature is correlated with any anchor; check the pairing."
        )
    if len(found) < n_components:
        warn(
            f"the views are exhausted after {len(found)} of n_components={n_components} components: nothing they share "
            f"is left; set n_components={len(found)}.",
            ConvergenceWarning,
        )
    return found


def _smooth(left: View, right: View, choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """The paper's: each score taken back to its own view once more, u = X_j'X_j w and b = K_j e."""
    return left.direction(choice.left_score), right.direction(choice.right_score)


def _sparse(left: View, right: View, choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """How the coordinates that have a weight vary with the other view's score; nothing of the others.

    The weights themselves are those of a regression, which divides what correlated features share among them by chance;
    covariances do not.
    """
    left_direction, right_direction = left.direction(choice.right_score), right.direction(choice.left_score)
    return (
        np.where(choice.left_weights != 0, left_direction, 0.0),
        np.where(choice.right_weights != 0, right_direction, 0.0),
    )


def _shared(left: View, right: View, choice: Choice) -> tuple[np.ndarray, np.ndarray]:
    """What the component grows into when each view takes up the other's score, again and again, until it settles.

    A power iteration for the leading pair of directions in the covariance of what is left of the two views: broad, and
    the same from wherever it starts unless two pairs are equally strong.
    """
    score = choice.right_score
    for _ in range(_SHARED_ROUNDS):
        before = score
        score = _unit(right.matvec(right.direction(_unit(left.matvec(left.direction(score))))))
        if np.linalg.norm(score - before) <= _SETTLED:
            break
    return left.direction(score), right.direction(_unit(left.matvec(left.direction(score))))


DIRECTIONS: dict[str, Callable] = {"smooth": _smooth, "sparse": _sparse, "shared": _shared}


def _unit(score: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(score)
    return score / norm if norm > 0 else score


class _Extraction:
    """The search for the next component that is not empty."""

    def __init__(self, left: View, right: View, settings: Settings):
        self.left = left
        self.right = right
        self.settings = settings
        self._largest = 0.0  # squared norm of the largest target seen: what is tiny beside it is rounding error

    def next(self, anchors: AnchorStrategy) -> "Choice | None":
        """The best component of the first candidates that have one; None if the views share nothing more."""
        candidates = anchors.candidates(self.left, self.right)
        empty: list[int] = []
        spare, attempt = None, in_this_context(self._try)
        while group := list(islice(candidates, anchors.compared)):
            n_jobs = self.settings.n_jobs if len(group) > 1 else 1
            trials = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(attempt)(anchor) for anchor in group)
            self._largest = max(self._largest, *(square for square, _ in trials))
            visible = {k: choice for k, (square, choice) in zip(group, trials, strict=True) if self._is_visible(square)}
            found = [choice for choice in visible.values() if choice is not None]
            empty += [k for k in group if visible.get(k) is None]
            if found:
                best = max(found, key=self._merit)
                anchors.take(best.anchor, empty)
                return best
            spare = next(iter(visible), None) if spare is None else spare
        held = None if spare is None else self._hold(spare)
        if held is not None:
            anchors.take(held.anchor, empty)
        return held

    def _merit(self, choice: Choice) -> float:
        """What the components of several anchors are compared by."""
        return choice.correlation_elsewhere if self.right.columns_are_samples else choice.correlation

    def _is_visible(self, square: float) -> bool:
        return square > _ORTHOGONAL**2 * self._largest

    def _try(self, anchor: int) -> "tuple[float, Choice | None]":
        """The squared norm of an anchor's target, and its component if that is neither empty nor rounding error."""
        y = self.right.columns(np.array([anchor]))[:, 0]
        square = float(y @ y)
        if not self._is_visible(square):
            return square, None
        return square, self._solve(anchor, y, self.settings.mu, self.settings.gamma)

    def _hold(self, anchor: int) -> "Choice | None":
        """The component with e held at its anchor and, if even that is empty, half the largest mu with a weight."""
        y = self.right.columns(np.array([anchor]))[:, 0]
        held = Penalty(value=np.inf)
        choice = self._solve(anchor, y, self.settings.mu, held)
        if choice is None:
            pull = 2.0 * float(np.abs(self.left.rmatvec(y)).max())
            choice = self._solve(anchor, y, Penalty(value=0.5 * pull), held) if pull > 0 else None
        if choice is not None:
            warn(
                f"every anchor left gives an empty component; one is made with e held at anchor {anchor} and "
                f"mu={choice.result.mu:.3g}: lower mu or raise gamma to choose otherwise.",
                EmptyComponentWarning,
            )
        return choice

    def _solve(self, anchor: int, y: np.ndarray, mu: Penalty, gamma: Penalty) -> "Choice | None":
        settings = self.settings
        right = self._oriented(y) if settings.oriented else self.right
        result = solve_views(self.left, right, anchor, y, mu=mu, gamma=gamma, **settings.effort)
        if not result.w.any():
            return None
        if isinstance(right, OrientedView):
            result = replace(result, e=right.signs * np.asarray(result.e))
        if settings.refine and np.isfinite(result.gamma):
            result = refine(self.left, self.right, result, **settings.effort) or result
        w, e = result.w, np.asarray(result.e)
        left_score, right_score = self.left.matvec(w), self.right.matvec(e)
        left_norm, right_norm = np.linalg.norm(left_score), np.linalg.norm(right_score)
        if not left_score @ right_score > _ORTHOGONAL * left_norm * right_norm:
            return None  # weights that rounding errors made
        return Choice(anchor, result, left_score / left_norm, right_score / right_norm, w / left_norm, e / right_norm)

    def _oriented(self, y: np.ndarray) -> OrientedView:
        """The right view with every feature turned to where it goes with the anchor, not against it.

        With free signs the other features would cancel the anchor instead of joining it.
        """
        return OrientedView(self.right, np.where(self.right.rmatvec(y) < 0, -1.0, 1.0))
