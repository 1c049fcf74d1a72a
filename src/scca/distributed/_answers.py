"""Scores and mates of samples or documents in blocks, returned or written to Parquet files by the workers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import check_count
from .._wording import joined
from ..kinds import TextVectorizer
from ..model import Model
from ..progress import report
from ..views import BlockRows
from ._blocks import as_a_worker
from ._job_queue import results_as_done
from ._mates import BestCandidates, Search
from ._packing import SentFunction
from ._parts import new_folder, part_name, write_part
from ._scoring import Piece, Scored, of_documents, of_samples, pieces_of, scores_in_pieces, view_of

__all__ = ["ClusterMates", "find_mates", "write_document_scores", "write_mates", "write_scores"]

Folder = str | PathLike[str]


@dataclass(frozen=True)
class ClusterMates:
    """The candidates that match each query best, best first; the result of `find_mates`.

    Attributes
    ----------
    indices : ndarray of shape (n_queries, top)
        Numbers of candidates, counted over all blocks.
    similarities : ndarray of shape (n_queries, top)
        Cosines in the common space.
    known : ndarray of bool of shape (n_queries,) or None
        Of documents: False for one without any known word, whose mates are meaningless.
    """

    indices: np.ndarray
    similarities: np.ndarray
    known: np.ndarray | None


# --- scores -----------------------------------------------------------------------------------------------------------


def write_scores(model: Any, samples: Any, folder: Folder, *, view: str | int | None = None) -> None:
    """Write the scores of samples in blocks as Parquet files, one per block, each by the worker that has the block.

    `folder` then has `part-00000.parquet` and so on, in the order of the samples, with a column `sample`, the number of
    the sample, and a column per component, `component_0` and so on: columns, unlike lists, are numbers at once in
    pandas, polars and databases, and can be read one by one. Until all are complete, the folder is called
    FOLDER.partial; after a failure it is removed. Client and workers have to share the file system.

    Scores are those of `model.project(samples, view)`, up to the rounding of sums in blocks.

    Parameters
    ----------
    model : SparseCCA, MultiSparseCCA or another fitted estimator of views
    samples : BlockRows, or sequence of futures
        From `scatter`, `read_rows` or `rows_of`; or futures of arrays, sparse matrices or data frames.
    folder : path
        New, or empty.
    view : str or int, optional
        The name or number of the samples' view in the model; BlockRows that are called like a view know it.
    """
    given = samples if isinstance(samples, BlockRows) else list(samples)
    if isinstance(given, list) and not all(hasattr(block, "client") for block in given):
        raise TypeError("samples must be BlockRows or futures of matrices: use scatter, read_rows or client.scatter.")
    client = getattr(given.remote, "client", None) if isinstance(given, BlockRows) else given[0].client
    _write_scores(of_samples(client, model, given, view), folder)


def write_document_scores(client: Any, model: Model, documents: Any, language: str, folder: Folder) -> None:
    """Write the scores of documents in blocks as Parquet files, one per block, as `write_scores`.

    The columns are `document`, its number; `known`, false for a document without any word that the model reads, whose
    scores are all 0; and `component_0` and so on.

    Parameters
    ----------
    client : distributed.Client
    model : Model or BilingualModel
    documents : sequence of futures or delayed objects, dask.bag.Bag, or ClusterTexts
        Every block is a list of texts; of ClusterTexts, those in the language.
    language : str
        The view of the model.
    folder : path
        New, or empty.
    """
    kind = model.kinds_[model.number_of(language)]
    if not isinstance(kind, TextVectorizer):
        raise ValueError(f"{language} must be a view of text; got one of the kind {kind.kind!r}: use its estimator_.")
    _write_scores(of_documents(client, model, documents, language), folder)


def _write_scores(scored: Scored, folder: Folder) -> None:
    n_blocks = len(scored.blocks)
    with new_folder(folder) as partial_:

        def send(block: int) -> Any:
            path = partial_ / part_name(block, n_blocks)
            given = scored.function.future, scored.blocks[block], scored.ends[block], path
            return scored.client.submit(_write_block, *given, pure=False)

        done, shared = 0, scored.function.futures
        for _, n_rows in results_as_done(scored.client, range(n_blocks), send, scored.renew, shared):
            done += n_rows
            report("scores written", done, len(scored))


def _write_block(function: SentFunction, block: Any, first: int, path: Path) -> int:
    """Runs on a worker."""

    def pieces() -> Iterator[Mapping[str, np.ndarray]]:
        start = first
        for scores, known in scores_in_pieces(function, block):
            numbers = np.arange(start, start + len(scores))
            named = {"sample": numbers} if known is None else {"document": numbers, "known": known}
            yield {**named, **{f"component_{j}": np.ascontiguousarray(column) for j, column in enumerate(scores.T)}}
            start += len(scores)

    with as_a_worker():
        return write_part(path, pieces())


# --- mates ------------------------------------------------------------------------------------------------------------


def find_mates(
    client: Any,
    model: Any,
    queries: Any,
    candidates: Any,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    top: int = 10,
) -> ClusterMates:
    """The `top` candidates that match each query best; each worker searches its own candidates.

    The scores of the candidates stay on the workers. Given the same scores, the result is the same as that of
    `scca.retrieval.best_matches` on one machine, ties included.

    Parameters
    ----------
    client : distributed.Client
    model : Model or BilingualModel, or SparseCCA or another fitted estimator of views
    queries, candidates : blocks
        For a model, documents of two languages, as for `write_document_scores`, or samples of views of other kinds. For
        an estimator, samples of two views: BlockRows, or futures or delayed objects of matrices.
    source, target : str, optional
        The views of the queries and of the candidates, for an estimator also their numbers. BlockRows that are called
        like a view know it, and of two views the target is the other one.
    top : int, default=10
        How many candidates to return per query.

    Returns
    -------
    ClusterMates
    """
    asked, offered = _scored_queries_and_candidates(client, model, queries, candidates, source, target)
    top = min(check_count(top, "top"), len(offered))
    pieces = pieces_of(asked)
    found = dict(_answers(Search(asked, offered, top, _answer), asked, pieces))
    if not pieces:
        return ClusterMates(np.empty((0, top), np.intp), np.empty((0, top)), None)
    indices, similarities, known = zip(*(found[i] for i in range(len(pieces))), strict=True)
    return ClusterMates(
        np.concatenate(indices), np.concatenate(similarities), None if known[0] is None else np.concatenate(known)
    )


def write_mates(
    client: Any,
    model: Any,
    queries: Any,
    candidates: Any,
    folder: Folder,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    top: int = 10,
) -> None:
    """Write the `top` candidates that match each query best as Parquet files.

    The search is that of `find_mates`, and files and folder are as for `write_scores`; each file has some thousand
    queries, in order. The columns are `query` and `candidate`, their numbers; `rank`, 1 for the best; and `similarity`,
    the cosine. A query has `top` rows.

    Parameters
    ----------
    client : distributed.Client
    model : Model or BilingualModel, or SparseCCA or another fitted estimator of views
    queries, candidates, source, target : as for `find_mates`
    folder : path
        New, or empty.
    top : int, default=10
        How many candidates to write per query.
    """
    top = check_count(top, "top")
    asked, offered = _scored_queries_and_candidates(client, model, queries, candidates, source, target)
    pieces = pieces_of(asked)
    with new_folder(folder) as partial_:
        search = Search(asked, offered, top, partial(_write_answer, partial_, len(pieces)))
        for _ in _answers(search, asked, pieces):
            pass


def _scored_queries_and_candidates(
    client: Any, model: Any, queries: Any, candidates: Any, source: Any, target: Any
) -> tuple[Scored, Scored]:
    if isinstance(model, Model):
        if source is None:
            views = joined([*map(repr, model.view_names_)], "or")
            raise ValueError(f"source must be the view of the queries, {views}; got None.")
        target = model.target_of(source, target)
        return of_documents(client, model, queries, source), of_documents(client, model, candidates, target)
    source = view_of(model, queries, source)
    target = _target_of(model, candidates, source, target)
    return of_samples(client, model, queries, source), of_samples(client, model, candidates, target)


def _target_of(model: Any, candidates: Any, source: str, target: Any) -> str:
    """The view of an estimator that candidates belong to: as given, as `BlockRows` are called, or the only other."""
    others = [name for name in model.view_names_ if name != source]
    known_by_name = isinstance(candidates, BlockRows) and candidates.name in model.view_names_
    if target is None and not known_by_name:
        if len(others) > 1:
            raise ValueError(
                f"target must be the view of the candidates, {joined([*map(repr, others)], 'or')}; got None."
            )
        return others[0]
    name = view_of(model, candidates, target)
    if name == source:
        wanted = f"the other view, {others[0]}" if len(others) == 1 else f"another view than {source}"
        remedy = "swap them" if len(others) == 1 else "pass those of another view"
        raise ValueError(f"candidates must be of {wanted}; got {candidates!r}: {remedy}.")
    return name


def _answers(search: Search, queries: Scored, pieces: Sequence[Piece]) -> Iterator[tuple[int, Any]]:
    """The numbers of pieces of the queries and their results, as soon as a piece is done."""
    done = 0
    for position, answer in results_as_done(queries.client, pieces, search.send, search.renew, search.futures):
        done += pieces[position].stop - pieces[position].start
        report("queries answered", done, len(queries))
        yield position, answer


def _answer(piece: Piece, scores: tuple[np.ndarray, Any], best: BestCandidates) -> tuple[Any, ...]:
    """Runs on a worker: the best candidates, and which queries are known."""
    return (*best, scores[1])


def _write_answer(folder: Path, n_parts: int, piece: Piece, scores: Any, best: BestCandidates) -> int:
    """Runs on a worker."""
    indices, similarities = best
    n, top = indices.shape
    columns = {
        "query": np.repeat(np.arange(piece.first, piece.first + n), top),
        "rank": np.tile(np.arange(1, top + 1, dtype=np.int32), n),
        "candidate": indices.ravel(),
        "similarity": similarities.ravel(),
    }
    return write_part(folder / part_name(piece.number, n_parts), [columns])
