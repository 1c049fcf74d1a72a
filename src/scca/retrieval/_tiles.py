"""Cosines of many rows with many others, tile by tile: a fixed amount of memory, however many rows there are."""

from functools import cache

import numpy as np

from .._data import check_matrix
from .._types import MatrixLike
from ..parallel import one_blas_thread

__all__ = ["ALIGNED", "CANDIDATES", "QUERIES", "checked", "padded", "product_type", "tile_size", "unit_rows"]

QUERIES, CANDIDATES = 128, 8192  # rows of a tile: 4 MiB of cosines in float32, 8 in float64, for every core
ALIGNED = 64  # candidates of a tile are a multiple of this
_SCALED = 8192  # rows scaled at a time


def checked(rows: MatrixLike, name: str, *, can_be_empty: bool = False) -> np.ndarray:
    """Finite scores as a dense array of float32 or float64."""
    if can_be_empty and isinstance(rows, np.ndarray) and rows.ndim == 2 and not len(rows):
        return rows
    rows = check_matrix(rows, name)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """A copy with rows of norm 1; rows without information stay zero."""
    units = np.empty(rows.shape, rows.dtype)
    for start in range(0, len(rows), _SCALED):
        part = np.ascontiguousarray(rows[start : start + _SCALED])  # sums have an order of their own in other layouts
        largest = np.abs(part).max(axis=1, keepdims=True, initial=0)
        part = part / np.where(largest > 0, largest, 1)  # squares of tiny or huge scores would under- or overflow
        norms = np.linalg.norm(part, axis=1, keepdims=True)
        units[start : start + _SCALED] = part / np.where(norms > 0, norms, 1)
    return units


def tile_size(n: int, most: int) -> int:
    """Rows of each of the tiles that `n` rows are split into, all of one size."""
    n_tiles = max(1, -(-n // most))
    return max(1, -(-n // (n_tiles * ALIGNED))) * ALIGNED


@cache
def product_type(dtype: np.dtype) -> np.dtype:
    """In which precision equal rows have equal cosines wherever they stand in a tile: `dtype`, or float64.

    Some kernels of BLAS for float32 sum the first rows of a matrix in another order than the others. Whether those of
    this machine do is found out once.
    """
    queries = np.random.default_rng(0).standard_normal((QUERIES, 40)).astype(dtype)
    candidates = np.broadcast_to(queries[:1], (8 * ALIGNED, 40))
    with one_blas_thread():
        cosines = queries @ np.ascontiguousarray(candidates).T
    return dtype if (cosines == cosines[:, :1]).all() else np.dtype(np.float64)


def padded(rows: np.ndarray, size: int) -> np.ndarray:
    """Rows and zeros, `size` in all.

    BLAS sums the rows at the edge of a matrix in another order. In tiles of one aligned size the cosine of two rows
    does not depend on where they stand, so that equal candidates tie.
    """
    if len(rows) == size:
        return rows
    full = np.zeros((size, rows.shape[1]), rows.dtype)
    full[: len(rows)] = rows
    return full
