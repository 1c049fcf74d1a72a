"""Mates of queries among candidates, both in blocks: every worker searches its own candidates; the best are merged."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..retrieval import ExactIndex
from ._blocks import as_a_worker, in_groups
from ._cluster import merging_tree
from ._packing import SentFunction
from ._scoring import Piece, Scored, scores_in_pieces

__all__ = ["BestCandidates", "Search"]

BestCandidates = tuple[np.ndarray, np.ndarray]  # their numbers and cosines, the best first, one row per query


class Search:
    """A search among all candidates, which are in one index per worker, for pieces of the queries.

    Parameters
    ----------
    queries, candidates : Scored
    top : int
        Candidates per query.
    finish : callable
        Called on a worker with a piece, the scores of its queries and their best candidates; returns the result of the
        piece.
    """

    def __init__(self, queries: Scored, candidates: Scored, top: int, finish: Callable[..., Any]):
        self._queries, self._candidates, self._finish = queries, candidates, finish
        self._top = min(top, len(candidates))
        self._client = queries.client
        self._indexes: list[tuple[dict[str, Any], Any]] | None = None

    def send(self, piece: Piece) -> Any:
        """The future of the result of a piece."""
        submit = self._client.submit
        if self._indexes is None:
            self._indexes = self._made_indexes()
        queries, block = self._queries.function.future, self._queries.blocks[piece.block]
        scores = submit(_query_scores, queries, block, piece.start, piece.stop, pure=False)
        found = [submit(_best, index, scores, self._top, pure=False, **where) for where, index in self._indexes]
        best = merging_tree(self._client, _merged, found, self._top)[-1]
        return submit(self._finish, piece, scores, best, pure=False)

    def _made_indexes(self) -> list[tuple[dict[str, Any], Any]]:
        """For each worker, where its tasks run, and the future of its index."""
        candidates, made = self._candidates, []
        for where, numbers, blocks in in_groups(self._client, candidates.blocks):
            firsts = [candidates.ends[i] for i in numbers]
            given = candidates.function.future, blocks, firsts, len(candidates), self._top
            made.append((where, self._client.submit(_Index.of, *given, pure=False, **where)))
        return made

    def renew(self) -> None:
        """Make lost blocks, and all indexes, again."""
        self._indexes = None
        self._queries.renew()
        self._candidates.renew()

    def futures(self) -> list[Any]:
        """What all pieces share."""
        indexes = [index for _, index in self._indexes or ()]
        return [*self._queries.function.futures(), *self._candidates.function.futures(), *indexes]


# --- on the workers ---------------------------------------------------------------------------------------------------


class _Index:
    """The candidates of some blocks, and their numbers among all candidates."""

    def __init__(self, exact: ExactIndex, numbers: np.ndarray):
        self.exact, self.numbers = exact, numbers

    @classmethod
    def of(cls, function: SentFunction, blocks: Sequence[Any], firsts: Sequence[int], n_all: int, top: int) -> "_Index":
        with as_a_worker():
            scores, numbers = [], []
            for block, first in zip(blocks, firsts, strict=True):
                for part, _ in scores_in_pieces(function, block):
                    scores.append(part)
                    numbers.append(np.arange(first, first + len(part)))
                    first += len(part)
            return cls(ExactIndex.of_some(np.concatenate(scores), n_all, top), np.concatenate(numbers))

    def __sizeof__(self) -> int:
        """Tells Dask that the index is large, so that it is not moved for nothing."""
        return 8 * self.exact.n_candidates * (1 + self.exact.n_components)


def _query_scores(function: SentFunction, block: Any, start: int, stop: int) -> tuple[np.ndarray, np.ndarray | None]:
    with as_a_worker():
        return function(block, start, stop)


def _best(index: _Index, scores: tuple[np.ndarray, Any], top: int) -> BestCandidates:
    queries, _ = scores
    if not top or not index.exact.n_candidates:
        return np.empty((len(queries), 0), np.intp), np.empty((len(queries), 0), queries.dtype)
    with as_a_worker():
        indices, similarities = index.exact.best_matches(queries, top)
    return index.numbers[indices], similarities


def _merged(parts: Sequence[BestCandidates], top: int) -> BestCandidates:
    """The best candidates of several indexes; ties are in the candidates' order, as in a search of one index."""
    indices, similarities = (np.concatenate(of_parts, axis=1) for of_parts in zip(*parts, strict=True))
    order = np.lexsort((indices, -similarities), axis=1)[:, :top]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(similarities, order, axis=1)
