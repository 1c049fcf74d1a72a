"""Reading views: checked matrices from any container, names of features, and warnings of likely mistakes."""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._checks import AllZeroWarning, DataWarning, shown, warn
from ._sparse import OUTSIDE, broken, check_structure
from ._types import MatrixLike
from ._wording import counted, setting
from .samples import ChosenRows, column_blocks, tiles

__all__ = [
    # reading
    "Features",
    "check_row_labels",
    "read_view",
    # matrices
    "check_finite",
    "check_magnitude",
    "check_matrix",
    "check_same_samples",
    "check_varies",
    "refuse_constant",
    "warn_constant",
    "warn_uninformative",
    # mistakes
    "warn_of_mistakes",
]

FLOATS = (np.float64, np.float32)
_SMALLEST, _LARGEST = 1e-75, 1e75  # limits on the largest value: kernels square the data, the objective squares kernels
_LONGEST_COMPLAINT = 300  # maximum number of characters quoted from another library's message

_MOST_LISTED = 5  # maximum number of names in a message


@dataclass(frozen=True, eq=False)
class Features:
    """Number of features of a view, and their names if it was a data frame with string column names."""

    count: int
    names: np.ndarray | None = None

    def check_same(self, known: "Features", name: str, owner: str) -> None:
        """Refuse features other than the `known` ones that `owner` was fitted with, with scikit-learn's messages."""
        if self.names is not None and known.names is not None:
            if not np.array_equal(self.names, known.names):
                raise ValueError(_names_complaint(self.names, known.names, name))
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
    """A view as a checked matrix, and its features; a vector is accepted as Y, as a single column, but not as X.

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
        other, frame = columns[strings.index(False)], name if name.isidentifier() else "frame"
        raise TypeError(
            f"Feature names are only supported if all input features have string names, but {name} has the column name "
            f"{other!r} beside {columns[strings.index(True)]!r}: make all of them strings, as "
            f"{frame}.columns = {frame}.columns.astype(str) does."
        )
    return np.array(columns, dtype=object) if columns and all(strings) else None


def _names_complaint(given: np.ndarray, known: np.ndarray, name: str) -> str:
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
    return "".join(f"- {name}\n" for name in names[:_MOST_LISTED]) + ("- ...\n" if len(names) > _MOST_LISTED else "")


# --- labels of rows ---------------------------------------------------------------------------------------------------


def check_row_labels(X: MatrixLike, Y: MatrixLike, names: tuple[str, str] = ("X", "Y")) -> None:
    """Refuse two frames whose rows have the same labels in another order; warn if some common labels are misplaced.

    Rows are paired by position. Two sets of labels with nothing in common are ignored. So are default labels
    (0, 1, 2, ...), unless the other frame has exactly the same labels.
    """
    x_labels, y_labels = _row_labels(X), _row_labels(Y)
    x_name, y_name = names
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
        if not x_labels.is_unique:
            remedy = "both in one order, with a unique label for each row"
        elif x_name.isidentifier() and y_name.isidentifier():
            remedy = f"{y_name}.loc[{x_name}.index]"
        else:  # "view 3" is no name of a variable
            remedy = f"{y_name} as its .loc[index], with the index of {x_name}"
        raise ValueError(
            f"{x_name} and {y_name} have the same row labels in another order, first at row {row}, which is "
            f"{shown(x_labels[row])} in {x_name} and {shown(y_labels[row])} in {y_name}: pass {remedy}, or "
            "reset_index(drop=True) of both if rows are paired by position."
        )
    misplaced = differ & (y_times[x_codes] > 0)
    if misplaced.any() and not (_is_default(x_labels) or _is_default(y_labels)):
        row = int(np.argmax(misplaced))
        warn(
            f"{np.count_nonzero(misplaced)} row labels of {x_name} are at other rows of {y_name}, first "
            f"{shown(x_labels[row])} at row {row}, where {y_name} has {shown(y_labels[row])}, and rows are paired by "
            "position; align both by their labels, or pass reset_index(drop=True) of both if that is intended.",
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


# --- matrices ---------------------------------------------------------------------------------------------------------


def check_matrix(data: MatrixLike, name: str, *, vector_is_column: bool = False) -> Any:
    """`data` as a finite real 2-d array or sparse matrix of float32 or float64; not copied if it already is one.

    Lists, pandas and polars data frames and pyarrow tables are converted. With `vector_is_column`, a vector or series
    becomes a matrix of one column.
    """
    if isinstance(data, ChosenRows):  # rows of a checked array
        return data
    if sp.issparse(data) and data.ndim == 2:
        data = _compressed(data, name)
    if not _is_plain(data):
        data = _converted(data, name, vector_is_column)
    data = _canonical(data) if sp.issparse(data) else data
    check_finite(data, name)
    return data


def _canonical(data: MatrixLike) -> Any:
    """Duplicate entries summed and unused ones pruned, in a copy, so that the caller's matrix stays unchanged."""
    exact = data.indptr[-1] == len(data.data)
    if exact and data.has_canonical_format:
        return data
    data = data.copy()
    data.prune()
    data.has_canonical_format = False  # the flag may be out of date
    data.sum_duplicates()
    return data


