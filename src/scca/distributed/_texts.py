"""Documents in two or more languages that the workers of a cluster read and count, and their vectors in blocks."""

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

from .._wording import counted, joined, ordinal, spelled
from ..kinds import TextVectorizer, WordCounts
from ..progress import report
from ..readers import (
    BlankCount,
    LineRange,
    PairError,
    Range,
    RemoteTexts,
    TextViews,
    checked_names,
    document_ranges,
    even_bounds,
    ranges_of,
    row_word,
    source_of,
    warn_of_blank,
)
from ..samples import Block
from ..views import BlockRows
from ._cluster import attempted, merging_tree, results, scattered
from ._packing import as_argument, packed
from ._rows import at_worker, block_count, block_views

__all__ = ["ClusterTexts", "read_documents", "read_texts", "scatter_texts", "texts_of"]

_MODULUS = (1 << 127) - 1  # a prime: hashes of samples are the coefficients of a polynomial modulo it
_BASE = 0x1E3779B97F4A7C15F39CC0605CEDC834  # where the polynomial is evaluated; any large number will do

Files = str | PathLike[str]


def read_texts(
    client: Any,
    *files: Files | Sequence[Files],
    languages: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    drop_empty: bool = False,
    n_blocks: int | None = None,
) -> "ClusterTexts":
    """Documents in two or more languages in files that all workers can read; each worker reads its own part.

    Plain line-aligned files and .tsv tables are divided by ranges of bytes. Of other files (.csv, .parquet, .tmx, .gz)
    every worker reads all that comes before its part; many such files are better than one large file.

    Parameters
    ----------
    client : distributed.Client
    *files : path or list of paths
        As for `scca.text.read_texts`; or lists of them, in the same order.
    languages, columns, drop_empty : as for `scca.text.read_texts`
    n_blocks : int, optional
        At least one per file; by default one per worker.

    Returns
    -------
    ClusterTexts
        For `Model().fit` and, of two languages, `BilingualModel().fit`.
    """
    given = [_listed(paths) for paths in files]
    counts = [len(paths) for paths in given]
    if len(set(counts)) > 1:
        raise PairError(
            f"all views must have as many files; got {joined([*map(str, counts)])}: list the files of all views in the "
            "same order."
        )
    sources, labels = [], None
    for together in zip(*given, strict=True):
        # of several tables without names, all have the columns of the first: their order may be another
        source, found = source_of(together, languages or (labels if len(given) == 1 else None), columns)
        labels = labels or found
        sources.append(source)
    if labels is None:
        raise PairError("at least one file is needed; got none: name two aligned files, or a table.")
    ranges = ranges_of(sources, block_count(client, n_blocks), partial(_run, client))

    def read() -> list[Any]:
        return [client.submit(_read, part, len(labels), drop_empty, pure=False) for part in ranges]

    return ClusterTexts(client, read, labels, drop_empty)


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


def texts_of(
    client: Any, blocks: Any, languages: Sequence[str] = ("first", "second"), drop_empty: bool = False
) -> "ClusterTexts":
    """Documents in two or more languages that the workers already have, or can compute.

    Parameters
    ----------
    client : distributed.Client
    blocks : dask.bag.Bag, or sequence of futures or delayed objects
        Of tuples of texts, one text for each language; every partition, future or delayed object is a list of them.
    languages : sequence of str
        Labels of the views.
    drop_empty : bool
        Leave out samples with a blank document in any view, instead of warning.

    Returns
    -------
    ClusterTexts
        For `Model().fit` and, of two languages, `BilingualModel().fit`.
    """
    given = list(blocks.to_delayed() if hasattr(blocks, "to_delayed") else blocks)
    labels = checked_names(languages, "languages")

    def read() -> list[Any]:
        computed = enumerate(client.compute(given))
        return [client.submit(_of_rows, block, i, len(labels), drop_empty, pure=False) for i, block in computed]

    return ClusterTexts(client, read, labels, drop_empty)


