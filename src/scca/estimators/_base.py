"""What the estimators of two views share: checks of the data, scores of new samples, scikit-learn's conventions."""

import logging
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._checks import DataWarning, check_choice, check_count, check_flag, shown, warn
from .._data import Features, check_row_labels, check_same_samples, read_view, warn_of_mistakes, warn_uninformative
from .._types import MatrixLike
from .._wording import counted, setting
from ..factors import Prepared, Reading, unweighted_view
from ..parallel import check_n_jobs
from ..retrieval import average_precision
from ..samples import Groups, Views, remote_blocks_of
from ..views import SCALES, Kernel, LowRankPreparation, PreparedView, Projector, check_kernel_matrix, scales_columns
from ._low_rank_kernel import parsed_kernel
from ._remote import remote_pair

__all__ = ["PairedTransformer"]

logger = logging.getLogger(__name__)

_NAMES = ("X", "Y")
_LARGE_ERROR = 0.1  # of an approximated kernel, relative


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of two paired views X and Y that projects samples of either into a common space.

    A subclass checks its parameters (`_settings`, which has a `reading`), names the kernel of each view
    (`_given_kernels`), prepares checked views (`_prepare`) and learns from the result (`_learn`), which stores what it
    learnt by `_store`.
    """

    _projectors: dict[str, Projector]
    x_preparation_: Any
    y_preparation_: Any
    _transformed = "X"  # the view that `transform` reads
    _chooses_features = False  # whether `n_features` may be "auto"

    @property
    @abstractmethod
    def _given_kernels(self) -> tuple[Any, Any]:
        """The kernels of X and Y as users name them; "linear" for a view that is read by its features."""

    @property
    def _dual_views(self) -> tuple[str, ...]:
        """Which of "X" and "Y" have weights on their samples."""
        kernels = zip(_NAMES, self._given_kernels, strict=True)
        return tuple(name for name, kernel in kernels if not is_named(kernel, "linear"))

    @abstractmethod
    def _settings(self) -> Any:
        """The parameters, checked; those that depend on the data by `_bounded`."""

    @abstractmethod
    def _bounded(self, settings: Any, views: Views) -> Any:
        """The settings for these views, whose number of components is checked."""

    @abstractmethod
    def _prepare(self, views: Views, settings: Any, first: PreparedView | None = None) -> Prepared:
        """Checked views, prepared; `first` is the unweighted first view of the same samples, if it is known."""

    @abstractmethod
    def _learn(self, prepared: Prepared, settings: Any) -> Self:
        """Learn the components from prepared views."""

    def _sums_suffice(self) -> bool:
        """Whether a fit needs nothing but sums over samples."""
        return False

    # --- learning --------------------------------------------------------------------------------------------------

    def _fit(self, X: MatrixLike, Y: MatrixLike, groups: Any = None) -> Self:
        settings = self._settings()
        views, features = self._training(X, Y, groups, settings)
        settings = self._bounded(settings, views)
        return self._learn(self._prepare(views, settings), settings)._remember(features)

    def fit_views(self, views: Views, first: PreparedView | None = None) -> Self:
        """`fit` for checked views; `first` is the unweighted first view of the same samples, if it is known."""
        settings = self._bounded(self._settings(), views)
        return self._learn(self._prepare(views, settings, first), settings)._remember(_features_of(views))

    def fit_many(self, models: "Sequence[Self]", prepared: Prepared) -> "Iterator[Self]":
        """Copies of models that differ in their penalties, fitted one after another to the same prepared views."""
        settings = [model._bounded(model._settings(), prepared.given) for model in models]
        for fitted in self._learn_many([clone(model) for model in models], settings, prepared):
            yield fitted._remember(_features_of(prepared.given))

    def _learn_many(self, models: "Sequence[Self]", settings: Sequence[Any], prepared: Prepared) -> "Iterator[Self]":
        return (model._learn(prepared, each) for model, each in zip(models, settings, strict=True))

    def prepare_views(self, views: Views) -> Prepared:
        """Checked views as the estimator prepares them."""
        return self._prepare(views, self._bounded(self._settings(), views))

    def first_view(self, views: Views) -> PreparedView:
        """The first of checked views as the estimator prepares it, before features are weighted."""
        reading: Reading = self._settings().reading.decided(views)
        return unweighted_view(reading, 0, views.data[0], views.names[0])

    def _store(self, prepared: Prepared, projectors: Sequence[Projector], weights: Sequence[np.ndarray]) -> None:
        """Replace an earlier fit by weights of X and Y and the projectors of new samples.

        Called when nothing can fail any more, so that a failed fit leaves the model unchanged.
        """
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in (*fitted, "_projectors"):
            self.__dict__.pop(name, None)
        self.x_weights_, self.y_weights_ = weights
        self.x_scale_, self.y_scale_ = prepared.reading.scales
        self.n_components_ = self.x_weights_.shape[1]
        self._projectors = dict(zip(_NAMES, projectors, strict=True))
        self.x_preparation_, self.y_preparation_ = (projector.preparation for projector in projectors)
        self.x_feature_weights_ = getattr(self.x_preparation_, "feature_weights", None)
        self.y_feature_weights_ = getattr(self.y_preparation_, "feature_weights", None)
        for name, preparation in (("X", self.x_preparation_), ("Y", self.y_preparation_)):
            if isinstance(preparation, LowRankPreparation):
                setattr(self, f"{name.lower()}_kernel_error_", preparation.error)
                _report_error(preparation, name)

    def _store_rotations(
        self, prepared: Prepared, views: Sequence[PreparedView], weights: Sequence[Any], rotations: Sequence[Any]
    ) -> None:
        """The same for projection directions, `rotations`, on the coordinates of `views`."""
        rotations = prepared.in_dtypes(rotations)
        projectors = [view.projector(rotation) for view, rotation in zip(views, rotations, strict=True)]
        self._store(prepared, projectors, prepared.in_dtypes(weights))
        self.x_rotations_, self.y_rotations_ = rotations

    def _remember(self, features: Sequence[Features]) -> Self:
        """Store the features of both views."""
        self.n_features_in_, self.n_features_y_ = (each.count for each in features)
        for name, each in zip(("feature_names_in_", "feature_names_y_"), features, strict=True):
            if each.names is not None:
                setattr(self, name, each.names)
        return self

    # --- checks of user input --------------------------------------------------------------------------------------

    def _reading(self, **given: Any) -> Reading:
        """How the views are read, by the parameters that all estimators have, checked."""
        check_flag(self.center, "center")
        check_n_jobs(self.n_jobs)
        parsed = [(None, None) if is_named(given, "linear") else parsed_kernel(given) for given in self._given_kernels]
        kernels, low_rank = zip(*parsed, strict=True)
        pair = self.scale if isinstance(self.scale, tuple | list) and len(self.scale) == 2 else (self.scale,) * 2
        for name, scale, kernel in zip(_NAMES, pair, kernels, strict=True):
            check_choice(scale, "scale", ("auto", *SCALES))
            if kernel is not None and kernel.precomputed and scale != "auto" and scales_columns(scale):
                raise ValueError(
                    f'scale="{scale}" needs columns, and {name} is a kernel matrix, which has none; set "rows" or None.'
                )
        weighted = self._check_weighting()
        return Reading(
            kernels=kernels,
            scales=tuple(pair),
            center=self.center,
            weighted=weighted,
            n_features=None if isinstance(self.n_features, str) else self.n_features,
            low_rank=low_rank,
            n_jobs=self.n_jobs,
            **given,
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
        if not weighted:
            raise ValueError("n_features chooses among weighted features; set feature_weights='shared' with it.")
        return weighted

    def _training(self, X: MatrixLike, Y: MatrixLike, groups: Any, settings: Any) -> tuple[Views, list[Features]]:
        """Both views, checked, and their features."""
        precomputed = tuple(kernel is not None and kernel.precomputed for kernel in settings.reading.kernels)
        if remote_blocks_of((X, Y)):
            X, Y = remote_pair(X, Y, self._sums_suffice(), type(self).__name__)
            if remote_blocks_of((X, Y)):
                views = Views((X, Y), Groups.of(groups, X.shape[0]), _NAMES, precomputed)
                return views, [Features(data.shape[1], data.feature_names) for data in (X, Y)]
        given = X, Y
        (X, x_features), (Y, y_features) = read_view(X, "X"), read_view(Y, "Y")
        check_same_samples(X, Y)
        check_row_labels(*given)
        if X.shape[0] < 2:
            raise ValueError("X and Y must have at least 2 samples; got n_samples=1: pass more pairs.")
        views = Views((X, Y), Groups.of(groups, X.shape[0]), _NAMES, precomputed)
        for name, data, is_kernel in zip(_NAMES, views.data, precomputed, strict=True):
            if is_kernel:
                check_kernel_matrix(data, name)
            elif self.center:
                warn_uninformative(data, name)
        self._bounded(settings, views)  # an error comes alone, without warnings
        if not any(precomputed):
            warn_of_mistakes(X, Y, x_features, y_features)
        return views, [x_features, y_features]

    def _check_n_components(self, n_components: int | None, views: Views) -> int:
        """The number of components, if the views can have so many; None for as many as they can."""
        n = len(views) - self.center
        bounds = {"n_samples - 1" if self.center else "n_samples": n}
        for name, data in zip(_NAMES, views.data, strict=True):
            if name not in self._dual_views:
                bounds[name] = data.shape[1]
        reason, bound = min(bounds.items(), key=lambda item: item[1])
        if n_components is None:
            return bound
        if n_components > bound:
            is_view = reason in _NAMES
            said = f"{setting('n_features', bound)} of {setting(reason)}" if is_view else setting(reason, bound)
            raise ValueError(
                f"`{setting('n_components')}` upper bound is {said}. Got {n_components} instead. Reduce "
                f"`{setting('n_components')}`."
            )
        return n_components

    def _check_view(self, data: MatrixLike, name: str) -> Any:
        """New samples of a view as a matrix, checked as in `fit` and against the features of the training data."""
        matrix, features = read_view(data, name)
        count, names = ("n_features_in_", "feature_names_in_") if name == "X" else ("n_features_y_", "feature_names_y_")
        known = Features(getattr(self, count), getattr(self, names, None))
        features.check_same(known, name, type(self).__name__)
        return matrix

    # --- the common space ------------------------------------------------------------------------------------------

    def transform(self, X: MatrixLike, diagonal: ArrayLike | None = None) -> Any:
        """Scores of samples of X in the common space.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n, n_features)
            New samples; with a precomputed kernel, their kernel with the training samples.
        diagonal : array of shape (n,), optional
            With a precomputed kernel and `scale="rows"`: k(x, x) of every new sample, needed to scale it to unit
            norm. Without it the scores of a sample are not scaled, which does not affect rankings by cosine.

        Returns
        -------
        ndarray of shape (n, n_components_), or the frame that `set_output` selects
        """
        scores = self.project(X, self._transformed, diagonal)
        if getattr(self._projectors[self._transformed].preparation, "blank", False) and not scores.any(axis=1).all():
            unread = np.flatnonzero(~scores.any(axis=1))
            warn(
                f"{self._transformed} has {counted(len(unread), 'sample')} without any feature that the model reads "
                f"(first: {unread[0]}); their scores are 0 and carry no information.",
                DataWarning,
            )
        return scores

    def transform_y(self, Y: MatrixLike, diagonal: ArrayLike | None = None) -> Any:
        """Scores of samples of Y; parameters as for `transform`. Columns of a frame are called `sparsecca_y0` etc."""
        swapped = copy(self)  # only the result of `transform` becomes the frame that `set_output` selects
        swapped._transformed = "Y"
        scores = swapped.transform(Y, diagonal)
        if hasattr(scores, "iloc") and hasattr(Y, "iloc"):  # also of a series, whose labels scikit-learn 1.6 drops
            scores.index = Y.index
        return scores

    def transform_pair(self, X: MatrixLike, Y: MatrixLike) -> tuple[Any, Any]:
        """Scores of paired samples of both views: `transform(X), transform_y(Y)`."""
        check_row_labels(X, Y)
        X_scores, Y_scores = self.transform(X), self.transform_y(Y)
        check_same_samples(X_scores, Y_scores)
        return X_scores, Y_scores

    def fit_transform(self, X: MatrixLike, y: MatrixLike = None, **fit_params: Any) -> Any:
        """Fit to the pairs (y is the view Y) and return the scores of X."""
        self.fit(X, y, **fit_params)
        return self.transform(X, diagonal=_diagonal_of(X) if self._is_precomputed("X") else None)

    def score(self, X: MatrixLike, y: MatrixLike) -> float:
        """Average precision of mate retrieval among the pairs X and y, both directions averaged; 1 is perfect."""
        check_row_labels(X, y)
        X_scores, Y_scores = self.project(X, "X"), self.project(y, "Y")
        check_same_samples(X_scores, Y_scores)
        return average_precision(X_scores, Y_scores).average_precision

    def project(self, data: MatrixLike, name: str, diagonal: Any = None) -> np.ndarray:
        """Scores of samples of "X" or "Y" as an array, regardless of `set_output`."""
        check_is_fitted(self)
        data = self._check_view(data, name)
        if diagonal is not None:
            diagonal = self._check_diagonal(diagonal, name, data.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            scores = self._projectors[name](data, diagonal).astype(data.dtype, copy=False)
        if not np.isfinite(scores).all():
            raise ValueError(f"the scores of {name} overflow {data.dtype}: rescale {name}, or fit again.")
        return scores

    def _is_precomputed(self, name: str) -> bool:
        return is_named(self._given_kernels[_NAMES.index(name)], "precomputed")

    def _check_diagonal(self, diagonal: Any, name: str, n: int) -> np.ndarray:
        if not self._is_precomputed(name):
            raise ValueError(f"diagonal is only for a precomputed kernel, which {name} does not have; leave it out.")
        try:
            values = np.asarray(diagonal, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(f"diagonal must be {n} finite numbers, k(x, x) of every sample; got {shown(diagonal)}.")
        return values

    # --- scikit-learn ----------------------------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the scores of X, as in all of scikit-learn: "sparsecca0", "sparsecca1" etc.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str
        """
        names = super().get_feature_names_out(input_features)
        if self._transformed == "X":
            return names
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}_y{i}" for i in range(len(names))], dtype=object)  # beside those of X in one frame

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed("X")
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_named(given: Any, name: str) -> bool:
    """Whether a kernel as users name it is the one of this name; also before it is checked."""
    function = given.function if isinstance(given, Kernel) else given
    return isinstance(function, str) and function == name


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


def _diagonal_of(K: MatrixLike) -> np.ndarray:
    return np.asarray(K.diagonal() if hasattr(K, "diagonal") else np.diag(np.asarray(K)))
