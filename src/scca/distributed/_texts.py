"""Paired documents that the workers of a cluster read and count, and their vectors in blocks."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import DataWarning, check_count, warn
from .._wording import setting
from ..progress import report
from ..readers import (
    PairedText,
    PairError,
    Range,
    RemotePairs,
    document_ranges,
    ranges_of,
    source_of,
    two_names,
)
from ..samples import Block
from ..text import TextVectorizer, WordCounts
from ..views import BlockRows
from ._blocks import sent
from ._cluster import attempted, results, scattered, workers_of
from ._payload import packed, unpacked
from ._rows import at_worker, block_views

__all__ = ["ClusterPairs", "pairs_of", "read_documents", "read_pairs", "scatter_pairs"]

_FAN_IN = 4  # word lists that a task merges
_MODULUS = (1 << 127) - 1  # a prime: hashes of pairs are the coefficients of a polynomial modulo it
_BASE = 0x1E3779B97F4A7C15F39CC0605CEDC834  # where it is evaluated; any large number does

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
    """Pairs of documents in files that all workers can read, each worker its own part.

    Plain line-aligned files and .tsv tables are divided by ranges of bytes. Others (.csv, .parquet, .tmx, .gz) are read
    from the beginning by every worker, which keeps its part; many such files are better than one large one.

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
    found = [source_of(one, other, languages, columns) for one, other in zip(firsts, seconds, strict=True)]
    n_blocks = len(workers_of(client)) if n_blocks is None else check_count(n_blocks, "n_blocks")
    ranges = ranges_of([source for source, _ in found], max(1, n_blocks), partial(_run, client))

    def read() -> list[Any]:
        return [client.submit(_read, part, drop_empty, pure=False) for part in ranges]

    return ClusterPairs(client, read, found[0][1], drop_empty)


def read_documents(client: Any, path: Files, n_blocks: int | None = None) -> list[Any]:
    """Documents in a file that all workers can read, one per line, each worker its own part.

    Parameters
    ----------
    client : distributed.Client
    path : path
        Plain, or .gz, which is one block.
    n_blocks : int, optional
        By default one per worker.

    Returns
    -------
    list of futures
        For `find_mates` and `write_document_scores`.
    """
    n_blocks = len(workers_of(client)) if n_blocks is None else check_count(n_blocks, "n_blocks")
    parts = document_ranges(Path(path).absolute(), max(1, n_blocks), partial(_run, client))
    return [client.submit(_documents, part, pure=False) for part in parts]


