"""The bilingual model: a common space of two languages, mate retrieval, generation, and readable components."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256
from os import PathLike
from typing import Any, Self

import numpy as np
import scipy
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import AllZeroWarning, check_choice, check_count, shown, silenced
from .._types import Frame, MatrixLike, PenaltyLike, SeedLike
from .._version import __version__
from .._wording import setting
from ..estimators import AnchoredCCA, SparseCCA
from ..factors import constants
from ..progress import Checkpoint, Report, long_work, previewed
from ..readers import PairedText, RemotePairs
from ..retrieval import AveragePrecision, average_precision, best_matches, mate_ranks
from ..samples import Groups
from ..views import Preparation
from ._generating import Generating
from ._mate_search import MateSearch
from ._results import Component, Mates, Weighted, strongest
from ._training import kept_documents, learn_vectors
from ._translating import Translating
from ._vectorizer import TextVectorizer

__all__ = ["BilingualModel"]

_MOST_ANCHORED = 200  # components if their number is "auto"
_SHARED_WORDS = 10  # with so many documents or more, words must occur in at least two
_FACTOR_DOCUMENTS = 10  # shown per factor; every document has a score
_PREVIEWED_WORDS = 4  # of each language in a component

Preview = Callable[[list[tuple[list[str], ...]]], None]  # of the words of components in both languages


class BilingualModel(Generating, Translating, BaseEstimator):
    """A common space of two languages, learnt from paired documents.

    Documents become TF-IDF vectors with logarithmic counts, centred and scaled to unit norm. `SparseCCA` finds shared
    factors, as many as hold on pairs left out, each with weights on few words of both languages. Words without a weight
    in any component are ignored. `mates` ranks documents of one language for queries in the other, `generate` predicts
    the words of a query's mate, `translate` and `lexicon` pair words, and `components` shows what was learnt.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto": as many as hold on pairs left out better than chance, at most 200 and half as many as pairs; with
        `anchors` 200, or as many as the documents allow. More components find mates better, but there is more to read.
    lowercase, stop_words, ngram_range, analyzer : as for `TextVectorizer`, for both languages
    min_df : int or "auto", default="auto"
        Words in fewer training documents are left out. "auto" is 2 for shared factors with ten documents or more, since
        a word of a single document shares nothing with others, and otherwise 1.
    mu, rendering, ridge, feature_weights, held_out, tol, n_jobs, random_state : as for `SparseCCA`
    anchors, gamma : as for `AnchoredCCA`
        With `anchors`, which are documents of the second language, components have weights on few words of the first
        language and few documents of the second; `anchors="sequential", feature_weights=None` is the paper's method.
    log_counts : bool or "auto", default="auto"
        As for `TextVectorizer`; "auto" is True for shared factors (`anchors=None`) and False for anchored components.
    n_words : "auto", int, float or None, default="auto"
        How many words of each language the model reads at most, or which share of them: those that the languages
        predict best from each other, `n_features` of `SparseCCA`. Other words change no score.
    keep_texts : bool, default=True
        Store the training documents of the second language, so that components can show them.

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
        The training documents of the second language, those whose vectors are stored.
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
        rendering: str = "sparse",
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

    def fit(
        self,
        pairs: PairedText | RemotePairs,
        y: Any = None,
        *,
        groups: Sequence[Any] | None = None,
        progress: Report | None = None,
        checkpoint: str | PathLike[str] | None = None,
        preview: Preview | None = None,
    ) -> Self:
        """Learn from paired documents.

        Parameters
        ----------
        pairs : PairedText or scca.distributed.ClusterPairs
            From `read_pairs`, or `PairedText.of(first, second, languages)`; or pairs that the workers of a cluster
            keep, which are brought here if there are fewer than 20,000.
        y : None
            Ignored; for compatibility with scikit-learn.
        groups : sequence, optional
            A label for each pair; pairs with the same label, such as neighbouring sentences of a document, are left
            out together wherever pairs are left out. Of dropped pairs, labels are dropped too.
        progress : callable, optional
            Called now and then with what is being done, how much of it is done, and of how much.
        checkpoint : path, optional
            A folder for the results of steps of a second or more. A fit that was stopped continues from them, with the
            same result, if it has the same pairs and parameters; with others it is refused. Deleted at the end.
        preview : callable, optional
            Called with the words of the three strongest components that have the largest loadings, a pair of lists
            each, before words are selected and components are tried on pairs left out. The model may leave out one or
            two of these words.
        """
        if isinstance(pairs, RemotePairs) and len(pairs) < constants.MANY_SAMPLES:
            pairs = pairs.here()
        if not isinstance(pairs, PairedText | RemotePairs):
            raise ValueError(
                f"fit takes a PairedText; got a {type(pairs).__name__}: use read_pairs or PairedText.of(first, second)."
            )
        if len(pairs) < 2:
            raise ValueError(f"at least 2 pairs of documents are needed; got {len(pairs)}: add some.")
        together = _groups_of(pairs, groups)
        steps = None if checkpoint is None else Checkpoint(checkpoint, self._description(pairs, together))
        with long_work(progress, steps):
            self._fit(pairs, preview, together)
        if steps is not None:
            steps.remove()
        return self

    def _description(self, pairs: PairedText | RemotePairs, groups: Groups) -> dict[str, Any]:
        """What a checkpoint is recognised by."""
        parameters = {name: repr(value) for name, value in sorted(self.get_params().items()) if name != "n_jobs"}
        versions = [__version__, np.__version__, scipy.__version__]
        pairs_ = [pairs.digest, len(pairs), *pairs.languages]
        described = {"pairs": pairs_, "settings": parameters, "versions": versions}
        return (
            described if groups.labels is None else described | {"groups": sha256(groups.labels.tobytes()).hexdigest()}
        )

    def _fit(self, pairs: PairedText | RemotePairs, preview: Preview | None, groups: Groups) -> None:
        log_counts = check_choice(self.log_counts, "log_counts", ("auto", True, False))
        log_counts = self.anchors is None if log_counts == "auto" else log_counts
        vectorizers = [
            TextVectorizer(
                lowercase=self.lowercase,
                stop_words=self.stop_words,
                min_df=self._min_df(len(pairs)),
                ngram_range=self.ngram_range,
                analyzer=self.analyzer,
                log_counts=log_counts,
            )
            for _ in pairs.languages
        ]
        X, Y = learn_vectors(pairs, vectorizers)
        model = self._estimator(X, Y)
        with silenced(AllZeroWarning), previewed(preview and partial(_show_words, preview, vectorizers)):
            if isinstance(model, SparseCCA):
                model.fit(X, Y, groups=groups.labels)
            else:
                model.fit(X, Y)
        self.languages_ = tuple(pairs.languages)
        self.vectorizers_ = tuple(vectorizers)
        self.scca_ = model
        self.n_documents_ = len(pairs)
        self.training_, self.texts_, self.document_numbers_ = kept_documents(pairs, X, Y, self.keep_texts)

    def _min_df(self, n_documents: int) -> Any:  # the vectorizer checks what was given
        if isinstance(self.min_df, str) and self.min_df == "auto":
            return 2 if self.anchors is None and n_documents >= _SHARED_WORDS else 1
        return self.min_df

    def _estimator(self, X: MatrixLike, Y: MatrixLike) -> SparseCCA | AnchoredCCA:
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
        for name, unset in (("rendering", ("sparse",)), ("ridge", ("auto",)), ("held_out", ("auto", 0))):
            if (value := getattr(self, name)) not in unset:
                raise ValueError(f"{name} is for models without anchors; got {shown(value)}: leave it out.")
        n_components: Any = self.n_components
        if isinstance(n_components, str) and n_components == "auto":
            n_components = min(_MOST_ANCHORED, X.shape[0] - 1, X.shape[1], Y.shape[1])
        return AnchoredCCA(
            n_components,
            anchors=self.anchors,
            gamma=self.gamma,
            feature_weights=self.feature_weights,
            n_features=None if isinstance(self.n_words, str) else self.n_words,
            **common,
        )

    # --- projecting ------------------------------------------------------------------------------------------------

    def project(self, documents: Iterable[str], language: str) -> np.ndarray:
        """Scores (n, n_components) of documents of either language; all zero for one without a known word."""
        return self._project(self.vectorize(documents, language), language)

    def vectorize(self, documents: Iterable[str], language: str) -> sp.csr_array:
        """TF-IDF vectors of documents over the known words of their language."""
        side = self._side(language)
        return self.vectorizers_[side].transform(documents)

    def project_known(self, documents: Iterable[str], language: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores of documents, and whether each has a word that the model reads."""
        vectors = self.vectorize(documents, language)
        return self._project(vectors, language), self._known(vectors, self._side(language))

    def _project(self, vectors: sp.csr_array, language: str) -> np.ndarray:
        if not vectors.shape[0]:
            return np.empty((0, self.scca_.n_components_))
        side = self._side(language)
        scores = self.scca_.project(vectors, "XY"[side])
        scores[~self._known(vectors, side)] = 0.0  # centring would make it minus the mean
        return scores

    def _preparation(self, side: int) -> Preparation:
        return self.scca_.y_preparation_ if side else self.scca_.x_preparation_

    def _known(self, vectors: sp.csr_array, side: int) -> np.ndarray:
        """Whether each document has a word that the model reads."""
        return self._preparation(side).reads(vectors)

    def _side(self, language: str) -> int:
        check_is_fitted(self)
        if language not in self.languages_:
            raise ValueError(
                f"{setting('language')} must be {self.languages_[0]!r} or {self.languages_[1]!r}; got {language!r}."
            )
        return self.languages_.index(language)

    def other(self, language: str) -> str:
        """The other language of the model."""
        return self.languages_[1 - self._side(language)]

    def detect_language(self, documents: Sequence[str]) -> str:
        """The language in which more of the documents' words are known."""
        check_is_fitted(self)
        counts = [int(np.sum(vectorizer.transform(documents) != 0)) for vectorizer in self.vectorizers_]
        if counts[0] == counts[1]:
            raise ValueError(
                f"the language of the documents cannot be detected: equally many of their words ({counts[0]}) are "
                f"known in {self.languages_[0]} and in {self.languages_[1]}; name it with {setting('source')}."
            )
        return self.languages_[int(counts[1] > counts[0])]

    # --- mates -----------------------------------------------------------------------------------------------------

    def mates(
        self, queries: Sequence[str], candidates: Sequence[str], *, source: str | None = None, top: int = 10
    ) -> Mates:
        """The `top` candidates, documents of the other language, that match each query best.

        Parameters
        ----------
        queries, candidates : sequence of str
            Documents of one language, and of the other.
        source : str, optional
            The language of the queries; by default detected from their words.
        top : int, default=10
            How many candidates to return per query.

        Returns
        -------
        Mates
        """
        source = self.detect_language(queries) if source is None else source
        target = self.other(source)
        top = check_count(top, "top")
        asked, known = self.project_known(queries, source)
        offered, known_candidates = self.project_known(candidates, target)
        return Mates(source, target, *best_matches(asked, offered, top), known, known_candidates, asked, offered)

    def mate_search(self, candidates: Iterable[str], *, source: str, approximate: bool = False) -> MateSearch:
        """Candidates for queries that come in blocks: `mates` of the result answers one block after another.

        Parameters
        ----------
        candidates : iterable of str
            Documents of the other language, read as a stream; only their scores are kept.
        source : str
            The language of the queries.
        approximate : bool, default=False
            Search by `scca.retrieval.ApproximateIndex`, which misses some of the best candidates.

        Returns
        -------
        MateSearch
        """
        self._side(source)
        return MateSearch(self, candidates, source, approximate)

    def average_precision(self, first: Sequence[str], second: Sequence[str]) -> AveragePrecision:
        """Average precision of finding mates among new pairs; documents i of both languages are mates."""
        first_language, second_language = self.languages_
        return average_precision(self.project(first, first_language), self.project(second, second_language))

    def ranks(self, first: Sequence[str], second: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Ranks of the mates among new pairs, from the first language to the second and back; 1 is best."""
        first_language, second_language = self.languages_
        return mate_ranks(self.project(first, first_language), self.project(second, second_language))

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

    # --- reading ---------------------------------------------------------------------------------------------------

    def components(self, *, n_mate_words: int = 10) -> list[Component]:
        """All components as words and documents."""
        check_is_fitted(self)
        if isinstance(self.scca_, SparseCCA):
            return self._factors()
        scca, (first, second) = self.scca_, self.vectorizers_
        names = self._document_names()
        mates = self._preparation(1).transform(self.training_[1]).rmatvec(scca.y_weights_)
        return [
            Component(
                number=j,
                anchor=int(scca.anchors_[j]),
                correlation=float(scca.correlations_[j]),
                mu=float(scca.mu_[j]),
                gamma=float(scca.gamma_[j]),
                dual_gap=float(scca.dual_gap_[j]),
                words=strongest(scca.x_weights_[:, j], first.words_),
                documents=strongest(scca.y_weights_[:, j], names),
                mate_words=strongest(mates[:, j], second.words_, second.idf_)[:n_mate_words],
            )
            for j in range(scca.n_components_)
        ]

    def _factors(self) -> list[Component]:
        """Shared factors: words of both languages by loading, and documents by score."""
        scca, (first, second) = self.scca_, self.vectorizers_
        names = self._document_names()
        held_out = getattr(scca, "held_out_correlations_", np.full(scca.n_components_, np.nan))
        intervals = getattr(scca, "held_out_intervals_", np.full((scca.n_components_, 2), np.nan))
        scores = scca.project(self.training_[1], "Y")
        return [
            Component(
                number=j,
                anchor=None,
                correlation=float(scca.correlations_[j]),
                mu=float(scca.mu_[0, j]),
                gamma=None,
                dual_gap=float(scca.dual_gap_[:, j].max()),
                words=_by_loading(scca.x_weights_[:, j], scca.x_loadings_[:, j], first.words_),
                documents=strongest(np.maximum(scores[:, j], 0.0), names)[:_FACTOR_DOCUMENTS],
                mate_words=_by_loading(scca.y_weights_[:, j], scca.y_loadings_[:, j], second.words_),
                held_out_correlation=float(held_out[j]) if np.isfinite(held_out[j]) else None,
                held_out_interval=tuple(intervals[j].tolist()) if np.isfinite(intervals[j]).all() else None,
            )
            for j in range(scca.n_components_)
        ]

    def _document_names(self) -> Sequence[str]:
        """The stored training documents of the second language, or their numbers."""
        if self.texts_:
            return self.texts_
        numbers = range(self.training_[1].shape[0]) if self.document_numbers_ is None else self.document_numbers_
        return [f"document {i + 1}" for i in numbers]

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


def _groups_of(pairs: PairedText | RemotePairs, groups: Sequence[Any] | None) -> Groups:
    """The groups of the pairs that are not dropped."""
    dropped = list(getattr(pairs, "dropped", ()))
    if groups is not None and dropped and len(groups) == len(pairs) + len(dropped):
        groups = np.delete(np.asarray(groups, dtype=object), dropped).tolist()
    return Groups.of(groups, len(pairs))


def _by_loading(weights: np.ndarray, loadings: np.ndarray, names: Sequence[str]) -> tuple[Weighted, ...]:
    """Names with a nonzero weight, by loading, from the most positive to the most negative."""
    order = np.argsort(-loadings, kind="stable")
    return tuple(
        Weighted(str(names[i]), float(weights[i]), int(i), float(loadings[i])) for i in order if weights[i] != 0
    )


def _show_words(show: Preview, vectorizers: Sequence[TextVectorizer], *loadings: np.ndarray) -> None:
    """The words of the first components with the largest loadings, in both languages."""

    def strongest_words(j: int) -> tuple[list[str], ...]:
        orders = (np.argsort(-each[:, j], kind="stable")[:_PREVIEWED_WORDS] for each in loadings)
        return tuple([str(v.words_[i]) for i in order] for v, order in zip(vectorizers, orders, strict=True))

    show([strongest_words(j) for j in range(loadings[0].shape[1])])


def _frame(rows: list[dict[str, Any]]) -> Frame:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("data frames need pandas: pip install 'scca[frames]'.") from error
    return pd.DataFrame(rows)
