"""The search of `scca mates`: mates are printed block by block, and a summary of all of them at the end."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..kinds import Kind, TextVectorizer
from ..model import Mates, MateSearch, Model
from ..readers import stream_documents
from ..retrieval import average_precision
from ._inputs import from_pipe, view_of
from ._summaries import clipped
from ._terminal import CallError, Terminal

__all__ = ["search_mates"]

_DETECTED = 200  # candidates by which their language is checked
_SAMPLED = 200  # queries on which the recall of an index is measured


def search_mates(
    model: Model,
    queries: Path,
    candidates: Path,
    terminal: Terminal,
    *,
    views: tuple[str | None, str | None],
    top: int,
    approximate: bool,
    seed: int,
) -> None:
    """Print the mates of each block of queries as soon as they are found.

    At the end come the average precision or, of an approximate search, the recall on queries drawn by `seed`.
    """
    source, target = views
    blocks = _blocks(_kind_of(model, source), queries, wait=True)
    first = next(blocks)
    source = view_of(model, first, source, terminal)
    target = _target(model, candidates, source, target)
    kind = _kind_of(model, target)
    shown: list[str] = []
    beginning: list[Any] = []

    def offered() -> Iterator[Any]:
        for block in _blocks(kind, candidates):
            if isinstance(kind, TextVectorizer):
                beginning.extend(block[: _DETECTED - len(beginning)])
            if not terminal.as_json:  # JSON has no texts
                shown.extend(map(clipped, kind.labels(block) or [""] * _count(block)))
            yield block

    search = model.mate_search(offered(), source=source, target=target, approximate=approximate, in_blocks=True)
    unknown = np.flatnonzero(~search.known_candidates)
    _note_unknown(
        terminal, kind, ("candidate", "candidates"), len(unknown), unknown[0] if len(unknown) else 0, search.target
    )
    if beginning:
        _note_language(terminal, model, beginning, search)
    mates = (search.mates(block, top=top) for block in chain([first], blocks))
    _print(mates, search, shown, terminal, seed if approximate else None, model)


def _kind_of(model: Model, view: str | None) -> Kind:
    """The kind of a view; if it is not named, the kind that all views have."""
    if view is not None:
        return model.kinds_[model.number_of(view)]
    kinds = {kind.kind for kind in model.kinds_}
    if len(kinds) > 1:
        names = ", ".join(f"{name} ({kind.kind})" for name, kind in zip(model.view_names_, model.kinds_, strict=True))
        raise CallError(f"--from must name the view of the queries, since the views are of several kinds: {names}.")
    return model.kinds_[0]


def _target(model: Model, candidates: Path, source: str, target: str | None) -> str:
    """The view of the candidates: as given, the only other one, or the language of the first of them."""
    others = [name for name in model.view_names_ if name != source]
    texts = all(isinstance(_kind_of(model, name), TextVectorizer) for name in others)
    if target is None and len(others) > 1 and texts and candidates.is_file():
        return model.detect_view(next(stream_documents(candidates, _DETECTED)), without=source)
    return model.target_of(source, target)


def _blocks(kind: Kind, path: Path, wait: bool = False) -> Iterator[Any]:
    """The samples of a file: documents in blocks, anything else as a whole."""
    if isinstance(kind, TextVectorizer):
        return stream_documents(path if wait else from_pipe(path), wait=wait)
    return iter([kind.read(path)])


def _count(samples: Any) -> int:
    shape = getattr(samples, "shape", None)
    return len(samples) if shape is None else int(shape[0])


def _note_unknown(
    terminal: Terminal, kind: Kind, words: tuple[str, str], n_unknown: int, first: int, view: str
) -> None:
    one, many = words
    if n_unknown == 1:
        terminal.note(
            f"scca: note: 1 {one} has no known {view} {kind.unit} (line {first + 1}); it ties with everything."
        )
    elif n_unknown:
        terminal.note(
            f"scca: note: {n_unknown} {many} have no known {view} {kind.unit} (first: line {first + 1}); they tie with "
            "everything."
        )


def _note_language(terminal: Terminal, model: Model, candidates: list[str], search: MateSearch) -> None:
    """Note if the candidates look like another language."""
    texts = [
        name for name, kind in zip(model.view_names_, model.kinds_, strict=True) if isinstance(kind, TextVectorizer)
    ]
    counts = {name: model.vectorize(candidates, name).nnz for name in texts}
    likely = max(texts, key=lambda name: counts[name])
    if counts[likely] > 2 * counts[search.target]:
        terminal.note(f"scca: note: the candidates look like {likely}, not {search.target}; check the files.")


def _print(
    answers: Iterable[Mates], search: MateSearch, texts: list[str], terminal: Terminal, seed: int | None, model: Model
) -> None:
    """Print answers as they come, and then the recall if there is a seed, or else the average precision."""
    seen = _Seen(search, seed)
    if terminal.as_json:
        start = {"from": search.source, "to": search.target, "mates": []}
        items = (item for found in seen.each(answers) for item in _items(found, seen.n_before))
        terminal.json_stream(start, items, seen.summary)
    else:
        blocks = (_rows(found, texts, seen.n_before) for found in seen.each(answers))
        terminal.table_stream(("query", "rank", "similarity", "candidate", "text"), blocks)
    kind = _kind_of(model, search.source)
    _note_unknown(terminal, kind, ("query", "queries"), seen.n_unknown, seen.first_unknown, search.source)
    if not terminal.as_json:
        seen.note(terminal)


class _Seen:
    """What is stored of the queries so far: only as many scores as there are candidates, which are their mates."""

    def __init__(self, search: MateSearch, seed: int | None):
        self._search, self._rng = search, None if seed is None else np.random.default_rng(seed)
        self._n_candidates, n_components = search.candidate_scores.shape
        self._scores: list[np.ndarray] = []
        self._drawn, self._sample, self._top = np.empty(0), np.empty((0, n_components)), 1
        self.n_before = self.n_queries = self.n_unknown = self.first_unknown = 0

    def each(self, answers: Iterable[Mates]) -> Iterator[Mates]:
        """The answers one by one; `n_before` is the number of queries before the current answer."""
        for found in answers:
            unknown = np.flatnonzero(~found.known)
            if len(unknown) and not self.n_unknown:
                self.first_unknown = self.n_queries + int(unknown[0])
            self.n_unknown += len(unknown)
            self.n_before, self.n_queries = self.n_queries, self.n_queries + len(found.known)
            self._store(found)
            yield found

    def _store(self, found: Mates) -> None:
        if self._rng is not None:  # every query draws a number, and those with the smallest are the sample
            drawn = np.concatenate([self._drawn, self._rng.random(len(found.known))])
            kept = np.argsort(drawn)[:_SAMPLED]
            self._drawn, self._sample = drawn[kept], np.concatenate([self._sample, found.query_scores])[kept]
            self._top = found.indices.shape[1]
        elif self.n_queries <= self._n_candidates:
            self._scores.append(found.query_scores)
        else:
            self._scores.clear()

    def summary(self) -> dict[str, Any]:
        """The recall of an index; or the average precision, if there are as many candidates as queries."""
        if self._rng is not None:
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


def _items(found: Mates, n_before: int) -> Iterator[dict[str, Any]]:
    for i, known in enumerate(found.known.tolist()):
        ranked = zip(found.indices[i].tolist(), found.similarities[i].tolist(), strict=True)
        candidates = [{"index": k, "similarity": s} for k, s in ranked]
        yield {"query": n_before + i, "known": known, "candidates": candidates}


def _rows(found: Mates, texts: list[str], n_before: int) -> Iterator[tuple[str, ...]]:
    for i, (indices, similarities) in enumerate(zip(found.indices, found.similarities, strict=True), n_before + 1):
        for rank, (k, similarity) in enumerate(zip(indices, similarities, strict=True), start=1):
            yield str(i), str(rank), f"{similarity:.3f}", str(k + 1), texts[k]
