"""Wording of messages: numbers with nouns, and settings named as Python parameters or command-line options."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["NO_VALUE", "setting", "counted", "any_setting", "naming"]

NO_VALUE = object()
Naming = Callable[[str, object], str]


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun; the plural of `one` is `many`, by default `one` with an s.

    Examples
    --------
    >>> counted(1, "query", "queries"), counted(2, "word")
    ('1 query', '2 words')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def _parameter(name: str, value: object) -> str:
    return name if value is NO_VALUE else f"{name}={value!r}"


_NAMING: ContextVar[Naming] = ContextVar("naming", default=_parameter)


def setting(name: str, value: object = NO_VALUE) -> str:
    """The name of a parameter, with a value if one is given, as the caller knows it.

    Examples
    --------
    >>> setting("min_df", 2)
    'min_df=2'
    """
    return _NAMING.get()(name, value)


def any_setting(*names: str) -> str:
    """The names of several parameters, as the caller knows them, without those that do not exist there.

    Examples
    --------
    >>> any_setting("max_iter", "tol", "mu")
    'max_iter, tol or mu'
    """
    *others, last = filter(None, map(setting, names))
    return f"{', '.join(others)} or {last}" if others else last


@contextmanager
def naming(words: Naming) -> Iterator[None]:
    """A context in which messages name settings by `words(name, value)`; the value may be `NO_VALUE`."""
    token = _NAMING.set(words)
    try:
        yield
    finally:
        _NAMING.reset(token)
