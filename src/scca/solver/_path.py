"""The lasso of Section 5.1 over many penalties, each solve starting where the one before it ended."""

from collections.abc import Sequence

import numpy as np

from .._threads import threads_for
from ..views import View
from ._certified import Outcome, solve_certified
from ._component import ComponentResult, finished, no_view
from ._penalties import Penalty
from ._problem import ComponentProblem, Design
from ._working_set import WorkingSet

__all__ = ["solve_path"]


def solve_path(
    left: View, y: np.ndarray, mus: Sequence[Penalty], *, tol: float, max_iter: int
) -> list[ComponentResult]:
    """`solve_views` with e held, for every penalty of `mus`, in their order.

    Solved from the largest penalty down: the working set and its Gram matrix serve them all, so many values cost little
    more than the smallest alone. Every answer carries its own certificate.
    """
    design = Design(left, no_view(len(y)), y, None)
    tolerance = tol * float(y @ y)
    values = [mu.resolve(design.correlations_of_y) for mu in mus]
    results: dict[int, ComponentResult] = {}
    outcome: np.ndarray | Outcome = np.zeros(design.size)
    algorithm = None
    with threads_for(left), np.errstate(over="ignore", invalid="ignore"):
        for position in sorted(range(len(values)), key=lambda i: -values[i]):
            problem = ComponentProblem(design, values[position], np.inf)
            algorithm = WorkingSet(problem, tolerance) if algorithm is None else algorithm.turned_to(problem)
            passes_before = design.n_passes
            outcome = solve_certified(algorithm, outcome, max_iter)
            results[position] = finished(problem, outcome, None, tol, max_iter, passes_before)
    return [results[position] for position in range(len(values))]
