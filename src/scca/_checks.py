"""Checks of settings, and messages to users: warnings, errors of one sentence, penalties as users write them."""

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral, Real
from threading import Lock
from typing import Any

import numpy as np

__all__ = [
    # warnings and errors
    "AllZeroWarning",
    "DataWarning",
    "EmptyComponentWarning",
    "EvidenceWarning",
    "NothingSharedError",
    # giving and collecting warnings
    "Collector",
    "collected",
    "say_once",
    "silenced",
    "warn",
    # settings
    "Penalty",
    "check_choice",
    "check_count",
    "check_flag",
    "check_keywords",
    "check_seed",
    "check_tolerance",
    "mean_rule",
    "shown",
]

_MOST_QUOTED = 80  # maximum number of characters of a value in a message


class DataWarning(UserWarning):
    """Something in the data does not prevent the computation but is probably unintended."""


class EvidenceWarning(DataWarning):
    """Evidence that the model holds on new samples is missing, or weaker than it seems."""


class AllZeroWarning(DataWarning):
    """Samples are all zero; a caller that made them from other data can warn in other words instead."""


class NothingSharedError(ValueError):
    """The views share nothing: not even one component exists."""


class EmptyComponentWarning(UserWarning):
    """A component has no weights, or could only be found by fixing e at its anchor or with a smaller penalty."""


# --- warnings ---------------------------------------------------------------------------------------------------------

# packages that never contain the user's line
_MACHINERY = {__name__.partition(".")[0], "joblib", "sklearn"}
_COLLECTOR_LOCK = Lock()  # one lock for all collectors, which are pickled: a lock cannot be


class Collector:
    """The warnings of a piece of work: the number of each category, and its first message.

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
        with _COLLECTOR_LOCK:
            self.times[category] += 1
            self.first.setdefault(category, f"{self._label}: {message}" if self._label else message)
        return True


class _Silence:
    """Drops warnings of the given categories."""

    def __init__(self, categories: tuple[type[Warning], ...]):
        self._categories = categories

    def take(self, message: str, category: type[Warning]) -> bool:
        return issubclass(category, self._categories)


# Receivers of warnings, innermost last. `warnings.catch_warnings` replaces functions of the whole process, and two
# overlapping threads would not restore them correctly.
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
        Name of the pieces of work, in the plural.
    """
    collectors = list(collectors)
    times = Counter(category for collector in collectors for category in collector.times)
    for category, count in times.items():
        first = next(collector.first[category] for collector in collectors if category in collector.first)
        warn(f"in {count} of {len(collectors)} {what}, the first time: {first}", category)


# --- settings ---------------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as messages quote it: on one line, shortened if it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}..."


def check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """`value`, if it is one of `choices` (strings, booleans or None); arrays and the like never compare equal."""
    value = bool(value) if isinstance(value, np.bool_) else value
    if any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        return value
    names = list(map(repr, choices))
    bound = " or ".join(names) if len(names) == 2 else f"one of {', '.join(names)}"
    raise ValueError(f"{name} must be {bound}; got {shown(value)}.")


def check_flag(value: Any, name: str) -> bool:
    return check_choice(value, name, (True, False))


def check_count(value: Any, name: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {shown(value)}.")
    return int(value)


def check_tolerance(value: Any, name: str = "tol") -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1; got {shown(value)}: 1e-6 is the default.")
    return float(value)


def check_seed(value: Any) -> None:
    from sklearn.utils import check_random_state

    try:
        check_random_state("a flag is no seed" if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState; got "
            f"{shown(value)}."
        ) from None


def check_keywords(value: Any, name: str) -> None:
    """Refuse anything but None or a dictionary whose keys are strings."""
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
        raise ValueError(f"{name} must be None or a dict with names as keys, as {{'gamma': 0.1}}; got {shown(value)}.")


# --- penalties --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Penalty:
    """An absolute value, or a multiple of the automatic value."""

    value: float | None = None
    factor: float = 1.0

    @classmethod
    def parse(cls, given: Any, name: str, *, zero_allowed: bool) -> "Penalty":
        """Parse a user's penalty; `name` is what error messages call it."""
        bound = "at least 0" if zero_allowed else "greater than 0 and finite"
        if isinstance(given, str):
            head, _, tail = given.replace(" ", "").partition("*")
            try:
                factor = float(tail) if tail else 1.0
            except ValueError:
                factor = np.nan
            if head != "auto" or (tail == "" and "*" in given) or not 0 < factor < np.inf:
                raise ValueError(
                    f'{name} must be "auto", "auto*FACTOR" with a factor greater than 0, or a number {bound}; '
                    f'got {given!r}: write for example "auto*0.5".'
                )
            return cls(factor=factor)
        number = isinstance(given, Real) and not isinstance(given, bool)
        unfit = not number or np.isnan(given) or given < 0
        if unfit or (not zero_allowed and (given == 0 or np.isinf(given))):
            raise ValueError(
                f'{name} must be "auto", "auto*FACTOR" or a number {bound}; got {given!r}: "auto" lets the data set it.'
            )
        return cls(value=float(given))

    def resolve(self, correlations: Callable[[], np.ndarray]) -> float:
        """The penalty in the scale of the objective; `correlations` computes M'y of the coordinates it applies to."""
        return self.value if self.value is not None else self.factor * mean_rule(correlations())


def mean_rule(correlations: np.ndarray) -> float:
    """The paper's automatic value: the mean over all coordinates of |2 M'y|."""
    return 2.0 * float(np.abs(correlations).sum() / len(correlations))
