"""The contract of a view: what the solver and the estimators may ask of n samples, whatever they are stored in."""

from abc import ABC, abstractmethod

import numpy as np

from ._projector import Projector
from ._selection import ColumnSelection, Selection

__all__ = ["PreparedView", "View"]

_COLUMN_BLOCK = 256  # columns made at a time where all are gone through


class View(ABC):
    """n samples as a design matrix M: one row for each sample, one column for each coordinate that can have a weight.

    The coordinates of a primal view are its features (M is the paper's X', rows are samples here); those of a dual view
    are the training samples seen through the kernel (M is K). A view never changes: what Algorithm 4 takes from it is
    kept apart, in a `Deflation`. All products are computed and returned in float64.
    """

    shape: tuple[int, int]
    n_stored: int  # numbers held, which is what a product with M costs
    passes_per_column: int = 0  # products with the whole of the view that reading one column of M takes
    columns_are_samples: bool = False  # whether column i of M stands for the sample of row i, as with a kernel

    @abstractmethod
    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """M w: the scores (n,) of the samples under weights on the coordinates."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        """M'r: how every coordinate correlates with a vector r (n,)."""

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

    def selection(self) -> Selection:
        """An empty selection of columns of M, which a working set will fill."""
        return ColumnSelection(self)


class PreparedView(View):
    """A view of samples that were prepared, and that knows how to prepare others."""

    @abstractmethod
    def projector(self, rotations: np.ndarray) -> Projector:
        """What turns new samples into scores under weights on the coordinates of this view."""
