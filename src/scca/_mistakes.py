"""Likely mistakes in tables that would silently decide the result: one sentence each."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._arrays import column_blocks
from ._frames import Features
from ._types import MatrixLike
from ._validation import DataWarning
from ._wording import called
from .engine import warn

__all__ = ["warn_of_mistakes"]

_LARGEST_SHARE = 0.9  # of a column's variance: what one value has at least to be looked at
_TIMES_FARTHER = 100.0  # standard deviations of the others: a value so far from them is a mistake, or decides alone
_ROUNDING = 1e-9  # of the largest value: a smaller deviation is none
_FEWEST = 6  # samples: with fewer, any value may lead, and any numbers may rise
_NAME_OF_IDS = re.compile(
    r"(?i:(^|[_\s.-])(id|ids|idx|index|key|uid|uuid|no|nr|number|row|sample|subject|patient|participant)$)"
    r"|[a-z]I[Dd]$"  # as in subjectID
)


def warn_of_mistakes(X: MatrixLike, Y: MatrixLike, x_features: Features, y_features: Features) -> None:
    """Warn of equal views and equal columns, of ids among the features, and of single values that dwarf all others.

    Cells are looked at in arrays and frames; in sparse matrices only whether both views are equal.
    """
    if _equal(X, Y):
        warn(
            f"{called('X')} and {called('Y')} are equal, so that every correlation is perfect and says nothing; pass "
            "the two views of the samples.",
            DataWarning,
        )
        return
    if sp.issparse(X) or sp.issparse(Y):
        return
    if (twice := _column_of_both(X, Y, x_features, y_features)) is not None:
        x, y = twice
        warn(
            f"{_called(x, x_features)} of X and {_called(y, y_features)} of Y have the same values, and a component of "
            "them alone correlates perfectly; drop it from one of the views.",
            DataWarning,
        )
    for name, data, features in (("X", X, x_features), ("Y", Y, y_features)):
        if (ids := _column_of_ids(data, features)) is not None:
            warn(
                f"{_called(ids, features)} of {name} seems to number the samples, and what changes from the first "
                "sample to the last would look shared; drop it, or make it the index of the frame.",
                DataWarning,
            )
        if (cell := _extreme_cell(data)) is not None:
            row, column = cell
            warn(
                f"one value of {name} is more than {_TIMES_FARTHER:g} standard deviations of its column away from all "
                f"others: {data[row, column]:.6g} in row {row}, {_called(column, features)}; correct it, or drop the "
                "pair, if it is a mistake.",
                DataWarning,
            )


def _called(column: int, features: Features) -> str:
    return f"column {column}" if features.names is None else f"column {str(features.names[column])!r}"


def _equal(X: MatrixLike, Y: MatrixLike) -> bool:
    if X.shape != Y.shape or sp.issparse(X) != sp.issparse(Y):
        return False
    if sp.issparse(X):
        return X.nnz == Y.nnz and (X != Y).nnz == 0
    return all(np.array_equal(X[:, columns], Y[:, columns]) for columns in column_blocks(*X.shape))


def _column_of_both(X: Any, Y: Any, x_features: Features, y_features: Features) -> tuple[int, int] | None:
    """The first column of X with the same values in Y: under the same name or, without names, with many values."""
    n = X.shape[0]
    if x_features.names is not None and y_features.names is not None:
        places = {name: column for column, name in enumerate(y_features.names)}
        for column, name in enumerate(x_features.names):
            if name in places and _varies(X[:, column]) and np.array_equal(X[:, column], Y[:, places[name]]):
                return column, places[name]
        return None
    starts: dict[bytes, list[int]] = {}
    for column in range(Y.shape[1]):
        starts.setdefault(_first_values(Y, column), []).append(column)
    for column in range(X.shape[1]):
        for other in starts.get(_first_values(X, column), ()):
            if np.array_equal(X[:, column], Y[:, other]) and 2 * len(np.unique(X[:, column])) > n:
                return column, other
    return None


def _first_values(data: Any, column: int) -> bytes:
    return np.asarray(data[:_FEWEST, column], dtype=np.float64).tobytes()


def _varies(values: np.ndarray) -> bool:
    return bool((values != values[0]).any())


def _column_of_ids(data: Any, features: Features) -> int | None:
    """The first column of distinct whole numbers that rise by one from row to row, or are called an id."""
    n, m = data.shape
    if n < _FEWEST:
        return None
    begins = np.asarray(data[:_FEWEST], dtype=np.float64)
    whole = (begins == np.round(begins)).all(axis=0)
    rising = whole & (np.diff(begins, axis=0) == 1).all(axis=0)
    named = np.zeros(m, dtype=bool)
    if features.names is not None:
        named = whole & np.array([_NAME_OF_IDS.search(str(name)) is not None for name in features.names])
    for column in np.flatnonzero(rising | named):
        values = np.asarray(data[:, column], dtype=np.float64)
        if (rising[column] and (np.diff(values) == 1).all()) or (named[column] and _are_distinct_whole(values)):
            return int(column)
    return None


def _are_distinct_whole(values: np.ndarray) -> bool:
    return bool((values == np.round(values)).all()) and len(np.unique(values)) == len(values)


def _extreme_cell(data: Any) -> tuple[int, int] | None:
    """Row and column of a value that is much farther from the others of its column than these vary."""
    if data.shape[0] < _FEWEST:
        return None
    for columns, block in _blocks(data):
        scaled = block / np.maximum(np.abs(block).max(axis=0), np.finfo(np.float64).tiny)
        deviations = scaled - np.median(scaled, axis=0)
        squares = deviations**2
        leading = squares.max(axis=0) > _LARGEST_SHARE * squares.sum(axis=0)
        for place in np.flatnonzero(leading):
            row = int(squares[:, place].argmax())
            others = np.delete(block[:, place], row)
            spread, away = others.std(), abs(block[row, place] - others.mean())
            if spread > _ROUNDING * np.abs(others).max() and away > _TIMES_FARTHER * spread:
                return row, columns.start + int(place)
    return None


def _blocks(data: Any) -> Iterator[tuple[slice, np.ndarray]]:
    for columns in column_blocks(*data.shape):
        yield columns, np.asarray(data[:, columns], dtype=np.float64)
