"""Work shared among threads, processes or a cluster, with the same result for any number of them."""

from ._lapack import invert_by_triangle, leading_eigh, solve_by_triangle, triangle_of, whiten_by_triangle
from ._tasks import (
    Outcomes,
    Progress,
    Runner,
    blas_threads_for,
    check_n_jobs,
    in_sequence,
    inner,
    is_small,
    map_threads,
    one_blas_thread,
    one_core,
    outcome,
    parts,
    run_by,
    run_here,
    run_tasks,
    times,
)

__all__ = [
    # tasks
    "run_tasks",
    "check_n_jobs",
    "Progress",
    # who runs them
    "run_by",
    "run_here",
    "in_sequence",
    "outcome",
    "Runner",
    "Outcomes",
    # threads
    "map_threads",
    "one_core",
    "parts",
    "inner",
    "times",
    # BLAS
    "one_blas_thread",
    "blas_threads_for",
    "is_small",
    # LAPACK, in threads
    "triangle_of",
    "solve_by_triangle",
    "invert_by_triangle",
    "whiten_by_triangle",
    "leading_eigh",
]
