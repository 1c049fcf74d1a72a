"""Work split into fixed parts for threads: the same parts, and the same order of sums, for any number of threads."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any, TypeVar

import numpy as np

from .._checks import collected, warn

__all__ = ["as_they_finish", "inner", "one_core", "parts", "times", "map_threads"]

_ROWS = 4096  # of a part that is summed
_ROWS_OF_PRODUCT = 1024  # of a part that is not: more parts share more evenly
_N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_here = threading.local()

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """[function(item) for item in items], in a thread per core; the caller limits BLAS to one thread.

    Inside another call, one item after another.
    """
    items = list(items)
    if _one_by_one(items):
        return [function(item) for item in items]

    def with_warnings(item: Any) -> Any:
        with collected() as warned:
            return function(item), warned

    contexts = [copy_context() for _ in items]  # not inherited by threads; `naming` is part of it
    done = list(_pool().map(lambda context, item: context.run(with_warnings, item), contexts, items))
    for _, warned in done:  # in the calling thread, which knows the user's line and the collectors
        for category, message in warned.first.items():
            warn(message, category)
    return [result for result, _ in done]


@contextmanager
def one_core(alone: bool = True) -> Iterator[None]:
    """A context in which `together` does one item after another in this thread, if `alone`."""
    before = getattr(_here, "is_part", False)
    _here.is_part = before or alone
    try:
        yield
    finally:
        _here.is_part = before


def as_they_finish(tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """The results of functions, each as soon as it is there, from a thread per core.

    Inside another call, one after another. Closed early, functions that have not started never do.
    """
    tasks = list(tasks)
    if _one_by_one(tasks):
        yield from (task() for task in tasks)
        return
    futures = [_pool().submit(copy_context().run, task) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def _one_by_one(items: Sequence[Any]) -> bool:
    return len(items) < 2 or _N_CORES < 2 or getattr(_here, "is_part", False)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_N_CORES, thread_name_prefix="scca", initializer=_enter)


def _enter() -> None:
    _here.is_part = True


if hasattr(os, "register_at_fork"):  # a forked process has no threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def parts(start: int, stop: int, step: int) -> list[slice]:
    """start:stop in pieces of at most `step`."""
    return [slice(first, min(stop, first + step)) for first in range(start, stop, step)]


def inner(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A'B."""
    products = map_threads(lambda rows: A[rows].T @ B[rows], parts(0, len(A), _ROWS))
    return sum(products[1:], start=products[0])


def times(A: np.ndarray, C: np.ndarray) -> np.ndarray:
    """A C."""
    out = np.empty((len(A), C.shape[1]))

    def multiply(rows: slice) -> None:
        np.matmul(A[rows], C, out=out[rows])

    map_threads(multiply, parts(0, len(A), _ROWS_OF_PRODUCT))
    return out
