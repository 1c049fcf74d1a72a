"""scca and its peers behind one interface: `prepare(problem)` returns `solve(tolerance)`, and only the latter is timed.

Each is imported when it is prepared: one may be missing, and a new process is to load one alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from ._problem import Answer, Problem

__all__ = ["PEERS", "SCCA", "Solver"]

Solve = Callable[[float], Answer]
_UNLIMITED = 100_000  # iterations: what stops a solver should be its tolerance


@dataclass(frozen=True)
class Solver:
    name: str
    packages: tuple[str, ...]
    prepare: Callable[[Problem], Solve]
    tolerances: tuple[float, ...] = tuple(10.0**-power for power in range(2, 11))

    @property
    def is_installed(self) -> bool:
        return all(find_spec(package) for package in self.packages)


def _scca(problem: Problem) -> Solve:
    """Through the public function, validation and automatic penalties included."""
    from scca import solve_component

    if problem.K is None:
        given = {"X": problem.X, "y": problem.y, "fit_dual": False}
    else:
        given = {"X": problem.X, "K": problem.K, "k": problem.k}

    def solve(tolerance):
        result = solve_component(**given, tol=tolerance)
        return Answer(result.w, result.e)

    return solve


def _celer(problem: Problem) -> Solve:
    from celer import Lasso

    lasso = problem.as_lasso()
    settings = {"alpha": lasso.alpha, "weights": lasso.weights, "positive": lasso.positive, "fit_intercept": False}

    def solve(tolerance):
        return problem.answer(Lasso(**settings, tol=tolerance).fit(lasso.design, lasso.y).coef_)

    return solve


def _skglm(problem: Problem) -> Solve:
    """By its solver alone; its tolerance, a gradient's absolute error, in units of the least penalty."""
    from skglm.datafits import Quadratic
    from skglm.penalties import L1, WeightedL1
    from skglm.solvers import AndersonCD

    lasso = problem.as_lasso()
    datafit = Quadratic()
    if lasso.is_weighted:
        penalty = WeightedL1(lasso.alpha, lasso.weights, positive=lasso.positive)
    else:
        penalty = L1(lasso.alpha, positive=lasso.positive)

    def solve(tolerance):
        solver = AndersonCD(max_iter=_UNLIMITED, tol=tolerance * lasso.alpha, fit_intercept=False)
        return problem.answer(solver.solve(lasso.design, lasso.y, datafit, penalty)[0])

    return solve


def _scikit_learn(problem: Problem) -> Solve:
    """Its penalty knows no weights, so the columns are divided by them."""
    from sklearn.linear_model import Lasso

    lasso = problem.as_lasso()
    design = lasso.design
    if lasso.is_weighted:
        shrink = 1.0 / lasso.weights
        design = (design @ sp.diags_array(shrink)).tocsc() if sp.issparse(design) else design * shrink
    settings = {"alpha": lasso.alpha, "positive": lasso.positive, "fit_intercept": False, "copy_X": False}

    def solve(tolerance):
        model = Lasso(**settings, max_iter=_UNLIMITED, tol=tolerance).fit(design, lasso.y)
        return problem.answer(model.coef_ / lasso.weights)

    return solve


def _cvxpy(problem: Problem) -> Solve:
    """As it is written, box and all, by an interior point method; cvxpy translates it once, before it is timed."""
    import cvxpy as cp

    n, m = problem.X.shape
    w, e = cp.Variable(m), cp.Variable(n)
    penalty = problem.mu * cp.norm1(w) + problem.gamma * (cp.sum(e) - e[problem.k])
    objective = cp.Minimize(cp.sum_squares(problem.X @ w - problem.K @ e) + penalty)
    program = cp.Problem(objective, [e >= 0, e <= 1, e[problem.k] == 1])

    def solve(tolerance):
        limits = dict.fromkeys(["tol_gap_abs", "tol_gap_rel", "tol_feas"], tolerance)
        program.solve(solver=cp.CLARABEL, **limits)
        weights = np.clip(e.value, 0.0, 1.0)
        weights[problem.k] = 1.0
        return Answer(w.value, weights)

    return solve


SCCA = Solver("scca", ("scca",), _scca, tolerances=(1e-6,))
PEERS = {
    "celer": Solver("celer", ("celer",), _celer),
    "skglm": Solver("skglm", ("skglm",), _skglm),
    "scikit-learn": Solver("scikit-learn", ("sklearn",), _scikit_learn),
    "cvxpy": Solver("cvxpy + Clarabel", ("cvxpy", "clarabel"), _cvxpy),
}
