"""Pairs of documents, checked once and then streamed from their files as often as needed."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._checks import DataWarning, warn
from .._wording import setting
from ._files import PairError, Piped

__all__ = ["BlankCount", "PairedText", "RemotePairs", "Source", "two_names", "warn_of_blank"]

_Item = TypeVar("_Item")


class Source(ABC):
    """Where pairs come from; `str` gives its name. A missing document is None, an empty one is an empty string."""

    path: Path | Piped

    def __str__(self) -> str:
        return str(self.path)

    @abstractmethod
    def pairs(self) -> Iterator[tuple[str | None, str | None]]:
        """Stream all pairs, from the start."""

    def documents(self, side: int) -> Iterator[str | None]:
        """Stream the documents of one side, from the start."""
        return (pair[side] for pair in self.pairs())

    @abstractmethod
    def place(self, side: int, position: int) -> str:
        """Where a document is, for messages."""


class PairedText:
    """Pairs of documents: two languages, or any two texts about the same things.

    Iteration gives the pairs, `len` their number. Each iteration, like each call of `documents`, reads the file again,
    with few documents in memory at a time. Created by `read_pairs` and `PairedText.of`.

    Attributes
    ----------
    languages : tuple of two str
        Labels of the two sides.
    empty : tuple of int
        Positions, counted from 0 over all pairs, at which either side is blank or missing.
    dropped : tuple of int
        The positions that are left out: all of `empty`, or none.
    digest : str
        A hash of all documents, by which a checkpoint recognises them.
    """

    def __init__(self, source: Source, languages: tuple[str, str], drop_empty: bool = False):
        self.languages = languages
        self._source, self._total = source, 0
        digest, blank, empty = hashlib.blake2b(digest_size=16), BlankCount(source.place, drop_empty), []
        for position, pair in enumerate(source.pairs()):
            self._total += 1
            digest.update(f"{pair[0]}\n{pair[1]}\n".encode(errors="surrogatepass"))
            if blank.is_blank(pair, position):
                empty.append(position)
        self.digest, self.empty = digest.hexdigest(), tuple(empty)
        self.dropped = self.empty if drop_empty else ()
        if not len(self):
            lack = "no pair with text on both sides" if self._total else "no pair at all"
            raise PairError(f"{source} has {lack}; add some.")
        if not drop_empty:
            warn_of_blank(blank.n_documents, blank.first)

    @classmethod
    def of(
        cls,
        first: Iterable[str],
        second: Iterable[str],
        languages: tuple[str, str] = ("first", "second"),
        drop_empty: bool = False,
    ) -> "PairedText":
        """Wrap two lists of documents, with the checks of `read_pairs`.

        Parameters
        ----------
        first, second : lists of str
            Documents i of both are a pair.
        languages : tuple of two str
            Labels of the two sides.
        drop_empty : bool
            Leave out pairs with a blank side, instead of warning.

        Returns
        -------
        PairedText
        """
        return cls(_ListPairs(first, second), two_names(languages, "languages"), drop_empty)

    def __len__(self) -> int:
        return self._total - len(self.dropped)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return self._kept(self._source.pairs())  # type: ignore[arg-type]  # nothing is None once inspected

    def __repr__(self) -> str:
        return f"<PairedText of {len(self)} pairs, {self.languages[0]!r} and {self.languages[1]!r}>"

    def documents(self, side: int) -> Iterator[str]:
        """Stream the documents of one side, from the start.

        Parameters
        ----------
        side : 0 or 1

        Returns
        -------
        iterator of str
        """
        if side not in (0, 1):
            raise ValueError(f"side must be 0 or 1; got {side!r}.")
        return self._kept(self._source.documents(side))  # type: ignore[arg-type]  # see __iter__

    def _kept(self, items: Iterator[_Item]) -> Iterator[_Item]:
        dropped = frozenset(self.dropped)
        count = 0
        for count, item in enumerate(islice(items, self._total), 1):
            if count - 1 not in dropped:
                yield item
        if count != self._total or any(True for _ in items):
            raise PairError(
                f"{self._source} has changed since it was checked, when it had {self._total} pairs; read it again."
            )


class RemotePairs(ABC):
    """Pairs of documents outside this process, such as those on the workers of a cluster.

    Attributes
    ----------
    languages : tuple of two str
    digest : str
        A hash of all pairs, by which a checkpoint recognises them.
    """

    languages: tuple[str, str]
    digest: str

    @abstractmethod
    def __len__(self) -> int:
        """The number of pairs."""

    @abstractmethod
    def here(self) -> PairedText:
        """All pairs, in memory."""

    @abstractmethod
    def documents(self, side: int, rows: np.ndarray) -> list[str]:
        """The documents of one side at some positions, which are sorted, in memory."""

    @abstractmethod
    def learn(self, vectorizers: Sequence[Any]) -> tuple[Any, Any, list[list[str]]]:
        """Fit the vectorizers: the vectors of both sides in blocks, and the stop words that no document has."""


def two_names(names: Any, what: str) -> tuple[str, str]:
    """`names` as two different strings, from anything but a single string of two letters."""
    given = () if isinstance(names, str) else tuple(names)
    if len(given) != 2 or not all(isinstance(name, str) and name for name in given) or given[0] == given[1]:
        raise PairError(f"{setting(what)} must be two different names; got {names!r}.")
    return given


class BlankCount:
    """Counts the blank documents of pairs; refuses a pair with a missing one, unless such pairs are dropped.

    Attributes
    ----------
    n_documents : int
    first : str
        Where the first blank document is.
    """

    def __init__(self, place: Callable[[int, int], str], drop_empty: bool):
        self._place, self._drop_empty = place, drop_empty
        self.n_documents, self.first = 0, ""

    def is_blank(self, pair: Sequence[str | None], position: int) -> bool:
        """Whether a side of the pair at this position is blank or missing."""
        blank = [side for side, text in enumerate(pair) if not text or text.isspace()]
        missing = [side for side in blank if pair[side] is None]
        if missing and not self._drop_empty:
            place = self._place(missing[0], position)
            raise PairError(
                f"{place[0].upper()}{place[1:]} is missing; add it, or pass {setting('drop_empty', True)} to leave "
                "such pairs out."
            )
        self.n_documents += len(blank)
        if blank and not self.first:
            self.first = self._place(blank[0], position)
        return bool(blank)


def warn_of_blank(n_documents: int, first: str, remedy: str = "") -> None:
    """Warn of blank documents, if there are any; `first` says where the first of them is."""
    if n_documents:
        remedy = remedy or f"pass {setting('drop_empty', True)} to leave such pairs out"
        count = "1 document is" if n_documents == 1 else f"{n_documents} documents are"
        warn(f"{count} empty (first: {first}); {remedy}.", DataWarning)


class _ListPairs(Source):
    """Two lists in memory."""

    def __init__(self, first: Iterable[str], second: Iterable[str]):
        for name, given in (("first", first), ("second", second)):
            if isinstance(given, str):
                raise PairError(f"The {name} list is a single string, {given[:20]!r}; pass a list of documents.")
        self._sides = (list(first), list(second))
        counts = [len(side) for side in self._sides]
        if counts[0] != counts[1]:
            longer = "first" if counts[0] > counts[1] else "second"
            raise PairError(
                f"The first list has {counts[0]} documents and the second has {counts[1]}: document {min(counts) + 1} "
                f"of the {longer} has no mate; pass both documents of a pair at the same position."
            )
        for name, side in zip(("first", "second"), self._sides, strict=True):
            for position, document in enumerate(side):
                if not isinstance(document, str):
                    raise PairError(
                        f"Document {position + 1} of the {name} list is {document!r}, not a string; pass strings."
                    )

    def __str__(self) -> str:
        return "The pair of lists"

    def place(self, side: int, position: int) -> str:
        return f"document {position + 1} of the {('first', 'second')[side]} list"

    def documents(self, side: int) -> Iterator[str]:
        return iter(self._sides[side])

    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(*self._sides, strict=True)
