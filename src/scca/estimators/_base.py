"""What all estimators share: checks of the views, scores of new samples, and what a fit stores."""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .._checks import DataWarning, check_choice, check_count, check_flag, shown, warn
from .._data import Features, check_row_labels, check_same_samples, read_view, warn_of_mistakes, warn_uninformative
from .._types import MatrixLike
from .._wording import counted, setting
from ..factors import Choice, Prepared, Reading, constants, fewer_features, prepare, unweighted_view
from ..parallel import check_n_jobs
from ..results import Result, ShowsResult, result_of
from ..samples import Groups, Views, remote_blocks_of, view_names
from ..views import SCALES, Kernel, LowRankPreparation, PreparedView, Projector, check_kernel_matrix, scales_columns
from ._low_rank_kernel import parsed_kernel
from ._provenance import provenance_of
from ._remote import remote_views

__all__ = ["ViewsEstimator", "is_named", "one_for_each"]

logger = logging.getLogger(__name__)

_LARGE_ERROR = 0.1  # relative error of an approximated kernel above which `fit` warns


class ViewsEstimator(ShowsResult, BaseEstimator):
    """An estimator of views of the same samples that projects samples of any view into a common space.

    A subclass checks its parameters (`_settings`, which has a `reading`), names the kernel of each view
    (`_given_kernels`), prepares checked views (`_prepare`) and learns from the result (`_learn`), which stores what it
    learnt by `_store`. Whatever a fit stores by view is a list, in the order of the views.
    """

    view_names_: list[str]
    weights_: list[np.ndarray]
    scales_: list[Any]
    preparations_: list[Any]
    n_features_: list[int]
    feature_names_: list[np.ndarray | None]
    _projectors: list[Projector]
    _chooses_features = False  # whether `n_features` may be "auto"

    @abstractmethod
    def _given_kernels(self, n_views: int) -> tuple[Any, ...]:
        """The kernel of each view as users name it; "linear" for a view that is read by its features."""

    def _are_dual(self, n_views: int) -> tuple[bool, ...]:
        """Which views have weights on their samples."""
        return tuple(not is_named(kernel, "linear") for kernel in self._given_kernels(n_views))

    @property
    def are_dual_(self) -> tuple[bool, ...]:
        """Which views have weights on their samples; a property of the parameters."""
        return self._are_dual(len(self.view_names_))

    @abstractmethod
    def _settings(self, n_views: int = 2) -> Any:
        """The checked parameters; `_bounded` checks those that depend on the data."""

    @abstractmethod
    def _bounded(self, settings: Any, views: Views) -> Any:
        """The settings for these views, with a checked number of components."""

    @abstractmethod
    def _prepare(self, views: Views, settings: Any, first: PreparedView | None = None) -> Prepared:
        """Prepare checked views; `first` is the unweighted first view of the same samples, if it is known."""

    @abstractmethod
    def _learn(self, prepared: Prepared, settings: Any) -> Self:
        """Learn the components from prepared views."""

    def _sums_suffice(self, n_views: int) -> bool:
        """Whether a fit needs nothing but sums over samples."""
        return False

    # --- learning --------------------------------------------------------------------------------------------------

    def _fit(self, given: Mapping[str, MatrixLike], groups: Any = None) -> Self:
        """Learn from views by name."""
        settings = self._settings(len(given))
        views, features = self._training(given, groups, settings)
        settings = self._bounded(settings, views)
        learnt = self._learn(self._prepare(views, settings), settings)._remember(features)
        learnt.provenance_ = provenance_of(self, views)
        return learnt

    def fit_views(self, views: Views, first: PreparedView | None = None) -> Self:
        """`fit` for checked views; `first` is the unweighted first view of the same samples, if it is known."""
        settings = self._bounded(self._settings(len(views.data)), views)
        return self._learn(self._prepare(views, settings, first), settings)._remember(_features_of(views))

    def fit_many(self, models: "Sequence[Self]", prepared: Prepared) -> "Iterator[Self]":
        """Copies of models that differ in their penalties, fitted one after another to the same prepared views."""
        given = prepared.given
        settings = [model._bounded(model._settings(len(given.data)), given) for model in models]
        for fitted in self._learn_many([clone(model) for model in models], settings, prepared):
            yield fitted._remember(_features_of(given))

    def _learn_many(self, models: "Sequence[Self]", settings: Sequence[Any], prepared: Prepared) -> "Iterator[Self]":
        return (model._learn(prepared, each) for model, each in zip(models, settings, strict=True))

    def prepare_views(self, views: Views) -> Prepared:
        """Prepare checked views as in `fit`."""
        return self._prepare(views, self._bounded(self._settings(len(views.data)), views))

    def first_view(self, views: Views) -> PreparedView:
        """The first of the checked views, prepared as in `fit` but without feature weights."""
        reading: Reading = self._settings(len(views.data)).reading.decided(views)
        return unweighted_view(reading, 0, views.data[0], views.names[0])

    def _store(self, prepared: Prepared, projectors: Sequence[Projector], weights: Sequence[np.ndarray]) -> None:
        """Replace an earlier fit by weights of all views and the projectors of new samples.

        Called when nothing can fail any more, so that a failed fit leaves the model unchanged.
        """
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in (*fitted, "_projectors"):
            self.__dict__.pop(name, None)
        self.view_names_ = list(prepared.given.names)
        self.weights_ = list(weights)
        self.scales_ = list(prepared.reading.scales)
        self.n_components_ = self.weights_[0].shape[1]
        self._projectors = list(projectors)
        self.preparations_ = [projector.preparation for projector in projectors]
        self.feature_weights_ = [getattr(preparation, "feature_weights", None) for preparation in self.preparations_]
        self.kernel_errors_ = [getattr(preparation, "error", None) for preparation in self.preparations_]
        for name, preparation in zip(self.view_names_, self.preparations_, strict=True):
            if isinstance(preparation, LowRankPreparation):
                _report_error(preparation, name)

    def _store_rotations(
        self, prepared: Prepared, views: Sequence[PreparedView], weights: Sequence[Any], rotations: Sequence[Any]
    ) -> None:
        """Replace an earlier fit by projection directions, `rotations`, on the coordinates of `views`."""
        rotations = prepared.in_dtypes(rotations)
        projectors = [view.projector(rotation) for view, rotation in zip(views, rotations, strict=True)]
        self._store(prepared, projectors, prepared.in_dtypes(weights))
        self.rotations_ = rotations

    def _remember(self, features: Sequence[Features]) -> Self:
        """Store the features of all views."""
        self.n_features_ = [each.count for each in features]
        self.feature_names_ = [each.names for each in features]
        return self

    # --- checks of user input --------------------------------------------------------------------------------------

    def _reading(self, n_views: int, **given: Any) -> Reading:
        """How the views are read, from the checked parameters that all estimators have."""
        check_flag(self.center, "center")
        check_n_jobs(self.n_jobs)
        parsed = [
            (None, None) if is_named(kernel, "linear") else parsed_kernel(kernel)
            for kernel in self._given_kernels(n_views)
        ]
        kernels, low_rank = zip(*parsed, strict=True)
        scales = one_for_each(self.scale, "scale", n_views)
        for name, scale, kernel in zip(view_names(n_views), scales, kernels, strict=True):
            check_choice(scale, "scale", ("auto", *SCALES))
            if kernel is not None and kernel.precomputed and scale != "auto" and scales_columns(scale):
                raise ValueError(
                    f'scale="{scale}" needs columns, and {name} is a kernel matrix, which has none; set "rows" or None.'
                )
        weighted = self._check_weighting()
        return Reading(
            kernels=kernels,
            scales=scales,
            center=self.center,
            weighted=weighted,
            low_rank=low_rank,
            n_jobs=self.n_jobs,
            **{"meaningless": (False,) * n_views, **given},
        )

    def _check_weighting(self) -> bool:
        """Whether features are weighted."""
        weighted = check_choice(self.feature_weights, "feature_weights", ("shared", None)) is not None
        if self.n_features is None:
            return weighted
        if self._chooses_features and isinstance(self.n_features, str) and self.n_features == "auto":
            return weighted
        if isinstance(self.n_features, float | np.floating):
            if not 0 < self.n_features <= 1:
                raise ValueError(
                    f"n_features must be an integer of at least 1 or a share above 0 and at most 1; got "
                    f"{shown(self.n_features)}."
                )
        else:
            check_count(self.n_features, "n_features")
        return weighted

    def _prepared_with_chosen(self, views: Views, settings: Any, first: PreparedView | None) -> Prepared:
        """The views with the features that are asked for, chosen for the factors of kernel CCA."""
        prepared = prepare(views, settings.reading, first)
        kernels = settings.reading.kernels
        choice = Choice(settings.n_components, _usual_ridge, tuple(kernel is None for kernel in kernels))
        return fewer_features(prepared, self.n_features, choice)

    def _training(self, given: Mapping[str, MatrixLike], groups: Any, settings: Any) -> tuple[Views, list[Features]]:
        """The checked views, and their features."""
        names, data = tuple(given), list(given.values())
        precomputed = tuple(kernel is not None and kernel.precomputed for kernel in settings.reading.kernels)
        if remote_blocks_of(data):
            data = remote_views(names, data, self._sums_suffice(len(data)), type(self).__name__)
            if remote_blocks_of(data):
                views = Views(tuple(data), Groups.of(groups, data[0].shape[0]), names, precomputed)
                return views, [Features(each.shape[1], each.feature_names) for each in data]
        checked, features = zip(*(read_view(each, name) for name, each in zip(names, data, strict=True)), strict=True)
        for v in range(1, len(data)):
            check_same_samples(checked[0], checked[v], (names[0], names[v]))
        for v, u in combinations(range(len(data)), 2):
            check_row_labels(data[v], data[u], (names[v], names[u]))
        if checked[0].shape[0] < 2:
            raise ValueError(f"{_listed(names)} must have at least 2 samples; got n_samples=1: pass more samples.")
        views = Views(checked, Groups.of(groups, checked[0].shape[0]), names, precomputed)
        for name, each, is_kernel in zip(names, views.data, precomputed, strict=True):
            if is_kernel:
                check_kernel_matrix(each, name)
            elif self.center:
                warn_uninformative(each, name)
        self._bounded(settings, views)  # before any warning, so that an error comes alone
        if not any(precomputed):
            warn_of_mistakes(names, checked, features)
        return views, list(features)

    def _check_n_components(self, n_components: int | None, views: Views) -> int:
        """The number of components, if the views can have that many; None for the maximum."""
        n = len(views) - self.center
        bounds = {"n_samples - 1" if self.center else "n_samples": n}
        for name, data, is_dual in zip(views.names, views.data, self._are_dual(len(views.data)), strict=True):
            if not is_dual:
                bounds[name] = data.shape[1]
        reason, bound = min(bounds.items(), key=lambda item: item[1])
        if n_components is None:
            return bound
        if n_components > bound:
            is_view = reason in views.names
            said = f"{setting('n_features', bound)} of {setting(reason)}" if is_view else setting(reason, bound)
            raise ValueError(
                f"`{setting('n_components')}` upper bound is {said}. Got {n_components} instead. Reduce "
                f"`{setting('n_components')}`."
            )
        return n_components

    def _check_view(self, data: MatrixLike, view: int | str) -> Any:
        """New samples of a view as a matrix, checked as in `fit` and against the features of the training data."""
        v = self._number(view)
        name = self.view_names_[v]
        matrix, features = read_view(data, name)
        features.check_same(Features(self.n_features_[v], self.feature_names_[v]), name, type(self).__name__)
        return matrix

    # --- the common space ------------------------------------------------------------------------------------------

    def result(self, top: int | None = None) -> Result:
        """What was learnt and how far to trust it, as plain values; at most `top` features and samples a component."""
        check_is_fitted(self)
        return result_of(self, top=top)

    def _number(self, view: int | str) -> int:
        """The number of a view, given its number or name."""
        check_is_fitted(self)
        names = self.view_names_
        if isinstance(view, str) and view in names:
            return names.index(view)
        if isinstance(view, int | np.integer) and not isinstance(view, bool) and 0 <= view < len(names):
            return int(view)
        raise ValueError(f"a view must be one of {_listed(names)}, or 0 to {len(names) - 1}; got {shown(view)}.")

    def project(self, data: MatrixLike, view: int | str, diagonal: Any = None) -> np.ndarray:
        """Scores of samples of a view, given by its number or name, as an array.

        `diagonal` is k(x, x) of every sample, for a precomputed kernel with `scale="rows"`.
        """
        v = self._number(view)
        data, name = self._check_view(data, v), self.view_names_[v]
        if diagonal is not None:
            diagonal = self._check_diagonal(diagonal, v, data.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            scores = self._projectors[v](data, diagonal).astype(data.dtype, copy=False)
        if not np.isfinite(scores).all():
            raise ValueError(f"the scores of {name} overflow {data.dtype}: rescale {name}, or fit again.")
        return scores

    def _warned_scores(self, data: MatrixLike, v: int, diagonal: Any = None) -> np.ndarray:
        """`project` for users, who are warned of samples that the model reads nothing of."""
        scores = self.project(data, v, diagonal)
        if getattr(self._projectors[v].preparation, "blank", False) and not scores.any(axis=1).all():
            unread = np.flatnonzero(~scores.any(axis=1))
            warn(
                f"{self.view_names_[v]} has {counted(len(unread), 'sample')} without any feature that the model reads "
                f"(first: {unread[0]}); their scores are 0 and carry no information.",
                DataWarning,
            )
        return scores

    def _own_diagonal(self, data: MatrixLike, v: int) -> np.ndarray | None:
        """k(x, x) of the training samples themselves, if their view is a precomputed kernel."""
        if not self._is_precomputed(v, len(self.view_names_)):
            return None
        return np.asarray(data.diagonal() if hasattr(data, "diagonal") else np.diag(np.asarray(data)))

    def _is_precomputed(self, v: int, n_views: int) -> bool:
        return is_named(self._given_kernels(n_views)[v], "precomputed")

    def _check_diagonal(self, diagonal: Any, v: int, n: int) -> np.ndarray:
        if not self._is_precomputed(v, len(self.view_names_)):
            name = self.view_names_[v]
            raise ValueError(f"diagonal is only for a precomputed kernel, which {name} does not have; leave it out.")
        try:
            values = np.asarray(diagonal, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(f"diagonal must be {n} finite numbers, k(x, x) of every sample; got {shown(diagonal)}.")
        return values


def one_for_each(given: Any, name: str, n_views: int) -> tuple[Any, ...]:
    """A parameter of each view: one value for all views, or a list of one for each."""
    if not isinstance(given, tuple | list):
        return (given,) * n_views
    if len(given) != n_views:
        raise ValueError(
            f"{name} must be one value for all views, or a list of {n_views}, one for each view; got {shown(given)}."
        )
    return tuple(given)


def is_named(given: Any, name: str) -> bool:
    """Whether a kernel as users name it is the one of this name; also before it is checked."""
    function = given.function if isinstance(given, Kernel) else given
    return isinstance(function, str) and function == name


def _usual_ridge(view: PreparedView) -> float:
    return constants.RIDGE * view.unit


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]])


def _features_of(views: Views) -> list[Features]:
    return [Features(data.shape[1]) for data in views.data]


def _report_error(preparation: LowRankPreparation, name: str) -> None:
    rank, error = preparation.map.rank, preparation.error
    logger.info("kernel of %s: rank %d, relative error %.2g", name, rank, error)
    if error > _LARGE_ERROR:
        warn(
            f"the kernel of {name} is approximated with a relative error of {error:.2g}, where {_LARGE_ERROR:g} is "
            f"small; raise the rank of LowRankKernel above {rank}, or choose a smoother kernel (rbf: a smaller "
            "gamma).",
            DataWarning,
        )
