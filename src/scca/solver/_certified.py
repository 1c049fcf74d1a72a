"""The loop that both algorithms run in: improve, check every coordinate, stop when the certificate allows it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ._problem import ComponentProblem

__all__ = ["Algorithm", "Outcome", "Point", "solve_certified"]


@dataclass(frozen=True)
class Point:
    """Where a round starts: z, r = y - M z, `correlations` M'r, `excess` as in `Certificate`, and the current gap."""

    z: np.ndarray
    r: np.ndarray
    correlations: np.ndarray
    excess: np.ndarray
    gap: float


class Algorithm(ABC):
    """Lowers the objective of a `ComponentProblem` round by round; one object per solve."""

    def __init__(self, problem: ComponentProblem, tolerance: float):
        self.problem = problem
        self.tolerance = tolerance

    @abstractmethod
    def improve(self, at: Point) -> tuple[np.ndarray, np.ndarray] | None:
        """A better z and its r, recomputed from z; None if rounding error prevents any improvement."""


@dataclass(frozen=True)
class Outcome:
    """Where a solver stopped: z, its residual r and `correlations` M'r."""

    z: np.ndarray
    r: np.ndarray
    correlations: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def solve_certified(algorithm: Algorithm, start: np.ndarray | Outcome, max_iter: int) -> Outcome:
    """Run `algorithm` until the duality gap of its problem is at most its tolerance.

    `start` is a z, or the outcome of another problem with the same design, which saves the products with z.
    """
    problem = algorithm.problem
    bound = -np.inf
    if isinstance(start, Outcome):
        z, r, correlations = start.z, start.r, start.correlations
    else:
        z, r = start, problem.design.residual(start)
        correlations = problem.correlations(z, r)
    for n_iter in range(max_iter + 1):
        certificate = problem.certificate(z, r, correlations)
        bound = max(bound, certificate.bound)  # every bound holds for all z: keep the best
        gap = certificate.objective - bound
        if gap <= algorithm.tolerance or n_iter == max_iter or not np.isfinite(gap):
            break
        better = algorithm.improve(Point(z, r, correlations, certificate.excess, gap))
        if better is None:
            break
        z, r = better
        correlations = problem.design.correlations(r)
    return Outcome(z, r, correlations, certificate.objective, gap, n_iter, bool(gap <= algorithm.tolerance))
