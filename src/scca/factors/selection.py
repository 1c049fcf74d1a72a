"""Selecting few coordinates of each view for each factor, by elastic nets that share their products with the data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from .._checks import Penalty
from ..parallel import map_threads, one_blas_thread
from ..progress import report
from ..solver import ComponentResult, solve_restricted, warn_of_gap
from ..views import PreparedView, PrimalView, View
from . import constants
from .find import ridge_of
from .products import grams, regularised

if TYPE_CHECKING:
    from .settings import Settings

__all__ = ["Nets", "Selection", "results_as_arrays", "results_of_arrays"]

_LEAST_ADDED = 75  # minimum number of coordinates that are added to a working set at a time
_ALL_WORTH_ADDING = 2  # ratio up to which all violating coordinates are added, rather than the worst
_TIME_LEFT = 1 / 3  # share of the remaining time that is left after a round: fewer and fewer nets are unsolved
_INNER_SHARE = 0.1  # tolerance on a working set, as a share of the tolerance of the problem
_RESULT_FIELDS = ("objective", "dual_gap", "mu", "gamma", "n_iter", "n_passes", "converged")
_FIRST_WORKING_SET = 2  # size of the first working set of a search, relative to the maximum number of weights
_CLOSE_PENALTIES = 1.02  # ratio of two penalties at which the search between them ends
_POWER_BOUNDS = (0.3, 3.0)  # bounds on p in the assumption that the number of weights falls as penalty^-p
_STEP_LIMITS = (0.5, 2.0)  # bounds on the ratio of a penalty to the one tried before
_INTERPOLATION_BOUNDS = (0.25, 0.75)  # bounds on where the next penalty lies between one too low and one too high
_MOST_TRIALS = 100  # maximum number of penalties to try; far fewer suffice unless products overflow


class Selection:
    """The coordinates of one view that are selected for every factor, at one penalty after another.

    Each penalty starts from the solution of the one before. `correlations` are A'T, `squares` ||t||^2 of every factor.
    """

    def __init__(self, view: PreparedView, correlations: np.ndarray, squares: np.ndarray, settings: "Settings"):
        self._entry = 2.0 * np.abs(correlations)  # the penalty below which a coordinate alone would get a weight
        room = _FIRST_WORKING_SET * settings.most_weights
        self._nets = Nets(view, correlations, squares, ridge_of(settings, view), **settings.effort, room=room)
        self._automatic: list[ComponentResult] | None = None
        self._before: tuple[Penalty, list[ComponentResult]] | None = None

    def at(self, settings: "Settings") -> list[ComponentResult]:
        """The elastic net of each factor at the penalty of these settings."""
        if self._before is None or self._before[0] != settings.mu:
            with one_blas_thread():  # each thread solves one factor
                self._before = settings.mu, self._selected(settings.mu, settings.most_weights)
        return self._before[1]

    def _selected(self, penalty: Penalty, most_weights: int) -> list[ComponentResult]:
        """The elastic nets at `penalty`; the automatic one allows at most `most_weights` weights per factor."""
        if penalty.value is not None:
            return self._solve_at(np.full(self._entry.shape[1], penalty.value))
        if self._automatic is None:
            self._automatic = self._automatically_selected(most_weights)
        if penalty.factor == 1.0:
            return self._automatic
        return self._solve_at(penalty.factor * np.array([result.mu for result in self._automatic]))

    def _solve_at(self, mus: np.ndarray) -> list[ComponentResult]:
        found = self._nets.solve(dict(enumerate(mus.tolist())))
        return [found[j] for j in range(len(mus))]

    def _automatically_selected(self, most_weights: int) -> list[ComponentResult]:
        """Each factor at its own penalty, found among the features of its working set."""
        n_read = max(np.count_nonzero(self._entry.any(axis=1)), 1)
        mus = constants.PENALTY_SHARE * self._entry.sum(axis=0) / n_read
        found = self._nets.solve(
            {j: partial(_raised_penalty, self._entry[:, j], float(mu), most_weights) for j, mu in enumerate(mus)}
        )
        return [found[j] for j in range(len(mus))]


def _raised_penalty(
    entry: np.ndarray, mu: float, most: int, count_at: Callable[[float], int], before: float | None
) -> float:
    """The penalty `mu` or, if that gives too many weights, about the smallest that does not, searched from `before`.

    `entry` is |2 A't|, the penalty below which each feature alone would get a weight. The search starts from
    large penalties, whose solutions have few weights and take little time. It assumes that the number of weights is a
    power of the penalty, and fits that power to the last two trials.
    """
    if (at := before) is None:
        above = entry[entry > mu]
        at = mu if len(above) <= most else float(np.partition(above, -most)[-most])
    few, too_low, last, power = np.inf, 0.0, None, 1.0
    for _ in range(_MOST_TRIALS):
        count = count_at(at)
        if count > most:
            too_low = at
        elif at <= mu or count >= constants.ENOUGH_WEIGHTS * most:
            return at
        else:
            few = at
        if few <= _CLOSE_PENALTIES * too_low:
            break
        here = np.log(at), np.log(max(count, 1))
        if last is not None and here[0] != last[0]:
            power = float(np.clip((last[1] - here[1]) / (here[0] - last[0]), *_POWER_BOUNDS))
        last = here
        step = (count / (np.sqrt(constants.ENOUGH_WEIGHTS) * most)) ** (1.0 / power)
        guess = at * float(np.clip(step, *_STEP_LIMITS))
        if too_low > 0.0 and few < np.inf:  # well inside the bounds, so that the bounds approach each other
            between = np.log(guess / too_low) / np.log(few / too_low)
            guess = too_low * (few / too_low) ** float(np.clip(between, *_INTERPOLATION_BOUNDS))
        at = max(mu, guess)
    return few if few < np.inf else at


def results_as_arrays(selected: Sequence[ComponentResult]) -> dict[str, np.ndarray]:
    """The solutions of elastic nets, for a checkpoint."""
    weights = sp.csc_array(np.column_stack([result.w for result in selected]))
    stored = {"data": weights.data, "indices": weights.indices, "indptr": weights.indptr}
    stored["shape"] = np.array(weights.shape)
    return stored | {name: np.array([getattr(result, name) for result in selected]) for name in _RESULT_FIELDS}


def results_of_arrays(stored: Mapping[str, np.ndarray]) -> list[ComponentResult]:
    parts = stored["data"], stored["indices"], stored["indptr"]
    weights = sp.csc_array(parts, shape=tuple(stored["shape"])).toarray()
    return [
        ComponentResult(w=weights[:, j], e=None, **{name: stored[name][j].item() for name in _RESULT_FIELDS})
        for j in range(weights.shape[1])
    ]


# --- elastic nets -----------------------------------------------------------------------------------------------------

CountAt = Callable[[float], int]
Search = Callable[[CountAt, float | None], float]


@dataclass(eq=False)
class _Net:
    """One factor: its working set, M'M + ridge within it, weights on it, and their correlations with the residual."""

    inside: np.ndarray  # for every coordinate, whether it is in the working set
    indices: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    correlations: np.ndarray = field(default_factory=lambda: np.empty(0))
    gram: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    mu: float | None = None  # penalty of the last solution
    n_products: int = 0


