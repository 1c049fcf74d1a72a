"""Work shared among threads or processes, with the same result for any number: tasks, threads, the threads of BLAS."""

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import cache, partial
from numbers import Integral
from threading import Condition, Lock
from typing import Any, TypeVar

import numpy as np
import threadpoolctl
from threadpoolctl import ThreadpoolController

from .._checks import Collector, collected, say_once, warn

__all__ = [
    "Outcomes",
    "Progress",
    "Runner",
    "blas_threads_for",
    "check_n_jobs",
    "in_sequence",
    "inner",
    "is_small",
    "map_threads",
    "one_blas_thread",
    "one_core",
    "outcome",
    "parts",
    "run_by",
    "run_here",
    "run_tasks",
    "times",
]

_ROWS = 4096  # number of rows of a part whose products are summed
_ROWS_OF_PRODUCT = 1024  # number of rows of a part of a product: smaller parts share the work more evenly
_N_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_here = threading.local()

Item = TypeVar("Item")
Result = TypeVar("Result")
_WORTH_SHARING = 1 << 22  # minimum size of a view for several threads: fewer numbers fit into the cache of one core

Progress = Callable[[int, int], None]

# positions of tasks, their results and their warnings, in any order; an error thrown into the generator ends all
# work before it is raised again
Outcomes = Generator[tuple[int, Any, Collector], None, None]
Runner = Callable[[Callable[[Any], Any], Iterable[Any], int | None], Outcomes]  # takes a function, tasks and `n_jobs`


# --- tasks ------------------------------------------------------------------------------------------------------------


def check_n_jobs(value: Any, name: str = "n_jobs") -> int | None:
    """Refuse an invalid number of jobs; None is one, negative numbers count down from all cores."""
    if value is None or (isinstance(value, Integral) and not isinstance(value, bool) and value != 0):
        return value if value is None else int(value)
    raise ValueError(
        f"{name} must be None or an integer other than 0; got {value!r}: 1 is sequential, -1 uses every core."
    )


def run_tasks(
    compute: Callable[[Any], Any],
    tasks: Iterable[Any],
    n_tasks: int,
    what: str,
    *,
    n_jobs: int | None = None,
    in_threads: bool = False,
    progress: Progress | None = None,
    finished: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """The results of `compute` for every task, in order; they depend neither on `n_jobs` nor on the runner.

    BLAS uses one thread in every task, so that rounding is the same everywhere. Each kind of warning is given once, at
    the end. On any failure, Ctrl-C included, no further task starts, worker processes end at once and threads after
    their current task; then the error is raised again. Tasks run in processes of this machine, unless `run_by` says
    otherwise.

    Parameters
    ----------
    compute : callable
    tasks : iterable
        A task is drawn when a worker becomes free.
    n_tasks : int
    what : str
        What the tasks are, in the plural, for warnings: "in 3 of 40 tasks, the first time: ...".
    n_jobs : int, optional
        Number of tasks in parallel, as in joblib.
    in_threads : bool
        If `n_jobs` asks for no other processes, threads of this process share the tasks, all drawn at the start.
    progress : callable, optional
        Called after each task with the number of tasks done and the total.
    finished : callable, optional
        Called with the position and the result of a task as soon as it is done.
    """
    n_jobs = check_n_jobs(n_jobs)
    found: dict[int, tuple[Any, Collector]] = {}
    outcomes = (_runner.get() or partial(run_here, in_threads=in_threads))(compute, tasks, n_jobs)
    try:
        for position, result, warned in outcomes:
            found[position] = result, warned
            if finished is not None:
                finished(position, result)
            if progress is not None:
                progress(len(found), n_tasks)
    except BaseException as error:
        _end_workers(outcomes, error)
        raise
    in_order = [found[position] for position in range(len(found))]
    say_once((warned for _, warned in in_order), what)
    return [result for result, _ in in_order]


# --- who runs tasks ---------------------------------------------------------------------------------------------------

_runner: ContextVar[Runner | None] = ContextVar("runner", default=None)


@contextmanager
def run_by(runner: Runner) -> Iterator[None]:
    """A context in which `runner` runs the tasks of `run_tasks`."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def outcome(compute: Callable[[Any], Any], task: Any) -> tuple[Any, Collector]:
    """The result of a task and its warnings; called in a worker."""
    with one_blas_thread(), collected() as warned:
        return compute(task), warned


def in_sequence(compute: Callable[[Any], Any], tasks: Iterable[Any], n_jobs: int | None) -> Outcomes:
    """A runner for tasks inside a task: one after another, since the outer tasks use the other cores."""
    for position, task in enumerate(tasks):
        yield (position, *outcome(compute, task))


def run_here(
    compute: Callable[[Any], Any], tasks: Iterable[Any], n_jobs: int | None, in_threads: bool = False
) -> Outcomes:
    """The default runner: joblib, or threads where joblib would run one task after another."""
    from joblib import delayed, effective_n_jobs  # imported late: a single component does not need it

    here = _Running()
    work = ((here, compute, position, task) for position, task in enumerate(tasks))
    done: Any = None
    try:
        if in_threads and effective_n_jobs(n_jobs) == 1:
            done = as_they_finish(partial(_numbered, *each) for each in work)
        else:
            done = _parallel(n_jobs)(delayed(_numbered)(*each) for each in work)
        for numbered in done:  # noqa: UP028 (an error thrown in has to stop threads first, then joblib)
            yield numbered
    except BaseException as error:
        here.stop()
        _end_workers(done, error)
        here.wait()
        raise


def _parallel(n_jobs: int | None) -> Any:
    from joblib import Parallel

    try:
        return Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    except ValueError as error:
        if "does not support return_as" not in str(error):
            raise
        raise ValueError(
            "the current joblib backend cannot return results as they finish; use loky or threading, for example "
            'joblib.parallel_config(backend="loky").'
        ) from error


def _end_workers(done: Any, error: BaseException) -> None:
    """Make a runner, or joblib, drop pending tasks and end its workers, as after an error of a task.

    Closing joblib's generator would warn.
    """
    if done is None or done.gi_frame is None:  # the generator has ended already
        return
    try:
        done.throw(error)
    except BaseException as raised:
        if raised is not error:
            raise


def _numbered(here: "_Running", compute: Callable[..., Any], position: int, task: Any) -> tuple[int, Any, Collector]:
    """The position of a task, its result and its warnings; called in a worker."""
    with here:
        return (position, *outcome(compute, task))


class _StoppedError(RuntimeError):
    """A task that did not start because another had failed."""


class _Running:
    """The tasks running in threads of this process, which cannot be ended, only waited for."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._number = 0
        self._stopped = False

    def __reduce__(self) -> tuple[Any, ...]:
        return _Running, ()  # every process has its own, and this one ends the others

    def __enter__(self) -> None:
        with self._changed:
            if self._stopped:
                raise _StoppedError
            self._number += 1

    def __exit__(self, *raised: object) -> None:
        with self._changed:
            self._number -= 1
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopped = True

    def wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._number)


