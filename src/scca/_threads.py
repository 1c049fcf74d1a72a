"""BLAS threads: one for small problems, where starting and joining them costs more than the work they share."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

from .views import View

__all__ = ["one_thread", "threads_for"]

_WORTH_SHARING = 1 << 22  # numbers stored in a view; fewer stay in the cache of one core


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager:
    """A context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")


def threads_for(*views: View) -> AbstractContextManager:
    """A context in which BLAS uses one thread if all views are small, and what it likes otherwise."""
    if max(view.n_stored for view in views) >= _WORTH_SHARING:
        return nullcontext()
    return one_thread()
