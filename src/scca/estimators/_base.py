"""What the estimators share: input checks, preparation of the views, and scores of new samples."""

import logging
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    DataWarning,
    check_choice,
    check_count,
    check_flag,
    check_keywords,
    shown,
    warn,
)
from .._data import check_row_labels, check_same_samples, read_view, warn_of_mistakes, warn_uninformative
from .._types import MatrixLike
from .._wording import counted, setting
from ..factors import Known, Prepared, PreparedPair, Preparing
from ..parallel import check_n_jobs
from ..progress import report
from ..retrieval import average_precision
from ..samples import Groups, remote_blocks_of
from ..views import (
    SCALES,
    Kernel,
    LowRankPreparation,
    PreparedView,
    Projector,
    Scale,
    check_kernel_matrix,
    scales_columns,
    suitable_scale,
)
from ._low_rank_kernel import LowRankKernel
from ._remote import remote_pair

__all__ = ["MOST_COMPONENTS", "PairedTransformer", "in_types"]

logger = logging.getLogger(__name__)

_LARGE_ERROR = 0.1  # of an approximated kernel, relative
MOST_COMPONENTS = 200  # where their number is left to the data


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of two paired views X and Y that projects samples of either into a common space.

    A subclass names its dual views (`_dual_views`), says how it represents a prepared view (`_view`), fits what
    `prepare` returns and stores weights and rotations by `_set_views`.
    """

    _projectors: dict[str, Projector]
    x_preparation_: Any
    y_preparation_: Any
    _transformed = "X"  # the view that `transform` reads
    _chooses_features = False  # whether `n_features` may be "auto"

    @property
    @abstractmethod
    def _dual_views(self) -> tuple[str, ...]:
        """Which of "X" and "Y" are seen through the kernel."""

    def _kernel(self) -> Kernel:
        kernel = self.kernel.kernel if isinstance(self.kernel, LowRankKernel) else self.kernel
        if not (isinstance(kernel, str) or callable(kernel)):
            raise ValueError(
                f'kernel must be a callable or one of the names of scikit-learn\'s kernels, "precomputed" or a '
                f"LowRankKernel; got {shown(kernel)}."
            )
        check_keywords(self.kernel_params, "kernel_params")
        return Kernel(kernel, self.kernel_params or {})

    def _low_rank(self) -> dict[str, Any] | None:
        """How the kernel is approximated; None if it is not."""
        return self.kernel.settings() if isinstance(self.kernel, LowRankKernel) else None

    def _is_precomputed(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed" and name in self._dual_views

    @abstractmethod
    def _view(self, view: Prepared, name: str, n_components: int) -> PreparedView:
        """A prepared view as the estimator represents it: as features or as a kernel."""

    @abstractmethod
    def _check_settings(self) -> Any:
        """Raise ValueError for an invalid parameter."""

    @abstractmethod
    def fit_prepared(self, pair: PreparedPair) -> Self:
        """Learn the components from the result of `prepare`."""

    def prepare(self, X: MatrixLike, Y: MatrixLike, groups: Any = None) -> PreparedPair:
        """Training data checked and prepared for `fit_prepared`; models with other penalties can share them."""
        self._check_settings()
        X, Y, known = self._check_training(X, Y)
        return self.prepare_checked(X, Y, known, groups=Groups.of(groups, X.shape[0]))

    def prepare_checked(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        known: Known | None = None,
        x_view: Prepared | None = None,
        groups: Groups | None = None,
    ) -> PreparedPair:
        """`prepare` for data that are already checked; `x_view` is the result of `prepare_x` for the same X."""
        groups = Groups.of(None, X.shape[0]) if groups is None else groups
        n_components = self._check_n_components(X, Y)
        scales = {"X": self._scale_of(X, "X"), "Y": self._scale_of(Y, "Y")}
        preparing = replace(self._preparing(scales), groups=groups)
        preparing = replace(preparing, n_features=self._read_features(X, Y, n_components, preparing))
        report("preparing", 0, 1)
        samples = {"X": preparing.by_columns(X, "X"), "Y": preparing.by_columns(Y, "Y")}
        views = preparing.views(samples["X"], samples["Y"], x_view)
        return PreparedPair(
            views={name: self._view(view, name, n_components) for name, view in views.items()},
            samples=samples,
            dtypes={"X": X.dtype, "Y": Y.dtype},
            n_components=n_components,
            known=known or Known(X.shape[1], None, Y.shape[1], None),
            groups=groups,
            scales=scales,
            n_features=preparing.n_features,
        )

    def _read_features(
        self, X: MatrixLike, Y: MatrixLike, n_components: int, preparing: Preparing
    ) -> int | float | None:
        """How many features of a view to use, or which share of them; None for all."""
        return None if isinstance(self.n_features, str) else self.n_features

    def prepare_x(self, X: MatrixLike) -> Prepared:
        """The part of `prepare_checked` that depends on a checked X alone."""
        return self._preparing({"X": self._scale_of(X, "X")}).unweighted(X, "X")

    def _scale_of(self, data: MatrixLike, name: str) -> Scale:
        """How a view is scaled: as asked for or, if "auto", as suits the data.

        A kernel matrix, and a function that the user wrote as a kernel of rows as they are, leave only the norm.
        """
        asked = self._scales_asked()[name]
        if asked != "auto":
            return asked
        if name in self._dual_views and (self._is_precomputed(name) or callable(self._kernel().function)):
            return "rows"
        return suitable_scale(data)

    def _scales_asked(self) -> dict[str, Any]:
        """The scaling of every view, "auto" where the data decide."""
        pair = self.scale if isinstance(self.scale, tuple | list) and len(self.scale) == 2 else (self.scale,) * 2
        for name, each in zip("XY", pair, strict=True):
            check_choice(each, "scale", ("auto", *SCALES))
            if self._is_precomputed(name) and each != "auto" and scales_columns(each):
                raise ValueError(
                    f'scale="{each}" needs columns, and {name} is a kernel matrix, which has none; set "rows" or None.'
                )
        return dict(zip("XY", pair, strict=True))

    def _preparing(self, scales: Mapping[str, Scale]) -> Preparing:
        kernel, low_rank = self._kernel(), self._low_rank()
        return Preparing(
            kernels={} if kernel.linear and low_rank is None else dict.fromkeys(self._dual_views, kernel),
            low_rank=low_rank,
            center=self.center,
            scales=scales,
            weighted=self.feature_weights is not None,
            n_jobs=self.n_jobs,
        )

    def _set_views(self, pair: PreparedPair, weights: Sequence[np.ndarray], rotations: Sequence[np.ndarray]) -> None:
        """Store the result of a fit: weights and rotations of X and Y, and the projectors of new samples."""
        rotations = in_types(rotations, pair)
        projectors = {name: pair.views[name].projector(r) for name, r in zip("XY", rotations, strict=True)}
        self._begin(pair, projectors, in_types(weights, pair))
        self.x_rotations_, self.y_rotations_ = rotations

    def _begin(self, pair: PreparedPair, projectors: Mapping[str, Projector], weights: Sequence[np.ndarray]) -> None:
        """Replace an earlier fit by weights of X and Y and the projectors of new samples."""
        self._remember(pair.known)
        self.x_weights_, self.y_weights_ = weights
        self.x_scale_, self.y_scale_ = pair.scales["X"], pair.scales["Y"]
        self.n_components_ = self.x_weights_.shape[1]
        self._projectors = dict(projectors)
        self.x_preparation_, self.y_preparation_ = (self._projectors[name].preparation for name in "XY")
        self.x_feature_weights_ = getattr(self.x_preparation_, "feature_weights", None)
        self.y_feature_weights_ = getattr(self.y_preparation_, "feature_weights", None)
        for name, preparation in (("X", self.x_preparation_), ("Y", self.y_preparation_)):
            if isinstance(preparation, LowRankPreparation):
                setattr(self, f"{name.lower()}_kernel_error_", preparation.error)
                self._report_error(preparation, name)

    def _report_error(self, preparation: LowRankPreparation, name: str) -> None:
        rank, error = preparation.map.rank, preparation.error
        level = logging.INFO if getattr(self, "verbose", 0) else logging.DEBUG
        logger.log(level, "kernel of %s: rank %d, relative error %.2g", name, rank, error)
        if error > _LARGE_ERROR:
            warn(
                f"the kernel of {name} is approximated with a relative error of {error:.2g}, where {_LARGE_ERROR:g} is "
                f"small; raise the rank of LowRankKernel above {rank}, or choose a smoother kernel (rbf: a smaller "
                "gamma).",
                DataWarning,
            )

    # --- checks of user input --------------------------------------------------------------------------------------

    def _check_preparation(self) -> None:
        """Check the parameters that all estimators of two views have."""
        self._components_asked()
        check_flag(self.center, "center")
        self._scales_asked()
        check_n_jobs(self.n_jobs)
        self._kernel()
        self._low_rank()

    def _check_training(self, X: MatrixLike, Y: MatrixLike) -> tuple[Any, ...]:
        """Both views, checked, and what `_remember` needs of them at the end of the fit."""
        self._check_preparation()
        if remote_blocks_of((X, Y)):
            X, Y = remote_pair(X, Y, self._sums_suffice, f"a {type(self).__name__} with others")
            if remote_blocks_of((X, Y)):
                return X, Y, Known(X.shape[1], X.feature_names, Y.shape[1], Y.feature_names)
        pair = X, Y
        (X, x_features), (Y, y_features) = read_view(X, "X"), read_view(Y, "Y")
        check_same_samples(X, Y)
        check_row_labels(*pair)
        if X.shape[0] < 2:
            raise ValueError("X and Y must have at least 2 samples; got n_samples=1: pass more pairs.")
        for name, data in (("X", X), ("Y", Y)):
            if self._is_precomputed(name):
                check_kernel_matrix(data, name)
            elif self.center:
                warn_uninformative(data, name)
        self._check_n_components(X, Y)  # an error comes alone, without warnings
        if not any(map(self._is_precomputed, "XY")):
            warn_of_mistakes(X, Y, x_features, y_features)
        return X, Y, Known(x_features.count, x_features.names, y_features.count, y_features.names)

    @property
    def _sums_suffice(self) -> bool:
        """Whether a fit needs nothing but sums over samples."""
        return False

    def _remember(self, known: Known) -> None:
        """Delete the attributes of an earlier fit and store the features of both views.

        Called when nothing can fail any more, so that a failed fit leaves the model unchanged.
        """
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in (*fitted, "_projectors"):
            self.__dict__.pop(name, None)
        for field in fields(known):
            value = getattr(known, field.name)
            if value is not None:
                setattr(self, field.name, value)

    def _check_view(self, data: MatrixLike, name: str) -> Any:
        """New samples of a view as a matrix, checked as in `fit` and against the features of the training data."""
        remembered: dict[str, Any] = {field.name: getattr(self, field.name, None) for field in fields(Known)}
        matrix, features = read_view(data, name)
        features.check_same(Known(**remembered).of(name), name, type(self).__name__)
        return matrix

    def _check_weighting(self) -> None:
        check_choice(self.feature_weights, "feature_weights", ("shared", None))
        if self.n_features is None:
            return
        if isinstance(self.n_features, str) and self.n_features == "auto" and self._chooses_features:
            return
        if isinstance(self.n_features, float | np.floating):
            if not 0 < self.n_features <= 1:
                raise ValueError(
                    f"n_features must be an integer of at least 1 or a share above 0 and at most 1; got "
                    f"{shown(self.n_features)}."
                )
        else:
            check_count(self.n_features, "n_features")
        if self.feature_weights is None:
            raise ValueError("n_features chooses among weighted features; set feature_weights='shared' with it.")

    def _components_asked(self) -> int | None:
        """The requested number of components; None for as many as hold on pairs left out."""
        return check_count(self.n_components, "n_components")

    def _check_n_components(self, X: MatrixLike, Y: MatrixLike) -> int:
        n_components = self._components_asked()
        n = X.shape[0]
        bounds = {setting("n_samples - 1" if self.center else "n_samples", n - self.center): n - self.center}
        for name, data in (("X", X), ("Y", Y)):
            if name not in self._dual_views:
                bounds[f"{setting('n_features', data.shape[1])} of {setting(name)}"] = data.shape[1]
        reason, bound = min(bounds.items(), key=lambda item: item[1])
        if n_components is None:
            return min(bound, MOST_COMPONENTS)
        if n_components > bound:
            raise ValueError(
                f"`{setting('n_components')}` upper bound is {reason}. Got {n_components} instead. Reduce "
                f"`{setting('n_components')}`."
            )
        return n_components

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


def in_types(arrays: Sequence[np.ndarray], pair: PreparedPair) -> list[np.ndarray]:
    """An array for X and one for Y in the dtypes of the data and in C order, as in model files."""
    return [array.astype(pair.dtypes[name], order="C") for array, name in zip(arrays, "XY", strict=True)]


def _diagonal_of(K: MatrixLike) -> np.ndarray:
    return np.asarray(K.diagonal() if hasattr(K, "diagonal") else np.diag(np.asarray(K)))
