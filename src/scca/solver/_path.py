"""One component at many penalties."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import Penalty, check_count, check_tolerance
from .._types import MatrixLike, PenaltyLike
from ..parallel import blas_threads_for
from ..views import View
from ._certified import Outcome, solve_certified
from ._component import DEFAULT_MAX_ITER, ComponentResult, checked_problem, finished, no_view, weights_on_samples
from ._homotopy import Homotopy
from ._problem import ComponentProblem, Design
from ._working_set import WorkingSet

__all__ = ["component_path", "solve_path"]

_WORTH_FOLLOWING = 3  # maximum number of penalties that are solved one by one: the exact path would cost more


def component_path(
    X: MatrixLike,
    K: MatrixLike = None,
    k: int | None = None,
    *,
    mus: Sequence[PenaltyLike],
    gammas: PenaltyLike | Sequence[PenaltyLike] = "auto",
    fit_dual: bool = True,
    y: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = DEFAULT_MAX_ITER,
) -> list[ComponentResult]:
    """Solve the convex problem of one component at many penalties, faster than by separate calls of `solve_component`.

    The problems are solved in order of decreasing mu, each from the solution and working set of the previous one; with
    `fit_dual=False` and more than three penalties the exact lasso path is followed. Every solution has its own
    certificate.

    Parameters
    ----------
    X, K, k, fit_dual, y, tol, max_iter : as for `solve_component`
    mus : sequence of "auto", "auto*FACTOR" or float
    gammas : "auto", "auto*FACTOR" or float, or a sequence of these as long as `mus`
        One gamma per mu, or the same for all; finite.

    Returns
    -------
    list of ComponentResult
        One per penalty, in the order of `mus`. `n_passes` counts only the passes since the previous solution.

    Examples
    --------
    >>> import numpy as np, scca
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(20, 50)), rng.normal(size=(20, 8))
    >>> path = scca.component_path(X, Y @ Y.T, 3, mus=["auto*4", "auto*2", "auto", "auto*0.5"])
    >>> [answer.converged for answer in path]
    [True, True, True, True]
    """
    x_penalties = _penalties(mus, "mus", zero_allowed=False)
    n = len(x_penalties)
    given = [gammas] * n if isinstance(gammas, str | Real) else gammas
    y_penalties = _penalties(given, "gammas", zero_allowed=True)
    if len(y_penalties) != n:
        raise ValueError(f"gammas must be one penalty or as many as mus, {n}; got {len(y_penalties)}: pass one per mu.")
    if any(gamma.value == np.inf for gamma in y_penalties):
        raise ValueError("gammas must be finite; got inf: pass fit_dual=False to fix e at the anchor.")
    w_view, e_view, anchor, y = checked_problem(X, K, k, y, fit_dual)
    return solve_path(
        w_view,
        y,
        x_penalties,
        e_view=e_view,
        anchor=anchor,
        gammas=y_penalties if fit_dual else None,
        tol=check_tolerance(tol),
        max_iter=check_count(max_iter, "max_iter"),
    )


def _penalties(given: Any, name: str, *, zero_allowed: bool) -> list[Penalty]:
    values = [] if isinstance(given, str | Real) else list(given)
    if not values:
        raise ValueError(
            f'{name} must be a sequence of one or more penalties; got {given!r}: pass for example ["auto"].'
        )
    return [Penalty.parse(value, f"each of {name}", zero_allowed=zero_allowed) for value in values]


def solve_path(
    w_view: View,
    y: np.ndarray,
    mus: Sequence[Penalty],
    *,
    e_view: View | None = None,
    anchor: int | None = None,
    gammas: Sequence[Penalty] | None = None,
    tol: float,
    max_iter: int,
) -> list[ComponentResult]:
    """`solve_views` for every pair of penalties in `mus` and `gammas`, in their order; without gammas e is fixed.

    With e fixed, many penalties are solved along the exact path. Warm starts alone are faster, but where features are
    equal they give weights to more of them: the paper's Figure 1 counts the features of the exact path. Every solution
    is certified, and improved from there if rounding error has spoiled the path.
    """
    e_view = no_view(len(y)) if e_view is None else e_view
    with blas_threads_for(w_view.n_stored, e_view.n_stored), np.errstate(over="ignore", invalid="ignore"):
        design = Design(w_view, no_view(len(y)) if gammas is None else e_view, y, anchor)
        w_correlations, e_correlations = design.split(design.correlations_of_y)
        mu_values = [mu.resolve(lambda: w_correlations) for mu in mus]
        gamma_values = [np.inf] * len(mus)
        if gammas is not None:
            gamma_values = [gamma.resolve(lambda: e_correlations) for gamma in gammas]
        homotopy = Homotopy(design) if gammas is None and len(mus) > _WORTH_FOLLOWING else None
        results: dict[int, ComponentResult] = {}
        working_set = outcome = None
        passes_before = 0
        for position in sorted(range(len(mus)), key=lambda i: (-mu_values[i], -gamma_values[i])):
            problem = ComponentProblem(design, mu_values[position], gamma_values[position])
            if working_set is None:
                working_set = WorkingSet(problem, tol * design.square)
            working_set.continue_with(problem)
            outcome = solve_certified(working_set, _start(problem, homotopy, outcome), max_iter)
            e = weights_on_samples(e_view, design, outcome.z)
            results[position] = finished(problem, outcome, e, tol, max_iter, passes_before)
            passes_before = design.n_passes
    return [results[position] for position in range(len(mus))]


def _start(problem: ComponentProblem, homotopy: Homotopy | None, before: Outcome | None) -> np.ndarray | Outcome:
    if homotopy is not None:
        return homotopy.at(problem.mu)
    if before is None or problem.mu == 0:  # mu = 0 fixes w at 0, whatever it was before
        return np.zeros(problem.design.size)
    return before
