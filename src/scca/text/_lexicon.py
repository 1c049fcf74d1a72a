"""A whole bilingual word list from paired documents: each word's mate, the next best, and how far to trust it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._answers import Weighted, WordPair
from ._links import Links, link_words
from ._trust import TRUST_STEPS, best_mates, fit_trust, trust

__all__ = ["Lexicographer"]

_FAINT = 0.05  # of the strongest mate's share, below which a word is not named


class Lexicographer:
    """Links all words of paired documents once, and answers for any of them.

    Parameters
    ----------
    views : tuple of two csr_array of shape (n_documents, n_words)
        Whatever is not zero is a word that a document has.
    words : tuple of two ndarray of str
    progress : callable, optional
        Called with what is done and to do.
    """

    def __init__(self, views: Any, words: Any, progress: Callable[[int, int], None] | None = None):
        self._words = words
        done, total = 0, 2 + TRUST_STEPS

        def told() -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, total)

        X, Y = map(_presence, views)
        links = link_words(X, Y, told)
        coefficients = fit_trust(X, Y, told)
        self._sides = [_Side(part, coefficients) for part in (links, links.turned())]

    def entries(self, side: int, most: int = 10) -> list[WordPair]:
        """Entries of all words of a language that have a mate, with `most` mates each at most."""
        return [self._entry(side, row, most) for row in range(len(self._sides[side].words))]

    def entry(self, side: int, word: int, most: int = 10) -> WordPair | None:
        """The entry of one word; None if no word of the other language stands beside it."""
        words = self._sides[side].words
        row = int(np.searchsorted(words, word))
        return self._entry(side, row, most) if row < len(words) and words[row] == word else None

    def _entry(self, side: int, row: int, most: int) -> WordPair:
        known, names = self._sides[side], self._words[1 - side]
        word = int(known.words[row])
        part = slice(known.links.shares.indptr[word], known.links.shares.indptr[word + 1])
        shares, columns = known.links.shares.data[part], known.links.shares.indices[part]
        order = np.argsort(-shares, kind="stable")[:most]  # of equal ones the first, as in two_best
        order = order[shares[order] >= _FAINT * shares[order[0]]]
        mates = tuple(Weighted(str(names[columns[i]]), float(shares[i]), int(columns[i])) for i in order)
        return WordPair(
            word=str(self._words[side][word]),
            mates=mates,
            trust=float(known.trusted[row]),
            mutual=bool(known.mutual[row]),
            documents=int(known.links.documents[0][word]),
            mate_documents=int(known.links.documents[1][mates[0].index]),
            together=int(known.links.together.data[part][order[0]]),
        )


class _Side:
    """The links as one language sees them, and its words that have a mate."""

    def __init__(self, links: Links, coefficients: np.ndarray):
        self.links = links
        self.words, _, self.mutual, evidence = best_mates(links)
        self.trusted = trust(evidence, coefficients)


def _presence(view: Any) -> sp.csr_array:
    view = sp.csr_array(view, copy=True)
    view.eliminate_zeros()
    view.data = np.ones(view.nnz)
    return view
