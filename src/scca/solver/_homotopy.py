"""The lasso's solution as a function of its penalty: linear between the points where a weight enters or leaves."""

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from ._problem import Design

__all__ = ["Homotopy"]

_DEPENDENT = 1e-10  # share of a squared norm: a smaller part of a column outside a span is rounding error
_MAX_EVENTS_PER_SAMPLE = 20  # maximum number of events per sample: usually about one; rounding error causes far more


class Homotopy:
    """Follows the solution of  min ||y - A w||^2 + mu ||w||_1  from the smallest mu with w = 0 downwards.

    With h = mu / 2, correlations c = A'r and active weights w_S of signs s, w is optimal if c_S = h s and |c| <= h
    elsewhere. As h decreases by d, w_S grows by d G_SS^-1 s and c decreases by d a, a = A'A_S G_SS^-1 s, until another
    |c_j| reaches h (j joins) or a weight reaches zero (it leaves). A feature that depends linearly on the active ones
    is skipped: its c stays at h with theirs. The path is exact up to rounding error; callers check the certificate.
    """

    def __init__(self, design: Design):
        self._design = design
        self._selection = design.w_view.selection()
        self._gram = np.empty((0, 0))
        self._position = np.full(design.n_w, -1)  # position of every feature in the selection, or -1
        self._z = np.zeros(design.size)
        self._correlations = design.correlations_of_y.copy()
        self._half = float(np.abs(self._correlations).max(initial=0.0))
        self._active: list[int] = []
        self._dependent: set[int] = set()  # features that depend on several active ones; cleared when one leaves
        self._copies: set[int] = set()  # features that are multiples of another, skipped for good
        self._just_left = -1
        self._events_left = _MAX_EVENTS_PER_SAMPLE * len(design.y)
        if self._half > 0:
            self._active.append(int(np.abs(self._correlations).argmax()))
            self._placed(self._active[0])

    def at(self, mu: float) -> np.ndarray:
        """z at `mu`, which must not exceed the mu of the previous call; approximate if the path was cut short."""
        while self._half > mu / 2 and self._active and self._events_left > 0:
            self._events_left -= 1
            places = self._position[self._active]
            try:
                factor = cholesky(self._gram[np.ix_(places, places)], lower=True)
            except LinAlgError:  # rounding error made the active columns dependent: the path ends here
                break
            growth = cho_solve((factor, True), np.sign(self._correlations[self._active]))
            slope = self._slope(places, growth)
            joining, until_join = self._next_to_join(slope, factor)
            leaving, until_leave = self._next_to_leave(growth)
            step = min(until_join, until_leave, self._half - mu / 2)
            self._z[self._active] += step * growth
            self._correlations -= step * slope
            self._half -= step
            if step == until_leave:
                self._active.remove(leaving)
                self._z[leaving] = 0.0
                self._just_left = leaving
                self._dependent.clear()
            elif step == until_join:
                self._active.append(joining)
                self._just_left = -1
        return self._z.copy()

    def _slope(self, places: np.ndarray, growth: np.ndarray) -> np.ndarray:
        """a = A'A_S growth, the rate at which every correlation decreases."""
        weights = np.zeros(len(self._selection))
        weights[places] = growth
        self._design.n_passes += 1
        return self._design.w_view.rmatvec(self._selection.matvec(weights))

    def _next_to_join(self, slope: np.ndarray, factor: np.ndarray) -> tuple[int, float]:
        """The inactive feature whose |c| reaches h first, and the step until then."""
        with np.errstate(divide="ignore", invalid="ignore"):
            above = (self._half - self._correlations) / (1.0 - slope)
            below = (self._half + self._correlations) / (1.0 + slope)
        wait = np.minimum(np.where(slope < 1.0, above, np.inf), np.where(slope > -1.0, below, np.inf))
        wait = np.maximum(wait, 0.0)  # rounding can make a wait slightly negative
        wait[[*self._active, *self._dependent, *self._copies]] = np.inf
        if self._just_left >= 0:
            wait[self._just_left] = np.inf  # its |c| is exactly h and decreasing
        while True:
            first = int(wait.argmin())
            if wait[first] == np.inf or not self._depends(first, factor):
                return first, float(wait[first])
            wait[first] = np.inf

    def _depends(self, feature: int, factor: np.ndarray) -> bool:
        """Whether the column of a feature lies in the span of the active columns; remembers the answer if so."""
        place = self._placed(feature)
        places = self._position[self._active]
        square, products = self._gram[place, place], self._gram[place, places]
        rest = square - float(np.sum(solve_triangular(factor, products, lower=True) ** 2))
        if rest > _DEPENDENT * square:
            return False
        copied = products**2 >= (1 - _DEPENDENT) * square * self._gram[places, places]
        (self._copies if copied.any() else self._dependent).add(feature)
        return True

    def _next_to_leave(self, growth: np.ndarray) -> tuple[int, float]:
        """The active weight that reaches zero first, and the step until then."""
        weights = self._z[self._active]
        shrinking = weights * growth < 0
        if not shrinking.any():
            return -1, np.inf
        wait = np.full(len(weights), np.inf)
        wait[shrinking] = -weights[shrinking] / growth[shrinking]
        first = int(wait.argmin())
        return self._active[first], float(wait[first])

    def _placed(self, feature: int) -> int:
        """The position of a feature in the selection; a new feature joins it and the Gram matrix."""
        if self._position[feature] < 0:
            start = len(self._selection)
            self._position[feature] = start
            self._selection.add(np.array([feature]))
            if start == len(self._gram):
                larger = np.empty((max(16, 2 * start), max(16, 2 * start)))
                larger[:start, :start] = self._gram
                self._gram = larger
            self._gram[: start + 1, start] = self._gram[start, : start + 1] = self._selection.gram(start)[:, 0]
        return int(self._position[feature])
