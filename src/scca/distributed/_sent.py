"""A function with its data, sent to all workers once."""

import io
import pickle
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

from ..samples import RemoteBlocks

__all__ = ["SamplesElsewhereError", "Sent", "packed_with_code"]


class SamplesElsewhereError(Exception):
    """Something has samples that are in blocks elsewhere, and cannot be sent there as a whole."""


class Sent:
    """A function, unpacked where it is first called, so that what cannot be imported there is an error of that call."""

    def __init__(self, content: Any):
        self._content: Any = content  # bytes, until they are unpacked
        self._function: Any = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            content = packed_with_code(self._function) if self._content is None else self._content
        return Sent, (pickle.PickleBuffer(content),)

    def __call__(self, *arguments: Any) -> Any:
        return self._unpacked()(*arguments)

    def _unpacked(self) -> Callable[..., Any]:
        with self._lock:
            if self._content is not None:
                try:
                    self._function, self._content = pickle.loads(self._content), None
                except ImportError as error:
                    raise ImportError(
                        f"a worker cannot load what it has to compute ({error}); install there what is used here."
                    ) from error
            return self._function


def packed_with_code(content: Any) -> bytes:
    """As bytes, functions without a module too.

    Arrays are among the bytes, so that they are aligned and can be written to where they arrive; Dask's own are not.
    """
    buffer = io.BytesIO()
    _pickler()(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return buffer.getvalue()


@cache
def _pickler() -> Any:
    from cloudpickle import Pickler  # comes with Dask

    class Refusing(Pickler):
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, RemoteBlocks):
                raise SamplesElsewhereError
            return super().reducer_override(value)

    return Refusing
