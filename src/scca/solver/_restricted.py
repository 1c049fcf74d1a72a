"""The problem on a working set, in terms of the Gram matrix of its columns: the compiled loops.

    min over z of  z'Gz - 2 b'z + sum_i penalties_i |z_i|,   lower <= z <= upper  (unbounded, or [0, 1])

`correlations` is b - Gz throughout, that is M'r for the least squares problem with G = M'M, and is kept up to date.
Only the leading len(z) rows and columns of `gram` are used.
"""

from typing import Any

import numpy as np

from .._compile import compiled

__all__ = ["solve_inside", "solve_restricted"]

_MOST_SWEEPS = 8  # maximum number of sweeps of coordinate descent between two minimisations on a face
_MAX_ATTEMPTS = 200  # maximum number of alternations of sweeps and minimisations
_DEPENDENT = 1e-12  # a pivot below this share of its diagonal is rounding error
_LEVEL_SLOPE = 1e-8  # a slope below this share of the steepest is level


@compiled
def solve_restricted(
    gram: np.ndarray,
    z: np.ndarray,
    correlations: np.ndarray,
    penalties: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    square: float,
    tolerance: float,
) -> Any:
    """Change z, in place, until the duality gap of the restricted problem is at most `tolerance`.

    `square` is ||r||^2 at the given z. Coordinate descent finds the coordinates that are zero, and often suffices.
    Where it is slow, Newton steps on the other coordinates replace many sweeps; such steps may cost as much as the
    sweeps before them, and more with every attempt. Neither ever increases the objective.
    """
    start, start_correlations = z.copy(), correlations.copy()
    small = 0.01 * tolerance / max(1, len(z))
    previous, swept, stepped = np.inf, 0.0, 0.0
    for attempt in range(_MAX_ATTEMPTS):
        settled, work = _descend(gram, z, correlations, penalties, lower, upper, small)
        swept += work
        gap = _gap(z, correlations, penalties, upper, square - _fall(start, z, start_correlations, correlations))
        if gap > tolerance:
            stepped += _minimise_on_face(gram, z, correlations, penalties, upper, (1 + attempt) * swept - stepped)
            gap = _gap(z, correlations, penalties, upper, square - _fall(start, z, start_correlations, correlations))
        if gap <= tolerance or (settled and gap >= previous):
            return
        previous = gap


@compiled
def solve_inside(
    gram: np.ndarray,
    inside: np.ndarray,
    z: np.ndarray,
    correlations: np.ndarray,
    penalties: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    square: float,
    tolerance: float,
) -> Any:
    """`solve_restricted` for the coordinates `inside` of a larger problem: all of z, and its values inside.

    It is in this file because code that numba has cached does not notice changes of functions in other files.
    """
    moved = z[inside]
    solve_restricted(
        gram, moved, correlations[inside], penalties[inside], lower[inside], upper[inside], square, tolerance
    )
    solved = z.copy()
    solved[inside] = moved
    return solved, moved


