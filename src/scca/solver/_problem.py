"""The convex problem of one component, its objective and its dual certificate."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..views import View

__all__ = ["Certificate", "ComponentProblem", "Design"]


class Design:
    """The least squares part: a target y, the anchored column of B, and M = [A, -B], which has to explain it.

    A and B are the two views (the paper's X', samples being its columns, and K). Its coordinates are
    z = (w, e without its anchor), and the residual is r = y - M z = B e - A w. A `right` view without columns leaves
    only w to be sought.
    """

    def __init__(self, left: View, right: View, y: np.ndarray, anchor: int | None):
        self.left = left
        self.right = right
        self.y = y
        self.anchor = anchor
        self.n_left = left.shape[1]
        self.n_right = right.shape[1]
        self.size = self.n_left + self.n_right
        self.n_passes = 0

    def split(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parts of z, or of M'r, that belong to the left and to the right view."""
        return z[: self.n_left], z[self.n_left :]

    def residual(self, z: np.ndarray) -> np.ndarray:
        """r at any z, from whole products."""
        w, e = self.split(z)
        r = self.y.copy()
        if w.any():
            r -= self.left.matvec(w)
            self.n_passes += 1
        if e.any():
            r += self.right.matvec(e)
            self.n_passes += 1
        return r

    def correlations(self, r: np.ndarray) -> np.ndarray:
        """M'r: one pass over each view."""
        self.n_passes += 2 if self.n_right else 1
        return np.concatenate([self.left.rmatvec(r), -self.right.rmatvec(r)])

    @cached_property
    def square(self) -> float:
        """||y||^2, which tolerances are relative to."""
        return float(self.y @ self.y)

    @cached_property
    def correlations_of_y(self) -> np.ndarray:
        """M'y: what the automatic penalties and the first round of a cold start are computed from."""
        return self.correlations(self.y)


@dataclass(frozen=True)
class Certificate:
    """A primal value, a lower bound on the optimum, and how much harder than its penalty each coordinate pulls."""

    objective: float
    bound: float
    excess: np.ndarray


class ComponentProblem:
    """min over w, e of  ||A w - B e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,   0 <= e <= 1,  e_k = 1.

    With z = (w, e without its anchor) this is a lasso,

        min over z of  ||y - M z||^2 + sum_i penalties_i |z_i|,   lower <= z <= upper.

    Its dual is, for any v with |A'v| <= mu,

        D(v) = v'y - ||v||^2 / 4 + sum_{i != k} min(0, gamma + (B'v)_i)  <=  optimum,

    and v = 2 r min(1, mu / |2 A'r|_inf) is always feasible: the box on e keeps its part finite. mu = 0 stands for a
    view A that is orthogonal to y, where the automatic rule has nothing to go by: w is then held at 0.
    """

    def __init__(self, design: Design, mu: float, gamma: float):
        self.design = design
        self.mu = mu
        self.gamma = gamma
        self.penalties = np.full(design.size, mu, dtype=np.float64)
        self.lower = np.full(design.size, -np.inf if mu > 0 else 0.0)
        self.upper = np.full(design.size, np.inf if mu > 0 else 0.0)
        self.penalties[design.n_left :] = gamma
        self.lower[design.n_left :] = 0.0
        self.upper[design.n_left :] = 1.0
        if design.n_right:
            design.split(self.upper)[1][design.anchor] = 0.0  # its column is y

    def coordinates(self, w: np.ndarray | None, e: np.ndarray | None) -> np.ndarray:
        """z for a starting point, brought inside the bounds; zero for one with more weights than an answer can need."""
        z = np.zeros(self.design.size)
        left, right = self.design.split(z)
        if w is not None:
            left[:] = w
        if e is not None and self.design.n_right:
            right[:] = e
        z = np.clip(z, self.lower, self.upper)
        return z if np.count_nonzero(z) <= 2 * len(self.design.y) else np.zeros_like(z)

    def correlations(self, z: np.ndarray, r: np.ndarray) -> np.ndarray:
        """M'r at z, remembered where z is zero."""
        return self.design.correlations(r) if z.any() else self.design.correlations_of_y

    def certificate(self, z: np.ndarray, r: np.ndarray, correlations: np.ndarray) -> Certificate:
        """Objective and lower bound at z, given r = y - M z and M'r."""
        square = float(r @ r)
        objective = square + float(self.penalties @ np.abs(z))
        w_pull, e_pull = self.design.split(2.0 * correlations)
        shrink = 1.0
        if self.mu > 0:
            shrink = self.mu / max(self.mu, float(np.abs(w_pull).max()))
        bound = 2.0 * shrink * float(r @ self.design.y) - shrink**2 * square
        slack = self.gamma - shrink * e_pull  # gamma + B'v; M holds -B
        excess = np.concatenate([np.abs(w_pull), e_pull]) - self.penalties
        if self.design.n_right:
            slack[self.design.anchor] = 0.0
            bound += float(np.minimum(slack, 0.0).sum())
        return Certificate(objective, bound, np.where(self.upper > 0, excess, -np.inf))
