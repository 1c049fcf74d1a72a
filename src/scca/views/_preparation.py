"""Preparation of the features of training and new samples: weighted, centred, scaled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._arrays import read_tile, tiles
from .._compile import compiled
from .._types import MatrixLike
from ..engine import summed
from ._block_view import BlockRows, BlockView
from ._features import FeatureView
from ._storage import Compressed, DenseStorage, SparseStorage, Storage

__all__ = ["Preparation", "inverse_norms"]

_EPSILON = np.finfo(np.float64).eps
_DWARFED = 1e6  # times its variance: a larger squared mean costs the deviations their precision
_SUBTRACTED = (16 * _EPSILON) ** 2  # of ||x||^2: rounding error of ||x - a||^2 if x = a
_SMALL_PART = 0.5  # of the entries: if fewer are of features that are read, these are copied, for faster products
_EXPANDED = 1e-14  # of the terms of x'x - 2 x'a + a'a: its rounding error if x = a


def _no_columns() -> np.ndarray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Preparation:
    """x -> c (x - a) / ||c (x - a)||: feature weights c, training means a, every sample scaled to unit norm.

    Used like scikit-learn's transformers, `Preparation.fit(training).transform(samples)`, but the result is a
    `FeatureView`: sparse samples stay sparse, and the data are not copied. A sample of norm zero stays zero.

    Parameters
    ----------
    mean : ndarray of shape (m,) or None
        a; None for no centring.
    normalize : bool
    feature_weights : ndarray of shape (m,) or None
        c; a feature of weight 0 is not read at all.
    offset : ndarray of int
        Columns whose mean is far larger than their deviations, such as years or times in seconds: even in sparse
        samples their mean is subtracted from the data, not within products.
    blank : bool
        Whether a sample that is zero in all features that are read becomes zero, instead of minus the mean.
    """

    mean: np.ndarray | None = None
    normalize: bool = False
    feature_weights: np.ndarray | None = None
    offset: np.ndarray = field(default_factory=_no_columns)
    blank: bool = False

    @classmethod
    def fit(
        cls, data: MatrixLike | Compressed | BlockRows, *, center: bool = True, normalize: bool = True
    ) -> "Preparation":
        """Learn the means from a checked array or sparse matrix."""
        if not center:
            return cls(normalize=normalize)
        mean, variance = _sparse_moments(data) if _is_sparse(data) else _dense_moments(data)
        return cls(mean, normalize, offset=np.flatnonzero(mean**2 > _DWARFED * variance))

    def weighted(self, feature_weights: np.ndarray | None) -> "Preparation":
        """The same with other feature weights."""
        return replace(self, feature_weights=feature_weights)

    def transform(self, samples: MatrixLike | Compressed | BlockRows) -> Any:
        """The prepared samples, one row per sample: a FeatureView, or a BlockView of samples elsewhere."""
        if not isinstance(samples, BlockRows):
            return self.view(samples)
        size, square = (0.0, 0.0) if samples.is_sparse else summed(_sizes, [samples, samples.counted], self)
        return BlockView(samples, self, shifted=size > _DWARFED * square)

    def view(self, samples: MatrixLike | Compressed, shifted: bool | None = None) -> FeatureView:
        """The prepared samples; `shifted`, if given, whether the mean is subtracted from dense data at once."""
        samples = Compressed(samples) if sp.issparse(samples) else samples
        squares, noise, size = self._square_norms(samples)
        shifted = size > _DWARFED * squares.sum() if shifted is None else shifted
        scale = inverse_norms(squares, noise) if self.normalize else None
        if self.blank:
            scale = self._blanked(samples, scale)
        storage, mean = self._stored(samples, shifted=bool(shifted))
        return FeatureView(storage, mean, scale, squares if scale is None else squares * scale**2, preparation=self)

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        """The prepared samples times `directions` (m, c), in float64."""
        scores = self._project(samples, np.asarray(directions, dtype=np.float64))
        if self.blank:
            scores[~self.reads(samples)] = 0.0
        return scores

    def _project(self, samples: MatrixLike, directions: np.ndarray) -> np.ndarray:
        if sp.issparse(samples):
            weighted = directions if self.feature_weights is None else self.feature_weights[:, None] * directions
            scores = samples @ weighted
            if self.mean is not None:
                scores -= self.mean @ weighted
            if self.normalize:
                squares, noise, _ = self._sparse_square_norms(samples)
                scores *= inverse_norms(squares, noise)[:, None]
            return scores
        scores, squares = np.zeros((samples.shape[0], directions.shape[1])), np.zeros(samples.shape[0])
        for rows, columns, block in self._centred_tiles(samples):
            scores[rows] += block @ directions[columns]
            squares[rows] += np.einsum("ij,ij->i", block, block)
        return scores * inverse_norms(squares, self._subtraction_noise(squares))[:, None] if self.normalize else scores

    def _blanked(self, samples: MatrixLike, scale: np.ndarray | None) -> np.ndarray:
        return np.where(self.reads(samples), 1.0 if scale is None else scale, 0.0)

    def unweighted(self) -> "Preparation":
        """The same with equal weights for all features that are read; the others stay unread."""
        weights = self.feature_weights
        return self if weights is None else self.weighted(None if weights.all() else (weights != 0).astype(np.float64))

    def reads(self, samples: MatrixLike) -> np.ndarray:
        """Whether each sample has a value other than zero in any feature that is read."""
        if _is_sparse(samples):
            read = np.ones(samples.shape[1], dtype=bool) if self.feature_weights is None else self.feature_weights != 0
            columns, found = _columns_of(samples), np.zeros(samples.shape[0], dtype=bool)
            _find_read(columns.data, columns.indices, columns.indptr, read, found)
            return found
        found = np.zeros(samples.shape[0], dtype=bool)
        for rows, _, block in _tiles_of(samples, self.feature_weights):
            found[rows] |= block.any(axis=1)
        return found

    # --- the pieces ------------------------------------------------------------------------------------------------

    def _stored(self, samples: MatrixLike, *, shifted: bool) -> tuple[Storage, np.ndarray | None]:
        """c x in the cheapest storage, and the mean still to be subtracted."""
        weights = self.feature_weights
        mean = self.mean if self.mean is None or weights is None else weights * self.mean
        if _is_sparse(samples):
            stored = samples if isinstance(samples, Compressed) else Compressed(samples)
            if mean is not None and len(self.offset):
                stored, mean = Compressed(self._without_offset(stored.columns)), mean.copy()
                mean[self.offset] = 0.0
            if weights is not None and _of_read(stored.columns, weights) < _SMALL_PART * stored.columns.nnz:
                return SparseStorage(_weighted(stored.columns, weights)), mean
            return SparseStorage(stored, weights), mean
        if shifted:
            return DenseStorage(samples, self.mean, weights), None
        return DenseStorage(samples, weights=weights), mean

    def _without_offset(self, columns: sp.csc_array) -> sp.csc_array:
        """The mean subtracted from the offset columns, which hardly have zeros."""
        n, m = columns.shape
        others = np.ones(m, dtype=columns.dtype)
        others[self.offset] = 0.0
        block = columns[:, self.offset].toarray() - np.asarray(self.mean)[self.offset]
        lengths = np.zeros(m, dtype=np.intp)
        lengths[self.offset] = n
        parts = block.ravel("F").astype(columns.dtype), np.tile(np.arange(n), len(self.offset))
        shifted = sp.csc_array((*parts, np.concatenate([[0], np.cumsum(lengths)])), shape=(n, m))
        return sp.csc_array(_weighted(columns, others) + shifted)

    def _square_norms(self, samples: MatrixLike) -> tuple[np.ndarray, np.ndarray, float]:
        """||c (x - a)||^2 of every sample, a bound on its rounding error, and the sum of all ||c x||^2."""
        return self._sparse_square_norms(samples) if _is_sparse(samples) else self._dense_square_norms(samples)

    def _dense_square_norms(self, samples: MatrixLike) -> tuple[np.ndarray, np.ndarray, float]:
        squares = np.zeros(samples.shape[0])
        for rows, _, block in self._centred_tiles(samples):
            squares[rows] += np.einsum("ij,ij->i", block, block)
        return squares, self._subtraction_noise(squares), float(squares.sum() + len(squares) * self._mean_square())

    def _centred_tiles(self, samples: MatrixLike) -> Iterator[tuple[slice, Any, np.ndarray]]:
        """Rows, columns and tiles c (x - a) of dense samples, in float64, without columns that are not read."""
        mean, weights = self.mean, self.feature_weights
        for rows, columns, block in _tiles_of(samples, weights):
            block = np.asarray(block, dtype=np.float64) if mean is None else block - mean[columns]
            yield rows, columns, block if weights is None else block * weights[columns]

    def _mean_square(self) -> float:
        """||c a||^2."""
        if self.mean is None:
            return 0.0
        mean = self.mean if self.feature_weights is None else self.feature_weights * self.mean
        return float(mean @ mean)

    def _subtraction_noise(self, squares: np.ndarray) -> np.ndarray:
        """Rounding error of ||c (x - a)||^2 if x = a, from ||c x|| <= ||c (x - a)|| + ||c a||."""
        return _SUBTRACTED * (np.sqrt(squares) + np.sqrt(self._mean_square())) ** 2

    def _sparse_square_norms(self, samples: MatrixLike | Compressed) -> tuple[np.ndarray, np.ndarray, float]:
        columns = _columns_of(samples)
        weights = np.ones(samples.shape[1]) if self.feature_weights is None else self.feature_weights
        expanded = weights.copy()
        expanded[self.offset] = 0.0
        mean = np.zeros(len(expanded)) if self.mean is None else expanded * self.mean
        size, along = np.zeros(samples.shape[0]), np.zeros(samples.shape[0])
        _add_row_sums(columns.data, columns.indices, columns.indptr, expanded, mean, size, along)
        if self.mean is None:
            return size, 0.0 * size, float(size.sum())
        terms = size + mean @ mean
        squares, noise = terms - 2 * along, _EXPANDED * terms
        if len(self.offset):
            block = columns[:, self.offset].toarray().astype(np.float64)
            noise += _SUBTRACTED * np.sum((block * weights[self.offset]) ** 2, axis=1)
            squares += np.sum(((block - self.mean[self.offset]) * weights[self.offset]) ** 2, axis=1)
        return squares, noise, float(size.sum())


def _is_sparse(samples: MatrixLike | Compressed | BlockRows) -> bool:
    return (
        samples.is_sparse if isinstance(samples, BlockRows) else isinstance(samples, Compressed) or sp.issparse(samples)
    )


def _sizes(items: Sequence[Any], preparation: Preparation) -> list[float]:
    """The sums of all ||c x||^2 and ||c (x - a)||^2."""
    samples, counted = items
    squares, _, size = preparation._square_norms(samples)
    if counted is None:
        return [size, float(squares.sum())]
    return [float(size * counted.mean()), float(squares @ counted)]  # the first decides only about orders of magnitude


def _columns_of(samples: MatrixLike | Compressed) -> sp.csc_array:
    return samples.columns if isinstance(samples, Compressed) else sp.csc_array(samples)


def _of_read(columns: sp.csc_array, weights: np.ndarray) -> int:
    """How many entries are stored of columns with a weight."""
    return int(np.diff(columns.indptr)[weights != 0].sum())


def _dense_moments(data: MatrixLike | BlockRows) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the columns, from differences to the first row: a large offset costs no precision."""
    first = data.chosen(np.zeros(1, dtype=np.intp)) if isinstance(data, BlockRows) else data[:1]
    return _moments_around(np.asarray(first[0], dtype=np.float64), _dense_sums, data)


