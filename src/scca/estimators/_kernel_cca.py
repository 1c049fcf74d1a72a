"""Regularised kernel CCA, the dense baseline."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import svd
from sklearn.exceptions import ConvergenceWarning

from .._checks import check_count, shown, warn
from .._types import MatrixLike
from ..factors import Prepared, Reading, spectrum_of
from ..samples import Views
from ..views import FeatureView, LinearKernelView, PreparedView, scales_columns
from ._base import one_for_each
from ._multi_sparse_cca import KernelLike
from ._paired import PairedTransformer

__all__ = ["KernelCCA"]


class KernelCCA(PairedTransformer):
    """Regularised kernel canonical correlation analysis of two paired views.

    Finds, one component after another, a and b that maximise a'K_x K_y b subject to

        a'((1 - r) K_x^2 + r K_x) a = 1,    b'((1 - r) K_y^2 + r K_y) b = 1,

    where r is the regularisation and K_x, K_y are the kernel matrices of the views, centred and scaled; with
    `scale="columns"`, r K is multiplied by the mean diagonal of K, so that r means the same as if that were 1. With
    linear kernels this is CCA with the covariances C replaced by (1 - r) C + r I: r = 0 is classical CCA and r = 1
    partial least squares. With K = U L U' the problem is one singular value decomposition of W_x U_x'U_y W_y with W =
    sqrt(L / ((1 - r) L + r)), restricted to eigenvalues above rounding error, so that singular kernels and more
    features than samples are allowed.

    Parameters
    ----------
    n_components : int, default=2
    regularization : float, default=0.03
        r, from 0 to 1. The default is the best value for the text in the paper.
    kernel : a kernel, or a pair of them, default="linear"
        The kernel of both views, or those of X and Y; as for `SparseCCA`.
    center, scale : as for `SparseCCA`
    feature_weights : "shared" or None, default=None
        Weight the features first, as `SparseCCA` does; only with linear kernels.
    n_features : int, optional
        Number of features of each view to read, with "shared" feature weights; as for `SparseCCA`.
    n_jobs : int, optional
        Number of threads that compute a kernel that is not linear. The results do not depend on it.

    Attributes
    ----------
    n_components_ : int
        Number of components found; fewer than requested if a view has a smaller rank.
    x_weights_, y_weights_ : ndarray of shape (n_samples, n_components_)
        a_j and b_j, scaled as above; signs make the largest training score of X positive.
    x_rotations_, y_rotations_ : the same arrays, since kernel CCA is not deflated.
    canonical_values_ : ndarray of shape (n_components_,)
        The maxima: canonical correlations for r = 0, otherwise smaller values.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores of each component.
    x_kernel_error_, y_kernel_error_ : float
        With a `LowRankKernel`; as for `SparseCCA`.
    x_preparation_, y_preparation_, x_feature_weights_, y_feature_weights_ : as for `SparseCCA`
    n_features_in_, n_features_y_, feature_names_in_, feature_names_y_ : as for `SparseCCA`

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
    >>> scca.KernelCCA(3, regularization=0.5).fit(X, Y).transform(X).shape
    (100, 3)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        regularization: float = 0.03,
        kernel: KernelLike | tuple[KernelLike, KernelLike] = "linear",
        center: bool = True,
        scale: Any = "auto",
        feature_weights: str | None = None,
        n_features: int | float | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.center = center
        self.scale = scale
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.n_jobs = n_jobs

    def _are_dual(self, n_views: int) -> tuple[bool, ...]:
        return (True,) * n_views

    def _given_kernels(self, n_views: int) -> tuple[Any, ...]:
        return one_for_each(self.kernel, "kernel", n_views)

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn the components of paired samples; as for `SparseCCA.fit`, with two kernel matrices if precomputed."""
        return self._fit_pair(X, Y)

    def _settings(self, n_views: int = 2) -> "_Settings":
        r = self.regularization
        if isinstance(r, bool) or not isinstance(r, Real) or not 0 <= float(r) <= 1:
            raise ValueError(f"regularization must be a number from 0 to 1; got {shown(r)}: 0.03 is the default.")
        return _Settings(self._reading(n_views), check_count(self.n_components, "n_components"), float(r))

    def _bounded(self, settings: "_Settings", views: Views) -> "_Settings":
        return replace(settings, n_components=self._check_n_components(settings.n_components, views))

    def _prepare(self, views: Views, settings: "_Settings", first: PreparedView | None = None) -> Prepared:
        return self._prepared_with_chosen(views, settings, first)

    def _learn(self, prepared: Prepared, settings: "_Settings") -> Self:
        r, n_components = settings.regularization, settings.n_components
        views = [LinearKernelView(view) if isinstance(view, FeatureView) else view for view in prepared.views]
        x_spectrum, y_spectrum = map(spectrum_of, views)
        # scaled columns leave samples of any norm, so that r is multiplied by their mean square; otherwise r stays
        x_ridge, y_ridge = (
            r * view.unit if scales_columns(scale) else r
            for view, scale in zip(views, prepared.reading.scales, strict=True)
        )
        x_gain, y_gain = x_spectrum.gain(1 - r, x_ridge), y_spectrum.gain(1 - r, y_ridge)
        cross = x_gain[:, None] * (x_spectrum.vectors.T @ y_spectrum.vectors) * y_gain
        left, values, right = svd(cross, full_matrices=False)

        found = slice(min(n_components, len(values)))
        if not len(values):
            raise ValueError("the kernel matrix of X or of Y has rank 0; pass kernels of samples that differ.")
        if len(values) < n_components:
            warn(
                f"a view has rank {len(values)}, so only that many of n_components={n_components} components "
                f"exist; set n_components={len(values)}.",
                ConvergenceWarning,
            )
        x_scores = x_spectrum.vectors @ (x_gain[:, None] * left[:, found])
        y_scores = y_spectrum.vectors @ (y_gain[:, None] * right[found].T)
        signs = np.sign(x_scores[np.abs(x_scores).argmax(axis=0), np.arange(x_scores.shape[1])])
        x_scores, y_scores = x_scores * signs, y_scores * signs
        weights = x_spectrum.coefficients(x_scores), y_spectrum.coefficients(y_scores)
        norms = np.linalg.norm(x_scores, axis=0) * np.linalg.norm(y_scores, axis=0)
        self._store_rotations(prepared, views, weights, weights)
        self.canonical_values_ = values[found]
        self.correlations_ = np.einsum("ij,ij->j", x_scores, y_scores) / norms
        return self


@dataclass(frozen=True)
class _Settings:
    reading: Reading
    n_components: int
    regularization: float
