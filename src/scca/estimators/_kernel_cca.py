"""Regularised kernel CCA, the dense baseline."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import svd
from sklearn.exceptions import ConvergenceWarning

from .._checks import shown, warn
from .._types import MatrixLike
from ..factors import PreparedPair, spectrum_of
from ..views import FeatureView, LinearKernelView, scales_columns
from ._base import PairedTransformer
from ._low_rank_kernel import LowRankKernel

__all__ = ["KernelCCA"]


class KernelCCA(PairedTransformer):
    """Regularised kernel canonical correlation analysis of two paired views.

    Finds, one component after another, a and b that maximise a'K_x K_y b subject to

        a'((1 - r) K_x^2 + r K_x) a = 1,    b'((1 - r) K_y^2 + r K_y) b = 1,

    where r is the regularisation and K_x, K_y are the kernel matrices of the views, centred and scaled; with
    `scale="columns"`, r K is multiplied by the mean of the diagonal of K, as if that were 1.
    With linear kernels this is CCA with the covariances C replaced by (1 - r) C + r I: r = 0 is classical CCA and r = 1
    partial least squares. With K = U L U' the problem is one singular value decomposition of W_x U_x'U_y W_y with
    W = sqrt(L / ((1 - r) L + r)), restricted to eigenvalues above rounding error, so that singular kernels and more
    features than samples are allowed.

    Parameters
    ----------
    n_components : int, default=2
    regularization : float, default=0.03
        r, from 0 to 1. The default is the paper's best value on its text.
    kernel, kernel_params : as for `SparseCCA`, of both views
    center, scale : as for `SparseCCA`
    feature_weights : "shared" or None, default=None
        Weight the features as `SparseCCA` does, before anything else. Not for a kernel that is not linear.
    n_features : int, optional
        How many features of each view to read, with "shared" feature weights; as for `SparseCCA`.
    n_jobs : int, optional
        Threads that compute a kernel that is not linear. The results do not depend on it.

    Attributes
    ----------
    n_components_ : int
        Number of components found; fewer than requested if a view has a smaller rank.
    x_weights_, y_weights_ : ndarray of shape (n_samples, n_components_)
        a_j and b_j, scaled as above; signs make the largest training score of X positive.
    x_rotations_, y_rotations_ : the same arrays: kernel CCA is not deflated.
    canonical_values_ : ndarray of shape (n_components_,)
        The maxima: canonical correlations for r = 0, shrunk ones otherwise.
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
        kernel: str | Callable[..., float] | LowRankKernel = "linear",
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        scale: Any = "auto",
        feature_weights: str | None = None,
        n_features: int | float | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.center = center
        self.scale = scale
        self.feature_weights = feature_weights
        self.n_features = n_features
        self.n_jobs = n_jobs

    @property
    def _dual_views(self) -> tuple[str, ...]:
        return ("X", "Y")

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn the components of paired samples; as for `SparseCCA.fit`, both kernel matrices if precomputed."""
        return self.fit_prepared(self.prepare(X, Y))

    def fit_prepared(self, pair: PreparedPair) -> Self:
        """Learn the components from the result of `prepare`."""
        r = self._check_settings()
        x_spectrum, y_spectrum = spectrum_of(pair.views["X"]), spectrum_of(pair.views["Y"])
        # scaled columns have samples of any norm, and r K is then a multiple of it; as they are, K counts as it is
        x_ridge, y_ridge = (
            r * pair.views[name].unit if scales_columns(pair.scales[name]) else r for name in pair.views
        )
        x_gain, y_gain = x_spectrum.gain(1 - r, x_ridge), y_spectrum.gain(1 - r, y_ridge)
        cross = x_gain[:, None] * (x_spectrum.vectors.T @ y_spectrum.vectors) * y_gain
        left, values, right = svd(cross, full_matrices=False)

        found = slice(min(pair.n_components, len(values)))
        if not len(values):
            raise ValueError("the kernel matrix of X or of Y has rank 0; pass kernels of samples that differ.")
        if len(values) < pair.n_components:
            warn(
                f"a view has rank {len(values)}, so only that many of n_components={pair.n_components} components "
                f"exist; set n_components={len(values)}.",
                ConvergenceWarning,
            )
        x_scores = x_spectrum.vectors @ (x_gain[:, None] * left[:, found])
        y_scores = y_spectrum.vectors @ (y_gain[:, None] * right[found].T)
        signs = np.sign(x_scores[np.abs(x_scores).argmax(axis=0), np.arange(x_scores.shape[1])])
        x_scores, y_scores = x_scores * signs, y_scores * signs
        weights = x_spectrum.coefficients(x_scores), y_spectrum.coefficients(y_scores)
        norms = np.linalg.norm(x_scores, axis=0) * np.linalg.norm(y_scores, axis=0)
        self._set_views(pair, weights, weights)
        self.canonical_values_ = values[found]
        self.correlations_ = np.einsum("ij,ij->j", x_scores, y_scores) / norms
        return self

    def _view(self, view: Any, name: str, n_components: int) -> Any:
        return LinearKernelView(view) if isinstance(view, FeatureView) else view

    def _check_settings(self) -> float:
        """The regularisation; raises ValueError for an invalid parameter."""
        self._check_weighting()
        r = self.regularization
        if isinstance(r, bool) or not isinstance(r, Real) or not 0 <= float(r) <= 1:
            raise ValueError(f"regularization must be a number from 0 to 1; got {shown(r)}: 0.03 is the default.")
        return float(r)
