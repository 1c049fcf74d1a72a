"""Estimators of two views X and Y, with the names and conventions of scikit-learn."""

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .._data import check_row_labels, check_same_samples
from .._types import MatrixLike
from ..retrieval import average_precision
from ._base import ViewsEstimator

__all__ = ["PairedTransformer"]


def _of_view(name: str, v: int) -> Any:
    """A property that gives what a fit stores of one view; it does not exist where a view has none."""

    def value(self: ViewsEstimator) -> Any:
        found = getattr(self, name)[v]
        if found is None and name in ("feature_names_", "kernel_errors_"):
            raise AttributeError(f"{type(self).__name__} has no such attribute for this view.")
        return found

    return property(value)


class PairedTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewsEstimator):
    """An estimator of two paired views X and Y; `x_weights_` is `weights_[0]`, and so on."""

    _transformed = 0  # the view that `transform` reads

    x_weights_, y_weights_ = _of_view("weights_", 0), _of_view("weights_", 1)
    x_loadings_, y_loadings_ = _of_view("loadings_", 0), _of_view("loadings_", 1)
    x_rotations_, y_rotations_ = _of_view("rotations_", 0), _of_view("rotations_", 1)
    x_scale_, y_scale_ = _of_view("scales_", 0), _of_view("scales_", 1)
    x_preparation_, y_preparation_ = _of_view("preparations_", 0), _of_view("preparations_", 1)
    x_feature_weights_, y_feature_weights_ = _of_view("feature_weights_", 0), _of_view("feature_weights_", 1)
    x_kernel_error_, y_kernel_error_ = _of_view("kernel_errors_", 0), _of_view("kernel_errors_", 1)
    n_features_in_, n_features_y_ = _of_view("n_features_", 0), _of_view("n_features_", 1)
    feature_names_in_, feature_names_y_ = _of_view("feature_names_", 0), _of_view("feature_names_", 1)

    @property
    def _dual_views(self) -> tuple[str, ...]:
        """Which of "X" and "Y" have weights on their samples."""
        return tuple(name for name, is_dual in zip("XY", self._are_dual(2), strict=True) if is_dual)

    def _fit_pair(self, X: MatrixLike, Y: MatrixLike, groups: Any = None) -> Self:
        return self._fit({"X": X, "Y": Y}, groups)

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
        return self._warned_scores(X, self._transformed, diagonal)

    def transform_y(self, Y: MatrixLike, diagonal: ArrayLike | None = None) -> Any:
        """Scores of samples of Y; parameters as for `transform`. Columns of a frame are called `sparsecca_y0` etc."""
        swapped = copy(self)  # scikit-learn wraps only the result of `transform` in the frame that `set_output` selects
        swapped._transformed = 1
        scores = swapped.transform(Y, diagonal)
        if hasattr(scores, "iloc") and hasattr(Y, "iloc"):  # scikit-learn 1.6 drops the row labels of a series
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
        return self.transform(X, diagonal=self._own_diagonal(X, 0))

    def score(self, X: MatrixLike, y: MatrixLike) -> float:
        """Average precision of mate retrieval among the pairs X and y, both directions averaged; 1 is perfect."""
        check_row_labels(X, y)
        X_scores, Y_scores = self.project(X, 0), self.project(y, 1)
        check_same_samples(X_scores, Y_scores)
        return average_precision(X_scores, Y_scores).average_precision

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
        if self._transformed == 0:
            return names
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}_y{i}" for i in range(len(names))], dtype=object)  # distinct from those of X

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed(0, 2)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.two_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
