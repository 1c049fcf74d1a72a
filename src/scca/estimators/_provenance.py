"""Where a fit comes from: versions, digests of its data, and its settings, as plain values without dates."""

import hashlib
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator

from .._version import __version__
from ..samples import Views, column_blocks, remote_blocks_of

__all__ = ["plain", "provenance", "provenance_of"]


def provenance_of(estimator: BaseEstimator, views: Views) -> dict[str, Any]:
    """The origin of a fit to these views; samples that are not in memory have no digest."""
    inputs = [
        {"view": name, "shape": list(data.shape), "digest": None if remote_blocks_of([data]) else _digest(data)}
        for name, data in zip(views.names, views.data, strict=True)
    ]
    return provenance(estimator, inputs)


def provenance(estimator: BaseEstimator, inputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The origin of a fit to these inputs; `n_jobs`, which changes no result, is left out."""
    settings = {name: plain(value) for name, value in sorted(estimator.get_params(deep=False).items())}
    settings.pop("n_jobs", None)
    return {
        "versions": {
            "scca": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "inputs": list(inputs),
        "seed": settings.pop("random_state", None),
        "settings": settings,
    }


def plain(value: Any) -> Any:
    """A parameter as a plain value: numbers, texts and lists of them; anything else as Python writes it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__  # not its address
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text  # not its address


def _digest(data: Any) -> str:
    """A hash of the numbers of a view as it was given, in its own precision; a part is in memory at a time."""
    digest = hashlib.blake2b(f"{data.shape} {data.dtype.str}".encode(), digest_size=16)
    if sp.issparse(data):
        for part in (data.data, data.indices, data.indptr):
            digest.update(np.ascontiguousarray(part).data)
    else:
        n, m = data.shape
        for rows in column_blocks(m, n):
            digest.update(np.ascontiguousarray(data[rows]).data)
    return f"blake2b:{digest.hexdigest()}"
