"""BLAS threads: one for small problems, where starting and joining them costs more than the work they share."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

__all__ = ["threads_for"]

_WORTH_SHARING = 1 << 22  # numbers in a view; fewer stay in the cache of one core


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def threads_for(n_numbers: int) -> AbstractContextManager:
    """A context in which BLAS uses one thread if a view of `n_numbers` is small, and what it likes otherwise."""
    if n_numbers >= _WORTH_SHARING:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
