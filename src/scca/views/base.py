"""The contract of a view: what the solver and the estimators need of n samples, however they are stored."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..samples import RemoteBlocks
from ._chosen_columns import ChosenColumns, CopiedColumns

if TYPE_CHECKING:
    from ._preparation import Preparation, Projector

__all__ = ["PreparedView", "PrimalView", "View"]

_COLUMN_BLOCK = 256  # number of columns computed at a time when all are needed


class View(ABC):
    """n samples as a design matrix M: one row per sample, one column per coordinate that can have a weight.

    The coordinates of a primal view are its features (M is the paper's X', rows are samples here); those of a dual view
    are the training samples (M is the kernel matrix K). A view never changes: what Algorithm 4 removes from it is
    stored separately, in a `Deflation`. All products are computed and returned in float64.
    """

    shape: tuple[int, int]
    n_stored: int  # number of stored values, to which the cost of a product with M is proportional
    passes_for_columns: int = 0  # number of products with the whole view that it takes to compute columns of M together
    columns_are_samples: bool = False  # whether column i of M is the sample of row i, as in a kernel matrix

    @abstractmethod
    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """M w: the scores (n,) of the samples under weights on the coordinates."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        """M'r: the correlation of every coordinate with a vector r (n,), not normalised."""

    @abstractmethod
    def columns(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns of M as a dense array (n, len(indices))."""

    @abstractmethod
    def sample_squares(self) -> np.ndarray:
        """Squared norms of the samples: the diagonal of M M' for features, of M for a kernel."""

    def matmat(self, weights: np.ndarray) -> np.ndarray:
        """M W for the columns of W."""
        return np.column_stack([self.matvec(column) for column in weights.T])

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        """M'R for the columns of R."""
        return np.column_stack([self.rmatvec(column) for column in R.T])

    def square_norms(self) -> np.ndarray:
        """Squared norms of all columns of M."""
        starts = range(0, self.shape[1], _COLUMN_BLOCK)
        blocks = (self.columns(np.arange(start, min(start + _COLUMN_BLOCK, self.shape[1]))) for start in starts)
        return np.concatenate([np.einsum("ij,ij->j", block, block) for block in blocks])

    def selection(self) -> ChosenColumns:
        """An empty selection of columns of M, to be filled by a working set."""
        return CopiedColumns(self)


class PreparedView(View):
    """A view of prepared samples that can prepare new ones.

    Ridges are multiples of `unit`: the mean squared norm of the samples if they are not divided by a norm, otherwise 1.
    """

    unit: float = 1.0

    @abstractmethod
    def reweighted(self, factors: Any) -> "PreparedView":
        """The view with every sample multiplied by its factor (n,)."""

    @abstractmethod
    def projector(self, rotations: np.ndarray) -> "Projector":
        """The projector of new samples on weights on the coordinates of this view."""


class PrimalView(PreparedView):
    """A view whose coordinates are features: a `FeatureView` in memory, or a `BlockView` of remote samples."""

    preparation: "Preparation | None"
    remote: RemoteBlocks | None = None

    @property
    @abstractmethod
    def varying(self) -> np.ndarray:
        """All features or, if columns are scaled, those that vary: constant ones have no spread to divide by."""

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
