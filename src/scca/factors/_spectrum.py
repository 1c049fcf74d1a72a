"""The spectrum of a view: K = U L U', its samples' inner products, without eigenvalues that are rounding error."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import eigh, svd

from ..views import FeatureView, LinearKernelView, View

__all__ = ["Spectrum", "spectrum_of"]

_MOST_COPIED = 1 << 20  # entries of a wide dense view that are copied for their singular values


@dataclass(frozen=True, eq=False)
class Spectrum:
    """K = U L U': `vectors` U (n x rank), `values` L (rank,)."""

    vectors: np.ndarray
    values: np.ndarray

    def gain(self, variance: float, ridge: float) -> np.ndarray:
        """sqrt(L / (variance L + ridge)): how much of each eigenvector the regularisation keeps."""
        return np.sqrt(self.values / (variance * self.values + ridge))

    def coefficients(self, scores: np.ndarray) -> np.ndarray:
        """a with K a = `scores`, for scores in the span of U."""
        return self.vectors @ ((self.vectors.T @ scores) / self.values[:, None])


_found: WeakKeyDictionary[View, Spectrum] = WeakKeyDictionary()  # the factors and their dense weights need the same


def spectrum_of(view: View) -> Spectrum:
    """The spectrum of M M' for features, of M for a kernel; computed once for every view."""
    if isinstance(view, LinearKernelView):
        view = view.features
    if view not in _found:
        _found[view] = (
            _of_features(view) if isinstance(view, FeatureView) else _of_matrix(view.columns(np.arange(view.shape[0])))
        )
    return _found[view]


def _of_features(features: FeatureView) -> Spectrum:
    n, m = features.shape
    large = n < m and features.n_stored > _MOST_COPIED
    if not features.is_sparse and not large:  # singular values are more precise than the roots of their squares
        read = features.storage.read
        vectors, singular = _singular(features.columns(np.arange(m) if read is None else read))
        kept = singular > singular[0] * max(n, m) * np.finfo(np.float64).eps
        return Spectrum(vectors[:, kept], singular[kept] ** 2)
    if n <= m:
        return _of_matrix(features.outer())
    everything = features.selection()
    everything.add(np.arange(m))
    covariance = _of_matrix(everything.gram(0))
    return Spectrum(features.matmat(covariance.vectors) / np.sqrt(covariance.values), covariance.values)


def _singular(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and singular values."""
    try:
        vectors, singular, _ = svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:  # divide and conquer may fail to converge, on tables of zeros and ones for example
        vectors, singular, _ = svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return vectors, singular


def _of_matrix(matrix: np.ndarray) -> Spectrum:
    values, vectors = eigh(matrix)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    return Spectrum(vectors[:, kept], values[kept])
