"""Documents in two or more languages, checked once and then streamed from their files as often as needed."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from .._checks import DataWarning, warn
from .._wording import counted, joined, ordinal, setting, spelled
from ._files import PairError, Piped

__all__ = [
    "BlankCount",
    "PairedText",
    "RemoteTexts",
    "Row",
    "Source",
    "TextViews",
    "checked_names",
    "row_word",
    "text_views",
    "warn_of_blank",
]

_Item = TypeVar("_Item")

Row = tuple[str | None, ...]  # the documents of a sample, one for each view; None for a missing one


class Source(ABC):
    """Where documents come from; `str` gives its name. A missing document is None, an empty one is an empty string."""

    path: Path | Piped

    def __str__(self) -> str:
        return str(self.path)

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Stream the documents of all views together, from the start."""

    def documents(self, view: int) -> Iterator[str | None]:
        """Stream the documents of one view, from the start."""
        return (row[view] for row in self.rows())

    @abstractmethod
    def place(self, view: int, position: int) -> str:
        """Where a document is, for messages."""


class TextViews:
    """Documents in two or more languages, or any texts about the same things: documents i of all views belong together.

    Iteration gives a tuple of documents for each sample, `len` the number of samples. Each iteration, like each call of
    `documents`, reads the file again, with few documents in memory at a time. Created by `read_texts` and
    `TextViews.of`.

    Attributes
    ----------
    languages : tuple of str
        Labels of the views.
    empty : tuple of int
        Positions, counted from 0 over all samples, at which a document of any view is blank or missing.
    dropped : tuple of int
        The positions that are left out: all of `empty`, or none.
    digest : str
        A hash of all documents, by which a checkpoint recognises them.
    """

    def __init__(self, source: Source, languages: tuple[str, ...], drop_empty: bool = False):
        self.languages = languages
        self._source, self._total = source, 0
        digest, blank, empty = hashlib.blake2b(digest_size=16), BlankCount(source.place, drop_empty), []
        for position, row in enumerate(source.rows()):
            self._total += 1
            digest.update("".join(f"{document}\n" for document in row).encode(errors="surrogatepass"))
            if blank.is_blank(row, position):
                empty.append(position)
        self.digest, self.empty = digest.hexdigest(), tuple(empty)
        self.dropped = self.empty if drop_empty else ()
        n_views = len(languages)
        if not len(self):
            where = "on both sides" if n_views == 2 else f"in all {spelled(n_views)} views"
            lack = f"with text {where}" if self._total else "at all"
            raise PairError(f"{source} has no {row_word(n_views)} {lack}; add some.")
        if not drop_empty:
            warn_of_blank(blank.n_documents, blank.first, n_views)

    @classmethod
    def of(cls, views: Mapping[str, Iterable[str]], drop_empty: bool = False) -> "TextViews":
        """Wrap lists of documents, with the checks of `read_texts`.

        Parameters
        ----------
        views : mapping from the name of a language to a list of documents
            Documents i of all lists belong together.
        drop_empty : bool
            Leave out samples with a blank document in any view, instead of warning.

        Returns
        -------
        TextViews
            A `PairedText` if there are two.
        """
        if not isinstance(views, Mapping):
            raise PairError(
                f"TextViews.of takes lists by the names of their languages; got a {type(views).__name__}: pass "
                "{'en': [...], 'fr': [...]}."
            )
        return text_views(_Lists(list(views.values())), checked_names(tuple(views), "languages"), drop_empty)

    def __len__(self) -> int:
        return self._total - len(self.dropped)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return self._kept(self._source.rows())  # type: ignore[arg-type]  # nothing is None once inspected

    def __repr__(self) -> str:
        n_rows = counted(len(self), row_word(len(self.languages)))
        return f"<{type(self).__name__} of {n_rows}, {joined([*map(repr, self.languages)])}>"

    def documents(self, view: int) -> Iterator[str]:
        """Stream the documents of one view, from the start.

        Parameters
        ----------
        view : int
            The number of the view, counted from 0.

        Returns
        -------
        iterator of str
        """
        numbers = range(len(self.languages))
        if view not in numbers:
            possible = joined([*map(str, numbers)], "or") if len(numbers) < 4 else f"0 to {numbers[-1]}"
            raise ValueError(f"view must be {possible}; got {view!r}.")
        return self._kept(self._source.documents(view))  # type: ignore[arg-type]  # see __iter__

    def _kept(self, items: Iterator[_Item]) -> Iterator[_Item]:
        dropped = frozenset(self.dropped)
        count = 0
        for count, item in enumerate(islice(items, self._total), 1):
            if count - 1 not in dropped:
                yield item
        if count != self._total or any(True for _ in items):
            had = counted(self._total, row_word(len(self.languages)))
            raise PairError(f"{self._source} has changed since it was checked, when it had {had}; read it again.")


class PairedText(TextViews):
    """Pairs of documents: the `TextViews` of two languages, or of any two texts about the same things.

    Created by `read_pairs`, `read_texts` and `PairedText.of`; its attributes are those of `TextViews`.
    """

    languages: tuple[str, str]

    @classmethod
    def of(  # type: ignore[override]  # two lists need no mapping
        cls,
        first: Iterable[str],
        second: Iterable[str],
        languages: tuple[str, str] = ("first", "second"),
        drop_empty: bool = False,
    ) -> Self:
        """Wrap two lists of documents, with the checks of `read_pairs`.

        Parameters
        ----------
        first, second : lists of str
            Documents i of both are a pair.
        languages : tuple of two str
            Their labels.
        drop_empty : bool
            Leave out pairs with a blank document, instead of warning.

        Returns
        -------
        PairedText
        """
        return cls(_Lists([first, second]), checked_names(languages, "languages", 2), drop_empty)


