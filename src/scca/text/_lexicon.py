"""A bilingual word list from paired documents: each word's best mates, and how far to trust the first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._links import Links, link_words
from ._results import Weighted, WordPair
from ._trust import TRUST_STEPS, best_mates, fit_trust, trust

__all__ = ["Lexicographer"]

_LEAST_SHARE = 0.05  # a mate with less than this part of the best mate's share is left out


class Lexicographer:
    """Links all words of paired documents once, and then gives the entry of any word.

    Parameters
    ----------
    views : tuple of two csr_array of shape (n_documents, n_words)
        Nonzero where a document has a word.
    words : tuple of two ndarray of str
    progress : callable, optional
        Called with the number of steps done and the total.
    """

    def __init__(self, views: Any, words: Any, progress: Callable[[int, int], None] | None = None):
        self._words = words
        done, total = 0, 2 + TRUST_STEPS

        def advance() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, total)

        X, Y = map(_presence, views)
        links = link_words(X, Y, advance)
        coefficients = fit_trust(X, Y, advance)
        self._sides = [_Side(part, coefficients) for part in (links, links.transposed())]

    def entries(self, side: int, most: int = 10) -> list[WordPair]:
        """The entries of all words of a language that have a mate, with at most `most` mates each."""
        return [self._entry(side, row, most) for row in range(len(self._sides[side].words))]

    def entry(self, side: int, word: int, most: int = 10) -> WordPair | None:
        """The entry of one word; None if it is linked to no word of the other language."""
        words = self._sides[side].words
        row = int(np.searchsorted(words, word))
        return self._entry(side, row, most) if row < len(words) and words[row] == word else None

    def _entry(self, side: int, row: int, most: int) -> WordPair:
        linked, links, names = self._sides[side], self._sides[side].links, self._words[1 - side]
        word = int(linked.words[row])
        part = slice(links.shares.indptr[word], links.shares.indptr[word + 1])
        shares, columns = links.shares.data[part], links.shares.indices[part]
        order = np.argsort(-shares, kind="stable")[:most]  # ties by position, as in two_best
        order = order[shares[order] >= _LEAST_SHARE * shares[order[0]]]
        mates = tuple(Weighted(str(names[columns[i]]), float(shares[i]), int(columns[i])) for i in order)
        return WordPair(
            word=str(self._words[side][word]),
            mates=mates,
            trust=float(linked.trust[row]),
            mutual=bool(linked.mutual[row]),
            documents=int(links.documents[0][word]),
            mate_documents=int(links.documents[1][mates[0].index]),
            together=int(links.together.data[part][order[0]]),
        )


class _Side:
    """The links from the words of one language, and for its words with a mate how far to trust it."""

    def __init__(self, links: Links, coefficients: np.ndarray):
        self.links = links
        self.words, _, self.mutual, evidence = best_mates(links)
        self.trust = trust(evidence, coefficients)


def _presence(view: Any) -> sp.csr_array:
    """1 where a document has a word."""
    view = sp.csr_array(view, copy=True)
    view.eliminate_zeros()
    view.data = np.ones(view.nnz)
    return view
