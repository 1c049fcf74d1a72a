"""Blocks of samples kept by the workers of a Dask cluster, and functions called where they are."""

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
from ._cluster import (
    attempted,
    distributed,
    explained,
    results,
    scattered,
    workers_of,
)
from ._payload import packed, unpacked

__all__ = ["DaskBlocks", "Traffic", "seconds_computed", "in_groups", "sent"]

_FAN_IN = 4  # results that a task adds up
_IN_GRAPH = 1 << 16  # bytes of arguments that are sent with a task; more are sent to the workers beforehand
_NONE = np.empty(0, dtype=np.intp)


@dataclass
class Traffic:
    """Passes over the blocks, their seconds and tasks, and bytes to the workers (once each) and back to the client."""

    n_passes: int = 0
    n_tasks: int = 0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0


@dataclass(eq=False)
class _Kept:
    """The futures of all blocks, in order, and how to make them again if they are lost."""

    client: Any
    make: Callable[[], list[Any]]
    futures: list[Any]
    traffic: Traffic = field(default_factory=Traffic)

    def renew(self) -> None:
        """Make the blocks again if some are lost for good, not if Dask computes them again."""
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
        super().__init__(total, _NONE)
        self._kept = _Kept(client, make, make() if futures is None else futures)

    @property
    def traffic(self) -> Traffic:
        return self._kept.traffic

    @property
    def client(self) -> Any:
        return self._kept.client

    def without(self, left_out: np.ndarray) -> "DaskBlocks":
        """The same without some samples; none is left out yet."""
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
        kept, packed_ = self._kept, packed(content)

        def compute() -> Any:
            payload = sent(kept.client, packed_, kept.traffic)
            with explained(kept.client):
                groups = in_groups(kept.client, kept.futures)
                futures = [
                    kept.client.submit(task, payload, numbers, blocks, pure=False, **where)
                    for where, numbers, blocks in groups
                ]
                everything = list(futures)
                while len(futures) > 1:
                    parts = [futures[i : i + _FAN_IN] for i in range(0, len(futures), _FAN_IN)]
                    futures = [kept.client.submit(combine, part, pure=False) for part in parts]
                    everything += futures
            kept.traffic.n_tasks += len(everything)
            return results(kept.client, futures, before=everything)[0]

        start = time.monotonic()
        found = attempted(compute, kept.renew)
        kept.traffic.seconds += time.monotonic() - start
        kept.traffic.n_passes += 1
        kept.traffic.received += n_bytes(found)
        return found


def sent(client: Any, content: bytes, traffic: Traffic | None = None) -> Any:
    """Bytes as an argument of tasks: themselves if they are few, otherwise a future of them."""
    if traffic is not None:
        traffic.sent += len(content)
    return content if len(content) <= _IN_GRAPH else scattered(client, content)


Group = tuple[dict[str, Any], list[int], list[Any]]  # where to run, the numbers of the blocks, and their futures


def in_groups(client: Any, futures: Sequence[Any]) -> list[Group]:
    """The blocks of each worker, which are where they are as far as all have about as many.

    A worker that has joined takes blocks over: it fetches them once, and Dask drops the copies.
    """
    places = client.who_has(futures)
    of_worker: dict[str, list[int]] = {worker: [] for worker in workers_of(client)}
    homeless = []
    for i, future in enumerate(futures):
        here = [worker for worker in sorted(places.get(future.key, ())) if worker in of_worker]
        if here:
            min((of_worker[worker] for worker in here), key=len).append(i)
        else:
            homeless.append(i)
    if not of_worker:  # Dask waits for one
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
    function, items, arguments = unpacked(payload)
    with as_a_worker():
        return {i: function(parts_of(items, b), *arguments) for i, b in zip(numbers, blocks, strict=True)}


def _sum_of_blocks(payload: bytes, numbers: Sequence[int], blocks: Sequence[Block]) -> Any:
    function, items, arguments = unpacked(payload)
    with as_a_worker():
        return reduce(added, (function(parts_of(items, block), *arguments) for block in blocks))


def _added_up(parts: Sequence[Any]) -> Any:
    """The parts may be needed again, if a worker is lost: none is overwritten."""
    return reduce(added, parts[1:], _copied(parts[0]))


def _joined(parts: Sequence[dict[int, Any]]) -> dict[int, Any]:
    return {number: found for part in parts for number, found in part.items()}


def _copied(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return [_copied(part) for part in result]
    return result.copy() if isinstance(result, np.ndarray) else result


@contextmanager
def as_a_worker() -> Iterator[None]:
    """As many threads as the worker has: one, or those of the machine."""
    n_threads, start = distributed().get_worker().state.nthreads, time.monotonic()
    with one_blas_thread(), one_core(n_threads == 1):
        yield
    _computed.append(time.monotonic() - start)


_computed: deque[float] = deque(maxlen=10_000)  # seconds of each task


def seconds_computed() -> float:
    """How long this worker has been computing; called there, it shows how much of the time is communication."""
    return sum(_computed)


def n_bytes(result: Any) -> int:
    """About how many bytes a result has."""
    if isinstance(result, dict):
        return sum(map(n_bytes, result.values()))
    if isinstance(result, list | tuple):
        return sum(map(n_bytes, result))
    return int(getattr(result, "nbytes", 0) or getattr(getattr(result, "data", None), "nbytes", 0))
