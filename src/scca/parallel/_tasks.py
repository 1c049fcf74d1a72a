"""Running many tasks in parallel: starting, counting and stopping them."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from numbers import Integral
from threading import Condition
from typing import Any

from .._checks import Collector, collected, say_once
from ._blas import one_blas_thread
from ._threads import as_they_finish

__all__ = [
    "Outcomes",
    "Progress",
    "Runner",
    "check_n_jobs",
    "in_sequence",
    "outcome",
    "run_by",
    "run_here",
    "run_tasks",
]

Progress = Callable[[int, int], None]

# positions of tasks, their results and their warnings, in any order; an error thrown in ends all work before it is
# raised again
Outcomes = Generator[tuple[int, Any, Collector], None, None]
Runner = Callable[[Callable[[Any], Any], Iterable[Any], int | None], Outcomes]  # of a function, tasks and `n_jobs`


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
    """The results of `compute` for every task, in order; they do not depend on `n_jobs`, nor on who runs them.

    BLAS uses one thread in every task, so that rounding is the same everywhere. Each kind of warning is given once, at
    the end. On any failure, Ctrl-C included, no further task starts, worker processes end at once and threads after
    their current task; then the error is raised again. Tasks run in processes of this machine, unless `run_by` says
    otherwise.

    Parameters
    ----------
    compute : callable
    tasks : iterable
        Consumed as workers become free.
    n_tasks : int
    what : str
        What the tasks are, in the plural, for warnings: "in 3 of 40 tasks, the first time: ...".
    n_jobs : int, optional
        Tasks in parallel, as in joblib.
    in_threads : bool
        Where `n_jobs` asks for no other processes, share the tasks, drawn at once, among threads of this one.
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
        _end(outcomes, error)
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
    """Runs in a worker: the result of a task and its warnings."""
    with one_blas_thread(), collected() as warned:
        return compute(task), warned


def in_sequence(compute: Callable[[Any], Any], tasks: Iterable[Any], n_jobs: int | None) -> Outcomes:
    """A runner for inside a task: one after another, since others use the other cores."""
    for position, task in enumerate(tasks):
        yield (position, *outcome(compute, task))


def run_here(
    compute: Callable[[Any], Any], tasks: Iterable[Any], n_jobs: int | None, in_threads: bool = False
) -> Outcomes:
    """The runner unless another is set: joblib, or threads where it would run one task after another."""
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
        _end(done, error)
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


def _end(done: Any, error: BaseException) -> None:
    """Make a runner, or joblib, drop pending tasks and end its workers, as for an error of its own.

    Closing joblib's generator would warn.
    """
    if done is None or done.gi_frame is None:  # it has ended already
        return
    try:
        done.throw(error)
    except BaseException as raised:
        if raised is not error:
            raise


def _numbered(here: "_Running", compute: Callable[..., Any], position: int, task: Any) -> tuple[int, Any, Collector]:
    """Runs in a worker."""
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
        return _Running, ()  # other processes have their own, and are ended from here

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
