"""Checks of what users hand in: one sentence that names the view, the bound, the value and the remedy."""

from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp

from .engine import warn

__all__ = [
    "DataWarning",
    "check_count",
    "check_finite",
    "check_kernel_matrix",
    "check_magnitude",
    "check_matrix",
    "check_same_samples",
    "warn_uninformative",
]

FLOATS = (np.float64, np.float32)
_SMALLEST, _LARGEST = 1e-75, 1e75  # kernels square the data, and the objective squares kernels
_ASYMMETRY = 1e-6  # of the largest entry; what rounding in float32 leaves


class DataWarning(UserWarning):
    """Something in the data is harmless to the computation but probably not meant."""


def check_matrix(data, name: str):
    """`data` as a finite real 2-d array or sparse matrix of float32 or float64, uncopied where it is one already."""
    if not _is_plain(data):
        data = _converted(data, name)
    check_finite(data, name)
    if sp.issparse(data) and not data.has_canonical_format:
        data = data.copy()  # entries given twice are added up, but not in the caller's matrix
        data.sum_duplicates()
    return data


def _is_plain(data) -> bool:
    """Whether there is nothing to convert, which scikit-learn would take half a millisecond to find out."""
    stored = sp.issparse(data) and data.format in ("csc", "csr")
    return (stored or type(data) is np.ndarray) and data.ndim == 2 and data.dtype in FLOATS and 0 not in data.shape


def _converted(data, name: str):
    from sklearn.utils import check_array  # here: scikit-learn takes seconds to load, and plain arrays need none of it

    try:
        return check_array(
            data,
            accept_sparse=("csc", "csr"),
            dtype=FLOATS,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        # of scikit-learn's message, the complaint and the remedy; not the array itself
        said = [line for i, line in enumerate(str(error).splitlines()) if i == 0 or "Reshape" in line]
        raise type(error)(f"{name} must be a 2-d array or sparse matrix of real numbers: {' '.join(said)}") from error


def check_magnitude(data, name: str) -> None:
    """Refuse values whose squares leave the range of float64."""
    values = data.data if sp.issparse(data) else data
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))  # no copy of a mapped file
    if largest and not _SMALLEST < largest < _LARGEST:
        raise ValueError(
            f"the largest value of {name} must lie between {_SMALLEST:g} and {_LARGEST:g} for its squares to be "
            f"computed; got {largest:g}: rescale {name}."
        )


def check_finite(data, name: str) -> None:
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


def check_same_samples(X, Y, names: tuple[str, str] = ("X", "Y")) -> None:
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of samples; got {X.shape[0]} and {Y.shape[0]}: "
            "pass row i of both for the same thing."
        )


def check_kernel_matrix(K, name: str):
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


def check_count(value, name: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}.")
    return int(value)


def check_tolerance(value, name: str = "tol") -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1; got {value!r}: 1e-6 is the default.")
    return float(value)


def warn_uninformative(data, name: str) -> None:
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
            f"{name} has {n_constant} constant features (first: {np.argmax(constant)}), which say nothing and lower "
            "the automatic penalty, a mean over all features; drop them if that is not meant.",
            DataWarning,
        )
    zero = _zero_rows(data)
    if zero.any():
        warn(
            f"{name} has {np.count_nonzero(zero)} all-zero samples (first: {np.argmax(zero)}), which carry no "
            "information; drop such pairs if that is not meant.",
            DataWarning,
        )


def _constant_columns(data) -> np.ndarray:
    low, high = data.min(axis=0), data.max(axis=0)
    if sp.issparse(data):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    return low == high


def _zero_rows(data) -> np.ndarray:
    if sp.issparse(data):
        data = data.tocsr()
        return np.asarray(abs(data).sum(axis=1)).ravel() == 0
    return ~data.any(axis=1)
