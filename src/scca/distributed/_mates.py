"""Mates of queries in blocks among candidates in blocks: every worker searches its own, and the best are merged."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..retrieval import ExactIndex
from ._blocks import as_a_worker, in_groups
from ._scoring import Piece, Scored, scores_in_pieces
from ._sent import Sent

__all__ = ["Search"]

_FAN_IN = 4  # lists that a task merges

Lists = tuple[np.ndarray, np.ndarray]  # candidates and their cosines, the best first, one row per query


class Search:
    """All candidates, in one index per worker, and how pieces of the queries are answered.

    Parameters
    ----------
    queries, candidates : Scored
    top : int
        Candidates per query.
    finish : callable
        Of a piece, the scores of its queries and their best candidates, on a worker: the result of the piece.
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
        asked = submit(
            _asked, self._queries.function, self._queries.blocks[piece.block], piece.start, piece.stop, pure=False
        )
        found = [submit(_best, index, asked, self._top, pure=False, **where) for where, index in self._indexes]
        while len(found) > 1:
            groups = [found[i : i + _FAN_IN] for i in range(0, len(found), _FAN_IN)]
            found = [submit(_merged, group, self._top, pure=False) for group in groups]
        return submit(self._finish, piece, asked, found[0], pure=False)

    def _made_indexes(self) -> list[tuple[dict[str, Any], Any]]:
        firsts, n_all = self._candidates.ends, len(self._candidates)
        made = []
        for where, numbers, blocks in in_groups(self._client, self._candidates.blocks):
            starts = [firsts[i] for i in numbers]
            index = self._client.submit(
                _Index.of, self._candidates.function, blocks, starts, n_all, self._top, pure=False, **where
            )
            made.append((where, index))
        return made

    def renew(self) -> None:
        """After a loss."""
        self._indexes = None
        self._queries.renew()
        self._candidates.renew()

    def futures(self) -> list[Any]:
        indexes = [index for _, index in self._indexes or ()]
        return [*self._queries.futures(), *self._candidates.futures(), *indexes]


# --- on the workers ---------------------------------------------------------------------------------------------------


class _Index:
    """The candidates of some blocks, which are in order, by their numbers among all."""

    def __init__(self, exact: ExactIndex, numbers: np.ndarray):
        self.exact, self.numbers = exact, numbers

    @classmethod
    def of(cls, function: Sent, blocks: Sequence[Any], firsts: Sequence[int], n_all: int, top: int) -> "_Index":
        with as_a_worker():
            scores, numbers = [], []
            for block, first in zip(blocks, firsts, strict=True):
                for part, _ in scores_in_pieces(function, block):
                    scores.append(part)
                    numbers.append(np.arange(first, first + len(part)))
                    first += len(part)
            return cls(ExactIndex.of_some(np.concatenate(scores), n_all, top), np.concatenate(numbers))

    def __sizeof__(self) -> int:
        """For Dask, which otherwise would think nothing of moving it."""
        return 8 * self.exact.n_candidates * (1 + self.exact.n_components)


def _asked(function: Sent, block: Any, start: int, stop: int) -> tuple[np.ndarray, np.ndarray | None]:
    with as_a_worker():
        return function(block, start, stop)


def _best(index: _Index, asked: tuple[np.ndarray, Any], top: int) -> Lists:
    if not top or not index.exact.n_candidates:
        return np.empty((len(asked[0]), 0), np.intp), np.empty((len(asked[0]), 0), asked[0].dtype)
    with as_a_worker():
        indices, similarities = index.exact.best_matches(asked[0], top)
    return index.numbers[indices], similarities


def _merged(parts: Sequence[Lists], top: int) -> Lists:
    """The best of several lists; ties in the candidates' order, as in a search of all."""
    indices, similarities = (np.concatenate(of_parts, axis=1) for of_parts in zip(*parts, strict=True))
    order = np.lexsort((indices, -similarities), axis=1)[:, :top]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(similarities, order, axis=1)
