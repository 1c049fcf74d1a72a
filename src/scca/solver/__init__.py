"""The convex problem of one component: a certified solver, the paper's own algorithm, and the penalties."""

from ._component import ALGORITHMS, DEFAULT_MAX_ITER, ComponentResult, solve_component, solve_views, warn_of_gap
from ._path import component_path, solve_path
from ._problem import ComponentProblem, Design
from ._restricted import solve_restricted

__all__ = [
    # for users
    "solve_component",
    "component_path",
    "ComponentResult",
    # for the estimators
    "solve_views",
    "solve_path",
    "solve_restricted",
    "warn_of_gap",
    "ALGORITHMS",
    "DEFAULT_MAX_ITER",
    # the mathematics
    "Design",
    "ComponentProblem",
]
