"""The answers of `scca mates`, printed block by block, and what is said about all of them at the end."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._shared import note_unknown
from ._terminal import Terminal

if TYPE_CHECKING:
    from ..text import Mates, MateSearch

__all__ = ["print_mates"]

_SAMPLED = 200  # queries that the recall of an index is measured on


def print_mates(
    answers: Iterable["Mates"], search: "MateSearch", texts: list[str], terminal: Terminal, seed: int | None
) -> None:
    """Print answers as they come; with a seed, the recall on queries drawn by it, and otherwise average precision."""
    seen = _Seen(search, seed)
    if terminal.as_json:
        start = {"from": search.source, "to": search.target, "mates": []}
        terminal.json_stream(
            start, (item for found in seen.each(answers) for item in _items(found, seen)), seen.summary
        )
    else:
        blocks = (_rows(found, texts, seen) for found in seen.each(answers))
        terminal.table_stream(("query", "rank", "similarity", "candidate", "text"), blocks)
    note_unknown(terminal, "query", "queries", seen.n_unknown, seen.first_unknown, search.source)
    if not terminal.as_json:
        seen.note(terminal)


class _Seen:
    """What is kept of the queries: no more scores than there are candidates, since only as many can be their mates."""

    def __init__(self, search: "MateSearch", seed: int | None):
        self._search, self._draws = search, None if seed is None else np.random.default_rng(seed)
        self._n_candidates, n_components = search.candidate_scores.shape
        self._scores: list[np.ndarray] = []
        self._drawn, self._sample, self._top = np.empty(0), np.empty((0, n_components)), 1
        self.before = self.n_queries = self.n_unknown = self.first_unknown = 0

    def each(self, answers: Iterable["Mates"]) -> Iterator["Mates"]:
        for found in answers:
            unknown = np.flatnonzero(~found.known)
            if len(unknown) and not self.n_unknown:
                self.first_unknown = self.n_queries + int(unknown[0])
            self.n_unknown += len(unknown)
            self.before, self.n_queries = self.n_queries, self.n_queries + len(found.known)
            self._keep(found)
            yield found

    def _keep(self, found: "Mates") -> None:
        if self._draws is not None:  # those with the smallest of random numbers, one per query
            drawn = np.concatenate([self._drawn, self._draws.random(len(found.known))])
            kept = np.argsort(drawn)[:_SAMPLED]
            self._drawn, self._sample = drawn[kept], np.concatenate([self._sample, found.query_scores])[kept]
            self._top = found.indices.shape[1]
        elif self.n_queries <= self._n_candidates:
            self._scores.append(found.query_scores)
        else:
            self._scores.clear()

    def summary(self) -> dict[str, Any]:
        """The recall of an index; or the average precision, if there are as many candidates as queries."""
        from ..retrieval import average_precision

        if self._draws is not None:
            return {"recall": self._search.recall(self._sample, self._top)}
        if self.n_queries != self._n_candidates:
            return {}
        precision = average_precision(np.concatenate(self._scores), self._search.candidate_scores)
        source, target = self._search.source, self._search.target
        return {
            "average_precision": precision.average_precision,
            f"{source}_to_{target}": precision.a_to_b,
            f"{target}_to_{source}": precision.b_to_a,
        }

    def note(self, terminal: Terminal) -> None:
        if terminal.quiet:
            return
        match list(self.summary().values()):
            case [recall]:
                terminal.note(
                    f"recall {recall:.4f}: the share of the best {self._top} that the index found for "
                    f"{len(self._sample)} queries drawn at random"
                )
            case [average, there, back]:
                terminal.note(
                    f"average precision {average:.4f} ({self._search.source} to {self._search.target} {there:.4f}, "
                    f"back {back:.4f}), with lines i of both files taken as mates"
                )


def _items(found: "Mates", seen: _Seen) -> Iterator[dict[str, Any]]:
    for i, known in enumerate(found.known.tolist()):
        ranked = zip(found.indices[i].tolist(), found.similarities[i].tolist(), strict=True)
        candidates = [{"index": k, "similarity": s} for k, s in ranked]
        yield {"query": seen.before + i, "known": known, "candidates": candidates}


def _rows(found: "Mates", texts: list[str], seen: _Seen) -> Iterator[tuple[str, ...]]:
    for i, (indices, similarities) in enumerate(zip(found.indices, found.similarities, strict=True), seen.before + 1):
        for rank, (k, similarity) in enumerate(zip(indices, similarities, strict=True), start=1):
            yield str(i), str(rank), f"{similarity:.3f}", str(k + 1), texts[k]
