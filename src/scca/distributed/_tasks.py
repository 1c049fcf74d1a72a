"""Many fits on a cluster: the tasks of `run_tasks` are sent to its workers as they become free."""

import pickle
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from ..parallel import Outcomes, in_sequence, outcome, run_by
from ._blocks import as_a_worker
from ._cluster import distributed, scattered
from ._job_queue import in_a_window
from ._sent import SamplesElsewhereError, Sent, packed_with_code

__all__ = ["tasks_on"]

_IN_GRAPH = 1 << 16  # bytes of a task that are sent with it; more are sent to a worker beforehand


def tasks_on(client: Any) -> AbstractContextManager[None]:
    """A context in which many fits run on a cluster: folds, permutations, subsamples, experiments.

    Everything that takes `n_jobs` (held-out folds of `SparseCCA`, `SparseCCACV`, `permutation_test`,
    `stability_selection`, `scca.reproduce`) then sends its fits to the workers, one per thread at a time, whatever
    `n_jobs` is. The data are sent once, and workers pass them on to each other. The results are the same, bit by bit on
    machines of one kind. What was running on a worker that is lost is done again on another. After a failure or Ctrl-C,
    workers drop what they have not begun, and the result of what they are at. A fit to samples in blocks, all of whose
    work is on the cluster anyway, has its folds one after another. Folds on workers are not stored in a checkpoint.

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
        work = _Work(client, packed_with_code(compute))
    except SamplesElsewhereError:
        yield from in_sequence(compute, tasks, n_jobs)
        return
    packed = map(packed_with_code, tasks)
    for position, found in in_a_window(client, packed, work.send, work.forget, work.futures):
        yield (position, *pickle.loads(found))


class _Work:
    """Sends the function to all workers, and then tasks to one each."""

    def __init__(self, client: Any, content: bytes):
        self._client, self._content = client, content
        self._compute: Any = None

    def send(self, task: bytes) -> Any:
        if self._compute is None:
            self._compute = scattered(self._client, Sent(self._content))
        argument = task if len(task) <= _IN_GRAPH else scattered(self._client, task)
        return self._client.submit(_outcome, self._compute, argument, pure=False)

    def forget(self) -> None:
        self._compute = None

    def futures(self) -> list[Any]:
        return [] if self._compute is None else [self._compute]


def _outcome(compute: Sent, task: bytes) -> bytes:
    """Runs on a worker."""
    with as_a_worker(), run_by(in_sequence):
        return packed_with_code(outcome(compute, pickle.loads(task)))
