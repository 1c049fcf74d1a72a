"""Pairs of documents, checked once and then streamed from their files as often as needed."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from .._checks import DataWarning, warn
from .._wording import setting
from ._files import PairError

__all__ = ["PairedText", "RemotePairs", "Source", "two_names"]

_Item = TypeVar("_Item")


class Source(Protocol):
    """Where pairs come from; `str` gives its name. None is a missing document, as opposed to an empty one."""

    def documents(self, side: int) -> Iterator[str | None]: ...
    def pairs(self) -> Iterator[tuple[str | None, str | None]]: ...
    def place(self, side: int, position: int) -> str: ...


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
        Those of them that are left out: all or none.
    digest : str
        A hash of all documents, by which a checkpoint recognises them.
    """

    def __init__(self, source: Source, languages: tuple[str, str], drop_empty: bool = False):
        self.languages = languages
        self._source = source
        self._total, self.empty, n_documents, place, self.digest = _inspect(source, drop_empty)
        self.dropped = self.empty if drop_empty else ()
        if not len(self):
            lack = "no pair with text on both sides" if self._total else "no pair at all"
            raise PairError(f"{source} has {lack}; add some.")
        if n_documents and not drop_empty:
            count = "1 document is" if n_documents == 1 else f"{n_documents} documents are"
            warn(
                f"{count} empty (first: {place}); pass {setting('drop_empty', True)} to leave such pairs out.",
                DataWarning,
            )

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
        dropped = iter(self.dropped)
        skip = next(dropped, None)
        count = 0
        for position, item in enumerate(items):
            count += 1
            if count > self._total:
                break
            if position == skip:
                skip = next(dropped, None)
            else:
                yield item
        if count != self._total:
            raise PairError(
                f"{self._source} has changed since it was checked, when it had {self._total} pairs; read it again."
            )


class RemotePairs(ABC):
    """Pairs of documents that are not here, such as on the workers of a cluster.

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
        """Some documents of one side, in memory; `rows` are sorted."""

    @abstractmethod
    def learn(self, vectorizers: Sequence[Any]) -> tuple[Any, Any, list[list[str]]]:
        """The vectors of both sides in blocks, and the stop words that no document has; the vectorizers learn."""


def two_names(names: Any, what: str) -> tuple[str, str]:
    """`names` as two different strings; a single string of two letters is refused."""
    given = () if isinstance(names, str) else tuple(names)
    if len(given) != 2 or not all(isinstance(name, str) and name for name in given) or given[0] == given[1]:
        raise PairError(f"{setting(what)} must be two different names; got {names!r}.")
    return given


def _inspect(source: Source, drop_empty: bool) -> tuple[int, tuple[int, ...], int, str, str]:
    """Number of pairs, positions of those with an empty side, number of empty documents, the first's place, a hash."""
    total = count = 0
    everything = hashlib.blake2b(digest_size=16)
    positions: list[int] = []
    first = ""
    for position, pair in enumerate(source.pairs()):
        total += 1
        everything.update(f"{pair[0]}\n{pair[1]}\n".encode(errors="surrogatepass"))
        blank = [side for side, text in enumerate(pair) if not text or text.isspace()]
        if not blank:
            continue
        for side in blank:
            if pair[side] is None and not drop_empty:
                place = source.place(side, position)
                raise PairError(
                    f"{place[0].upper()}{place[1:]} is missing; add it, or pass {setting('drop_empty', True)} to leave "
                    "such pairs out."
                )
        positions.append(position)
        count += len(blank)
        first = first or source.place(blank[0], position)
    return total, tuple(positions), count, first, everything.hexdigest()


class _ListPairs:
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
