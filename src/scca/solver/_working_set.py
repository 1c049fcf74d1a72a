"""The fast algorithm: solve the problem on a working set of few coordinates, by their Gram matrix."""

from typing import Any

import numpy as np

from .._compile import compiled
from ..views import ColumnSelection
from ._certified import Algorithm, Point
from ._problem import ComponentProblem
from ._restricted import solve_restricted

__all__ = ["WorkingSet"]

_FIRST_W = (75, 200)  # coordinates of w added at first: the fewer where few samples keep the support small
_FIRST_E = (8, 32)  # of e: most violate their condition only until w has settled
_SAMPLES_PER_W, _SAMPLES_PER_E = 50, 400
_MARGIN_W = 0.1  # of mu: w that come so close to violating their condition join, as many soon do
_EARLY_SHARE = 0.1  # of the gap, to which a set is solved that violating coordinates had no room in: it will change
_INNER_SHARE = 0.3  # of the tolerance, to which a working set is solved: that costs less than another pass


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
        grown, all_joined = self._grow(at)
        if not grown and at.gap >= self._gap_before:
            return None  # nothing to add, and no progress
        self._gap_before = np.inf if grown else at.gap
        tolerance = _INNER_SHARE * self.tolerance
        return self._solve(at, tolerance if all_joined else max(tolerance, _EARLY_SHARE * at.gap))

    def _grow(self, at: Point) -> tuple[bool, bool]:
        """Add the support of z and the coordinates that violate optimality most, or nearly do.

        Returns whether any were added, and whether all that violate it were.
        """
        n, n_w = len(at.r), self.problem.design.n_w
        active, violating, n_active = _outside(at.z, at.excess, self._inside, n_w, _MARGIN_W * self.problem.mu)
        n_violating_w = int(np.searchsorted(violating, n_w))
        w_room = max(_between(_FIRST_W, n // _SAMPLES_PER_W), sum(n_active))
        e_room = max(_between(_FIRST_E, n // _SAMPLES_PER_E), 2 * n_active[1])
        w_new = _worst(violating[:n_violating_w], at.excess, w_room)
        e_new = _worst(violating[n_violating_w:], at.excess, e_room)
        new = np.concatenate([active, w_new, e_new])
        if len(new):
            self._add(new)
        n_violating = int(np.count_nonzero(at.excess[violating] > 0.0))
        return len(new) > 0, n_violating <= len(w_new) + len(e_new)

    def _add(self, new: np.ndarray) -> None:
        before, size = len(self._indices), len(self._indices) + len(new)
        self._indices = np.concatenate([self._indices, new])
        self._inside[new] = True
        if size > len(self._gram):
            capacity = size + size // 2
            larger = np.empty((capacity, capacity))
            larger[:before, :before] = self._gram[:before, :before]
            self._gram = larger
        self._extend_gram(new)

    def _extend_gram(self, new: np.ndarray) -> None:
        """Write M_S'M_N for the new coordinates N, which have joined the set S; M = [A, -B]."""
        design, w_columns, e_columns = self.problem.design, self._w_columns, self._e_columns
        is_w = new < design.n_w
        old_w, old_e = len(w_columns), len(e_columns)
        in_w = self._indices < design.n_w
        at_w, at_e = np.flatnonzero(in_w), np.flatnonzero(~in_w)
        if old_w < len(at_w):
            w_columns.add(new[is_w])
            _write(self._gram, at_w, at_w[old_w:], w_columns.gram(old_w), old_w)
            if old_e:
                products = -w_columns.rmatvec(e_columns.columns, old_w)
                _write(self._gram, at_w[old_w:], at_e[:old_e], products, len(at_w) - old_w)
        if old_e < len(at_e):
            e_columns.add(new[~is_w] - design.n_w)
            design.n_passes += design.e_view.passes_for_columns
            _write(self._gram, at_e, at_e[old_e:], e_columns.gram(old_e), old_e)
            products = -w_columns.rmatvec(e_columns.columns[:, old_e:])
            _write(self._gram, at_w, at_e[old_e:], products, len(at_w))

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


def _worst(found: np.ndarray, excess: np.ndarray, room: int) -> np.ndarray:
    """At most `room` of the coordinates found, those with the largest excess."""
    if len(found) <= room:
        return found
    return np.sort(found[np.argpartition(-excess[found], room)[:room]])


@compiled
def _outside(z: np.ndarray, excess: np.ndarray, inside: np.ndarray, n_w: int, margin: float) -> Any:
    """The coordinates outside of the set that have a weight, those that violate optimality, and how many have a weight.

    Coordinates of w within `margin` of violating it count, and how many have a weight is said of w and of e.
    """
    active, violating = np.empty(len(z), dtype=np.intp), np.empty(len(z), dtype=np.intp)
    n_active, n_violating, with_w, with_e = 0, 0, 0, 0
    for i in range(len(z)):
        if z[i] != 0.0:
            if i < n_w:
                with_w += 1
            else:
                with_e += 1
            if not inside[i]:
                active[n_active] = i
                n_active += 1
        elif excess[i] > (-margin if i < n_w else 0.0) and not inside[i]:
            violating[n_violating] = i
            n_violating += 1
    return active[:n_active], violating[:n_violating], (with_w, with_e)


@compiled
def _write(gram: np.ndarray, rows: np.ndarray, columns: np.ndarray, block: np.ndarray, n_others: int) -> None:
    """Write a block of the Gram matrix and its transpose; the first `n_others` rows are not among its columns."""
    for b in range(len(columns)):
        line = gram[columns[b]]
        for a in range(len(rows)):
            line[rows[a]] = block[a, b]
    for a in range(n_others):
        line = gram[rows[a]]
        for b in range(len(columns)):
            line[columns[b]] = block[a, b]
