"""Checks of user input: messages are one sentence that names the view, the bound, the value and the remedy."""

from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from ._arrays import ChosenRows, tiles
from ._types import MatrixLike
from ._wording import counted
from .engine import warn

__all__ = [
    # data
    "AllZeroWarning",
    "DataWarning",
    "EvidenceWarning",
    "check_finite",
    "check_kernel_matrix",
    "check_magnitude",
    "check_matrix",
    "check_positive_semidefinite",
    "check_same_samples",
    "check_structure",
    "check_varies",
    "refuse_constant",
    "warn_constant",
    "warn_uninformative",
    # settings
    "check_choice",
    "check_count",
    "check_flag",
    "check_keywords",
    "check_seed",
    "check_tolerance",
    "check_verbose",
    "shown",
]

FLOATS = (np.float64, np.float32)
_SMALLEST, _LARGEST = 1e-75, 1e75  # kernels square the data, and the objective squares kernels
_LONGEST_COMPLAINT = 300  # characters quoted of another library's message
_ASYMMETRY = 1e-6  # of the largest entry; allowed for rounding in float32
_INDEFINITE = 1e-3  # of the largest eigenvalue; allowed below 0 for rounding and nearly valid kernels
_FEW_SAMPLES = 500  # up to which all eigenvalues are computed
_ARPACK: dict[str, Any] = {"tol": 1e-3, "ncv": 30, "maxiter": 30}
_OUTSIDE = "indices outside of its shape, or that are no integers"
_UNEQUAL = "indices and values of different lengths"
_QUOTED = 80  # characters of a value in a message


class DataWarning(UserWarning):
    """Something in the data does not prevent the computation but is probably unintended."""


class EvidenceWarning(DataWarning):
    """Nothing shows that what was learnt holds on new samples, or less does than it seems."""


class AllZeroWarning(DataWarning):
    """Samples are all zero; a caller that made them from other data can warn in its own terms instead."""


# --- data -------------------------------------------------------------------------------------------------------------


def check_matrix(data: MatrixLike, name: str, *, vector_is_column: bool = False) -> Any:
    """`data` as a finite real 2-d array or sparse matrix of float32 or float64; not copied if it is one already.

    Lists, pandas and polars data frames and pyarrow tables are converted. With `vector_is_column`, a vector or series
    becomes a matrix of one column.
    """
    if isinstance(data, ChosenRows):  # of an array that was checked
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
    """A sparse matrix of any format as valid CSR or CSC; not copied if it is one already."""
    check_structure(data, name)
    if data.format in ("csc", "csr"):
        return data
    try:
        places = data.tocoo()  # other conversions write to unchecked indices
    except ValueError as error:
        raise _broken(data, name, _OUTSIDE) from error
    check_structure(places, name)
    return places.tocsr()


def check_structure(data: MatrixLike, name: str) -> None:
    """Refuse a sparse matrix with indices out of range: compiled code does not check them."""
    complaint = None
    if data.format in ("csr", "csc", "bsr"):
        complaint = _compressed_complaint(data)
    elif data.format == "coo":
        within = (_within(places, size) for places, size in zip(data.coords, data.shape, strict=True))
        complaint = _UNEQUAL if {*map(len, data.coords)} != {len(data.data)} else None if all(within) else _OUTSIDE
    elif data.format == "lil":
        rows = len(data.rows) == data.shape[0] and [*map(len, data.rows)] == [*map(len, data.data)]
        complaint = None if rows else _UNEQUAL
    elif data.format == "dia":
        complaint = None if len(data.offsets) == len(data.data) else _UNEQUAL
    if complaint:
        raise _broken(data, name, complaint)


def _broken(data: MatrixLike, name: str, complaint: str) -> ValueError:
    return ValueError(
        f"{name} is a broken sparse matrix of shape {data.shape}: it has {complaint}; build it again from its rows, "
        "columns and values."
    )


def _compressed_complaint(data: MatrixLike) -> str | None:
    """What is wrong with compressed rows, columns or blocks; None if nothing is."""
    block = data.blocksize if data.format == "bsr" else (1, 1)
    major, minor = (size // side for size, side in zip(data.shape, block, strict=True))
    if data.format == "csc":
        major, minor = minor, major
    starts, indices = data.indptr, data.indices
    if starts.dtype.kind != "i" or starts.shape != (major + 1,):
        return f"index pointers of type {starts.dtype} and shape {starts.shape}, not {major + 1} integers"
    if indices.ndim != 1 or len(indices) != len(data.data):
        return _UNEQUAL
    # compared, not subtracted: a difference can overflow
    if starts[0] != 0 or starts[-1] > len(indices) or (starts[1:] < starts[:-1]).any():
        return f"index pointers that do not rise from 0 to at most {len(indices)}, the number of its values"
    return None if _within(indices, minor) else _OUTSIDE


def _within(indices: np.ndarray, size: int) -> bool:
    if indices.dtype.kind != "i":
        return False
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))  # as which negative ones are large
    return len(indices) == 0 or bool(unsigned.max() < size)


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
        # scikit-learn's complaint and remedy, without the array itself
        said = [line for i, line in enumerate(str(error).splitlines()) if i == 0 or "Reshape" in line]
        kind = TypeError if isinstance(error, TypeError) else ValueError
        complaint = " ".join(said)
        if len(complaint) > _LONGEST_COMPLAINT:  # NumPy's for types without a common one lists all it knows of them
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
    largest = max(max(float(b.max(initial=0.0)), -float(b.min(initial=0.0))) for b in blocks)  # no copy
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
            "row i of both must be the same sample."
        )


