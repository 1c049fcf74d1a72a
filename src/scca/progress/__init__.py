"""Long work: its progress, and the steps that a run after an interruption need not repeat."""

from ._checkpoint import Checkpoint, CheckpointError, CheckpointWarning, has_steps, text_array, texts_of
from ._work import Report, Stage, from_checkpoint, long_work, part_of, preview, previewed, report, unreported

__all__ = [
    # progress
    "Report",
    "long_work",
    "part_of",
    "report",
    "Stage",
    "unreported",
    # first results
    "preview",
    "previewed",
    # steps that are stored
    "from_checkpoint",
    "Checkpoint",
    "CheckpointError",
    "CheckpointWarning",
    "has_steps",
    "text_array",
    "texts_of",
]
