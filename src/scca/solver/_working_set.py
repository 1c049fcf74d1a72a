"""The fast algorithm: solve the problem on a working set of few coordinates, by their Gram matrix."""

import numpy as np

from ..views import ColumnSelection
from ._certified import Algorithm, Point
from ._problem import ComponentProblem
from ._restricted import solve_restricted

__all__ = ["WorkingSet"]

_FIRST_W = (75, 200)  # coordinates of w added at first: the fewer where few samples keep the support small
_FIRST_E = (8, 32)  # of e: most violate their condition only until w has settled
_SAMPLES_PER_W, _SAMPLES_PER_E = 50, 400
_MARGIN_W = 0.1  # of mu: w that come so close to violating their condition join, as many soon do
_INNER_SHARE = 0.1  # of the tolerance, to which a working set is solved: that costs less than another pass


class WorkingSet(Algorithm):
    """A growing set of coordinates with the Gram matrix of their columns.

    Every round adds the coordinates that violate their optimality condition most and solves the problem restricted to
    the set. The inner solver starts from the exact M'r of the round, so rounding errors of the Gram matrix do not
    accumulate.
    """

    def __init__(self, problem: ComponentProblem, tolerance: float):
        super().__init__(problem, tolerance)
        design = problem.design
        self._w_columns = design.w_view.selection()
        self._e_columns = ColumnSelection(design.e_view)  # few, and multiplied by `w_view` as vectors
        self._indices = np.empty(0, dtype=np.intp)
        self._inside = np.zeros(design.size, dtype=bool)
        self._gram = np.empty((0, 0))
        self._gap_before = np.inf

    def continue_with(self, problem: ComponentProblem) -> None:
        """Continue with other penalties of the same design, whose columns and Gram matrix stay valid."""
        self.problem = problem
        self._gap_before = np.inf

    def improve(self, at: Point) -> tuple[np.ndarray, np.ndarray] | None:
        grown = self._grow(at)
        if not grown and at.gap >= self._gap_before:
            return None  # nothing to add, and no progress
        self._gap_before = np.inf if grown else at.gap
        return self._solve(at, _INNER_SHARE * self.tolerance)

    def _grow(self, at: Point) -> bool:
        """Add the support of z and the coordinates that violate optimality most, or nearly do."""
        n, n_w = len(at.r), self.problem.design.n_w
        active = at.z != 0.0
        candidates = at.excess > 0.0
        candidates[:n_w] = at.excess[:n_w] > -_MARGIN_W * self.problem.mu
        candidates &= ~(self._inside | active)
        w_room = max(_between(_FIRST_W, n // _SAMPLES_PER_W), int(active.sum()))
        e_room = max(_between(_FIRST_E, n // _SAMPLES_PER_E), 2 * int(active[n_w:].sum()))
        new = np.concatenate(
            [
                np.flatnonzero(active & ~self._inside),
                _worst(at.excess[:n_w], candidates[:n_w], w_room),
                _worst(at.excess[n_w:], candidates[n_w:], e_room) + n_w,
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
        design, w_columns, e_columns = self.problem.design, self._w_columns, self._e_columns
        is_w = new < design.n_w
        old_w, old_e = len(w_columns), len(e_columns)
        w_columns.add(new[is_w])
        if not is_w.all():
            e_columns.add(new[~is_w] - design.n_w)
            design.n_passes += design.e_view.passes_for_columns
        if not len(e_columns):
            return w_columns.gram(old_w)
        rows = self._indices < design.n_w
        block = np.empty((len(rows), len(new)))
        block[np.ix_(rows, is_w)] = w_columns.gram(old_w)
        block[np.ix_(rows, ~is_w)] = -w_columns.rmatvec(e_columns.columns[:, old_e:])
        block[np.ix_(~rows, is_w)] = -w_columns.rmatvec(e_columns.columns, old_w).T
        block[np.ix_(~rows, ~is_w)] = e_columns.gram(old_e)
        return block

    def _solve(self, at: Point, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """z with the coordinates of the working set at the optimum of the restricted problem, and its r."""
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
        rows = inside < problem.design.n_w
        r = problem.design.y - self._w_columns.matvec(moved[rows])
        if len(self._e_columns):
            r += self._e_columns.matvec(moved[~rows])
        return z, r


def _between(limits: tuple[int, int], value: int) -> int:
    return min(max(value, limits[0]), limits[1])


def _worst(excess: np.ndarray, candidates: np.ndarray, room: int) -> np.ndarray:
    """At most `room` of the candidates, those with the largest excess."""
    found = np.flatnonzero(candidates)
    if len(found) <= room:
        return found
    return np.sort(found[np.argpartition(-excess[found], room)[:room]])
