"""Links between the words of two languages: all words of a pair of documents compete as translations of each other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._compile import compiled

__all__ = ["Links", "link_words", "two_best"]

_EM_STEPS = 10  # more steps change little, fewer find fewer right words (benchmarks/translation.py)
_CANDIDATES = 50  # translations tried per word, so that time and memory are proportional to the number of words
_BLOCK = 500  # words whose candidates are counted at a time


@dataclass(frozen=True)
class Links:
    """Links between the words of X (rows) and of Y (columns).

    Attributes
    ----------
    shares : csr_array of shape (n_x_words, n_y_words)
        2 links / (df + df'): the share, from 0 to 1, of the documents with either word in which the two are linked.
    together : csr_array of the same shape and pattern
        Number of documents with both words.
    documents : tuple of two ndarray
        df and df', the number of documents with each word.
    n_documents : int
    """

    shares: sp.csr_array
    together: sp.csr_array
    documents: tuple[np.ndarray, np.ndarray]
    n_documents: int

    def transposed(self) -> "Links":
        """The same links from Y to X."""
        shares, together = (sp.csr_array(matrix.T) for matrix in (self.shares, self.together))
        return Links(shares, together, self.documents[::-1], self.n_documents)


def link_words(X: sp.csr_array, Y: sp.csr_array, advance: Callable[[], None] = lambda: None) -> Links:
    """Link the words of paired documents; X and Y are 1 where a document has a word.

    Every word f of a document is linked to the words e of its mate in proportion to t(f | e), the probability that e
    is translated by f:

        links(e, f) = sum over documents of  t(f | e) / sum_e' t(f | e'),    t(f | e) proportional to links(e, f),

    ten iterations from uniform t (EM for IBM model 1, Brown et al., 1993, on documents as sets of words). The result is
    the geometric mean of the links in both directions, so that both have to agree. `advance` is called after each
    direction.
    """
    together = _candidates(X, Y)
    numbered = sp.csr_array((np.arange(together.nnz), together.indices, together.indptr), together.shape)
    transposed = sp.csr_array(numbered.T)  # for each pair in the other direction, its position in this one
    x_to_y = _expected(X, Y, together)
    advance()
    y_to_x = np.empty_like(x_to_y)
    y_to_x[transposed.data] = _expected(Y, X, transposed)
    advance()
    documents = _frequencies(X), _frequencies(Y)
    df_sums = np.repeat(documents[0], np.diff(together.indptr)) + documents[1][together.indices]
    shares = 2 * np.sqrt(x_to_y * y_to_x) / df_sums
    linked = sp.csr_array((shares, together.indices, together.indptr), together.shape)
    return Links(linked, together, documents, X.shape[0])


def two_best(matrix: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nonempty rows, the column of the largest value of each, that value, and the second largest (0 if none)."""
    sizes = np.diff(matrix.indptr)
    rows = np.flatnonzero(sizes)
    if not len(rows):
        return rows, rows, np.empty(0), np.empty(0)
    starts, of_row = matrix.indptr[rows], np.repeat(np.arange(len(rows)), sizes[rows])
    best = np.maximum.reduceat(matrix.data, starts)
    at = np.flatnonzero(matrix.data == best[of_row])
    at = at[np.unique(of_row[at], return_index=True)[1]]  # the first of ties
    others = matrix.data.copy()
    others[at] = 0.0
    return rows, matrix.indices[at], best, np.maximum.reduceat(others, starts)


def _candidates(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """How many documents two words have in common, for pairs that are among the best of either word by Dice."""
    pairs = sp.csr_array(_best_by_dice(X, Y).maximum(_best_by_dice(Y, X).T))
    pairs.sort_indices()
    return pairs


def _best_by_dice(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    """How many documents each word of X has in common with its best words of Y by Dice, ties included."""
    words, documents, mates = sp.csr_array(X.T), _frequencies(X), _frequencies(Y)
    blocks = []
    for start in range(0, words.shape[0], _BLOCK):
        together = sp.csr_array(words[start : start + _BLOCK] @ Y)
        df_sums = np.repeat(documents[start : start + _BLOCK], np.diff(together.indptr)) + mates[together.indices]
        dice = together.data / df_sums
        for low, high in zip(together.indptr[:-1], together.indptr[1:], strict=True):
            if high - low > _CANDIDATES:
                row = dice[low:high]
                together.data[low:high][row < np.partition(row, -_CANDIDATES)[-_CANDIDATES]] = 0.0
        together.eliminate_zeros()
        blocks.append(together)
    return sp.csr_array(sp.vstack(blocks))


def _frequencies(view: sp.csr_array) -> np.ndarray:
    """The number of documents with each word."""
    return np.bincount(view.indices, minlength=view.shape[1])


def _expected(X: sp.csr_array, Y: sp.csr_array, pairs: sp.csr_array) -> np.ndarray:
    """Expected links of the words of X to those of Y, for each pair in the order of `pairs`."""
    by_word = X.tocsc()
    sizes = np.diff(pairs.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    chances = 1.0 / sizes[rows]
    for _ in range(_EM_STEPS):
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
    """Expected links under the probabilities `chances`: every word of Y is shared out among the words of its mate."""
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
