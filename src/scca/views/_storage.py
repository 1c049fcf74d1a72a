"""Storage of matrices: dense, scipy.sparse or a linear operator; products in float64."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from .._compile import compiled
from .._types import MatrixLike
from ..samples import read_tile, tiles
from ._sparse_gram import SparseGram

__all__ = [
    "Compressed",
    "DenseStorage",
    "OperatorStorage",
    "SparseStorage",
    "Storage",
    "storage_of",
]

_ALL = np.empty(0, dtype=np.intp)  # stands for all columns


class Storage(ABC):
    """A matrix A (n x m) that is only read; every product is accumulated and returned in float64."""

    shape: tuple[int, int]
    n_stored: int  # number of stored values, to which the cost of a product is proportional
    read: np.ndarray | None = None  # the columns that are not known to be zero; None for all

    @abstractmethod
    def matvec(self, v: np.ndarray) -> np.ndarray:
        """A v; only columns where v is nonzero cost time."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """A' r, or its entries for `columns`."""

    @abstractmethod
    def columns(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns, indices or (unless the storage is sparse) a slice, as a dense float64 array."""

    @abstractmethod
    def matmat(self, V: np.ndarray) -> np.ndarray:
        """A V for a matrix V."""

    @abstractmethod
    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        """A'R for a matrix R."""

    @abstractmethod
    def restricted(self, columns: np.ndarray) -> "Storage":
        """Only the chosen columns, stored the same way."""


class DenseStorage(Storage):
    """(A - 1 shift') diag(weights) for the chosen columns A of an array, computed tile by tile.

    The array is neither copied nor converted as a whole, and columns of weight 0 are not read.
    """

    def __init__(
        self,
        array: np.ndarray,
        shift: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        chosen: np.ndarray | None = None,
    ):
        self.array = array
        self.shape = (array.shape[0], array.shape[1] if chosen is None else len(chosen))
        self.read = None if weights is None or weights.all() else np.flatnonzero(weights)
        self.n_stored = self.shape[0] * (self.shape[1] if self.read is None else len(self.read))
        self._shift, self._weights, self._chosen = shift, weights, chosen
        converted = array.dtype != np.float64 or not isinstance(array, np.ndarray)
        self._is_plain = not converted and shift is None and chosen is None and self.read is None

    def matvec(self, v: np.ndarray) -> np.ndarray:
        return self.matmat(v)

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        if columns is not None:
            return self.columns(columns).T @ r
        if self._is_plain:
            return self._weighted(self.array.T @ r)
        out = np.zeros((self.shape[1], *r.shape[1:]))
        for rows, part, block in self._tiles(self.read):
            out[part] += block.T @ r[rows]
        if self._weights is not None:
            out *= self._weights if out.ndim == 1 else self._weights[:, None]
        return out

    def columns(self, indices: np.ndarray | slice) -> np.ndarray:
        block = self._block(slice(None), indices)
        return block if self._weights is None else block * self._weights[indices]

    def matmat(self, V: np.ndarray) -> np.ndarray:
        V = self._weighted(V)
        support = np.flatnonzero(V if V.ndim == 1 else V.any(axis=1))
        few = support if 4 * len(support) < len(V) else self.read
        if few is None and self._is_plain:
            return self.array @ V
        out = np.zeros((self.shape[0], *V.shape[1:]))
        for rows, part, block in self._tiles(few):
            out[rows] += block @ V[part]
        return out

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self.rmatvec(R)

    def restricted(self, columns: np.ndarray) -> Storage:
        """The chosen columns, which stay where they are."""
        shift, weights = (None if part is None else part[columns] for part in (self._shift, self._weights))
        return DenseStorage(self.array, shift, weights, columns if self._chosen is None else self._chosen[columns])

    def _weighted(self, V: np.ndarray) -> np.ndarray:
        return V if self._weights is None else (self._weights * V.T).T

    def _tiles(self, columns: np.ndarray | None) -> Iterator[tuple[slice, Any, np.ndarray]]:
        """Tiles of all or some columns, without weights, with their rows and columns."""
        for rows, part in tiles(self.shape[0], self.shape[1] if columns is None else len(columns)):
            indices = part if columns is None else columns[part]
            yield rows, indices, self._block(rows, indices)

    def _block(self, rows: slice, columns: np.ndarray | slice) -> np.ndarray:
        block = read_tile(self.array, rows, columns if self._chosen is None else self._chosen[columns])
        return np.asarray(block, dtype=np.float64) if self._shift is None else block - self._shift[columns]


class Compressed:
    """A sparse matrix stored by columns and by rows, each made when needed; storages of the same samples share it."""

    def __init__(self, matrix: MatrixLike):
        if sp.issparse(matrix) and matrix.format == "csc" and not matrix.has_sorted_indices:
            matrix = matrix.sorted_indices()  # products of columns read their samples in ascending order
        self._given_by_rows = sp.issparse(matrix) and matrix.format == "csr"
        if self._given_by_rows:  # the given matrix replaces one of the properties below
            self.rows = sp.csr_array(matrix)
        else:
            self.columns = matrix if isinstance(matrix, sp.csc_array) else sp.csc_array(matrix)
        self.shape: tuple[int, int] = matrix.shape

    def forget_columns(self) -> None:
        """Free the columns, if they can be made from the rows again."""
        if self._given_by_rows:
            self.__dict__.pop("columns", None)

    @cached_property
    def columns(self) -> sp.csc_array:
        """The matrix by columns, for products of few columns, and inner products."""
        return self.rows.tocsc()

    @cached_property
    def rows(self) -> sp.csr_array:
        """The matrix by rows, for products with many vectors: a row of scores is read and written once."""
        return self.columns.tocsr()


class SparseStorage(Storage):
    """A diag(weights) for a sparse A, which is never made dense, converted to another dtype or copied."""

    def __init__(self, matrix: MatrixLike | Compressed, weights: np.ndarray | None = None):
        self.stored = matrix if isinstance(matrix, Compressed) else Compressed(matrix)
        self.weights = weights
        self.shape = self.stored.shape
        self.n_stored = self.stored.columns.nnz
        self.read = None if weights is None or weights.all() else np.flatnonzero(weights)

    @property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        columns = self.stored.columns
        return columns.data, columns.indices, columns.indptr

    def of_columns(self, values: np.ndarray, columns: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Values (m,) or (m, k) of all or some columns, times their weights."""
        return values if self.weights is None else (values.T * self.weights[columns]).T

    def matvec(self, v: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(v)
        return self.combination(support, v[support])

    def combination(self, columns: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The chosen columns times v, a value for each of them."""
        out = np.zeros(self.shape[0])
        _add_columns(*self._arrays, columns, self.of_columns(v, columns), out)
        return out

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        rows = np.ascontiguousarray(r.T if r.ndim == 2 else r[None])
        out = np.empty((len(rows), self.shape[1] if columns is None else len(columns)))
        _dot_columns(*self._arrays, _ALL if columns is None else columns, rows, out)
        out = out.T if r.ndim == 2 else out[0]
        return self.of_columns(out) if columns is None else self.of_columns(out, columns)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        block = self.stored.columns[:, indices].astype(np.float64, copy=False).toarray()
        return block if self.weights is None else block * self.weights[indices]

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return self.stored.columns @ np.ascontiguousarray(self.of_columns(V), dtype=np.float64)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self.of_columns(self.stored.columns.T @ np.ascontiguousarray(R, dtype=np.float64))

    def restricted(self, columns: np.ndarray) -> Storage:
        return SparseStorage(self.stored.columns[:, columns], None if self.weights is None else self.weights[columns])

    def gram(self, sample_weights: np.ndarray | None) -> SparseGram:
        """Inner products of a growing selection of columns, with weights of the samples."""
        sample_weights = np.ones(self.shape[0]) if sample_weights is None else sample_weights
        return SparseGram(self._arrays, sample_weights, self.weights)

    def square_norms(self, sample_weights: np.ndarray) -> np.ndarray:
        """Squared norms of the columns, with weights of the samples."""
        out = np.empty(self.shape[1])
        _square_columns(*self._arrays, sample_weights, out)
        return out if self.weights is None else out * self.weights**2

    def quadratic_forms(self, Q: np.ndarray) -> np.ndarray:
        """a'Q a of every column a, for a symmetric Q."""
        out = np.empty(self.shape[1])
        _quadratic_columns(*self._arrays, Q, out)
        return out if self.weights is None else out * self.weights**2

    def outer(self) -> np.ndarray:
        """Inner products of all samples, a dense array with one row and column per sample."""
        rows, weights = self.stored.rows, np.ones(self.shape[1]) if self.weights is None else self.weights
        out = np.zeros((self.shape[0], self.shape[0]))
        _row_products(*self._arrays, rows.data, rows.indices, rows.indptr, weights**2, out)
        return out


class OperatorStorage(Storage):
    """A scipy LinearOperator; a symmetric one needs no adjoint."""

    def __init__(self, operator: LinearOperator, *, symmetric: bool = False):
        self.operator = operator
        self.shape = operator.shape
        self.n_stored = operator.shape[0] * operator.shape[1]
        self._transpose = operator if symmetric else operator.T

    def matvec(self, v: np.ndarray) -> np.ndarray:
        return np.asarray(self.operator @ v, dtype=np.float64)

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        product = np.asarray(self._transpose @ r, dtype=np.float64)
        return product if columns is None else product[columns]

    def columns(self, indices: np.ndarray) -> np.ndarray:
        indices = np.arange(self.shape[1])[indices]
        units = np.zeros((self.shape[1], len(indices)))
        units[indices, np.arange(len(indices))] = 1.0
        return np.asarray(self.operator @ units, dtype=np.float64)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return np.asarray(self.operator @ V, dtype=np.float64)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return np.asarray(self._transpose @ R, dtype=np.float64)

    def restricted(self, columns: np.ndarray) -> Storage:
        return DenseStorage(self.columns(columns))


def storage_of(matrix: MatrixLike, *, symmetric: bool = False) -> Storage:
    """The storage behind a checked dense array, sparse matrix or linear operator."""
    if isinstance(matrix, LinearOperator):
        return OperatorStorage(matrix, symmetric=symmetric)
    return SparseStorage(matrix) if sp.issparse(matrix) else DenseStorage(matrix)


# Indices are converted to unsigned below: for signed ones numba allows negative values, which doubles the time.


@compiled
def _dot_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, rows: np.ndarray, out: np.ndarray
) -> None:
    """out[k, a] = the product of rows[k] and columns[a], or column a if no columns are given."""
    one, two, some = np.uint64(1), np.uint64(2), len(columns) > 0
    for k in range(len(rows)):
        r = rows[k]
        for a in range(out.shape[1]):
            column = columns[a] if some else a
            p, stop = np.uint64(indptr[column]), np.uint64(indptr[column + 1])
            paired = stop - ((stop - p) & one)
            even, odd = 0.0, 0.0  # two sums, so that an addition need not wait for the one before
            while p < paired:  # `range` would need a division for each column
                even += data[p] * r[np.uint64(indices[p])]
                odd += data[p + one] * r[np.uint64(indices[p + one])]
                p += two
            if p < stop:
                even += data[p] * r[np.uint64(indices[p])]
            out[k, a] = even + odd


@compiled
def _square_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, weights: np.ndarray, out: np.ndarray
) -> None:
    for column in range(len(out)):
        total = 0.0
        for p in range(np.uint64(indptr[column]), np.uint64(indptr[column + 1])):
            value = np.float64(data[p])
            total += value * value * weights[np.uint64(indices[p])]
        out[column] = total


