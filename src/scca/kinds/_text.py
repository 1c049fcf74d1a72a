"""Text: documents as TF-IDF vectors over their words, kept sparse."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import check_is_fitted

from .._checks import DataWarning, check_count, check_flag, shown, warn
from .._data import check_finite, check_magnitude
from .._wording import counted, setting
from ..readers import read_documents
from ._kind import Kind, register

__all__ = ["TextVectorizer", "WordCounts", "inverse_frequencies", "tokenize"]

_SHARED_WORDS = 10  # with so many documents or more, words must by default occur in at least two
_LONGEST_RUN = 100  # combining marks in a row; Unicode's stream-safe format allows 30, and no language needs that many


def tokenize(text: str) -> list[str]:
    """The words of a text: runs of two or more letters of any script, combining marks included."""
    if text.isascii() or _marks().isdisjoint(text):
        return _LETTERS.findall(text)
    return _word_pattern().findall(text)


@register
class TextVectorizer(Kind):
    """Documents of a language as TF-IDF vectors: term frequency times log(n / df), for a word in df of n documents.

    Texts are normalised to Unicode's composed form (NFC), so that a word has one spelling. A word in every training
    document carries no information (its log is 0) and is left out. The estimators centre and scale, implicitly, so that
    the vectors stay sparse.

    Parameters
    ----------
    lowercase : bool, default=True
    stop_words : sequence of str, optional
        Words to leave out; lower-cased and composed like texts.
    min_df : int or "auto", default=1
        Words in fewer training documents are left out. "auto" is 2 for ten documents or more, and otherwise 1.
    ngram_range : (int, int), default=(1, 1)
        Shortest and longest run of words that counts as a term; (1, 2) adds pairs of neighbours.
    analyzer : {"word", "char", "char_wb"}, default="word"
        "char" takes runs of characters instead, for scripts without spaces between words.
    log_counts : bool, default=False
        Term frequencies 1 + log(count) instead of the count, and log((1 + n) / (1 + df)) + 1 instead of log(n / df), so
        that very frequent words of a document, and very rare words, dominate less.

    Attributes
    ----------
    words_ : ndarray of str
        The terms, in the order of the columns.
    idf_ : ndarray of shape (n_words,)
    """

    kind = "text"
    view = "language"
    unit, units = "word", "words"
    sample, samples = "document", "documents"
    scale = "rows"
    zeros_say_nothing = True

    def __init__(
        self,
        *,
        lowercase: bool = True,
        stop_words: Sequence[str] | None = None,
        min_df: int | str = 1,
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
        return self.learn(documents)[0]

    def learn(self, documents: Iterable[str]) -> tuple[sp.csr_array, list[str]]:
        """The result of `fit_transform`, and the stop words that no document has."""
        self.check_settings()
        found = self.count_words(documents)
        if found.counts is None:
            raise ValueError(self._no_word())
        kept = self.choose_words(found.words, np.diff(found.counts.indptr), found.counts.shape[0])
        return self._weighted(found.counts[:, kept]), self.absent(found.seen)

    def choose_words(self, words: np.ndarray, frequency: np.ndarray, n: int) -> np.ndarray:
        """Learn which of all words to read, by the number of the `n` documents with each; returns their positions."""
        self.check_settings()
        min_df = (2 if n >= _SHARED_WORDS else 1) if self.min_df == "auto" else int(self.min_df)
        if not len(words):
            raise ValueError(self._no_word())
        if self.analyzer == "word":
            _warn_of_unspaced(words)
        kept, idf = inverse_frequencies(frequency, n, min_df)
        if not len(kept):
            raise ValueError(
                f"no word is left: of {counted(len(words), 'word')} none is in at least "
                f"{setting('min_df', min_df)} and in fewer than all {n} documents; lower "
                f"{setting('min_df')} or pass more documents."
            )
        self.words_ = words[kept]
        self.idf_ = np.log((1 + n) / (1 + frequency[kept])) + 1 if self.log_counts else idf
        return kept

    def count_words(self, documents: Iterable[str]) -> "WordCounts":
        """Counts of all words of some documents; `weigh_counts` makes vectors of them once words are chosen."""
        seen: set[str] = set()
        counter = self._counter(None, seen)
        try:
            counts = sp.csc_array(counter.fit_transform(_checked(documents)))
        except ValueError as error:
            if "empty vocabulary" not in str(error):
                raise
            return WordCounts(None, np.empty(0, dtype=object), seen)
        return WordCounts(counts, counter.get_feature_names_out(), seen)

    def weigh_counts(self, found: "WordCounts", n: int) -> sp.csr_array:
        """The vectors of `n` counted documents over the learnt words."""
        check_is_fitted(self)
        if found.counts is None:
            return sp.csr_array((n, len(self.words_)))
        column = {word: i for i, word in enumerate(self.words_)}
        columns = np.array([column.get(word, -1) for word in found.words], dtype=np.intp)
        learnt = np.flatnonzero(columns >= 0)
        counts = found.counts[:, learnt].tocoo()
        moved = (counts.data, (counts.row, columns[learnt][counts.col]))
        return self._weighted(sp.csc_array(moved, shape=(n, len(self.words_))))

    def absent(self, seen: set[str]) -> list[str]:
        """The stop words that are not among those seen."""
        return [word for word in self._stop_words() if word not in seen]

    def check_settings(self) -> None:
        """Raises ValueError for an invalid parameter."""
        if isinstance(self.stop_words, str):
            raise ValueError(
                f"{setting('stop_words')} must be a list of words; got the text {shown(self.stop_words)}: list the "
                "words."
            )
        if self.stop_words is not None and not all(isinstance(word, str) for word in self.stop_words):
            raise ValueError(f"stop_words must be None or a list of words; got {shown(self.stop_words)}.")
        if self.analyzer not in ("word", "char", "char_wb"):
            raise ValueError(f"analyzer must be 'word', 'char' or 'char_wb'; got {self.analyzer!r}.")
        if self.stop_words is not None and self.analyzer != "word":
            raise ValueError(
                f"{setting('stop_words')} are words, and {setting('analyzer', self.analyzer)} reads none; leave out "
                "one of the two."
            )
        least, most = self.ngram_range
        if check_count(most, "the longest run of ngram_range") < check_count(least, "the shortest run of ngram_range"):
            raise ValueError(f"ngram_range must be a shortest and a longest run; got {shown(self.ngram_range)}.")
        check_flag(self.lowercase, "lowercase")
        check_flag(self.log_counts, "log_counts")
        if not (isinstance(self.min_df, str) and self.min_df == "auto"):
            check_count(self.min_df, "min_df")

    def count(self, documents: Iterable[str]) -> tuple[sp.csr_array, np.ndarray]:
        """Counts of all words in each document, before anything is left out or weighted, and the words."""
        found = self.count_words(documents)
        if found.counts is None:
            raise ValueError(self._no_word())
        return found.counts.tocsr(), found.words

    def transform(self, documents: Iterable[str]) -> sp.csr_array:
        """Vectors of documents over the learnt words; unknown words are ignored."""
        check_is_fitted(self)
        counter = self._counter({word: i for i, word in enumerate(self.words_)}, set())
        return self._weighted(sp.csc_array(counter.transform(_checked(documents))))

    def position(self, word: str) -> int | None:
        """The column of a word, lower-cased and composed like texts; None if unknown."""
        check_is_fitted(self)
        columns = np.flatnonzero(self.words_ == self._spelt(word.strip()))
        return int(columns[0]) if len(columns) else None

    @classmethod
    def suits(cls, samples: Any) -> bool:
        return isinstance(samples, list | tuple) and bool(samples) and all(isinstance(each, str) for each in samples)

    @classmethod
    def usual(cls) -> Self:
        """Logarithmic counts, and of ten documents or more the words of at least two: others have nothing to share."""
        return cls(log_counts=True, min_df="auto")

    @property
    def feature_names_(self) -> np.ndarray:
        return self.words_

    def labels(self, samples: Iterable[str]) -> list[str] | None:
        """The documents themselves."""
        return list(samples)

    def read(self, path: Path) -> list[str]:
        """The lines of a text file."""
        return read_documents(path)

    def check_loaded(self, n_features: int) -> None:
        """Raise ValueError if the words and their frequencies are not those of `n_features` columns."""
        self.check_settings()
        if not isinstance(self.words_, np.ndarray):
            raise ValueError("words_ is no list of words")
        super().check_loaded(n_features)
        if len(set(self.words_)) != n_features:
            raise ValueError("a word stands twice in words_")
        idf = self.idf_
        if not (isinstance(idf, np.ndarray) and idf.dtype.kind == "f" and idf.shape == (n_features,)):
            raise ValueError(f"idf_ is no array of {n_features} numbers")
        check_finite(idf[:, None], "idf_")
        check_magnitude(idf[:, None], "idf_")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The words, one per column of the vectors."""
        check_is_fitted(self)
        return np.asarray(self.words_, dtype=object)

    def _no_word(self) -> str:
        if self.analyzer != "word":
            return "the documents contain no character: pass texts."
        remedy = f"pass fewer {setting('stop_words')}, " if self.stop_words else ""
        return (
            f"the documents contain no word of two letters or more: {remedy}pass texts of words, or "
            f"{setting('analyzer', 'char')} to read characters."
        )

    def _spelt(self, text: str) -> str:
        return _composed(text.lower() if self.lowercase else text)

    def _stop_words(self) -> list[str]:
        """The stop words as texts spell them, without those that are never words, such as single letters."""
        spelt = dict.fromkeys(self._spelt(word.strip()) for word in self.stop_words or ())
        return [word for word in spelt if tokenize(word)]

    def _counter(self, vocabulary: Any, seen: set[str]) -> CountVectorizer:
        """A counter of words that adds the stop words it finds to `seen`."""
        stop_words = frozenset(self._stop_words())

        def words(text: str) -> list[str]:
            found = tokenize(text)
            if not stop_words:
                return found
            seen.update(stop_words.intersection(found))
            return [word for word in found if word not in stop_words]

        return CountVectorizer(
            preprocessor=self._spelt,
            tokenizer=words if self.analyzer == "word" else None,
            token_pattern=None,
            ngram_range=tuple(self.ngram_range),
            analyzer=self.analyzer,
            vocabulary=vocabulary,
            dtype=np.float64,
        )

    def _weighted(self, counts: sp.csc_array) -> sp.csr_array:
        """The vectors of counts over the learnt words; changes the counts."""
        if self.log_counts:
            counts.data = 1.0 + np.log(counts.data)
        counts.data *= np.repeat(self.idf_, np.diff(counts.indptr))
        return counts.tocsr()


