"""Long work: how far it is, and steps that a later run need not repeat."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ._checkpoint import Checkpoint

__all__ = ["Report", "Stage", "from_checkpoint", "long_work", "part_of", "preview", "previewed", "report", "unreported"]

_WORTH = 1.0  # seconds that a step has to take to be stored

Report = Callable[[str, float, float], None]  # what is being done, how much is done, and of how much
Arrays = Mapping[str, np.ndarray]
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Work:
    report: Report | None = None
    checkpoint: Checkpoint | None = None
    preview: Callable[..., None] | None = None
    whole: str = ""  # what the current work is a part of, for users
    step: str = ""  # and for the checkpoint
    stretch: "_Stretch | None" = None  # of a stage, that the current work is


@dataclass(frozen=True)
class _Stretch:
    """The part of a stage from `start` to `stop`, shares of it."""

    what: str
    start: float
    stop: float


_NO_WORK = _Work()
_work: ContextVar[_Work] = ContextVar("work", default=_NO_WORK)


@contextmanager
def _with(**changes: Any) -> Iterator[None]:
    token = _work.set(replace(_work.get(), **changes))
    try:
        yield
    finally:
        _work.reset(token)


@contextmanager
def long_work(report: Report | None = None, checkpoint: Checkpoint | None = None) -> Iterator[None]:
    """A context whose work tells `report` how far it is, and stores its steps in `checkpoint`."""
    with _with(report=report, checkpoint=checkpoint) if report or checkpoint else _with():
        yield


@contextmanager
def previewed(show: Callable[..., None] | None) -> Iterator[None]:
    """A context whose work gives `show` its first results, if there is one."""
    with _with(preview=show):
        yield


@contextmanager
def part_of(whole: str) -> Iterator[None]:
    """A context whose stages are reported as parts of something."""
    with _with(whole=whole):
        yield


@contextmanager
def unreported(quietly: bool = True) -> Iterator[None]:
    """A context whose work does not tell how far it is: several pieces at a time would contradict each other."""
    with _with(report=None) if quietly else _with():
        yield


def report(what: str, done: float, total: float) -> None:
    """Say how much of something is done, in any unit that is proportional to time."""
    work = _work.get()
    if work.report is None:
        return
    done = min(done, total)
    if (stretch := work.stretch) is not None:
        within = done / total if total > 0 else 1.0
        what, done, total = stretch.what, stretch.start + (stretch.stop - stretch.start) * within, 1.0
    work.report(f"{work.whole}: {what}" if work.whole else what, done, total)


def preview(make: Callable[[], Sequence[Any]]) -> None:
    """Show first results to whoever asked for them, and make them only then.

    Nothing of them is stored: a checkpoint is the same whether somebody asked or not.
    """
    if (show := _work.get().preview) is not None:
        with _with(whole="first results", checkpoint=None):
            results = make()
        show(*results)


class Stage:
    """Work in several steps, reported as one: what a step reports counts as a part of it.

    Parameters
    ----------
    what : str
        What is being done, for users.
    length : float
        Of all steps together, in any unit that is proportional to time.
    """

    def __init__(self, what: str, length: float):
        self._what, self._length, self._done = what, length, 0.0

    @contextmanager
    def step(self, length: float) -> Iterator[None]:
        """A context of one step; of a stage within a step, the outer one is reported."""
        outer = _work.get().stretch or _Stretch(self._what, 0.0, 1.0)
        start, stop = (
            outer.start + (outer.stop - outer.start) * min(at / self._length, 1.0)
            for at in (self._done, self._done + length)
        )
        with _with(stretch=_Stretch(outer.what, start, stop)):
            report(self._what, 0.0, 1.0)
            yield
            report(self._what, 1.0, 1.0)
        self._done += length


def from_checkpoint(
    name: str,
    compute: Callable[[], Result],
    pack: Callable[[Result], Arrays],
    unpack: Callable[[Arrays], Result],
) -> Result:
    """The result of `compute`, or what an earlier run stored of it.

    It is stored as arrays, if it took a second or more, and replaces what was stored of the steps that it consists of,
    those that `compute` itself keeps.
    """
    work = _work.get()
    checkpoint = work.checkpoint
    if checkpoint is None:
        return compute()
    step = checkpoint.named(f"{work.step}/{name}" if work.step else name)
    stored = checkpoint.read(step)
    if stored is not None:
        return unpack(stored)
    start = time.monotonic()
    with _with(step=step):
        result = compute()
    if time.monotonic() - start >= _WORTH:
        checkpoint.write(step, pack(result))
    return result
