"""Many jobs on a cluster, of which a few at a time are sent to the workers."""

from collections.abc import Callable, Generator, Iterable, Iterator
from operator import itemgetter
from typing import Any, Generic, TypeVar

from ._cluster import ClusterError, LostError, cancelled_on_error, results, some_done, workers_of

__all__ = ["results_as_done"]

_JOBS_PER_THREAD = 2  # sent at a time: a worker need not wait for its next job
_MOST_LOSSES = 5  # in a row, without any job having been done

Job = TypeVar("Job")


def results_as_done(
    client: Any,
    jobs: Iterable[Job],
    send: Callable[[Job], Any],
    renew: Callable[[], None],
    shared: Callable[[], Iterable[Any]],
) -> Generator[tuple[int, Any], None, None]:
    """The positions of jobs and their results, as soon as a job is done; any failure cancels all jobs.

    Parameters
    ----------
    client : distributed.Client
    jobs : iterable
        Consumed as workers become free.
    send : callable
        Returns the future of a job's result.
    renew : callable
        Called after data that jobs need were lost with their workers, before unfinished jobs are sent again.
    shared : callable
        Returns the futures that all jobs share, which are released at the end.
    """
    queue = _JobQueue(client, jobs, send, shared)
    losses = 0
    with cancelled_on_error(client, queue):
        while True:
            try:
                found = queue.next_results()
            except LostError as error:
                losses += 1
                if losses == _MOST_LOSSES:
                    raise ClusterError(
                        f"the workers were lost {losses} times before any of their tasks was done; use workers that "
                        "stay, or give them more memory."
                    ) from error
                queue.put_back()
                renew()
                continue
            if not found:
                break
            losses = 0
            yield from found
        for future in shared():
            future.release()


class _JobQueue(Generic[Job]):
    """Jobs to send and jobs that were sent; iteration gives all futures."""

    def __init__(
        self, client: Any, jobs: Iterable[Job], send: Callable[[Job], Any], shared: Callable[[], Iterable[Any]]
    ):
        self._client, self._send, self._shared = client, send, shared
        self._coming = enumerate(jobs)
        self._next: list[tuple[int, Job]] = []  # drawn, but not sent; the last goes first
        self._sent: dict[str, tuple[Any, int, Job]] = {}  # futures and their jobs, by the futures' keys

    def __iter__(self) -> Iterator[Any]:
        yield from (future for future, _, _ in self._sent.values())
        yield from self._shared()

    def next_results(self) -> list[tuple[int, Any]]:
        """Positions and results of the jobs that are done next; none if there are no more jobs."""
        with cancelled_on_error(self._client, self):
            self._fill()
            if not self._sent:
                return []
            done = some_done(self._client, [future for future, _, _ in self._sent.values()])
            found = results(self._client, done)
        positions = [self._sent.pop(future.key)[1] for future in done]
        for future in done:
            future.release()  # now, and not when Python finds that nothing refers to it
        return list(zip(positions, found, strict=True))

    def _fill(self) -> None:
        """Send jobs until all workers have enough."""
        room = _JOBS_PER_THREAD * max(1, sum(workers_of(self._client).values()))
        while len(self._sent) < room:
            if not self._next:
                drawn = next(self._coming, None)
                if drawn is None:
                    return
                self._next.append(drawn)
            position, job = self._next[-1]  # stays there if it cannot be sent
            future = self._send(job)
            self._sent[future.key] = future, position, job
            self._next.pop()

    def put_back(self) -> None:
        """Send all unfinished jobs again, since it is not known which are lost."""
        unfinished = [(position, job) for _, position, job in self._sent.values()]
        self._next = sorted([*self._next, *unfinished], key=itemgetter(0), reverse=True)
        self._sent.clear()
