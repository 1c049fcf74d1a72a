"""Checks of what users hand in: one sentence that names the view, the bound, the value and the remedy."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from ._types import MatrixLike
from .engine import warn

__all__ = [
    # data
    "DataWarning",
    "check_finite",
    "check_kernel_matrix",
    "check_magnitude",
    "check_matrix",
    "check_positive_semidefinite",
    "check_same_samples",
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
_ASYMMETRY = 1e-6  # of the largest entry; what rounding in float32 leaves
_INDEFINITE = 1e-3  # of the largest eigenvalue; what rounding, or a kernel that is nearly one, may fall below 0
_FEW_SAMPLES = 500  # of which all eigenvalues are found in no time
_ARPACK: dict[str, Any] = {"tol": 1e-3, "ncv": 30, "maxiter": 30}
_QUOTED = 80  # characters of a value in a message


class DataWarning(UserWarning):
    """Something in the data is harmless to the computation but probably not meant."""


# --- data -------------------------------------------------------------------------------------------------------------


def check_matrix(data: MatrixLike, name: str, *, vector_is_column: bool = False) -> Any:
    """`data` as a finite real 2-d array or sparse matrix of float32 or float64, uncopied where it is one already.

    Whatever has an array inside is taken: lists, frames of pandas and polars, tables of pyarrow. With
    `vector_is_column`, a vector or series is a matrix of one column.
    """
    if not _is_plain(data):
        data = _converted(data, name, vector_is_column)
    check_finite(data, name)
    if sp.issparse(data) and not data.has_canonical_format:
        data = data.copy()  # entries given twice are added up, but not in the caller's matrix
        data.sum_duplicates()
    return data


def _is_plain(data: MatrixLike) -> bool:
    """Whether there is nothing to convert, which scikit-learn would take half a millisecond to find out."""
    stored = sp.issparse(data) and data.format in ("csc", "csr")
    return (stored or type(data) is np.ndarray) and data.ndim == 2 and data.dtype in FLOATS and 0 not in data.shape


def _converted(data: MatrixLike, name: str, vector_is_column: bool) -> Any:
    from sklearn.utils import check_array  # here: scikit-learn takes seconds to load, and plain arrays need none of it

    data = _unmasked(data, name)
    try:
        return check_array(
            _as_column(_as_array(data)) if vector_is_column else _as_array(data),
            accept_sparse=("csc", "csr"),
            dtype=FLOATS,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        # of scikit-learn's message, the complaint and the remedy; not the array itself
        said = [line for i, line in enumerate(str(error).splitlines()) if i == 0 or "Reshape" in line]
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} must be a 2-d array or sparse matrix of real numbers: {' '.join(said)}") from error


def _as_array(data: MatrixLike) -> Any:
    """The array inside; pandas and sparse matrices stay, for scikit-learn knows their missing values and formats."""
    return data if sp.issparse(data) or hasattr(data, "iloc") else np.asarray(data)


def _as_column(data: MatrixLike) -> Any:
    if hasattr(data, "to_frame"):  # a series of pandas
        return data.to_frame()
    return data.reshape(-1, 1) if data.ndim == 1 else data


def _unmasked(data: MatrixLike, name: str) -> Any:
    """A masked array with nothing masked as a plain one; anything masked is refused, for its values mean nothing."""
    if isinstance(data, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in data):
        data = np.ma.array(data)
    if not isinstance(data, np.ma.MaskedArray):
        return data
    if np.ma.is_masked(data):
        places = np.argwhere(np.ma.getmaskarray(data))
        place = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "column"), places[0], strict=False))
        raise ValueError(
            f"{name} has {len(places)} masked entries (first at {place}), and every value is needed; fill "
            f"them in, as {name}.filled(0) does, or drop such samples."
        )
    return data.data


def check_magnitude(data: MatrixLike, name: str) -> None:
    """Refuse values whose squares leave the range of float64."""
    values = data.data if sp.issparse(data) else data
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))  # no copy of a mapped file
    if largest and not _SMALLEST < largest < _LARGEST:
        raise ValueError(
            f"the largest value of {name} must lie between {_SMALLEST:g} and {_LARGEST:g} for its squares to be "
            f"computed; got {largest:g}: rescale {name}."
        )


def check_finite(data: MatrixLike, name: str) -> None:
    """Refuse NaN and infinity, naming the first place."""
    values = data.data if sp.issparse(data) else data
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all():
            return
    if sp.issparse(data):
        entries = data.tocoo()
        first = int(np.argmin(np.isfinite(entries.data)))
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(~np.isfinite(data))[0]
        value = data[row, column]
    kind = "NaN" if np.isnan(value) else "inf"
    raise ValueError(
        f"Input {name} contains {kind} (first at row {row}, column {column}); fill in or drop such entries."
    )


def check_same_samples(X: MatrixLike, Y: MatrixLike, names: tuple[str, str] = ("X", "Y")) -> None:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of samples; got {X.shape[0]} and {Y.shape[0]}: "
            "pass row i of both for the same thing."
        )


def check_kernel_matrix(K: MatrixLike, name: str) -> Any:
    """Refuse a training kernel that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{name} must be a square kernel matrix of the training samples; got shape {K.shape}: pass one row and one "
            "column a training sample."
        )
    difference = abs(K - K.T)
    largest = abs(K).max()
    asymmetry = difference.max()
    if asymmetry > _ASYMMETRY * largest:
        raise ValueError(
            f"{name} must be symmetric; its largest difference from its transpose is {asymmetry:.3g}, where "
            f"{_ASYMMETRY * largest:.1g} is allowed: pass ({name} + {name}.T) / 2 if it is meant to be symmetric."
        )
    return K


