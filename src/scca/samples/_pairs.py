"""Paired samples and subsets of them, for any storage of the views."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._arrays import chosen_rows
from ._blocks import AllBut
from ._groups import Groups

__all__ = ["Pairs", "Samples"]


class Samples(NamedTuple):
    """Held-out samples of a view, as arguments of an estimator's `transform`.

    `diagonal` is k(x, x) of every sample where the view is a precomputed kernel, and None otherwise.
    """

    data: Any
    diagonal: np.ndarray | None


@dataclass(frozen=True)
class Pairs:
    """Two views of the same samples, to be split.

    Attributes
    ----------
    X, Y : ndarray or sparse matrix
        Sample i of X is paired with sample `order[i]` of Y.
    precomputed : tuple of "X" and "Y"
        The views that are kernel matrices, whose samples are both rows and columns.
    order : ndarray of int, optional
        By default sample i of X is paired with sample i of Y.
    groups : Groups
        Which pairs belong together; by default, none do.
    """

    X: Any
    Y: Any
    precomputed: tuple[str, ...] = ()
    order: np.ndarray | None = None
    groups: Groups = None  # type: ignore[assignment]  # set below

    def __post_init__(self) -> None:
        if self.groups is None:
            object.__setattr__(self, "groups", Groups.of(None, len(self)))

    def __len__(self) -> int:
        return self.X.shape[0]

    def in_order(self, order: np.ndarray) -> "Pairs":
        """The same views with sample i of X paired with sample `order[i]` of Y."""
        return replace(self, order=order)

    def training(self, rows: np.ndarray | AllBut) -> tuple[Any, Any]:
        """Both views of the pairs `rows`, to fit a model to."""
        x, y = self.held_out(rows, rows)
        return x.data, y.data

    def held_out(self, rows: Any, training_rows: Any) -> tuple[Samples, Samples]:
        """Both views of the pairs `rows`, as input for a model fitted to the pairs `training_rows`."""
        return (
            self._samples("X", self.X, rows, training_rows),
            self._samples("Y", self.Y, self._in_y(rows), self._in_y(training_rows)),
        )

    def _in_y(self, rows: Any) -> Any:
        return rows if self.order is None else self.order[rows]

    def _samples(self, name: str, view: Any, rows: Any, training_rows: Any) -> Samples:
        if name not in self.precomputed:
            return Samples(chosen_rows(view, rows), None)
        return Samples(view[rows][:, training_rows], view.diagonal()[rows])
