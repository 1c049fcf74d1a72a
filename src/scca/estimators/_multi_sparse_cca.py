"""Sparse canonical correlation analysis of any number of views: shared factors with weights on few features."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    DataWarning,
    EmptyComponentWarning,
    EvidenceWarning,
    Penalty,
    check_choice,
    check_count,
    check_seed,
    check_tolerance,
    shown,
    warn,
)
from .._data import check_row_labels, check_same_samples
from .._types import MatrixLike, PenaltyLike, SeedLike
from .._wording import setting
from ..factors import (
    Fit,
    Prepared,
    Settings,
    constants,
    fit_path,
    fit_prepared,
    is_doubtful,
    prepare_chosen,
    prepare_nested,
    verdict,
)
from ..progress import Checkpoint, Report, long_work
from ..retrieval import average_precision, best_matches
from ..samples import Views, view_names
from ..solver import DEFAULT_MAX_ITER
from ..views import Kernel, PreparedView
from ._base import ViewsEstimator, one_for_each
from ._low_rank_kernel import LowRankKernel

__all__ = ["KernelLike", "MultiSparseCCA"]

logger = logging.getLogger(__name__)

_USUAL_EFFORT = {"tol": 1e-6, "max_iter": DEFAULT_MAX_ITER}
KernelLike = str | Callable[..., float] | Kernel | LowRankKernel


class MultiSparseCCA(ViewsEstimator):
    """Sparse CCA of two or more views of the same samples: components that few features of each view predict.

    Each component is a shared factor, a score t that all views predict. `SparseCCA` is the case of two views, and its
    documentation describes the method; with more views

    - the factors are the leading solutions of

          sum over u != v of  A_v'A_u w_u  =  sigma (A_v'A_v + lambda I) w_v    for every prepared view A_v,

      with the scores t = sum_v A_v w_v;
    - feature weights and the choice of features judge a feature by how well each other view predicts it, on average;
    - weights are fitted first to t, then to what the other views' scores predict of t, so that a view that does not
      share a factor has little say in the weights of the others;
    - a correlation is the mean over all pairs of views, and the p-value is that of one test of all of them.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, at most n_samples - 1 (n_samples without centring) and at most the number of features of a
        view with weights on features; "auto" as for `SparseCCA`.
    rendering : {"auto", "sparse", "joint", "dense"} or a list of them, default="auto"
        As for `SparseCCA`; one for all views, or one for each.
    kernel : "linear", a kernel or a list of them, default="linear"
        As for `SparseCCA`; one for all views, or one for each, with its parameters (`Kernel`).
    scale : {"auto", "columns", "rows", "both"} or None, or a list of them, default="auto"
        As for `SparseCCA`; one for all views, or one for each.
    mu, ridge, feature_weights, n_features, center, held_out, tol, max_iter, n_jobs, random_state : as for `SparseCCA`

    Attributes
    ----------
    view_names_ : list of str
        The names of the views: "view 1", "view 2", ... unless `fit` was given a mapping.
    n_components_ : int
    weights_, loadings_ : list of ndarray of shape (coordinates, n_components_)
        By view, as `x_weights_` and `x_loadings_` of `SparseCCA`.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the training scores, mean over all pairs of views.
    held_out_correlations_ : ndarray of shape (n_components_,)
        Correlation of the scores on samples left out, with everything learnt from the other samples: the mean over all
        pairs of views, on Fisher's scale.
    held_out_intervals_ : ndarray of shape (n_components_, 2)
        Intervals for these means, at a level of 0.95.
    view_pairs_ : list of tuple of int
        All pairs of views.
    pair_correlations_ : ndarray of shape (n_pairs, n_components_)
        Cosine of the training scores of each pair of views.
    held_out_pair_correlations_ : ndarray of shape (n_pairs, n_components_)
    held_out_pair_intervals_ : ndarray of shape (n_pairs, n_components_, 2)
        The same for each pair of views.
    n_folds_, p_value_, verdict_ : as for `SparseCCA`
    rendering_, shown_, n_read_, mates_kept_, mates_kept_interval_, reading_path_ : as for `SparseCCA`
    mu_, objective_, dual_gap_, n_passes_ : ndarray of shape (n_views, n_components_)
    n_iter_, converged_ : ndarray of shape (n_components_,)
    scales_, preparations_, feature_weights_, kernel_errors_, n_features_, feature_names_ : list
        By view, as those of `SparseCCA`; None where a view has none.
    provenance_ : dict
        Versions, settings and digests of the data.

    Examples
    --------
    >>> import scca
    >>> views = scca.datasets.make_planted(100, 40, 30, 20, random_state=0).views
    >>> model = scca.MultiSparseCCA(3).fit(views)
    >>> [scores.shape for scores in model.transform(views)]
    [(100, 3), (100, 3), (100, 3)]
    >>> scores = model.transform([views[0], None, None])  # the other views are not known
    """

    _chooses_features = True

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        rendering: str | Sequence[str] = "auto",
        mu: PenaltyLike = "auto",
        ridge: PenaltyLike = "auto",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: KernelLike | Sequence[KernelLike] = "linear",
        center: bool = True,
        scale: Any = "auto",
        held_out: int | str = "auto",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
    ):
        self.n_components = n_components
        self.rendering = rendering
        self.mu = mu
        self.ridge = ridge
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.kernel = kernel
        self.center = center
        self.scale = scale
        self.held_out = held_out
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _given_kernels(self, n_views: int) -> tuple[Any, ...]:
        return one_for_each(self.kernel, "kernel", n_views)

    def _sums_suffice(self, n_views: int) -> bool:
        return not any(self._are_dual(n_views))

    def fit(
        self, views: Sequence[MatrixLike] | Mapping[str, MatrixLike], y: Any = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Learn the components of samples that are known in several views.

        Parameters
        ----------
        views : list of {array, sparse matrix, data frame} of shape (n_samples, n_features of the view), or mapping
            Row i of every view is the same sample. A mapping names the views. With a precomputed kernel a view is the
            (n_samples, n_samples) kernel matrix itself.
        y : None
            Ignored; for compatibility with scikit-learn.
        groups : array of shape (n_samples,), optional
            A label for each sample; samples with the same label belong together, are left out together and permuted as
            a whole.

        Returns
        -------
        self
        """
        return self._fit(_by_name(views), groups)

    def transform(self, views: Sequence[Any] | Mapping[str, Any]) -> list[np.ndarray | None]:
        """Scores of samples in the common space, a list by view.

        Parameters
        ----------
        views : list or mapping
            The views in the order of `fit`, or by name. A view that is None, or not in the mapping, is not known; its
            scores are None. Views need not have the same samples.

        Returns
        -------
        list of ndarray of shape (n, n_components_), or None
        """
        check_is_fitted(self)
        return [None if data is None else self._warned_scores(data, v) for v, data in enumerate(self._in_order(views))]

    def fit_transform(self, views: Any, y: Any = None, **fit_params: Any) -> list[np.ndarray]:
        """Fit, and return the scores of all views."""
        given = self.fit(views, **fit_params)._in_order(views)
        return [self._warned_scores(data, v, self._own_diagonal(data, v)) for v, data in enumerate(given)]

    def mates(
        self,
        queries: MatrixLike,
        candidates: MatrixLike,
        *,
        source: int | str = 0,
        target: int | str = 1,
        top: int = 10,
    ) -> tuple[np.ndarray, np.ndarray]:
        """For every query, a sample of the view `source`, the `top` candidates of the view `target` that match best.

        Returns
        -------
        indices : ndarray of int of shape (n_queries, top)
            Candidates, best first.
        similarities : ndarray of shape (n_queries, top)
            Cosines in the common space.
        """
        found = best_matches(self.project(queries, source), self.project(candidates, target), check_count(top, "top"))
        return found[0], found[1]

    def score(self, views: Sequence[MatrixLike] | Mapping[str, MatrixLike], y: Any = None) -> float:
        """Average precision of finding mates, mean over all pairs of views that are given; 1 is perfect."""
        check_is_fitted(self)
        given = [(v, data) for v, data in enumerate(self._in_order(views)) if data is not None]
        if len(given) < 2:
            raise ValueError(f"score compares views of the same samples; got {len(given)}: pass at least 2 of them.")
        scores = [self.project(data, v) for v, data in given]
        found = []
        for i, j in combinations(range(len(given)), 2):
            names = self.view_names_[given[i][0]], self.view_names_[given[j][0]]
            check_row_labels(given[i][1], given[j][1], names)
            check_same_samples(scores[i], scores[j], names)
            found.append(average_precision(scores[i], scores[j]).average_precision)
        return float(np.mean(found))

    def _in_order(self, views: Any) -> list[Any]:
        """The given views in the order of `fit`, None for those that are not there."""
        names = self.view_names_
        if isinstance(views, Mapping):
            found: list[Any] = [None] * len(names)
            for name, data in views.items():
                v = self._number(name)
                if found[v] is not None:
                    raise ValueError(f"{names[v]} is given twice, by its name and by its number; pass it once.")
                found[v] = data
            return found
        given = list(_listed_views(views))
        if len(given) != len(names):
            raise ValueError(
                f"the model has {len(names)} views; got {len(given)}: pass all in order, None for one that is not "
                "there, or a mapping from name to view."
            )
        return given

    def fit_with_progress(
        self,
        *views: Any,
        progress: Report | None = None,
        checkpoint: Checkpoint | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """`fit`, calling `progress(what, done, total)` now and then and storing its steps in `checkpoint`."""
        with long_work(progress, checkpoint):
            return self.fit(*views, groups=groups)

    # --- the method ------------------------------------------------------------------------------------------------

    def _prepare(self, views: Views, settings: Settings, first: PreparedView | None = None) -> Prepared:
        return prepare_chosen(views, settings, first)

    def prepare_nested(self, views: Views, shares: Sequence[float], through: float = 1.0) -> Iterator[Prepared]:
        """Prepare checked views with ever fewer features, those of each share, largest first.

        If `through` is the share that a fit reads, and as many shares are before it as a fit takes rounds, its features
        are those of the fit.
        """
        return prepare_nested(views, self._bounded(self._settings(len(views.data)), views), shares, through)

    def _learn(self, prepared: Prepared, settings: Settings) -> Self:
        return self._keep(fit_prepared(prepared, settings), settings)

    def _learn_many(
        self, models: "Sequence[Self]", settings: Sequence[Settings], prepared: Prepared
    ) -> "Iterator[Self]":
        for model, each, fit in zip(models, settings, fit_path(prepared, settings), strict=True):
            yield model._keep(fit, each)

    def _keep(self, fit: Fit, settings: Settings) -> Self:
        """Store the result of a fit, and warn of its problems."""
        held_out, groups = fit.held_out, fit.prepared.groups
        _warn_of_shortcomings(fit, settings)
        self._store(fit.prepared, fit.projectors, fit.weights)
        self.loadings_ = list(fit.loadings)
        self.rendering_, self.shown_ = list(fit.renderings), list(fit.shown)
        self.n_read_ = [int(np.count_nonzero(weights.any(axis=1))) for weights in self.weights_]
        if (cost := fit.prepared.cost) is not None:
            self.mates_kept_, self.mates_kept_interval_ = cost.kept, np.array(cost.interval)
            self.reading_path_ = np.column_stack([cost.shares, cost.precisions])
        self.view_pairs_ = list(combinations(range(len(fit.weights)), 2))
        self.pair_correlations_ = fit.pair_correlations
        for name, values in fit.certificates.items():
            setattr(self, f"{name}_", values)
        self.n_iter_, self.correlations_, self.converged_ = fit.n_iter, fit.correlations, fit.converged
        if held_out is not None:
            self.held_out_correlations_, self.held_out_intervals_ = held_out.correlations, held_out.intervals
            self.held_out_pair_correlations_ = held_out.pair_correlations
            self.held_out_pair_intervals_ = held_out.pair_intervals
            self.n_folds_ = held_out.n_folds
            self.p_value_, self.verdict_ = held_out.p_value, verdict(held_out.p_value, groups, len(fit.weights))
        for j in range(self.n_components_):
            logger.info(
                "component %d: %s weights, correlation %.4f, gap %.1e",
                *(j + 1, " and ".join(str(np.count_nonzero(weights[:, j])) for weights in self.weights_)),
                *(self.correlations_[j], self.dual_gap_[:, j].max()),
            )
        return self

    # --- parameters, checked once ----------------------------------------------------------------------------------

    def _settings(self, n_views: int = 2) -> Settings:
        renderings = self._renderings(n_views)
        dense = [rendering == "dense" for rendering in renderings]
        ridge = Penalty.parse(self.ridge, "ridge", zero_allowed=False)
        check_seed(self.random_state)
        return Settings(
            reading=self._reading(n_views, meaningless=tuple(each and not all(dense) for each in dense)),
            renderings=renderings,
            n_components=constants.MOST_COMPONENTS
            if self._is_counted
            else check_count(self.n_components, "n_components"),
            is_counted=self._is_counted,
            n_features=self.n_features,
            ridge=constants.RIDGE * ridge.factor if ridge.value is None else ridge.value,
            ridge_is_automatic=ridge.value is None,
            mu=Penalty.parse(self.mu, "mu", zero_allowed=False),
            effort=self._effort(dense),
            n_folds=self._folds(),
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _bounded(self, settings: Settings, views: Views) -> Settings:
        asked = None if settings.is_counted else settings.n_components
        return replace(settings, n_components=min(self._check_n_components(asked, views), settings.n_components))

    @property
    def _is_counted(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "auto"

    def _renderings(self, n_views: int = 2) -> tuple[str, ...]:
        """The rendering of each view, as it was asked for."""
        asked = one_for_each(self.rendering, "rendering", n_views)
        return tuple(check_choice(each, "rendering", ("auto", "sparse", "joint", "dense")) for each in asked)

    def _effort(self, dense: Sequence[bool]) -> dict[str, Any]:
        """The settings of the elastic nets; refused for dense renderings, which have none."""
        effort = {"tol": check_tolerance(self.tol), "max_iter": check_count(self.max_iter, "max_iter")}
        if not all(dense):
            return effort
        if not (isinstance(self.mu, str) and self.mu == "auto"):
            raise ValueError(
                f'mu is for a rendering that selects features; got {shown(self.mu)} with "dense": drop it.'
            )
        for name, usual in _USUAL_EFFORT.items():
            if effort[name] != usual:
                raise ValueError(
                    f'{name} is for a rendering that selects features; got {shown(effort[name])} with "dense": '
                    f"leave it at {usual!r}."
                )
        return effort

    def _folds(self) -> int | None:
        """The requested number of folds; None for as many as the pairs and time allow."""
        folds = self.held_out
        if isinstance(folds, str) and folds == "auto":
            return None
        if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 0 or folds == 1:
            raise ValueError(
                f'held_out must be "auto", 0 or an integer of at least 2; got {shown(folds)}: pass 2 or more folds, '
                "since each is left out of a fit to the others, or 0 to leave nothing out."
            )
        return int(folds)


def _by_name(views: Any) -> dict[str, Any]:
    """The views by name: as given, or "view 1", "view 2" etc."""
    if isinstance(views, Mapping):
        given = dict(views)
        if not all(isinstance(name, str) and name for name in given):
            raise ValueError(
                f"the names of views must be texts; got {shown(list(given))}: name them by texts, or pass a list."
            )
    else:
        listed = _listed_views(views)
        given = dict(zip(view_names(len(listed)), listed, strict=True))
    if len(given) < 2:
        raise ValueError(f"at least 2 views of the same samples are needed; got {len(given)}: pass a list of them.")
    for name, data in given.items():
        if data is None:
            raise ValueError(f"a fit needs the samples of every view; {name} is None: pass them, or leave it out.")
    return given


def _listed_views(views: Any) -> list[Any]:
    if not isinstance(views, tuple | list):
        raise ValueError(f"the views must be a list or a mapping; got a {type(views).__name__}: pass [X1, X2, X3].")
    return list(views)


def _warn_of_shortcomings(fit: Fit, settings: Settings) -> None:
    found = len(fit.converged)
    if found < fit.n_asked:
        warn(
            f"the views share {found} of {setting('n_components', fit.n_asked)} factors; set "
            f"{setting('n_components', found)}.",
            ConvergenceWarning,
        )
    if not fit.factors_converged:
        remedy = f"ask for fewer components, or raise {setting('ridge')}"
        warn(f"the factors did not converge; {remedy}.", ConvergenceWarning)
    for sentence in fit.unsolved:
        warn(sentence, ConvergenceWarning)
    empty = sum(not all(weights[:, j].any() for weights in fit.weights) for j in range(found))
    if empty:
        warn(
            f"{empty} of {found} components have no weight in one of the views; lower {setting('mu')}.",
            EmptyComponentWarning,
        )
    unshown = np.any([chosen.sum(axis=0) == 0 for chosen in fit.shown if chosen is not None] or [[False]], axis=0)
    if unshown.any():
        warn(
            f"{np.count_nonzero(unshown)} of {found} components show no feature of one of the views; lower "
            f"{setting('mu')}.",
            EmptyComponentWarning,
        )
    if settings.is_counted and found == constants.MOST_COMPONENTS:
        warn(
            f"{setting('n_components', 'auto')} stopped at {found}, the most that it looks for, and the views may "
            f"share more; give {setting('n_components')} as a number to have more.",
            DataWarning,
        )
    if fit.held_out is not None and is_doubtful(fit.held_out.p_value):
        warn(verdict(fit.held_out.p_value, fit.prepared.groups, len(fit.weights)), EvidenceWarning)
