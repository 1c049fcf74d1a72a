"""The convex problem of one component: a certified solver, the paper's own algorithm, and the penalties."""

from ._component import ALGORITHMS, DEFAULT_MAX_ITER, ComponentResult, no_view, solve_component, solve_views
from ._path import component_path, solve_path
from ._penalties import Penalty
from ._problem import ComponentProblem, Design

__all__ = [
    # for users
    "solve_component",
    "component_path",
    "ComponentResult",
    # for the estimators
    "solve_views",
    "no_view",
    "solve_path",
    "Penalty",
    "ALGORITHMS",
    "DEFAULT_MAX_ITER",
    # the mathematics
    "Design",
    "ComponentProblem",
]
