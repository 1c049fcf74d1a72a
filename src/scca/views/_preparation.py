"""Preparation of training and new samples: features weighted, centred, scaled; scalings and norms; projection."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp

from .._compile import compiled
from .._types import MatrixLike
from ..samples import chosen_rows, read_tile, summed, tiles
from ._block_view import BlockRows, BlockView
from ._features import FeatureView
from ._storage import Compressed, DenseStorage, SparseStorage, Storage

__all__ = [
    "SCALES",
    "UNIT",
    "Norm",
    "Preparation",
    "Projector",
    "SamplePreparation",
    "Scale",
    "divided",
    "inverse_or_zero",
    "norm_of",
    "scales_columns",
    "shrunken",
    "suitable_scale",
]

Scale = Literal["columns", "rows", "both"] | None
SCALES: tuple[Scale, ...] = ("columns", "rows", "both", None)
_MOSTLY_ZERO = 0.5  # of the values
_EPSILON = np.finfo(np.float64).eps
_DWARFED = 1e6  # times its variance: a larger squared mean costs the deviations their precision
_SUBTRACTED = (16 * _EPSILON) ** 2  # of ||x||^2: rounding error of ||x - a||^2 if x = a
_SMALL_PART = 0.5  # of the entries: if fewer are of features that are read, these are copied, for faster products
_EXPANDED = 1e-14  # of the terms of x'x - 2 x'a + a'a: its rounding error if x = a
_CONSTANT = 16 * _EPSILON  # of the mean: a column that varies less is constant up to rounding
_TINY, _ENLARGED = 1e-250, 1e150  # variances below this may have lost digits, and are computed from larger values
# inner products of so many samples, times features, take little time; the fewest and the most samples
_PRODUCTS, _SOME_SAMPLES = 1e9, (200, 2_000)


def _no_columns() -> np.ndarray:
    return np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Preparation:
    """x -> c (x - a) / d, divided by a norm: means a, feature weights c, spreads d of the columns.

    Used like scikit-learn's transformers, `Preparation.fit(training).transform(samples)`, but the result is a
    `FeatureView`: sparse samples stay sparse, and the data are not copied. A sample of norm zero stays zero.

    Parameters
    ----------
    mean : ndarray of shape (m,) or None
        a; None for no centring.
    scale : "columns", "rows", "both" or None
        Whether columns are divided by their standard deviation, samples by their norm, or both, with a norm that is
        shrunk (see `shrunken`).
    spread : ndarray of shape (m,) or None
        d, standard deviations in training; a column of spread 0 is constant, and is not read. None for no division.
    norm : Norm or None
        Of the samples; None for no division.
    unit : float
        Mean squared norm of the training samples if nothing divides them by a norm, otherwise 1: ridges are multiples
        of it, so that they mean the same whatever the columns are measured in.
    feature_weights : ndarray of shape (m,) or None
        c; a feature of weight 0 is not read at all.
    offset : ndarray of int
        Columns whose mean is far larger than their deviations, such as years or times in seconds: even in sparse
        samples their mean is subtracted from the data, not within products.
    blank : bool
        Whether a sample that is zero in all features that are read becomes zero, instead of minus the mean.
    """

    mean: np.ndarray | None = None
    scale: Scale = None
    spread: np.ndarray | None = None
    norm: "Norm | None" = None
    unit: float = 1.0
    feature_weights: np.ndarray | None = None
    offset: np.ndarray = field(default_factory=_no_columns)
    blank: bool = False

    @classmethod
    def fit(
        cls, data: MatrixLike | Compressed | BlockRows, *, center: bool = True, scale: Scale = "rows"
    ) -> "Preparation":
        """Learn means, spreads and norms from a checked array or sparse matrix."""
        by_columns = scales_columns(scale)
        if not center and not by_columns:
            return cls(scale=scale)._measured(data)
        mean, spread = _sparse_moments(data) if _is_sparse(data) else _dense_moments(data)
        return cls(
            mean=mean if center else None,
            scale=scale,
            spread=np.where(spread > _CONSTANT * np.abs(mean), spread, 0.0) if by_columns else None,
            offset=np.flatnonzero(np.abs(mean) > np.sqrt(_DWARFED) * spread) if center else _no_columns(),
        )._measured(data)

    def weighted(self, feature_weights: np.ndarray | None, data: MatrixLike | Compressed | BlockRows) -> "Preparation":
        """The same with other feature weights, and so other norms of the training data."""
        return replace(self, feature_weights=feature_weights)._measured(data)

    def with_norms(self, scale: Scale, data: MatrixLike | Compressed | BlockRows) -> "Preparation":
        """The same with the norms of another scaling, and columns as they are."""
        return replace(self, scale=scale)._measured(data)

    def _measured(self, data: MatrixLike | Compressed | BlockRows) -> "Preparation":
        """The same with the norms of these training data."""
        if self.scale == "rows":
            return replace(self, norm=UNIT, unit=1.0)
        n = data.shape[0]
        total, squares = summed(_norm_sums, [data, _counted(data)], self)
        size = float(total) / n
        if self.scale != "both":
            return replace(self, norm=None, unit=size if size > 0 else 1.0)
        n_some = min(n, int(np.clip(np.sqrt(_PRODUCTS / data.shape[1]), *_SOME_SAMPLES)))
        view = replace(self, norm=None).view(_evenly(data, n_some))
        return replace(self, norm=shrunken(size, float(squares) / n - size**2, view.outer()), unit=1.0)

    @property
    def reads_zeros(self) -> bool:
        """Whether a value of zero is a measurement like any other: in columns that are scaled, not among words."""
        return scales_columns(self.scale)

    @cached_property
    def _factors(self) -> np.ndarray | None:
        """c / d: what the columns are multiplied by; 0 for those that are not read, None for ones."""
        if self.spread is None:
            return self.feature_weights
        factors = inverse_or_zero(self.spread)
        return factors if self.feature_weights is None else factors * self.feature_weights

    def transform(self, samples: MatrixLike | Compressed | BlockRows) -> Any:
        """The prepared samples, one row per sample: a FeatureView, or a BlockView of remote samples."""
        if not isinstance(samples, BlockRows):
            return self.view(samples)
        size, square = (0.0, 0.0) if samples.is_sparse else summed(_sizes, [samples, samples.counted], self)
        return BlockView(samples, self, shifted=size > _DWARFED * square)

    def view(self, samples: MatrixLike | Compressed, shifted: bool | None = None) -> FeatureView:
        """The prepared samples; `shifted`, if given, whether the mean is subtracted from dense data at once."""
        samples = Compressed(samples) if sp.issparse(samples) else samples
        squares, noise, size = self._square_norms(samples)
        shifted = size > _DWARFED * squares.sum() if shifted is None else shifted
        scale = None if self.norm is None else self.norm.inverse(squares, noise)
        if self.blank:
            scale = self._blanked(samples, scale)
        storage, mean = self._stored(samples, shifted=bool(shifted))
        return FeatureView(storage, mean, scale, squares if scale is None else squares * scale**2, preparation=self)

    def projector(self, directions: np.ndarray) -> "Projector":
        """From new samples to scores: prepared so, times `directions`."""
        return Projector(self, directions)

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        """The prepared samples times `directions` (m, c), in float64."""
        scores = self._project(samples, np.asarray(directions, dtype=np.float64))
        if self.blank:
            scores[~self.reads(samples)] = 0.0
        return scores

    def _project(self, samples: MatrixLike, directions: np.ndarray) -> np.ndarray:
        if sp.issparse(samples):
            weighted = directions if self._factors is None else self._factors[:, None] * directions
            scores = samples @ weighted
            if self.mean is not None:
                scores -= self.mean @ weighted
            if self.norm is not None:
                squares, noise, _ = self._sparse_square_norms(samples)
                scores *= self.norm.inverse(squares, noise)[:, None]
            return scores
        scores, squares = np.zeros((samples.shape[0], directions.shape[1])), np.zeros(samples.shape[0])
        for rows, columns, block in self._centred_tiles(samples):
            scores[rows] += block @ directions[columns]
            squares[rows] += np.einsum("ij,ij->i", block, block)
        if self.norm is None:
            return scores
        return scores * self.norm.inverse(squares, self._subtraction_noise(squares))[:, None]

    def _blanked(self, samples: MatrixLike, scale: np.ndarray | None) -> np.ndarray:
        return np.where(self.reads(samples), 1.0 if scale is None else scale, 0.0)

    def reads(self, samples: MatrixLike) -> np.ndarray:
        """Whether each sample has a value other than zero in any feature that is read."""
        if _is_sparse(samples):
            read = np.ones(samples.shape[1], dtype=bool) if self._factors is None else self._factors != 0
            columns, found = _columns_of(samples), np.zeros(samples.shape[0], dtype=bool)
            _find_read(columns.data, columns.indices, columns.indptr, read, found)
            return found
        found = np.zeros(samples.shape[0], dtype=bool)
        for rows, _, block in _tiles_of(samples, self._factors):
            found[rows] |= block.any(axis=1)
        return found

    # --- the pieces ------------------------------------------------------------------------------------------------

    def _stored(self, samples: MatrixLike, *, shifted: bool) -> tuple[Storage, np.ndarray | None]:
        """c x in the cheapest storage, and the mean still to be subtracted."""
        weights = self._factors
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
        mean, weights = self.mean, self._factors
        for rows, columns, block in _tiles_of(samples, weights):
            block = np.asarray(block, dtype=np.float64) if mean is None else block - mean[columns]
            yield rows, columns, block if weights is None else block * weights[columns]

    def _mean_square(self) -> float:
        """||c a||^2."""
        if self.mean is None:
            return 0.0
        mean = self.mean if self._factors is None else self._factors * self.mean
        return float(mean @ mean)

    def _subtraction_noise(self, squares: np.ndarray) -> np.ndarray:
        """Rounding error of ||c (x - a)||^2 if x = a, from ||c x|| <= ||c (x - a)|| + ||c a||."""
        return _SUBTRACTED * (np.sqrt(squares) + np.sqrt(self._mean_square())) ** 2

    def _sparse_square_norms(self, samples: MatrixLike | Compressed) -> tuple[np.ndarray, np.ndarray, float]:
        columns = _columns_of(samples)
        weights = np.ones(samples.shape[1]) if self._factors is None else self._factors
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


def _evenly(data: MatrixLike | Compressed | BlockRows, count: int) -> Any:
    """So many samples, evenly spaced; all as they are."""
    if isinstance(data, BlockRows):
        return data.evenly(count)
    if count == data.shape[0]:
        return data
    rows = data.rows if isinstance(data, Compressed) else data
    return chosen_rows(rows, np.linspace(0, data.shape[0] - 1, count).astype(int))


def _norm_sums(items: Sequence[Any], preparation: Preparation) -> list[float]:
    """The sums of ||c (x - a) / d||^2 and of its square."""
    samples, counted = items
    squares, _, _ = preparation._square_norms(samples)
    squares = np.maximum(squares, 0.0) if counted is None else np.maximum(squares, 0.0) * counted
    return [float(squares.sum()), float(squares @ squares)]


def _dense_moments(data: MatrixLike | BlockRows) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the columns, from differences to the first row: a large offset costs no
    precision.
    """
    first = data.chosen(np.zeros(1, dtype=np.intp)) if isinstance(data, BlockRows) else data[:1]
    pivot = np.asarray(first[0], dtype=np.float64)
    mean, variance = _moments_around(pivot, _dense_sums, data)
    spread, tiny = np.sqrt(variance), np.flatnonzero(variance < _TINY)
    if len(tiny):
        spread[tiny] = np.sqrt(_moments_around(pivot[tiny], _column_sums, data, tiny, _ENLARGED)[1]) / _ENLARGED
    return mean, spread


