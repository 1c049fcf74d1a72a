"""The cluster: connecting to it, waiting for its results, and explaining its failures."""

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

from .._version import __version__

__all__ = [
    "ClusterError",
    "LostError",
    "attempted",
    "cancelled_on_error",
    "connect",
    "explained",
    "local_cluster",
    "merging_tree",
    "results",
    "scattered",
    "some_done",
    "workers_of",
]

_CHECK_EVERY = 2.0  # seconds between checks of the health of the cluster
_PATIENCE = 300.0  # seconds to wait for a cluster without workers that can work
_ANSWER_WITHIN = 30.0  # seconds before a silent scheduler counts as gone: it is silent while it imports scca
_PAUSE = 0.5  # seconds before another attempt, in which the scheduler may notice lost workers
_MERGED_AT_A_TIME = 4  # results that one task merges
_LOOPBACK = "127.0.0.1"
_EXPLAINED = "_explained"  # attribute of an error that users may see as it is

Result = TypeVar("Result")


class ClusterError(ConnectionError):
    """The cluster cannot be reached, or cannot do the work; the message names the remedy."""


class LostError(RuntimeError):
    """Data that were sent to the workers are lost with them, and have to be sent again."""


def distributed() -> Any:
    """The package `distributed`, which is optional."""
    try:
        import distributed
    except ImportError as error:
        raise ImportError("a cluster needs Dask: run pip install 'scca[dask]'.") from error
    return distributed


