"""Blocks of samples or documents on a cluster, and their scores, which the workers compute."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._checks import shown
from .._data import read_view
from .._wording import joined
from ..estimators import ViewsEstimator
from ..kinds import TextVectorizer
from ..model import Model
from ..parallel import parts
from ..samples import Block
from ..views import BlockRows
from ._blocks import DaskBlocks
from ._cluster import attempted, results
from ._packing import FunctionOnWorkers
from ._texts import ClusterTexts

__all__ = ["Piece", "Scored", "of_documents", "of_samples", "pieces_of", "scores_in_pieces", "view_of"]

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


def of_samples(client: Any, model: Any, samples: Any, view: str | int | None) -> Scored:
    """Samples of a view of a fitted estimator: `BlockRows`, or futures or delayed objects of matrices."""
    name = view_of(model, samples, view)
    if not isinstance(samples, BlockRows):
        return Scored(client, _maker(client, samples), partial(_sample_scores, model, name, None, None))
    where = samples.remote
    if not isinstance(where, DaskBlocks) or len(where.left_out):
        raise ValueError(f"samples must be all those of a cluster; got {samples!r}: use scatter, read_rows or rows_of.")
    return Scored(client, where.renewed_futures, partial(_sample_scores, model, name, samples.name, samples.dtype))


def view_of(model: Any, samples: Any, view: str | int | None) -> str:
    """The name of the view of an estimator that samples belong to: as given, or as `BlockRows` are called."""
    if not isinstance(model, ViewsEstimator):
        raise TypeError(f"model must be a fitted estimator of views such as scca.SparseCCA; got {model!r}.")
    check_is_fitted(model)
    names = list(model.view_names_)
    if view is None and isinstance(samples, BlockRows):
        view = samples.name
    if isinstance(view, str) and view in names:
        return view
    if isinstance(view, int | np.integer) and not isinstance(view, bool) and 0 <= view < len(names):
        return names[view]
    raise ValueError(
        f"the view of the samples must be {joined([*map(shown, names)], 'or')}; got {shown(view)}: name it."
    )


def of_documents(client: Any, model: Model, documents: Any, view: str) -> Scored:
    """Samples of one view of a model: futures or delayed objects of lists of texts or tables, a bag, or `ClusterTexts`.

    `ClusterTexts` must have a language that is called like the view.
    """
    model.number_of(view)  # refuses another view
    light = copy(model)  # without what scores do not need
    light.training_, light.samples_ = (None,) * len(model.view_names_), (None,) * len(model.view_names_)
    make: Callable[[], list[Any]]
    if isinstance(documents, ClusterTexts):
        if view not in documents.languages:
            raise ValueError(f"the texts must have the language {view!r}; got {documents.languages!r}: name it so.")
        make = partial(documents.blocks_of, documents.languages.index(view))
    else:
        make = _maker(client, documents)
    return Scored(client, make, partial(_document_scores, light, view))


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
    model: ViewsEstimator, view: str, name: str | None, dtype: Any, block: Any, start: int, stop: int
) -> Scores:
    data = block if name is None else block.data[name]
    if start == stop:
        dtype = getattr(data, "dtype", np.float64) if dtype is None else dtype
        return np.empty((0, model.n_components_), np.float32 if dtype == np.float32 else np.float64), None
    data = read_view(data, view)[0] if name is None else data.astype(dtype, copy=False)
    rows = (data.tocsr() if sp.issparse(data) else data)[start:stop]
    return np.ascontiguousarray(model.project(rows, view)), None


def _document_scores(model: Model, view: str, block: Any, start: int, stop: int) -> Scores:
    samples = block.iloc[start:stop] if hasattr(block, "iloc") else block[start:stop]
    is_text = isinstance(model.kinds_[model.number_of(view)], TextVectorizer)
    if is_text and (isinstance(block, str) or not all(isinstance(text, str) for text in samples)):
        raise TypeError("every block of documents must be a list of texts; got something else: make them alike.")
    scores, known = model.project_known(samples, view)
    return np.ascontiguousarray(scores), known