def text_views(source: Source, languages: tuple[str, ...], drop_empty: bool) -> TextViews:
    """The checked documents of a source: a `PairedText` if there are two views."""
    return (PairedText if len(languages) == 2 else TextViews)(source, languages, drop_empty)


class RemoteTexts(ABC):
    """Documents in two or more languages outside this process, such as those on the workers of a cluster.

    Attributes
    ----------
    languages : tuple of str
        Labels of the views.
    digest : str
        A hash of all documents, by which a checkpoint recognises them.
    """

    languages: tuple[str, ...]
    digest: str

    @abstractmethod
    def __len__(self) -> int:
        """The number of samples."""

    @abstractmethod
    def here(self) -> TextViews:
        """All documents, in memory."""

    @abstractmethod
    def documents(self, view: int, rows: np.ndarray) -> list[str]:
        """The documents of one view at some positions, which are sorted, in memory."""

    @abstractmethod
    def learn(self, vectorizers: Sequence[Any]) -> tuple[list[Any], list[list[str]]]:
        """Fit a vectorizer per view: the vectors of each view in blocks, and its stop words that no document has."""


def checked_names(names: Any, what: str, number: int | None = None) -> tuple[str, ...]:
    """`names` as different strings, from anything but a single string: `number` of them, or at least two."""
    given = () if isinstance(names, str) else tuple(names)
    enough = len(given) >= 2 if number is None else len(given) == number
    are_names = all(isinstance(name, str) and name for name in given)
    if not enough or not are_names or len(set(given)) < len(given):
        needed = "two or more" if number is None else spelled(number)
        raise PairError(f"{setting(what)} must be {needed} different names; got {names!r}.")
    return given


def row_word(n_views: int) -> str:
    """What messages call a sample of so many views."""
    return "pair" if n_views == 2 else "sample"


class BlankCount:
    """Counts blank documents; refuses a sample with a missing one, unless such samples are dropped.

    Attributes
    ----------
    n_documents : int
    first : str
        Where the first blank document is.
    """

    def __init__(self, place: Callable[[int, int], str], drop_empty: bool):
        self._place, self._drop_empty = place, drop_empty
        self.n_documents, self.first = 0, ""

    def is_blank(self, row: Sequence[str | None], position: int) -> bool:
        """Whether a document of the sample at this position is blank or missing."""
        blank = [view for view, text in enumerate(row) if not text or text.isspace()]
        missing = [view for view in blank if row[view] is None]
        if missing and not self._drop_empty:
            place = self._place(missing[0], position)
            raise PairError(f"{place[0].upper()}{place[1:]} is missing; add it, or {_dropping(len(row))}.")
        self.n_documents += len(blank)
        if blank and not self.first:
            self.first = self._place(blank[0], position)
        return bool(blank)


def warn_of_blank(n_documents: int, first: str, n_views: int = 2, *, remedy: str = "") -> None:
    """Warn of blank documents, if there are any; `first` says where the first of them is."""
    if n_documents:
        count = "1 document is" if n_documents == 1 else f"{n_documents} documents are"
        warn(f"{count} empty (first: {first}); {remedy or _dropping(n_views)}.", DataWarning)


def _dropping(n_views: int) -> str:
    return f"pass {setting('drop_empty', True)} to leave such {row_word(n_views)}s out"


class _Lists(Source):
    """Lists in memory, one for each view."""

    def __init__(self, given: Sequence[Iterable[str]]):
        for number, documents in enumerate(given, 1):
            if isinstance(documents, str):
                raise PairError(
                    f"The {ordinal(number)} list is a single string, {documents[:20]!r}; pass a list of documents."
                )
        self._lists = [list(documents) for documents in given]
        self._check_lengths()
        for number, documents in enumerate(self._lists, 1):
            for position, document in enumerate(documents, 1):
                if not isinstance(document, str):
                    raise PairError(
                        f"Document {position} of the {ordinal(number)} list is {document!r}, not a string; pass "
                        "strings."
                    )

    def _check_lengths(self) -> None:
        counts = [len(documents) for documents in self._lists]
        if len(set(counts)) <= 1:
            return
        longer, shorter = ordinal(counts.index(max(counts)) + 1), ordinal(counts.index(min(counts)) + 1)
        others = joined([f"the {ordinal(number)} has {count}" for number, count in enumerate(counts[1:], 2)])
        link, lack, all_ = (" and ", "", "both") if len(counts) == 2 else (", ", f" in the {shorter}", "all")
        raise PairError(
            f"The first list has {counts[0]} documents{link}{others}: document {min(counts) + 1} of the {longer} has "
            f"no mate{lack}; pass {all_} documents of a {row_word(len(counts))} at the same position."
        )

    def __str__(self) -> str:
        n_lists = len(self._lists)
        return "The pair of lists" if n_lists == 2 else f"The set of {spelled(n_lists)} lists"

    def place(self, view: int, position: int) -> str:
        return f"document {position + 1} of the {ordinal(view + 1)} list"

    def documents(self, view: int) -> Iterator[str]:
        return iter(self._lists[view])

    def rows(self) -> Iterator[Row]:
        return zip(*self._lists, strict=True)