# --- threads ----------------------------------------------------------------------------------------------------------


def map_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """[function(item) for item in items], with one thread per core; the caller limits BLAS to one thread.

    Inside another such call, items are done one after another.
    """
    items = list(items)
    if _is_sequential(items):
        return [function(item) for item in items]

    def with_warnings(item: Any) -> Any:
        with collected() as warned:
            return function(item), warned

    contexts = [copy_context() for _ in items]  # threads do not inherit the context, which `naming` needs
    done = list(_pool().map(lambda context, item: context.run(with_warnings, item), contexts, items))
    for _, warned in done:  # warn in the calling thread, which knows the user's line and the collectors
        for category, message in warned.first.items():
            warn(message, category)
    return [result for result, _ in done]


@contextmanager
def one_core(alone: bool = True) -> Iterator[None]:
    """A context in which `map_threads` does one item after another in this thread, if `alone`."""
    before = getattr(_here, "is_part", False)
    _here.is_part = before or alone
    try:
        yield
    finally:
        _here.is_part = before


def as_they_finish(tasks: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """The results of functions, each as soon as it is ready, with one thread per core.

    Inside another such call, functions run one after another. Closing the iterator cancels those that have not started.
    """
    tasks = list(tasks)
    if _is_sequential(tasks):
        yield from (task() for task in tasks)
        return
    futures = [_pool().submit(copy_context().run, task) for task in tasks]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def _is_sequential(items: Sequence[Any]) -> bool:
    return len(items) < 2 or _N_CORES < 2 or getattr(_here, "is_part", False)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_N_CORES, thread_name_prefix="scca", initializer=_mark_thread)


def _mark_thread() -> None:
    _here.is_part = True


if hasattr(os, "register_at_fork"):  # a forked process has no threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def parts(start: int, stop: int, step: int) -> list[slice]:
    """The range start:stop in slices of at most `step`."""
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


# --- threads of BLAS --------------------------------------------------------------------------------------------------


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _let_any_thread_set() -> None:
    """Let the current thread set the number: recent threadpoolctl silently ignores all threads but the first one.

    Here, any thread may be the first to enter, and any other the last to leave.
    """
    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _OneThread:
    """The first to enter limits BLAS to one thread, the last to leave restores the previous number.

    The number of threads belongs to the process: if every user restored the number it found, the later of two
    overlapping users would restore the limit of the earlier one.
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
