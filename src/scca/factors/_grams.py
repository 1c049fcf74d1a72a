"""Inner products of chosen coordinates of a view, for many choices at once."""

from collections.abc import Sequence

import numpy as np

from ..parallel import parts
from ..views import PrimalView, View
from ._covariances import covariance

__all__ = ["Wanted", "grams"]

_AT_ONCE = 2048  # coordinates whose inner products with all others are in memory

Wanted = tuple[np.ndarray, np.ndarray]  # the rows and columns of a part of M'M


def grams(view: View, wanted: Sequence[Wanted]) -> list[np.ndarray]:
    """The chosen parts of M'M; what several of them have is computed once."""
    if not wanted:
        return []
    found = [np.empty((len(rows), len(columns))) for rows, columns in wanted]
    n = view.shape[1]
    all_rows, all_columns = (np.flatnonzero(_any_of(side, n)) for side in zip(*wanted, strict=True))
    place = np.full(n, -1)
    place[all_rows] = np.arange(len(all_rows))
    for part in parts(0, len(all_columns), _AT_ONCE):
        chunk = all_columns[part]
        products = _inner(view, chunk, all_rows)
        position = np.full(n, -1)
        position[chunk] = np.arange(len(chunk))
        for out, (rows, columns) in zip(found, wanted, strict=True):
            here = position[columns] >= 0
            out[:, here] = products[np.ix_(position[columns[here]], place[rows])].T
    return found


def _any_of(choices: Sequence[np.ndarray], n: int) -> np.ndarray:
    is_wanted = np.zeros(n, dtype=bool)
    for chosen in choices:
        is_wanted[chosen] = True
    return is_wanted


def _inner(view: View, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if isinstance(view, PrimalView):
        return covariance(view, view, rows=first, columns=second)
    return view.columns(first).T @ view.columns(second)
