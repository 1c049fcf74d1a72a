"""The certified solver: coordinate descent on the few coordinates that matter, checked on all of them."""

from dataclasses import dataclass

import numpy as np

from ._problem import ComponentProblem
from ._restricted import solve_restricted

__all__ = ["Outcome", "solve_working_set"]

_FIRST_COORDINATES = 100
_INNER_SHARE = 0.1  # share of the gap at hand to which a working set is solved before it grows


@dataclass(frozen=True)
class Outcome:
    """Where a solver stopped."""

    z: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool


def solve_working_set(problem: ComponentProblem, z: np.ndarray, tolerance: float, max_iter: int) -> Outcome:
    """Solve `problem` from z until its duality gap is at most `tolerance` (absolute).

    Every round looks at all coordinates once (M'r, which also gives the certificate), takes those that pull hardest
    against their penalty into the working set, and solves the problem restricted to it on its Gram matrix. The inner
    solver starts from the exact M'r of the round, so rounding errors of the Gram matrix do not build up.
    """
    working = _WorkingSet(problem, np.flatnonzero(z))
    best_bound = -np.inf
    previous = np.inf
    for n_iter in range(max_iter + 1):
        r = problem.design.residual(z)
        correlations = problem.correlations(z, r)
        certificate = problem.certificate(z, r, correlations)
        best_bound = max(best_bound, certificate.bound)
        gap = certificate.objective - best_bound
        if gap <= tolerance or n_iter == max_iter or not np.isfinite(gap):
            break
        grown = working.grow(certificate.excess, int(np.count_nonzero(z)))
        if not grown and gap >= previous:
            break  # nothing to add and nothing gained: the rounding error of the data is reached
        previous = gap if not grown else np.inf
        z = working.solve(z, r, correlations, _INNER_SHARE * max(tolerance, gap if grown else 0.0))
    return Outcome(z, certificate.objective, gap, n_iter, bool(gap <= tolerance))


class _WorkingSet:
    """A growing set of coordinates with the Gram matrix of their columns."""

    def __init__(self, problem: ComponentProblem, start: np.ndarray):
        self.problem = problem
        self.indices = np.empty(0, dtype=np.intp)
        self.gram = np.empty((0, 0))
        self._inside = np.zeros(problem.design.size, dtype=bool)
        self._add(start)

    def grow(self, excess: np.ndarray, n_active: int) -> bool:
        """Add the coordinates that break their optimality condition most, as many as are active at the most."""
        candidates = np.flatnonzero((excess > 0.0) & ~self._inside)
        room = max(_FIRST_COORDINATES, n_active)
        if len(candidates) > room:
            candidates = candidates[np.argpartition(-excess[candidates], room)[:room]]
            candidates.sort()
        self._add(candidates)
        return len(candidates) > 0

    def _add(self, new: np.ndarray) -> None:
        old = self.indices
        self.indices = np.concatenate([old, new])
        self._inside[new] = True
        size, before = len(self.indices), len(old)
        if size > len(self.gram):
            larger = np.empty((2 * size, 2 * size))
            larger[:before, :before] = self.gram[:before, :before]
            self.gram = larger
        if len(new):
            block = self.problem.design.gram(self.indices, new)
            self.gram[:size, before:size] = block
            self.gram[before:size, :before] = block[:before].T

    def solve(self, z: np.ndarray, r: np.ndarray, correlations: np.ndarray, tolerance: float) -> np.ndarray:
        """z with the coordinates of the working set moved to the optimum of the problem restricted to them."""
        inside, problem = self.indices, self.problem
        moved = z[inside]
        solve_restricted(
            self.gram,
            moved,
            correlations[inside],
            problem.penalties[inside],
            problem.lower[inside],
            problem.upper[inside],
            float(r @ r),
            tolerance,
        )
        solution = z.copy()
        solution[inside] = moved
        return solution
