"""The best candidates of each query, by comparing it with all: threads share the tiles and keep the best so far."""

from typing import Self

import numpy as np

from .._checks import check_count
from .._types import MatrixLike
from ..parallel import map_threads, one_blas_thread
from ._cosines import CANDIDATES, QUERIES, checked, padded, product_type, tile_size, unit_rows

__all__ = ["ExactIndex", "Index", "best_matches"]

_TASKS = 8  # tasks that threads share at a time; fixed, so that results do not depend on the number of cores


class Index:
    """Candidates that queries are compared with."""

    n_candidates: int
    n_components: int

    def best_matches(self, queries: MatrixLike, top: int) -> tuple[np.ndarray, np.ndarray]:
        """The `top` candidates that match each query best, and their cosines, as the function `best_matches` does."""
        queries = checked(queries, "queries", can_be_empty=True)
        if queries.shape[1] != self.n_components:
            raise ValueError(
                "queries and candidates must have the same number of columns; got "
                f"{queries.shape[1]} and {self.n_components}."
            )
        return self._best_matches(unit_rows(queries), min(check_count(top, "top"), self.n_candidates))

    def _best_matches(self, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


class ExactIndex(Index):
    """Candidates for many calls of `best_matches`: each query is compared with all of them.

    In addition to the results it needs memory for one copy of the candidates and, per core, for 128 x 8,192 cosines, or
    128 x 2 `top` if that is more.

    Parameters
    ----------
    candidates : array of shape (n_candidates, c)
        Scores in the common space.
    """

    def __init__(self, candidates: MatrixLike):
        self._units = unit_rows(checked(candidates, "candidates", can_be_empty=True))
        self.n_candidates, self.n_components = self._units.shape
        self._tile: int | None = None  # chosen for each search

    @classmethod
    def of_some(cls, candidates: MatrixLike, n_all: int, top: int) -> Self:
        """An index of some of `n_all` candidates; its cosines are bit by bit those of a search of all for `top`."""
        index = cls(candidates)
        index._tile = _tile_of(n_all, min(top, n_all))
        return index

    def _best_matches(self, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        dtype = np.result_type(queries, self._units)
        indices = np.empty((len(queries), top), dtype=np.intp)
        similarities = np.empty((len(queries), top), dtype=dtype)
        if not top:
            return indices, similarities
        size = _tile_of(self.n_candidates, top) if self._tile is None else self._tile
        tiles = [slice(start, start + size) for start in range(0, self.n_candidates, size)]
        step = _TASKS * QUERIES
        with one_blas_thread():
            for start in range(0, len(queries), step):
                rows = slice(start, min(start + step, len(queries)))
                indices[rows], similarities[rows] = self._search(queries[rows].astype(dtype), tiles, top)
        return indices, similarities

    def _search(self, queries: np.ndarray, tiles: list[slice], top: int) -> tuple[np.ndarray, np.ndarray]:
        """Search in tasks of 128 queries; for few queries, each task has a part of the candidates instead."""
        parts = [queries[start : start + QUERIES] for start in range(0, len(queries), QUERIES)]
        n_runs = min(len(tiles), -(-_TASKS // len(parts)))
        runs = [[tiles[i] for i in run] for run in np.array_split(np.arange(len(tiles)), n_runs)]
        found = map_threads(lambda task: self._best_of(*task, top), [(part, run) for part in parts for run in runs])
        best = [_merged(found[i : i + n_runs], top) for i in range(0, len(found), n_runs)]
        indices, similarities = zip(*best, strict=True)
        return np.concatenate(indices), np.concatenate(similarities)

    def _best_of(self, queries: np.ndarray, tiles: list[slice], top: int) -> tuple[np.ndarray, np.ndarray]:
        n, size = len(queries), tiles[0].stop - tiles[0].start
        dtype, precise = queries.dtype, product_type(queries.dtype)
        queries = padded(queries, QUERIES).astype(precise, copy=False)
        cosines = np.empty((QUERIES, size), dtype=precise)
        best: tuple[np.ndarray, np.ndarray] | None = None
        for tile in tiles:
            candidates = self._units[tile]
            np.matmul(queries, padded(candidates, size).T.astype(precise, copy=False), out=cosines)
            values = cosines[:n, : len(candidates)].astype(dtype, copy=False)
            if best is None or best[0].shape[1] < top:  # fewer than `top` candidates so far
                order = _largest(values, min(top, len(candidates)))
                found = order + tile.start, np.take_along_axis(values, order, axis=1)
                best = found if best is None else _merged([best, found], top)
            else:
                _improve(*best, values, tile.start)
        assert best is not None
        return best


def best_matches(
    queries: MatrixLike, candidates: MatrixLike, top: int, *, index: Index | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The `top` candidates with the largest cosine for each query, and these cosines; ties in the candidates' order.

    Queries and candidates are compared tile by tile, on all cores; see `ExactIndex` for the memory.

    Parameters
    ----------
    queries, candidates : arrays of shape (n_queries, c) and (n_candidates, c)
        Scores in the common space.
    top : int
        How many to return; all candidates if there are fewer.
    index : ApproximateIndex or ExactIndex, optional
        An index made from the same candidates, which is searched instead of them.

    Returns
    -------
    indices : int array of shape (n_queries, top)
    similarities : float array of shape (n_queries, top)
        In float32 if both scores are.
    """
    if index is None:
        index = ExactIndex(candidates)
    elif (index.n_candidates, index.n_components) != np.shape(candidates):
        raise ValueError(
            f"index must be made from the candidates, of shape {np.shape(candidates)}; got one of "
            f"{(index.n_candidates, index.n_components)}."
        )
    return index.best_matches(queries, top)


def _tile_of(n_candidates: int, top: int) -> int:
    return tile_size(n_candidates, max(CANDIDATES, 2 * top))


def _improve(indices: np.ndarray, similarities: np.ndarray, values: np.ndarray, start: int) -> None:
    """Put new `values` among the best of each query where they are larger; earlier candidates win ties."""
    rows, columns = np.nonzero(values > similarities[:, -1:])  # few of them after the first tiles
    if not len(rows):
        return
    top = indices.shape[1]
    changed, counts = np.unique(rows, return_counts=True)
    row = np.concatenate([np.repeat(changed, top), rows])
    index = np.concatenate([indices[changed].ravel(), columns + start])
    value = np.concatenate([similarities[changed].ravel(), values[rows, columns]])
    order = np.lexsort((index, -value, row))
    ends = np.cumsum(counts + top)
    kept = order[(ends - counts - top)[:, None] + np.arange(top)]
    indices[changed], similarities[changed] = index[kept], value[kept]


def _merged(found: list[tuple[np.ndarray, np.ndarray]], top: int) -> tuple[np.ndarray, np.ndarray]:
    """The best of several lists of candidates, given in the candidates' order."""
    if len(found) == 1:
        return found[0]
    indices, values = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
    order = np.argsort(-values, axis=1, kind="stable")[:, :top]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(values, order, axis=1)


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
