"""The bilingual model: a common space of two languages, with the verbs that only text has."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_choice, shown
from .._types import Frame, MatrixLike, PenaltyLike, SeedLike
from ..estimators import AnchoredCCA, SparseCCA
from ..kinds import Kind, TextVectorizer
from ..model import Model, Source
from ..readers import PairedText, RemoteTexts, TextViews
from ..retrieval import AveragePrecision, average_precision, mate_ranks
from ._generating import generate, generate_path
from ._results import Component, GeneratedText, Translation, Weighted, WordPair
from ._translating import Words, lexicon, translate

__all__ = ["BilingualModel"]

_MOST_ANCHORED = 200  # number of components if it is "auto"


class BilingualModel(Model):
    """A common space of two languages, learnt from paired documents: `scca.Model` of two views of text.

    Documents become TF-IDF vectors with logarithmic counts, centred and scaled to unit norm. `SparseCCA` finds shared
    factors, as many as hold on pairs left out, each with weights on few words of both languages. Words without a weight
    in any component are ignored. `mates` ranks documents of one language for queries in the other, `generate` predicts
    the words of a query's mate, `translate` and `lexicon` pair words, and `components` shows what was learnt. `fit`
    takes a `PairedText`, from `read_pairs` or `PairedText.of(first, second, languages)`, or pairs that the workers of a
    cluster keep.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto": as many as hold on documents left out better than chance, at most 200 and half as many as documents;
        with `anchors` 200, or as many as the documents allow. More components find mates better, but there is more to
        read.
    lowercase, stop_words, ngram_range, analyzer : as for `TextVectorizer`, for both languages
    min_df : int or "auto", default="auto"
        Words in fewer training documents are left out. "auto" is 2 for shared factors with ten documents or more, since
        a word of a single document shares nothing with others, and otherwise 1.
    mu, rendering, ridge, feature_weights, held_out, tol, n_jobs, random_state : as for `SparseCCA`
    anchors, gamma : as for `AnchoredCCA`
        With `anchors`, which are documents of the second language, components have weights on few words of the
        first language and few documents of the second; `anchors="sequential", feature_weights=None` is the paper's
        method.
    log_counts : bool or "auto", default="auto"
        As for `TextVectorizer`; "auto" is True for shared factors (`anchors=None`) and False for anchored components.
    n_words : "auto", int, float or None, default="auto"
        How many words of each language the model reads at most, or which share of them; "auto" is the fewest that lose
        nothing measurable on pairs left out: `n_features` of `SparseCCA`. Other words change no score.
    keep_texts : bool, default=True
        Store the training documents, so that components can show them.

    Attributes
    ----------
    languages_ : tuple of str
    vectorizers_ : tuple of TextVectorizer
    scca_ : SparseCCA or AnchoredCCA
    n_documents_ : int
        Number of training pairs.
    training_ : tuple of csr_array
        The training documents' vectors; of a cluster's pairs, those of at most 100,000, evenly spaced.
    texts_ : list of str or None
        The training documents of the second language, those whose vectors are stored; `samples_` has both languages.
    document_numbers_ : ndarray of int or None
        Which training documents are stored, counted from 0; None for all.

    Examples
    --------
    >>> from scca.datasets import load_trilingual
    >>> from scca.text import BilingualModel, PairedText
    >>> corpus = load_trilingual()
    >>> model = BilingualModel(15, held_out=0).fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))
    >>> found = model.mates(["the verdict of the judge"], corpus.fr, top=1)
    >>> corpus.subjects[found.indices[0, 0]]
    'court'
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        lowercase: bool = True,
        stop_words: Sequence[str] | None = None,
        min_df: int | str = "auto",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str = "word",
        mu: PenaltyLike = "auto",
        gamma: PenaltyLike = "auto",
        rendering: str = "auto",
        ridge: PenaltyLike = "auto",
        feature_weights: str | None = "shared",
        anchors: str | Sequence[int] | None = None,
        held_out: int | str = "auto",
        log_counts: bool | str = "auto",
        n_words: int | float | str | None = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        keep_texts: bool = True,
    ):
        self.n_components = n_components
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.min_df = min_df
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.mu = mu
        self.gamma = gamma
        self.rendering = rendering
        self.ridge = ridge
        self.feature_weights = feature_weights
        self.anchors = anchors
        self.held_out = held_out
        self.log_counts = log_counts
        self.n_words = n_words
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_texts = keep_texts

    # --- learning --------------------------------------------------------------------------------------------------

    def _source(self, views: Any) -> Source:
        if not isinstance(views, TextViews | RemoteTexts) or len(views.languages) != 2:
            raise ValueError(
                f"fit takes a PairedText; got a {type(views).__name__}: use read_pairs or PairedText.of(first, second)."
            )
        if len(views) < 2:
            raise ValueError(f"at least 2 pairs of documents are needed; got {len(views)}: add some.")
        return super()._source(views)

    def _make_kinds(self, source: Source) -> list[Any]:
        usual = TextVectorizer() if self.anchors is not None else TextVectorizer.usual()
        log_counts = check_choice(self.log_counts, "log_counts", ("auto", True, False))
        vectorizer = TextVectorizer(
            lowercase=self.lowercase,
            stop_words=self.stop_words,
            min_df=usual.min_df if isinstance(self.min_df, str) and self.min_df == "auto" else self.min_df,
            ngram_range=self.ngram_range,
            analyzer=self.analyzer,
            log_counts=usual.log_counts if log_counts == "auto" else log_counts,
        )
        return source.kinds(vectorizer)

    def _keeps_samples(self) -> bool:
        return self.keep_texts

    def _make_estimator(self, kinds: Sequence[Kind], matrices: Sequence[MatrixLike]) -> Any:
        """The estimator of the vectors: shared factors, or the paper's components."""
        common: dict[str, Any] = {"mu": self.mu, "scale": "rows", "tol": self.tol, "n_jobs": self.n_jobs}
        if self.anchors is None:
            if not (isinstance(self.gamma, str) and self.gamma == "auto"):
                raise ValueError(f"gamma is for models with anchors; got {shown(self.gamma)}: leave it out.")
            return SparseCCA(
                self.n_components,
                rendering=self.rendering,
                ridge=self.ridge,
                feature_weights=self.feature_weights,
                n_features=self.n_words,
                held_out=self.held_out,
                random_state=self.random_state,
                **common,
            )
        for name, unset in (("rendering", ("auto", "sparse")), ("ridge", ("auto",)), ("held_out", ("auto", 0))):
            if (value := getattr(self, name)) not in unset:
                raise ValueError(f"{name} is for models without anchors; got {shown(value)}: leave it out.")
        n_components: Any = self.n_components
        if isinstance(n_components, str) and n_components == "auto":
            X, Y = matrices
            n_components = min(_MOST_ANCHORED, X.shape[0] - 1, X.shape[1], Y.shape[1])
        return AnchoredCCA(
            n_components,
            anchors=self.anchors,
            gamma=self.gamma,
            feature_weights=self.feature_weights,
            n_features=None if isinstance(self.n_words, str) else self.n_words,
            **common,
        )

    # --- languages -------------------------------------------------------------------------------------------------

    @property
    def languages_(self) -> tuple[str, ...]:
        return self.view_names_

    @property
    def vectorizers_(self) -> tuple[TextVectorizer, ...]:
        return self.kinds_

    def detect_language(self, documents: Sequence[str]) -> str:
        """The language in which more of the documents' words are known."""
        return self.detect_view(documents)

    @property
    def scca_(self) -> Any:
        return self.estimator_

    @property
    def n_documents_(self) -> int:
        return self.n_samples_

    @property
    def texts_(self) -> list[str] | None:
        return None if self.samples_ is None else self.samples_[1]

    @property
    def document_numbers_(self) -> np.ndarray | None:
        return self.sample_numbers_

    def other(self, language: str) -> str:
        """The other language of the model."""
        return self.target_of(language)

    def average_precision(self, first: Sequence[str], second: Sequence[str]) -> AveragePrecision:
        """Average precision of finding mates among new pairs; documents i of both languages are mates."""
        return average_precision(*self._scores(first, second))

    def ranks(self, first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ranks of the mates among new pairs, from the first language to the second and back; 1 is best."""
        return mate_ranks(*self._scores(first, second))

    def _scores(self, *texts: Sequence[str]) -> list[np.ndarray]:
        return [self.project(each, language) for each, language in zip(texts, self.languages_, strict=True)]

    def score(self, pairs: PairedText, y: Any = None) -> float:
        """Average precision of finding mates among new pairs, both directions averaged.

        Pairs labelled with the model's languages in reverse order are swapped.
        """
        check_is_fitted(self)
        if not isinstance(pairs, PairedText):
            raise ValueError(
                f"score takes a PairedText; got a {type(pairs).__name__}: use PairedText.of(first, second)."
            )
        sides = (1, 0) if tuple(pairs.languages) == self.languages_[::-1] else (0, 1)
        return self.average_precision(*(list(pairs.documents(side)) for side in sides)).average_precision

    # --- words -----------------------------------------------------------------------------------------------------

    def generate(self, queries: Sequence[str], **settings: Any) -> list[GeneratedText]:
        """For each query, the words that its mate in another language is expected to have: `scca.text.generate`."""
        return generate(self, queries, **settings)

    def generate_path(self, query: str, mus: Sequence[PenaltyLike], **settings: Any) -> list[GeneratedText]:
        """The results of `generate` for one query at every mu of `mus`; models with anchors only."""
        return generate_path(self, query, mus, **settings)

    def translate(self, word: str | Words, **settings: Any) -> Translation | list[Translation]:
        """Translations of a word, or of each word of a list: `scca.text.translate`."""
        return translate(self, word, **settings)

    def lexicon(self, **settings: Any) -> list[WordPair]:
        """The word list of a pair of languages: `scca.text.lexicon`."""
        return lexicon(self, **settings)

    # --- reading ---------------------------------------------------------------------------------------------------

    def components(self, *, n_mate_words: int = 10) -> list[Component]:
        """All components as words and documents."""
        found = []
        for c in self.result().components:
            first, second = c.views
            mates = _weighted(second.features)
            found.append(
                Component(
                    number=c.number,
                    anchor=c.anchor,
                    correlation=c.correlation,
                    mu=float(np.atleast_2d(self.scca_.mu_)[0, c.number]),
                    gamma=None if c.anchor is None else float(self.scca_.gamma_[c.number]),
                    dual_gap=float(c.dual_gap or 0.0),
                    words=_weighted(first.features),
                    documents=tuple(
                        Weighted(each.name or f"document {each.index + 1}", each.score, each.index)
                        for each in second.samples
                    ),
                    mate_words=mates if c.anchor is None else mates[:n_mate_words],
                    held_out_correlation=c.held_out_correlation,
                    held_out_interval=c.held_out_interval,
                )
            )
        return found

    def components_frame(self) -> Frame:
        """One row per component: anchor, correlation, certificate, numbers of words and documents (needs pandas)."""
        rows = [
            {
                "component": c.number,
                "anchor": c.anchor,
                "correlation": c.correlation,
                "mu": c.mu,
                "gamma": c.gamma,
                "dual_gap": c.dual_gap,
                "n_words": len(c.words),
                "n_documents": len(c.documents),
            }
            for c in self.components()
        ]
        return _frame(rows)

    def words_frame(self) -> Frame:
        """One row per word and component, with its weight and, by which rows are ordered, its loading (needs pandas).

        Words of anchored components have no loading; they are ordered by weight.
        """
        return self._weights_frame("words", "word")

    def documents_frame(self) -> Frame:
        """One row per document and component, with its weight (needs pandas)."""
        return self._weights_frame("documents", "document")

    def _weights_frame(self, kind: str, name: str) -> Frame:
        return _frame(
            [
                {"component": c.number, name: item.name, "index": item.index, "weight": item.weight}
                | ({} if item.loading is None else {"loading": item.loading})
                for c in self.components()
                for item in getattr(c, kind)
            ]
        )


def _weighted(features: Sequence[Any]) -> tuple[Weighted, ...]:
    return tuple(Weighted(each.name, each.weight, each.index, each.loading) for each in features)


def _frame(rows: list[dict[str, Any]]) -> Frame:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install 'scca[frames]'.") from error
    return pd.DataFrame(rows)
