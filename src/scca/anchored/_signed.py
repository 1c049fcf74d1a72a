"""A view with the signs of some coordinates flipped."""

import numpy as np

from ..views import ChosenColumns, View

__all__ = ["SignedView"]


class SignedView(View):
    """M diag(signs) for a view M and signs +1 or -1, so that nonnegative weights on it can have either sign on M."""

    def __init__(self, view: View, signs: np.ndarray):
        self.shape, self.n_stored = view.shape, view.n_stored
        self.passes_for_columns = view.passes_for_columns
        self.signs = signs
        self._view = view

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self._view.matvec(self.signs * weights)

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        return self.signs * self._view.rmatvec(r)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        return self._view.columns(indices) * self.signs[indices]

    def sample_squares(self) -> np.ndarray:
        return self._view.sample_squares()

    def selection(self) -> ChosenColumns:
        return _SignedColumns(self._view.selection(), self.signs)


class _SignedColumns(ChosenColumns):
    def __init__(self, selection: ChosenColumns, signs: np.ndarray):
        self._selection = selection
        self._all_signs = signs
        self._signs = np.empty(0)

    def __len__(self) -> int:
        return len(self._selection)

    def add(self, indices: np.ndarray) -> None:
        self._selection.add(indices)
        self._signs = np.concatenate([self._signs, self._all_signs[indices]])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self._selection.matvec(self._signs * weights)

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return (self._signs[start:] * self._selection.rmatvec(r, start).T).T

    def gram(self, start: int) -> np.ndarray:
        return self._signs[:, None] * self._selection.gram(start) * self._signs[start:]
