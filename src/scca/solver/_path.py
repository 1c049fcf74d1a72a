"""The lasso of Section 5.1 at many penalties."""

from collections.abc import Sequence

import numpy as np

from .._threads import threads_for
from ..views import View
from ._certified import solve_certified
from ._component import ComponentResult, finished, no_view
from ._homotopy import Homotopy
from ._penalties import Penalty
from ._problem import ComponentProblem, Design
from ._working_set import WorkingSet

__all__ = ["solve_path"]

_WORTH_FOLLOWING = 3  # fewer penalties are solved one by one: the path down to them would cost more


def solve_path(
    left: View, y: np.ndarray, mus: Sequence[Penalty], *, tol: float, max_iter: int
) -> list[ComponentResult]:
    """`solve_views` with e held, for every penalty of `mus`, in their order.

    Many penalties are followed down the exact path, so a thousand cost little more than the smallest alone. Every
    answer is certified, and solved on from where the path led should rounding error have spoiled it.
    """
    design = Design(left, no_view(len(y)), y, None)
    values = [mu.resolve(design.correlations_of_y) for mu in mus]
    results: dict[int, ComponentResult] = {}
    with threads_for(left), np.errstate(over="ignore", invalid="ignore"):
        homotopy = Homotopy(design) if len(values) > _WORTH_FOLLOWING else None
        for position in sorted(range(len(values)), key=lambda i: -values[i]):
            problem = ComponentProblem(design, values[position], np.inf)
            passes_before = design.n_passes
            start = np.zeros(design.size) if homotopy is None else homotopy.at(problem.mu)
            outcome = solve_certified(WorkingSet(problem, tol * design.square), start, max_iter)
            results[position] = finished(problem, outcome, None, tol, max_iter, passes_before)
    return [results[position] for position in range(len(values))]
