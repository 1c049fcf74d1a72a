"""Mates of queries that come in blocks: neither the texts of the candidates nor those of the queries are stored."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ..retrieval import ApproximateIndex, ExactIndex
from ._results import Mates

if TYPE_CHECKING:
    from ._model import BilingualModel

__all__ = ["MateSearch"]

_BLOCK = 4096  # documents scored at a time


class MateSearch:
    """Candidates that `BilingualModel.mate_search` has scored.

    Attributes
    ----------
    source, target : str
        Languages of the queries and of the candidates.
    candidate_scores : ndarray of shape (n_candidates, n_components)
    known_candidates : ndarray of bool of shape (n_candidates,)
        As in `Mates`.
    """

    def __init__(self, model: "BilingualModel", candidates: Iterable[str], source: str, approximate: bool):
        if approximate:
            ApproximateIndex.check_installed()  # before the candidates are read
        if isinstance(candidates, str):
            raise ValueError("candidates must be texts; got one text: put it in a list.")
        self._model = model
        self.source, self.target = source, model.other(source)
        documents = iter(candidates)
        scored = [model.project_known(list(islice(documents, _BLOCK)), self.target)]  # also without any candidate
        while block := list(islice(documents, _BLOCK)):
            scored.append(model.project_known(block, self.target))
        scores, known = zip(*scored, strict=True)
        self.candidate_scores, self.known_candidates = np.concatenate(scores), np.concatenate(known)
        self._index = (ApproximateIndex if approximate else ExactIndex)(self.candidate_scores)

    def mates(self, queries: Sequence[str], *, top: int = 10) -> Mates:
        """The `top` candidates that match each query best; the queries are documents of the source language."""
        scores, known = self._model.project_known(queries, self.source)
        found = self._index.best_matches(scores, top)
        return Mates(self.source, self.target, *found, known, self.known_candidates, scores, self.candidate_scores)

    def recall(self, query_scores: np.ndarray, top: int) -> float:
        """The share of the `top` best candidates that are found for queries with these scores, which `mates` gives."""
        if isinstance(self._index, ApproximateIndex):
            return self._index.recall(query_scores, self.candidate_scores, top)
        return 1.0