@compiled
def _quadratic_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, Q: np.ndarray, out: np.ndarray
) -> None:
    for column in range(len(out)):
        start, stop = np.uint64(indptr[column]), np.uint64(indptr[column + 1])
        total = 0.0
        for p in range(start, stop):
            row = Q[np.uint64(indices[p])]
            half = 0.0
            for q in range(start, p):
                half += data[q] * row[np.uint64(indices[q])]
            value = np.float64(data[p])
            total += value * (2.0 * half + value * row[np.uint64(indices[p])])
        out[column] = total


@compiled
def _row_products(
    by_column: np.ndarray,
    samples: np.ndarray,
    starts: np.ndarray,
    by_row: np.ndarray,
    features: np.ndarray,
    row_starts: np.ndarray,
    squares: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = A diag(squares) A', through the columns of A, whose samples ascend."""
    for i in range(len(out)):
        line = out[i]
        for p in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + 1])):
            j = np.uint64(features[p])
            value = by_row[p] * squares[j]
            if value == 0.0:
                continue
            for q in range(np.uint64(starts[j]), np.uint64(starts[j + np.uint64(1)])):
                k = np.uint64(samples[q])
                if k > np.uint64(i):
                    break
                line[k] += value * by_column[q]
    for i in range(len(out)):
        for other in range(i):
            out[other, i] = out[i, other]


@compiled
def _add_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    for position in range(len(columns)):
        start, stop = np.uint64(indptr[columns[position]]), np.uint64(indptr[columns[position] + 1])
        for p in range(start, stop):
            out[np.uint64(indices[p])] += data[p] * v[position]
