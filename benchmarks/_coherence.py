"""Coherence of words: normalised pointwise mutual information in held-out documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from scca.text import TextVectorizer

__all__ = ["Coherence", "Reference"]

Words = Sequence[str]


@dataclass(frozen=True)
class Coherence:
    """Of all components of a method.

    Attributes
    ----------
    across, first, second : float
        Mean over the pairs of a word of each language, and over those within each; then over the components.
    n_words : float
        Words shown, of a component and language.
    n_unknown : int
        Words shown that no document of the reference has; they meet no other.
    """

    across: float
    first: float
    second: float
    n_words: float
    n_unknown: int


class Reference:
    """Which documents, of those kept aside, have which words."""

    def __init__(self, first: Sequence[str], second: Sequence[str]):
        self._n = len(first)
        self._has, self._columns = [], []
        for documents in (first, second):
            counts, words = TextVectorizer().count(documents)
            self._has.append(sp.csc_array(counts > 0, dtype=np.float64))
            self._columns.append({word: column for column, word in enumerate(words)})

    def coherence(self, components: Sequence[tuple[Words, Words]]) -> Coherence:
        """Of components given as words of the first and of the second language.

        One that lacks the words of a language has -1 across; one of a single word is passed over within.
        """
        values, unknown = np.full((len(components), 3), np.nan), 0
        for j, words in enumerate(components):
            first, second = (self._documents(side, shown) for side, shown in enumerate(words))
            unknown += sum(int(np.count_nonzero(~has.any(axis=0))) for has in (first, second))
            within = [_above(self._information(side, side)) for side in (first, second)]
            for column, found in enumerate((self._information(first, second), *within)):
                if found.size:
                    values[j, column] = found.mean()
        values[:, 0] = np.nan_to_num(values[:, 0], nan=-1.0)
        n_words = float(np.mean([len(shown) for words in components for shown in words]))
        return Coherence(*map(float, np.nanmean(values, axis=0)), n_words, unknown)

    def _documents(self, side: int, words: Words) -> np.ndarray:
        """One column per word: 1 in the documents that have it."""
        found = np.zeros((self._n, len(words)))
        for column, word in enumerate(words):
            if word in self._columns[side]:
                found[:, column] = self._has[side][:, [self._columns[side][word]]].toarray().ravel()
        return found

    def _information(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """log(p_ab / p_a p_b) / -log p_ab of every pair: -1 if two words never occur together, 1 if they always do."""
        both = first.T @ second / self._n
        apart = np.outer(first.mean(axis=0), second.mean(axis=0))
        values = np.full(both.shape, -1.0)
        some = (both > 0) & (both < 1)
        values[some] = np.log(both[some] / apart[some]) / -np.log(both[some])
        values[both >= 1] = 1.0
        return values


def _above(square: np.ndarray) -> np.ndarray:
    """Each pair of two different words once."""
    return square[np.triu_indices_from(square, 1)]
