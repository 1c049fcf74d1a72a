"""The cluster: connecting to it, waiting for it, and what to say when it fails."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

from .._version import __version__

__all__ = ["ClusterError", "LostError", "connect", "local_cluster", "results", "some_done", "workers_of"]

_LOOK = 2.0  # seconds between looks at the health of the cluster
_PATIENCE = 300.0  # seconds to wait for a cluster without workers that can work
_LOOPBACK = "127.0.0.1"

Result = TypeVar("Result")


class ClusterError(ConnectionError):
    """The cluster cannot be reached, or cannot do the work; the message names the remedy."""


class LostError(RuntimeError):
    """Something that was sent to the workers is gone with them; it has to be sent again."""


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
    client = None
    try:
        client = distributed().Client(**where, security=security, timeout=timeout, set_as_default=False)
        client.wait_for_workers(1, timeout=timeout)
        _check_versions(client)
        return client
    except (OSError, ValueError, TimeoutError) as error:
        if client is not None:
            client.close()
            raise ClusterError(
                f"the scheduler at {address} has no worker after {timeout:g} s; start some, for example: dask worker "
                f"{address}."
            ) from error
        raise ClusterError(
            f"there is no scheduler at {address} ({_first_line(error)}); start one, for example: dask scheduler."
        ) from error
    except ClusterError:
        if client is not None:
            client.close()
        raise


def _check_versions(client: Any) -> None:
    found = client.run(_version)
    other = {address: version for address, version in found.items() if version != __version__}
    if other:
        address, version = next(iter(other.items()))
        has = "no scca" if version is None else f"scca {version}"
        raise ClusterError(
            f"the worker at {address} has {has}, and this is scca {__version__}; install the same version on all "
            f"workers ({len(other)} of {len(found)} have another)."
        )


def _version() -> str | None:
    try:
        from scca import __version__ as found
    except ImportError:
        return None
    return found


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
    defaults: dict[str, Any] = {"host": _LOOPBACK, "dashboard_address": None, "processes": True}
    with (
        distributed().LocalCluster(
            n_workers=n_workers, threads_per_worker=threads_per_worker, **(defaults | settings)
        ) as cluster,
        distributed().Client(cluster, set_as_default=False) as client,
    ):
        yield client


def workers_of(client: Any) -> dict[str, int]:
    """The addresses of the workers that take tasks, in order, and their numbers of threads."""
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    if not workers:
        _check_scheduler(client)
    return {a: int(workers[a]["nthreads"]) for a in sorted(workers) if workers[a].get("status", "running") == "running"}


def results(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The results of futures, waiting for them as long as there is a worker that can work.

    If this is interrupted, or something fails, the futures are cancelled.
    """
    futures = list(futures)
    with cancelled_on_error(client, futures):
        _wait(client, futures, "ALL_COMPLETED")
        return list(client.gather(futures))


def some_done(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Those of the futures that are done, as soon as there is one; waits and fails as `results`."""
    with cancelled_on_error(client, futures):
        done = _wait(client, futures, "FIRST_COMPLETED").done
        return [future for future in futures if future in done]


def _wait(client: Any, futures: Sequence[Any], until: str) -> Any:
    idle_since: float | None = None
    while True:
        try:
            with client.as_current():
                return distributed().wait(futures, timeout=_LOOK, return_when=until)
        except TimeoutError:
            _check_scheduler(client)
            idle_since = _since(idle_since, not workers_of(client))
            if idle_since is not None and time.monotonic() - idle_since > _PATIENCE:
                raise ClusterError(
                    f"no worker of the cluster has taken a task for {_PATIENCE:g} s: all are gone, or paused for lack "
                    "of memory; start more workers, or give them more memory."
                ) from None


@contextmanager
def cancelled_on_error(client: Any, futures: Iterable[Any]) -> Iterator[None]:
    """A context that cancels futures, those there are then, on any failure, and raises what a user should see."""
    try:
        yield
    except BaseException as error:
        _cancel(client, list(futures))
        raised = _explained(client, error)
        if raised is error:
            raise
        raise raised from error


def _since(before: float | None, still: bool) -> float | None:
    """When a state began that still holds; None if it does not hold."""
    return None if not still else time.monotonic() if before is None else before


def _explained(client: Any, error: BaseException) -> BaseException:
    """The error that a user should see."""
    lib = distributed()
    if isinstance(error, lib.KilledWorker):
        return ClusterError(
            "workers ended several times during the same task, most likely for lack of memory; give them more memory, "
            "or use more workers."
        )
    if isinstance(error, CancelledError | lib.CancelledError | OSError | lib.comm.CommClosedError):
        try:
            _check_scheduler(client)
        except ClusterError as gone:
            return gone
        if isinstance(error, CancelledError | lib.CancelledError):
            return LostError(str(error))
    return error


def _check_scheduler(client: Any) -> None:
    """Raise ClusterError if the scheduler is gone."""
    address = getattr(client.scheduler, "address", None) or "its address"
    try:
        if client.status == "running":
            client.sync(client.scheduler.identity, callback_timeout=10.0)
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
            client.cancel(futures, force=True)
    except Exception:  # the error that led here says more
        pass


def attempted(compute: Callable[[], Result], again: Callable[[], None], tries: int = 5) -> Result:
    """The result of `compute`; if something that was sent is lost, `again` sends it, and it is tried once more."""
    lost: LostError | None = None
    for _ in range(tries):
        try:
            if lost is not None:
                again()
            return compute()
        except LostError as error:
            lost = error
    raise ClusterError(
        f"data were lost with their workers {tries} times in a row ({lost}); use workers that stay, or data that the "
        "workers can read again."
    ) from lost


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
