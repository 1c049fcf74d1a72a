"""What is sent to the workers, as bytes: functions with their data, and the arguments of tasks."""

import io
import pickle
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..samples import RemoteBlocks
from ._cluster import scattered

__all__ = ["FunctionOnWorkers", "SamplesElsewhereError", "SentFunction", "as_argument", "packed", "packed_with_code"]

_MOST_BYTES_IN_TASK = 1 << 16  # more bytes are sent to a worker beforehand, and not with the task
_FEWEST_ENTRIES = 1 << 12  # of a matrix whose zeros are worth leaving out
_MOST_NONZERO = 1 / 3  # the share of nonzero entries up to which a sparse matrix takes fewer bytes


def packed(content: Any) -> bytes:
    """Content for the blocks of a cluster; matrices that are mostly zero, such as sparse weights, take few bytes.

    `pickle.loads` unpacks it: like everything that Dask sends, it comes from the user's own client.
    """
    return _pickled(_Pickler, content)


def packed_with_code(content: Any) -> bytes:
    """Content with the code of functions that have no module.

    Arrays are stored among the bytes, so that they arrive aligned and writeable; arrays that Dask sends do not.
    """
    return _pickled(_code_pickler(), content)


def _pickled(pickler: Any, content: Any) -> bytes:
    buffer = io.BytesIO()
    pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        is_matrix = type(value) is np.ndarray and value.ndim == 2 and value.dtype.kind == "f"
        if not is_matrix or value.size < _FEWEST_ENTRIES or np.count_nonzero(value) > _MOST_NONZERO * value.size:
            return NotImplemented
        return _dense, (sp.csr_array(value),)


def _dense(matrix: sp.csr_array) -> np.ndarray:
    return matrix.toarray()


class SamplesElsewhereError(Exception):
    """A function refers to remote samples, and cannot be sent to a worker with them."""


@cache
def _code_pickler() -> Any:
    from cloudpickle import Pickler  # comes with Dask

    class CodePickler(Pickler):
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, RemoteBlocks):
                raise SamplesElsewhereError
            return super().reducer_override(value)

    return CodePickler


class SentFunction:
    """A function that is unpacked at its first call, so that an import that fails there is an error of the call."""

    def __init__(self, content: Any):
        self._content: Any = content  # bytes, until they are unpacked
        self._function: Any = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            content = packed_with_code(self._function) if self._content is None else self._content
        return SentFunction, (pickle.PickleBuffer(content),)

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            if self._content is not None:
                try:
                    self._function, self._content = pickle.loads(self._content), None
                except ImportError as error:
                    raise ImportError(
                        f"a worker cannot load what it has to compute ({error}); install there what is used here."
                    ) from error
        return self._function(*arguments)


class FunctionOnWorkers:
    """A function with its data, which is sent to the workers when it is first needed, and again after a loss."""

    def __init__(self, client: Any, function: Any):
        self._client, self._content = client, packed_with_code(function)
        self._future: Any = None

    @property
    def future(self) -> Any:
        """Of a `SentFunction`."""
        if self._future is None:
            self._future = scattered(self._client, SentFunction(self._content))
        return self._future

    def forget(self) -> None:
        """Send it again when it is needed next."""
        self._future = None

    def futures(self) -> list[Any]:
        """Its future, if it has been sent."""
        return [] if self._future is None else [self._future]


def as_argument(client: Any, content: bytes) -> Any:
    """Bytes as an argument of a task: themselves if they are few, otherwise a future of them."""
    return content if len(content) <= _MOST_BYTES_IN_TASK else scattered(client, content)
