"""Signals that end a command: through all cleanup, so that no file is left half-written."""

import signal
from types import FrameType

__all__ = ["Terminated", "handle_signals", "interrupted", "terminated"]


class Terminated(SystemExit):
    """SIGTERM or SIGHUP; `message` is what there is to say about it, if anything."""

    message = ""


_interrupts = 0
_termination: Terminated | None = None


def handle_signals() -> None:
    """From now on Ctrl-C is remembered, and SIGTERM and SIGHUP exit as it does."""
    for name, handler in (("SIGINT", _interrupt), ("SIGTERM", _end), ("SIGHUP", _end)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # ignored under `nohup`
            signal.signal(number, handler)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed: compiled libraries that are loading turn KeyboardInterrupt into other errors."""
    return _interrupts > 0


def terminated() -> Terminated | None:
    """The last SIGTERM or SIGHUP, which such libraries turn into other errors too."""
    return _termination


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupts
    _interrupts += 1
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    global _termination
    _termination = Terminated(128 + number)
    raise _termination
