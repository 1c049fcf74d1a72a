"""Reading a view from any container: its matrix, the names of its features, the labels of its rows."""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._types import MatrixLike
from ._validation import DataWarning, check_magnitude, check_matrix, shown
from .engine import warn

__all__ = ["Features", "check_row_labels", "read_view"]

_LISTED = 5  # names in a message


@dataclass(frozen=True, eq=False)
class Features:
    """Number of features of a view, and their names if it was a data frame with string column names."""

    count: int
    names: np.ndarray | None = None

    def check_same(self, known: "Features", name: str, owner: str) -> None:
        """Refuse features other than the `known` ones that `owner` was fitted with, with scikit-learn's messages."""
        if self.names is not None and known.names is not None:
            if not np.array_equal(self.names, known.names):
                raise ValueError(_unlike_names(self.names, known.names, name))
        elif self.names is not None or known.names is not None:
            unlike = "has feature names" if known.names is None else "does not have valid feature names"
            fitted = "without" if known.names is None else "with"
            warn(f"{name} {unlike}, but {owner} was fitted {fitted} feature names", UserWarning)
        if self.count != known.count:
            raise ValueError(
                f"{name} has {self.count} features, but {owner} is expecting {known.count} features as input: pass the "
                "features it was fitted with."
            )


def read_view(data: MatrixLike, name: str) -> Any:
    """A view as a checked matrix, and its features; a vector is accepted as a single column of Y, but not as X.

    Accepts arrays, sparse matrices and arrays, lists, pandas and polars data frames, and pyarrow tables.
    """
    if data is None and name == "Y":
        raise ValueError("requires y to be passed, but the target y is None: pass Y, the other view of the samples.")
    names = _column_names(data, name)
    matrix = check_matrix(data, name, vector_is_column=name == "Y")
    check_magnitude(matrix, name)
    return matrix, Features(matrix.shape[1], names)


# --- names of features ------------------------------------------------------------------------------------------------


def _column_names(data: MatrixLike, name: str) -> np.ndarray | None:
    """The column names of a frame, if all are strings; duplicates, and strings mixed with others, are refused."""
    # pyarrow's `columns` are the data
    columns = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if columns is None:
        return None
    columns = list(columns)
    repeated = [column for column, times in Counter(columns).items() if times > 1]
    if repeated:
        places = [i for i, column in enumerate(columns) if column == repeated[0]]
        raise ValueError(
            f"{name} must have unique column names; {repeated[0]!r} names {len(places)} columns (the first two at "
            f"{places[0]} and {places[1]}): rename or drop all but one."
        )
    strings = [isinstance(column, str) for column in columns]
    if any(strings) and not all(strings):
        other = columns[strings.index(False)]
        raise TypeError(
            f"Feature names are only supported if all input features have string names, but {name} has the column name "
            f"{other!r} beside {columns[strings.index(True)]!r}: make all of them strings, as "
            f"{name}.columns = {name}.columns.astype(str) does."
        )
    return np.array(columns, dtype=object) if columns and all(strings) else None


def _unlike_names(given: np.ndarray, known: np.ndarray, name: str) -> str:
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    message = (
        f"The feature names{'' if name == 'X' else f' of {name}'} should match those that were passed during fit.\n"
    )
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def _listed(names: list[str]) -> str:
    return "".join(f"- {name}\n" for name in names[:_LISTED]) + ("- ...\n" if len(names) > _LISTED else "")


# --- labels of rows ---------------------------------------------------------------------------------------------------


def check_row_labels(X: MatrixLike, Y: MatrixLike) -> None:
    """Refuse two frames whose rows have the same labels in another order; warn if some common labels are misplaced.

    Rows are paired by position. Labels without anything in common, and default ones (0, 1, 2, ...), are ignored, unless
    the other frame has exactly the same ones.
    """
    x_labels, y_labels = _row_labels(X), _row_labels(Y)
    if x_labels is None or y_labels is None or len(x_labels) != len(y_labels) or x_labels.equals(y_labels):
        return
    x_codes, y_codes = _common_codes(x_labels, y_labels)
    differ = x_codes != y_codes
    if not differ.any():
        return
    n_codes = max(x_codes.max(), y_codes.max()) + 1
    x_times, y_times = np.bincount(x_codes, minlength=n_codes), np.bincount(y_codes, minlength=n_codes)
    if np.array_equal(x_times, y_times):
        row = int(np.argmax(differ))
        remedy = "Y.loc[X.index]" if x_labels.is_unique else "both in one order, with a unique label for each row"
        raise ValueError(
            f"X and Y have the same row labels in another order, first at row {row}, which is {shown(x_labels[row])} "
            f"in X and {shown(y_labels[row])} in Y: pass {remedy}, or reset_index(drop=True) of both if rows are "
            "paired by position."
        )
    misplaced = differ & (y_times[x_codes] > 0)
    if misplaced.any() and not (_is_default(x_labels) or _is_default(y_labels)):
        row = int(np.argmax(misplaced))
        warn(
            f"{np.count_nonzero(misplaced)} row labels of X are at other rows of Y, first {shown(x_labels[row])} at "
            f"row {row}, where Y has {shown(y_labels[row])}, and rows are paired by position; align both by their "
            "labels, or pass reset_index(drop=True) of both if that is intended.",
            DataWarning,
        )


def _row_labels(data: MatrixLike) -> Any:
    """The index of a pandas frame or series; None for anything else."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(data, pandas.DataFrame | pandas.Series):
        return None
    return data.index


def _is_default(index: Any) -> bool:
    """Whether these are the row numbers that pandas assigns by default."""
    return isinstance(index, sys.modules["pandas"].RangeIndex) and index.start == 0 and index.step == 1


def _common_codes(x_labels: Any, y_labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """An integer code for each label, the same in both indexes; linear in the number of rows."""
    codes, _ = sys.modules["pandas"].factorize(x_labels.append(y_labels), use_na_sentinel=False)
    return codes[: len(x_labels)], codes[len(x_labels) :]