def _run(client: Any, function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
    return results(client, [client.submit(function, *job, pure=False) for job in jobs])


def pairs_of(
    client: Any, blocks: Any, languages: tuple[str, str] = ("first", "second"), drop_empty: bool = False
) -> "ClusterPairs":
    """Pairs of documents that the cluster already has, or can compute.

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

    return ClusterPairs(client, read, two_names(languages, "languages"), drop_empty)


def scatter_pairs(client: Any, pairs: PairedText, n_blocks: int | None = None) -> "ClusterPairs":
    """Pairs of documents in memory or files here, sent to the workers.

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
    n_blocks = max(1, len(workers_of(client))) if n_blocks is None else check_count(n_blocks, "n_blocks")
    ends = np.linspace(0, len(pairs), min(n_blocks, len(pairs)) + 1).astype(int)

    def read() -> list[Any]:
        stream, futures = iter(pairs), []
        for i, size in enumerate(np.diff(ends).tolist()):
            block = packed([next(stream) for _ in range(size)])
            future = scattered(client, block, at_worker(client, i, len(ends) - 1))
            futures.append(client.submit(_of_pairs, future, i, False, pure=False))
        return futures

    return ClusterPairs(client, read, pairs.languages, False)


class ClusterPairs(RemotePairs):
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
        A hash of all pairs in their order, in whatever blocks they are, by which a checkpoint recognises them.
    """

    def __init__(self, client: Any, read: Callable[[], list[Any]], languages: tuple[str, str], drop_empty: bool):
        self.client, self.languages, self._read = client, languages, read
        self._texts: list[Any] | None = None
        found = self._of_texts(_inspected)
        self._sizes = [n for n, _, _, _ in found]
        self.digest = f"{_joined_digest((n, digest) for n, _, _, digest in found):032x}"
        n_blank = sum(n for _, n, _, _ in found)
        if not len(self):
            raise PairError("there is no pair of documents; add some.")
        if n_blank and not drop_empty:
            count = "1 document is" if n_blank == 1 else f"{n_blank} documents are"
            place = next(first for _, _, first, _ in found if first)
            warn(
                f"{count} empty (first: {place}); pass {setting('drop_empty', True)} to leave such pairs out.",
                DataWarning,
            )

    def __len__(self) -> int:
        return sum(self._sizes)

    def __repr__(self) -> str:
        return f"<ClusterPairs of {len(self)} pairs in {len(self._sizes)} blocks>"

    def _of_texts(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """`function(documents, *arguments)` of every block."""

        def compute() -> list[Any]:
            if self._texts is None:
                self._texts = self._read()
            return results(self.client, [self.client.submit(function, t, *arguments, pure=False) for t in self._texts])

        return attempted(compute, self._forget)

    def _forget(self) -> None:
        """Release the documents; they are read again if they are needed."""
        self._texts = None

    def here(self) -> PairedText:
        """All pairs, in memory."""
        found = self._of_texts(_itself)
        return PairedText.of(
            [text for part in found for text in part.first],
            [text for part in found for text in part.second],
            self.languages,
        )

    def documents(self, side: int, rows: np.ndarray) -> list[str]:
        """Some documents of one side, in memory; `rows` are sorted."""
        starts = np.cumsum([0, *self._sizes])
        wanted = [
            rows[(rows >= start) & (rows < start + size)] - start
            for start, size in zip(starts, self._sizes, strict=False)
        ]

        def compute() -> list[Any]:
            texts = self._read()
            return results(
                self.client,
                [self.client.submit(_some, t, side, few, pure=False) for t, few in zip(texts, wanted, strict=True)],
            )

        return [text for part in attempted(compute, self._forget) for text in part]

    def learn(self, vectorizers: Sequence[TextVectorizer]) -> tuple[BlockRows, BlockRows, list[list[str]]]:
        """The vectors of both sides in blocks, and the stop words that no document has; the vectorizers learn.

        Words are counted in one pass; the counts stay on the workers, which make vectors of them.
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
        before: list[list[Any]] = [counted]
        del counted

        def make() -> list[Any]:
            counts = before.pop() if before else self._counted(vectorizers)
            payload = sent(self.client, learnt)
            return [
                self.client.submit(_vectors, part, start, n, payload, pure=False)
                for part, start, n in zip(counts, starts, self._sizes, strict=True)
            ]

        X, Y = block_views(self.client, make)
        self._forget()
        report("counting words", 2, 2)
        return X, Y, absent

    def _counted(self, vectorizers: Sequence[TextVectorizer]) -> list[Any]:
        """Futures of the counts of every block."""
        if self._texts is None:
            self._texts = self._read()
        payload = packed(tuple(vectorizers))
        return [self.client.submit(_count, texts, payload, pure=False) for texts in self._texts]

    def _frequencies(
        self, counted: list[Any], vectorizers: Sequence[TextVectorizer]
    ) -> list[tuple[Counter[str], set[str]]]:
        """For both sides, in how many documents each word is, and the stop words seen; merged by a tree."""

        def compute() -> list[Any]:
            lists = [self.client.submit(_document_frequencies, part, pure=False) for part in counted]
            while len(lists) > 1:
                groups = [lists[i : i + _FAN_IN] for i in range(0, len(lists), _FAN_IN)]
                lists = [self.client.submit(_merged, group, pure=False) for group in groups]
            return results(self.client, lists)[0]

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
    """The documents of a block, how many are blank and where the first is, and a hash of all pairs in their order."""

    first: list[str]
    second: list[str]
    n_blank: int
    first_blank: str
    digest: int


def _read(part: Range, drop_empty: bool) -> _Texts:
    return _texts(part.pairs(), part.place, drop_empty)


def _documents(part: Any) -> list[str]:
    return list(part.lines())


def _of_pairs(pairs: Any, number: int, drop_empty: bool) -> _Texts:
    pairs = unpacked(pairs) if isinstance(pairs, bytes) else list(pairs)

    def place(side: int, position: int) -> str:
        return f"document {position + 1} of the {('first', 'second')[side]} side of block {number}"

    for position, pair in enumerate(pairs):
        if len(pair) != 2 or not all(text is None or isinstance(text, str) for text in pair):
            raise PairError(f"Pair {position + 1} of block {number} is not a pair of strings; pass pairs of strings.")
    return _texts(pairs, place, drop_empty)


def _texts(pairs: Iterable[Sequence[str | None]], place: Callable[[int, int], str], drop_empty: bool) -> _Texts:
    first: list[str] = []
    second: list[str] = []
    n_blank, first_blank, digest = 0, "", 0
    for position, pair in enumerate(pairs):
        blank = [side for side, text in enumerate(pair) if not text or text.isspace()]
        missing = [side for side in blank if pair[side] is None]
        if missing and not drop_empty:
            raise PairError(
                f"{place(missing[0], position)} is missing; add it, or pass {setting('drop_empty', True)} to leave "
                "such pairs out."
            )
        n_blank += len(blank)
        first_blank = first_blank or (place(blank[0], position) if blank else "")
        if blank and drop_empty:
            continue
        one, other = str(pair[0]), str(pair[1])
        first.append(one)
        second.append(other)
        pair_ = f"{one}\n{other}\n".encode(errors="surrogatepass")
        of_pair = int.from_bytes(hashlib.blake2b(pair_, digest_size=16).digest(), "big")
        digest = (digest * _BASE + of_pair) % _MODULUS
    return _Texts(first, second, n_blank, first_blank, digest)


def _joined_digest(parts: Iterable[tuple[int, int]]) -> int:
    """The hash of consecutive parts, from their numbers of pairs and hashes: the same for any division into parts.

    A part of n pairs with hashes h_1, ..., h_n has the hash h_1 b^(n-1) + ... + h_n, so that the order counts.
    """
    digest = 0
    for n, of_part in parts:
        digest = (digest * pow(_BASE, n, _MODULUS) + of_part) % _MODULUS
    return digest


def _inspected(texts: _Texts) -> tuple[int, int, str, int]:
    return len(texts.first), texts.n_blank, texts.first_blank, texts.digest


def _itself(texts: _Texts) -> _Texts:
    return texts


def _some(texts: _Texts, side: int, rows: np.ndarray) -> list[str]:
    documents = texts.second if side else texts.first
    return [documents[i] for i in rows]


def _count(texts: _Texts, payload: bytes) -> list[WordCounts]:
    first, second = unpacked(payload)
    return [first.count_words(texts.first), second.count_words(texts.second)]


def _document_frequencies(counted: Sequence[WordCounts]) -> list[tuple[Counter[str], set[str]]]:
    return [(Counter(side.frequencies()), side.seen) for side in counted]


def _merged(parts: Sequence[Sequence[tuple[Counter[str], set[str]]]]) -> list[tuple[Counter[str], set[str]]]:
    """The parts may be needed again, if a worker is lost: none is changed."""

    def merge(one: Any, other: Any) -> list[tuple[Counter[str], set[str]]]:
        return [(a + b, seen | more) for (a, seen), (b, more) in zip(one, other, strict=True)]

    return list(reduce(merge, parts))


def _vectors(counted: Sequence[WordCounts], start: int, n: int, payload: bytes) -> Block:
    vectorizers = unpacked(payload)
    return Block(
        start, {name: v.weigh_counts(side, n) for name, v, side in zip("XY", vectorizers, counted, strict=True)}
    )
