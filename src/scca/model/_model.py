"""A model of named views of any kinds: what they share, scores and mates of new samples, and what was learnt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import combinations
from os import PathLike
from typing import Any, Self

import numpy as np
import scipy
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import AllZeroWarning, check_count, shown, silenced
from .._types import MatrixLike, PenaltyLike, SeedLike
from .._version import __version__
from .._wording import setting
from ..estimators import AnchoredCCA, MultiSparseCCA, PairedTransformer, provenance
from ..factors import constants
from ..kinds import Kind
from ..progress import Checkpoint, Report, long_work, previewed
from ..readers import RemoteTexts
from ..results import Result, ShowsResult
from ..retrieval import average_precision, best_matches
from ..samples import Groups
from ._describe import describe, strongest
from ._mates import Mates, MateSearch
from ._sources import Source, source_of

__all__ = ["Model", "Preview"]

_PREVIEWED = 4  # number of features of each view in a component

Preview = Callable[[list[tuple[Sequence[str], ...]]], None]  # of the features of components in all views


class Model(ShowsResult, BaseEstimator):
    """What two or more views of the same things share, whatever the views are made of.

    Samples of each view become a matrix by the view's kind: text, a table, or vectors of an encoder (`scca.kinds`).
    `MultiSparseCCA` finds shared factors, as many as hold on samples left out, each with weights on few features of
    every view. `mates` ranks samples of one view for those of another, and `result` says what was learnt.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        "auto": as many as hold on samples left out better than chance, at most 200 and half as many as samples.
    kinds : "auto", a kind, or a mapping from the name of a view to its kind, default="auto"
        A kind is its name, such as "text", "table" or "vectors", or a `Kind` with parameters. "auto": text for lists of
        texts, and a table for frames, arrays and sparse matrices.
    rendering : "auto", "sparse", "joint", "dense", or a list of one for each view, default="auto"
        As for `MultiSparseCCA`; "auto" is "joint" for text, "sparse" for tables, and "dense" for a kind whose single
        features mean nothing, such as vectors.
    scale : "auto", a scaling or a list of one for each view, default="auto"
        As for `SparseCCA`; "auto" is what the kind says: rows for text.
    mu, ridge, feature_weights, n_features, kernel, held_out, tol, n_jobs, random_state : as for `MultiSparseCCA`
    keep_samples : bool, default=True
        Store how training samples are shown (documents, labels of rows), so that components can show them.

    Attributes
    ----------
    view_names_ : tuple of str
    kinds_ : tuple of Kind
    estimator_ : MultiSparseCCA, SparseCCA or AnchoredCCA
    n_samples_ : int
        Number of training samples.
    training_ : tuple of {ndarray, csr_array}
        The training samples' matrices; of a cluster's samples, those of at most 100,000, evenly spaced.
    samples_ : tuple of list of str or None, or None
        How the stored training samples of each view are shown; None for a view whose samples have only numbers. None
        for all views if they were left out, by `keep_samples=False` or `scca.save(model, path, texts=False)`.
    sample_numbers_ : ndarray of int or None
        Which training samples are stored, counted from 0; None for all.
    provenance_ : dict
        Versions, settings and digests of the samples.

    Examples
    --------
    >>> import scca
    >>> corpus = scca.datasets.load_trilingual()
    >>> model = scca.Model(10, held_out=0).fit({"en": corpus.en, "fr": corpus.fr, "es": corpus.es})
    >>> found = model.mates(["the verdict of the judge"], corpus.es, source="en", target="es", top=1)
    >>> corpus.subjects[found.indices[0, 0]]
    'court'
    """

    view_names_: tuple[str, ...]
    kinds_: tuple[Any, ...]
    estimator_: Any
    n_samples_: int
    training_: tuple[Any, ...]
    samples_: tuple[list[str] | None, ...] | None
    sample_numbers_: np.ndarray | None
    provenance_: dict[str, Any]

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        kinds: Any = "auto",
        rendering: str | Sequence[str] = "auto",
        mu: PenaltyLike = "auto",
        ridge: PenaltyLike = "auto",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: Any = "linear",
        scale: Any = "auto",
        held_out: int | str = "auto",
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        keep_samples: bool = True,
    ):
        self.n_components = n_components
        self.kinds = kinds
        self.rendering = rendering
        self.mu = mu
        self.ridge = ridge
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.kernel = kernel
        self.scale = scale
        self.held_out = held_out
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.keep_samples = keep_samples

    # --- learning --------------------------------------------------------------------------------------------------

    def fit(
        self,
        views: Any,
        y: Any = None,
        *,
        groups: Sequence[Any] | None = None,
        progress: Report | None = None,
        checkpoint: str | PathLike[str] | None = None,
        preview: Preview | None = None,
    ) -> Self:
        """Learn from samples that are known in all views.

        Parameters
        ----------
        views : mapping from name to samples, TextViews, or scca.distributed.ClusterTexts
            Samples i of all views are the same thing. Texts come from `read_texts` or `TextViews.of`, or are kept by
            the workers of a cluster; the latter are brought here if there are fewer than 20,000.
        y : None
            Ignored; for compatibility with scikit-learn.
        groups : sequence, optional
            A label for each sample; samples with the same label, such as neighbouring sentences of a document, are left
            out together wherever samples are left out. Of dropped samples, labels are dropped too.
        progress : callable, optional
            Called now and then with what is being done, how much of it is done, and of how much.
        checkpoint : path, optional
            A folder for the results of steps of a second or more. A fit that was stopped continues from them, with the
            same result, if it has the same samples and parameters; with others it is refused. Deleted at the end.
        preview : callable, optional
            Called with the features of the three strongest components that have the largest loadings, a tuple of lists
            each, before features are selected and components are tried on samples left out. The model may leave out one
            or two of these features.
        """
        if isinstance(views, RemoteTexts) and len(views) < constants.MANY_SAMPLES:
            views = views.here()
        source = self._source(views)
        if len(source) < 2:
            raise ValueError(f"at least 2 samples are needed; got {len(source)}: add some.")
        together = _groups_of(source, groups)
        steps = None if checkpoint is None else Checkpoint(checkpoint, self._description(source, together))
        with long_work(progress, steps):
            self._fit(source, preview, together)
        if steps is not None:
            steps.remove()
        return self

    def _source(self, views: Any) -> Source:
        return source_of(views)

    def _description(self, source: Source, groups: Groups) -> dict[str, Any]:
        """What a checkpoint is recognised by."""
        parameters = {name: repr(value) for name, value in sorted(self.get_params().items()) if name != "n_jobs"}
        versions = [__version__, np.__version__, scipy.__version__]
        samples = [source.digest, len(source), *source.names]
        described = {"pairs": samples, "settings": parameters, "versions": versions}
        return (
            described if groups.labels is None else described | {"groups": sha256(groups.labels.tobytes()).hexdigest()}
        )

    def _fit(self, source: Source, preview: Preview | None, groups: Groups) -> None:
        kinds = self._make_kinds(source)
        matrices = source.learn(kinds)
        estimator = self._make_estimator(kinds, matrices)
        with silenced(AllZeroWarning), previewed(preview and partial(_show_features, preview, kinds)):
            given: dict[str, Any] = {} if isinstance(estimator, AnchoredCCA) else {"groups": groups.labels}
            if isinstance(estimator, PairedTransformer):
                estimator.fit(*matrices, **given)
            else:
                estimator.fit(dict(zip(source.names, matrices, strict=True)), **given)
        stored = source.stored(kinds, matrices, self._keeps_samples())
        self.view_names_, self.kinds_, self.estimator_ = source.names, tuple(kinds), estimator
        self.n_samples_ = len(source)
        self.training_, shown_as, self.sample_numbers_ = stored
        self.samples_ = shown_as if self._keeps_samples() else None
        inputs = [
            {"view": name, "shape": each["shape"], "digest": own or each["digest"]}
            for name, own, each in zip(source.names, source.digests, estimator.provenance_["inputs"], strict=True)
        ]
        self.provenance_ = provenance(self, inputs)

    def _make_kinds(self, source: Source) -> list[Any]:
        return list(source.kinds(self.kinds))

    def _keeps_samples(self) -> bool:
        return self.keep_samples

    def _make_estimator(self, kinds: Sequence[Kind], matrices: Sequence[MatrixLike]) -> Any:
        rendering, scale = self.rendering, self.scale
        if isinstance(rendering, str) and rendering == "auto":
            rendering = ["dense" if kind.dense else "auto" for kind in kinds]
        if isinstance(scale, str) and scale == "auto":
            scale = [kind.scale for kind in kinds]
        return MultiSparseCCA(
            self.n_components,
            rendering=rendering,
            mu=self.mu,
            ridge=self.ridge,
            feature_weights=self.feature_weights,
            n_features=self.n_features,
            kernel=self.kernel,
            scale=scale,
            held_out=self.held_out,
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    # --- views -----------------------------------------------------------------------------------------------------

    def number_of(self, view: str, parameter: str | None = None) -> int:
        """The number of a view, given its name; `parameter` is what a message calls it."""
        check_is_fitted(self)
        if view not in self.view_names_:
            *others, last = map(repr, self.view_names_)
            called = setting(parameter or self._view_word)
            raise ValueError(f"{called} must be {', '.join(others)} or {last}; got {shown(view)}.")
        return self.view_names_.index(view)

    @property
    def _view_word(self) -> str:
        """What the views are called: languages, if all have the same word."""
        words = {kind.view for kind in self.kinds_}
        return words.pop() if len(words) == 1 else "view"

    def target_of(self, source: str, target: str | None = None) -> str:
        """The view that answers queries of the view `source`: as given, or the only other one."""
        self.number_of(source)
        others = [name for name in self.view_names_ if name != source]
        if target is None:
            if len(others) > 1:
                raise ValueError(f"{setting('target')} must be one of {', '.join(others)}; name it.")
            return others[0]
        self.number_of(target, "target")
        if target == source:
            raise ValueError(
                f"{setting('target')} must be another view than {source}; name one of {', '.join(others)}."
            )
        return target

    def detect_view(self, samples: Any, without: str | None = None) -> str:
        """The view that the samples belong to: that of their kind or, of several texts, that with the most known words.

        `without` is a view that they do not belong to.
        """
        check_is_fitted(self)
        names = [name for name in self.view_names_ if name != without]
        fitting = [name for name in names if self.kinds_[self.number_of(name)].suits(samples)] or names
        if len(fitting) == 1:
            return fitting[0]
        counts = {name: self._count_known(samples, name) for name in fitting}
        ranked = sorted(counts, key=lambda name: -counts[name])
        if counts[ranked[0]] == counts[ranked[1]]:
            kind = self.kinds_[self.number_of(ranked[0])]
            raise ValueError(
                f"the {self._view_word} of the {kind.samples} cannot be detected: equally many of their {kind.units} "
                f"({counts[ranked[0]]}) are known in {ranked[0]} and in {ranked[1]}; name it with {setting('source')}."
            )
        return ranked[0]

    def _count_known(self, samples: Any, name: str) -> int:
        """The number of known features of the samples, if they can be of this view."""
        kind = self.kinds_[self.number_of(name)]
        if not kind.zeros_say_nothing:
            return 0
        return int(np.sum(kind.transform(samples) != 0))

    # --- projecting ------------------------------------------------------------------------------------------------

    def project(self, samples: Any, view: str) -> np.ndarray:
        """Scores (n, n_components) of samples of a view; all zero for one without anything that the model reads."""
        return self.project_known(samples, view)[0]

    def vectorize(self, samples: Any, view: str) -> Any:
        """The matrix of samples of a view over its features."""
        return self.kinds_[self.number_of(view)].transform(samples)

    def project_known(self, samples: Any, view: str) -> tuple[np.ndarray, np.ndarray]:
        """Scores of samples, and whether each has anything that the model reads, such as a known word."""
        return self.scores_of(self.vectorize(samples, view), self.number_of(view))

    def scores_of(self, vectors: Any, v: int) -> tuple[np.ndarray, np.ndarray]:
        """The same for rows of the matrix of view number `v`."""
        known = self._known(vectors, v)
        if not vectors.shape[0]:
            return np.empty((0, self.estimator_.n_components_)), known
        scores = self.estimator_.project(vectors, v)
        scores[~known] = 0.0  # centring would make it minus the mean
        return scores, known

    def preparation_of(self, v: int) -> Any:
        """How samples of view number `v` are weighted, centred and scaled."""
        return self.estimator_.preparations_[v]

    def _known(self, vectors: Any, v: int) -> np.ndarray:
        """Whether each sample has anything that the model reads."""
        preparation = self.preparation_of(v)
        if self.kinds_[v].zeros_say_nothing and hasattr(preparation, "reads"):
            return preparation.reads(vectors)
        return np.ones(vectors.shape[0], dtype=bool)

    # --- mates -----------------------------------------------------------------------------------------------------

    def mates(
        self, queries: Any, candidates: Any, *, source: str | None = None, target: str | None = None, top: int = 10
    ) -> Mates:
        """The `top` candidates, samples of another view, that match each query best.

        Parameters
        ----------
        queries, candidates : samples of two views
        source, target : str, optional
            The views of the queries and of the candidates; by default detected from their kinds and words.
        top : int, default=10
            How many candidates to return per query.

        Returns
        -------
        Mates
        """
        source = self.detect_view(queries) if source is None else source
        if target is None and len(self.view_names_) > 2:
            target = self.detect_view(candidates, without=source)
        target = self.target_of(source, target)
        top = check_count(top, "top")
        asked, known = self.project_known(queries, source)
        offered, known_candidates = self.project_known(candidates, target)
        return Mates(source, target, *best_matches(asked, offered, top), known, known_candidates, asked, offered)

    def mate_search(
        self,
        candidates: Iterable[Any],
        *,
        source: str,
        target: str | None = None,
        approximate: bool = False,
        in_blocks: bool = False,
    ) -> MateSearch:
        """Candidates for queries that come in blocks: `mates` of the result answers one block after another.

        Parameters
        ----------
        candidates : iterable
            Samples of another view, read as a stream; only their scores are kept.
        source : str
            The view of the queries.
        target : str, optional
            The view of the candidates; of two views, the other one.
        approximate : bool, default=False
            Search by `scca.retrieval.ApproximateIndex`, which misses some of the best candidates.
        in_blocks : bool, default=False
            Whether `candidates` are blocks of samples, at least one, instead of samples.

        Returns
        -------
        MateSearch
        """
        return MateSearch(self, candidates, source, self.target_of(source, target), approximate, in_blocks)

    def score(self, views: Any, y: Any = None) -> float:
        """Average precision of finding mates among new samples, mean over all pairs of the views that are given.

        `views` is as for `fit`; a mapping may lack some views.
        """
        check_is_fitted(self)
        given = (
            views
            if isinstance(views, Mapping)
            else {name: list(views.documents(v)) for v, name in enumerate(views.languages)}
        )
        if len(given) < 2:
            raise ValueError(f"score compares views; got {len(given)}: pass at least two.")
        scores = [self.project(samples, name) for name, samples in given.items()]
        return float(np.mean([average_precision(A, B).average_precision for A, B in combinations(scores, 2)]))

    # --- reading ---------------------------------------------------------------------------------------------------

    def result(self, top: int | None = None) -> Result:
        """What was learnt and how far to trust it, as plain values; at most `top` features and samples a component."""
        check_is_fitted(self)
        return describe(self, top)


def _groups_of(source: Source, groups: Sequence[Any] | None) -> Groups:
    """The groups of the samples that are not dropped."""
    dropped = list(source.dropped)
    if groups is not None and dropped and len(groups) == len(source) + len(dropped):
        groups = np.delete(np.asarray(groups, dtype=object), dropped).tolist()
    return Groups.of(groups, len(source))


def _show_features(show: Preview, kinds: Sequence[Kind], *loadings: np.ndarray) -> None:
    """The features of the first components with the largest loadings, in all views."""
    found = [
        tuple(strongest(kind, of_view[:, j], _PREVIEWED) for kind, of_view in zip(kinds, loadings, strict=True))
        for j in range(loadings[0].shape[1])
    ]
    show(found)
