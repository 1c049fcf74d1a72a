"""Checks of the structure of sparse matrices: compiled code does not check indices."""

import numpy as np

from ._types import MatrixLike

__all__ = ["OUTSIDE", "broken", "check_structure"]

OUTSIDE = "indices outside of its shape, or that are no integers"
_UNEQUAL = "indices and values of different lengths"


def check_structure(data: MatrixLike, name: str) -> None:
    """Refuse a sparse matrix with indices out of range: compiled code does not check them."""
    complaint = None
    if data.format in ("csr", "csc", "bsr"):
        complaint = _compressed_complaint(data)
    elif data.format == "coo":
        within = (_within(places, size) for places, size in zip(data.coords, data.shape, strict=True))
        complaint = _UNEQUAL if {*map(len, data.coords)} != {len(data.data)} else None if all(within) else OUTSIDE
    elif data.format == "lil":
        rows = len(data.rows) == data.shape[0] and [*map(len, data.rows)] == [*map(len, data.data)]
        complaint = None if rows else _UNEQUAL
    elif data.format == "dia":
        complaint = None if len(data.offsets) == len(data.data) else _UNEQUAL
    if complaint:
        raise broken(data, name, complaint)


def broken(data: MatrixLike, name: str, complaint: str) -> ValueError:
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
    # compared, not subtracted, since a difference can overflow
    if starts[0] != 0 or starts[-1] > len(indices) or (starts[1:] < starts[:-1]).any():
        return f"index pointers that do not rise from 0 to at most {len(indices)}, the number of its values"
    return None if _within(indices, minor) else OUTSIDE


def _within(indices: np.ndarray, size: int) -> bool:
    if indices.dtype.kind != "i":
        return False
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))  # negative indices become large
    return len(indices) == 0 or bool(unsigned.max() < size)