def _moments_around(pivot: np.ndarray, sums: Any, data: Any, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances, given sums of the differences to a pivot and of their squares."""
    n = data.shape[0]
    total, squares = summed(sums, [data, _counted(data)], pivot, *arguments)
    return pivot + total / n, np.maximum(squares / n - (total / n) ** 2, 0.0)


def _counted(data: Any) -> Any:
    """Which samples count; None for all."""
    return data.counted if isinstance(data, BlockRows) else None


def _dense_sums(items: Sequence[Any], pivot: np.ndarray) -> list[np.ndarray]:
    data, counted = items
    total, squares = np.zeros(data.shape[1]), np.zeros(data.shape[1])
    for rows, columns, block in _tiles_of(data):
        block = block - pivot[columns]
        if counted is not None:
            block *= counted[rows, None]
        total[columns] += block.sum(axis=0)
        squares[columns] += np.einsum("ij,ij->j", block, block)
    return [total, squares]


def _column_sums(items: Sequence[Any], pivot: np.ndarray, columns: np.ndarray) -> list[np.ndarray]:
    """The same for some columns of sparse data."""
    data, counted = items
    return _dense_sums([SparseStorage(_columns_of(data)).columns(columns), counted], pivot)


def _sparse_sums(items: Sequence[Any]) -> list[np.ndarray]:
    """Sums of the columns and of their squares."""
    data, counted = items
    storage = SparseStorage(_columns_of(data))
    counted = np.ones(data.shape[0]) if counted is None else counted
    return [storage.rmatvec(counted), storage.square_norms(counted)]


def _tiles_of(samples: MatrixLike, weights: np.ndarray | None = None) -> Iterator[tuple[slice, Any, np.ndarray]]:
    """Rows, columns and tiles of dense samples; with feature weights, of the columns that are read."""
    n, m = samples.shape
    read = None if weights is None or weights.all() else np.flatnonzero(weights)
    for rows, part in tiles(n, m if read is None else len(read)):
        columns = part if read is None else read[part]
        yield rows, columns, read_tile(samples, rows, columns)


def _sparse_moments(data: MatrixLike | Compressed | BlockRows) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the columns; for columns far from zero, from differences to about their mean."""
    n = data.shape[0]
    total, squares = summed(_sparse_sums, [data, _counted(data)])
    mean = total / n
    variance = squares / n - mean**2
    far = np.flatnonzero(mean**2 > 1e-3 * _DWARFED * variance)  # the difference above is then imprecise
    if len(far):
        mean[far], variance[far] = _moments_around(mean[far], _column_sums, data, far)
    return mean, variance


def _weighted(data: MatrixLike, weights: np.ndarray) -> Any:
    """Sparse data times diag(weights), in the dtype of the data; entries that become zero are dropped."""
    columns = data.indices if data.format == "csr" else np.repeat(np.arange(data.shape[1]), np.diff(data.indptr))
    values = data.data * weights.astype(data.dtype)[columns]
    scaled = type(data)((values, data.indices, data.indptr), shape=data.shape)
    if not weights.all():
        scaled = scaled.copy()
        scaled.eliminate_zeros()
    return scaled


# Indices are converted to unsigned below: for signed ones numba allows negative values, which doubles the time.


@compiled
def _add_row_sums(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    weights: np.ndarray,
    mean: np.ndarray,
    size: np.ndarray,
    along: np.ndarray,
) -> None:
    """size += ||c x||^2 and along += (c x)'mean of every row x of a matrix given by its columns."""
    for j in range(len(weights)):
        if weights[j] != 0.0:
            for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                i, value = np.uint64(indices[p]), weights[j] * data[p]
                size[i] += value * value
                along[i] += value * mean[j]


@compiled
def _find_read(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, read: np.ndarray, found: np.ndarray) -> None:
    """Mark every row that has an entry other than zero in a column that is read."""
    for j in range(len(read)):
        if read[j]:
            for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                if data[p] != 0:
                    found[np.uint64(indices[p])] = True


def inverse_norms(squares: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """1 / norm of every sample; 1 for a sample that is zero up to rounding error."""
    nonzero = squares > noise
    return np.where(nonzero, 1.0 / np.sqrt(np.where(nonzero, squares, 1.0)), 1.0)
