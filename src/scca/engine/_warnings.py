"""Warnings of one fit and of many: finding the user's line, collecting, and giving each kind once."""

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

__all__ = ["Collector", "collected", "say_once", "silenced", "warn"]

# packages whose frames are never the user's line
_MACHINERY = {__name__.partition(".")[0], "joblib", "sklearn"}
_COUNTING = Lock()  # one for all collectors, since these are pickled and locks cannot be


class Collector:
    """The warnings of a piece of work: how often each category, and its first message.

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
    """Drops warnings of the given categories."""

    def __init__(self, categories: tuple[type[Warning], ...]):
        self._categories = categories

    def take(self, message: str, category: type[Warning]) -> bool:
        return issubclass(category, self._categories)


# Who receives a warning, innermost last. `warnings.catch_warnings` replaces functions of the whole process, and two
# threads that overlap would not restore them correctly.
_LISTENERS: ContextVar[tuple[Collector | _Silence, ...]] = ContextVar("listeners", default=())


def warn(message: str, category: type[Warning]) -> None:
    """Give a warning to the enclosing collector or, if there is none, to the user, at the line of their code."""
    if not any(listener.take(message, category) for listener in reversed(_LISTENERS.get())):
        warnings.warn(message, category, stacklevel=_level_of_the_user())


def _level_of_the_user() -> int:
    """The stack level, relative to `warn`, of the first caller outside this library, joblib and scikit-learn."""
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
    """A context that collects warnings in the `Collector` it returns; a label precedes their messages."""
    return _heard_by(Collector(label))


def silenced(*categories: type[Warning]) -> AbstractContextManager[Any]:
    """A context in which warnings of these categories are dropped."""
    return _heard_by(_Silence(categories))


def say_once(collectors: Iterable[Collector], what: str) -> None:
    """Warn once per category, with the number of collectors that have it and the first message.

    Parameters
    ----------
    collectors : one per piece of work, in order
    what : str
        What the pieces are, in the plural.
    """
    collectors = list(collectors)
    times = Counter(category for collector in collectors for category in collector.times)
    for category, count in times.items():
        first = next(collector.first[category] for collector in collectors if category in collector.first)
        warn(f"in {count} of {len(collectors)} {what}, the first time: {first}", category)
