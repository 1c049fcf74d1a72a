"""Regularised kernel CCA, the baseline."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.linalg import eigh, svd
from sklearn.exceptions import ConvergenceWarning

from ..engine import warn
from ..views import FeatureView, Kernel, LinearKernelView, StoredKernelView, View
from ._base import PairedTransformer

__all__ = ["KernelCCA"]


class KernelCCA(PairedTransformer):
    """Kernel canonical correlation analysis of two paired views, regularised.

    Finds, one component after another, a and b that maximise a'K_x K_y b subject to

        a'((1 - r) K_x^2 + r K_x) a = 1,    b'((1 - r) K_y^2 + r K_y) b = 1,

    where r is the regularisation and K_x, K_y are the kernel matrices of the views, centred and scaled to unit norm.
    With linear kernels this is CCA with the covariances C replaced by (1 - r) C + r I: r = 0 is classical CCA and r = 1
    partial least squares. With K = U L U' the problem is one singular value decomposition of W_x U_x'U_y W_y with
    W = sqrt(L / ((1 - r) L + r)), on the eigenvalues above rounding error only, so singular kernels and more features
    than samples are no trouble.

    Parameters
    ----------
    n_components : int, default=2
    regularization : float, default=0.03
        r, from 0 to 1. The default is the paper's best value on its text.
    kernel, kernel_params : as for `SparseCCA`, of both views.
    center, normalize : bool, default=True
        Centre both views, and scale every sample to unit norm, in that order.
    n_jobs : int, optional
        Threads that compute a kernel that is not linear. The results do not depend on it.

    Attributes
    ----------
    n_components_ : int
        How many components were found; fewer than asked if a view has a smaller rank.
    x_weights_, y_weights_ : ndarray of shape (n_samples, n_components_)
        a_j and b_j, scaled as in the problem above; the sign makes the largest training score of X positive.
    x_rotations_, y_rotations_ : the same arrays: kernel CCA is not deflated.
    canonical_values_ : ndarray of shape (n_components_,)
        The maxima: canonical correlations for r = 0, shrunk ones otherwise.
    correlations_ : ndarray of shape (n_components_,)
        Cosine of the two training scores of each component.
    n_features_in_, n_features_y_, feature_names_in_, feature_names_y_ : as for `SparseCCA`.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
    >>> scca.KernelCCA(3, regularization=0.5).fit(X, Y).transform(X).shape
    (100, 3)
    """

    def __init__(
        self,
        n_components=2,
        *,
        regularization=0.03,
        kernel="linear",
        kernel_params=None,
        center=True,
        normalize=True,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.regularization = regularization
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.center = center
        self.normalize = normalize
        self.n_jobs = n_jobs

    @property
    def _dual_views(self):
        return ("X", "Y")

    def fit(self, X, Y):
        """Learn the components of paired samples; parameters as for `SparseCCA.fit`, kernel matrices if precomputed."""
        r, kernel = self._check_regularization(), self._kernel()
        X, Y = self._check_training(X, Y)
        n_components = self._check_n_components(X, Y)
        x_view, x_spectrum = self._decompose(X, kernel)
        y_view, y_spectrum = self._decompose(Y, kernel)
        x_gain, y_gain = x_spectrum.gain(r), y_spectrum.gain(r)
        cross = x_gain[:, None] * (x_spectrum.vectors.T @ y_spectrum.vectors) * y_gain
        left, values, right = svd(cross, full_matrices=False)

        self.n_components_ = min(n_components, len(values))
        if self.n_components_ < n_components:
            warn(
                f"a view has rank {len(values)}, so only that many of n_components={n_components} components exist; "
                f"set n_components={len(values)}.",
                ConvergenceWarning,
            )
        kept = slice(self.n_components_)
        self.canonical_values_ = values[kept]
        x_scores = x_spectrum.vectors @ (x_gain[:, None] * left[:, kept])
        y_scores = y_spectrum.vectors @ (y_gain[:, None] * right[kept].T)
        signs = np.sign(x_scores[np.abs(x_scores).argmax(axis=0), np.arange(self.n_components_)])
        x_scores, y_scores = x_scores * signs, y_scores * signs
        norms = np.linalg.norm(x_scores, axis=0) * np.linalg.norm(y_scores, axis=0)
        self.correlations_ = np.einsum("ij,ij->j", x_scores, y_scores) / norms
        self.x_weights_ = x_spectrum.coefficients(x_scores).astype(X.dtype)
        self.y_weights_ = y_spectrum.coefficients(y_scores).astype(Y.dtype)
        self.x_rotations_, self.y_rotations_ = self.x_weights_, self.y_weights_
        self._projectors = {"X": x_view.projector(self.x_rotations_), "Y": y_view.projector(self.y_rotations_)}
        return self

    def _check_regularization(self) -> float:
        r = self.regularization
        if isinstance(r, bool) or not isinstance(r, Real) or not 0 <= float(r) <= 1:
            raise ValueError(f"regularization must be a number from 0 to 1; got {r!r}: 0.03 is the default.")
        return float(r)

    def _decompose(self, data, kernel: Kernel) -> tuple[View, "Spectrum"]:
        preparation = {"center": self.center, "normalize": self.normalize}
        if kernel.linear:
            features = FeatureView.of(data, **preparation)
            return LinearKernelView(features), _linear_spectrum(features)
        view = StoredKernelView.of(data, kernel, n_jobs=self.n_jobs, **preparation)
        return view, _kernel_spectrum(view.columns(np.arange(data.shape[0])))


@dataclass(frozen=True)
class Spectrum:
    """K = U L U' without the eigenvalues that rounding error made."""

    vectors: np.ndarray
    values: np.ndarray

    def gain(self, r: float) -> np.ndarray:
        """W = sqrt(L / ((1 - r) L + r)): how much of each eigenvector the regularisation lets through."""
        return np.sqrt(self.values / ((1 - r) * self.values + r))

    def coefficients(self, scores: np.ndarray) -> np.ndarray:
        """a with K a = `scores`, for scores in the span of U."""
        return self.vectors @ ((self.vectors.T @ scores) / self.values[:, None])


def _linear_spectrum(features: FeatureView) -> Spectrum:
    n, m = features.shape
    if not features.is_sparse:  # singular values keep the digits that their squares would lose
        vectors, singular, _ = svd(features.columns(np.arange(m)), full_matrices=False)
        kept = singular > singular[0] * max(n, m) * np.finfo(np.float64).eps
        return Spectrum(vectors[:, kept], singular[kept] ** 2)
    if n <= m:
        return _kernel_spectrum(features.outer())
    everything = features.selection()
    everything.add(np.arange(m))
    covariance = _kernel_spectrum(everything.gram(0))
    vectors = np.column_stack([features.matvec(direction) for direction in covariance.vectors.T])
    return Spectrum(vectors / np.sqrt(covariance.values), covariance.values)


def _kernel_spectrum(matrix: np.ndarray) -> Spectrum:
    values, vectors = eigh(matrix)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    return Spectrum(vectors[:, kept], values[kept])
