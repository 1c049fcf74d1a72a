"""A paired corpus as word counts, from which every experiment computes its own training and test vectors."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..readers import PairedText
from ..text import TextVectorizer, inverse_frequencies

__all__ = ["FREQUENCIES", "Corpus", "count_corpus"]

FREQUENCIES = ("training", "corpus")

Indices = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Corpus:
    """Counts of words in paired documents.

    Attributes
    ----------
    name : str
    languages : tuple of two str
    counts : tuple of two csr_array of shape (n_documents, n_words)
        Word counts of the documents in use.
    n_pairs : int
        How many pairs the corpus has; more than the documents in use if these were drawn from it.
    sha256 : tuple of two str
        Hash of all documents of each language, with a newline after each document.
    """

    name: str
    languages: tuple[str, str]
    counts: tuple[sp.csr_array, sp.csr_array]
    n_pairs: int
    sha256: tuple[str, str]

    def __len__(self) -> int:
        return self.counts[0].shape[0]

    @property
    def n_words(self) -> tuple[int, int]:
        return self.counts[0].shape[1], self.counts[1].shape[1]

    def distinct_words(self, side: int) -> np.ndarray:
        """The number of different words of each document."""
        return np.diff(self.counts[side].indptr)

    def vectors(
        self, side: int, train: Indices, test: Indices, frequencies: str = "training", min_df: int = 1
    ) -> tuple[sp.csr_array, sp.csr_array]:
        """TF-IDF vectors of training and test documents.

        Words and document frequencies come from the training documents alone, as in `TextVectorizer`, or, with
        `frequencies="corpus"`, from all documents.
        """
        counts = self.counts[side]
        known = counts[train] if frequencies == "training" else counts
        document_frequency = np.bincount(known.indices, minlength=known.shape[1])
        kept, idf = inverse_frequencies(document_frequency, known.shape[0], min_df)
        return _weighted(counts[train], kept, idf), _weighted(counts[test], kept, idf)

    def joined(self, times: int) -> "Corpus":
        """The corpus with every `times` consecutive documents joined into one: longer documents, and fewer of them."""
        groups = np.arange(len(self)) // times
        join = sp.csr_array((np.ones(len(self)), (groups, np.arange(len(self)))))
        complete = len(self) // times
        return replace(self, counts=tuple(sp.csr_array((join @ c)[:complete]) for c in self.counts))

    def thinned(self, share: float, seed: int) -> "Corpus":
        """The corpus with every word kept with probability `share`: shorter documents, and as many of them."""
        rng = np.random.default_rng(seed)
        thinned = []
        for counts in self.counts:
            kept = counts.copy()
            kept.data = rng.binomial(counts.data.astype(np.int64), share).astype(np.float64)
            kept.eliminate_zeros()
            thinned.append(kept)
        return replace(self, counts=tuple(thinned))


def _weighted(counts: sp.csr_array, kept: np.ndarray, idf: np.ndarray) -> sp.csr_array:
    vectors = counts[:, kept]
    vectors.data = vectors.data * idf[vectors.indices]
    return vectors


def count_corpus(pairs: PairedText, name: str, n_documents: int | None = None, seed: int = 0) -> Corpus:
    """Count the words of a corpus, or of `n_documents` pairs drawn at random if it has more."""
    chosen = None
    if n_documents is not None and n_documents < len(pairs):
        chosen = frozenset(np.random.default_rng(seed).choice(len(pairs), n_documents, replace=False).tolist())
    digests = hashlib.sha256(), hashlib.sha256()
    first, second = (
        TextVectorizer().count(_selected(pairs.documents(side), chosen, digests[side]))[0] for side in (0, 1)
    )
    return Corpus(name, pairs.languages, (first, second), len(pairs), (digests[0].hexdigest(), digests[1].hexdigest()))


def _selected(documents: Iterable[str], chosen: frozenset[Any] | None, digest: Any) -> Iterator[str]:
    for i, document in enumerate(documents):
        digest.update(document.encode() + b"\n")
        if chosen is None or i in chosen:
            yield document
