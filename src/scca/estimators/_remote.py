"""Checks of training samples that are in remote blocks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import AllZeroWarning, warn
from .._data import check_same_samples, refuse_constant, warn_constant
from .._wording import counted
from ..factors import constants
from ..samples import remote_blocks_of, summed
from ..views import Compressed

__all__ = ["remote_views"]


def remote_views(names: Sequence[str], views: Sequence[Any], sums_suffice: bool, what: str) -> list[Any]:
    """The checked views of remote samples, which are brought into memory if there are fewer than 20,000.

    Parameters
    ----------
    names : sequence of str
    views : sequence of BlockRows
    sums_suffice : bool
        Whether the fit needs nothing but sums over samples; otherwise many samples are refused.
    what : str
        What is fitted, for the message.
    """
    for name, data in zip(names, views, strict=True):
        if remote_blocks_of([data]) is None:
            raise ValueError(
                f"all views must be in blocks, or none; got a {type(data).__name__} as {name}: scatter it too."
            )
        check_same_samples(views[0], data, (names[0], name))
    n = views[0].shape[0]
    if n < constants.MANY_SAMPLES:
        return [data.chosen(np.arange(n)) for data in views]
    if not sums_suffice:
        raise ValueError(
            f"from {constants.MANY_SAMPLES} samples on, blocks are for SparseCCA with a linear kernel; got "
            f"n_samples={n} and a {what} with other settings: use SparseCCA, or pass arrays."
        )
    for name, data in zip(names, views, strict=True):
        _warn_uninformative(data, name)
    return list(views)


def _warn_uninformative(data: Any, name: str) -> None:
    """Warn of constant features and all-zero samples, as for samples in memory."""
    first = data.chosen(np.zeros(1, dtype=np.intp))
    first = (first.toarray() if data.is_sparse else np.asarray(first))[0]
    differing, zero = summed(_count_differing, [data], first)
    constant = differing == 0
    refuse_constant(constant, name, data.shape)
    warn_constant(constant, name)
    if zero:
        warn(
            f"{name} has {counted(int(zero), 'all-zero sample')}; such samples carry no information: drop the pairs if "
            "that is unintended.",
            AllZeroWarning,
        )


def _count_differing(items: Sequence[Any], first: np.ndarray) -> list[Any]:
    """For every feature, the number of samples that differ from `first`; and the number of samples that are zero."""
    data = items[0]
    if not isinstance(data, Compressed):
        return [np.count_nonzero(data != first, axis=0), int(np.count_nonzero(~data.any(axis=1)))]
    columns = np.repeat(np.arange(data.shape[1]), np.diff(data.columns.indptr))
    values = data.columns.data
    some = np.bincount(columns[values != 0], minlength=data.shape[1])
    same = np.bincount(columns[values == first[columns]], minlength=data.shape[1])
    of_rows = np.add.reduceat(np.append(data.rows.data != 0, False), data.rows.indptr[:-1])
    empty = (np.diff(data.rows.indptr) == 0) | (of_rows == 0)
    return [np.where(first == 0, some, data.shape[0] - same), int(np.count_nonzero(empty))]