@dataclass(frozen=True)
class _Certificate:
    """Objective and lower bound of a net; `square` is ||r||^2, where r includes the ridge's part of the residual."""

    square: float
    objective: float
    bound: float


class Nets:
    """Solves, for each factor t_j of a view A with its own penalty, to a certified gap of at most tol ||t_j||^2,

        min over w of  ||A w - t_j||^2 + mu_j ||w||_1 + ridge ||w||^2.

    The ridge makes w unique: identical features get the same weight. A net needs only A't,
    ||t||^2 and, on its working set, A'A. It is solved on the working set, at any number of penalties; then one product
    (A'A + ridge) W for the weights of all nets gives the correlations A'r - ridge w of all coordinates. These give each
    net its certificate and the coordinates to add. Nets keep their working sets and start from their last solution.

    Parameters
    ----------
    room : int
        Minimum number of coordinates that are added to a working set at a time.
    """

    def __init__(
        self,
        view: View,
        correlations: np.ndarray,
        squares: np.ndarray,
        ridge: float,
        *,
        tol: float,
        max_iter: int,
        room: int = _LEAST_ADDED,
    ):
        self._view, self._ridge, self._tol, self._max_iter, self._room = view, ridge, tol, max_iter, room
        self._targets, self._squares = correlations, squares
        self._correlations = correlations.copy()  # correlations with the residuals
        self._nets = [_Net(np.zeros(view.shape[1], dtype=bool)) for _ in squares]

    def solve(self, penalties: Mapping[int, float | Search]) -> dict[int, ComponentResult]:
        """The solutions for some of the factors.

        Each factor has its penalty, or a function that searches for it. The function is given another one that counts
        the weights at a penalty, within the working set, and the penalty that it chose before, if any.
        """
        solved: dict[int, ComponentResult] = {}
        gaps_before, before = dict.fromkeys(penalties, np.inf), {j: self._nets[j].n_products for j in penalties}
        for j in penalties:
            self._nets[j].mu = None
        active, n_iter = list(penalties), 0
        while True:
            mus = {j: self._least_penalty(j, penalties[j]) for j in active}
            certificates = {j: self._certificate(j, mus[j]) for j in active}
            gaps = {j: c.objective - c.bound for j, c in certificates.items()}
            open_ = [j for j in active if gaps[j] > self._tol * self._squares[j] and n_iter < self._max_iter]
            new = {j: self._violating(j, mus[j]) for j in open_}
            going = [j for j in open_ if len(new[j]) or gaps[j] < gaps_before[j]]  # rounding error stops the others
            for j in active:
                if j not in going:
                    passes = self._nets[j].n_products - before[j]
                    solved[j] = self._result(j, mus[j], certificates[j].objective, gaps[j], n_iter, passes)
            report("features", 1.0 - _TIME_LEFT**n_iter if going else 1.0, 1.0)
            if not going:
                return solved
            self._grow({j: new[j] for j in going if len(new[j])})
            gaps_before |= {j: np.inf if len(new[j]) else gaps[j] for j in going}
            map_threads(lambda j: self._improve(j, penalties[j]), going)
            self._multiply(going)
            active, n_iter = going, n_iter + 1

    def _least_penalty(self, j: int, penalty: float | Search) -> float:
        """The penalty of the current solution; before the first solution, the given one, or 0 if it is searched for."""
        mu = self._nets[j].mu
        if mu is not None:
            return mu
        return 0.0 if callable(penalty) else penalty

    def _certificate(self, j: int, mu: float) -> _Certificate:
        """The certificate as in `ComponentProblem`, for r = (t - A w, -sqrt(ridge) w).

        With q = A't - (A'A + ridge) w, the correlations with r, ||r||^2 = t't - w'A't - w'q.
        """
        net = self._nets[j]
        along = float(net.weights @ self._targets[net.indices, j])
        square = self._square(j, self._correlations[net.indices, j])
        largest = 2.0 * float(np.abs(self._correlations[:, j]).max(initial=0.0))
        shrink = 1.0 if largest <= mu else mu / largest
        objective = square + mu * float(np.abs(net.weights).sum())
        return _Certificate(square, objective, 2.0 * shrink * (self._squares[j] - along) - shrink**2 * square)

    def _square(self, j: int, correlations: np.ndarray) -> float:
        """||r||^2, from the correlations of the working set."""
        net = self._nets[j]
        return float(self._squares[j] - net.weights @ (self._targets[net.indices, j] + correlations))

    def _violating(self, j: int, mu: float) -> np.ndarray:
        """The coordinates outside the working set that violate optimality most, about as many as have weights.

        If not many more violate it, all of them: another round would cost more than they do.
        """
        net = self._nets[j]
        excess = 2.0 * np.abs(self._correlations[:, j]) - mu
        outside = np.flatnonzero((excess > 0.0) & ~net.inside)
        room = max(self._room, int(np.count_nonzero(net.weights)))
        if len(outside) <= _ALL_WORTH_ADDING * room:
            return outside
        return np.sort(outside[np.argpartition(-excess[outside], room)[:room]])

    def _grow(self, new: Mapping[int, np.ndarray]) -> None:
        """Add coordinates to working sets, and their inner products, computed for all nets at once.

        Nets with the same coordinates share the inner products, as they do where all features are few.
        """
        alike: dict[bytes, list[int]] = {}
        for j, added in new.items():
            net = self._nets[j]
            net.indices = np.concatenate([net.indices, added])
            net.weights = np.concatenate([net.weights, np.zeros(len(added))])
            net.inside[added] = True
            alike.setdefault(net.indices.tobytes() + added.tobytes(), []).append(j)
        firsts = [nets[0] for nets in alike.values()]
        found = grams(self._view, [(self._nets[j].indices, new[j]) for j in firsts])
        for nets, block in zip(alike.values(), found, strict=True):
            gram = self._extended(self._nets[nets[0]].gram, block)
            for j in nets:
                self._nets[j].gram = gram

    def _extended(self, gram: np.ndarray, block: np.ndarray) -> np.ndarray:
        """The Gram matrix extended by `block`, the inner products with further coordinates, and by their ridge."""
        size, n_added = block.shape
        old, extended = size - n_added, np.empty((size, size))
        extended[:old, :old] = gram
        extended[:, old:] = block
        extended[old:, :old] = block[:old].T
        extended[np.arange(old, size), np.arange(old, size)] += self._ridge
        return extended

    def _improve(self, j: int, penalty: float | Search) -> None:
        """Solve a net within its working set, at the given penalty or the one that its search finds."""
        net = self._nets[j]
        net.correlations = self._correlations[net.indices, j]

        def count_at(mu: float) -> int:
            self._solve_within(j, mu)
            return int(np.count_nonzero(net.weights))

        mu = penalty(count_at, net.mu) if callable(penalty) else penalty
        if mu != net.mu or not callable(penalty):
            self._solve_within(j, mu)

    def _solve_within(self, j: int, mu: float) -> None:
        net = self._nets[j]
        unbounded = np.full(len(net.indices), np.inf if mu > 0 else 0.0)
        solve_restricted(
            net.gram,
            net.weights,
            net.correlations,
            np.full(len(net.indices), mu),
            -unbounded,
            unbounded,
            self._square(j, net.correlations),
            _INNER_SHARE * self._tol * self._squares[j],
        )
        net.mu = mu

    def _multiply(self, which: Sequence[int]) -> None:
        """Update the correlations of these nets from their weights."""
        W = np.zeros((self._view.shape[1], len(which)))
        for column, j in zip(W.T, which, strict=True):
            column[self._nets[j].indices] = self._nets[j].weights
            self._nets[j].n_products += 2
        if isinstance(self._view, PrimalView):
            products = regularised(self._view, self._ridge, W)
        else:
            products = self._view.rmatmat(self._view.matmat(W)) + self._ridge * W
        self._correlations[:, which] = self._targets[:, which] - products

    def _result(self, j: int, mu: float, objective: float, gap: float, n_iter: int, n_passes: int) -> ComponentResult:
        net = self._nets[j]
        w = np.zeros(self._view.shape[1])
        w[net.indices] = net.weights + 0.0  # without negative zeros, which a checkpoint does not keep
        converged = bool(gap <= self._tol * self._squares[j])
        if not converged:
            warn_of_gap(gap / self._squares[j], self._tol, n_iter, self._max_iter)
        return ComponentResult(w, None, objective, gap, mu, np.inf, n_iter, n_passes, converged)
