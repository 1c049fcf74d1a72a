"""A view with a ridge: least squares on it is least squares on the view plus nu ||w||^2."""

import numpy as np

from ._selection import Selection
from .base import View

__all__ = ["RidgeView"]


class RidgeView(View):
    """N = [M; sqrt(nu) I] for a view M (n x m): ||N w - (t, 0)||^2 = ||M w - t||^2 + nu ||w||^2."""

    def __init__(self, view: View, nu: float):
        n, m = view.shape
        self.shape = (n + m, m)
        self.n_stored = view.n_stored
        self.passes_for_columns = view.passes_for_columns
        self._view, self._n, self._root = view, n, float(np.sqrt(nu))

    def target(self, t: np.ndarray) -> np.ndarray:
        """(t, 0)."""
        return np.concatenate([t, np.zeros(self.shape[1])])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return np.concatenate([self._view.matvec(weights), self._root * weights])

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return self._view.rmatvec(r[: self._n]) + self._root * r[self._n :]

    def columns(self, indices: np.ndarray) -> np.ndarray:
        units = np.zeros((self.shape[1], len(indices)))
        units[indices, np.arange(len(indices))] = self._root
        return np.vstack([self._view.columns(indices), units])

    def sample_squares(self) -> np.ndarray:
        return np.concatenate([self._view.sample_squares(), np.full(self.shape[1], self._root**2)])

    def square_norms(self) -> np.ndarray:
        return self._view.square_norms() + self._root**2

    def selection(self) -> Selection:
        return _RidgeSelection(self._view.selection(), self._n, self.shape[1], self._root)


class _RidgeSelection(Selection):
    """Columns of the view, multiplied as in the view; columns of the identity are never stored."""

    def __init__(self, selection: Selection, n: int, n_coordinates: int, root: float):
        self._selection = selection
        self._n, self._n_coordinates, self._root = n, n_coordinates, root
        self._indices = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._selection)

    def add(self, indices: np.ndarray) -> None:
        self._selection.add(indices)
        self._indices = np.concatenate([self._indices, indices])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        below = np.zeros(self._n_coordinates)
        below[self._indices] = self._root * weights
        return np.concatenate([self._selection.matvec(weights), below])

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return self._selection.rmatvec(r[: self._n], start) + self._root * r[self._n :][self._indices[start:]]

    def gram(self, start: int) -> np.ndarray:
        gram = self._selection.gram(start)
        new = np.arange(start, len(self._indices))
        gram[new, new - start] += self._root**2
        return gram
