"""What is sent to the blocks of a cluster: functions, items and arguments, with few zeros."""

import io
import pickle
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["packed", "unpacked"]

_WORTH = 1 << 12  # entries of a matrix whose zeros are worth leaving out
_MOSTLY_ZERO = 1 / 3  # the share of other entries up to which that takes fewer bytes


def packed(content: Any) -> bytes:
    """As bytes; matrices that are mostly zero, such as weights on few features, by their other entries."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return buffer.getvalue()


def unpacked(content: bytes) -> Any:
    return pickle.loads(content)  # from the same user's client, as everything that Dask sends


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        is_matrix = type(value) is np.ndarray and value.ndim == 2 and value.size >= _WORTH and value.dtype.kind == "f"
        if not is_matrix or np.count_nonzero(value) > _MOSTLY_ZERO * value.size:
            return NotImplemented
        return _dense, (sp.csr_array(value),)


def _dense(few: sp.csr_array) -> np.ndarray:
    return few.toarray()
