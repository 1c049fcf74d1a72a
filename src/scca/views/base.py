"""The contract of a view: what the solver and the estimators may ask of n samples, whatever they are stored in."""

from abc import ABC, abstractmethod

import numpy as np

from ._basis import SampleBasis
from ._selection import ColumnSelection, Selection

__all__ = ["Projector", "View"]

_COLUMN_BLOCK = 256  # columns made at a time where all are gone through


class View(ABC):
    """n samples as a design matrix M: one row a sample, one column a coordinate that a weight can be put on.

    The coordinates of a primal view are its features (M is the paper's X', rows are samples here); those of a dual view
    are the training samples seen through the kernel (M is K). Centring, scaling to unit norm and deflation are part of
    M but never written into the stored data. All products are computed and returned in float64.
    """

    shape: tuple[int, int]
    n_stored: int  # numbers held, which is what a product with M costs
    basis: SampleBasis
    passes_per_column: int = 0  # products with the whole of the view that reading one column of M takes
    columns_are_samples: bool = False  # whether column i of M stands for the sample of row i, as with a kernel

    @abstractmethod
    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """M w: the scores (n,) of the samples under weights on the coordinates."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        """M' r: how every coordinate correlates with a vector r (n,)."""

    @abstractmethod
    def columns(self, indices: np.ndarray) -> np.ndarray:
        """The chosen columns of M as a dense array (n, len(indices))."""

    def square_norms(self) -> np.ndarray:
        """Squared norms of all columns of M."""
        starts = range(0, self.shape[1], _COLUMN_BLOCK)
        blocks = (self.columns(np.arange(start, min(start + _COLUMN_BLOCK, self.shape[1]))) for start in starts)
        return np.concatenate([np.einsum("ij,ij->j", block, block) for block in blocks])

    def coordinate_products(self, weights: np.ndarray) -> np.ndarray:
        """S w, S the inner products of what the columns stand for: of features, M'M; of samples seen by a kernel, M."""
        return self.rmatvec(self.matvec(weights))

    def coordinate_squares(self) -> np.ndarray:
        """The diagonal of the S of `coordinate_products`."""
        return self.square_norms()

    def selection(self) -> Selection:
        """An empty selection of columns of M, which a working set will fill."""
        return ColumnSelection(self)

    @abstractmethod
    def direction(self, score: np.ndarray) -> np.ndarray:
        """The direction that Algorithm 4 deflates for a score: u = X_j' s of a primal view, b = s of a dual one."""

    @abstractmethod
    def deflate(self, direction: np.ndarray) -> np.ndarray | None:
        """Project the samples off the score of `direction` and extend `basis` by it.

        Returns the column of C in `M_1 U = T C` (M_1 the view before any deflation, U all directions, T the basis), so
        that U C^-1 are rotations with orthonormal training scores; or None, changing nothing, if nothing is left.
        """

    @property
    @abstractmethod
    def remaining(self) -> float:
        """The share of the samples' squared norms (the trace of the kernel) that deflation has left."""

    @abstractmethod
    def projector(self, rotations: np.ndarray) -> "Projector":
        """What turns new samples into scores: it knows the training means and scales, and the rotations."""


class Projector(ABC):
    """Scores of new samples of one view, with the centring and scaling learned in training."""

    @abstractmethod
    def __call__(self, samples, diagonal: np.ndarray | None = None) -> np.ndarray:
        """Scores (n_new, c) in float64.

        `diagonal` is k(x, x) of each new sample; only a precomputed kernel cannot find it for itself. Without it the
        rows of a precomputed block are not scaled to unit norm, which leaves the direction of every score, and so its
        ranking among others, as it is.
        """
