"""Wording of messages: numbers with nouns, and settings named as Python parameters or command-line options."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["NO_VALUE", "setting", "counted", "ordinal", "spelled", "joined", "any_setting", "naming"]

NO_VALUE = object()
Naming = Callable[[str, object], str]

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun; the plural of `one` is `many`, by default `one` with an s.

    Examples
    --------
    >>> counted(1, "query", "queries"), counted(2, "word")
    ('1 query', '2 words')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def spelled(number: int) -> str:
    """A number as text has it: small ones as a word.

    Examples
    --------
    >>> spelled(3), spelled(12)
    ('three', '12')
    """
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


def ordinal(number: int) -> str:
    """The word for what comes at this position, counted from 1.

    Examples
    --------
    >>> ordinal(3), ordinal(12), ordinal(21)
    ('third', '12th', '21st')
    """
    if number <= len(_ORDINALS):
        return _ORDINALS[number - 1]
    ending = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def joined(items: Sequence[str], last: str = "and") -> str:
    """A list in a sentence.

    Examples
    --------
    >>> joined(["en", "fr", "es"])
    'en, fr and es'
    """
    return f" {last} ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


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
