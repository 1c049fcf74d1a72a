"""Remote samples, in blocks: their data, and the views of them that a preparation makes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import scipy.sparse as sp

from ..samples import AllBut, Block, RemoteBlocks, summed, unique
from ._features import FeatureView
from ._storage import Compressed
from .base import PrimalView

if TYPE_CHECKING:
    from ._preparation import Preparation, Projector

__all__ = ["BlockRows", "BlockView", "Counted"]


class BlockRows:
    """The data of one view of remote samples: an n x m matrix, dense or sparse, of which no sample is here.

    Parameters
    ----------
    remote : RemoteBlocks
    name : str
        Of the view, as in `Block.data`.
    m : int
        Number of features.
    dtype : dtype
    is_sparse : bool
    n_stored : int
        Stored numbers.
    feature_names : ndarray of str, optional
    """

    ndim = 2
    _some: Any = None

    def __init__(
        self,
        remote: RemoteBlocks,
        name: str,
        m: int,
        dtype: Any,
        *,
        is_sparse: bool,
        n_stored: int,
        feature_names: np.ndarray | None = None,
    ):
        self.remote, self.name, self.dtype = remote, name, np.dtype(dtype)
        self.shape = len(remote), m
        self.is_sparse, self.n_stored, self.feature_names = is_sparse, n_stored, feature_names

    @property
    def size(self) -> int:
        return self.n_stored

    def __repr__(self) -> str:
        return f"<{self.shape[0]} x {self.shape[1]} {self.name} in blocks>"

    def of_block(self, block: Block) -> Any:
        data = block.data[self.name]
        return block.lasting(self.name, lambda: Compressed(data)) if sp.issparse(data) else data

    @property
    def counted(self) -> "Counted":
        return Counted(self.remote)

    def chosen(self, rows: AllBut | np.ndarray) -> Any:
        """All samples but some, which stay where they are; or some samples, in memory."""
        if isinstance(rows, AllBut):
            kept = self.remote.without(rows.left_out)
            return BlockRows(
                kept, self.name, self.shape[1], self.dtype, is_sparse=self.is_sparse, n_stored=self.n_stored
            )
        rows = self.remote.numbers(np.asarray(rows))
        order = np.argsort(rows, kind="stable")
        found = self.remote.collected(_some_rows, [self, _Place()], (rows[order],))
        whole = sp.vstack(found, format="csr") if self.is_sparse else np.vstack(found)
        inverse = np.empty(len(order), dtype=np.intp)
        inverse[order] = np.arange(len(order))
        return whole[inverse]

    def __getstate__(self) -> dict[str, Any]:
        """Without the samples that were brought here: it travels to the blocks."""
        return {name: value for name, value in vars(self).items() if name != "_some"}

    def evenly(self, count: int) -> Any:
        """So many samples, evenly spaced, in memory; brought once."""
        if self._some is None or self._some.shape[0] != count:
            self._some = self.chosen(np.linspace(0, self.shape[0] - 1, count).astype(int))
        return self._some


class Counted:
    """1 for every sample that counts, 0 for those left out; None for a block of which none is left out."""

    def __init__(self, remote: RemoteBlocks):
        self.remote = remote

    def of_block(self, block: Block) -> np.ndarray | None:
        return self.remote.counted(block)


class _Place:
    """The number of the first sample of a block."""

    def of_block(self, block: Block) -> int:
        return block.first


def _some_rows(items: Sequence[Any], rows: np.ndarray) -> Any:
    """The samples of a block with these numbers, which are sorted."""
    data, first = items
    data = data.rows if isinstance(data, Compressed) else data
    begin, end = np.searchsorted(rows, [first, first + data.shape[0]])
    return data[rows[begin:end] - first]


class BlockView(PrimalView):
    """`preparation.transform` of remote samples: each block is prepared where it is; samples left out count 0.

    `shifted` as for `Preparation.view`, a decision for all blocks. With `factors`, every sample times its own.
    """

    _plain: "BlockView | None" = None  # without the factors

    def __init__(self, samples: BlockRows, preparation: "Preparation", shifted: bool, factors: Any = None):
        self.samples, self.preparation, self.unit = samples, preparation, preparation.unit
        self.shape, self.n_stored = samples.shape, samples.n_stored
        self.remote = samples.remote
        self._shifted, self._factors = shifted, factors
        self._name = unique()

    @property
    def is_sparse(self) -> bool:
        return self.samples.is_sparse

    def of_block(self, block: Block) -> FeatureView:
        return block.derived(self._name, lambda: self._of_block(block))

    def _of_block(self, block: Block) -> FeatureView:
        assert self.preparation is not None
        if self._plain is not None:
            return self._plain.of_block(block).reweighted(self._factors.of_block(block))
        view = self.preparation.view(self.samples.of_block(block), shifted=self._shifted)
        counted = self.samples.remote.counted(block)
        return view if counted is None else view.reweighted(counted)

    def chosen(self, rows: AllBut) -> "BlockView":
        """Without some samples."""
        assert self.preparation is not None
        assert self._plain is None
        return BlockView(self.samples.chosen(rows), self.preparation, self._shifted)

    def reweighted(self, factors: Any) -> "BlockView":
        assert self.preparation is not None
        view = BlockView(self.samples, self.preparation, self._shifted, factors)
        view._plain = self
        return view

    def square_norms(self) -> np.ndarray:
        return summed(_square_norms, [self])

    @property
    def varying(self) -> np.ndarray:
        spread = None if self.preparation is None else self.preparation.spread
        return np.arange(self.shape[1]) if spread is None else np.flatnonzero(spread)

    def projector(self, rotations: np.ndarray) -> "Projector":
        assert self.preparation is not None
        return self.preparation.projector(rotations)

    # --- what needs the samples here ---------------------------------------------------------------------------------

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        self._refuse()

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        self._refuse()

    def columns(self, indices: np.ndarray) -> np.ndarray:
        self._refuse()

    def sample_squares(self) -> np.ndarray:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError("remote samples can only be summed over.")


def _square_norms(views: Sequence[FeatureView]) -> np.ndarray:
    return views[0].square_norms()
