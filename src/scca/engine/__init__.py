"""Many fits: splitting pairs, running tasks, collecting warnings, limiting BLAS threads."""

from ._blas import blas_threads_for, one_blas_thread
from ._pairs import Pairs, Samples
from ._run import Progress, check_n_jobs, run_tasks
from ._splits import Split, consecutive_folds, random_folds
from ._warnings import Collector, collected, say_once, silenced, warn

__all__ = [
    # pairs
    "Pairs",
    "Samples",
    "Split",
    "consecutive_folds",
    "random_folds",
    # tasks
    "run_tasks",
    "check_n_jobs",
    "Progress",
    # warnings
    "warn",
    "collected",
    "silenced",
    "say_once",
    "Collector",
    # BLAS
    "one_blas_thread",
    "blas_threads_for",
]
