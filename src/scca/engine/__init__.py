"""Many fits and long ones: splitting pairs, running tasks, progress, checkpoints, warnings, threads of BLAS."""

from ._blas import blas_threads_for, is_small, one_blas_thread
from ._checkpoint import Checkpoint, CheckpointError, CheckpointWarning, text_array, texts_of
from ._pairs import Pairs, Samples
from ._run import Progress, check_n_jobs, run_tasks
from ._splits import Split, consecutive_folds, random_folds
from ._together import inner, parts, times, together
from ._warnings import Collector, collected, say_once, silenced, warn
from ._work import Report, kept, long_work, part_of, report, unreported

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
    # threads
    "together",
    "parts",
    "inner",
    "times",
    # warnings
    "warn",
    "collected",
    "silenced",
    "say_once",
    "Collector",
    # long work
    "Report",
    "long_work",
    "part_of",
    "report",
    "unreported",
    "kept",
    "Checkpoint",
    "CheckpointError",
    "CheckpointWarning",
    "text_array",
    "texts_of",
    # BLAS
    "one_blas_thread",
    "blas_threads_for",
    "is_small",
]