def _compressed(data: MatrixLike, name: str) -> Any:
    """A sparse matrix of any format as valid CSR or CSC; not copied if it already is."""
    check_structure(data, name)
    if data.format in ("csc", "csr"):
        return data
    try:
        places = data.tocoo()  # other conversions write to unchecked indices
    except ValueError as error:
        raise broken(data, name, OUTSIDE) from error
    check_structure(places, name)
    return places.tocsr()


def _is_plain(data: MatrixLike) -> bool:
    """Whether there is nothing to convert; scikit-learn's own check takes half a millisecond."""
    stored = sp.issparse(data) and data.format in ("csc", "csr")
    return (stored or type(data) is np.ndarray) and data.ndim == 2 and data.dtype in FLOATS and 0 not in data.shape


def _converted(data: MatrixLike, name: str, vector_is_column: bool) -> Any:
    from sklearn.utils import check_array  # imported late: scikit-learn takes seconds to load

    data = _unmasked(data, name)
    if isinstance(data, np.ndarray) and data.dtype.kind in "mM":  # NumPy would convert them to days or nanoseconds
        raise TypeError(f"{name} must be a 2-d array or sparse matrix of real numbers; got {data.dtype}: convert them.")
    try:
        return check_array(
            _as_column(_as_array(data)) if vector_is_column else _as_array(data),
            accept_sparse=("csc", "csr"),
            dtype=FLOATS,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        # the complaint and remedy of scikit-learn, without the array itself
        said = [line for i, line in enumerate(str(error).splitlines()) if i == 0 or "Reshape" in line]
        kind = TypeError if isinstance(error, TypeError) else ValueError
        complaint = " ".join(said)
        if len(complaint) > _LONGEST_COMPLAINT:  # NumPy lists all types if they have none in common
            complaint = complaint.partition(". ")[0] + "."
        raise kind(f"{name} must be a 2-d array or sparse matrix of real numbers: {complaint}") from error


def _as_array(data: MatrixLike) -> Any:
    """The data as an array, except pandas and sparse data, whose missing values and formats scikit-learn handles."""
    return data if sp.issparse(data) or hasattr(data, "iloc") else np.asarray(data)


def _as_column(data: MatrixLike) -> Any:
    if hasattr(data, "to_frame"):  # a series of pandas
        return data.to_frame()
    return data.reshape(-1, 1) if data.ndim == 1 else data


def _unmasked(data: MatrixLike, name: str) -> Any:
    """A masked array without masked entries as a plain array; masked entries are refused."""
    if isinstance(data, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in data):
        data = np.ma.array(data)
    if not isinstance(data, np.ma.MaskedArray):
        return data
    if np.ma.is_masked(data):
        places = np.argwhere(np.ma.getmaskarray(data))
        place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), places[0], strict=False))
        raise ValueError(
            f"{name} has {counted(len(places), 'masked entry', 'masked entries')} (first at {place}), but all values "
            f"are needed; fill them in, for example with {name}.filled(0), or drop such samples."
        )
    return data.data


def check_magnitude(data: MatrixLike, name: str) -> None:
    """Refuse values whose squares overflow or underflow float64."""
    blocks = [data.data] if sp.issparse(data) else (block for _, _, block in _tiles_of(data))
    largest = max(max(float(b.max(initial=0.0)), -float(b.min(initial=0.0))) for b in blocks)  # makes no copy
    if largest and not _SMALLEST < largest < _LARGEST:
        raise ValueError(
            f"the largest value of {name} must lie between {_SMALLEST:g} and {_LARGEST:g} for its squares to be "
            f"computed; got {largest:g}: rescale {name}."
        )


