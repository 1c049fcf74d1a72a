"""What both estimators share: fitted rotations of two views, and the scores of new samples."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._frames import check_row_labels, read_view
from .._types import MatrixLike
from .._validation import (
    DataWarning,
    check_choice,
    check_count,
    check_flag,
    check_kernel_matrix,
    check_keywords,
    check_same_samples,
    shown,
    warn_uninformative,
)
from .._wording import called, counted
from ..engine import check_n_jobs, warn
from ..retrieval import average_precision
from ..views import FeatureView, Kernel, PreparedView, Projector, StoredKernelView
from ._preparing import Known, PreparedPair, Preparing

__all__ = ["PairedTransformer"]

_MOST_COMPONENTS = 200  # where their number is left to the data


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of two paired views X and Y with a common space that samples of either are projected into.

    A subclass names its dual views (`_dual_views`), says how it looks at a prepared view (`_view`), fits what
    `_prepare` gives and leaves weights and rotations by `_set_views`.
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
        if not (isinstance(self.kernel, str) or callable(self.kernel)):
            raise ValueError(
                f'kernel must be a callable or one of the names of scikit-learn\'s kernels, or "precomputed"; got '
                f"{shown(self.kernel)}."
            )
        check_keywords(self.kernel_params, "kernel_params")
        return Kernel(self.kernel, self.kernel_params or {})

    def _is_precomputed(self, name: str) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed" and name in self._dual_views

    @abstractmethod
    def _view(self, view: FeatureView | StoredKernelView, name: str, n_components: int) -> PreparedView:
        """A prepared view as the estimator looks at it: as features or as a kernel."""

    @abstractmethod
    def _check_settings(self) -> Any:
        """Refuse what is wrong with the parameters."""

    @abstractmethod
    def fit_prepared(self, pair: PreparedPair) -> Self:
        """Learn the components of what `prepare` made of the data."""

    def prepare(self, X: MatrixLike, Y: MatrixLike) -> PreparedPair:
        """Training data checked and prepared, for `fit_prepared`; models with other penalties can share them."""
        self._check_settings()
        return self.prepare_checked(*self._check_training(X, Y))

    def prepare_checked(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        known: Known | None = None,
        x_view: FeatureView | StoredKernelView | None = None,
    ) -> PreparedPair:
        """`prepare` for parts of data that were checked before; `x_view` is what `prepare_x` made of the same X."""
        n_components = self._check_n_components(X, Y)
        preparing = replace(self._preparing(), n_features=self._read_features(X, Y, n_components))
        views = preparing.views(X, Y, x_view)
        return PreparedPair(
            views={name: self._view(view, name, n_components) for name, view in views.items()},
            samples={"X": X, "Y": Y},
            dtypes={"X": X.dtype, "Y": Y.dtype},
            n_components=n_components,
            known=known or Known(X.shape[1], None, Y.shape[1], None),
            n_features=preparing.n_features,
        )

    def _read_features(self, X: MatrixLike, Y: MatrixLike, n_components: int) -> int | float | None:
        """How many features of a view to read, or which share of them; None for all."""
        return None if isinstance(self.n_features, str) else self.n_features

    def prepare_x(self, X: MatrixLike) -> FeatureView | StoredKernelView:
        """What `prepare_checked` makes of a checked X, whatever it is paired with."""
        return self._preparing().unweighted(X, "X")

    def _preparing(self) -> Preparing:
        kernel = self._kernel()
        return Preparing(
            kernels={} if kernel.linear else dict.fromkeys(self._dual_views, kernel),
            center=self.center,
            normalize=self.normalize,
            weighted=self.feature_weights is not None,
            n_jobs=self.n_jobs,
        )

    def _set_views(self, pair: PreparedPair, weights: Sequence[np.ndarray], rotations: Sequence[np.ndarray]) -> None:
        """Begin what a fit leaves: weights and rotations of X and Y, and what turns new samples into scores."""
        self._begin(pair, pair.views, weights, rotations)
        self.x_rotations_, self.y_rotations_ = _in_types(rotations, pair)

    def _begin(
        self,
        pair: PreparedPair,
        views: Mapping[str, PreparedView],
        weights: Sequence[np.ndarray],
        directions: Sequence[np.ndarray],
    ) -> None:
        """Forget an earlier fit and keep weights of X and Y, and what projects new samples on `directions`."""
        x_directions, y_directions = _in_types(directions, pair)
        projectors = {"X": views["X"].projector(x_directions), "Y": views["Y"].projector(y_directions)}
        self._remember(pair.known)
        self.x_weights_, self.y_weights_ = _in_types(weights, pair)
        self.n_components_ = self.x_weights_.shape[1]
        self._projectors = projectors
        self.x_preparation_, self.y_preparation_ = (self._projectors[name].preparation for name in "XY")
        self.x_feature_weights_ = getattr(self.x_preparation_, "feature_weights", None)
        self.y_feature_weights_ = getattr(self.y_preparation_, "feature_weights", None)

    # --- what users hand in ----------------------------------------------------------------------------------------

    def _check_preparation(self) -> None:
        """The settings that all estimators of two views have."""
        self._components_asked()
        check_flag(self.center, "center")
        check_flag(self.normalize, "normalize")
        check_n_jobs(self.n_jobs)
        self._kernel()

    def _check_training(self, X: MatrixLike, Y: MatrixLike) -> tuple[Any, ...]:
        """Both views, checked, and what `_remember` is to be given of them once the fit has come to its end."""
        self._check_preparation()
        pair = X, Y
        (X, x_features), (Y, y_features) = read_view(X, "X"), read_view(Y, "Y")
        check_same_samples(X, Y)
        check_row_labels(*pair)
        if X.shape[0] < 2:
            raise ValueError("X and Y need at least 2 samples to vary; got n_samples=1: pass more pairs.")
        for name, data in (("X", X), ("Y", Y)):
            if self._is_precomputed(name):
                check_kernel_matrix(data, name)
            elif self.center:
                warn_uninformative(data, name)
        return X, Y, Known(x_features.count, x_features.names, y_features.count, y_features.names)

    def _remember(self, known: Known) -> None:
        """Forget all that an earlier fit left, and begin what this one leaves with the features of its views.

        To be called when nothing can fail any more, so that a fit that fails leaves the model as it was.
        """
        fitted = [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]
        for name in (*fitted, "_projectors"):
            self.__dict__.pop(name, None)
        for field in fields(known):
            value = getattr(known, field.name)
            if value is not None:
                setattr(self, field.name, value)

    def _check_view(self, data: MatrixLike, name: str) -> Any:
        """New samples of a view as a matrix, checked as `fit` would and against the features it was fitted with."""
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
        """How many components are asked for; None for as many as hold on pairs left out."""
        return check_count(self.n_components, "n_components")

    def _check_n_components(self, X: MatrixLike, Y: MatrixLike) -> int:
        n_components = self._components_asked()
        n = X.shape[0]
        bounds = {called("n_samples - 1" if self.center else "n_samples", n - self.center): n - self.center}
        for name, data in (("X", X), ("Y", Y)):
            if name not in self._dual_views:
                bounds[f"{called('n_features', data.shape[1])} of {called(name)}"] = data.shape[1]
        reason, bound = min(bounds.items(), key=lambda item: item[1])
        if n_components is None:
            return min(bound, _MOST_COMPONENTS)
        if n_components > bound:
            raise ValueError(
                f"`{called('n_components')}` upper bound is {reason}. Got {n_components} instead. Reduce "
                f"`{called('n_components')}`."
            )
        return n_components

    # --- the common space ------------------------------------------------------------------------------------------

    def transform(self, X: MatrixLike, diagonal: ArrayLike | None = None) -> Any:
        """Scores of samples of the first view in the common space.

        Parameters
        ----------
        X : {array, sparse matrix, data frame} of shape (n, n_features)
            New samples; with a precomputed kernel, their kernel with the training samples.
        diagonal : array of shape (n,), optional
            With a precomputed kernel and `normalize=True`: k(x, x) of every new sample, needed to scale it to unit
            norm. Without it the scores of a sample keep its own scale, which changes no ranking of or by it.

        Returns
        -------
        ndarray of shape (n, n_components_), or the frame that `set_output` asks for
        """
        scores = self.project(X, self._transformed, diagonal)
        if getattr(self._projectors[self._transformed].preparation, "blank", False) and not scores.any(axis=1).all():
            unread = np.flatnonzero(~scores.any(axis=1))
            warn(
                f"{self._transformed} has {counted(len(unread), 'sample')} without a feature that the model reads "
                f"(first: {unread[0]}); such scores are 0 and say nothing.",
                DataWarning,
            )
        return scores

    def transform_y(self, Y: MatrixLike, diagonal: ArrayLike | None = None) -> Any:
        """Scores of samples of the second view; parameters as for `transform`."""
        turned = copy(self)  # only what `transform` returns becomes the frame that `set_output` asks for
        turned._transformed = "Y"
        scores = turned.transform(Y, diagonal)
        if hasattr(scores, "iloc") and hasattr(Y, "iloc"):  # a series too, whose labels scikit-learn 1.6 leaves out
            scores.index = Y.index
        return scores

    def transform_pair(self, X: MatrixLike, Y: MatrixLike) -> tuple[Any, Any]:
        """Scores of paired samples of both views: `transform(X), transform_y(Y)`."""
        check_row_labels(X, Y)
        X_scores, Y_scores = self.transform(X), self.transform_y(Y)
        check_same_samples(X_scores, Y_scores)
        return X_scores, Y_scores

    def fit_transform(self, X: MatrixLike, y: MatrixLike = None, **fit_params: Any) -> Any:
        """Fit to the pairs (y is the second view) and return the scores of X."""
        self.fit(X, y, **fit_params)
        return self.transform(X, diagonal=_diagonal_of(X) if self._is_precomputed("X") else None)

    def score(self, X: MatrixLike, y: MatrixLike) -> float:
        """Average precision of mate retrieval among the pairs X and y, both directions averaged; 1 is perfect."""
        check_row_labels(X, y)
        X_scores, Y_scores = self.project(X, "X"), self.project(y, "Y")
        check_same_samples(X_scores, Y_scores)
        return average_precision(X_scores, Y_scores).average_precision

    def project(self, data: MatrixLike, name: str, diagonal: Any = None) -> np.ndarray:
        """Scores of samples of "X" or "Y" as an array, whatever `set_output` asks `transform` for."""
        check_is_fitted(self)
        data = self._check_view(data, name)
        if diagonal is not None:
            diagonal = self._check_diagonal(diagonal, name, data.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):  # found, and said, below
            scores = self._projectors[name](data, diagonal).astype(data.dtype, copy=False)
        if not np.isfinite(scores).all():
            raise ValueError(f"the scores of {name} leave the range of {data.dtype}: rescale {name}, or fit again.")
        return scores

    def _check_diagonal(self, diagonal: Any, name: str, n: int) -> np.ndarray:
        if not self._is_precomputed(name):
            raise ValueError(f"diagonal is only for a precomputed kernel, which {name} has not here; leave it out.")
        try:
            values = np.asarray(diagonal, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.shape != (n,) or not np.isfinite(values).all():
            raise ValueError(f"diagonal must be {n} finite numbers, k(x, x) of every sample; got {shown(diagonal)}.")
        return values

    # --- scikit-learn ----------------------------------------------------------------------------------------------

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


def _in_types(arrays: Sequence[np.ndarray], pair: PreparedPair) -> Iterator[np.ndarray]:
    """An array of X and one of Y in the types the data came in, and in the order that model files keep."""
    return (array.astype(pair.dtypes[name], order="C") for array, name in zip(arrays, "XY", strict=True))


def _diagonal_of(K: MatrixLike) -> np.ndarray:
    return np.asarray(K.diagonal() if hasattr(K, "diagonal") else np.diag(np.asarray(K)))
