"""Generation by a bilingual model: the expected words of a document's mate."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._checks import check_count
from .._types import PenaltyLike
from .._wording import setting
from ..anchored import Generated, Generator
from ..estimators import SparseCCA
from ..views import Preparation
from ._answers import GeneratedText, strongest
from ._expected_words import ExpectedWords
from ._vectorizer import TextVectorizer

__all__ = ["Generating"]

_WORDS = 12  # generated for a query
_EXPECTED: WeakKeyDictionary[SparseCCA, dict[int, ExpectedWords]] = WeakKeyDictionary()  # by fit; not in files


class Generating:
    """The part of a fitted `BilingualModel` that generates words."""

    tol: float
    languages_: tuple[str, ...]
    vectorizers_: tuple[TextVectorizer, ...]
    training_: tuple[sp.csr_array, sp.csr_array]
    scca_: SparseCCA

    # defined by the other parts; declared as types only, since methods here would hide them
    _side: Callable[[str], int]
    _preparation: Callable[[int], Preparation]
    _all_words: Callable[[int], Preparation]
    _known: Callable[[sp.csr_array, int], np.ndarray]
    detect_language: Callable[[Sequence[str]], str]
    vectorize: Callable[[Sequence[str], str], sp.csr_array]

    def generate(
        self, queries: Sequence[str], *, source: str | None = None, mu: PenaltyLike = "auto", top: int | None = None
    ) -> list[GeneratedText]:
        """For each query, the words of the other language that its mate is expected to have, strongest first.

        By default the `top` words (12 unless given) with the largest weights that ridge regression on the words that
        the model reads predicts (`ExpectedWords`). With `anchors`, the lasso of Section 5.1 of the paper, whose penalty
        `mu` determines how many words it selects, cut to the `top` strongest if given.

        Parameters
        ----------
        queries : sequence of str
        source : str, optional
            The language of the queries; found from their words if not given.
        mu : "auto", "auto*FACTOR" or float, default="auto"
            Models with anchors only.
        top : int, optional

        Returns
        -------
        list of GeneratedText
        """
        most = None if top is None else check_count(top, "top")
        if not self._has_factors():
            return [replace(texts[0], words=texts[0].words[:most]) for texts in self._generate(queries, source, [mu])]
        if not (isinstance(mu, str) and mu == "auto"):
            raise ValueError(
                f"{setting('mu')} is for models with {setting('anchors')}; got {setting('mu', mu)}: set "
                f"{setting('top')}, the number of words, instead."
            )
        return self._expect(queries, source, most or _WORDS)

    def generate_path(
        self, query: str, mus: Sequence[PenaltyLike], *, source: str | None = None
    ) -> list[GeneratedText]:
        """The results of `generate` for one query at every mu of `mus`; models with anchors only."""
        if self._has_factors():
            raise ValueError("generate_path is for models with anchors; use generate with top instead.")
        return self._generate([query], source, mus)[0]

    def _has_factors(self) -> bool:
        check_is_fitted(self)
        return isinstance(self.scca_, SparseCCA)

    def _asked(self, queries: Sequence[str], source: str | None) -> tuple[int, sp.csr_array, list[bool]]:
        """The side of the queries, their vectors, and which of them have a word that the model reads."""
        source = self.detect_language(queries) if source is None else source
        side = self._side(source)
        vectors = self.vectorize(queries, source)
        return side, vectors, self._known(vectors, side).tolist()

    def _expect(self, queries: Sequence[str], source: str | None, top: int) -> list[GeneratedText]:
        side, vectors, known = self._asked(queries, source)
        language, names = self.languages_[1 - side], self.vectorizers_[1 - side].words_
        texts = []
        for weights, is_known in zip(self._expected_words(side).weights(vectors), known, strict=True):
            words = strongest(np.maximum(weights, 0.0), names, most=top) if is_known else ()
            texts.append(GeneratedText(language, words, None, None, is_known))
        return texts

    def _expected_words(self, side: int) -> ExpectedWords:
        """For queries of language `side`; cached as long as the fitted model exists."""
        kept = _EXPECTED.setdefault(self.scca_, {})
        if side not in kept:
            listed = self._all_words(1 - side).feature_weights
            kept[side] = ExpectedWords(
                self.training_[side], self.training_[1 - side], preparation=self._preparation(side), listed=listed
            )
        return kept[side]

    def _generate(
        self, queries: Sequence[str], source: str | None, mus: Sequence[PenaltyLike]
    ) -> list[list[GeneratedText]]:
        side, vectors, known = self._asked(queries, source)
        generator = Generator(
            self.training_[1 - side],
            self.training_[side],
            x_preparation=self._preparation(1 - side),
            y_preparation=self._preparation(side),
            tol=self.tol,
        )
        texts = []
        for i in range(vectors.shape[0]):
            if known[i]:
                texts.append([self._text(made, 1 - side) for made in generator.path(vectors[[i]], mus)])
            else:
                texts.append([GeneratedText(self.languages_[1 - side], (), np.nan, 0.0, False) for _ in mus])
        return texts

    def _text(self, made: Generated, side: int) -> GeneratedText:
        words = strongest(made.weights, self.vectorizers_[side].words_)
        return GeneratedText(self.languages_[side], words, made.mu, made.dual_gap, True)
