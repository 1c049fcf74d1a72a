"""The fast algorithm: solve the problem on the few coordinates that matter, on their Gram matrix."""

import numpy as np

from ..views import ColumnSelection
from ._certified import Algorithm, Point
from ._problem import ComponentProblem
from ._restricted import solve_restricted

__all__ = ["WorkingSet"]

_FIRST_LEFT = 75  # features to take in at first
_FIRST_RIGHT = 8  # samples: their columns can be dear, most break their condition only until w has settled
_INNER_SHARE = 0.1  # share of the gap at hand to which a working set is solved before it grows


class WorkingSet(Algorithm):
    """A growing set of coordinates with the Gram matrix of their columns.

    Every round takes in the coordinates that pull hardest against their penalty and solves the problem restricted to
    the set. The inner solver starts from the exact M'r of the round, so rounding errors of the Gram matrix do not build
    up.
    """

    def __init__(self, problem: ComponentProblem, tolerance: float):
        super().__init__(problem, tolerance)
        design = problem.design
        self._left = design.left.selection()
        self._right = ColumnSelection(design.right)  # few, and multiplied by the left view as vectors
        self._indices = np.empty(0, dtype=np.intp)
        self._inside = np.zeros(design.size, dtype=bool)
        self._gram = np.empty((0, 0))
        self._gap_before = np.inf

    def turn_to(self, problem: ComponentProblem) -> None:
        """Go on with other penalties of the same design: its columns and their Gram matrix stay good."""
        self.problem = problem
        self._gap_before = np.inf

    def improve(self, at: Point) -> tuple[np.ndarray, np.ndarray] | None:
        grown = self._grow(at)
        if not grown and at.gap >= self._gap_before:
            return None  # nothing to add and nothing gained
        self._gap_before = np.inf if grown else at.gap
        return self._solve(at, _INNER_SHARE * max(self.tolerance, at.gap if grown else 0.0))

    def _grow(self, at: Point) -> bool:
        """Add what z uses, and of the coordinates that break their optimality condition the worst, as many again."""
        active = at.z != 0.0
        broken = (at.excess > 0.0) & ~self._inside & ~active
        n_left = self.problem.design.n_left
        new = np.concatenate(
            [
                np.flatnonzero(active & ~self._inside),
                _worst(at.excess, broken, slice(None, n_left), max(_FIRST_LEFT, int(active.sum()))),
                _worst(at.excess, broken, slice(n_left, None), max(_FIRST_RIGHT, int(active[n_left:].sum()))),
            ]
        )
        if len(new):
            self._add(new)
        return len(new) > 0

    def _add(self, new: np.ndarray) -> None:
        before, size = len(self._indices), len(self._indices) + len(new)
        self._indices = np.concatenate([self._indices, new])
        self._inside[new] = True
        if size > len(self._gram):
            capacity = size + size // 2
            larger = np.empty((capacity, capacity))
            larger[:before, :before] = self._gram[:before, :before]
            self._gram = larger
        block = self._gram_with(new)
        self._gram[:size, before:size] = block
        self._gram[before:size, :before] = block[:before].T

    def _gram_with(self, new: np.ndarray) -> np.ndarray:
        """M_S'M_N for the new coordinates N, which join the set S; M = [A, -B]."""
        design, left, right = self.problem.design, self._left, self._right
        from_left = new < design.n_left
        old_left, old_right = len(left), len(right)
        left.add(new[from_left])
        right.add(new[~from_left] - design.n_left)
        design.n_passes += design.right.passes_per_column * (len(right) - old_right)
        rows = self._indices < design.n_left
        block = np.empty((len(rows), len(new)))
        block[np.ix_(rows, from_left)] = left.gram(old_left)
        if len(right):
            block[np.ix_(rows, ~from_left)] = -left.rmatvec(right.columns[:, old_right:])
            block[np.ix_(~rows, from_left)] = -left.rmatvec(right.columns, old_left).T
            block[np.ix_(~rows, ~from_left)] = right.gram(old_right)
        return block

    def _solve(self, at: Point, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """z with the coordinates of the set moved to the optimum of the problem restricted to them, and its r."""
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
        rows = inside < problem.design.n_left
        return z, problem.design.y - self._left.matvec(moved[rows]) + self._right.matvec(moved[~rows])


def _worst(excess: np.ndarray, broken: np.ndarray, part: slice, room: int) -> np.ndarray:
    """At most `room` of the broken coordinates of a part of z, those with the largest excess."""
    candidates = np.flatnonzero(broken[part]) + (part.start or 0)
    if len(candidates) <= room:
        return candidates
    return np.sort(candidates[np.argpartition(-excess[candidates], room)[:room]])