def warn_uninformative(data: MatrixLike, name: str) -> None:
    """Warn of constant features and all-zero samples, and refuse a view in which nothing varies."""
    constant = _constant_columns(data)
    n_constant = int(np.count_nonzero(constant))
    if n_constant == data.shape[1]:
        raise ValueError(
            f"{name} does not vary: all of its {data.shape[1]} features are constant over the {data.shape[0]} samples; "
            "pass data that differ between samples."
        )
    if n_constant:
        warn(
            f"{name} has {n_constant} constant features (first: {np.argmax(constant)}), which say nothing; drop "
            "them if that is not meant.",
            DataWarning,
        )
    zero = _zero_rows(data)
    if zero.any():
        warn(
            f"{name} has {np.count_nonzero(zero)} all-zero samples (first: {np.argmax(zero)}), which carry no "
            "information; drop such pairs if that is not meant.",
            DataWarning,
        )


def _constant_columns(data: MatrixLike) -> np.ndarray:
    low, high = data.min(axis=0), data.max(axis=0)
    if sp.issparse(data):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return low == high


def _zero_rows(data: MatrixLike) -> np.ndarray:
    if sp.issparse(data):
        data = data.tocsr()
        return np.asarray(abs(data).sum(axis=1)).ravel() == 0
    return ~data.any(axis=1)


def check_positive_semidefinite(kernel: Any, n: int, name: str) -> None:
    """Refuse a symmetric matrix with a clearly negative eigenvalue, which is no matrix of inner products.

    Parameters
    ----------
    kernel : matrix, LinearOperator or function of a vector
        The n x n matrix, as it will be used (if centred, then centred), or its product with a vector.
    n : int
    name : str
        What it is, for the message: "the centred kernel matrix of Y".
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
    """The smallest and the largest eigenvalue; of a large matrix from products alone, good to a thousandth or so.

    Lanczos' values lie within the true range, so what is refused for them is refused rightly.
    """
    operator = _operator(kernel, n)
    if n <= _FEW_SAMPLES:
        values = eigvalsh(operator @ np.eye(n))
        return float(values[0]), float(values[-1])
    largest = _largest_eigenvalue(operator)
    # a smallest eigenvalue of 0 has no digits to converge to; seen from the other end it is as large as any
    scale = max(abs(largest), np.finfo(np.float64).tiny)
    mirrored = LinearOperator((n, n), matvec=lambda v: 2.0 * v - (operator @ v) / scale, dtype=np.float64)
    return scale * (2.0 - _largest_eigenvalue(mirrored)), largest


def _largest_eigenvalue(operator: LinearOperator) -> float:
    start = np.random.default_rng(0).standard_normal(operator.shape[0])  # ARPACK's own differs from call to call
    product = operator @ start
    if not product.any():  # ARPACK refuses a matrix of zeros
        return 0.0
    try:
        return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False, **_ARPACK)[0])
    except ArpackNoConvergence as stopped:  # something within the range of the eigenvalues is always known
        return float(np.max(stopped.eigenvalues, initial=start @ product / (start @ start)))


def _operator(kernel: Any, n: int) -> LinearOperator:
    if callable(kernel) and not isinstance(kernel, LinearOperator):
        return LinearOperator(
            (n, n), matvec=lambda v: kernel(np.ravel(v)), dtype=np.float64
        )  # SciPy passes columns, too
    return aslinearoperator(kernel)


# --- settings ---------------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """A value as messages quote it: on one line, and not much of a long one."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def check_choice(value: Any, name: str, choices: tuple[Any, ...]) -> Any:
    """`value`, if it is one of the strings, booleans or None to choose from, whatever else its type makes of `==`."""
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
