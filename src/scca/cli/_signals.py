"""Signals end a command through all its cleanup, so that no file is left half-written."""

import signal
from types import FrameType

__all__ = ["Terminated", "handle_signals", "interrupted", "terminated"]


class Terminated(SystemExit):
    """SIGTERM or SIGHUP; `message` says how to go on, if that is possible."""

    message = ""


_interrupts = 0
_termination: Terminated | None = None


def handle_signals() -> None:
    """Remember Ctrl-C from now on, and let SIGTERM and SIGHUP end the command in the same way."""
    for name, handler in (("SIGINT", _interrupt), ("SIGTERM", _end), ("SIGHUP", _end)):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # ignored under `nohup`
            signal.signal(number, handler)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed; compiled libraries turn KeyboardInterrupt into other errors while they load."""
    return _interrupts > 0


def terminated() -> Terminated | None:
    """The last SIGTERM or SIGHUP; such libraries turn it into other errors too."""
    return _termination


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _interrupts
    _interrupts += 1
    raise KeyboardInterrupt


def _end(number: int, frame: FrameType | None) -> None:
    global _termination
    _termination = Terminated(128 + number)
    raise _termination
