"""Large dense arrays, in memory or in a file, a tile at a time: they are never copied as a whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._types import MatrixLike

__all__ = ["ChosenRows", "chosen_rows", "column_blocks", "read_tile", "tiles"]

_TILE_ENTRIES = 1 << 20  # entries that are converted to float64 at a time
_MOST_COPIED = 1 << 24  # entries of an array some of whose rows may be copied
_DENSELY = 0.25  # share of a range of columns from which on the range is read as a whole


class ChosenRows:
    """Some rows of a dense array, read where they are needed."""

    ndim = 2
    _array: np.ndarray
    _rows: np.ndarray

    def __init__(self, array: Any, rows: np.ndarray):
        if isinstance(array, ChosenRows):
            array, rows = array._array, array._rows[rows]
        self._array, self._rows = array, rows
        self.shape, self.dtype = (len(rows), array.shape[1]), array.dtype
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        chosen = self._rows[rows]
        return self._array[chosen, columns] if isinstance(columns, slice) else self._array[np.ix_(chosen, columns)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)


def chosen_rows(data: MatrixLike, rows: Any) -> Any:
    """`data[rows]`; of a large dense array without a copy, and of samples elsewhere by their own means."""
    if getattr(data, "remote", None) is not None:
        return data.chosen(rows)
    return data[rows] if sp.issparse(data) or data.size <= _MOST_COPIED else ChosenRows(data, rows)


def tiles(n: int, m: int) -> Iterator[tuple[slice, slice]]:
    """Tiles of an n x m matrix: blocks of columns if it is wide, of rows if it is tall.

    Either way the parts of a file that a tile is read from are long, whether it is stored by rows or by columns.
    """
    if m > n:
        return ((slice(0, n), columns) for columns in column_blocks(n, m))
    return ((rows, slice(0, m)) for rows in column_blocks(m, n))


def column_blocks(n: int, m: int) -> Iterator[slice]:
    """Blocks of columns of an n x m matrix, with as many entries as a tile."""
    step = max(1, _TILE_ENTRIES // max(1, n))
    return (slice(start, min(m, start + step)) for start in range(0, m, step))


def read_tile(array: Any, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
    """`array[rows, columns]`, for a slice of columns or their indices."""
    if isinstance(columns, np.ndarray) and len(columns):
        first, last = columns.min(), columns.max() + 1
        if len(columns) >= _DENSELY * (last - first):  # much faster than one entry after another
            return np.take(array[rows, first:last], columns - first, axis=1)
    return array[rows, columns]
