"""Translation of words by a bilingual model: of given words, or of all words as a word list."""

import difflib
from collections.abc import Callable
from numbers import Real
from typing import Any, overload
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._checks import check_count, shown
from .._wording import setting
from ..parallel import Progress
from ..views import Preparation
from ._lexicon import Lexicographer
from ._results import Translation, WordPair
from ._vectorizer import TextVectorizer

__all__ = ["Translating", "UnknownWordError"]

Words = list[str] | tuple[str, ...] | np.ndarray

# the lexicographer of each model, with the training documents it was made from; not part of model files and copies
_LEXICOGRAPHERS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


class UnknownWordError(ValueError):
    """A word that the model does not know, or that both languages have."""


class Translating:
    """The part of a fitted `BilingualModel` that translates words."""

    n_words: str | int | float | None
    languages_: tuple[str, ...]
    vectorizers_: tuple[TextVectorizer, ...]
    training_: tuple[sp.csr_array, sp.csr_array]

    # `BilingualModel` defines these
    _side: Callable[[str], int]
    _preparation: Callable[[int], Preparation]

    @overload
    def translate(self, word: str, *, source: str | None = None) -> Translation: ...

    @overload
    def translate(self, word: Words, *, source: str | None = None) -> list[Translation]: ...

    def translate(self, word: str | Words, *, source: str | None = None) -> Translation | list[Translation]:
        """Translations of a word, or of each word of a list, by links between all words of the training documents.

        `source` is the language of the words, by default the one that has the word. A single unknown word is refused;
        in a list it gives a result with `known=False`.
        """
        check_is_fitted(self)
        if isinstance(word, str):
            return self._translate(word, source)
        if source is not None:
            self._side(source)  # refuses an unknown language once for all words
        found = []
        for one in word:
            try:
                found.append(self._translate(one, source))
            except UnknownWordError as error:
                found.append(Translation(one, known=False, note=str(error)))
        return found

    def lexicon(
        self,
        *,
        source: str | None = None,
        least: int = 2,
        trust: float = 0.0,
        top: int = 5,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[WordPair]:
        """A word list: the mate of each word of a language, most trusted first, then most frequent.

        Parameters
        ----------
        source : str, optional
            The language whose words are listed; by default the first.
        least : int, default=2
            Words in fewer training documents are left out.
        trust : float, default=0.0
            Entries with less trust, the estimated probability of being right, are left out.
        top : int, default=5
            Maximum number of mates per word, the best included.
        progress : callable, optional
            Called with the number of steps done and the total.
        """
        side = 0 if source is None else self._side(source)
        least, top = check_count(least, "least"), check_count(top, "top")
        if not isinstance(trust, Real) or not 0 <= trust <= 1:
            raise ValueError(f"trust must be a number from 0 to 1; got {shown(trust)}.")
        check_is_fitted(self)
        entries = self._lexicographer(progress).entries(side, top)
        kept = [entry for entry in entries if entry.documents >= least and entry.trust >= trust]
        return sorted(kept, key=lambda entry: (-entry.trust, -entry.documents, entry.word))

    def _lexicographer(self, progress: Progress | None = None) -> Lexicographer:
        """The links between all words, computed once per fit."""
        training, made = _LEXICOGRAPHERS.get(self, (None, None))
        if made is None or training is not self.training_:
            views = [self.training_[side] @ sp.diags_array(self._usable_words(side).astype(float)) for side in (0, 1)]
            made = Lexicographer(views, [vectorizer.words_ for vectorizer in self.vectorizers_], progress)
            _LEXICOGRAPHERS[self] = (self.training_, made)
        return made

    def _translate(self, word: str, source: str | None) -> Translation:
        side, position = self._position(word, source)
        languages = self.languages_[side], self.languages_[1 - side]
        spelt = str(self.vectorizers_[side].words_[position])
        documents = int(np.count_nonzero(self.training_[side][:, [position]].toarray()))
        entry = self._lexicographer().entry(side, position)
        if entry is None:  # the mates of its documents have no word
            return Translation(spelt, *languages, documents=documents)
        return Translation(spelt, *languages, entry.mates, documents, entry.trust)

    def _position(self, word: str, source: str | None) -> tuple[int, int]:
        """The side and the column of a word."""
        if not isinstance(word, str):
            raise ValueError(f"a word to translate must be a string; got {shown(word)}.")
        sides = (0, 1) if source is None else (self._side(source),)
        usable = {side: self._usable_words(side) for side in sides}
        columns = {side: self.vectorizers_[side].position(word) for side in sides}
        found = {side: column for side, column in columns.items() if column is not None and usable[side][column]}
        if len(found) == 1:
            return next(iter(found.items()))
        if found:
            raise UnknownWordError(
                f"{shown(word)} is a word of both {' and '.join(self.languages_)}; name its language with "
                f"{setting('source')}."
            )
        known = [str(name) for side in sides for name in self.vectorizers_[side].words_[usable[side]]]
        close = difflib.get_close_matches(word.lower(), known, n=3)
        hint = f"did you mean {', '.join(close)}?" if close else "try another word."
        raise UnknownWordError(f"{shown(word)} is none of the {len(known)} words the model knows; {hint}")

    def _usable_words(self, side: int) -> np.ndarray:
        """Which words may be translated and generated: all, unless `n_words` limits them."""
        limited = self.n_words is not None and not isinstance(self.n_words, str)
        weights = self._preparation(side).feature_weights if limited else None
        return np.ones(len(self.vectorizers_[side].words_), dtype=bool) if weights is None else weights != 0
