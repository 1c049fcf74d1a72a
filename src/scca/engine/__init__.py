"""Many fits and long ones: splitting pairs, running tasks, progress, checkpoints, warnings, threads of BLAS."""

from ._blas import blas_threads_for, is_small, one_blas_thread
from ._blocks import (
    AllBut,
    Block,
    Elsewhere,
    Function,
    SampleValues,
    added,
    each,
    parts_of,
    samples_elsewhere,
    summed,
    unique,
)
from ._checkpoint import Checkpoint, CheckpointError, CheckpointWarning, has_steps, text_array, texts_of
from ._groups import Groups
from ._pairs import Pairs, Samples
from ._run import Outcomes, Progress, Runner, check_n_jobs, in_sequence, outcome, run_by, run_here, run_tasks
from ._splits import Split, consecutive_folds, random_folds
from ._together import inner, one_core, parts, times, together
from ._warnings import Collector, collected, say_once, silenced, warn
from ._work import Report, Stage, kept, long_work, part_of, preview, previewed, report, unreported

__all__ = [
    # pairs
    "Pairs",
    "Samples",
    "Groups",
    "Split",
    "consecutive_folds",
    "random_folds",
    # samples in memory or elsewhere
    "summed",
    "each",
    "added",
    "parts_of",
    "Function",
    "Elsewhere",
    "Block",
    "SampleValues",
    "AllBut",
    "samples_elsewhere",
    "unique",
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
    "together",
    "one_core",
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
    "Stage",
    "preview",
    "previewed",
    "unreported",
    "kept",
    "Checkpoint",
    "CheckpointError",
    "CheckpointWarning",
    "has_steps",
    "text_array",
    "texts_of",
    # BLAS
    "one_blas_thread",
    "blas_threads_for",
    "is_small",
]
