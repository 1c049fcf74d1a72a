"""Many fits on a cluster: the tasks of `run_tasks` are sent to its workers as they become free."""

import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cache, partial
from operator import itemgetter
from threading import Lock
from typing import Any

from ..engine import Elsewhere, Outcomes, in_sequence, outcome, run_by
from ._blocks import as_a_worker
from ._cluster import ClusterError, LostError, cancelled_on_error, distributed, results, some_done, workers_of

__all__ = ["tasks_on"]

_AHEAD = 2  # tasks per thread of the cluster that are sent at a time: a worker need not wait for its next
_IN_GRAPH = 1 << 16  # bytes of a task that are sent with it; more are sent to a worker beforehand
_TRIES = 5  # how often tasks are sent again without any having been done


def tasks_on(client: Any) -> AbstractContextManager[None]:
    """A context in which many fits run on a cluster: folds, permutations, subsamples, experiments.

    Everything that takes `n_jobs` (held-out folds of `SparseCCA`, `SparseCCACV`, `permutation_test`,
    `stability_selection`, `scca.reproduce`) then sends its fits to the workers, one per thread at a time, whatever
    `n_jobs` is. The data are sent once to all workers. The results are the same, bit by bit on machines of one kind.
    What was running on a worker that is lost is done again on another. After a failure or Ctrl-C, workers drop what
    they have not begun, and the result of what they are at. A fit to samples in blocks, all of whose work is on the
    cluster anyway, has its folds one after another.

    Parameters
    ----------
    client : distributed.Client
        From `connect` or `local_cluster`, for example.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import scca
    >>> from scca.distributed import local_cluster, tasks_on
    >>> X, Y = scca.datasets.make_planted(60, 30, 20, n_factors=1, random_state=0).views
    >>> with local_cluster(2) as client, tasks_on(client):  # doctest: +SKIP
    ...     test = scca.inference.permutation_test(scca.SparseCCA(1), X, Y, n_permutations=19, random_state=0)
    """
    if not isinstance(client, distributed().Client) or client.asynchronous:
        raise TypeError(f"client must be a distributed.Client that is not asynchronous; got {client!r}: use connect.")
    return run_by(partial(_outcomes, client))


def _outcomes(client: Any, compute: Callable[[Any], Any], tasks: Iterable[Any], n_jobs: int | None) -> Outcomes:
    """The runner."""
    try:
        content = _packed(compute)
    except _SamplesElsewhereError:
        yield from in_sequence(compute, tasks, n_jobs)
        return
    window = _Window(client, content, tasks)
    with cancelled_on_error(client, window):
        yield from window.outcomes()
        window.close()


class _Window:
    """The tasks that are on the cluster at a time, of many."""

    def __init__(self, client: Any, content: bytes, tasks: Iterable[Any]):
        self._client, self._content = client, content
        self._coming = ((position, _packed(task)) for position, task in enumerate(tasks))
        self._again: list[_Task] = []  # to be sent again, the last first
        self._sent: dict[str, tuple[Any, _Task]] = {}  # futures and their tasks, by the futures' keys
        self._compute: Any = None  # the future of the function, which all workers have

    def __iter__(self) -> Iterator[Any]:
        """All futures."""
        yield from (future for future, _ in self._sent.values())
        if self._compute is not None:
            yield self._compute

    def outcomes(self) -> Outcomes:
        losses = 0
        while self._fill():
            try:
                done = some_done(self._client, [future for future, _ in self._sent.values()])
                found = results(self._client, done)
            except LostError as error:
                losses += 1
                if losses == _TRIES:
                    raise ClusterError(
                        f"the workers were lost {_TRIES} times before any of their tasks was done; use workers that "
                        "stay, or give them more memory."
                    ) from error
                self._send_again()
                continue
            losses = 0
            for future, packed in zip(done, found, strict=True):
                _, (position, _) = self._sent.pop(future.key)
                future.release()  # not whenever Python finds that nothing refers to it
                yield (position, *pickle.loads(packed))

    def close(self) -> None:
        """When all is done."""
        if self._compute is not None:
            self._compute.release()

    def _fill(self) -> bool:
        """Send as many tasks as there is room for; whether there are any."""
        room = _AHEAD * max(1, sum(workers_of(self._client).values()))
        while len(self._sent) < room:
            task = self._again.pop() if self._again else next(self._coming, None)
            if task is None:
                break
            if self._compute is None:
                self._compute = _scattered(self._client, Sent(self._content), broadcast=True)
            content = task[1] if len(task[1]) <= _IN_GRAPH else _scattered(self._client, task[1])
            future = self._client.submit(_outcome, self._compute, content, pure=False)
            self._sent[future.key] = future, task
        return bool(self._sent)

    def _send_again(self) -> None:
        """The function and all tasks, since what is lost is not known."""
        tasks = [task for _, task in self._sent.values()]
        self._again = sorted([*self._again, *tasks], key=itemgetter(0), reverse=True)
        self._sent.clear()
        self._compute = None


_Task = tuple[int, bytes]  # its position and itself


def _scattered(client: Any, data: Any, **settings: Any) -> Any:
    try:
        return client.scatter(data, hash=False, **settings)
    except TimeoutError as error:
        raise ClusterError("the cluster has no worker; start some, for example: dask worker ADDRESS.") from error


class _SamplesElsewhereError(Exception):
    """A function of samples that are in blocks elsewhere cannot be sent there as a whole."""


def _packed(content: Any) -> bytes:
    """Functions without a module, too; with the arrays, which are aligned and can be written to where they arrive."""
    buffer = io.BytesIO()
    _pickler()(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(content)
    return buffer.getvalue()


@cache
def _pickler() -> Any:
    from cloudpickle import Pickler

    class Refusing(Pickler):
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, Elsewhere):
                raise _SamplesElsewhereError
            return super().reducer_override(value)

    return Refusing


# --- on the workers ---------------------------------------------------------------------------------------------------


class Sent:
    """A function with its data, unpacked once where it is first called, so that errors are those of a task."""

    def __init__(self, content: Any):
        self._content: Any = content  # bytes, until it is unpacked
        self._function: Any = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            content = _packed(self._function) if self._content is None else self._content
        return Sent, (pickle.PickleBuffer(content),)

    def function(self) -> Callable[[Any], Any]:
        with self._lock:
            if self._content is not None:
                try:
                    self._function, self._content = pickle.loads(self._content), None
                except ImportError as error:
                    raise ImportError(
                        f"a worker cannot load its tasks: {error}; install there what is used here."
                    ) from error
            return self._function


def _outcome(compute: Sent, task: bytes) -> bytes:
    with as_a_worker(), run_by(in_sequence):
        return _packed(outcome(compute.function(), pickle.loads(task)))
