"""Documents as TF-IDF vectors, kept sparse."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from .._validation import check_count

__all__ = ["TextVectorizer", "inverse_frequencies", "tokenize"]


def tokenize(text: str) -> list[str]:
    """The words of a text: runs of two or more letters of any script, combining marks included."""
    if text.isascii() or _marks().isdisjoint(set(text)):
        return _LETTERS.findall(text)
    return _word_pattern().findall(text)


# sparse vectors fit no frame, whatever output is asked for; mypy does not see scikit-learn's keyword
class TextVectorizer(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Term frequency times log(n / df), over the words of the n training documents, df of which have the word.

    Texts are brought to Unicode's composed form (NFC) first, so that one word has one spelling. A word that every
    training document has says nothing (its log is 0) and is left out. Nothing is centred or scaled here: the estimators
    do that, implicitly, so the vectors stay sparse.

    Parameters
    ----------
    lowercase : bool, default=True
    stop_words : sequence of str, optional
        Words to leave out, as they stand after lower-casing.
    min_df : int, default=1
        A word in fewer training documents than this is left out.
    ngram_range : (int, int), default=(1, 1)
        Shortest and longest run of words that counts as a term; (1, 2) adds pairs of neighbours.
    analyzer : {"word", "char", "char_wb"}, default="word"
        "char" takes runs of characters instead, for scripts that put no space between words.
    log_counts : bool, default=False
        Term frequencies 1 + log(count) instead of the count, and log((1 + n) / (1 + df)) + 1 instead of log(n / df):
        a word said a hundred times does not drown the others, nor does one that few documents have.

    Attributes
    ----------
    words_ : ndarray of str
        The terms, in the order of the columns.
    idf_ : ndarray of shape (n_words,)
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        stop_words: Sequence[str] | None = None,
        min_df: int = 1,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str = "word",
        log_counts: bool = False,
    ):
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.log_counts = log_counts

    def fit(self, documents: Iterable[str], y: Any = None) -> Self:
        """Learn the words and their document frequencies."""
        self.fit_transform(documents)
        return self

    def fit_transform(self, documents: Iterable[str], y: Any = None) -> sp.csr_array:
        """Learn the words and return the documents' vectors; `documents` is read once, as a stream."""
        min_df = check_count(self.min_df, "min_df")
        if isinstance(self.stop_words, str):
            raise ValueError(f"stop_words must be a list of words; got the text {self.stop_words!r}: list the words.")
        if self.analyzer not in ("word", "char", "char_wb"):
            raise ValueError(f"analyzer must be 'word', 'char' or 'char_wb'; got {self.analyzer!r}.")
        counter = self._counter(None)
        try:
            counts = sp.csc_array(counter.fit_transform(_checked(documents)))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            raise ValueError("the documents hold no word: pass texts of letters, or fewer stop words.") from error
        kept, idf = inverse_frequencies(np.diff(counts.indptr), counts.shape[0], min_df)
        if not len(kept):
            raise ValueError(
                f"no word is left: of {counts.shape[1]} words none is in at least min_df={min_df} and in fewer than "
                f"all {counts.shape[0]} documents; lower min_df or pass more documents."
            )
        self.words_ = counter.get_feature_names_out()[kept]
        self.idf_ = np.log((1 + counts.shape[0]) / (1 + np.diff(counts.indptr)[kept])) + 1 if self.log_counts else idf
        return self._weighted(counts[:, kept])

    def count(self, documents: Iterable[str]) -> tuple[sp.csr_array, np.ndarray]:
        """How often each document has each word, before anything is left out or weighted, and the words."""
        counter = self._counter(None)
        counts = sp.csr_array(counter.fit_transform(_checked(documents)))
        counts.sort_indices()
        return counts, counter.get_feature_names_out()

    def transform(self, documents: Iterable[str]) -> sp.csr_array:
        """Vectors of documents over the words learnt; unknown words are passed over."""
        check_is_fitted(self)
        counter = self._counter({word: i for i, word in enumerate(self.words_)})
        return self._weighted(sp.csc_array(counter.transform(_checked(documents))))

    def position(self, word: str) -> int | None:
        """The column of a word, lower-cased and composed as texts are; None for an unknown one."""
        check_is_fitted(self)
        columns = np.flatnonzero(self.words_ == (_lowered if self.lowercase else _composed)(word.strip()))
        return int(columns[0]) if len(columns) else None

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, a column of the vectors each."""
        check_is_fitted(self)
        return np.asarray(self.words_, dtype=object)

    def _counter(self, vocabulary: Any) -> CountVectorizer:
        return CountVectorizer(
            preprocessor=_lowered if self.lowercase else _composed,
            tokenizer=tokenize if self.analyzer == "word" else None,
            token_pattern=None,
            stop_words=None if self.stop_words is None else [_composed(word) for word in self.stop_words],
            ngram_range=tuple(self.ngram_range),
            analyzer=self.analyzer,
            vocabulary=vocabulary,
            dtype=np.float64,
        )

    def _weighted(self, counts: sp.csc_array) -> sp.csr_array:
        if self.log_counts:
            counts.data = 1.0 + np.log(counts.data)
        counts.data *= np.repeat(self.idf_, np.diff(counts.indptr))
        return counts.tocsr()


def inverse_frequencies(frequency: np.ndarray, n: int, min_df: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The words that tell `n` documents apart, in at least `min_df` of them and not in all, and their log(n / df)."""
    kept = np.flatnonzero((frequency >= min_df) & (frequency < n))
    return kept, np.log(n / frequency[kept])


def _checked(documents: Iterable[str]) -> Iterator[str]:
    if isinstance(documents, str):
        raise ValueError("documents must be a list of texts; got one text: put it in a list.")
    for i, document in enumerate(documents):
        if not isinstance(document, str):
            raise ValueError(f"documents must be texts; document {i} is a {type(document).__name__}.")
        yield document


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _lowered(text: str) -> str:
    return _composed(text.lower())


_LETTERS = re.compile(r"[^\W\d_]{2,}")  # what the pattern below comes to where no mark stands, many times as fast


@cache
def _word_pattern() -> re.Pattern[str]:
    # Python's \w knows letters but not the marks that follow them in many scripts (Devanagari, Thai, pointed Hebrew)
    letter, mark = r"[^\W\d_]", f"[{''.join(map(re.escape, sorted(_marks())))}]"
    return re.compile(rf"{letter}{mark}*(?:{letter}{mark}*)+|{letter}{mark}+")


@cache
def _marks() -> frozenset[str]:
    """All combining marks."""
    # beyond the first range are ideographs, and the variation selectors
    points = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]
    return frozenset(chr(point) for point in points if unicodedata.category(chr(point)).startswith("M"))
