"""Work shared among threads, processes or a cluster, with the same result: tasks, threads, the threads of BLAS."""

from ._blas import blas_threads_for, is_small, one_blas_thread
from ._tasks import Outcomes, Progress, Runner, check_n_jobs, in_sequence, outcome, run_by, run_here, run_tasks
from ._threads import inner, map_threads, one_core, parts, times

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
]
