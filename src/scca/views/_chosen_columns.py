"""A growing selection of columns of a view, with which a working set multiplies."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .base import View

__all__ = ["CopiedColumns", "ChosenColumns"]


class ChosenColumns(ABC):
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
        """M_S'r for a matrix r, for the columns from position `start` on."""

    @abstractmethod
    def gram(self, start: int) -> np.ndarray:
        """M_S'M_N, N being the columns from position `start` on."""


class CopiedColumns(ChosenColumns):
    """Dense copies of the columns, as the rows of a buffer that grows geometrically."""

    def __init__(self, view: "View"):
        self._view = view
        self._buffer = np.empty((0, view.shape[0]))
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def _rows(self) -> np.ndarray:
        return self._buffer[: self._size]

    @property
    def columns(self) -> np.ndarray:
        return self._rows.T

    def add(self, indices: np.ndarray) -> None:
        size = self._size + len(indices)
        if size > len(self._buffer):
            grown = np.empty((max(8, 2 * size), self._buffer.shape[1]))
            grown[: self._size] = self._rows
            self._buffer = grown
        self._buffer[self._size : size] = self._view.columns(indices).T
        self._size = size

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self.columns @ weights

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return self._rows[start:] @ r

    def gram(self, start: int) -> np.ndarray:
        return self._rows @ self._rows[start:].T
