"""What both estimators share: fitted rotations of two views, and the scores of new samples."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import (
    check_count,
    check_kernel_matrix,
    check_magnitude,
    check_matrix,
    check_same_samples,
    warn_uninformative,
)
from ..retrieval import average_precision
from ..views import FeatureView, Kernel, PreparedView, Projector, StoredKernelView
from ._preparing import PreparedPair, Preparing

__all__ = ["PairedTransformer"]


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of two paired views X and Y with a common space that samples of either are projected into.

    A subclass names its dual views (`_dual_views`), says how it looks at a prepared view (`_view`), fits what
    `_prepare` gives and leaves weights and rotations by `_set_views`.
    """

    _projectors: dict[str, Projector]

    @property
    @abstractmethod
    def _dual_views(self) -> tuple[str, ...]:
        """Which of "X" and "Y" are seen through the kernel."""

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self.kernel_params or {})

    def _is_precomputed(self, name: str) -> bool:
        return self.kernel == "precomputed" and name in self._dual_views

    @abstractmethod
    def _view(self, view: FeatureView | StoredKernelView, name: str, n_components: int) -> PreparedView:
        """A prepared view as the estimator looks at it: as features or as a kernel."""

    def _prepare(self, X, Y) -> PreparedPair:
        """Training data checked and prepared."""
        kernel = self._kernel()
        X, Y = self._check_training(X, Y)
        n_components = self._check_n_components(X, Y)
        preparing = Preparing(
            kernels={} if kernel.linear else dict.fromkeys(self._dual_views, kernel),
            center=self.center,
            normalize=self.normalize,
            weighted=self.feature_weights is not None,
            n_features=self.n_features,
            n_jobs=self.n_jobs,
        )
        views = preparing.views({"X": X, "Y": Y})
        return PreparedPair(
            views={name: self._view(view, name, n_components) for name, view in views.items()},
            dtypes={"X": X.dtype, "Y": Y.dtype},
            n_components=n_components,
        )

    def _set_views(self, pair: PreparedPair, weights: Sequence[np.ndarray], rotations: Sequence[np.ndarray]) -> None:
        """Keep the weights and rotations of X and Y, and what turns new samples into scores."""
        self.x_weights_, self.y_weights_ = _in_types(weights, pair)
        self.x_rotations_, self.y_rotations_ = _in_types(rotations, pair)
        self.n_components_ = self.x_rotations_.shape[1]
        self._projectors = {
            "X": pair.views["X"].projector(self.x_rotations_),
            "Y": pair.views["Y"].projector(self.y_rotations_),
        }
        self.x_preparation_, self.y_preparation_ = (self._projectors[name].preparation for name in "XY")
        self.x_feature_weights_ = getattr(self.x_preparation_, "feature_weights", None)
        self.y_feature_weights_ = getattr(self.y_preparation_, "feature_weights", None)

    # --- what users hand in ----------------------------------------------------------------------------------------

    def _check_training(self, X, Y):
        """Both views, checked; their numbers and names of features are remembered."""
        X = self._check_view(X, "X", reset=True)
        Y = self._check_view(Y, "Y", reset=True)
        check_same_samples(X, Y)
        if X.shape[0] < 2:
            raise ValueError("X and Y need at least 2 samples to vary; got n_samples=1: pass more pairs.")
        for name, data in (("X", X), ("Y", Y)):
            check_magnitude(data, name)
            if self._is_precomputed(name):
                check_kernel_matrix(data, name)
            elif self.center:
                warn_uninformative(data, name)
        return X, Y

    def _check_view(self, data, name: str, *, reset: bool):
        """One view, checked against what is known of its features, or, with `reset`, becoming what is known."""
        checked = check_matrix(data if name == "X" else _two_dimensional(data), name)
        if name == "X":
            validate_data(self, data, skip_check_array=True, reset=reset)  # as scikit-learn keeps them
            return checked
        names = _column_names(data)
        if reset:
            self.n_features_y_ = checked.shape[1]
            self.__dict__.pop("feature_names_y_", None)
            if names is not None:
                self.feature_names_y_ = names
        elif checked.shape[1] != self.n_features_y_:
            raise ValueError(
                f"Y has {checked.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_y_} "
                "features as input: pass the features it was fitted with."
            )
        elif names is not None and not np.array_equal(names, getattr(self, "feature_names_y_", names)):
            raise ValueError(
                "The feature names of Y should match those that were passed during fit: pass the same columns in the "
                "same order."
            )
        return checked

    def _check_weighting(self) -> None:
        if self.feature_weights not in (None, "shared"):
            raise ValueError(f"feature_weights must be 'shared' or None; got {self.feature_weights!r}.")
        if self.n_features is not None:
            check_count(self.n_features, "n_features")
            if self.feature_weights is None:
                raise ValueError("n_features chooses among weighted features; set feature_weights='shared' with it.")

    def _check_n_components(self, X, Y) -> int:
        n_components = check_count(self.n_components, "n_components")
        n = X.shape[0]
        bounds = {f"n_samples{' - 1' if self.center else ''}={n - self.center}": n - self.center}
        if "X" not in self._dual_views:
            bounds[f"n_features={X.shape[1]} of X"] = X.shape[1]
        if "Y" not in self._dual_views:
            bounds[f"n_features={Y.shape[1]} of Y"] = Y.shape[1]
        reason, bound = min(bounds.items(), key=lambda item: item[1])
        if n_components > bound:
            raise ValueError(
                f"`n_components` upper bound is {reason}. Got {n_components} instead. Reduce `n_components`."
            )
        return n_components

    # --- the common space ------------------------------------------------------------------------------------------

    def transform(self, X, diagonal=None):
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
        ndarray of shape (n, n_components_)
        """
        return self._project(X, "X", diagonal)

    def transform_y(self, Y, diagonal=None):
        """Scores of samples of the second view; parameters as for `transform`."""
        return self._project(Y, "Y", diagonal)

    def transform_pair(self, X, Y):
        """Scores of paired samples of both views: `transform(X), transform_y(Y)`."""
        X_scores, Y_scores = self._project(X, "X"), self._project(Y, "Y")
        check_same_samples(X_scores, Y_scores)
        return X_scores, Y_scores

    def fit_transform(self, X, y=None, **fit_params):
        """Fit to the pairs (y is the second view) and return the scores of X."""
        self.fit(X, y, **fit_params)
        return self.transform(X, diagonal=_diagonal_of(X) if self._is_precomputed("X") else None)

    def score(self, X, y):
        """Average precision of mate retrieval among the pairs X and y, both directions averaged; 1 is perfect."""
        return average_precision(*self.transform_pair(X, y)).average_precision

    def _project(self, data, name: str, diagonal=None) -> np.ndarray:
        check_is_fitted(self)
        data = self._check_view(data, name, reset=False)
        if diagonal is not None:
            diagonal = self._check_diagonal(diagonal, name, data.shape[0])
        return self._projectors[name](data, diagonal).astype(data.dtype, copy=False)

    def _check_diagonal(self, diagonal, name: str, n: int) -> np.ndarray:
        if not self._is_precomputed(name):
            raise ValueError(f"diagonal is only for a precomputed kernel, which {name} has not here; leave it out.")
        diagonal = np.asarray(diagonal, dtype=np.float64)
        if diagonal.shape != (n,) or not np.isfinite(diagonal).all():
            raise ValueError(f"diagonal must be {n} finite numbers, k(x, x) of every sample; got {diagonal!r}.")
        return diagonal

    # --- scikit-learn ----------------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed("X")
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _in_types(arrays: Sequence[np.ndarray], pair: PreparedPair) -> Iterator[np.ndarray]:
    """An array of X and one of Y in the types the data came in."""
    return (array.astype(pair.dtypes[name]) for array, name in zip(arrays, "XY", strict=True))


def _column_names(data) -> np.ndarray | None:
    columns = getattr(data, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return np.asarray(columns, dtype=object)


def _two_dimensional(Y):
    """A single column may come as a vector, as scikit-learn's targets do."""
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None: pass Y, the second view of the samples.")
    if not (hasattr(Y, "columns") or sp.issparse(Y)):
        Y = np.asarray(Y)
    return Y.reshape(-1, 1) if Y.ndim == 1 else Y


def _diagonal_of(K) -> np.ndarray:
    return np.asarray(K.diagonal() if hasattr(K, "diagonal") else np.diag(np.asarray(K)))
