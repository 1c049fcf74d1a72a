"""Many fits on a cluster: its workers run the tasks of `run_tasks`."""

import pickle
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from ..parallel import Outcomes, in_sequence, outcome, run_by
from ._blocks import as_a_worker
from ._cluster import distributed
from ._job_queue import results_as_done
from ._packing import FunctionOnWorkers, SamplesElsewhereError, SentFunction, as_argument, packed_with_code

__all__ = ["tasks_on"]


def tasks_on(client: Any) -> AbstractContextManager[None]:
    """A context in which many fits run on a cluster: folds, permutations, subsamples, experiments.

    Everything that takes `n_jobs` (held-out folds of `SparseCCA`, `SparseCCACV`, `permutation_test`,
    `stability_selection`, `scca.reproduce`) then sends its fits to the workers, one per thread at a time, whatever
    `n_jobs` is. The data are sent once, and workers pass them on to each other. The results are the same, bit by bit on
    machines of one kind. If a worker is lost, another worker repeats its tasks. After a failure or Ctrl-C, workers drop
    the tasks that they have not begun, and the result of the task they are running. A fit to samples in blocks, all of
    whose work is on the cluster anyway, runs its folds one after another. A checkpoint does not store folds that run on
    workers.

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
    """The runner of `run_by`: the outcomes of tasks that run on the workers."""
    try:
        function = FunctionOnWorkers(client, compute)
    except SamplesElsewhereError:
        yield from in_sequence(compute, tasks, n_jobs)
        return

    def send(task: bytes) -> Any:
        return client.submit(_outcome, function.future, as_argument(client, task), pure=False)

    jobs = map(packed_with_code, tasks)
    for position, found in results_as_done(client, jobs, send, function.forget, function.futures):
        yield (position, *pickle.loads(found))


def _outcome(compute: SentFunction, task: bytes) -> bytes:
    """Runs on a worker."""
    with as_a_worker(), run_by(in_sequence):
        return packed_with_code(outcome(compute, pickle.loads(task)))
