"""Blocks of samples or documents on a cluster, and their scores, computed where they are."""

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
from ..samples import Block
from ..text import BilingualModel
from ..views import BlockRows
from ._blocks import DaskBlocks
from ._cluster import attempted, results, scattered
from ._sent import Sent, packed_with_code
from ._texts import ClusterPairs

__all__ = ["Piece", "Scored", "of_documents", "of_samples", "pieces_of", "scores_in_pieces"]

_PIECE = 8192  # rows scored at a time

# rows of a block: their scores, and whether each has something that the model reads (None if that is not asked)
Scores = tuple[np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class Piece:
    """Rows `start` to `stop` of a block; the first is number `first` of all."""

    number: int
    block: int
    start: int
    stop: int
    first: int


class Scored:
    """Blocks of rows on a cluster, in order, and how they are scored.

    Parameters
    ----------
    client : distributed.Client
    make : callable
        Returns the futures of the blocks; called again if they are lost.
    function : callable
        Of a block, and the first and last rows: their scores. Sent to the workers.
    """

    def __init__(self, client: Any, make: Callable[[], list[Any]], function: Callable[..., Scores]):
        self.client, self._make = client, make
        self.blocks = make()
        if not self.blocks:
            raise ValueError("there must be at least one block; got none: make some.")
        self._content = packed_with_code(function)
        self._function: Any = None
        sizes = attempted(
            lambda: results(client, [client.submit(_n_rows, block, pure=False) for block in self.blocks]), self.renew
        )
        self.ends = np.cumsum([0, *sizes]).tolist()

    def __len__(self) -> int:
        return int(self.ends[-1])

    @property
    def function(self) -> Any:
        """The future of what scores rows, a `Sent`."""
        if self._function is None:
            self._function = scattered(self.client, Sent(self._content))
        return self._function

    def renew(self) -> None:
        self.blocks, self._function = self._make(), None

    def futures(self) -> list[Any]:
        """What was sent for scoring; the blocks belong to others."""
        return [] if self._function is None else [self._function]


def pieces_of(scored: Scored) -> list[Piece]:
    """All rows, in pieces of a few thousand."""
    found: list[Piece] = []
    for block, (first, end) in enumerate(pairwise(scored.ends)):
        for start in range(0, end - first, _PIECE):
            stop = min(start + _PIECE, end - first)
            found.append(Piece(len(found), block, start, stop, first + start))
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
    kept = where._kept
    given_out: list[list[Any]] = []

    def make() -> list[Any]:
        if given_out and given_out.pop() is kept.futures:  # the other view of the same blocks may have renewed them
            kept.renew()
        given_out.append(kept.futures)
        return kept.futures

    return Scored(client, make, partial(_sample_scores, model, view, samples.name, samples.dtype))


def of_documents(client: Any, model: BilingualModel, documents: Any, language: str) -> Scored:
    """Documents of one language: futures or delayed objects of lists of texts, a bag of texts, or pairs."""
    model.other(language)  # refuses another language
    light = copy(model)
    light.training_, light.texts_ = (None, None), None  # what scores do not need
    make: Callable[[], list[Any]]
    if isinstance(documents, ClusterPairs):
        if language not in documents.languages:
            raise ValueError(f"the pairs must have the language {language!r}; got {documents.languages!r}: name it so.")
        make = partial(_one_side, client, documents, documents.languages.index(language))
    else:
        make = _maker(client, documents)
    return Scored(client, make, partial(_document_scores, light, language))


def _one_side(client: Any, pairs: ClusterPairs, side: int) -> list[Any]:
    return [client.submit(_texts_of, texts, side, pure=False) for texts in pairs._read()]


def _maker(client: Any, given: Any) -> Callable[[], list[Any]]:
    """From futures, delayed objects or a Dask collection."""
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
    """The scores of all rows of a block, a few thousand at a time; of none if it has none."""
    n = _n_rows(block)
    for start in range(0, max(n, 1), _PIECE):
        yield function(block, start, min(start + _PIECE, n))


def _texts_of(texts: Any, side: int) -> list[str]:
    return texts.second if side else texts.first


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
