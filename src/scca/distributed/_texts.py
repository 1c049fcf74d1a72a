"""Paired documents that the workers of a cluster read and count, and their vectors in blocks."""

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..progress import report
from ..readers import (
    BlankCount,
    LineRange,
    PairedText,
    PairError,
    Range,
    RemoteTexts,
    checked_names,
    document_ranges,
    even_bounds,
    ranges_of,
    source_of,
    warn_of_blank,
)
from ..samples import Block
from ..text import TextVectorizer, WordCounts
from ..views import BlockRows
from ._cluster import attempted, merging_tree, results, scattered
from ._packing import as_argument, packed
from ._rows import at_worker, block_count, block_views

__all__ = ["ClusterPairs", "pairs_of", "read_documents", "read_pairs", "scatter_pairs"]

_MODULUS = (1 << 127) - 1  # a prime: hashes of pairs are the coefficients of a polynomial modulo it
_BASE = 0x1E3779B97F4A7C15F39CC0605CEDC834  # where the polynomial is evaluated; any large number will do

Files = str | PathLike[str]


def read_pairs(
    client: Any,
    first: Files | Sequence[Files],
    second: Files | Sequence[Files] | None = None,
    *,
    languages: tuple[str, str] | None = None,
    columns: tuple[str, str] | None = None,
    drop_empty: bool = False,
    n_blocks: int | None = None,
) -> "ClusterPairs":
    """Pairs of documents in files that all workers can read; each worker reads its own part.

    Plain line-aligned files and .tsv tables are divided by ranges of bytes. Of other files (.csv, .parquet, .tmx, .gz)
    every worker reads all that comes before its part; many such files are better than one large file.

    Parameters
    ----------
    client : distributed.Client
    first, second : path or list of paths
        As for `scca.text.read_pairs`; or lists of them, paired in order.
    languages, columns, drop_empty : as for `scca.text.read_pairs`
    n_blocks : int, optional
        At least one per file; by default one per worker.

    Returns
    -------
    ClusterPairs
        For `BilingualModel().fit`.
    """
    firsts = _listed(first)
    seconds: Sequence[Path | None] = [None] * len(firsts) if second is None else _listed(second)
    if len(seconds) != len(firsts):
        raise PairError(f"got {len(firsts)} first and {len(seconds)} second files; pair them in order.")
    found = [
        source_of((first,) if second is None else (first, second), languages, columns)
        for first, second in zip(firsts, seconds, strict=True)
    ]
    ranges = ranges_of([source for source, _ in found], block_count(client, n_blocks), partial(_run, client))

    def read() -> list[Any]:
        return [client.submit(_read, part, drop_empty, pure=False) for part in ranges]

    return ClusterPairs(client, read, found[0][1], drop_empty)


def read_documents(client: Any, path: Files, n_blocks: int | None = None) -> list[Any]:
    """Documents in a file that all workers can read, one per line; each worker reads its own part.

    Parameters
    ----------
    client : distributed.Client
    path : path
        Plain, or .gz; a compressed file is one block.
    n_blocks : int, optional
        By default one per worker.

    Returns
    -------
    list of futures
        For `find_mates` and `write_document_scores`.
    """
    ranges = document_ranges(Path(path).absolute(), block_count(client, n_blocks), partial(_run, client))
    return [client.submit(_documents, part, pure=False) for part in ranges]


