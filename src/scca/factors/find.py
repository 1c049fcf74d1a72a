"""Finding and rotating: the scores that all views predict best, by regularised CCA, in simple structure."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular, svd
from scipy.linalg.blas import dsymm, dtrmm
from scipy.linalg.lapack import dpstrf
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ..parallel import (
    inner,
    invert_by_triangle,
    leading_eigh,
    map_threads,
    one_blas_thread,
    parts,
    times,
    triangle_of,
    whiten_by_triangle,
)
from ..samples import column_blocks, remote_blocks_of
from ..views import FeatureView, LinearKernelView, PreparedView, PrimalView, View
from . import constants
from ._lanczos import leading_eigenvectors
from .products import PooledScores, Scores, inner_products

if TYPE_CHECKING:
    from .settings import Settings

__all__ = [
    "Rotation",
    "SharedFactors",
    "Spectrum",
    "equalized",
    "factors_by_spectra",
    "features_of",
    "is_large",
    "of_many",
    "of_two",
    "orthonormal",
    "ridge_of",
    "simple_structure",
    "spectrum_of",
    "varimax",
    "with_orthonormal_scores",
]

_FEW = 3000  # maximum number of samples, or of features of a view, for which its full spectrum is computed
_FEW_FOR_SPECTRA = 200  # maximum number of samples or features for which a spectrum takes no time worth saving
_WIDE = 0.75  # features per sample from which on kernels are faster than covariances of features
_MOST_CONDITION = 1e6  # largest condition number of a kernel with its ridge whose inverse is precise enough
_LEAST_REGRESSION = 10.0  # what is added to regressions, so that they are definite, in units of rounding error
_MOST_ENTRIES = 1 << 27  # maximum number of entries of all eigenvectors, which are dense
_LARGE_EIGENPROBLEM = 5000  # size of an eigenproblem from which on blocks of vectors are faster than single ones
_SIZE_PER_COMPONENT = 30  # size per component from which on an iteration is faster than a decomposition
_TOLERANCE = 1e-3  # largest relative residual of a factor; the error of sigma is about the square of that
_SEED = 0
_ROWS = 1024  # number of rows of a product per task of a thread
_MANY, _MANY_PER_COMPONENT = 2000, 40  # smallest numbers of features for which an iteration is faster
_MOST_COPIED = 1 << 20  # maximum number of entries of a wide dense view that are copied for singular values
_MAX_ROTATIONS = 1000
_LEAST_GAIN = 1e-7  # smallest relative gain of the criterion in an iteration that continues
_ROTATED_ROWS = 2048  # number of rows of loadings per task of a thread
_FEW_FACTORS = 32  # maximum number of factors whose fourth moments take little memory


@dataclass(frozen=True, eq=False)
class SharedFactors:
    """The leading solutions of the symmetric problem over views A_v (n x m_v), C_vu = A_v'A_u,

        sum over u != v of  C_vu w_u  =  sigma (C_vv + lambda_v I) w_v      for every view v.

    Attributes
    ----------
    scores : ndarray or PooledScores of shape (n, c)
        T, the pooled scores t = sum_v A_v w_v, orthonormalised in order.
    values : ndarray of shape (c,)
        Every sigma, largest first. For two views and lambda = r / (1 - r), sigma is 1 - r times the canonical value of
        kernel CCA with the regularisation r.
    residuals : ndarray of shape (c,)
        Residual norm of each solution relative to the right side of the equation, recomputed at the end.
    converged : ndarray of bool of shape (c,)
        Whether the residual is at most 1e-3.
    """

    scores: Scores
    values: np.ndarray
    residuals: np.ndarray

    @property
    def converged(self) -> np.ndarray:
        return self.residuals <= _TOLERANCE

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, for a checkpoint."""
        pooled = isinstance(self.scores, PooledScores)
        scores = self.scores.weights if isinstance(self.scores, PooledScores) else [self.scores]
        return {"values": self.values, "residuals": self.residuals, "pooled": np.array(pooled)} | {
            f"scores_{v}": part for v, part in enumerate(scores)
        }

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray], views: Sequence[View]) -> "SharedFactors":
        """The inverse of `arrays`, for the same views."""
        scores: Scores = stored["scores_0"]
        if stored["pooled"]:
            scores = PooledScores(views, [stored[f"scores_{v}"] for v in range(len(views))])
        return cls(scores, stored["values"], stored["residuals"])


def ridge_of(settings: "Settings", view: View) -> float:
    """lambda of one view; an automatic one is a multiple of the mean squared norm of its samples."""
    return settings.ridge * getattr(view, "unit", 1.0) if settings.ridge_is_automatic else settings.ridge