def check_kernel_matrix(K: MatrixLike, name: str) -> Any:
    """Refuse a training kernel that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{name} must be a square kernel matrix of the training samples; got shape {K.shape}: pass one row and one "
            "column per training sample."
        )
    largest = max(K.max(), -K.min())
    asymmetry = (K - K.T).max()  # of each difference there is the negative one too
    if asymmetry > _ASYMMETRY * largest:
        raise ValueError(
            f"{name} must be symmetric; its largest difference from its transpose is {asymmetry:.3g}, where "
            f"{_ASYMMETRY * largest:.1g} is allowed: pass ({name} + {name}.T) / 2 if it is meant to be symmetric."
        )
    return K


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
    """Warn of constant features, given which are."""
    n_constant = int(np.count_nonzero(constant))
    if n_constant:
        warn(
            f"{name} has {counted(n_constant, 'constant feature')} (first: {np.argmax(constant)}); such features carry "
            "no information: drop them if that is unintended.",
            DataWarning,
        )


def check_varies(data: MatrixLike, name: str, remedy: str = "pass data that differ between samples") -> np.ndarray:
    """Which features are constant; refuses data in which all are."""
    constant = _constant_columns(data)
    refuse_constant(constant, name, data.shape, remedy)
    return constant


def refuse_constant(
    constant: np.ndarray, name: str, shape: tuple[int, int], remedy: str = "pass data that differ between samples"
) -> None:
    """Refuse data in which all features are constant, given which are."""
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


def check_positive_semidefinite(kernel: Any, n: int, name: str) -> None:
    """Refuse a symmetric matrix with a clearly negative eigenvalue: it is not a matrix of inner products.

    Parameters
    ----------
    kernel : matrix, LinearOperator or function of a vector
        The n x n matrix as it will be used (centred or not), or its product with a vector.
    n : int
    name : str
        For the message, such as "the centred kernel matrix of Y".
    """
    smallest, largest = _extreme_eigenvalues(kernel, n)
    if smallest >= -_INDEFINITE * max(largest, 0.0):
        return
    share = f"{smallest / largest:.3g} times the largest" if largest > 0 else "and none is positive"
    raise ValueError(
        f"{name} must be positive semi-definite; its smallest eigenvalue is {smallest:.3g}, {share}, where "
        f"{-_INDEFINITE:g} times the largest is allowed: choose a positive semi-definite kernel (rbf, polynomial, "
        "laplacian, ...), or set the negative eigenvalues to 0."
    )


def _extreme_eigenvalues(kernel: Any, n: int) -> tuple[float, float]:
    """The smallest and the largest eigenvalue; for a large matrix by Lanczos, to a relative error of about 0.001.

    Lanczos values lie within the true range, so no valid matrix is refused.
    """
    operator = _operator(kernel, n)
    if n <= _FEW_SAMPLES:
        values = eigvalsh(operator @ np.eye(n))
        return float(values[0]), float(values[-1])
    largest = _largest_eigenvalue(operator)
    # Lanczos does not converge to 0 in relative terms; mirrored, the smallest eigenvalue is the largest
    scale = max(abs(largest), np.finfo(np.float64).tiny)
    mirrored = LinearOperator((n, n), matvec=lambda v: 2.0 * v - (operator @ v) / scale, dtype=np.float64)
    return scale * (2.0 - _largest_eigenvalue(mirrored)), largest


def _largest_eigenvalue(operator: LinearOperator) -> float:
    start = np.random.default_rng(0).standard_normal(operator.shape[0])  # ARPACK's own start differs between calls
    product = operator @ start
    if not product.any():  # ARPACK refuses a matrix of zeros
        return 0.0
    try:
        return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False, **_ARPACK)[0])
    except ArpackNoConvergence as stopped:  # the Rayleigh quotient is within the range of the eigenvalues
        return float(np.max(stopped.eigenvalues, initial=start @ product / (start @ start)))


def _operator(kernel: Any, n: int) -> LinearOperator:
    if callable(kernel) and not isinstance(kernel, LinearOperator):
        return LinearOperator(
            (n, n), matvec=lambda v: kernel(np.ravel(v)), dtype=np.float64
        )  # SciPy passes columns, too
    return aslinearoperator(kernel)


# --- settings ---------------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as quoted in messages: on one line, shortened if long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """`value`, if it is one of `choices` (strings, booleans or None); arrays and the like never compare equal."""
    value = bool(value) if isinstance(value, np.bool_) else value
    if any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        return value
    names = list(map(repr, choices))
    bound = " or ".join(names) if len(names) == 2 else f"one of {', '.join(names)}"
    raise ValueError(f"{name} must be {bound}; got {shown(value)}.")


def check_flag(value: Any, name: str) -> bool:
    return check_choice(value, name, (True, False))


def check_count(value: Any, name: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {shown(value)}.")
    return int(value)


def check_tolerance(value: Any, name: str = "tol") -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1; got {shown(value)}: 1e-6 is the default.")
    return float(value)


def check_verbose(value: Any) -> None:
    if not isinstance(value, bool | np.bool_) and not (isinstance(value, Integral) and int(value) >= 0):
        raise ValueError(f"verbose must be an integer of at least 0, True or False; got {shown(value)}.")


def check_seed(value: Any) -> None:
    from sklearn.utils import check_random_state

    try:
        check_random_state("a flag is no seed" if isinstance(value, bool) else value)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be None, an integer from 0 to 2**32 - 1 or a numpy.random.RandomState; got "
            f"{shown(value)}."
        ) from None


def check_keywords(value: Any, name: str) -> None:
    """Keyword arguments: None, or a dictionary whose keys are strings."""
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(key, str) for key in value)):
        raise ValueError(f"{name} must be None or a dict with names as keys, as {{'gamma': 0.1}}; got {shown(value)}.")
