"""Documents in a translation memory (.tmx): the segments of each unit in two or more languages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from .._checks import shown
from .._wording import setting
from ._files import PairError, Piped, opened, optional_module
from ._lines import LONGEST_DOCUMENT
from ._texts import Row, Source

__all__ = ["TmxUnits"]

_LANGUAGE_ATTRIBUTES = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_MARKUP = {"bpt", "ept", "ph", "it", "ut"}  # inline codes of the translator's tool, not of the language


class TmxUnits(Source):
    """The segments of units, one for each language; a segment that a unit lacks is None."""

    def __init__(self, path: Path | Piped, languages: tuple[str, ...] | None):
        self.path = path
        self.languages = languages or _only_languages(path)
        self._codes = tuple(map(_code, self.languages))

    def place(self, view: int, position: int) -> str:
        return f"the {self.languages[view]!r} segment of unit {position + 1} of {self.path}"

    def rows(self) -> Iterator[Row]:
        for unit in _units(self.path):
            found: dict[int, str | None] = {}
            for language, variant in _variants(unit):
                view = self._view(_code(language))
                if view is not None and view not in found:
                    found[view] = _segment(variant)
            yield tuple(found.get(view) for view in range(len(self.languages)))

    def _view(self, code: str) -> int | None:
        """The view of a language; an exact match goes before a prefix, so that "en" and "en-GB" can be two views."""
        if code in self._codes:
            return self._codes.index(code)
        return next((view for view, asked in enumerate(self._codes) if code.startswith(asked + "-")), None)


def _only_languages(path: Path | Piped) -> tuple[str, ...]:
    languages: dict[str, str] = {}
    for unit in _units(path):
        for language, _ in _variants(unit):
            languages.setdefault(_code(language), language)
    if len(languages) == 2:
        return tuple(languages.values())
    listed = ", ".join(map(shown, languages.values())) or "none"
    remedy = (
        f"pass {setting('languages')} with two or more of those it has"
        if len(languages) > 2
        else "name a file with segments in two languages"
    )
    raise PairError(f"{path} must have two languages but has {len(languages)} ({listed}); {remedy}.")


def _units(path: Path | Piped) -> Iterator[Any]:
    """Stream the <tu> elements."""
    etree = optional_module("defusedxml.ElementTree", "tmx")
    refusal = optional_module("defusedxml", "tmx").DefusedXmlException
    with opened(path) as stream:
        source = _Bounded(stream, path)
        ancestors: list[Any] = []
        inside = 0
        try:
            for event, element in etree.iterparse(source, ("start", "end"), forbid_entities=True, forbid_external=True):
                is_unit = _name(element) == "tu"
                if event == "start":
                    if not ancestors and _name(element) != "tmx":
                        raise PairError(f"{path} is not TMX: it starts with <{_name(element)}>; name a TMX file.")
                    ancestors.append(element)
                    inside += is_unit
                    continue
                ancestors.pop()
                inside -= is_unit
                if is_unit and not inside:
                    yield element
                    source.taken = 0
                if ancestors and not inside:
                    del ancestors[-1][:]  # otherwise the parents would keep every unit in memory
        except refusal as error:
            raise PairError(
                f"{path} declares an XML entity or refers to an external one, and entities are refused; write the "
                "characters themselves."
            ) from error
        except etree.ParseError as error:
            line, column = error.position  # the column from 0
            raise PairError(
                f"{path} is not well-formed XML at line {line}, column {column + 1} ({str(error).partition(':')[0]}); "
                "repair it, or export or download it again."
            ) from error
        except (LookupError, ValueError) as error:
            if isinstance(error, PairError):
                raise
            raise PairError(f"{path} has an encoding that cannot be read ({error}); convert it to UTF-8.") from error


class _Bounded:
    """Refuses a unit that is too long, which would fill the memory."""

    def __init__(self, stream: BinaryIO, path: Path | Piped):
        self.taken = 0
        self._stream, self._path = stream, path

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self.taken += len(data)
        if self.taken > LONGEST_DOCUMENT:
            raise PairError(
                f"{self._path} has a unit longer than {LONGEST_DOCUMENT // 2**20} MiB; split it or leave it out."
            )
        return data


def _variants(unit: Any) -> Iterator[tuple[str, Any]]:
    for variant in unit:
        language = next((variant.get(name) for name in _LANGUAGE_ATTRIBUTES if variant.get(name)), None)
        if _name(variant) == "tuv" and language:
            yield language, variant


def _segment(variant: Any) -> str | None:
    segment = next((child for child in variant if _name(child) == "seg"), None)
    return None if segment is None else _text(segment)


def _text(segment: Any) -> str:
    pieces: list[str] = []
    waiting = [segment]  # a stack, since codes may be nested deeper than Python's recursion limit
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
        elif _name(item) not in _MARKUP:
            content = [item.text or ""]
            for child in item:
                content += [child, child.tail or ""]
            waiting += reversed(content)
    return "".join(pieces)


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2]


def _code(language: str) -> str:
    return language.strip().replace("_", "-").casefold()