def is_large(views: Sequence[View]) -> bool:
    """Whether factors are found by products with features, not by spectra."""
    features = [view for view in map(features_of, views) if view is not None]
    ranks = [min(view.shape) for view in features]
    large = max(ranks, default=0) > _FEW or views[0].shape[0] * sum(ranks) > _MOST_ENTRIES
    return bool(large or remote_blocks_of(views)) and len(features) == len(views)


def features_of(view: View) -> PrimalView | None:
    """The features of a view; None for a kernel that is not linear."""
    if isinstance(view, LinearKernelView):
        return view.features
    return view if isinstance(view, PrimalView) else None


def factors_by_spectra(views: Sequence[View], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Up to `n_components` factors of two or more views; fewer if the views share fewer.

    With any square root of C_vv + lambda and w_v = (C_vv + lambda)^-1/2 z_v the problem is an ordinary one,

    sum over u != v of  G_v'G_u z_u = sigma z_v,    G_v = A_v (C_vv + lambda)^-1/2.
    """
    if len(views) == 2 and (found := _of_two_wide(views, n_components, ridges)) is not None:
        return found
    whitened = [_whitened(view, ridge) for view, ridge in zip(views, ridges, strict=True)]
    G = np.hstack(whitened)
    ends = np.cumsum([0, *(part.shape[1] for part in whitened)])
    blocks = [slice(*pair) for pair in pairwise(ends)]
    n_components = min(n_components, *(part.shape[1] for part in whitened))
    if not n_components:  # a view that does not vary
        return SharedFactors(np.empty((len(G), 0)), np.empty(0), np.empty(0))

    def products(z: np.ndarray) -> np.ndarray:
        scores = times(G, z)
        found = times(G.T, scores)
        for block, part in zip(blocks, whitened, strict=True):  # no view predicts itself
            found[block] -= times(part.T, times(part, z[block]))
        return found

    def matrix() -> np.ndarray:
        found = G.T @ G
        for block in blocks:
            found[block, block] = 0.0
        return found

    if len(views) == 2:
        values, Z = of_two(G[:, blocks[0]].T @ G[:, blocks[1]], n_components)
    else:
        values, Z = of_many(products, matrix, G.shape[1], n_components)
        rounding = len(G) * np.finfo(np.float64).eps  # G_v'G_v is at most 1
        values = np.where(np.abs(values) > rounding, values, 0.0)
    order = np.argsort(-values, kind="stable")
    values, Z = values[order], Z[:, order]
    residuals = np.linalg.norm(products(Z) - values * Z, axis=0) / np.maximum(np.abs(values), np.finfo(float).tiny)
    return with_orthonormal_scores(G @ Z, values, residuals)


def _of_two_wide(views: Sequence[View], n_components: int, ridges: Sequence[float]) -> SharedFactors | None:
    """The factors of two views with many features; None if a view has few, or rounding errors forbid it.

    With the regressions H_v = G_v G_v' on the views, the scores s_v = G_v z_v solve H_1 H_2 s_1 = sigma^2 s_1. For a
    triangle F with F F' = H_2, s_2 = F y with F'H_1 F y = sigma^2 y. This takes half as long as whitening.
    """
    regressions = []
    with one_blas_thread():  # the same order of sums for any number of threads
        for view, ridge in zip(views, ridges, strict=True):
            if (regression := _regression_on(view, ridge)) is None:
                return None
            regressions.append(regression)
        H, other = regressions
        rounding = len(H) * np.finfo(np.float64).eps
        other.flat[:: len(H) + 1] += _LEAST_REGRESSION * rounding  # centred samples have a regression of 0 on a view
        try:
            F = triangle_of(other)
            squares, Y = leading_eigh(whiten_by_triangle(H.copy(), F), n_components)
        except np.linalg.LinAlgError:
            return None
        values = np.sqrt(np.where(squares > 2.0 * _LEAST_REGRESSION * rounding, squares, 0.0))
        second = dtrmm(1.0, F.T, Y, trans_a=1)
        first = dsymm(1.0, H.T, second)
        nonzero = np.where(values > 0, values, 1.0)
        residuals = np.linalg.norm(dtrmm(1.0, F.T, first) - values**2 * Y, axis=0) / nonzero**2
        return with_orthonormal_scores(second + first / nonzero, values, residuals)


def _regression_on(view: View, ridge: float) -> np.ndarray | None:
    """The lower half of H = K (K + ridge)^-1, K = A A', if there are many features and the ridge is not tiny."""
    features = features_of(view)
    n, m = view.shape[0], 0 if features is None else features.shape[1]
    if not isinstance(features, FeatureView) or n <= _FEW_FOR_SPECTRA or m < _WIDE * n:
        return None
    H = features.outer()
    if np.trace(H) > _MOST_CONDITION * ridge:
        return None
    H.flat[:: n + 1] += ridge
    H = invert_by_triangle(triangle_of(H))
    H *= -ridge
    H.flat[:: n + 1] += 1.0
    return H


def _whitened(view: View, ridge: float) -> np.ndarray:
    """G (n x rank), with G G' = A (A'A + ridge)^-1 A', the regression on a view.

    With the spectrum U L U' of A A', G = U sqrt(L / (L + ridge)). For more than a few samples, triangles take a tenth
    of the time of a spectrum: with A A' = R R' and R'R + ridge = T T', G = R T'^-1.
    """
    if min(view.shape) > _FEW_FOR_SPECTRA and (root := _root_of(view)) is not None:
        square = root.T @ root
        square[np.diag_indices_from(square)] += ridge
        try:
            triangle = cholesky(square, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # the ridge is below rounding error
            pass
        else:
            return solve_triangular(triangle, root.T, lower=True, check_finite=False).T
    spectrum = spectrum_of(view)
    return spectrum.vectors * spectrum.gain(1.0, ridge)


def _root_of(view: View) -> np.ndarray | None:
    """R (n x rank) with R R' = A A' for features A: A itself, if it is narrow; R R' = K for a kernel K.

    None if rounding errors make the kernel indefinite.
    """
    features = features_of(view)
    if features is not None and features.shape[1] <= features.shape[0]:
        read = features.varying
        return features.columns(read)
    K = features.outer() if isinstance(features, FeatureView) else view.columns(np.arange(view.shape[0]))
    factor, order, rank, _ = dpstrf(K, lower=1, overwrite_a=1)
    if not rank:
        return None
    root = np.empty((len(K), rank))
    root[order - 1] = np.tril(factor)[:, :rank]
    return root


def with_orthonormal_scores(pooled: Scores, values: np.ndarray, residuals: np.ndarray) -> SharedFactors:
    """The factors with orthonormal scores, without the directions that the views do not share."""
    positive = values > np.finfo(np.float64).eps * len(pooled) * values.max(initial=0.0)
    pooled = pooled @ np.eye(len(values))[:, positive] if isinstance(pooled, PooledScores) else pooled[:, positive]
    return SharedFactors(orthonormal(pooled), values[positive], residuals[positive])


def orthonormal(pooled: Scores) -> Scores:
    """The columns orthonormalised in order.

    Scores that are not stored use the Cholesky factor of their inner products. It is precise enough, since for
    solutions of the problem above they are at least diag(sigma): w_i'L w_j = sigma_i if i = j, and otherwise 0.
    """
    if isinstance(pooled, PooledScores):
        L = np.linalg.cholesky(inner_products(pooled, pooled))
        return pooled @ solve_triangular(L, np.eye(len(L)), lower=True).T
    T, R = np.linalg.qr(pooled)
    return T * np.sign(np.diag(R))


def of_two(M: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """The solutions for two views: pairs of singular vectors of M, found from the smaller of its two products."""
    is_tall = M.shape[0] > M.shape[1]
    M = np.ascontiguousarray(M.T if is_tall else M)
    squares, U = _leading_by_iteration(M, n_components) or _leading_by_decomposition(M, n_components)
    rounding = len(M) * np.finfo(M.dtype).eps * squares.max(initial=0.0)
    values = np.sqrt(np.where(squares > rounding, squares, 0.0))
    V = M.T @ U / np.where(values > 0, values, 1.0)
    return values, np.vstack([V, U] if is_tall else [U, V]) / np.sqrt(2.0)


def of_many(
    multiply: Callable[[np.ndarray], np.ndarray], matrix: Callable[[], np.ndarray], size: int, n_components: int
) -> tuple[np.ndarray, np.ndarray]:
    """The solutions for more than two views: the largest eigenvalues, and their vectors, of the whitened covariances.

    Their matrix B has zeros for every view with itself, where its covariances would be at most the identity, so that
    B + 1 is positive semi-definite. `multiply` returns B V for a block V, `matrix` B itself, whose lower half counts.
    """
    if size >= max(_LARGE_EIGENPROBLEM, _MANY_PER_COMPONENT * n_components):
        with one_blas_thread():  # the same order of sums for any number of threads
            found = leading_eigenvectors(lambda V: multiply(V) + V, size, n_components)
        if found is not None:
            return found[0] - 1.0, found[1]
    elif size >= _SIZE_PER_COMPONENT * n_components:
        start = np.random.default_rng(_SEED).standard_normal(size)
        operator = LinearOperator((size, size), matvec=lambda z: multiply(z.reshape(-1, 1)), dtype=np.float64)
        with suppress(ArpackError):  # of views that share nothing, every vector has the product 0
            values, Z = eigsh(operator, k=n_components, which="LA", v0=start)
            return values[::-1], Z[:, ::-1]
    values, Z = eigh(matrix(), lower=True, overwrite_a=True, subset_by_index=(size - n_components, size - 1))
    return values[::-1], Z[:, ::-1]


def _leading_by_iteration(M: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The largest eigenvalues of M M' and their vectors by an iteration; None if it is slower or does not converge."""
    if len(M) < max(_MANY, _MANY_PER_COMPONENT * count):
        return None
    with one_blas_thread():  # the same order of sums for any number of threads
        return leading_eigenvectors(lambda V: times(M, times(M.T, V)), len(M), count)


def _leading_by_decomposition(M: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of M M' and their vectors, by a decomposition."""
    size = len(M)
    product = np.zeros((size, size), dtype=M.dtype)

    def multiply(rows: slice) -> None:
        product[rows, : rows.stop] = M[rows] @ M[: rows.stop].T  # the lower half alone

    map_threads(multiply, parts(0, size, _ROWS))
    return leading_eigh(product, count)


# --- spectra ----------------------------------------------------------------------------------------------------------


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


_spectra: WeakKeyDictionary[View, Spectrum] = WeakKeyDictionary()  # factors and dense weights need the same spectra


def spectrum_of(view: View) -> Spectrum:
    """The spectrum of M M' for features or of M for a kernel, computed once for every view."""
    if isinstance(view, LinearKernelView):
        view = view.features
    if view not in _spectra:
        _spectra[view] = (
            _feature_spectrum(view)
            if isinstance(view, FeatureView)
            else _matrix_spectrum(view.columns(np.arange(view.shape[0])))
        )
    return _spectra[view]


def _feature_spectrum(features: FeatureView) -> Spectrum:
    n, m = features.shape
    large = n < m and features.n_stored > _MOST_COPIED
    if not features.is_sparse and not large:  # singular values are more precise than the roots of their squares
        read = features.storage.read
        vectors, singular = _left_singular_vectors(features.columns(np.arange(m) if read is None else read))
        kept = singular > singular.max(initial=0.0) * max(n, m) * np.finfo(np.float64).eps
        return Spectrum(vectors[:, kept], singular[kept] ** 2)
    if n <= m:
        return _matrix_spectrum(features.outer())
    everything = features.selection()
    everything.add(np.arange(m))
    covariance = _matrix_spectrum(everything.gram(0))
    return Spectrum(features.matmat(covariance.vectors) / np.sqrt(covariance.values), covariance.values)


def _left_singular_vectors(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and singular values."""
    try:
        vectors, singular, _ = svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:  # divide and conquer may fail to converge, on tables of zeros and ones for example
        vectors, singular, _ = svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return vectors, singular


def _matrix_spectrum(matrix: np.ndarray) -> Spectrum:
    values, vectors = eigh(matrix)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    return Spectrum(vectors[:, kept], values[kept])


# --- rotation to simple structure -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rotation:
    """An orthogonal matrix (c x c), and whether the iteration that found it converged."""

    matrix: np.ndarray
    converged: bool

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, for a checkpoint."""
        return {"matrix": self.matrix, "converged": np.array(self.converged)}

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray]) -> "Rotation":
        return cls(stored["matrix"], bool(stored["converged"]))


def simple_structure(views: Sequence[PreparedView], correlations: Sequence[np.ndarray], values: np.ndarray) -> Rotation:
    """The rotation of factors T with orthogonal columns of norms `values`; the longest rotated column comes first.

    `correlations` are A_v'T of every view. Signs make the few large loadings of a factor positive.
    """
    # divide each view by its unit, so that the view with the larger numbers does not decide alone
    found = [each / np.sqrt(view.unit) for view, each in zip(views, correlations, strict=True)]
    loadings = np.vstack(
        [each[view.varying] if isinstance(view, PrimalView) else each for view, each in zip(views, found, strict=True)]
    )
    rotation = varimax(equalized(loadings))
    sizes = np.linalg.norm(values[:, None] * rotation.matrix, axis=0)  # norms of the columns of T R
    R = rotation.matrix[:, np.argsort(-sizes, kind="stable")]
    skewness = sum(np.sum((loadings[rows] @ R) ** 3, axis=0) for rows in column_blocks(*loadings.shape[::-1]))
    return Rotation(R * np.where(skewness < 0, -1.0, 1.0), rotation.converged)


def equalized(loadings: np.ndarray) -> np.ndarray:
    """Rows scaled to about unit norm (Kaiser's normalisation), so that large features do not dominate the rotation.

    Small rows stay small: row / sqrt(||row||^2 + 0.1 times the mean of ||row||^2).
    """
    squares = np.einsum("ij,ij->i", loadings, loadings)
    damped = squares + constants.ROW_DAMPING * squares.mean()
    return loadings / np.sqrt(np.where(damped > 0, damped, 1.0))[:, None]


def varimax(loadings: np.ndarray) -> Rotation:
    """The rotation R that maximises the variance of the squared entries of each column of `loadings` R, summed.

    With B = loadings R, the gradient of the criterion is 4 loadings'(B^3 - B diag(mean B^2)), and a plain step goes to
    the orthogonal matrix nearest to it, which never decreases the criterion. As gradients change steadily, a step
    to the matrix nearest to the gradient plus its last change gets further. If such a step gains nothing, the next step
    is a plain one from where the criterion was largest.
    """
    n_rows, n_factors = loadings.shape
    loadings = loadings[loadings.any(axis=1)]  # rows of zeros, of features that are not read, only count in means
    R = np.eye(n_factors)
    if not len(loadings):
        return Rotation(R, True)
    by_moments = n_factors <= _FEW_FACTORS and n_factors**3 < len(loadings)  # then an iteration costs less
    best, largest, before = R, -np.inf, None  # where the criterion was largest, and the gradient there
    is_plain = True
    with one_blas_thread():  # the same order of sums for any number of threads
        gradient_at = (_gradient_by_moments if by_moments else _gradient_by_rows)(loadings, n_rows)
        for _ in range(_MAX_ROTATIONS):
            gradient = gradient_at(R)
            criterion = float(np.sum(R * gradient))  # the criterion times the number of rows
            if before is None or criterion - largest > _LEAST_GAIN * criterion:
                direction = gradient if before is None else 2.0 * gradient - before
                is_plain = before is None
                best, largest, before = R, criterion, gradient
            elif is_plain:
                return Rotation(best, True)
            else:
                direction, is_plain = before, True
            U, _, V = np.linalg.svd(direction)
            R = U @ V
    return Rotation(best, False)


def _gradient_by_rows(loadings: np.ndarray, n_rows: int) -> Callable[[np.ndarray], np.ndarray]:
    """The gradient as a function of R; means are over `n_rows`, since all other rows are zero."""
    own = inner(loadings, loadings)

    def gradient(R: np.ndarray) -> np.ndarray:
        mean = np.einsum("ij,ij->j", R, own @ R) / n_rows  # means of the columns of B^2

        def of_rows(rows: slice) -> np.ndarray:
            B = loadings[rows] @ R
            return loadings[rows].T @ (B * (B * B - mean))

        first, *others = map_threads(of_rows, parts(0, len(loadings), _ROTATED_ROWS))
        return sum(others, start=first)

    return gradient


def _gradient_by_moments(loadings: np.ndarray, n_rows: int) -> Callable[[np.ndarray], np.ndarray]:
    """The gradient as a function of R, from the fourth moments of the rows, sums of l_a l_b l_c l_d."""
    c = loadings.shape[1]
    first, second = np.triu_indices(c)
    fourth = np.zeros((len(first), len(first)))
    for rows in column_blocks(len(first), len(loadings)):
        products = loadings[rows, first] * loadings[rows, second]
        fourth += products.T @ products
    place = np.empty((c, c), dtype=np.intp)  # the place of a pair of factors, in either order
    place[first, second] = place[second, first] = np.arange(len(first))
    moments = fourth[np.ix_(place.ravel(), place.ravel())].reshape(c**3, c)
    covariance = inner(loadings, loadings)

    def gradient(R: np.ndarray) -> np.ndarray:
        images = covariance @ R
        cubes = np.einsum("abj,bj->aj", np.einsum("abcj,cj->abj", (moments @ R).reshape(c, c, c, c), R), R)
        return cubes - images * (np.sum(R * images, axis=0) / n_rows)

    return gradient
