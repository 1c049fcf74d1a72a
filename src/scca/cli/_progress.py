"""The progress of long work: a bar on a terminal, a line now and then in a pipe."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = ["Estimate", "bars", "lines"]

_FIRST_LINE, _NEXT_LINES = 10.0, 30.0  # seconds before the first line, and between two lines
_LEAST_DONE = 0.02  # share of a stage after which its remaining time is estimated

Report = Callable[[str, float, float], None]


@dataclass
class Estimate:
    """How much of the current stage is done, and how long the rest takes if it goes on as fast as so far.

    The first report of a stage need not be at zero: a fit that was stopped goes on where it was.
    """

    clock: Callable[[], float] = time.monotonic
    what: str = ""
    done: float = 0.0
    _start: float = 0.0
    _done_at_start: float = 0.0

    def take(self, what: str, done: float, total: float) -> None:
        self.done = done / total if total > 0 else 1.0
        if what != self.what or self.done < self._done_at_start:
            self.what, self._start, self._done_at_start = what, self.clock(), self.done

    @property
    def remaining(self) -> float | None:
        """The remaining seconds; None if too little is done to tell."""
        progress = self.done - self._done_at_start
        if progress < _LEAST_DONE:
            return None
        return (self.clock() - self._start) * (1.0 - self.done) / progress

    def __str__(self) -> str:
        left = self.remaining
        return "" if left is None or self.done >= 1.0 else f"about {duration(left)} left"


def duration(seconds: float) -> str:
    """A duration in words, rounded."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size)} {unit}"
    return f"{max(1, round(seconds))} s"


@contextmanager
def bars(console: Any) -> Iterator[Report]:
    """A bar for the current stage."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    estimate = Estimate()
    with Progress(*columns, TextColumn("{task.fields[left]}"), console=console, transient=True) as progress:
        task = progress.add_task("", total=None, left="")

        def report(what: str, done: float, total: float) -> None:
            estimate.take(what, done, total)
            progress.update(task, description=what, completed=estimate.done, total=1.0, left=str(estimate))

        yield report


@contextmanager
def lines(say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> Iterator[Report]:
    """A line now and then, which `say` prints."""
    estimate = Estimate(clock)
    next_line = clock() + _FIRST_LINE

    def report(what: str, done: float, total: float) -> None:
        nonlocal next_line
        estimate.take(what, done, total)
        if clock() >= next_line:
            next_line = clock() + _NEXT_LINES
            left = str(estimate)
            say(f"scca: {what}: {estimate.done:.0%}{', ' if left else ''}{left}")

    yield report
