"""The fast algorithm: solve the problem on the few coordinates that matter, on their Gram matrix."""

import numpy as np

from ._certified import Algorithm, Point
from ._restricted import solve_restricted

__all__ = ["WorkingSet"]

_FIRST_COORDINATES = 100
_INNER_SHARE = 0.1  # share of the gap at hand to which a working set is solved before it grows


class WorkingSet(Algorithm):
    """A growing set of coordinates with the Gram matrix of their columns.

    Every round takes in the coordinates that pull hardest against their penalty and solves the problem restricted to
    the set. The inner solver starts from the exact M'r of the round, so rounding errors of the Gram matrix do not build
    up.
    """

    def __init__(self, problem, tolerance):
        super().__init__(problem, tolerance)
        self._indices = np.empty(0, dtype=np.intp)
        self._inside = np.zeros(problem.design.size, dtype=bool)
        self._gram = np.empty((0, 0))
        self._gap_before = np.inf

    def improve(self, at: Point):
        grown = self._grow(at)
        if not grown and at.gap >= self._gap_before:
            return None  # nothing to add and nothing gained
        self._gap_before = np.inf if grown else at.gap
        return self._solve(at, _INNER_SHARE * max(self.tolerance, at.gap if grown else 0.0))

    def _grow(self, at: Point) -> bool:
        """Add what z uses, and of the coordinates that break their optimality condition the worst, as many again."""
        active = at.z != 0.0
        candidates = np.flatnonzero((at.excess > 0.0) & ~self._inside & ~active)
        room = max(_FIRST_COORDINATES, int(active.sum()))
        if len(candidates) > room:
            candidates = candidates[np.argpartition(-at.excess[candidates], room)[:room]]
        new = np.union1d(candidates, np.flatnonzero(active & ~self._inside))
        if len(new):
            self._add(new)
        return len(new) > 0

    def _add(self, new: np.ndarray) -> None:
        before, size = len(self._indices), len(self._indices) + len(new)
        self._indices = np.concatenate([self._indices, new])
        self._inside[new] = True
        if size > len(self._gram):
            larger = np.empty((2 * size, 2 * size))
            larger[:before, :before] = self._gram[:before, :before]
            self._gram = larger
        block = self.problem.design.gram(self._indices, new)
        self._gram[:size, before:size] = block
        self._gram[before:size, :before] = block[:before].T

    def _solve(self, at: Point, tolerance: float) -> np.ndarray:
        """z with the coordinates of the set moved to the optimum of the problem restricted to them."""
        inside, problem = self._indices, self.problem
        moved = at.z[inside]
        solve_restricted(
            self._gram,
            moved,
            at.correlations[inside],
            problem.penalties[inside],
            problem.lower[inside],
            problem.upper[inside],
            float(at.r @ at.r),
            tolerance,
        )
        z = at.z.copy()
        z[inside] = moved
        return z
