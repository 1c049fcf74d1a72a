"""Paired text-like counts with Zipf word frequencies, topics and a known dictionary."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._checks import check_count
from .._types import SeedLike

__all__ = ["BilingualCounts", "make_bilingual"]


@dataclass(frozen=True)
class BilingualCounts:
    """Paired documents as word counts, and what they were made from.

    Attributes
    ----------
    X, Y : csr_array of shape (n_documents, vocabulary)
        Counts of the words of each language; rows i of both are mates.
    dictionary : ndarray of shape (vocabulary,)
        Word j of X and word dictionary[j] of Y mean the same.
    topics : ndarray of shape (n_documents,)
        The main topic of each document.
    """

    X: sp.csr_array
    Y: sp.csr_array
    dictionary: np.ndarray
    topics: np.ndarray

    @property
    def views(self) -> tuple[Any, Any]:
        return self.X, self.Y

    @property
    def x_words(self) -> np.ndarray:
        return _spellings(self.X.shape[1], "klnrstw", "aeio")

    @property
    def y_words(self) -> np.ndarray:
        return _spellings(self.Y.shape[1], "bdfgmpvz", "aouy")

    def texts(self) -> Iterator[tuple[str, str]]:
        """The documents as pairs of strings, with words in no particular order."""
        x_words, y_words = self.x_words, self.y_words
        for i in range(self.X.shape[0]):
            yield _text(self.X[[i]], x_words), _text(self.Y[[i]], y_words)


def make_bilingual(
    n_documents: int = 300,
    *,
    vocabulary: int = 2000,
    n_topics: int = 20,
    length: int = 50,
    fidelity: float = 0.8,
    focus: float = 0.5,
    exponent: float = 1.0,
    random_state: SeedLike = None,
) -> BilingualCounts:
    """Paired documents in two made-up languages.

    A document has a topic. Each of its tokens is drawn from the topic's own words with probability `focus` and from the
    words of the language at large otherwise, both with Zipf frequencies. Its mate translates each token by the
    dictionary with probability `fidelity`, and draws a token of its own in the same way otherwise.

    Parameters
    ----------
    n_documents : int
    vocabulary : int
        Number of words of each language.
    n_topics : int
        Each topic has about vocabulary / n_topics words of its own.
    length : int
        Mean number of tokens per document (Poisson, at least 1).
    fidelity, focus : float from 0 to 1
    exponent : float
        Exponent of the Zipf law: the frequency of the r-th word is proportional to r^-exponent.
    random_state : int, RandomState instance or None

    Returns
    -------
    BilingualCounts
    """
    n_documents, length = check_count(n_documents, "n_documents"), check_count(length, "length")
    n_topics = check_count(n_topics, "n_topics")
    vocabulary = check_count(vocabulary, "vocabulary", least=2 * n_topics)
    for name, share in (("fidelity", fidelity), ("focus", focus)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} must be a number from 0 to 1; got {share!r}.")
    rng = check_random_state(random_state)
    dictionary = rng.permutation(vocabulary)
    topics = rng.randint(n_topics, size=n_documents)
    topic_of_word = rng.randint(n_topics, size=vocabulary)
    topic_of_word[rng.permutation(vocabulary)[:n_topics]] = np.arange(n_topics)  # no topic without a word

    lengths = np.maximum(1, rng.poisson(length, size=n_documents))
    documents = np.repeat(np.arange(n_documents), lengths)
    draw = _TokenSampler(topic_of_word, n_topics, focus, exponent, rng)
    tokens = draw(topics[documents])
    translated = rng.random_sample(len(tokens)) < fidelity
    mates = np.where(translated, tokens, draw(topics[documents]))
    X, Y = (
        sp.csr_array(sp.coo_array((np.ones(len(words)), (documents, words)), shape=(n_documents, vocabulary)))
        for words in (tokens, dictionary[mates])
    )
    return BilingualCounts(X, Y, dictionary, topics)


class _TokenSampler:
    """Draws the words of a topic, or any words, by Zipf's law in the order of their index."""

    def __init__(
        self, topic_of_word: np.ndarray, n_topics: int, focus: float, exponent: float, rng: np.random.RandomState
    ):
        self._frequency = np.arange(1, len(topic_of_word) + 1, dtype=float) ** -exponent
        self._all_words = np.arange(len(topic_of_word))
        self._words_of_topic = [np.flatnonzero(topic_of_word == topic) for topic in range(n_topics)]
        self._focus, self._rng = focus, rng

    def __call__(self, topics: np.ndarray) -> np.ndarray:
        """One word for each entry of `topics`."""
        words = self._draw(self._all_words, len(topics))
        focused = self._rng.random_sample(len(topics)) < self._focus
        for topic, own in enumerate(self._words_of_topic):
            here = np.flatnonzero(focused & (topics == topic))
            words[here] = self._draw(own, len(here))
        return words

    def _draw(self, words: np.ndarray, size: int) -> np.ndarray:
        cumulated = np.cumsum(self._frequency[words]) / self._frequency[words].sum()
        return words[np.searchsorted(cumulated, self._rng.random_sample(size))]


def _text(counts: sp.csr_array, words: np.ndarray) -> str:
    return " ".join(np.repeat(words[counts.indices], counts.data.astype(int)))


def _spellings(size: int, consonants: str, vowels: str) -> np.ndarray:
    """Distinct pronounceable words: each index written in syllables."""
    syllables = [c + v for c in consonants for v in vowels]
    names = []
    for index in range(size):
        name, rest = syllables[index % len(syllables)], index // len(syllables)
        while rest:
            rest -= 1
            name, rest = syllables[rest % len(syllables)] + name, rest // len(syllables)
        names.append(name + "n")
    return np.array(names)
