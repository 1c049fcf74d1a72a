"""Many jobs on a cluster, some at a time."""

from collections.abc import Callable, Generator, Iterable, Iterator
from operator import itemgetter
from typing import Any, Generic, TypeVar

from ._cluster import (
    ClusterError,
    LostError,
    cancelled_on_error,
    results,
    some_done,
    workers_of,
)

__all__ = ["in_a_window"]

_AHEAD = 2  # jobs per thread of the cluster at a time: a worker need not wait for its next
_TRIES = 5  # how often jobs are sent again without any having been done

Job = TypeVar("Job")


def in_a_window(
    client: Any,
    jobs: Iterable[Job],
    send: Callable[[Job], Any],
    again: Callable[[], None],
    others: Callable[[], Iterable[Any]],
) -> Generator[tuple[int, Any], None, None]:
    """The positions of jobs and their results, as they are done; on any failure everything is cancelled.

    Parameters
    ----------
    client : distributed.Client
    jobs : iterable
        Consumed as workers become free.
    send : callable
        Returns the future of a job's result.
    again : callable
        Called if data that jobs need is lost with its workers, before the jobs that are not done are sent again.
    others : callable
        Returns the futures of what all jobs share, which are released at the end.
    """
    window = _Window(client, jobs, send, others)
    losses = 0
    with cancelled_on_error(client, window):
        while True:
            try:
                found = window.results()
            except LostError as error:
                losses += 1
                if losses == _TRIES:
                    raise ClusterError(
                        f"the workers were lost {_TRIES} times before any of their tasks was done; use workers that "
                        "stay, or give them more memory."
                    ) from error
                window.send_again()
                again()
                continue
            if not found:
                break
            losses = 0
            yield from found
        for future in others():
            future.release()


class _Window(Generic[Job]):
    def __init__(
        self, client: Any, jobs: Iterable[Job], send: Callable[[Job], Any], others: Callable[[], Iterable[Any]]
    ):
        self._client, self._send, self._others = client, send, others
        self._coming = enumerate(jobs)
        self._next: list[tuple[int, Job]] = []  # to be sent before others come, the last first
        self._sent: dict[str, tuple[Any, int, Job]] = {}  # futures and their jobs, by the futures' keys

    def __iter__(self) -> Iterator[Any]:
        """All futures."""
        yield from (future for future, _, _ in self._sent.values())
        yield from self._others()

    def results(self) -> list[tuple[int, Any]]:
        """Of the jobs that are done next; none if there are no more."""
        with cancelled_on_error(self._client, self):
            self._fill()
            if not self._sent:
                return []
            done = some_done(self._client, [future for future, _, _ in self._sent.values()])
            found = results(self._client, done)
        positions = []
        for future in done:
            positions.append(self._sent.pop(future.key)[1])
            future.release()  # not whenever Python finds that nothing refers to it
        return list(zip(positions, found, strict=True))

    def _fill(self) -> None:
        room = _AHEAD * max(1, sum(workers_of(self._client).values()))
        while len(self._sent) < room:
            if not self._next:
                self._next.extend(job for job in [next(self._coming, None)] if job is not None)
            if not self._next:
                return
            position, job = self._next[-1]  # stays there if it cannot be sent
            future = self._send(job)
            self._sent[future.key] = future, position, job
            self._next.pop()

    def send_again(self) -> None:
        """All, since what is lost is not known."""
        unfinished = [(position, job) for _, position, job in self._sent.values()]
        self._next = sorted([*self._next, *unfinished], key=itemgetter(0), reverse=True)
        self._sent.clear()
