"""Products with views of many samples, a block of rows at a time, as factors and their renderings need them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

from .._compile import compiled
from ..parallel import blas_threads_for, map_threads, one_blas_thread, parts
from ..samples import summed
from ..views import FeatureView, PrimalView, SparseStorage
from ._covariances import covariance, sample_scale

__all__ = ["Products", "RidgeSolution", "correlate", "images", "score_rows"]

_ROWS = 512  # whose scores are in memory at a time
_LANE_BYTES = 1 << 28  # for all lanes: each has its own sums over all features
_LANES = (2, 16)  # blocks of rows that threads share, at least and at most
_MOST_COUPLED = 16_000  # features whose covariance matrix is factorised: it takes 1 GB
_PER_ROOT = 4.0  # times the root of the stored entries: so many coupled features take about as long as a product
_SINGLE = 3e-6  # relative residual of an inverse in single precision
_LEAST_SHIFT = 1e-6  # of the trace: a smaller ridge is lost in single precision
_MAX_ITER = 1000  # steps of conjugate gradients
_MOST_COPIED = 1 << 27  # entries of dense columns copied to compute their covariances


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """W with (M'M + ridge) W = R, one column each, and ||R - (M'M + ridge) W|| / ||R|| of each column.

    `converged` says whether this residual is at most `tol`.
    """

    weights: np.ndarray
    residuals: np.ndarray
    tol: float

    @property
    def converged(self) -> np.ndarray:
        return self.residuals <= self.tol


class Products:
    """A view M (n x m) with its ridge: products with M'M + ridge and, approximately, with its inverse."""

    def __init__(self, view: PrimalView, ridge: float = 0.0):
        self.shape = view.shape
        self.ridge = ridge
        self.view = view

    def regularised(self, W: np.ndarray) -> np.ndarray:
        """(M'M + ridge) W."""
        return images([self], [W])[0][0]

    def solve(self, R: np.ndarray, tol: float) -> RidgeSolution:
        """(M'M + ridge)^-1 R, by at most 1,000 steps of conjugate gradients on all columns at once.

        If all features are coupled and single precision suffices for `tol`, no iteration is needed.
        """
        if self._is_exact and tol >= _SINGLE:
            return RidgeSolution(self.precondition(R), np.full(R.shape[1], _SINGLE), tol)
        size = np.linalg.norm(R, axis=0)
        size[size == 0] = 1.0
        solution, residual = np.zeros_like(R), R.copy()
        direction = z = self.precondition(residual)
        slope = np.einsum("ij,ij->j", residual, z)
        for _ in range(_MAX_ITER):
            is_open = np.linalg.norm(residual, axis=0) / size > tol
            if not is_open.any():
                break
            image = self.regularised(direction)
            curvature = np.einsum("ij,ij->j", direction, image)
            length = np.where(is_open, slope / np.where(curvature > 0, curvature, 1.0), 0.0)
            solution += length * direction
            residual -= length * image
            z = self.precondition(residual)
            before, slope = slope, np.einsum("ij,ij->j", residual, z)
            direction = z + slope / np.where(before > 0, before, 1.0) * direction
        return RidgeSolution(solution, np.linalg.norm(residual, axis=0) / size, tol)

    def couple(self) -> None:
        """Factorise the covariance matrix of the features that vary most, which `precondition` inverts exactly.

        All features, if there are few enough, make an iteration needless. Otherwise, the fewer entries a view has, the
        fewer are worth it: each step of the iteration reads them all.
        """
        n, m = self.shape
        self._squares = self.view.square_norms() + self.ridge
        size = min(m, _MOST_COUPLED, m if self.view.is_sparse else max(1, _MOST_COPIED // n))
        if size < m:
            size = min(size, 1 + int(_PER_ROOT * np.sqrt(self.view.n_stored)))
        self._coupled = np.sort(np.argsort(-self._squares, kind="stable")[:size])
        shift = max(self.ridge, _LEAST_SHIFT * float(self._squares.sum()))
        while True:
            with one_blas_thread():  # threads share blocks of rows
                covariance_ = covariance(self.view, self.view, np.float32, self._coupled, self._coupled)
            covariance_[np.diag_indices_from(covariance_)] += shift
            try:
                with blas_threads_for(covariance_.size):  # in place, by columns
                    self._triangle = cholesky(covariance_.T, lower=True, overwrite_a=True, check_finite=False)
                break
            except np.linalg.LinAlgError:  # rounding error is larger than the smallest eigenvalues
                shift *= 10
        self._is_exact = size == m and shift == self.ridge

    def precondition(self, R: np.ndarray) -> np.ndarray:
        """Approximately (M'M + ridge)^-1 R: exact for the features that vary most, diagonal for the others."""
        out = R / self._squares[:, None]
        right = R[self._coupled].astype(np.float32)
        out[self._coupled] = cho_solve((self._triangle, True), right, overwrite_b=True, check_finite=False)
        return out


def images(products: Sequence[Products], blocks: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """For directions W_v of every view: found[v][u] = A_u'A_v W_v for every view u, plus ridge W_v for u = v."""
    sums = summed(_images, [product.view for product in products], list(blocks))
    ends = np.cumsum([block.shape[1] for block in blocks])
    found = [list(split) for split in zip(*(np.hsplit(side, ends[:-1]) for side in sums), strict=True)]
    for v, (product, block) in enumerate(zip(products, blocks, strict=True)):
        found[v][v] = found[v][v] + product.ridge * block
    return found


def _images(views: Sequence[FeatureView], blocks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A_u'[A_1 W_1, A_2 W_2, ...] for every view u."""
    sides = [score_rows(view, block) for view, block in zip(views, blocks, strict=True)]

    def scores(rows: np.ndarray) -> np.ndarray:
        return np.hstack([side(rows) for side in sides])

    return correlate(views, scores, sum(block.shape[1] for block in blocks))


def score_rows(view: FeatureView, W: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from some rows, their numbers, to these rows of M W.

    Sparse features are read by rows: a row of scores is then read and written once, which is several times faster than
    by columns. Feature weights, centring and scaling are applied within the products.
    """
    storage = view.storage
    if not isinstance(storage, SparseStorage):
        scores = view.matmat(W)
        return lambda rows: scores[rows]
    stored, scale = storage.stored.rows, sample_scale(view)
    weighted = np.ascontiguousarray(storage.of_columns(W), dtype=np.float64)
    shift = np.zeros(W.shape[1]) if view.mean is None else view.mean @ W

    def of_rows(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), len(shift)))
        _row_scores(stored.data, stored.indices, stored.indptr, rows, scale, weighted, shift, out)
        return out

    return of_rows


def correlate(
    views: Sequence[FeatureView], scores: Callable[[np.ndarray], np.ndarray], n_columns: int
) -> list[np.ndarray]:
    """M_u'T for every view u, T having `n_columns`; `scores` gives some rows of T, computed when they are needed.

    Threads share lanes of rows, which depend on the sizes alone, so that sums have the same order for any number of
    threads. If a view is dense, all rows at once.
    """
    everything = np.arange(views[0].shape[0])
    storages = [view.storage for view in views if isinstance(view.storage, SparseStorage)]
    if len(storages) < len(views):
        T = scores(everything)
        return [view.rmatmat(T) for view in views]
    stored, scales = [storage.stored.rows for storage in storages], [sample_scale(view) for view in views]

    def of_lane(lane: slice) -> list[tuple[np.ndarray, np.ndarray]]:
        sums = [(np.zeros((view.shape[1], n_columns)), np.zeros(n_columns)) for view in views]
        for part in parts(lane.start, lane.stop, _ROWS):
            rows = everything[part]
            T = np.ascontiguousarray(scores(rows), dtype=np.float64)
            for of_view, scale, (out, total) in zip(stored, scales, sums, strict=True):
                _row_correlations(of_view.data, of_view.indices, of_view.indptr, rows, scale, T, out, total)
        return sums

    first, *others = map_threads(of_lane, row_lanes(views, n_columns))
    for lane in others:
        for (out, total), (more, rest) in zip(first, lane, strict=True):
            out += more
            total += rest
    found = []
    for view, storage, (out, total) in zip(views, storages, first, strict=True):
        out = storage.of_columns(out)
        found.append(out if view.mean is None else out - np.outer(view.mean, total))
    return found


def row_lanes(views: Sequence[FeatureView], n_columns: int) -> list[slice]:
    """As many blocks of rows as have room for sums of their own."""
    n = views[0].shape[0]
    size = 8 * max(1, n_columns) * sum(view.shape[1] for view in views)
    n_lanes = int(np.clip(_LANE_BYTES // size, *_LANES))
    return parts(0, n, max(1, -(-n // n_lanes)))


@compiled
def _row_scores(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    W: np.ndarray,
    shift: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = D (A W - 1 shift') for the chosen rows of A."""
    for position in range(len(rows)):
        i, line = rows[position], out[position]
        for k in range(len(line)):
            line[k] = -shift[k]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, weights = data[p], W[np.uint64(indices[p])]
            for k in range(len(line)):
                line[k] += value * weights[k]
        for k in range(len(line)):
            line[k] *= scale[i]


@compiled
def _row_correlations(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    T: np.ndarray,
    out: np.ndarray,
    total: np.ndarray,
) -> None:
    """out += A'D T and total += 1'D T for the chosen rows of A, those that T has."""
    line = np.empty(T.shape[1])
    for position in range(len(rows)):
        i = rows[position]
        for k in range(len(line)):
            line[k] = scale[i] * T[position, k]
            total[k] += line[k]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, sums = data[p], out[np.uint64(indices[p])]
            for k in range(len(line)):
                sums[k] += value * line[k]
