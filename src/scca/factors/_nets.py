"""Elastic nets of all factors in a view, which share their products with the data."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..solver import ComponentResult, solve_restricted, warn_of_gap
from ..views import FeatureView, View
from ._grams import grams
from ._products import Products
from ._together import together

__all__ = ["Nets"]

_FIRST = 75  # coordinates added at first
_INNER_SHARE = 0.1  # a working set is solved to this share of the current gap before it grows


@dataclass(eq=False)
class _Net:
    """One factor: its working set, M'M + ridge within it, and weights on it."""

    inside: np.ndarray  # of all coordinates, whether they are in the working set
    indices: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    gram: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    n_products: int = 0


@dataclass(frozen=True)
class _Certificate:
    """As for the problem of one component: `square` is ||r||^2, where r includes the ridge's part of the residual."""

    square: float
    objective: float
    bound: float


class Nets:
    """For each factor t_j of a view A, with a penalty of its own, to a certified gap of at most tol ||t_j||^2,

        min over w of  ||A w - t_j||^2 + mu_j ||w||_1 + ridge ||w||^2.

    The ridge makes w unique: identical features get the same weight. Of the data, a net needs A't, ||t||^2 and, on its
    working set, A'A. It is solved there; then one product (A'A + ridge) W for the weights of all nets gives the
    correlations A'r - ridge w of all coordinates, from which each net has its certificate and the coordinates to add.
    Nets keep their working sets and start from where they were, at any penalty.
    """

    def __init__(
        self, view: View, correlations: np.ndarray, squares: np.ndarray, ridge: float, *, tol: float, max_iter: int
    ):
        self._view, self._ridge, self._tol, self._max_iter = view, ridge, tol, max_iter
        self._targets, self._squares = correlations, squares
        self._correlations = correlations.copy()  # with the residuals
        self._nets = [_Net(np.zeros(view.shape[1], dtype=bool)) for _ in squares]
        self._products = Products(view, ridge) if isinstance(view, FeatureView) else None

    def solve(self, mus: dict[int, float]) -> dict[int, ComponentResult]:
        """The solutions for some of the factors, each at its penalty."""
        solved: dict[int, ComponentResult] = {}
        bounds, gaps_before = dict.fromkeys(mus, -np.inf), dict.fromkeys(mus, np.inf)
        active, before = list(mus), {j: self._nets[j].n_products for j in mus}
        for n_iter in range(self._max_iter + 1):
            certificates = {j: self._certificate(j, mus[j]) for j in active}
            bounds |= {j: max(bounds[j], c.bound) for j, c in certificates.items()}  # each holds for all w
            gaps = {j: c.objective - bounds[j] for j, c in certificates.items()}
            open_ = [j for j in active if gaps[j] > self._tol * self._squares[j] and n_iter < self._max_iter]
            new = {j: self._violating(j, mus[j]) for j in open_}
            stuck = [j for j in open_ if not len(new[j]) and gaps[j] >= gaps_before[j]]  # by rounding error
            going = [j for j in open_ if j not in stuck]
            for j in active:
                if j not in going:
                    passes = self._nets[j].n_products - before[j]
                    solved[j] = self._result(j, mus[j], certificates[j].objective, gaps[j], n_iter, passes)
            if not going:
                return solved
            self._grow({j: new[j] for j in going if len(new[j])})
            gaps_before |= {j: np.inf if len(new[j]) else gaps[j] for j in going}

            def improve(j: int, gaps=gaps, new=new, certificates=certificates) -> None:  # type: ignore[no-untyped-def]
                least = self._tol * self._squares[j]
                tolerance = _INNER_SHARE * (max(least, gaps[j]) if len(new[j]) else least)
                self._improve(j, mus[j], certificates[j].square, tolerance)

            together(improve, going)
            self._multiply(going)
            active = going
        raise AssertionError  # the last round keeps none

    def _certificate(self, j: int, mu: float) -> _Certificate:
        """As in `ComponentProblem`, for r = (t - A w, -sqrt(ridge) w).

        With q = A't - (A'A + ridge) w, the correlations with r, ||r||^2 = t't - w'A't - w'q.
        """
        net = self._nets[j]
        along = float(net.weights @ self._targets[net.indices, j])
        square = self._squares[j] - along - float(net.weights @ self._correlations[net.indices, j])
        largest = 2.0 * float(np.abs(self._correlations[:, j]).max(initial=0.0))
        shrink = 1.0 if largest <= mu else mu / largest
        objective = square + mu * float(np.abs(net.weights).sum())
        return _Certificate(square, objective, 2.0 * shrink * (self._squares[j] - along) - shrink**2 * square)

    def _violating(self, j: int, mu: float) -> np.ndarray:
        """Coordinates outside the working set that violate optimality: the worst, about as many as have weights."""
        net = self._nets[j]
        excess = 2.0 * np.abs(self._correlations[:, j]) - mu
        outside = np.flatnonzero((excess > 0.0) & ~net.inside)
        room = max(_FIRST, int(np.count_nonzero(net.weights)))
        if len(outside) <= room:
            return outside
        return np.sort(outside[np.argpartition(-excess[outside], room)[:room]])

    def _grow(self, new: dict[int, np.ndarray]) -> None:
        """Add coordinates to working sets, and their inner products, computed for all nets at once."""
        for j, added in new.items():
            net = self._nets[j]
            net.indices = np.concatenate([net.indices, added])
            net.weights = np.concatenate([net.weights, np.zeros(len(added))])
            net.inside[added] = True
        if not new:
            return
        found = grams(self._view, [(self._nets[j].indices, added) for j, added in new.items()])
        for (j, added), block in zip(new.items(), found, strict=True):
            net, size = self._nets[j], len(self._nets[j].indices)
            old, gram = size - len(added), np.empty((size, size))
            gram[:old, :old] = net.gram
            gram[:, old:] = block
            gram[old:, :old] = block[:old].T
            gram[np.arange(old, size), np.arange(old, size)] += self._ridge
            net.gram = gram

    def _improve(self, j: int, mu: float, square: float, tolerance: float) -> None:
        net = self._nets[j]
        size = len(net.indices)
        unbounded = np.full(size, np.inf if mu > 0 else 0.0)
        correlations = self._correlations[net.indices, j]
        solve_restricted(
            net.gram, net.weights, correlations, np.full(size, mu), -unbounded, unbounded, square, tolerance
        )

    def _multiply(self, which: Sequence[int]) -> None:
        """The correlations of these nets, from their weights."""
        W = np.zeros((self._view.shape[1], len(which)))
        for column, j in zip(W.T, which, strict=True):
            column[self._nets[j].indices] = self._nets[j].weights
            self._nets[j].n_products += 2
        if self._products is not None:
            products = self._products.regularised(W)
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
