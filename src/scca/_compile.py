"""One decorator for every compiled function, so that a folder without write access costs time and not an import."""

from numba import njit

__all__ = ["compiled"]


def compiled(function):
    """Compile `function` with numba and keep the machine code on disk where a folder for it can be written."""
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # numba found no folder it may write its cache to
        return njit(function)