def check_finite(data: MatrixLike, name: str) -> None:
    """Refuse NaN and infinity, and name the first position."""
    if sp.issparse(data):
        if _all_finite(data.data):
            return
        entries = data.tocoo()
        first = int(np.argmin(np.isfinite(entries.data)))
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        odd = [(rows, columns) for rows, columns, block in _tiles_of(data) if not _all_finite(block)]
        if not odd:
            return
        starts = np.array([(rows.start, columns.start) for rows, columns in odd])
        firsts = [np.argwhere(~np.isfinite(data[rows, columns]))[0] for rows, columns in odd]
        row, column = min(map(tuple, starts + firsts))
        value = data[row, column]
    kind = "NaN" if np.isnan(value) else "inf"
    raise ValueError(
        f"Input {name} contains {kind} (first at row {row}, column {column}); fill in or drop such entries."
    )


def _all_finite(values: np.ndarray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())


def _tiles_of(data: MatrixLike) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Rows, columns and tiles of dense data: a large array is never converted or copied as a whole."""
    return ((rows, columns, data[rows, columns]) for rows, columns in tiles(*data.shape))


def check_same_samples(X: MatrixLike, Y: MatrixLike, names: tuple[str, str] = ("X", "Y")) -> None:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of samples; got {X.shape[0]} and {Y.shape[0]}: "
            "row i of each must be the same sample."
        )


def warn_uninformative(data: MatrixLike, name: str) -> None:
    """Warn of constant features and all-zero samples, and refuse a view in which nothing varies."""
    warn_constant(check_varies(data, name), name)
    zero = _zero_rows(data)
    if zero.any():
        warn(
            f"{name} has {counted(int(np.count_nonzero(zero)), 'all-zero sample')} (first: {np.argmax(zero)}); such "
            "samples carry no information: drop the pairs if that is unintended.",
            AllZeroWarning,
        )


def warn_constant(constant: np.ndarray, name: str) -> None:
    """Warn of constant features; `constant` says which features are."""
    n_constant = int(np.count_nonzero(constant))
    if n_constant:
        warn(
            f"{name} has {counted(n_constant, 'constant feature')} (first: {np.argmax(constant)}); such features carry "
            "no information: drop them if that is unintended.",
            DataWarning,
        )


def check_varies(data: MatrixLike, name: str, remedy: str = "pass data that differ between samples") -> np.ndarray:
    """Which features are constant; refuses data with only constant features."""
    constant = _constant_columns(data)
    refuse_constant(constant, name, data.shape, remedy)
    return constant


def refuse_constant(
    constant: np.ndarray, name: str, shape: tuple[int, int], remedy: str = "pass data that differ between samples"
) -> None:
    """Refuse data with only constant features; `constant` says which features are."""
    if constant.all():
        raise ValueError(
            f"{name} does not vary: all of its {shape[1]} features are constant over the {shape[0]} samples; {remedy}."
        )


def _constant_columns(data: MatrixLike) -> np.ndarray:
    if sp.issparse(data):
        return (data.min(axis=0) - data.max(axis=0)).toarray().ravel() == 0
    constant, first = np.ones(data.shape[1], dtype=bool), data[0]
    for _, columns, block in _tiles_of(data):
        constant[columns] &= (block == first[columns]).all(axis=0)
    return constant


def _zero_rows(data: MatrixLike) -> np.ndarray:
    if sp.issparse(data):
        data = data.tocsr()
        return np.asarray(abs(data).sum(axis=1)).ravel() == 0
    zero = np.ones(data.shape[0], dtype=bool)
    for rows, _, block in _tiles_of(data):
        zero[rows] &= ~block.any(axis=1)
    return zero


# --- likely mistakes --------------------------------------------------------------------------------------------------

_EXTREME_SHARE = 0.9  # smallest share of a column's variance that makes a single value suspicious
_EXTREME = 100.0  # distance of a mistake from the other values, in standard deviations of these
_ROUNDING = 1e-9  # share of the largest value: a smaller deviation is rounding error
_FEWEST_SAMPLES = 6  # minimum number of samples for such warnings: in fewer, any value may lead, any numbers may rise
_NAME_OF_IDS = re.compile(
    r"(?i:(^|[_\s.-])(id|ids|idx|index|key|uid|uuid|no|nr|number|row|sample|subject|patient|participant)$)"
    r"|[a-z]I[Dd]$"  # as in subjectID
)


def warn_of_mistakes(names: Sequence[str], views: Sequence[MatrixLike], features: Sequence[Features]) -> None:
    """Warn of equal views and equal columns, of ids among the features, and of single values that dwarf all others.

    Arrays and frames are searched; for sparse matrices, only the equality of views is tested.
    """
    for v, u in combinations(range(len(views)), 2):
        if _equal(views[v], views[u]):
            warn(
                f"{setting(names[v])} and {setting(names[u])} are equal, so that every correlation "
                f"{'is' if len(views) == 2 else 'between them is'} perfect and says nothing; pass different views of "
                "the samples.",
                DataWarning,
            )
            return
    dense = [v for v, view in enumerate(views) if not sp.issparse(view)]
    for v, u in combinations(dense, 2):
        if (twice := _column_of_both(views[v], views[u], features[v], features[u])) is not None:
            warn(
                f"{_named(twice[0], features[v])} of {names[v]} and {_named(twice[1], features[u])} of {names[u]} have "
                "the same values, and a component of them alone correlates perfectly; drop it from one of the views.",
                DataWarning,
            )
    for v in dense if len(dense) == len(views) else ():
        if (ids := _column_of_ids(views[v], features[v])) is not None:
            warn(
                f"{_named(ids, features[v])} of {names[v]} seems to number the samples, and what changes from the "
                "first sample to the last would look shared; drop it, or make it the index of the frame.",
                DataWarning,
            )
        if (cell := _extreme_cell(views[v])) is not None:
            row, column = cell
            warn(
                f"one value of {names[v]} is more than {_EXTREME:g} standard deviations of its column away from all "
                f"others: {views[v][row, column]:.6g} in row {row}, {_named(column, features[v])}; correct it, or drop "
                "the pair, if it is a mistake.",
                DataWarning,
            )


def _named(column: int, features: Features) -> str:
    return f"column {column}" if features.names is None else f"column {str(features.names[column])!r}"


def _equal(X: MatrixLike, Y: MatrixLike) -> bool:
    if X.shape != Y.shape or sp.issparse(X) != sp.issparse(Y):
        return False
    if sp.issparse(X):
        return X.nnz == Y.nnz and (X != Y).nnz == 0
    return all(np.array_equal(X[:, columns], Y[:, columns]) for columns in column_blocks(*X.shape))


def _column_of_both(X: Any, Y: Any, x_features: Features, y_features: Features) -> tuple[int, int] | None:
    """The first column of X with equal values in Y (same name or, without names, many values), and its place there."""
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
    return np.asarray(data[:_FEWEST_SAMPLES, column], dtype=np.float64).tobytes()


def _varies(values: np.ndarray) -> bool:
    return bool((values != values[0]).any())


def _column_of_ids(data: Any, features: Features) -> int | None:
    """The first column of distinct whole numbers that rise by one from row to row, or that its name calls an id."""
    n, m = data.shape
    if n < _FEWEST_SAMPLES:
        return None
    begins = np.asarray(data[:_FEWEST_SAMPLES], dtype=np.float64)
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
    """Row and column of a value that is much farther from the other values of its column than these vary."""
    if data.shape[0] < _FEWEST_SAMPLES:
        return None
    for columns, block in _blocks(data):
        scaled = block / np.maximum(np.abs(block).max(axis=0), np.finfo(np.float64).tiny)
        deviations = scaled - np.median(scaled, axis=0)
        squares = deviations**2
        leading = squares.max(axis=0) > _EXTREME_SHARE * squares.sum(axis=0)
        for place in np.flatnonzero(leading):
            row = int(squares[:, place].argmax())
            others = np.delete(block[:, place], row)
            spread, away = others.std(), abs(block[row, place] - others.mean())
            if spread > _ROUNDING * np.abs(others).max() and away > _EXTREME * spread:
                return row, columns.start + int(place)
    return None


def _blocks(data: Any) -> Iterator[tuple[slice, np.ndarray]]:
    for columns in column_blocks(*data.shape):
        yield columns, np.asarray(data[:, columns], dtype=np.float64)
