"""Running many tasks in parallel: starting, counting and stopping them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Integral
from threading import Condition
from typing import Any

from ._blas import one_blas_thread
from ._together import as_they_finish
from ._warnings import collected, say_once

__all__ = ["Progress", "check_n_jobs", "run_tasks"]

Progress = Callable[[int, int], None]


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
    """The results of `compute` for every task, in order; they do not depend on `n_jobs`.

    BLAS uses one thread in every task, so that rounding is the same everywhere. Each kind of warning is given once, at
    the end. On any failure, Ctrl-C included, no further task starts, worker processes end at once and threads after
    their current task; then the error is raised again.

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
        Where `n_jobs` asks for no other processes, share the tasks among threads of this one, one per core.
    progress : callable, optional
        Called after each task with the number of tasks done and the total.
    finished : callable, optional
        Called with the position and the result of a task as soon as it is done.
    """
    from joblib import delayed, effective_n_jobs  # imported late: a single component does not need it

    n_jobs = check_n_jobs(n_jobs)
    outcomes: dict[int, tuple[Any, ...]] = {}
    here = _Running()
    work = ((here, compute, position, task) for position, task in enumerate(tasks))
    done: Iterator[Any] | None = None
    try:
        if in_threads and effective_n_jobs(n_jobs) == 1:
            done = as_they_finish(partial(_outcome, *each) for each in work)
        else:
            done = _parallel(n_jobs)(delayed(_outcome)(*each) for each in work)
        for position, result, warned in done:
            outcomes[position] = result, warned
            if finished is not None:
                finished(position, result)
            if progress is not None:
                progress(len(outcomes), n_tasks)
    except BaseException as error:
        here.stop()
        _end(done, error)
        here.wait()
        raise
    in_order = [outcomes[position] for position in range(len(outcomes))]
    say_once((warned for _, warned in in_order), what)
    return [result for result, _ in in_order]


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
    """Make joblib drop pending tasks and end its workers, as for an error of its own; closing it would warn."""
    if done is None or done.gi_frame is None:  # joblib has ended already
        return
    try:
        done.throw(error)
    except BaseException as raised:
        if raised is not error:
            raise


def _outcome(here: "_Running", compute: Callable[..., Any], position: int, task: Any) -> tuple[Any, ...]:
    """Runs in a worker: the position of a task, its result and its warnings."""
    with here, one_blas_thread(), collected() as warned:
        return position, compute(task), warned


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
