"""The convex problem of one component, its objective and its dual certificate."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._compile import compiled
from ..views import View

__all__ = ["Certificate", "ComponentProblem", "Design"]


class Design:
    """The least squares part: a target y, the anchored column of B, and M = [A, -B], which has to explain it.

    `w_view` is A, whose columns have the weights w (the paper's X', which has samples as columns); `e_view` is B, whose
    columns have the weights e (its K). The coordinates are z = (w, e without its anchor), and the residual is
    r = y - M z = B e - A w. If `e_view` has no columns, only w is solved for.
    """

    def __init__(self, w_view: View, e_view: View, y: np.ndarray, anchor: int | None):
        self.w_view = w_view
        self.e_view = e_view
        self.y = y
        self.anchor = anchor
        self.n_w = w_view.shape[1]
        self.n_e = e_view.shape[1]
        self.size = self.n_w + self.n_e
        self.n_passes = 0

    def split(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parts of z, or of M'r, that belong to w and to e."""
        return z[: self.n_w], z[self.n_w :]

    def residual(self, z: np.ndarray) -> np.ndarray:
        """r = y - M z, computed from z."""
        w, e = self.split(z)
        r = self.y.copy()
        if w.any():
            r -= self.w_view.matvec(w)
            self.n_passes += 1
        if e.any():
            r += self.e_view.matvec(e)
            self.n_passes += 1
        return r

    def correlations(self, r: np.ndarray) -> np.ndarray:
        """M'r: one pass over each view."""
        self.n_passes += 1
        of_w = self.w_view.rmatvec(r)
        if not self.n_e:
            return of_w
        self.n_passes += 1
        return np.concatenate([of_w, -self.e_view.rmatvec(r)])

    @cached_property
    def square(self) -> float:
        """||y||^2, to which tolerances are relative."""
        return float(self.y @ self.y)

    @cached_property
    def correlations_of_y(self) -> np.ndarray:
        """M'y, from which the automatic penalties and the first round from z = 0 are computed; at most once."""
        return self.correlations(self.y)


@dataclass(frozen=True)
class Certificate:
    """A primal value, a lower bound on the optimum, and each coordinate's `excess`.

    The excess is |2 M'r| - penalty for w and 2 M'r - penalty for e: where z is zero, optimality requires excess <= 0.
    """

    objective: float
    bound: float
    excess: np.ndarray


class ComponentProblem:
    """min over w, e of  ||A w - B e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,   0 <= e <= 1,  e_k = 1.

    With z = (w, e without its anchor) this is a lasso,

        min over z of  ||y - M z||^2 + sum_i penalties_i |z_i|,   lower <= z <= upper.

    Its dual is, for any v with |A'v| <= mu,

        D(v) = v'y - ||v||^2 / 4 + sum_{i != k} min(0, gamma + (B'v)_i)  <=  optimum,

    and v = 2 r min(1, mu / |2 A'r|_inf) is always feasible: the box on e keeps its part finite. mu = 0 means that A is
    orthogonal to y, so that the automatic rule gives 0: w is then fixed at 0.
    """

    def __init__(self, design: Design, mu: float, gamma: float):
        self.design = design
        self.mu = mu
        self.gamma = gamma
        self.penalties = np.full(design.size, mu, dtype=np.float64)
        self.lower = np.full(design.size, -np.inf if mu > 0 else 0.0)
        self.upper = np.full(design.size, np.inf if mu > 0 else 0.0)
        self.penalties[design.n_w :] = gamma
        self.lower[design.n_w :] = 0.0
        self.upper[design.n_w :] = 1.0
        if design.n_e:
            design.split(self.upper)[1][design.anchor] = 0.0  # the column of the anchor is y

    def coordinates(self, w: np.ndarray | None, e: np.ndarray | None) -> np.ndarray:
        """z of a starting point, clipped to the bounds; zero if that has more weights than a solution can need."""
        z = np.zeros(self.design.size)
        if w is None and e is None:
            return z
        w_part, e_part = self.design.split(z)
        if w is not None:
            w_part[:] = w
        if e is not None and self.design.n_e:
            e_part[:] = e
        z = np.clip(z, self.lower, self.upper)
        return z if np.count_nonzero(z) <= 2 * len(self.design.y) else np.zeros_like(z)

    def correlations(self, z: np.ndarray, r: np.ndarray) -> np.ndarray:
        """M'r at z; cached for z = 0."""
        return self.design.correlations(r) if z.any() else self.design.correlations_of_y

    def certificate(self, z: np.ndarray, r: np.ndarray, correlations: np.ndarray) -> Certificate:
        """Objective and lower bound at z, given r = y - M z and M'r."""
        square = float(r @ r)
        excess, paid, shrink, slack = _coordinates_of_certificate(
            z, correlations, self.penalties, self.upper, self.design.n_w
        )
        bound = 2.0 * shrink * float(r @ self.design.y) - shrink**2 * square + slack
        return Certificate(square + paid, bound, excess)


@compiled
def _coordinates_of_certificate(
    z: np.ndarray, correlations: np.ndarray, penalties: np.ndarray, upper: np.ndarray, n_w: int
) -> Any:
    """Each coordinate's excess, sum penalties_i |z_i|, min(1, mu / |2 A'r|_inf), and sum_{i != k} min(0, gamma + B'v).

    One loop over the coordinates, since small NumPy calls would take as long as the rest of a small problem's round.
    """
    excess = np.empty(len(z))
    paid, largest = 0.0, 0.0
    for i in range(n_w):
        size = 2.0 * abs(correlations[i])
        largest = max(largest, size)
        paid += penalties[i] * abs(z[i])
        excess[i] = size - penalties[i] if upper[i] > 0.0 else -np.inf
    shrink = 1.0
    if n_w and penalties[0] > 0.0 and largest > penalties[0]:
        shrink = penalties[0] / largest
    slack = 0.0
    for i in range(n_w, len(z)):
        excess[i] = -np.inf
        if upper[i] > 0.0:
            paid += penalties[i] * z[i]
            excess[i] = 2.0 * correlations[i] - penalties[i]
            slack += min(0.0, penalties[i] - 2.0 * shrink * correlations[i])  # M holds -B
    return excess, paid, shrink, slack
