"""One decorator for every compiled function, so that a folder without write access costs time and not an import."""

from typing import Any

from numba import njit

__all__ = ["compiled"]


def compiled(function: Any) -> Any:
    """Compile `function` with numba and keep the machine code on disk where a folder for it can be written.

    Threads run such functions side by side: they touch nothing but the arrays they are given.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder it may write its cache to
        return njit(nogil=True)(function)
