"""Mates: the samples of one view that match samples of another best, also for queries that come in blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..retrieval import ApproximateIndex, ExactIndex

if TYPE_CHECKING:
    from ._model import Model

__all__ = ["MateSearch", "Mates"]

_BLOCK = 4096  # number of samples scored at a time


@dataclass(frozen=True)
class Mates:
    """The candidates that match each query best, best first.

    Attributes
    ----------
    source, target : str
        Views (languages) of the queries and of the candidates.
    indices : ndarray of shape (n_queries, top)
        Positions of the candidates.
    similarities : ndarray of shape (n_queries, top)
        Cosines in the common space.
    known, known_candidates : ndarray of bool of shape (n_queries,) and (n_candidates,)
        False for a sample without anything that the model reads, such as a document without any known word: it ties
        with everything, and its mates are meaningless.
    query_scores, candidate_scores : ndarray of shape (n, n_components)
        Scores of the samples in the common space.
    """

    source: str
    target: str
    indices: np.ndarray
    similarities: np.ndarray
    known: np.ndarray
    known_candidates: np.ndarray
    query_scores: np.ndarray
    candidate_scores: np.ndarray


class MateSearch:
    """Candidates that `Model.mate_search` has scored; neither their samples nor those of queries are stored.

    Attributes
    ----------
    source, target : str
        Views of the queries and of the candidates.
    candidate_scores : ndarray of shape (n_candidates, n_components)
    known_candidates : ndarray of bool of shape (n_candidates,)
        As in `Mates`.
    """

    def __init__(
        self, model: "Model", candidates: Any, source: str, target: str, approximate: bool, in_blocks: bool = False
    ):
        if approximate:
            ApproximateIndex.check_installed()  # before the candidates are read
        if isinstance(candidates, str):
            raise ValueError("candidates must be texts; got one text: put it in a list.")
        self._model = model
        self.source, self.target = source, target
        blocks = candidates if in_blocks else _blocks(candidates)
        scores, known = zip(*(model.project_known(block, target) for block in blocks), strict=True)
        self.candidate_scores, self.known_candidates = np.concatenate(scores), np.concatenate(known)
        self._index = (ApproximateIndex if approximate else ExactIndex)(self.candidate_scores)

    def mates(self, queries: Any, *, top: int = 10) -> Mates:
        """The `top` candidates that match each query best; the queries are samples of the source view."""
        scores, known = self._model.project_known(queries, self.source)
        found = self._index.best_matches(scores, top)
        return Mates(self.source, self.target, *found, known, self.known_candidates, scores, self.candidate_scores)

    def recall(self, query_scores: np.ndarray, top: int) -> float:
        """The share of the `top` best candidates that are found for queries with these scores, which `mates` gives."""
        if isinstance(self._index, ApproximateIndex):
            return self._index.recall(query_scores, self.candidate_scores, top)
        return 1.0


def _blocks(samples: Any) -> Iterator[Any]:
    """A stream of samples in lists, at least one; a table or an array as a whole."""
    if hasattr(samples, "shape"):
        yield samples
        return
    stream: Iterable[Any] = iter(samples)
    yield list(islice(stream, _BLOCK))  # also without any candidate
    while block := list(islice(stream, _BLOCK)):
        yield block
