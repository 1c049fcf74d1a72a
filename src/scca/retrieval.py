"""Mate retrieval: for every sample of one view, the rank of its mate among all samples of the other."""

from dataclasses import dataclass

import numpy as np

from ._types import MatrixLike
from ._validation import check_matrix, check_same_samples

__all__ = ["AveragePrecision", "average_precision", "best_matches", "mate_ranks"]

_BLOCK = 1024  # queries compared at a time, so that many of them need no square matrix


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
    A, B = check_matrix(A, "A"), check_matrix(B, "B")
    check_same_samples(A, B, ("A", "B"))
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A and B must have the same number of columns; got {A.shape[1]} and {B.shape[1]}.")
    A, B = _unit_rows(A), _unit_rows(B)
    mates = np.einsum("ij,ij->i", A, B)
    # products of the same two rows can differ by rounding: values this close are ties
    tolerance = 4 * A.shape[1] * np.finfo(A.dtype).eps
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


def best_matches(queries: MatrixLike, candidates: MatrixLike, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The `top` candidates with the largest cosine for each query, and these cosines; ties in the candidates' order.

    Parameters
    ----------
    queries, candidates : arrays of shape (n_queries, c) and (n_candidates, c)
        Scores in the common space.
    top : int
        How many to return; all candidates if there are fewer.

    Returns
    -------
    indices : int array of shape (n_queries, top)
    similarities : float array of shape (n_queries, top)
    """
    queries, candidates = _unit_rows(queries), _unit_rows(candidates)
    top = min(top, len(candidates))
    indices = np.empty((len(queries), top), dtype=np.intp)
    similarities = np.empty((len(queries), top))
    for start in range(0, len(queries), _BLOCK):
        rows = slice(start, start + _BLOCK)
        cosines = queries[rows] @ candidates.T
        indices[rows] = _largest(cosines, top)
        similarities[rows] = np.take_along_axis(cosines, indices[rows], axis=1)
    return indices, similarities


def _largest(values: np.ndarray, top: int) -> np.ndarray:
    """Positions of the `top` largest values of every row, in order; ties by position."""
    if 4 * top >= values.shape[1]:
        return np.argsort(-values, axis=1, kind="stable")[:, :top]
    least = np.partition(values, -top, axis=1)[:, -top, None]
    order = np.empty((len(values), top), dtype=np.intp)
    for i, row in enumerate(values >= least):
        candidates = np.flatnonzero(row)
        order[i] = candidates[np.argsort(-values[i, candidates], kind="stable")[:top]]
    return order


def _unit_rows(A: MatrixLike) -> np.ndarray:
    A = np.asarray(A.toarray() if hasattr(A, "toarray") else A)
    largest = np.abs(A).max(axis=1, keepdims=True, initial=0)
    A = A / np.where(largest > 0, largest, 1)  # so that squares of tiny or huge scores do not under- or overflow
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return A / np.where(norms > 0, norms, 1)


def _ranks(queries: np.ndarray, candidates: np.ndarray, mates: np.ndarray, tolerance: float) -> np.ndarray:
    ranks = np.empty(len(queries))
    for start in range(0, len(queries), _BLOCK):
        rows = slice(start, start + _BLOCK)
        ahead = queries[rows] @ candidates.T - mates[rows, None]
        better = np.count_nonzero(ahead > tolerance, axis=1)
        tied = np.count_nonzero(np.abs(ahead) <= tolerance, axis=1)  # the mate itself among them
        ranks[rows] = better + (tied + 1) / 2
    return ranks
