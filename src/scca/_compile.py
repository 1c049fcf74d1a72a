"""One decorator for all compiled functions, so that the package can be imported without a writable cache folder."""

from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(function: Any) -> Any:
    """Compile `function` with numba, cached on disk if there is a writable folder.

    It releases the GIL, so that threads can run it in parallel.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder it may write its cache to
        return njit(nogil=True)(function)
