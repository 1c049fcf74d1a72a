"""Blocks of samples that the workers of a Dask cluster keep, and functions that are called on these workers."""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from ..parallel import one_blas_thread, one_core
from ..samples import Block, Function, RemoteBlocks, added, parts_of
from ._cluster import attempted, distributed, explained, merging_tree, results, workers_of
from ._packing import as_argument, packed

__all__ = ["DaskBlocks", "Traffic", "as_a_worker", "in_groups", "seconds_computed"]

_NONE_LEFT_OUT = np.empty(0, dtype=np.intp)


@dataclass
class Traffic:
    """Passes over the blocks, their seconds and tasks, and the bytes sent to workers (counted once) and received."""

    n_passes: int = 0
    n_tasks: int = 0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class _Kept:
    """The futures of all blocks, in order, and `make`, which makes them again if they are lost.

    All `DaskBlocks` of the same samples share it, whatever samples they leave out.
    """

    client: Any
    make: Callable[[], list[Any]]
    futures: list[Any]
    traffic: Traffic = field(default_factory=Traffic)

    def renew(self) -> None:
        """Make the blocks again if some are lost and Dask cannot compute them."""
        if any(future.cancelled() for future in self.futures):
            self.futures = self.make()


class DaskBlocks(RemoteBlocks):
    """Samples in blocks on a cluster: one task per worker and pass, whose results are added up by a tree.

    Parameters
    ----------
    client : distributed.Client
    make : callable
        Returns the futures of all blocks, in order. Called again if blocks are lost that Dask cannot compute anew.
    total : int
        Number of samples.
    futures : list of futures, optional
        The blocks, if `make` has been called already.
    """

    def __init__(self, client: Any, make: Callable[[], list[Any]], total: int, futures: list[Any] | None = None):
        super().__init__(total, _NONE_LEFT_OUT)
        self._kept = _Kept(client, make, make() if futures is None else futures)

    @property
    def traffic(self) -> Traffic:
        return self._kept.traffic

    @property
    def client(self) -> Any:
        return self._kept.client

    def renewed_futures(self) -> list[Any]:
        """The futures of all blocks; blocks that are lost for good are made again first."""
        self._kept.renew()
        return self._kept.futures

    def without(self, left_out: np.ndarray) -> "DaskBlocks":
        """The same blocks without some samples, if none is left out yet."""
        found = DaskBlocks.__new__(DaskBlocks)
        RemoteBlocks.__init__(found, self.total, left_out)
        found._kept = self._kept
        return found

    def summed(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        """The sum over the blocks of `function(parts of the items, *arguments)`."""
        return self._result(_sum_of_blocks, (function, items, arguments), _added_up)

    def collected(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> list[Any]:
        """`function(parts of the items, *arguments)` of every block, in order."""
        found = self._result(_of_blocks, (function, items, arguments), _joined)
        return [found[i] for i in range(len(self._kept.futures))]

    def _result(self, task: Callable[..., Any], content: Any, combine: Callable[..., Any]) -> Any:
        """The result of one pass: that of `task` for the blocks of each worker, merged by `combine`."""
        kept, payload = self._kept, packed(content)

        def compute() -> Any:
            kept.traffic.sent += len(payload)
            argument = as_argument(kept.client, payload)
            with explained(kept.client):
                futures = [
                    kept.client.submit(task, argument, numbers, blocks, pure=False, **where)
                    for where, numbers, blocks in in_groups(kept.client, kept.futures)
                ]
                futures = merging_tree(kept.client, combine, futures)
            kept.traffic.n_tasks += len(futures)
            return results(kept.client, futures[-1:], before=futures)[0]

        start = time.monotonic()
        found = attempted(compute, kept.renew)
        kept.traffic.seconds += time.monotonic() - start
        kept.traffic.n_passes += 1
        kept.traffic.received += _n_bytes(found)
        return found


Group = tuple[dict[str, Any], list[int], list[Any]]  # where to run, the numbers of the blocks, and their futures


def in_groups(client: Any, futures: Sequence[Any]) -> list[Group]:
    """The blocks that each worker computes with: blocks stay on their workers as long as the load is balanced.

    A worker that has joined takes over blocks of others: it fetches them once, and Dask drops the copies.
    """
    places = client.who_has(futures)
    of_worker: dict[str, list[int]] = {worker: [] for worker in workers_of(client)}
    homeless = []
    for i, future in enumerate(futures):
        holders = [worker for worker in sorted(places.get(future.key, ())) if worker in of_worker]
        if holders:
            min((of_worker[worker] for worker in holders), key=len).append(i)
        else:
            homeless.append(i)
    if not of_worker:  # a single task, for which Dask waits for a worker
        return [({}, homeless, list(futures))]
    for i in homeless:
        min(of_worker.values(), key=len).append(i)
    while len(most := max(of_worker.values(), key=len)) > len(fewest := min(of_worker.values(), key=len)) + 1:
        fewest.append(most.pop())
    return [
        ({"workers": [worker], "allow_other_workers": True}, numbers, [futures[i] for i in numbers])
        for worker, numbers in of_worker.items()
        if numbers
    ]


# --- on the workers ---------------------------------------------------------------------------------------------------


def _of_blocks(payload: bytes, numbers: Sequence[int], blocks: Sequence[Block]) -> dict[int, Any]:
    function, items, arguments = pickle.loads(payload)
    with as_a_worker():
        return {i: function(parts_of(items, b), *arguments) for i, b in zip(numbers, blocks, strict=True)}


def _sum_of_blocks(payload: bytes, numbers: Sequence[int], blocks: Sequence[Block]) -> Any:
    function, items, arguments = pickle.loads(payload)
    with as_a_worker():
        return reduce(added, (function(parts_of(items, block), *arguments) for block in blocks))


def _added_up(parts: Sequence[Any]) -> Any:
    """The sum of the parts, none of which is overwritten: they are needed again if a worker is lost."""
    return reduce(added, parts[1:], _copied(parts[0]))


def _joined(parts: Sequence[dict[int, Any]]) -> dict[int, Any]:
    return {number: found for part in parts for number, found in part.items()}


def _copied(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return [_copied(part) for part in result]
    return result.copy() if isinstance(result, np.ndarray) else result


@contextmanager
def as_a_worker() -> Iterator[None]:
    """A context that computes in one thread, or in those of the machine if the worker has several."""
    n_threads, start = distributed().get_worker().state.nthreads, time.monotonic()
    with one_blas_thread(), one_core(n_threads == 1):
        yield
    _computed.append(time.monotonic() - start)


_computed: deque[float] = deque(maxlen=10_000)  # seconds that each task took


def seconds_computed() -> float:
    """How long this worker has been computing: called on a worker, it shows how much of the time is communication."""
    return sum(_computed)


def _n_bytes(result: Any) -> int:
    """About how many bytes a result has."""
    if isinstance(result, dict):
        return sum(map(_n_bytes, result.values()))
    if isinstance(result, list | tuple):
        return sum(map(_n_bytes, result))
    return int(getattr(result, "nbytes", 0) or getattr(getattr(result, "data", None), "nbytes", 0))