def _moments_around(
    pivot: np.ndarray, sums: Any, data: Any, columns: np.ndarray | None = None, factor: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances times `factor`, given sums of the differences to a pivot and of their squares."""
    n = data.shape[0]
    total, squares = summed(sums, [data, _counted(data)], pivot, columns, factor)
    return pivot + total / n / factor, np.maximum(squares / n - (total / n) ** 2, 0.0)


def _counted(data: Any) -> Any:
    """Which samples count; None for all."""
    return data.counted if isinstance(data, BlockRows) else None


def _dense_sums(
    items: Sequence[Any], pivot: np.ndarray, columns: np.ndarray | None = None, factor: float = 1.0
) -> list[np.ndarray]:
    """Sums of the differences to a pivot, times a factor, and of their squares, for all columns or for some."""
    data, counted = items
    total, squares = np.zeros(len(pivot)), np.zeros(len(pivot))
    for rows, part in tiles(data.shape[0], len(pivot)):
        block = (read_tile(data, rows, part if columns is None else columns[part]) - pivot[part]) * factor
        if counted is not None:
            block *= counted[rows, None]
        total[part] += block.sum(axis=0)
        squares[part] += np.einsum("ij,ij->j", block, block)
    return [total, squares]


def _column_sums(items: Sequence[Any], pivot: np.ndarray, columns: np.ndarray, factor: float) -> list[np.ndarray]:
    """The same for some columns of dense or sparse data."""
    data, counted = items
    if _is_sparse(data):
        return _dense_sums([SparseStorage(_columns_of(data)).columns(columns), counted], pivot, None, factor)
    return _dense_sums(items, pivot, columns, factor)


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
    """Means and standard deviations of the columns; for columns far from zero, from differences to about their mean."""
    n = data.shape[0]
    total, squares = summed(_sparse_sums, [data, _counted(data)])
    mean = total / n
    variance = squares / n - mean**2
    far = mean**2 > 1e-3 * _DWARFED * variance  # the difference above is then imprecise
    tiny = (squares / n < _TINY) & ~far & (mean != 0)
    spread = np.sqrt(np.maximum(variance, 0.0))
    for some, factor in ((far, 1.0), (tiny, _ENLARGED)):
        if some.any():
            columns = np.flatnonzero(some)
            mean[some], variance = _moments_around(mean[some], _column_sums, data, columns, factor)
            spread[some] = np.sqrt(variance) / factor
    return mean, spread


def _weighted(data: MatrixLike, weights: np.ndarray) -> Any:
    """Sparse data times diag(weights), in the dtype of the data; entries that become zero are dropped."""
    columns = data.indices if data.format == "csr" else np.repeat(np.arange(data.shape[1]), np.diff(data.indptr))
    values = (data.data * weights[columns]).astype(data.dtype)  # spreads of tiny values overflow single precision
    scaled = type(data)((values, data.indices, data.indptr), shape=data.shape)
    if not weights.all():
        scaled = scaled.copy()
        scaled.eliminate_zeros()
    return scaled


# --- scaling ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Norm:
    """Samples x are divided by sqrt(b s^2 + (1 - b) ||x||^2): their own norm, shrunk towards that of all samples.

    Attributes
    ----------
    shrinkage : float
        b; 0 for samples of exactly unit norm, 1 for the same divisor for all.
    size : float
        s^2, the mean of ||x||^2 over the training samples.
    """

    shrinkage: float
    size: float

    def inverse(self, squares: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """1 / divisor of samples with these squared norms; 1 where the divisor is zero up to rounding error."""
        squares = np.where(squares > noise, squares, 0.0)
        divisors = self.shrinkage * self.size + (1.0 - self.shrinkage) * squares
        return np.where(divisors > 0, 1.0 / np.sqrt(np.where(divisors > 0, divisors, 1.0)), 1.0)


UNIT = Norm(0.0, 1.0)


def norm_of(scale: Scale, kernel: np.ndarray) -> Norm | None:
    """The norm by which a scaling divides samples with these inner products; None if it does not."""
    if scale == "both":
        squares = np.diag(kernel)
        return shrunken(float(squares.mean()), float(squares.var()), kernel)
    return UNIT if scale == "rows" else None


def shrunken(size: float, spread: float, kernel: np.ndarray) -> Norm:
    """The norm to divide by, from the mean and the variance of q = ||x||^2, and inner products of some samples.

    The norm of a sample says how much there is of it (a long document, a drug that was studied often), which is to be
    divided out, unless it is only the sum of a few values that are what the sample says. Of Gaussian samples that vary
    in about m directions, var(q) / mean(q)^2 is 2 / m, and the direction has m - 1 of the m numbers. So b is the share
    of var(q) that m directions explain, and at least 1 / m. With a single column b is 1: all samples have the same
    divisor. m is estimated by 1 / m = E (x'z)^2 / E ||x||^2 ||z||^2 over pairs of different samples.
    """
    squares = np.diag(kernel)
    pairs = squares.sum() ** 2 - squares @ squares  # sums over pairs of different samples
    if not (size > 0 and pairs > 0):
        return Norm(1.0, size)
    one_of_m = min(1.0, float((np.einsum("ij,ij->", kernel, kernel) - squares @ squares) / pairs))
    by_chance = 2.0 * one_of_m * size**2
    return Norm(max(one_of_m, by_chance / max(spread, by_chance)), size)


def suitable_scale(data: MatrixLike | Compressed | Any) -> Scale:
    """The scaling of data about which nothing else is known: "rows" if they look like words, otherwise "both".

    Words look like this: no value is negative, half of the values or more are zero, and more than one in a sample is
    not (on average). Their columns must not be scaled: rare words would get the weight of frequent ones. Other data are
    tables of measurements in units of their own. It is values that decide, not how a matrix is stored.
    """
    n_negative, n_nonzero = summed(_counts, [data])
    n, m = data.shape
    like_words = not n_negative and n_nonzero <= (1.0 - _MOSTLY_ZERO) * n * m and n_nonzero > n
    return "rows" if like_words else "both"


def scales_columns(scale: Scale) -> bool:
    return scale in ("columns", "both")


def divided(samples: MatrixLike, spread: np.ndarray | None) -> Any:
    """Columns divided by their spread; those that are constant become zero."""
    if spread is None:
        return samples
    factors = inverse_or_zero(spread)
    if sp.issparse(samples):
        return sp.csr_array(sp.csr_array(samples) @ sp.diags_array(factors)).astype(samples.dtype)
    return (np.asarray(samples) * factors).astype(samples.dtype)


def inverse_or_zero(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _counts(items: Sequence[Any]) -> list[int]:
    """How many values are negative, and how many are not zero."""
    data = items[0].columns if isinstance(items[0], Compressed) else items[0]
    if sp.issparse(data):
        return _counts_of(data.data)
    found = np.zeros(2, dtype=np.int64)
    for rows, columns in tiles(*data.shape):
        found += _counts_of(read_tile(data, rows, columns))
    return found.tolist()


def _counts_of(values: np.ndarray) -> list[int]:
    return [int(np.count_nonzero(values < 0)), int(np.count_nonzero(values))]


# --- from new samples to scores ---------------------------------------------------------------------------------------


class SamplePreparation(Protocol):
    """How samples of a view are prepared, in training and later."""

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        """The prepared samples times `directions`, in float64.

        `diagonal` is k(x, x) of each new sample, which only a precomputed kernel cannot compute. Without it the rows of
        a precomputed block are not scaled to unit norm, which does not affect rankings by cosine.
        """


@dataclass(frozen=True, eq=False)
class Projector:
    """Scores of new samples of one view: prepared as in training, times the directions."""

    preparation: SamplePreparation
    directions: np.ndarray

    def __call__(self, samples: MatrixLike, diagonal: np.ndarray | None = None) -> np.ndarray:
        """Scores (n_new, c) in float64; `diagonal` as for `SamplePreparation.project`."""
        return self.preparation.project(samples, self.directions, diagonal)


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
