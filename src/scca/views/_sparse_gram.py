"""Inner products of the sparse columns of a growing selection."""

from typing import NamedTuple

import numpy as np

from .._compile import compiled

__all__ = ["SparseGram"]

_MOST_PARTS = 8  # that columns added at different times may be kept in, before they are sorted again as one


class _Part(NamedTuple):
    """Columns of a selection sorted by sample: of sample i the entries from starts[i] to starts[i + 1].

    `positions` are the columns' positions in the selection, those from `begin` to `end`, in ascending order.
    """

    begin: int
    end: int
    starts: np.ndarray
    positions: np.ndarray
    values: np.ndarray


class SparseGram:
    """Inner products of new columns of a sparse matrix with those selected before, in a time that depends on the new.

    Every pair of entries that share a sample adds one product, so columns are kept sorted by sample.
    """

    def __init__(
        self,
        arrays: tuple[np.ndarray, np.ndarray, np.ndarray],
        weights: np.ndarray,
        column_weights: np.ndarray | None = None,
    ):
        self._arrays = arrays
        self.weights = weights
        self._column_weights = column_weights
        self._parts: list[_Part] = []

    def products(self, columns: np.ndarray, start: int) -> np.ndarray:
        """A_S' diag(weights) A_N, S being `columns`, of which only the last may be new, and N those from `start` on."""
        self._parts = [part for part in self._parts if part.end <= start]
        if len(self._parts) == _MOST_PARTS:
            self._parts = []
        sorted_so_far = self._parts[-1].end if self._parts else 0
        if sorted_so_far < start:
            self._parts.append(self._part(columns, sorted_so_far, start))
        out = np.zeros((len(columns) - start, len(columns)))
        for part in self._parts:
            _add_products(*self._arrays, columns[start:], self.weights, *part[2:], out)
        new = self._part(columns, start, len(columns))
        _add_products_within(self.weights, *new[2:], start, out)
        self._parts.append(new)
        if self._column_weights is not None:
            out *= self._column_weights[columns[start:], None] * self._column_weights[columns]
        return out.T

    def _part(self, columns: np.ndarray, begin: int, end: int) -> _Part:
        return _Part(begin, end, *_by_sample(*self._arrays, columns[begin:end], begin, len(self.weights)))


# Indices are converted to unsigned below: for signed ones numba allows negative values, which doubles the time.


@compiled
def _by_sample(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, begin: int, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    one = np.uint64(1)
    starts = np.zeros(n + 1, dtype=np.uint64)
    for column in columns:
        for p in range(np.uint64(indptr[column]), np.uint64(indptr[column + 1])):
            starts[np.uint64(indices[p]) + one] += one
    for sample in range(n):
        starts[sample + 1] += starts[sample]
    filled = starts[:-1].copy()
    positions = np.empty(starts[-1], dtype=np.uint32)
    values = np.empty(starts[-1])
    for b in range(len(columns)):
        for p in range(np.uint64(indptr[columns[b]]), np.uint64(indptr[columns[b] + 1])):
            i = np.uint64(indices[p])
            positions[filled[i]] = begin + b
            values[filled[i]] = data[p]
            filled[i] += one
    return starts, positions, values


@compiled
def _add_products(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[b, a] += the product of columns[b] and the column at position a of a part."""
    one = np.uint64(1)
    for b in range(len(columns)):
        row = out[b]
        for p in range(np.uint64(indptr[columns[b]]), np.uint64(indptr[columns[b] + 1])):
            i = np.uint64(indices[p])
            value = data[p] * weights[i]
            for q in range(starts[i], starts[i + one]):
                row[np.uint64(positions[q])] += value * values[q]


@compiled
def _add_products_within(
    weights: np.ndarray, starts: np.ndarray, positions: np.ndarray, values: np.ndarray, begin: int, out: np.ndarray
) -> None:
    """out[b, a] += the product of the columns at positions begin + b and a of one part, which has no entry twice."""
    one = np.uint64(1)
    for i in range(len(weights)):
        for p in range(starts[i], starts[i + 1]):
            row = out[np.int64(positions[p]) - begin]
            value = values[p] * weights[i]
            for q in range(starts[i], p + one):
                row[np.uint64(positions[q])] += value * values[q]
    for b in range(len(out)):
        for a in range(b):
            out[a, begin + b] = out[b, begin + a]
