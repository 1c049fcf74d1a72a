"""A few columns of a view, taken one batch after another: what a working set multiplies with."""

from abc import ABC, abstractmethod

import numpy as np

from ._basis import GrowingRows

__all__ = ["ColumnSelection", "Selection"]


class Selection(ABC):
    """The columns M_S of a view's design matrix M in the order they were added."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def add(self, indices: np.ndarray) -> None: ...

    @abstractmethod
    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """M_S w."""

    @abstractmethod
    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        """M_S' r for a matrix r, of the columns from position `start` on."""

    @abstractmethod
    def gram(self, start: int) -> np.ndarray:
        """M_S' M_N, N being the columns from position `start` on."""


class ColumnSelection(Selection):
    """Dense copies of the columns."""

    def __init__(self, view):
        self._view = view
        self._rows = GrowingRows(view.shape[0])

    def __len__(self):
        return len(self._rows)

    @property
    def columns(self) -> np.ndarray:
        return self._rows.array.T

    def add(self, indices):
        self._rows.extend(self._view.columns(indices).T)

    def matvec(self, weights):
        return self.columns @ weights

    def rmatvec(self, r, start=0):
        return self._rows.array[start:] @ r

    def gram(self, start):
        return self._rows.array @ self._rows.array[start:].T