def scatter_texts(client: Any, texts: TextViews, n_blocks: int | None = None) -> "ClusterTexts":
    """Send documents, in memory or in files of this machine, to the workers.

    Parameters
    ----------
    client : distributed.Client
    texts : TextViews
    n_blocks : int, optional
        By default one per worker.

    Returns
    -------
    ClusterTexts
        For `Model().fit` and, of two languages, `BilingualModel().fit`.
    """
    bounds, n_views = even_bounds(0, len(texts), block_count(client, n_blocks)), len(texts.languages)

    def read() -> list[Any]:
        stream, futures = iter(texts), []
        for i, (start, stop) in enumerate(bounds):
            block = packed(list(islice(stream, stop - start)))
            future = scattered(client, block, at_worker(client, i, len(bounds)))
            futures.append(client.submit(_of_rows, future, i, n_views, False, pure=False))
        return futures

    return ClusterTexts(client, read, texts.languages, False)


class ClusterTexts(RemoteTexts):
    """Documents in two or more languages on the workers of a cluster.

    Created by `read_texts`, `texts_of` and `scatter_texts`.

    Parameters
    ----------
    client : distributed.Client
    read : callable
        Returns futures of the documents of every block, in order; called again whenever they are needed again.
    languages : tuple of str
    drop_empty : bool
        Whether samples with a blank document have been left out.

    Attributes
    ----------
    languages : tuple of str
    digest : str
        A hash of all documents in their order, the same for any blocks, by which a checkpoint recognises them.
    """

    def __init__(self, client: Any, read: Callable[[], list[Any]], languages: tuple[str, ...], drop_empty: bool):
        self.client, self.languages, self._read = client, languages, read
        self._texts: list[Any] | None = None
        sizes, n_blank, first_blank, digests = zip(*self._of_texts(_inspected), strict=True)
        self._sizes: list[int] = list(sizes)
        self.digest = f"{_joined_digest(zip(sizes, digests, strict=True)):032x}"
        if not len(self):
            raise PairError(f"there is no {row_word(len(languages))} of documents; add some.")
        if not drop_empty:
            warn_of_blank(sum(n_blank), next(filter(None, first_blank), ""), len(languages))

    def __len__(self) -> int:
        return sum(self._sizes)

    def __repr__(self) -> str:
        n_rows = counted(len(self), row_word(len(self.languages)))
        return f"<ClusterTexts of {n_rows} in {counted(len(self._sizes), 'block')}>"

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

    def blocks_of(self, view: int) -> list[Any]:
        """The futures of the documents of one view, which are read again."""
        return [self.client.submit(_of_view, texts, view, pure=False) for texts in self._read()]

    def here(self) -> TextViews:
        """All documents, in memory."""
        n_blocks = len(self._sizes)
        of_views = [self._of_texts(_of_view, [view] * n_blocks) for view in range(len(self.languages))]
        documents = [list(chain.from_iterable(blocks)) for blocks in of_views]
        return TextViews.of(dict(zip(self.languages, documents, strict=True)))

    def documents(self, view: int, rows: np.ndarray) -> list[str]:
        """The documents of one view at some positions, which are sorted, in memory."""
        starts = np.cumsum([0, *self._sizes[:-1]])
        of_blocks = np.split(rows, np.searchsorted(rows, starts[1:]))
        wanted = [numbers - start for numbers, start in zip(of_blocks, starts, strict=True)]
        found = self._of_texts(_of_view, [view] * len(wanted), wanted)
        self._forget()
        return list(chain.from_iterable(found))

    def learn(self, vectorizers: Sequence[TextVectorizer]) -> tuple[list[BlockRows], list[list[str]]]:
        """Fit a vectorizer per view: the vectors of each view in blocks, and its stop words that no document has.

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
                self.client.submit(_vectors, part, start, n, self.languages, payload, pure=False)
                for part, start, n in zip(counts, starts, self._sizes, strict=True)
            ]

        views = block_views(self.client, make)
        self._forget()
        report("counting words", 2, 2)
        return list(views.values()), absent

    def _counted(self, vectorizers: Sequence[TextVectorizer]) -> list[Any]:
        """The futures of the word counts of every block."""
        payload = packed(tuple(vectorizers))
        return [self.client.submit(_count, texts, payload, pure=False) for texts in self._texts_of_blocks()]

    def _frequencies(
        self, counted: list[Any], vectorizers: Sequence[TextVectorizer]
    ) -> list[tuple[Counter[str], set[str]]]:
        """For each view, how many documents have each word, and the stop words seen."""

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
    """The documents of a block by view, how many are blank, where the first of these is, and a hash of all in order."""

    documents: list[list[str]]
    n_blank: int
    first_blank: str
    digest: int


def _read(part: Range, n_views: int, drop_empty: bool) -> _Texts:
    return _texts(part.rows(), n_views, part.place, drop_empty)


def _documents(part: LineRange) -> list[str]:
    return list(part.lines())


def _of_rows(given: Any, number: int, n_views: int, drop_empty: bool) -> _Texts:
    rows = pickle.loads(given) if isinstance(given, bytes) else list(given)

    def place(view: int, position: int) -> str:
        return f"document {position + 1} of the {ordinal(view + 1)} view in block {number}"

    for position, row in enumerate(rows, 1):
        are_texts = not isinstance(row, str) and all(text is None or isinstance(text, str) for text in row)
        if not are_texts or len(row) != n_views:
            if n_views == 2:
                raise PairError(f"Pair {position} of block {number} is not a pair of strings; pass pairs of strings.")
            raise PairError(
                f"Sample {position} of block {number} is not a tuple of {spelled(n_views)} strings; pass one for "
                "each language."
            )
    return _texts(rows, n_views, place, drop_empty)


def _texts(
    rows: Iterable[Sequence[str | None]], n_views: int, place: Callable[[int, int], str], drop_empty: bool
) -> _Texts:
    views: list[list[str]] = [[] for _ in range(n_views)]
    blank, digest = BlankCount(place, drop_empty), 0
    for position, row in enumerate(rows):
        if blank.is_blank(row, position) and drop_empty:
            continue
        for documents, document in zip(views, row, strict=True):
            documents.append(str(document))
        content = "".join(f"{document}\n" for document in row).encode(errors="surrogatepass")
        of_row = int.from_bytes(hashlib.blake2b(content, digest_size=16).digest(), "big")
        digest = (digest * _BASE + of_row) % _MODULUS
    return _Texts(views, blank.n_documents, blank.first, digest)


def _joined_digest(parts: Iterable[tuple[int, int]]) -> int:
    """The hash of consecutive parts, from the number of samples and the hash of each; it is the same for any parts.

    A part of n samples with hashes h_1, ..., h_n has the hash h_1 b^(n-1) + ... + h_n, which depends on their order.
    """
    digest = 0
    for n, of_part in parts:
        digest = (digest * pow(_BASE, n, _MODULUS) + of_part) % _MODULUS
    return digest


def _inspected(texts: _Texts) -> tuple[int, int, str, int]:
    return len(texts.documents[0]), texts.n_blank, texts.first_blank, texts.digest


def _of_view(texts: _Texts, view: int, rows: np.ndarray | None = None) -> list[str]:
    """All documents of one view, or some rows of them."""
    documents = texts.documents[view]
    return documents if rows is None else [documents[i] for i in rows]


def _count(texts: _Texts, payload: bytes) -> list[WordCounts]:
    vectorizers = pickle.loads(payload)
    return [v.count_words(documents) for v, documents in zip(vectorizers, texts.documents, strict=True)]


def _document_frequencies(counts: Sequence[WordCounts]) -> list[tuple[Counter[str], set[str]]]:
    return [(Counter(of_view.frequencies()), of_view.seen) for of_view in counts]


def _merged(parts: Sequence[Sequence[tuple[Counter[str], set[str]]]]) -> list[tuple[Counter[str], set[str]]]:
    """The sum of the parts, none of which is changed: they are needed again if a worker is lost."""

    def merge(one: Any, other: Any) -> list[tuple[Counter[str], set[str]]]:
        return [(a + b, seen | more) for (a, seen), (b, more) in zip(one, other, strict=True)]

    return list(reduce(merge, parts))


def _vectors(counts: Sequence[WordCounts], start: int, n: int, names: Sequence[str], payload: bytes) -> Block:
    given = zip(names, pickle.loads(payload), counts, strict=True)
    return Block(start, {name: vectorizer.weigh_counts(of_view, n) for name, vectorizer, of_view in given})
