"""Warnings of one fit and of many: where they point, who collects them, and how they are said once."""

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

__all__ = ["Collector", "collected", "say_once", "silenced", "warn"]

# no line of these is one that a user wrote
_MACHINERY = {__name__.partition(".")[0], "joblib", "sklearn"}
_COUNTING = Lock()  # of all collectors, which travel between processes, as locks do not


class Collector:
    """What a piece of work warned of: how often each category, and what it said first.

    Attributes
    ----------
    times : Counter of categories
    first : dict of str by category
    """

    def __init__(self, label: str = ""):
        self.times: Counter[type[Warning]] = Counter()
        self.first: dict[type[Warning], str] = {}
        self._label = label

    def take(self, message: str, category: type[Warning]) -> bool:
        with _COUNTING:
            self.times[category] += 1
            self.first.setdefault(category, f"{self._label}: {message}" if self._label else message)
        return True


class _Silence:
    """Drops the categories it was made for, and lets the others pass."""

    def __init__(self, categories: tuple[type[Warning], ...]):
        self._categories = categories

    def take(self, message: str, category: type[Warning]) -> bool:
        return issubclass(category, self._categories)


# Who hears a warning, the innermost last. `warnings.catch_warnings` would swap functions of the whole process, and two
# threads that leave it in the order in which they entered leave them swapped.
_LISTENERS: ContextVar[tuple[Collector | _Silence, ...]] = ContextVar("listeners", default=())


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning to the collector around the caller or, if there is none, to the user, at the line they wrote."""
    if not any(listener.take(message, category) for listener in reversed(_LISTENERS.get())):
        warnings.warn(message, category, stacklevel=_level_of_the_user())


def _level_of_the_user() -> int:
    """The stack level, as seen by `warn`, of the first caller outside this library and what runs it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _MACHINERY:
        level, frame = level + 1, frame.f_back
    return level


@contextmanager
def _heard_by(listener: Any) -> Iterator[Any]:
    token = _LISTENERS.set((*_LISTENERS.get(), listener))
    try:
        yield listener
    finally:
        _LISTENERS.reset(token)


def collected(label: str = "") -> AbstractContextManager[Collector]:
    """A context that keeps what is warned of inside it, in the `Collector` it gives; a label goes before messages."""
    return _heard_by(Collector(label))


def silenced(*categories: type[Warning]) -> AbstractContextManager[Any]:
    """A context in which warnings of these categories are dropped."""
    return _heard_by(_Silence(categories))


def say_once(collectors: Iterable[Collector], what: str) -> None:
    """Warn once of each category, with the number of collectors that have it and the first message.

    Parameters
    ----------
    collectors : one for each piece of work, in its order
    what : str
        What the pieces are, in the plural.
    """
    collectors = list(collectors)
    times = Counter(category for collector in collectors for category in collector.times)
    for category, count in times.items():
        first = next(collector.first[category] for collector in collectors if category in collector.first)
        warn(f"in {count} of {len(collectors)} {what}, the first time: {first}", category)
