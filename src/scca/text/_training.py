"""Training documents of a bilingual model: their vectors, and which of them the model stores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._checks import DataWarning, shown, warn
from .._wording import counted, setting
from ..progress import from_checkpoint, report, text_array, texts_of
from ..readers import PairedText, RemotePairs
from ..samples import summed
from ._vectorizer import TextVectorizer

__all__ = ["kept_documents", "learn_vectors"]

_DOCUMENTS_PER_REPORT = 1000
_MOST_STORED = 100_000  # of the documents of a cluster


def learn_vectors(pairs: PairedText | RemotePairs, vectorizers: Sequence[TextVectorizer]) -> tuple[Any, Any]:
    """The vectors of both sides, in memory or in blocks; the vectorizers learn their words."""
    if isinstance(pairs, RemotePairs):
        X, Y, absent = pairs.learn(vectorizers)
    else:
        (X, *x_absent), (Y, *y_absent) = (_learn_side(pairs, side, vectorizers[side]) for side in (0, 1))
        absent = [*x_absent, *y_absent]
    unmatched = [word for word in absent[0] if word in absent[1]]
    if unmatched:
        count = "1 stop word occurs" if len(unmatched) == 1 else f"{len(unmatched)} stop words occur"
        warn(f"{count} in no document (first: {shown(unmatched[0])}); check the spelling.", DataWarning)
    for language, view in zip(pairs.languages, (X, Y), strict=True):
        _warn_of_empty_documents(language, view)
    return X, Y


def kept_documents(
    pairs: PairedText | RemotePairs, X: Any, Y: Any, texts: bool
) -> tuple[tuple[sp.csr_array, sp.csr_array], list[str] | None, np.ndarray | None]:
    """The vectors and texts that a model stores, and the numbers of these documents; None for all documents."""
    if not isinstance(pairs, RemotePairs):
        return (X, Y), list(pairs.documents(1)) if texts else None, None
    n = len(pairs)
    rows = np.unique(np.linspace(0, n - 1, min(n, _MOST_STORED)).astype(int))
    stored_texts = pairs.documents(1, rows) if texts else None
    return (X.chosen(rows), Y.chosen(rows)), stored_texts, None if len(rows) == n else rows


def _learn_side(pairs: PairedText, side: int, vectorizer: TextVectorizer) -> tuple[sp.csr_array, list[str]]:
    """The vectors of one side's documents, and the stop words that no document has."""
    language = pairs.languages[side]

    def learn() -> tuple[sp.csr_array, list[str]]:
        try:
            return vectorizer.learn(_reported(pairs.documents(side), f"reading {language}", len(pairs)))
        except ValueError as error:
            raise ValueError(f"{language}: {error}") from error

    def pack(learnt: tuple[sp.csr_array, list[str]]) -> dict[str, np.ndarray]:
        vectors, absent = learnt
        return {
            **{"data": vectors.data, "indices": vectors.indices, "indptr": vectors.indptr},
            **{"words": text_array(vectorizer.words_), "idf": vectorizer.idf_, "absent": text_array(absent)},
        }

    def unpack(stored: Mapping[str, np.ndarray]) -> tuple[sp.csr_array, list[str]]:
        vectorizer.words_ = np.array(texts_of(stored["words"]), dtype=object)
        vectorizer.idf_ = stored["idf"]
        parts = stored["data"], stored["indices"], stored["indptr"]
        return sp.csr_array(parts, shape=(len(pairs), len(vectorizer.words_))), texts_of(stored["absent"])

    return from_checkpoint(f"reading {side}", learn, pack, unpack)


def _reported(documents: Iterable[str], what: str, total: int) -> Iterator[str]:
    """The documents; reports how many have been read."""
    for i, document in enumerate(documents):
        if i % _DOCUMENTS_PER_REPORT == 0:
            report(what, i, total)
        yield document
    report(what, total, total)


def _warn_of_empty_documents(language: str, vectors: Any) -> None:
    n_empty = summed(_count_empty, [vectors])
    if n_empty:
        first = f" (first: document {np.argmin(np.diff(vectors.indptr)) + 1})" if sp.issparse(vectors) else ""
        warn(
            f"{language} has {counted(int(n_empty), 'document')} without any word that is read{first}; such documents "
            f"carry no information: lower {setting('min_df')}, or drop the pairs.",
            DataWarning,
        )


def _count_empty(items: Sequence[Any]) -> int:
    """The number of documents without a word."""
    rows = getattr(items[0], "rows", items[0])  # a block is stored by rows and by columns
    return int(np.count_nonzero(np.diff(rows.indptr) == 0))