def _run(client: Any, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
    return results(client, [client.submit(function, *job, pure=False) for job in jobs])


def pairs_of(
    client: Any, blocks: Any, languages: tuple[str, str] = ("first", "second"), drop_empty: bool = False
) -> "ClusterPairs":
    """Pairs of documents that the workers already have, or can compute.

    Parameters
    ----------
    client : distributed.Client
    blocks : dask.bag.Bag, or sequence of futures or delayed objects
        Of pairs of texts; every partition, future or delayed object is a list of them.
    languages : tuple of two str
        Labels of the two sides.
    drop_empty : bool
        Leave out pairs with a blank side, instead of warning.

    Returns
    -------
    ClusterPairs
        For `BilingualModel().fit`.
    """
    given = list(blocks.to_delayed() if hasattr(blocks, "to_delayed") else blocks)

    def read() -> list[Any]:
        return [
            client.submit(_of_pairs, block, i, drop_empty, pure=False) for i, block in enumerate(client.compute(given))
        ]

    return ClusterPairs(client, read, checked_names(languages, "languages", 2), drop_empty)


def scatter_pairs(client: Any, pairs: PairedText, n_blocks: int | None = None) -> "ClusterPairs":
    """Send pairs of documents, in memory or in files of this machine, to the workers.

    Parameters
    ----------
    client : distributed.Client
    pairs : PairedText
    n_blocks : int, optional
        By default one per worker.

    Returns
    -------
    ClusterPairs
        For `BilingualModel().fit`.
    """
    bounds = even_bounds(0, len(pairs), block_count(client, n_blocks))

    def read() -> list[Any]:
        stream, futures = iter(pairs), []
        for i, (start, stop) in enumerate(bounds):
            block = packed(list(islice(stream, stop - start)))
            future = scattered(client, block, at_worker(client, i, len(bounds)))
            futures.append(client.submit(_of_pairs, future, i, False, pure=False))
        return futures

    return ClusterPairs(client, read, pairs.languages, False)


class ClusterPairs(RemoteTexts):
    """Pairs of documents on the workers of a cluster; created by `read_pairs`, `pairs_of` and `scatter_pairs`.

    Parameters
    ----------
    client : distributed.Client
    read : callable
        Returns futures of the documents of every block, in order; called again whenever they are needed again.
    languages : tuple of two str
    drop_empty : bool
        Whether pairs with a blank side have been left out.

    Attributes
    ----------
    languages : tuple of two str
    digest : str
        A hash of all pairs in their order, the same for any blocks, by which a checkpoint recognises them.
    """

    def __init__(self, client: Any, read: Callable[[], list[Any]], languages: tuple[str, ...], drop_empty: bool):
        self.client, self.languages, self._read = client, languages, read
        self._texts: list[Any] | None = None
        sizes, n_blank, first_blank, digests = zip(*self._of_texts(_inspected), strict=True)
        self._sizes: list[int] = list(sizes)
        self.digest = f"{_joined_digest(zip(sizes, digests, strict=True)):032x}"
        if not len(self):
            raise PairError("there is no pair of documents; add some.")
        if not drop_empty:
            warn_of_blank(sum(n_blank), next(filter(None, first_blank), ""))

    def __len__(self) -> int:
        return sum(self._sizes)

    def __repr__(self) -> str:
        return f"<ClusterPairs of {len(self)} pairs in {len(self._sizes)} blocks>"

    def _texts_of_blocks(self) -> list[Any]:
        """The futures of the documents, which are read if they are not on the workers."""
        if self._texts is None:
            self._texts = self._read()
        return self._texts

    def _forget(self) -> None:
        """Release the documents; they are read again if they are needed."""
        self._texts = None

    def _of_texts(self, function: Callable[..., Any], *arguments: Sequence[Any]) -> list[Any]:
        """`function(documents, *arguments)` of every block; each argument has a value per block."""

        def compute() -> list[Any]:
            given = zip(self._texts_of_blocks(), *arguments, strict=True)
            return results(self.client, [self.client.submit(function, *each, pure=False) for each in given])

        return attempted(compute, self._forget)

    def side(self, side: int) -> list[Any]:
        """The futures of the documents of one side, which are read again."""
        return [self.client.submit(_one_side, texts, side, pure=False) for texts in self._read()]

    def here(self) -> PairedText:
        """All pairs, in memory."""
        sides = [self._of_texts(_one_side, [side] * len(self._sizes)) for side in (0, 1)]
        first, second = (list(chain.from_iterable(blocks)) for blocks in sides)
        one, other = self.languages
        return PairedText.of(first, second, (one, other))

    def documents(self, side: int, rows: np.ndarray) -> list[str]:
        """The documents of one side at some positions, which are sorted, in memory."""
        starts = np.cumsum([0, *self._sizes[:-1]])
        of_blocks = np.split(rows, np.searchsorted(rows, starts[1:]))
        wanted = [numbers - start for numbers, start in zip(of_blocks, starts, strict=True)]
        found = self._of_texts(_one_side, [side] * len(wanted), wanted)
        self._forget()
        return list(chain.from_iterable(found))

    def learn(self, vectorizers: Sequence[TextVectorizer]) -> tuple[list[BlockRows], list[list[str]]]:
        """Fit the vectorizers: the vectors of both sides in blocks, and the stop words that no document has.

        The workers count words in one pass, keep the counts, and make vectors of them.
        """
        report("counting words", 0, 2)
        counted = self._counted(vectorizers)
        found = self._frequencies(counted, vectorizers)
        absent = []
        for vectorizer, language, (frequency, seen) in zip(vectorizers, self.languages, found, strict=True):
            words = sorted(frequency)
            try:
                vectorizer.choose_words(
                    np.array(words, dtype=object), np.array([frequency[word] for word in words]), len(self)
                )
            except ValueError as error:
                raise ValueError(f"{language}: {error}") from error
            absent.append(vectorizer.absent(seen))
        report("counting words", 1, 2)
        learnt = packed(tuple(vectorizers))
        starts = np.cumsum([0, *self._sizes])[:-1].tolist()
        unused: list[list[Any]] = [counted]  # for the first call of `make` alone: vectors replace the counts
        del counted

        def make() -> list[Any]:
            counts = unused.pop() if unused else self._counted(vectorizers)
            payload = as_argument(self.client, learnt)
            return [
                self.client.submit(_vectors, part, start, n, payload, pure=False)
                for part, start, n in zip(counts, starts, self._sizes, strict=True)
            ]

        X, Y = block_views(self.client, make)
        self._forget()
        report("counting words", 2, 2)
        return [X, Y], absent

    def _counted(self, vectorizers: Sequence[TextVectorizer]) -> list[Any]:
        """The futures of the word counts of every block."""
        payload = packed(tuple(vectorizers))
        return [self.client.submit(_count, texts, payload, pure=False) for texts in self._texts_of_blocks()]

    def _frequencies(
        self, counted: list[Any], vectorizers: Sequence[TextVectorizer]
    ) -> list[tuple[Counter[str], set[str]]]:
        """For each side, how many documents have each word, and the stop words seen."""

        def compute() -> list[Any]:
            lists = [self.client.submit(_document_frequencies, part, pure=False) for part in counted]
            return results(self.client, merging_tree(self.client, _merged, lists)[-1:])[0]

        def again() -> None:
            self._forget()
            counted[:] = self._counted(vectorizers)

        return attempted(compute, again)


def _listed(given: Files | Sequence[Files]) -> list[Path]:
    several = [given] if isinstance(given, str | PathLike) else list(given)
    return [Path(path).absolute() for path in several]


# --- on the workers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Texts:
    """The documents of a block, how many are blank, where the first of these is, and a hash of the pairs in order."""

    first: list[str]
    second: list[str]
    n_blank: int
    first_blank: str
    digest: int


def _read(part: Range, drop_empty: bool) -> _Texts:
    return _texts(part.rows(), part.place, drop_empty)


def _documents(part: LineRange) -> list[str]:
    return list(part.lines())


def _of_pairs(pairs: Any, number: int, drop_empty: bool) -> _Texts:
    pairs = pickle.loads(pairs) if isinstance(pairs, bytes) else list(pairs)

    def place(side: int, position: int) -> str:
        return f"document {position + 1} of the {('first', 'second')[side]} side of block {number}"

    for position, pair in enumerate(pairs):
        if len(pair) != 2 or not all(text is None or isinstance(text, str) for text in pair):
            raise PairError(f"Pair {position + 1} of block {number} is not a pair of strings; pass pairs of strings.")
    return _texts(pairs, place, drop_empty)


def _texts(pairs: Iterable[Sequence[str | None]], place: Callable[[int, int], str], drop_empty: bool) -> _Texts:
    sides: tuple[list[str], list[str]] = ([], [])
    blank, digest = BlankCount(place, drop_empty), 0
    for position, pair in enumerate(pairs):
        if blank.is_blank(pair, position) and drop_empty:
            continue
        for side, text in zip(sides, pair, strict=True):
            side.append(str(text))
        content = f"{pair[0]}\n{pair[1]}\n".encode(errors="surrogatepass")
        of_pair = int.from_bytes(hashlib.blake2b(content, digest_size=16).digest(), "big")
        digest = (digest * _BASE + of_pair) % _MODULUS
    return _Texts(*sides, blank.n_documents, blank.first, digest)


def _joined_digest(parts: Iterable[tuple[int, int]]) -> int:
    """The hash of consecutive parts, from the number of pairs and the hash of each; it is the same for any parts.

    A part of n pairs with hashes h_1, ..., h_n has the hash h_1 b^(n-1) + ... + h_n, which depends on their order.
    """
    digest = 0
    for n, of_part in parts:
        digest = (digest * pow(_BASE, n, _MODULUS) + of_part) % _MODULUS
    return digest


def _inspected(texts: _Texts) -> tuple[int, int, str, int]:
    return len(texts.first), texts.n_blank, texts.first_blank, texts.digest


def _one_side(texts: _Texts, side: int, rows: np.ndarray | None = None) -> list[str]:
    """All documents of one side, or some rows of them."""
    documents = texts.second if side else texts.first
    return documents if rows is None else [documents[i] for i in rows]


def _count(texts: _Texts, payload: bytes) -> list[WordCounts]:
    first, second = pickle.loads(payload)
    return [first.count_words(texts.first), second.count_words(texts.second)]


def _document_frequencies(counted: Sequence[WordCounts]) -> list[tuple[Counter[str], set[str]]]:
    return [(Counter(side.frequencies()), side.seen) for side in counted]


def _merged(parts: Sequence[Sequence[tuple[Counter[str], set[str]]]]) -> list[tuple[Counter[str], set[str]]]:
    """The sum of the parts, none of which is changed: they are needed again if a worker is lost."""

    def merge(one: Any, other: Any) -> list[tuple[Counter[str], set[str]]]:
        return [(a + b, seen | more) for (a, seen), (b, more) in zip(one, other, strict=True)]

    return list(reduce(merge, parts))


def _vectors(counted: Sequence[WordCounts], start: int, n: int, payload: bytes) -> Block:
    vectorizers = pickle.loads(payload)
    return Block(
        start, {name: v.weigh_counts(side, n) for name, v, side in zip("XY", vectorizers, counted, strict=True)}
    )
