"""Threads of BLAS: one for small problems and in every worker, otherwise BLAS's own choice."""

import os
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

__all__ = ["blas_threads_for", "is_small", "one_blas_thread"]

_WORTH_SHARING = 1 << 22  # numbers stored in a view; fewer fit into the cache of one core


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _let_any_thread_set() -> None:
    """Let the current thread set the number: recent versions of threadpoolctl ignore all threads but one, silently.

    That is the first that set it, but here any may be the first to enter and any other the last to leave.
    """
    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _OneThread:
    """The first to enter limits BLAS to one thread, the last to leave restores the previous number.

    The number of threads belongs to the process: if every user restored the number it found, the second of two
    overlapping ones would restore the limit of the first.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._limit: Any = None
        self.renew_lock()

    def renew_lock(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside and any(library.num_threads != 1 for library in _controller().lib_controllers):
                _let_any_thread_set()
                self._limit = _controller().limit(limits=1)
            self._inside += 1

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._limit is not None:
                _let_any_thread_set()
                self._limit.restore_original_limits()
                _let_any_thread_set()
                self._limit = None


_ONE_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):  # a lock held by another thread would stay locked in the child
    os.register_at_fork(after_in_child=_ONE_THREAD.renew_lock)


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread, so that sums always have the same order.

    It is reentrant and may be entered from any thread; the last to leave restores the previous number.
    """
    return _ONE_THREAD


def blas_threads_for(*n_stored: int) -> AbstractContextManager[Any]:
    """A context in which BLAS uses one thread unless a view stores many numbers.

    For small problems, starting and joining threads costs more than it saves.
    """
    return one_blas_thread() if is_small(*n_stored) else nullcontext()


def is_small(*n_stored: int) -> bool:
    """Whether no view stores many numbers."""
    return max(n_stored) < _WORTH_SHARING