def connect(address: str, *, security: Any = None, timeout: float = 30.0) -> Any:
    """A client of the scheduler at an address, whose workers have this version of scca.

    Parameters
    ----------
    address : str
        As Dask prints it: "tcp://HOST:PORT", or "tls://HOST:PORT" with `security`; or the path of a scheduler file.
    security : distributed.Security, optional
        Certificates and keys, as Dask takes them.
    timeout : float, default=30.0
        Seconds to wait for the scheduler, and then for a first worker.

    Returns
    -------
    distributed.Client

    Raises
    ------
    ClusterError
        If there is no scheduler, no worker, or another version of scca.
    """
    where = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = distributed().Client(**where, security=security, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise ClusterError(
            f"there is no scheduler at {address} ({_first_line(error)}); start one, for example: dask scheduler."
        ) from error
    except TypeError as error:
        raise ClusterError(
            f"the scheduler at {address} is encrypted, and there are no certificates; pass "
            "security=distributed.Security(...), or give Dask's configuration the certificates."
        ) from error
    try:
        client.wait_for_workers(1, timeout=timeout)
        _check_versions(client)
        return client
    except (OSError, ValueError) as error:
        client.close()
        if isinstance(error, ClusterError):
            raise
        raise ClusterError(
            f"the scheduler at {address} has no worker after {timeout:g} s; start some, for example: dask worker "
            f"{address}."
        ) from error


def _check_versions(client: Any) -> None:
    def version() -> str | None:  # a local function, whose code is sent: the worker may have no such module
        try:
            from scca import __version__ as found  # not relative: only the __init__ of another version is known
        except ImportError:
            return None
        return found

    found = client.run(version)
    other = {address: version for address, version in found.items() if version != __version__}
    if other:
        address, other_version = next(iter(other.items()))
        has = "no scca" if other_version is None else f"scca {other_version}"
        raise ClusterError(
            f"the worker at {address} has {has}, and this is scca {__version__}; install the same version on all "
            f"workers ({len(other)} of {len(found)} have another)."
        )


@contextmanager
def local_cluster(n_workers: int = 2, *, threads_per_worker: int = 1, **settings: Any) -> Iterator[Any]:
    """A context with the client of a cluster of processes on this machine, which listens on 127.0.0.1 alone.

    Parameters
    ----------
    n_workers : int, default=2
    threads_per_worker : int, default=1
    **settings
        Of `distributed.LocalCluster`, such as `memory_limit`, `security` or `local_directory`.

    Yields
    ------
    distributed.Client
    """
    defaults: dict[str, Any] = {
        "host": _LOOPBACK,
        "dashboard_address": f"{_LOOPBACK}:0",
        "worker_dashboard_address": f"{_LOOPBACK}:0",  # otherwise everywhere, in Dask 2024.8
        "scheduler_kwargs": {"dashboard": False},
        "processes": True,
    }
    _let_workers_start_again()
    cluster = distributed().LocalCluster(
        n_workers=n_workers, threads_per_worker=threads_per_worker, **(defaults | settings)
    )
    try:
        with distributed().Client(cluster, set_as_default=False) as client:
            yield client
    finally:
        with suppress(KeyError):  # Dask raises it for a worker that has ended; all is closed by then
            cluster.close()


@cache
def _let_workers_start_again() -> None:
    """Let Dask restart workers however long it takes, not for 15 s as by default; a time set by the user counts."""
    distributed()  # sets its own defaults when it is imported
    import dask

    dask.config.update_defaults({"distributed": {"deploy": {"lost-worker-timeout": "1 day"}}})


def workers_of(client: Any) -> dict[str, int]:
    """The workers that take tasks: their numbers of threads, by their addresses, which are sorted."""
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    if not workers:
        _check_scheduler(client)
    return {a: int(workers[a]["nthreads"]) for a in sorted(workers) if workers[a].get("status", "running") == "running"}


def results(client: Any, futures: Sequence[Any], before: Sequence[Any] = ()) -> list[Any]:
    """The results of futures; waits for them as long as there is a worker that can work.

    An interrupt or a failure cancels the futures, and those that were submitted `before` them.
    """
    futures = list(futures)
    health = _Health(client)
    with cancelled_on_error(client, [*before, *futures]):
        if client.status != "running":
            _check_scheduler(client)
        gathering = asyncio.run_coroutine_threadsafe(
            client.gather(futures, asynchronous=True), client.loop.asyncio_loop
        )
        while not concurrent.futures.wait([gathering], timeout=_CHECK_EVERY).done:
            health.check(futures)
        return list(gathering.result())


def some_done(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The futures that are done, as soon as there is one; waits as long as `results`."""
    health = _Health(client)
    while True:
        try:
            with client.as_current():
                done = distributed().wait(futures, timeout=_CHECK_EVERY, return_when="FIRST_COMPLETED").done
            return [future for future in futures if future in done]
        except TimeoutError:
            health.check(futures)


def merging_tree(client: Any, merge: Callable[..., Any], futures: Sequence[Any], *arguments: Any) -> list[Any]:
    """Submit tasks `merge(results, *arguments)` until one result is left: `futures` and theirs, that one's last."""
    everything, level = list(futures), list(futures)
    while len(level) > 1:
        groups = [level[i : i + _MERGED_AT_A_TIME] for i in range(0, len(level), _MERGED_AT_A_TIME)]
        level = [client.submit(merge, group, *arguments, pure=False) for group in groups]
        everything += level
    return everything


class _Health:
    """Whether a cluster can still compute the futures that somebody waits for."""

    def __init__(self, client: Any):
        self._client = client
        self._lost_since: float | None = None
        self._waiting_since: float | None = None

    def check(self, futures: Sequence[Any]) -> None:
        """Raise ClusterError if the cluster cannot compute them, LostError if data have to be sent again."""
        _check_scheduler(self._client)
        unfinished = [future.status for future in futures if future.status != "finished"]
        is_idle = bool(unfinished) and _is_idle(self._client)
        is_stuck = is_idle and bool(workers_of(self._client))  # workers could work, but no task reaches them
        self._lost_since = _since(self._lost_since, "lost" in unfinished or is_stuck)
        self._waiting_since = _since(self._waiting_since, is_idle and not is_stuck)
        if self._lost_since is not None and time.monotonic() - self._lost_since > _CHECK_EVERY:
            raise LostError("tasks wait for workers that are gone or paused")
        _check_patience(self._waiting_since)


@contextmanager
def cancelled_on_error(client: Any, futures: Iterable[Any]) -> Iterator[None]:
    """A context that cancels the futures that exist when it fails, and raises the error that a user should see."""
    try:
        with explained(client, futures):
            yield
    except BaseException:
        _cancel(client, list(futures))
        raise


def _since(before: float | None, still: bool) -> float | None:
    """When a state began that `still` holds; None if it does not hold."""
    return None if not still else time.monotonic() if before is None else before


def _is_idle(client: Any) -> bool:
    """Whether no worker works: there is none, or all tasks wait for workers that are gone or paused.

    Dask lets a task wait for the worker that it prefers if there was a moment without any worker.
    """
    workers, tasks = client.scheduler_info(n_workers=-1)["workers"], client.processing()
    return not any(
        worker["metrics"].get("task_counts", {}).get("executing")
        or (worker.get("status", "running") == "running" and tasks.get(address))
        for address, worker in workers.items()
    )


def _check_patience(waiting_since: float | None) -> None:
    if waiting_since is not None and time.monotonic() - waiting_since > _PATIENCE:
        raise ClusterError(
            f"no worker of the cluster has taken a task for {_PATIENCE:g} s: all are gone, or paused for lack of "
            "memory; start more workers, or give them more memory."
        )


def scattered(client: Any, content: Any, worker: str | None = None) -> Any:
    """Send content to a worker, the given one if it is connected; other workers fetch it when they need it.

    This does not use `broadcast=True`, by which Dask's scheduler waits forever for a worker that is lost meanwhile.
    """
    with explained(client):
        waiting_since = time.monotonic()
        while not (workers := workers_of(client)):
            _check_patience(waiting_since)
            time.sleep(_CHECK_EVERY / 20)
        where = worker if worker in workers else None
        try:
            return client.scatter(content, workers=where, hash=False)
        except KeyError as error:  # raised by the scheduler if the worker is gone
            raise LostError(f"worker {where} is gone") from error


@contextmanager
def explained(client: Any, futures: Iterable[Any] = ()) -> Iterator[None]:
    """A context that turns errors into the errors that a user should see, or LostError; it waits for `futures`."""
    try:
        yield
    except BaseException as error:
        if getattr(error, _EXPLAINED, False):  # by an inner context, before its futures were cancelled
            raise
        failed = any(future.status == "error" for future in futures)
        raised = _explained_task_error(error) if failed else _explained_cluster_error(client, error)
        with suppress(AttributeError):
            setattr(raised, _EXPLAINED, True)
        if raised is error:
            raise
        raise raised from error


def _explained_task_error(error: BaseException) -> BaseException:
    """The error that a user should see if a task raised this one, or was given up because of it."""
    if isinstance(error, distributed().KilledWorker):
        return ClusterError(
            "workers ended several times during the same task, most likely for lack of memory; give them more memory, "
            "or use more workers."
        )
    if isinstance(error, MemoryError):
        return ClusterError(
            f"a worker has too little memory ({_first_line(error)}); give the workers more memory, or use more workers."
        )
    return error


def _explained_cluster_error(client: Any, error: BaseException) -> BaseException:
    """The error that a user should see if this one was not raised by a task."""
    if isinstance(error, ClusterError | LostError) or not isinstance(error, Exception):
        return error
    cancelled = isinstance(error, concurrent.futures.CancelledError | distributed().CancelledError)
    if cancelled or isinstance(error, OSError) or client.status != "running":  # timeouts are OSErrors, too
        try:
            _check_scheduler(client)
        except ClusterError as gone:
            return gone
        return LostError(_first_line(error))
    return error


def _check_scheduler(client: Any) -> None:
    """Raise ClusterError if the scheduler is gone."""
    address = getattr(client.scheduler, "address", None) or "its address"
    try:
        if client.status == "running":
            client.sync(client.scheduler.identity, callback_timeout=_ANSWER_WITHIN)
            return
    except (OSError, TimeoutError, RuntimeError, AttributeError):
        pass
    raise ClusterError(
        f"the scheduler at {address} is gone; start it and its workers again, and repeat the command: it goes on from "
        "the last checkpoint, if it has one."
    )


def _cancel(client: Any, futures: Sequence[Any]) -> None:
    try:
        if client.status == "running":
            client.cancel([future for future in futures if not future.cancelled()], force=True)
    except Exception:  # the error for which futures are cancelled says more
        pass


def attempted(compute: Callable[[], Result], again: Callable[[], None], tries: int = 5) -> Result:
    """The result of `compute`; if it needs data that are lost, `again` sends them, and `compute` is tried again."""
    lost: LostError | None = None
    for _ in range(tries):
        try:
            if lost is not None:
                time.sleep(_PAUSE)
                again()
            return compute()
        except LostError as error:
            lost = error
    raise ClusterError(
        f"workers were lost, and what they kept, {tries} times in a row ({lost}), most likely for lack of memory; give "
        "them more memory, use more workers, or data that workers can read again."
    ) from lost


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
