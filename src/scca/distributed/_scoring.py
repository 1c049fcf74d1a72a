"""Blocks of samples or documents on a cluster, and their scores, which the workers compute."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._data import read_view
from ..estimators import PairedTransformer
from ..parallel import parts
from ..samples import Block
from ..text import BilingualModel
from ..views import BlockRows
from ._blocks import DaskBlocks
from ._cluster import attempted, results
from ._packing import FunctionOnWorkers
from ._texts import ClusterPairs

__all__ = ["Piece", "Scored", "of_documents", "of_samples", "pieces_of", "scores_in_pieces"]

_PIECE = 8192  # rows scored at a time

# the scores of some rows, and whether each row has a word that the model reads; None for samples that are no documents
Scores = tuple[np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class Piece:
    """Rows start:stop of a block; the first of them is row `first` of all blocks."""

    number: int
    block: int
    start: int
    stop: int
    first: int


class Scored:
    """Blocks of rows on a cluster, in order, and the function that scores them.

    Parameters
    ----------
    client : distributed.Client
    make : callable
        Returns the futures of the blocks; called again if they are lost.
    function : callable
        `function(block, start, stop)` returns the scores of some rows of a block.

    Attributes
    ----------
    blocks : list of futures
    ends : list of int
        0, and the number of rows up to the end of each block.
    function : FunctionOnWorkers
    """

    def __init__(self, client: Any, make: Callable[[], list[Any]], function: Callable[..., Scores]):
        self.client, self._make = client, make
        self.blocks = make()
        if not self.blocks:
            raise ValueError("there must be at least one block; got none: make some.")
        self.function = FunctionOnWorkers(client, function)
        sizes = attempted(
            lambda: results(client, [client.submit(_n_rows, block, pure=False) for block in self.blocks]), self.renew
        )
        self.ends = np.cumsum([0, *sizes]).tolist()

    def __len__(self) -> int:
        return int(self.ends[-1])

    def renew(self) -> None:
        """Make lost blocks again, and send the function again."""
        self.blocks = self._make()
        self.function.forget()


def pieces_of(scored: Scored) -> list[Piece]:
    """All rows, in pieces of a few thousand."""
    found: list[Piece] = []
    for block, (first, end) in enumerate(pairwise(scored.ends)):
        for rows in parts(0, end - first, _PIECE):
            found.append(Piece(len(found), block, rows.start, rows.stop, first + rows.start))
    return found


def of_samples(client: Any, model: Any, samples: Any, view: str | None) -> Scored:
    """Samples of a view of a fitted model: `BlockRows`, or futures or delayed objects of matrices."""
    if not isinstance(model, PairedTransformer):
        raise TypeError(f"model must be a fitted estimator of two views such as scca.SparseCCA; got {model!r}.")
    view = samples.name if view is None and isinstance(samples, BlockRows) else view
    if view not in ("X", "Y"):
        raise ValueError(f'the view of the samples must be "X" or "Y"; got {view!r}.')
    if not isinstance(samples, BlockRows):
        return Scored(client, _maker(client, samples), partial(_sample_scores, model, view, None, None))
    where = samples.remote
    if not isinstance(where, DaskBlocks) or len(where.left_out):
        raise ValueError(f"samples must be all those of a cluster; got {samples!r}: use scatter, read_rows or rows_of.")
    return Scored(client, where.renewed_futures, partial(_sample_scores, model, view, samples.name, samples.dtype))


def of_documents(client: Any, model: BilingualModel, documents: Any, language: str) -> Scored:
    """Documents of one language: futures or delayed objects of lists of texts, a bag of texts, or pairs."""
    model.other(language)  # refuses another language
    light = copy(model)
    light.training_, light.texts_ = (None, None), None  # scores do not need them
    make: Callable[[], list[Any]]
    if isinstance(documents, ClusterPairs):
        if language not in documents.languages:
            raise ValueError(f"the pairs must have the language {language!r}; got {documents.languages!r}: name it so.")
        make = partial(documents.side, documents.languages.index(language))
    else:
        make = _maker(client, documents)
    return Scored(client, make, partial(_document_scores, light, language))


def _maker(client: Any, given: Any) -> Callable[[], list[Any]]:
    """A function that returns the futures of blocks, which are futures, delayed objects or a Dask collection."""
    blocks = [given] if isinstance(given, str) else list(given.to_delayed() if hasattr(given, "to_delayed") else given)
    other = next((block for block in blocks if isinstance(block, str | np.ndarray | list)), None)
    if other is not None:
        raise TypeError(
            f"blocks must be futures or delayed objects; got a {type(other).__name__}: send it to the cluster with "
            "client.scatter."
        )
    return lambda: list(client.compute(blocks))


# --- on the workers ---------------------------------------------------------------------------------------------------


def scores_in_pieces(function: Callable[..., Scores], block: Any) -> Iterator[Scores]:
    """The scores of all rows of a block, a few thousand at a time; an empty block gives scores of no rows."""
    for rows in parts(0, _n_rows(block), _PIECE) or [slice(0, 0)]:
        yield function(block, rows.start, rows.stop)


def _n_rows(block: Any) -> int:
    if isinstance(block, Block):
        return block.n
    return len(block) if isinstance(block, Sequence) else int(block.shape[0])


def _sample_scores(
    model: PairedTransformer, view: str, name: str | None, dtype: Any, block: Any, start: int, stop: int
) -> Scores:
    data = block if name is None else block.data[name]
    if start == stop:
        dtype = getattr(data, "dtype", np.float64) if dtype is None else dtype
        return np.empty((0, model.n_components_), np.float32 if dtype == np.float32 else np.float64), None
    data = read_view(data, view)[0] if name is None else data.astype(dtype, copy=False)
    rows = (data.tocsr() if sp.issparse(data) else data)[start:stop]
    return np.ascontiguousarray(model.project(rows, view)), None


def _document_scores(model: BilingualModel, language: str, block: Sequence[str], start: int, stop: int) -> Scores:
    if isinstance(block, str) or not all(isinstance(text, str) for text in block[start:stop]):
        raise TypeError("every block of documents must be a list of texts; got something else: make them alike.")
    scores, known = model.project_known(block[start:stop], language)
    return np.ascontiguousarray(scores), known
