"""The fast algorithm: solve the problem on a working set of few coordinates, by their Gram matrix."""

from typing import Any

import numpy as np

from .._compile import compiled
from ..views import CopiedColumns
from ._certified import Algorithm, Point
from ._problem import ComponentProblem
from ._restricted import solve_inside

__all__ = ["WorkingSet"]

_FIRST_ADDED_W = (75, 200)  # limits on the number of coordinates of w added at first: few samples, small support
_FIRST_ADDED_E = (8, 32)  # the same limits for e: most coordinates violate their condition only until w has settled
_SAMPLES_PER_W, _SAMPLES_PER_E = 200, 400
_MARGIN_W = 0.1  # share of mu: coordinates of w this close to violating their condition join, since many soon do
_EARLY_SHARE = 0.1  # tolerance, as a share of the gap, for a set that is too small for all violating coordinates
_INNER_SHARE = 0.3  # tolerance for a working set, as a share of the whole one: cheaper than another pass


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
        self._e_columns = CopiedColumns(design.e_view)  # few columns, which `w_view` multiplies as vectors
        self._indices = np.empty(0, dtype=np.intp)
        self._inside = np.zeros(design.size, dtype=bool)
        self._w_places, self._e_places = self._indices, self._indices  # places of those of w and of e in `_indices`
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

        Returns whether any were added, and whether all coordinates that violate optimality were.
        """
        n, problem = len(at.r), self.problem
        fewest = _clipped(_FIRST_ADDED_W, n // _SAMPLES_PER_W), _clipped(_FIRST_ADDED_E, n // _SAMPLES_PER_E)
        new_w, new_e, all_joined = _joining(
            at.z, at.excess, self._inside, problem.design.n_w, _MARGIN_W * problem.mu, fewest
        )
        grown = len(new_w) + len(new_e) > 0
        if grown:
            self._add(new_w, new_e)
        return grown, all_joined

    def _add(self, new_w: np.ndarray, new_e: np.ndarray) -> None:
        before, between = len(self._indices), len(self._indices) + len(new_w)
        size = between + len(new_e)
        if size > len(self._gram):
            capacity = size + size // 2
            larger = np.empty((capacity, capacity))
            larger[:before, :before] = self._gram[:before, :before]
            self._gram = larger
        self._indices = np.concatenate([self._indices, new_w, new_e + self.problem.design.n_w])
        if len(new_w):
            self._add_w(new_w, before)
        if len(new_e):
            self._add_e(new_e, between)

    # Both methods write M_S'M_N for the new coordinates N, which have joined the set S at `start`; M = [A, -B].

    def _add_w(self, new: np.ndarray, start: int) -> None:
        columns, old = self._w_columns, len(self._w_columns)
        self._w_places = np.concatenate([self._w_places, np.arange(start, start + len(new))])
        columns.add(new)
        _write_block(self._gram, self._w_places, start, columns.gram(old))
        if len(self._e_columns):
            _write_block(self._gram, self._e_places, start, -columns.rmatvec(self._e_columns.columns, old).T)

    def _add_e(self, new: np.ndarray, start: int) -> None:
        design, columns, old = self.problem.design, self._e_columns, len(self._e_columns)
        self._e_places = np.concatenate([self._e_places, np.arange(start, start + len(new))])
        columns.add(new)
        design.n_passes += design.e_view.passes_for_columns
        _write_block(self._gram, self._e_places, start, columns.gram(old))
        _write_block(self._gram, self._w_places, start, -self._w_columns.rmatvec(columns.columns[:, old:]))

    def _solve(self, at: Point, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """z with the coordinates of the working set at the optimum of the restricted problem, and its r."""
        problem = self.problem
        z, moved = solve_inside(
            self._gram,
            self._indices,
            at.z,
            at.correlations,
            problem.penalties,
            problem.lower,
            problem.upper,
            float(at.r @ at.r),
            tolerance,
        )
        r = problem.design.y - self._w_columns.matvec(moved[self._w_places])
        if len(self._e_columns):
            r += self._e_columns.matvec(moved[self._e_places])
        return z, r


def _clipped(limits: tuple[int, int], value: int) -> int:
    return min(max(value, limits[0]), limits[1])


# A round of a small problem is a few compiled calls, since small NumPy calls would take longer.


@compiled
def _joining(
    z: np.ndarray, excess: np.ndarray, inside: np.ndarray, n_w: int, margin: float, fewest: tuple[int, int]
) -> Any:
    """The coordinates of w and those of e that join the set, and whether all that violate optimality join.

    Coordinates of w within `margin` of violating it join too. At most `fewest` of w and of e join, or more if many have
    a weight.
    """
    with_w, with_e = np.count_nonzero(z[:n_w]), np.count_nonzero(z[n_w:])
    w_room, e_room = max(fewest[0], with_w + with_e), max(fewest[1], 2 * with_e)
    new_w, all_of_w = _worst(z[:n_w], excess[:n_w], inside[:n_w], -margin, w_room)
    new_e, all_of_e = _worst(z[n_w:], excess[n_w:], inside[n_w:], 0.0, e_room)
    return new_w, new_e, all_of_w and all_of_e


@compiled
def _worst(z: np.ndarray, excess: np.ndarray, inside: np.ndarray, least: float, room: int) -> Any:
    """The coordinates outside the set with a weight, and at most `room` others with the largest excess above `least`.

    They are marked as inside. Also returns whether all coordinates with a positive excess are among them.
    """
    found, n_found = np.empty(len(z) + 1, dtype=np.intp), 0
    for i in range(len(z)):  # always written, but counted only if wanted: the processor could not predict a branch
        found[n_found] = i
        n_found += (not inside[i]) & ((z[i] != 0.0) | (excess[i] > least))
    sizes, n_violating = np.empty(n_found), 0
    for a in range(n_found):
        i = found[a]
        sizes[a] = excess[i]
        if z[i] != 0.0:
            sizes[a] = np.inf
            room += 1
        n_violating += sizes[a] > 0.0
    n_new = min(n_found, room)
    if n_found > room:
        limit = np.partition(sizes, n_found - room)[n_found - room]
        n_equal = room - np.count_nonzero(sizes > limit)  # of the coordinates at the limit, the first ones that fit
        n_new = 0
        for a in range(n_found):
            found[n_new] = found[a]
            n_new += (sizes[a] > limit) | ((sizes[a] == limit) & (n_equal > 0))
            n_equal -= sizes[a] == limit
    for i in found[:n_new]:
        inside[i] = True
    return found[:n_new], n_violating <= room


@compiled
def _write_block(gram: np.ndarray, places: np.ndarray, start: int, block: np.ndarray) -> None:
    """Write a block of the Gram matrix, of the coordinates at `places` and those from `start` on, and its transpose."""
    for b in range(block.shape[1]):
        line = gram[start + b]
        for a in range(len(places)):
            line[np.uint64(places[a])] = block[a, b]  # a signed index, which may be negative, takes twice the time
    for a in range(len(places)):
        line = gram[places[a], start:]
        for b in range(block.shape[1]):
            line[b] = block[a, b]