@compiled
def _fall(start: np.ndarray, z: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """The decrease of ||r||^2 from start to z, given the correlations before and after.

    As r = r_0 - M d with d = z - start, ||r_0||^2 - ||r||^2 = d'M'(r_0 + r).
    """
    total = 0.0
    for i in range(len(z)):
        total += (z[i] - start[i]) * (before[i] + after[i])
    return total


@compiled
def _descend(
    gram: np.ndarray,
    z: np.ndarray,
    correlations: np.ndarray,
    penalties: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    small: float,
) -> Any:
    """Sweeps of exact cyclic coordinate descent, until no step of a sweep gains more than `small`.

    Returns whether the first sweep already gained so little, and the number of multiplications.
    """
    work = 0.0
    for epoch in range(_MOST_SWEEPS):
        largest = 0.0
        for i in range(len(z)):
            curvature = gram[i, i]
            old = z[i]
            new = 0.0  # a weight on a column of zeros only costs its penalty
            if curvature > 0.0:
                at = old + correlations[i] / curvature
                threshold = 0.5 * penalties[i] / curvature
                if at > threshold:
                    new = at - threshold
                elif at < -threshold:
                    new = at + threshold
            new = min(max(new, lower[i]), upper[i])
            step = new - old
            if step != 0.0:
                z[i] = new
                work += len(z)
                for j in range(len(z)):  # like `_move`, but without a view of the row, which would take a fifth longer
                    correlations[j] -= step * gram[i, j]
                largest = max(largest, step * step * curvature)
        if largest <= small:
            return epoch == 0, work
    return False, work


@compiled
def _gap(z: np.ndarray, correlations: np.ndarray, penalties: np.ndarray, upper: np.ndarray, square: float) -> float:
    """Duality gap within the working set; y = r + M z gives r'y."""
    shrink = 1.0
    for i in range(len(z)):
        if upper[i] == np.inf and 2.0 * abs(correlations[i]) > penalties[i] / shrink:
            shrink = penalties[i] / (2.0 * abs(correlations[i]))
    target = square
    gap = square + shrink**2 * square
    for i in range(len(z)):
        target += z[i] * correlations[i]
        gap += penalties[i] * abs(z[i])
        if upper[i] != np.inf:
            gap -= min(0.0, penalties[i] - 2.0 * shrink * correlations[i])
    return gap - 2.0 * shrink * target


@compiled
def _minimise_on_face(
    gram: np.ndarray, z: np.ndarray, correlations: np.ndarray, penalties: np.ndarray, upper: np.ndarray, budget: int
) -> Any:
    """Minimise over the coordinates strictly inside their bounds, by Newton steps cut where one meets a bound.

    The coordinate that meets its bound stays there, and the others continue, until a full step is taken or `budget`
    multiplications are made. If the columns are linearly dependent, the objective is linear along their null vector: a
    step along it, up to the next bound, ends the dependence. Returns the number of multiplications made.
    """
    work = 0.0
    while True:
        inner = _inside(z, upper)
        cost = len(inner) ** 3 / 6.0 + len(inner) * len(z)
        if work + cost > budget:
            return work
        work += cost
        downhill = np.empty(len(inner))
        hessian = np.empty((len(inner), len(inner)))
        for a in range(len(inner)):
            i = inner[a]
            downhill[a] = correlations[i] - (0.5 if z[i] > 0.0 else -0.5) * penalties[i]
            for b in range(len(inner)):
                hessian[a, b] = gram[i, inner[b]]
        direction, curved = _newton_direction(hessian, downhill)
        slope = 0.0
        for a in range(len(inner)):
            slope += downhill[a] * direction[a]
        if not slope > 0.0:
            return work
        length = 1.0 if curved else np.inf
        blocking = -1
        for a in range(len(inner)):
            at, bound = z[inner[a]], upper[inner[a]]
            limit = np.inf
            if at * direction[a] < 0.0:
                limit = -at / direction[a]
            elif direction[a] > 0.0 and bound != np.inf:
                limit = (bound - at) / direction[a]
            if limit < length:
                length, blocking = limit, a
        if length == np.inf:  # no bound in this direction: the dependence was rounding error
            return work
        for a in range(len(inner)):
            i = inner[a]
            old = z[i]
            z[i] += length * direction[a]
            if a == blocking:  # put it exactly on its bound, despite rounding
                z[i] = 0.0 if z[i] < 0.5 * upper[i] else upper[i]
            _move(gram[i], z[i] - old, correlations)
        if blocking < 0:
            return work


@compiled
def _inside(z: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The coordinates strictly inside their bounds."""
    found, n_found = np.empty(len(z), dtype=np.intp), 0
    for i in range(len(z)):
        if z[i] != 0.0 and z[i] < upper[i]:
            found[n_found] = i
            n_found += 1
    return found[:n_found]


@compiled
def _move(row: np.ndarray, step: float, correlations: np.ndarray) -> None:
    """Update the correlations after a step of the coordinate with this row of the Gram matrix."""
    for j in range(len(correlations)):
        correlations[j] -= step * row[j]


@compiled
def _newton_direction(hessian: np.ndarray, downhill: np.ndarray) -> tuple[np.ndarray, bool]:
    """hessian^-1 downhill and True; or, if a column depends on those before it, their null vector and False.

    Symmetric elimination, in place; the null vector points downhill. Where the objective is level
    along a null vector, as it is for equal columns, its last coordinate does not move: the others reach the minimum.
    """
    size = len(downhill)
    scale, x = np.empty(size), np.empty(size)  # filled by loops, since slices would take seconds more to compile
    steepest = 0.0
    for k in range(size):
        scale[k], x[k] = hessian[k, k], downhill[k]
        steepest = max(steepest, abs(x[k]))
    last = size
    for start in range(0, size, 4):  # four pivots at a time: the rows below are read and written a quarter as often
        stop = min(start + 4, size)
        for k in range(start, stop):
            pivot = hessian[k, k]
            if pivot <= _DEPENDENT * scale[k]:
                if abs(x[k]) > _LEVEL_SLOPE * steepest:  # x[k] is the slope along the null vector
                    last = k
                    break
                for j in range(k, size):
                    hessian[k, j] = 0.0
                hessian[k, k] = 1.0
                x[k] = 0.0
                continue
            for i in range(k + 1, stop):
                factor = hessian[k, i] / pivot
                x[i] -= factor * x[k]
                for j in range(i, size):
                    hessian[i, j] -= factor * hessian[k, j]
        if last < size:
            break
        for i in range(stop, size):
            a = hessian[start, i] / hessian[start, start]
            b = hessian[start + 1, i] / hessian[start + 1, start + 1]
            c = hessian[start + 2, i] / hessian[start + 2, start + 2]
            d = hessian[start + 3, i] / hessian[start + 3, start + 3]
            x[i] -= a * x[start] + b * x[start + 1] + c * x[start + 2] + d * x[start + 3]
            row, first, second = hessian[i, i:], hessian[start, i:], hessian[start + 1, i:]
            third, fourth = hessian[start + 2, i:], hessian[start + 3, i:]
            for j in range(len(row)):
                row[j] -= a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
    if last < size:
        for k in range(size):
            x[k] = -hessian[k, last] if k < last else 0.0
        x[last] = 1.0
    for k in range(last - 1, -1, -1):
        total = x[k]
        for j in range(k + 1, last):
            total -= hessian[k, j] * x[j]
        x[k] = total / hessian[k, k]
    if last < size:
        slope = 0.0
        for k in range(last + 1):
            slope += downhill[k] * x[k]
        if slope < 0.0:
            for k in range(last + 1):
                x[k] = -x[k]
    return x, last == size
