"""The rank of each sample's mate among all samples of the other view."""

from dataclasses import dataclass

import numpy as np

from .._data import check_same_samples
from .._types import MatrixLike
from ..parallel import map_threads, one_blas_thread
from ._tiles import (
    CANDIDATES,
    QUERIES,
    checked,
    padded,
    tile_size,
    unit_rows,
)

__all__ = ["AveragePrecision", "average_precision", "mate_ranks"]


@dataclass(frozen=True)
class AveragePrecision:
    """Mean of 1 / rank of the mate, in each direction and averaged over both; 1 is perfect."""

    average_precision: float
    a_to_b: float
    b_to_a: float


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
    # products of the same two rows can differ by rounding: values this close are ties
    tolerance = 4 * A.shape[1] * np.finfo(A.dtype).eps
    with one_blas_thread():
        return _ranks(A, B, mates, tolerance), _ranks(B, A, mates, tolerance)


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


def _ranks(queries: np.ndarray, candidates: np.ndarray, mates: np.ndarray, tolerance: float) -> np.ndarray:
    size = tile_size(len(candidates), CANDIDATES)
    ranks = np.empty(len(queries))

    def rank(start: int) -> None:
        rows = slice(start, start + QUERIES)
        mate = mates[rows, None]
        better, tied = np.zeros(len(mate)), np.zeros(len(mate))
        asked = padded(queries[rows], QUERIES)
        for first in range(0, len(candidates), size):
            offered = candidates[first : first + size]
            ahead = (asked @ padded(offered, size).T)[: len(mate), : len(offered)]
            ahead -= mate
            n_better = np.count_nonzero(ahead > tolerance, axis=1)
            better += n_better
            tied += np.count_nonzero(ahead >= -tolerance, axis=1) - n_better  # the mate itself among them
        ranks[rows] = better + (tied + 1) / 2

    map_threads(rank, range(0, len(queries), QUERIES))
    return ranks
