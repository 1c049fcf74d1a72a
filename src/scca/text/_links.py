"""Links between the words of two languages: all words of a pair of documents compete for each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._compile import compiled

__all__ = ["Links", "link_words", "two_best"]

_STEPS = 10  # more change little, and fewer find fewer of the right words (benchmarks/translation.py)
_CANDIDATES = 50  # of a word, so that the work and the memory stay in proportion to the words
_BLOCK = 500  # words whose companions are counted at a time


@dataclass(frozen=True)
class Links:
    """Which words go together, and how often.

    Attributes
    ----------
    shares : csr_array of shape (n_first_words, n_second_words)
        2 links / (df + df'): of the documents that have either word, the share in which they are linked, 0 to 1.
    together : csr_array of the same shape and pattern
        Documents that have both words.
    documents : tuple of two ndarray
        df and df', the documents that have each word.
    n_documents : int
    """

    shares: sp.csr_array
    together: sp.csr_array
    documents: tuple[np.ndarray, np.ndarray]
    n_documents: int

    def turned(self) -> "Links":
        """The same links, seen from the other language."""
        shares, together = (sp.csr_array(matrix.T) for matrix in (self.shares, self.together))
        return Links(shares, together, self.documents[::-1], self.n_documents)


def link_words(X: sp.csr_array, Y: sp.csr_array, told: Callable[[], None] = lambda: None) -> Links:
    """Link the words of paired documents, 1 where a document of X or Y has a word.

    Every word f of a document is the mate of one word e of its pair, of each in proportion to how likely e brings f:

        links(e, f) = sum over documents of  t(f | e) / sum_e' t(f | e'),    t(f | e) in proportion to links(e, f),

    ten times in turn from t all equal (the first model of Brown et al., 1993, on documents as sets of words). The links
    of both directions are averaged, geometrically: the languages have to agree. `told` is called after each direction.
    """
    together = _candidates(X, Y)
    numbered = sp.csr_array((np.arange(together.nnz), together.indices, together.indptr), together.shape)
    turned = sp.csr_array(numbered.T)  # where each pair of the other direction stands in this one
    there = _expected(X, Y, together)
    told()
    back = np.empty_like(there)
    back[turned.data] = _expected(Y, X, turned)
    told()
    documents = _frequencies(X), _frequencies(Y)
    either = np.repeat(documents[0], np.diff(together.indptr)) + documents[1][together.indices]
    shares = 2 * np.sqrt(there * back) / either
    linked = sp.csr_array((shares, together.indices, together.indptr), together.shape)
    return Links(linked, together, documents, X.shape[0])


def two_best(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows that are not empty, the column of the largest value of each, that value, and the next (0 if alone)."""
    sizes = np.diff(matrix.indptr)
    rows = np.flatnonzero(sizes)
    if not len(rows):
        return rows, rows, np.empty(0), np.empty(0)
    starts, of_row = matrix.indptr[rows], np.repeat(np.arange(len(rows)), sizes[rows])
    best = np.maximum.reduceat(matrix.data, starts)
    at = np.flatnonzero(matrix.data == best[of_row])
    at = at[np.unique(of_row[at], return_index=True)[1]]  # the first of equal ones
    others = matrix.data.copy()
    others[at] = 0.0
    return rows, matrix.indices[at], best, np.maximum.reduceat(others, starts)


def _candidates(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """Documents together of the pairs of words that are among the best of either by the Dice coefficient."""
    kept = sp.csr_array(_companions(X, Y).maximum(_companions(Y, X).T))
    kept.sort_indices()
    return kept


def _companions(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """For each word of X, how often the words of Y that go with it best stand beside it; of equal ones all."""
    words, documents, mates = sp.csr_array(X.T), _frequencies(X), _frequencies(Y)
    blocks = []
    for start in range(0, words.shape[0], _BLOCK):
        together = sp.csr_array(words[start : start + _BLOCK] @ Y)
        either = np.repeat(documents[start : start + _BLOCK], np.diff(together.indptr)) + mates[together.indices]
        dice = together.data / either
        for low, high in zip(together.indptr[:-1], together.indptr[1:], strict=True):
            if high - low > _CANDIDATES:
                row = dice[low:high]
                together.data[low:high][row < np.partition(row, -_CANDIDATES)[-_CANDIDATES]] = 0.0
        together.eliminate_zeros()
        blocks.append(together)
    return sp.csr_array(sp.vstack(blocks))


def _frequencies(view: sp.csr_array) -> np.ndarray:
    return np.bincount(view.indices, minlength=view.shape[1])


def _expected(X: sp.csr_array, Y: sp.csr_array, pairs: sp.csr_array) -> np.ndarray:
    """Expected links of the words of X to those of Y, for each pair in the order of `pairs`."""
    by_word = X.tocsc()
    sizes = np.diff(pairs.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    chances = 1.0 / sizes[rows]
    for _ in range(_STEPS):
        links = _step(
            *(by_word.indptr, by_word.indices, Y.indptr, Y.indices),
            *(pairs.indptr, pairs.indices, chances, Y.shape[1]),
        )
        total = np.bincount(rows, links, len(sizes))
        chances = links / np.where(total > 0, total, 1.0)[rows]
    return links


@compiled
def _step(
    word_starts: np.ndarray,
    word_documents: np.ndarray,
    starts: np.ndarray,
    words: np.ndarray,
    pair_starts: np.ndarray,
    pair_words: np.ndarray,
    chances: np.ndarray,
    n_words: int,
) -> Any:
    """Expected links under `chances`: every occurrence in Y is shared out among the words of its pair."""
    claims, row = np.zeros(len(words)), np.zeros(n_words)
    n = len(pair_starts) - 1
    for e in range(n):
        row[pair_words[pair_starts[e] : pair_starts[e + 1]]] = chances[pair_starts[e] : pair_starts[e + 1]]
        for d in word_documents[word_starts[e] : word_starts[e + 1]]:
            for at in range(starts[d], starts[d + 1]):
                claims[at] += row[words[at]]
        row[pair_words[pair_starts[e] : pair_starts[e + 1]]] = 0.0
    for at in range(len(claims)):
        if claims[at] > 0:
            claims[at] = 1.0 / claims[at]
    links = np.zeros(len(chances))
    for e in range(n):
        for d in word_documents[word_starts[e] : word_starts[e + 1]]:
            for at in range(starts[d], starts[d + 1]):
                row[words[at]] += claims[at]
        for pair in range(pair_starts[e], pair_starts[e + 1]):
            links[pair] = chances[pair] * row[pair_words[pair]]
        for d in word_documents[word_starts[e] : word_starts[e + 1]]:
            for at in range(starts[d], starts[d + 1]):
                row[words[at]] = 0.0
    return links
