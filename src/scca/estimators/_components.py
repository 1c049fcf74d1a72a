"""Algorithm 4: one component after another, each on what the ones before it left."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from ..solver import ComponentResult, Penalty, solve_views
from ..views import View
from ._anchors import AnchorStrategy

__all__ = ["Components", "Settings", "extract_components"]

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
        left_direction, right_direction = left.direction(choice.left_score), right.direction(choice.right_score)
        left_column, right_column = left.deflate(left_direction), right.deflate(right_direction)
        if left_column is None or right_column is None:
            break
        anchors.take(choice.anchor)
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
        warnings.warn(
            f"the views are exhausted after {len(found)} of n_components={n_components} components: nothing they share "
            f"is left; set n_components={len(found)}.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found


class _Extraction:
    """The search for the next component that is not empty."""

    def __init__(self, left: View, right: View, settings: Settings):
        self.left = left
        self.right = right
        self.settings = settings
        self._largest = 0.0  # squared norm of the largest target seen: what is tiny beside it is rounding error

    def next(self, anchors: AnchorStrategy) -> "Choice | None":
        """The component of the first candidate that has one; None if the views share nothing more."""
        spare = None
        for anchor in anchors.candidates(self.left, self.right):
            y = self.right.columns(np.array([anchor]))[:, 0]
            square = float(y @ y)
            if not square > _ORTHOGONAL**2 * self._largest:
                continue
            self._largest = max(self._largest, square)
            choice = self._solve(anchor, y, self.settings.mu, self.settings.gamma)
            if choice is not None:
                return choice
            spare = anchor if spare is None else spare
        return None if spare is None else self._hold(spare)

    def _hold(self, anchor: int) -> "Choice | None":
        """The component with e held at its anchor and, if even that is empty, half the largest mu with a weight."""
        y = self.right.columns(np.array([anchor]))[:, 0]
        held = Penalty(value=np.inf)
        choice = self._solve(anchor, y, self.settings.mu, held)
        if choice is None:
            pull = 2.0 * float(np.abs(self.left.rmatvec(y)).max())
            choice = self._solve(anchor, y, Penalty(value=0.5 * pull), held) if pull > 0 else None
        if choice is not None:
            warnings.warn(
                f"every anchor left gives an empty component; one is made with e held at anchor {anchor} and "
                f"mu={choice.result.mu:.3g}: lower mu or raise gamma to choose otherwise.",
                EmptyComponentWarning,
                stacklevel=6,
            )
        return choice

    def _solve(self, anchor: int, y: np.ndarray, mu: Penalty, gamma: Penalty) -> "Choice | None":
        settings = self.settings
        result = solve_views(
            self.left,
            self.right,
            anchor,
            y,
            mu=mu,
            gamma=gamma,
            tol=settings.tol,
            max_iter=settings.max_iter,
            algorithm=settings.algorithm,
        )
        if not result.w.any():
            return None
        w, e = result.w, np.asarray(result.e)
        left_score, right_score = self.left.matvec(w), self.right.matvec(e)
        left_norm, right_norm = np.linalg.norm(left_score), np.linalg.norm(right_score)
        if not left_score @ right_score > _ORTHOGONAL * left_norm * right_norm:
            return None  # weights that rounding errors made
        return Choice(anchor, result, left_score / left_norm, right_score / right_norm, w / left_norm, e / right_norm)
