"""Long work: its progress, and steps that a later run need not repeat."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ._checkpoint import Checkpoint

__all__ = ["Report", "Stage", "from_checkpoint", "long_work", "part_of", "preview", "previewed", "report", "unreported"]

_WORTH_STORING = 1.0  # minimum number of seconds that a step has taken if it is stored

Report = Callable[[str, float, float], None]  # what is being done, how much is done, and of how much
Arrays = Mapping[str, np.ndarray]
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Work:
    report: Report | None = None
    checkpoint: Checkpoint | None = None
    preview: Callable[..., None] | None = None
    whole: str = ""  # name, for users, of the work that the current work is a part of
    step: str = ""  # name of that work in the checkpoint
    stretch: "_PartOfStage | None" = None  # the part of a stage that is being done


@dataclass(frozen=True)
class _PartOfStage:
    """A part of a stage: from `start` to `stop`, as shares of the whole stage."""

    what: str
    start: float
    stop: float


_NO_WORK = _Work()
_work: ContextVar[_Work] = ContextVar("work", default=_NO_WORK)


@contextmanager
def _changed_work(**changes: Any) -> Iterator[None]:
    token = _work.set(replace(_work.get(), **changes))
    try:
        yield
    finally:
        _work.reset(token)


@contextmanager
def long_work(report: Report | None = None, checkpoint: Checkpoint | None = None) -> Iterator[None]:
    """A context whose work reports its progress to `report`, and stores its steps in `checkpoint`."""
    with _changed_work(report=report, checkpoint=checkpoint) if report or checkpoint else _changed_work():
        yield


@contextmanager
def previewed(show: Callable[..., None] | None) -> Iterator[None]:
    """A context whose work passes its first results to `show`, unless that is None."""
    with _changed_work(preview=show):
        yield


@contextmanager
def part_of(whole: str) -> Iterator[None]:
    """A context whose stages are reported as parts of `whole`."""
    with _changed_work(whole=whole):
        yield


@contextmanager
def unreported(quietly: bool = True) -> Iterator[None]:
    """A context whose work reports no progress: several pieces of work at a time would contradict each other."""
    with _changed_work(report=None) if quietly else _changed_work():
        yield


def report(what: str, done: float, total: float) -> None:
    """Report how much of `what` is done, in any unit that is proportional to time."""
    work = _work.get()
    if work.report is None:
        return
    done = min(done, total)
    if (stretch := work.stretch) is not None:
        within = done / total if total > 0 else 1.0
        what, done, total = stretch.what, stretch.start + (stretch.stop - stretch.start) * within, 1.0
    work.report(f"{work.whole}: {what}" if work.whole else what, done, total)


def preview(make: Callable[[], Sequence[Any]]) -> None:
    """Make first results and show them, if `previewed` asks for them.

    They are not stored, so that a checkpoint does not depend on whether they were shown.
    """
    if (show := _work.get().preview) is not None:
        with _changed_work(whole="first results", checkpoint=None):
            results = make()
        show(*results)


class Stage:
    """Work in several steps, reported as one: the progress of a step counts as a part of the stage.

    Parameters
    ----------
    what : str
        What is being done, for users.
    length : float
        Length of all steps together, in any unit that is proportional to time.
    """

    def __init__(self, what: str, length: float):
        self._what, self._length, self._done = what, length, 0.0

    @contextmanager
    def step(self, length: float) -> Iterator[None]:
        """A context of one step; a stage within a step of another stage reports as a part of the outer one."""
        outer = _work.get().stretch or _PartOfStage(self._what, 0.0, 1.0)
        start, stop = (
            outer.start + (outer.stop - outer.start) * min(at / self._length, 1.0)
            for at in (self._done, self._done + length)
        )
        with _changed_work(stretch=_PartOfStage(outer.what, start, stop)):
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
    """The result of `compute`, or the one that an earlier run stored.

    A result that took a second or more is stored as arrays. It replaces the smaller steps that `compute` has stored.
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
    with _changed_work(step=step):
        result = compute()
    if time.monotonic() - start >= _WORTH_STORING:
        checkpoint.write(step, pack(result))
    return result
