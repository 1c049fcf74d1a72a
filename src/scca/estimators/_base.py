"""What both estimators share: fitted rotations of two views, and the scores of new samples."""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._frames import Features, check_row_labels, read_view
from .._validation import (
    check_count,
    check_flag,
    check_kernel_matrix,
    check_keywords,
    check_n_jobs,
    check_same_samples,
    shown,
    warn_uninformative,
)
from ..retrieval import average_precision
from ..views import Kernel, Projector

__all__ = ["Known", "PairedTransformer"]


@dataclass(frozen=True, eq=False)
class Known:
    """What a fit remembers of the features of both views, under the names of the attributes; no names, no attribute."""

    n_features_in_: int
    feature_names_in_: np.ndarray | None
    n_features_y_: int
    feature_names_y_: np.ndarray | None

    def of(self, name: str) -> Features:
        """The features of "X" or "Y"."""
        if name == "X":
            return Features(self.n_features_in_, self.feature_names_in_)
        return Features(self.n_features_y_, self.feature_names_y_)


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator of two paired views X and Y with a common space that samples of either are projected into.

    A subclass names its dual views (`_dual_views`), fits, and leaves `_projectors`, a projector a view.
    """

    _projectors: dict[str, Projector]
    _transformed = "X"  # the view that `transform` reads

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

    # --- what users hand in ----------------------------------------------------------------------------------------

    def _check_preparation(self) -> None:
        """The settings that all estimators of two views have."""
        check_count(self.n_components, "n_components")
        check_flag(self.center, "center")
        check_flag(self.normalize, "normalize")
        check_n_jobs(self.n_jobs)
        self._kernel()

    def _check_training(self, X, Y) -> tuple:
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

    def _check_view(self, data, name: str, *, reset: bool = False):
        """New samples of a view as a matrix, checked as `fit` would and against the features it was fitted with.

        `reset` is always False; it stays until no caller names it.
        """
        remembered: dict[str, Any] = {field.name: getattr(self, field.name, None) for field in fields(Known)}
        matrix, features = read_view(data, name)
        features.check_same(Known(**remembered).of(name), name, type(self).__name__)
        return matrix

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
        ndarray of shape (n, n_components_), or the frame that `set_output` asks for
        """
        return self._project(X, self._transformed, diagonal)

    def transform_y(self, Y, diagonal=None):
        """Scores of samples of the second view; parameters as for `transform`."""
        turned = copy(self)  # only what `transform` returns becomes the frame that `set_output` asks for
        turned._transformed = "Y"
        return turned.transform(Y, diagonal)

    def transform_pair(self, X, Y):
        """Scores of paired samples of both views: `transform(X), transform_y(Y)`."""
        check_row_labels(X, Y)
        X_scores, Y_scores = self.transform(X), self.transform_y(Y)
        check_same_samples(X_scores, Y_scores)
        return X_scores, Y_scores

    def fit_transform(self, X, y=None, **fit_params):
        """Fit to the pairs (y is the second view) and return the scores of X."""
        self.fit(X, y, **fit_params)
        return self.transform(X, diagonal=_diagonal_of(X) if self._is_precomputed("X") else None)

    def score(self, X, y):
        """Average precision of mate retrieval among the pairs X and y, both directions averaged; 1 is perfect."""
        check_row_labels(X, y)
        X_scores, Y_scores = self._project(X, "X"), self._project(y, "Y")
        check_same_samples(X_scores, Y_scores)
        return average_precision(X_scores, Y_scores).average_precision

    def _project(self, data, name: str, diagonal=None) -> np.ndarray:
        """Scores as an array, whatever `set_output` asks `transform` for."""
        check_is_fitted(self)
        data = self._check_view(data, name)
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


def _diagonal_of(K) -> np.ndarray:
    return np.asarray(K.diagonal() if hasattr(K, "diagonal") else np.diag(np.asarray(K)))
