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
from ..anchored import Generator
from ..estimators import SparseCCA
from ..views import Preparation
from ._expected_words import ExpectedWords
from ._results import GeneratedText, strongest
from ._vectorizer import TextVectorizer

__all__ = ["Generating"]

_DEFAULT_TOP = 12  # words generated per query
_EXPECTED: WeakKeyDictionary[SparseCCA, dict[int, ExpectedWords]] = WeakKeyDictionary()  # by fit; not in files


class Generating:
    """The part of a fitted `BilingualModel` that generates words."""

    tol: float
    languages_: tuple[str, ...]
    vectorizers_: tuple[TextVectorizer, ...]
    training_: tuple[sp.csr_array, sp.csr_array]
    scca_: SparseCCA

    # the other parts define these; they are declared as types, since methods here would hide them
    _side: Callable[[str], int]
    _preparation: Callable[[int], Preparation]
    _usable_words: Callable[[int], np.ndarray]
    _known: Callable[[sp.csr_array, int], np.ndarray]
    detect_language: Callable[[Sequence[str]], str]
    vectorize: Callable[[Sequence[str], str], sp.csr_array]

    def generate(
        self, queries: Sequence[str], *, source: str | None = None, mu: PenaltyLike = "auto", top: int | None = None
    ) -> list[GeneratedText]:
        """For each query, the words of the other language that its mate is expected to have, strongest first.

        By default these are the `top` words (12 unless given) with the largest weights by ridge regression on the words
        that the model reads (`ExpectedWords`). With `anchors`, they are selected by the lasso of Section 5.1 of the
        paper, whose penalty `mu` determines their number; only the `top` strongest are returned if `top` is given.

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
        return self._expect(queries, source, most or _DEFAULT_TOP)

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

    def _read_queries(self, queries: Sequence[str], source: str | None) -> tuple[int, sp.csr_array, list[bool]]:
        """The side of the queries, their vectors, and which of them have a word that the model reads."""
        source = self.detect_language(queries) if source is None else source
        side = self._side(source)
        vectors = self.vectorize(queries, source)
        return side, vectors, self._known(vectors, side).tolist()

    def _expect(self, queries: Sequence[str], source: str | None, top: int) -> list[GeneratedText]:
        """The words that ridge regression expects."""
        side, vectors, known = self._read_queries(queries, source)
        language, names = self.languages_[1 - side], self.vectorizers_[1 - side].words_
        texts = []
        for weights, is_known in zip(self._expected_words(side).weights(vectors), known, strict=True):
            words = strongest(np.maximum(weights, 0.0), names, most=top) if is_known else ()
            texts.append(GeneratedText(language, words, None, None, is_known))
        return texts

    def _expected_words(self, side: int) -> ExpectedWords:
        """The regression for queries of language `side`; cached as long as the fitted model exists."""
        cached = _EXPECTED.setdefault(self.scca_, {})
        if side not in cached:
            source, target = self.training_[side], self.training_[1 - side]
            usable = self._usable_words(1 - side)
            cached[side] = ExpectedWords(source, target, preparation=self._preparation(side), listed=usable)
        return cached[side]

    def _generate(
        self, queries: Sequence[str], source: str | None, mus: Sequence[PenaltyLike]
    ) -> list[list[GeneratedText]]:
        """The words that the lasso selects, for each query at every mu."""
        side, vectors, known = self._read_queries(queries, source)
        language, names = self.languages_[1 - side], self.vectorizers_[1 - side].words_
        generator = Generator(
            self.training_[1 - side],
            self.training_[side],
            x_preparation=self._preparation(1 - side),
            y_preparation=self._preparation(side),
            tol=self.tol,
        )
        texts = []
        for i, is_known in enumerate(known):
            if is_known:
                path = generator.path(vectors[[i]], mus)
                made = [GeneratedText(language, strongest(g.weights, names), g.mu, g.dual_gap, True) for g in path]
            else:
                made = [GeneratedText(language, (), np.nan, 0.0, False) for _ in mus]
            texts.append(made)
        return texts
