"""The problem that every solver is given, and the one measure of their solutions.

NumPy and SciPy alone, so that a new process can load a problem without loading scca.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Answer", "Lasso", "Problem", "Verdict"]


class Answer(NamedTuple):
    """Weights on the columns of X and, where the problem has a kernel, on the samples."""

    w: np.ndarray
    e: np.ndarray | None


class Verdict(NamedTuple):
    """The objective of a solution, its largest possible distance from the optimum, as a share of ||y||^2, and its size.

    `chosen` is the number of columns of X that have a weight.
    """

    objective: float
    gap: float
    chosen: int


@dataclass(frozen=True)
class Lasso:
    """The same problem as lasso solvers state it: min ||y - design z||^2 / (2n) + alpha sum_i weights_i |z_i|."""

    design: np.ndarray | sp.csc_array
    y: np.ndarray
    alpha: float
    weights: np.ndarray
    positive: bool

    @property
    def is_weighted(self) -> bool:
        return bool((self.weights != 1.0).any())


@dataclass(frozen=True)
class Problem:
    """min over w, e of  ||X w - K e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,   0 <= e <= 1,  e_k = 1.

    Without K: min over w of  ||X w - y||^2 + mu ||w||_1.
    """

    X: np.ndarray | sp.csc_array
    y: np.ndarray
    mu: float
    K: np.ndarray | None = None
    k: int | None = None
    gamma: float = np.inf

    def judge(self, answer: Answer) -> Verdict:
        """Objective P and certified gap (P - D) / ||y||^2 of any solution.

        For any v with |X'v| <= mu,

            D(v) = v'y - ||v||^2 / 4 + sum_{i != k} min(0, gamma + (K'v)_i)

        is a lower bound on the optimum; v = 2 r min(1, mu / |2 X'r|_inf) with the residual r = K e - X w is feasible.
        """
        w, e = answer
        r = (self.y if e is None else self.K @ e) - self.X @ w
        objective = r @ r + self.mu * np.abs(w).sum()
        v = 2.0 * r
        v *= min(1.0, self.mu / np.abs(self.X.T @ v).max())
        bound = v @ self.y - v @ v / 4
        if e is not None:
            in_box = e.min() >= 0.0 and e.max() <= 1.0
            objective += self.gamma * np.delete(e, self.k).sum() if in_box else np.inf
            bound += np.minimum(0.0, self.gamma + np.delete(self.K.T @ v, self.k)).sum()
        gap = (objective - bound) / (self.y @ self.y)
        return Verdict(float(objective), float(gap), int(np.count_nonzero(w)))

    def as_lasso(self) -> Lasso:
        """As it is without K; with K split into positive parts, on the design [X, -X, -K without column k]."""
        if self.K is None:
            design, penalties = self.X, np.full(self.X.shape[1], self.mu)
        else:
            blocks = [self.X, -self.X, -np.delete(self.K, self.k, axis=1)]
            design = sp.hstack(blocks, format="csc") if sp.issparse(self.X) else np.asfortranarray(np.hstack(blocks))
            penalties = np.repeat([self.mu, self.mu, self.gamma], [block.shape[1] for block in blocks])
        least = penalties.min()
        return Lasso(design, self.y, least / (2 * len(self.y)), penalties / least, positive=self.K is not None)

    def answer(self, z: np.ndarray) -> Answer:
        """The answer behind a solution z of `as_lasso`."""
        if self.K is None:
            return Answer(z, None)
        m = self.X.shape[1]
        return Answer(z[:m] - z[m : 2 * m], np.insert(z[2 * m :], self.k, 1.0))
