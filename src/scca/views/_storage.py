"""Storage of matrices: dense, scipy.sparse or a linear operator; products in float64."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from .._compile import compiled
from .._types import MatrixLike
from ._sparse_gram import SparseGram

__all__ = [
    "DenseStorage",
    "OperatorStorage",
    "SparseStorage",
    "Storage",
    "WeightedStorage",
    "float64_rows",
    "storage_of",
]

_BLOCK_ENTRIES = 1 << 20  # entries converted to float64 at a time where the data are float32


class Storage(ABC):
    """A matrix A (n x m) that is only read; every product is accumulated and returned in float64."""

    shape: tuple[int, int]
    n_stored: int  # stored numbers, the cost of one product

    @abstractmethod
    def matvec(self, v: np.ndarray) -> np.ndarray:
        """A v; only columns where v is nonzero cost time."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """A' r, or the rows of it that belong to `columns`."""

    @abstractmethod
    def columns(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns as a dense float64 array."""

    @abstractmethod
    def matmat(self, V: np.ndarray) -> np.ndarray:
        """A V for a matrix V."""

    @abstractmethod
    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        """A'R for a matrix R."""

    @abstractmethod
    def restricted(self, columns: np.ndarray) -> "Storage":
        """A copy of the chosen columns alone, stored the same way."""


class DenseStorage(Storage):
    """An array less `shift`, one number per column, subtracted block by block, without a copy of the whole."""

    def __init__(self, array: np.ndarray, shift: np.ndarray | None = None):
        self.array = array
        self.shift = shift
        self.shape = array.shape
        self.n_stored = array.size

    def _blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        if self.shift is not None:
            return ((rows, block - self.shift) for rows, block in float64_rows(self.array))
        whole = [(slice(None), self.array)]  # nothing to convert: a single block
        return iter(whole) if self.array.dtype == np.float64 else float64_rows(self.array)

    def matvec(self, v: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(v)
        if 4 * len(support) < len(v):
            return self.columns(support) @ v[support]
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            out[rows] = block @ v
        return out

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        if columns is not None:
            return self.columns(columns).T @ r
        out = np.zeros((self.shape[1], *r.shape[1:]))
        for rows, block in self._blocks():
            out += block.T @ r[rows]
        return out

    def columns(self, indices: np.ndarray) -> np.ndarray:
        block = self.array[:, indices].astype(np.float64, copy=False)
        return block if self.shift is None else block - self.shift[indices]

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return np.vstack([block @ V for _, block in self._blocks()])

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self.rmatvec(R)

    def restricted(self, columns: np.ndarray) -> Storage:
        return DenseStorage(self.array[:, columns], None if self.shift is None else self.shift[columns])


class SparseStorage(Storage):
    """Compressed columns; the matrix is never made dense or converted to another dtype."""

    def __init__(self, matrix: MatrixLike):
        self.csc = sp.csc_array(matrix)
        self.shape = self.csc.shape
        self.n_stored = self.csc.nnz
        self._arrays = self.csc.data, self.csc.indices, self.csc.indptr
        self._all_columns = np.arange(self.shape[1])

    @cached_property
    def rows(self) -> sp.csr_array:
        """The same matrix by rows, for products with many vectors: a row of scores is read and written once."""
        return self.csc.tocsr()

    def matvec(self, v: np.ndarray) -> np.ndarray:
        support = np.flatnonzero(v)
        out = np.zeros(self.shape[0])
        _add_columns(*self._arrays, support, v[support], out)
        return out

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        columns = self._all_columns if columns is None else columns
        rows = np.ascontiguousarray(np.atleast_2d(r.T))
        out = np.empty((len(rows), len(columns)))
        for row, products in zip(rows, out, strict=True):
            _dot_columns(*self._arrays, columns, row, products)
        return out.T if r.ndim == 2 else out[0]

    def columns(self, indices: np.ndarray) -> np.ndarray:
        return self.csc[:, indices].astype(np.float64, copy=False).toarray()

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return self.csc @ np.ascontiguousarray(V, dtype=np.float64)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self.csc.T @ np.ascontiguousarray(R, dtype=np.float64)

    def restricted(self, columns: np.ndarray) -> Storage:
        return SparseStorage(self.csc[:, columns])

    def gram(self, weights: np.ndarray | None) -> SparseGram:
        """Products of a growing selection of columns, weighted by sample."""
        return SparseGram(self._arrays, np.ones(self.shape[0]) if weights is None else weights)

    def square_norms(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of A' diag(weights) A."""
        out = np.empty(self.shape[1])
        _square_columns(*self._arrays, weights, out)
        return out

    def quadratic_forms(self, Q: np.ndarray) -> np.ndarray:
        """a'Q a of every column a, Q symmetric."""
        out = np.empty(self.shape[1])
        _quadratic_columns(*self._arrays, Q, out)
        return out

    def outer(self) -> np.ndarray:
        """A A', a dense array with one row and column per sample."""
        rows = self.csc.tocsr().astype(np.float64)
        return (rows @ rows.T).toarray()


class WeightedStorage(Storage):
    """A diag(weights) for a stored A, without a copy."""

    def __init__(self, storage: Storage, weights: np.ndarray):
        self.shape, self.n_stored = storage.shape, storage.n_stored
        self._storage = storage
        self._weights = weights

    def matvec(self, v: np.ndarray) -> np.ndarray:
        return self._storage.matvec(self._weights * v)

    def rmatvec(self, r: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        weights = self._weights if columns is None else self._weights[columns]
        return (weights * self._storage.rmatvec(r, columns).T).T

    def columns(self, indices: np.ndarray) -> np.ndarray:
        return self._storage.columns(indices) * self._weights[indices]

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return self._storage.matmat(self._weights[:, None] * V)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self._weights[:, None] * self._storage.rmatmat(R)

    def restricted(self, columns: np.ndarray) -> Storage:
        return WeightedStorage(self._storage.restricted(columns), self._weights[columns])


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
        units = np.zeros((self.shape[1], len(indices)))
        units[indices, np.arange(len(indices))] = 1.0
        return np.asarray(self.operator @ units, dtype=np.float64)

    def matmat(self, V: np.ndarray) -> np.ndarray:
        return np.asarray(self.operator @ V, dtype=np.float64)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return np.asarray(self._transpose @ R, dtype=np.float64)

    def restricted(self, columns: np.ndarray) -> Storage:
        return DenseStorage(self.columns(columns))


def float64_rows(array: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of rows as float64, so that the whole is never copied."""
    n, m = array.shape
    step = max(1, _BLOCK_ENTRIES // max(1, m))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        yield rows, np.asarray(array[rows], dtype=np.float64)


def storage_of(matrix: MatrixLike, *, symmetric: bool = False) -> Storage:
    """The storage behind a checked dense array, sparse matrix or linear operator."""
    if isinstance(matrix, LinearOperator):
        return OperatorStorage(matrix, symmetric=symmetric)
    return SparseStorage(matrix) if sp.issparse(matrix) else DenseStorage(matrix)


# Indices are converted to unsigned below: for signed ones numba allows negative values, which doubles the time.


@compiled
def _dot_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, r: np.ndarray, out: np.ndarray
) -> None:
    for position in range(len(columns)):
        start, stop = np.uint64(indptr[columns[position]]), np.uint64(indptr[columns[position] + 1])
        total = 0.0
        for p in range(start, stop):
            total += data[p] * r[np.uint64(indices[p])]
        out[position] = total


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
def _add_columns(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, v: np.ndarray, out: np.ndarray
) -> None:
    for position in range(len(columns)):
        start, stop = np.uint64(indptr[columns[position]]), np.uint64(indptr[columns[position] + 1])
        for p in range(start, stop):
            out[np.uint64(indices[p])] += data[p] * v[position]
