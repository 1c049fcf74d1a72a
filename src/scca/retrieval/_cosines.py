"""Cosines of all rows with all others, tile by tile in a fixed amount of memory, and the ranks of mates by them."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from .._data import check_matrix, check_same_samples
from .._types import MatrixLike
from ..parallel import map_threads, one_blas_thread

__all__ = [
    # tiles
    "ALIGNED",
    "CANDIDATES",
    "QUERIES",
    "checked",
    "padded",
    "product_type",
    "tile_size",
    "unit_rows",
    # ranks
    "AveragePrecision",
    "average_precision",
    "mate_ranks",
    "ranks_among",
]

QUERIES, CANDIDATES = 128, 8192  # rows of a tile: 4 MiB of cosines in float32, 8 in float64, for every core
ALIGNED = 64  # candidates of a tile are a multiple of this
_ROWS_SCALED = 8192  # rows scaled at a time


@dataclass(frozen=True)
class AveragePrecision:
    """Mean of 1 / rank of the mate, in each direction and averaged over both; 1 is perfect."""

    average_precision: float
    a_to_b: float
    b_to_a: float


def average_precision(A: MatrixLike, B: MatrixLike) -> AveragePrecision:
    """The paper's average precision, mean of 1 / rank, of finding the mates of A in B and of B in A.

    Parameters
    ----------
    A, B : arrays of shape (n, c)
        Scores of n pairs; see `mate_ranks`.

    Returns
    -------
    AveragePrecision
    """
    a_to_b, b_to_a = (float(np.mean(1.0 / ranks)) for ranks in mate_ranks(A, B))
    return AveragePrecision((a_to_b + b_to_a) / 2, a_to_b, b_to_a)


def mate_ranks(A: MatrixLike, B: MatrixLike) -> tuple[np.ndarray, np.ndarray]:
    """Ranks of the mates, from A to B and from B to A; 1 is the best.

    Row i of A and row i of B are mates. Rows are compared by their cosine. Ties get their mean rank; a row without
    information (all zero) ties with everything and gets the middle rank.

    Parameters
    ----------
    A, B : arrays of shape (n, c)
        Scores of n pairs, as `transform_pair` gives them.

    Returns
    -------
    a_to_b, b_to_a : float arrays of shape (n,)
    """
    A, B = checked(A, "A"), checked(B, "B")
    check_same_samples(A, B, ("A", "B"))
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A and B must have the same number of columns; got {A.shape[1]} and {B.shape[1]}.")
    A, B = unit_rows(A), unit_rows(B)
    mates = np.einsum("ij,ij->i", A, B)
    with one_blas_thread():
        return _ranks(A, B, mates, _tolerance(A)), _ranks(B, A, mates, _tolerance(A))


def ranks_among(queries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Ranks of the mates of queries; the first candidates are their mates, in order, and more may follow.

    As `mate_ranks` compares rows, ties and rows without information.
    """
    A, B = unit_rows(checked(queries, "queries")), unit_rows(checked(candidates, "candidates"))
    mates = np.einsum("ij,ij->i", A, B[: len(A)])
    with one_blas_thread():
        return _ranks(A, B, mates, _tolerance(A))


def _tolerance(scores: np.ndarray) -> float:
    """Products of the same two rows can differ by rounding: values this close are ties."""
    return 4 * scores.shape[1] * float(np.finfo(scores.dtype).eps)


def _ranks(queries: np.ndarray, candidates: np.ndarray, mates: np.ndarray, tolerance: float) -> np.ndarray:
    size = tile_size(len(candidates), CANDIDATES)
    ranks = np.empty(len(queries))

    def rank(start: int) -> None:
        rows = slice(start, start + QUERIES)
        mate = mates[rows, None]
        better, tied = np.zeros(len(mate)), np.zeros(len(mate))
        tile = padded(queries[rows], QUERIES)
        for first in range(0, len(candidates), size):
            offered = candidates[first : first + size]
            ahead = (tile @ padded(offered, size).T)[: len(mate), : len(offered)]
            ahead -= mate
            n_better = np.count_nonzero(ahead > tolerance, axis=1)
            better += n_better
            tied += np.count_nonzero(ahead >= -tolerance, axis=1) - n_better  # the mate itself among them
        ranks[rows] = better + (tied + 1) / 2

    map_threads(rank, range(0, len(queries), QUERIES))
    return ranks


def checked(rows: MatrixLike, name: str, *, can_be_empty: bool = False) -> np.ndarray:
    """Finite scores as a dense array of float32 or float64."""
    if can_be_empty and isinstance(rows, np.ndarray) and rows.ndim == 2 and not len(rows):
        return rows
    rows = check_matrix(rows, name)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """A copy with rows of norm 1; rows without information stay zero."""
    units = np.empty(rows.shape, rows.dtype)
    for start in range(0, len(rows), _ROWS_SCALED):
        part = np.ascontiguousarray(rows[start : start + _ROWS_SCALED])  # other layouts are summed in another order
        largest = np.abs(part).max(axis=1, keepdims=True, initial=0)
        part = part / np.where(largest > 0, largest, 1)  # squares of tiny or huge scores would under- or overflow
        norms = np.linalg.norm(part, axis=1, keepdims=True)
        units[start : start + _ROWS_SCALED] = part / np.where(norms > 0, norms, 1)
    return units


def tile_size(n: int, most: int) -> int:
    """Rows of each of the tiles that `n` rows are split into, all of one size."""
    n_tiles = max(1, -(-n // most))
    return max(1, -(-n // (n_tiles * ALIGNED))) * ALIGNED


def padded(rows: np.ndarray, size: int) -> np.ndarray:
    """The rows followed by zeros, `size` rows in all.

    BLAS sums the rows at the edge of a matrix in another order. In tiles of one aligned size the cosine of two rows
    does not depend on where they stand, so that equal candidates tie.
    """
    if len(rows) == size:
        return rows
    full = np.zeros((size, rows.shape[1]), rows.dtype)
    full[: len(rows)] = rows
    return full


@cache
def product_type(dtype: np.dtype) -> np.dtype:
    """The precision in which equal rows have equal cosines wherever they stand in a tile: `dtype`, or float64.

    Some kernels of BLAS for float32 sum the first rows of a matrix in another order than the others. The first call
    finds out whether those of this machine do.
    """
    queries = np.random.default_rng(0).standard_normal((QUERIES, 40)).astype(dtype)
    candidates = np.broadcast_to(queries[:1], (8 * ALIGNED, 40))
    with one_blas_thread():
        cosines = queries @ np.ascontiguousarray(candidates).T
    return dtype if (cosines == cosines[:, :1]).all() else np.dtype(np.float64)
