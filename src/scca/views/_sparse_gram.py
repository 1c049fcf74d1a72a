"""Inner products of the sparse columns of a growing selection."""

from typing import Any, NamedTuple

import numpy as np

from .._compile import compiled

__all__ = ["SparseGram"]

_WORTH_KEEPING = 4096  # minimum number of entries of a part: fewer are sorted again together with new ones
_SAMPLES_AT_ONCE = 1024  # number of samples whose entries are written at a time, so that their places stay in the cache
_MOST_PARTS = 8  # maximum number of parts, for columns added at different times, before all are sorted as one


class _Part(NamedTuple):
    """Columns of a selection sorted by sample: sample i has the last counts[i] entries before stops[i].

    `positions` are the positions of the columns in the selection, from `begin` to `end`, in ascending order. Samples
    with the same number of entries are neighbours: `samples` has them in the order of the entries, those with k entries
    from groups[k] to groups[k + 1].
    """

    begin: int
    end: int
    samples: np.ndarray
    groups: np.ndarray
    counts: np.ndarray
    stops: np.ndarray
    positions: np.ndarray
    values: np.ndarray


class SparseGram:
    """Inner products of new columns of a sparse matrix with earlier ones, in a time that depends on the new ones.

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
        """A_S' diag(weights) A_N, where S is `columns` (only the last may be new) and N those from `start` on."""
        self._parts = [part for part in self._parts if part.end <= start]
        if len(self._parts) == _MOST_PARTS:
            self._parts = []
        if self._parts and len(self._parts[-1].values) < _WORTH_KEEPING:
            self._parts.pop()
        out = np.zeros((len(columns) - start, len(columns)))
        for part in self._parts:
            _add_products(*self._arrays, columns[start:], self.weights, *part[4:], out)
        begin = self._parts[-1].end if self._parts else 0
        last = self._part(columns, begin, len(columns))
        _add_products_within(self.weights, last.samples, last.groups, last.positions, last.values, start, out)
        self._parts.append(last)
        if self._column_weights is not None:
            out *= self._column_weights[columns[start:], None] * self._column_weights[columns]
        return out.T

    def _part(self, columns: np.ndarray, begin: int, end: int) -> _Part:
        return _Part(begin, end, *_by_sample(*self._arrays, columns[begin:end], begin, len(self.weights)))


# Indices are converted to unsigned below: for signed ones numba allows negative values, which doubles the time.


@compiled
def _by_sample(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, columns: np.ndarray, begin: int, n: int
) -> Any:
    """The fields of a `_Part` after its limits, for columns of which the first is at position `begin`."""
    one = np.uint64(1)
    counts = np.zeros(n, dtype=np.uint32)
    for column in columns:
        for p in range(np.uint64(indptr[column]), np.uint64(indptr[column + 1])):
            counts[np.uint64(indices[p])] += np.uint32(1)
    samples, groups, stops, total = _by_count(counts, len(columns))
    positions = np.empty(total, dtype=np.uint32)
    values = np.empty(total)
    nexts = indptr[columns].astype(np.uint64)
    for limit in range(_SAMPLES_AT_ONCE, n + _SAMPLES_AT_ONCE, _SAMPLES_AT_ONCE):
        for b in range(len(columns)):
            p, end = nexts[b], np.uint64(indptr[columns[b] + 1])
            while p < end and indices[p] < limit:
                i = np.uint64(indices[p])
                at = np.uint64(stops[i])
                stops[i] += np.uint32(1)
                positions[at] = begin + b
                values[at] = data[p]
                p += one
            nexts[b] = p
    return samples, groups, counts, stops, positions, values


@compiled
def _by_count(counts: np.ndarray, most: int) -> Any:
    """Samples in ascending order of their numbers of entries, at most `most`, and where the entries of each start.

    The processor predicts the end of a short loop if the previous one was as long: products take a third less time.
    """
    one = np.uint64(1)
    groups = np.zeros(most + 2, dtype=np.uint64)
    for i in range(len(counts)):
        if counts[i]:  # samples without entries, which may be most, have no loop
            groups[np.uint64(counts[i]) + one] += one
    entries = np.zeros(most + 2, dtype=np.uint64)
    for k in range(most + 1):
        entries[k + 1] = entries[k] + groups[k + 1] * np.uint64(k)
        groups[k + 1] += groups[k]
    total, ranks = entries[most + 1], groups.copy()
    samples, starts = np.empty(groups[most + 1], dtype=np.uint32), np.empty(len(counts), dtype=np.uint32)
    for i in range(len(counts)):
        count = np.uint64(counts[i])
        starts[i] = entries[count]
        if count:
            samples[ranks[count]] = i
            ranks[count] += one
            entries[count] += count
    return samples, groups, starts, total


@compiled
def _add_products(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray,
    stops: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> None:
    """out[b, a] += the product of columns[b] and the column at position a of a part."""
    for b in range(len(columns)):
        row = out[b]
        for p in range(np.uint64(indptr[columns[b]]), np.uint64(indptr[columns[b] + 1])):
            i = np.uint64(indices[p])
            value = data[p] * weights[i]
            stop = np.uint64(stops[i])
            for q in range(stop - np.uint64(counts[i]), stop):
                row[np.uint64(positions[q])] += value * values[q]


@compiled
def _add_products_within(
    weights: np.ndarray,
    samples: np.ndarray,
    groups: np.ndarray,
    positions: np.ndarray,
    values: np.ndarray,
    start: int,
    out: np.ndarray,
) -> None:
    """out[b, a] += the product of the columns at positions start + b and a of one part, which has each entry once."""
    one, two, width, first = np.uint64(1), np.uint64(2), np.uint64(out.shape[1]), np.uint64(start)
    flat = out.reshape(-1)  # flat, since making a row for each entry would take as long as its products
    begin = np.uint64(0)
    for count in range(np.uint64(1), np.uint64(len(groups)) - one):
        for rank in range(groups[count], groups[count + one]):
            weight = weights[np.uint64(samples[rank])]
            for p in range(begin, begin + count):
                if np.uint64(positions[p]) < first:
                    continue
                row = (np.uint64(positions[p]) - first) * width
                value = values[p] * weight
                q = begin
                while q < p:  # two entries at a time, since these loops are short and many
                    flat[row + np.uint64(positions[q])] += value * values[q]
                    flat[row + np.uint64(positions[q + one])] += value * values[q + one]
                    q += two
                if q == p:
                    flat[row + np.uint64(positions[q])] += value * values[q]
            begin += count
    for b in range(len(out)):
        for a in range(b):
            out[a, start + b] = out[b, start + a]