@dataclass(frozen=True, eq=False)
class WordCounts:
    """Counts of words in documents (None if the documents have no word), the words, and the stop words seen."""

    counts: sp.csc_array | None
    words: np.ndarray
    seen: set[str]

    def frequencies(self) -> dict[str, int]:
        """The number of documents with each word."""
        numbers = [] if self.counts is None else np.diff(self.counts.indptr).tolist()
        return dict(zip(self.words, numbers, strict=True))


def inverse_frequencies(frequency: np.ndarray, n: int, min_df: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the words in at least `min_df` of `n` documents but not in all, and their log(n / df)."""
    kept = np.flatnonzero((frequency >= min_df) & (frequency < n))
    return kept, np.log(n / frequency[kept])


def _warn_of_unspaced(words: np.ndarray) -> None:
    """Warn if most words are long runs of a script without spaces between words."""
    runs = [word for word in words if _UNSPACED.fullmatch(word)]
    if 2 * len(runs) > len(words):
        warn(
            f"{len(runs)} of {len(words)} words are long runs of a script without spaces (first: {runs[0][:12]!r}); "
            f"pass {setting('analyzer', 'char')} to read their characters.",
            DataWarning,
        )


def _checked(documents: Iterable[str]) -> Iterator[str]:
    """The documents one by one; raises ValueError at one that is no text."""
    if isinstance(documents, str):
        raise ValueError("documents must be a list of texts; got one text: put it in a list.")
    for i, document in enumerate(documents):
        if not isinstance(document, str):
            raise ValueError(f"documents must be texts; document {i} is a {type(document).__name__}.")
        yield document


def _composed(text: str) -> str:
    """The text in Unicode's composed form (NFC)."""
    if text.isascii():
        return text
    if len(text) <= _LONGEST_RUN or _marks().isdisjoint(text):
        return unicodedata.normalize("NFC", text)
    # long runs of marks are composed in pieces, because ordering marks takes quadratic time
    return "".join(unicodedata.normalize("NFC", part) for part in _long_runs().split(text))


# 5 or more Han and kana characters, or 12 or more of Thai, Lao, Myanmar or Khmer: longer than nearly all words
_UNSPACED = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{5,}|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{12,}"
)
_LETTERS = re.compile(r"[^\W\d_]{2,}")  # for text without marks: equivalent to `_word_pattern`, and many times as fast


@cache
def _long_runs() -> re.Pattern[str]:
    """The positions at which runs of marks are split."""
    mark = _mark_class()
    return re.compile(rf"(?={mark})(?<={mark}{{{_LONGEST_RUN}}})")


@cache
def _word_pattern() -> re.Pattern[str]:
    # Python's \w matches letters but not the marks that follow them in many scripts (Devanagari, Thai, pointed Hebrew)
    letter, mark = r"[^\W\d_]", _mark_class()
    return re.compile(rf"{letter}{mark}*(?:{letter}{mark}*)+|{letter}{mark}+")


def _mark_class() -> str:
    """A regular expression for any combining mark."""
    return f"[{''.join(map(re.escape, sorted(_marks())))}]"


@cache
def _marks() -> frozenset[str]:
    """All combining marks."""
    # only ideographs lie between the two ranges; the second has the variation selectors
    points = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]
    return frozenset(chr(point) for point in points if unicodedata.category(chr(point)).startswith("M"))
