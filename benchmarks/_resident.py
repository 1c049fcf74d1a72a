"""Resident memory of this process. Nothing else is imported, so that a process can measure what it imports."""

import resource
import sys
from pathlib import Path

__all__ = ["reset_peak", "resident"]

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident(field: str) -> int:
    """Bytes now (VmRSS) or at the most so far (VmHWM); where the system has no such file, at the most for either.

    Linux's own `ru_maxrss` would not do: it starts from what the parent process had.
    """
    if not _STATUS.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def reset_peak() -> None:
    """Let the most so far be what there is now, where the system can: loading data may have taken more for a moment."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")
