"""Paired documents as two sparse tf-idf matrices: made up, or read from a pair of line-aligned files."""

import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

__all__ = ["TextPairs", "made_up_pair", "read_pair", "read_texts", "tf_idf_of"]

TextPairs = list[tuple[str, str]]

_DOCUMENTS = 29_000
_FEWEST_WORDS, _MOST_WORDS = 5, 25  # in either language


def made_up_pair(seed: int = 0, *, vocabulary=10_000, topics=50) -> tuple[sp.csc_array, sp.csc_array]:
    """Documents of about 12 different words: Zipf's law, topics whose words come together, and a noisy translation.

    Of a document's translation, three words in four are the dictionary's for its own, and the others are drawn anew
    from the same topic.
    """
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.poisson(14, _DOCUMENTS), _FEWEST_WORDS, _MOST_WORDS)
    documents = np.repeat(np.arange(_DOCUMENTS), lengths)
    topic = np.repeat(rng.integers(topics, size=_DOCUMENTS), lengths)
    dictionary = rng.permutation(vocabulary)

    zipf = 1.0 / np.arange(1, vocabulary + 1)
    distributions = zipf * rng.lognormal(sigma=1.5, size=(topics, vocabulary))
    words = _draw(distributions, topic, rng)
    literal = rng.random(len(words)) < 0.75
    translated = dictionary[np.where(literal, words, _draw(distributions, topic, rng))]
    return _tf_idf(documents, words, vocabulary), _tf_idf(documents, translated, vocabulary)


def read_pair(first: Path, second: Path) -> tuple[sp.csc_array, sp.csc_array]:
    """The first pairs of lines that both have 5 to 25 words; `.gz` files are read compressed."""
    with _open(first) as left, _open(second) as right:
        return tf_idf_of(list(islice(_short(zip(left, right, strict=True)), _DOCUMENTS)))


def read_texts(first: Path, second: Path, n: int) -> TextPairs:
    """The first `n` pairs of lines."""
    with _open(first) as left, _open(second) as right:
        return list(islice(zip(left, right, strict=True), n))


def tf_idf_of(pairs: TextPairs) -> tuple[sp.csc_array, sp.csc_array]:
    return tuple(sp.csc_array(TfidfVectorizer(min_df=2).fit_transform(texts)) for texts in zip(*pairs, strict=True))


def _draw(distributions: np.ndarray, topic: np.ndarray, rng) -> np.ndarray:
    """A word from the distribution of each topic in `topic`."""
    words = np.empty(len(topic), dtype=np.intp)
    for t, weights in enumerate(distributions):
        here = np.flatnonzero(topic == t)
        words[here] = rng.choice(len(weights), size=len(here), p=weights / weights.sum())
    return words


def _tf_idf(documents: np.ndarray, words: np.ndarray, vocabulary: int) -> sp.csc_array:
    """Counts times log(n / df), rows of unit norm, of the words that two documents have."""
    places = documents.astype(np.int32), words.astype(np.int32)  # indices of 64 bits are refused by lasso solvers
    counts = sp.csr_array((np.ones(len(words)), places), shape=(_DOCUMENTS, vocabulary))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=vocabulary)
    kept = np.flatnonzero(frequency >= 2)
    return sp.csc_array(normalize(counts[:, kept] @ sp.diags_array(np.log(_DOCUMENTS / frequency[kept]))))


def _open(path: Path):
    # only "\n" ends a line: other separators within one would shift the pairs
    return (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n")


def _short(pairs) -> Iterator[tuple[str, str]]:
    for pair in pairs:
        if all(_FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS for text in pair):
            yield pair
