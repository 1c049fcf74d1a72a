"""Clusters of processes on this machine: small data for them, models to compare, and what can go wrong."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from scca import SparseCCA
from scca.datasets import make_planted

MANY = 60  # pairs that stay in blocks, in tests
LOOPBACK = "127.0.0.1"
# without a dashboard there is a server all the same, which would listen everywhere
_HERE_ALONE = ["--host", LOOPBACK, "--no-dashboard", "--dashboard-address", f"{LOOPBACK}:0"]


# --- data and models --------------------------------------------------------------------------------------------------


def planted_pair(store=np.asarray, n=240, p=50, q=40, seed=3):
    made = make_planted(n, p, q, n_factors=3, n_active=6, strength=1.5, random_state=seed)
    return tuple(store(view) for view in made.views)


def sparse_pair(**sizes):
    return planted_pair(lambda view: sp.csr_array(np.where(view > 0.5, view, 0.0)), **sizes)


def model(**settings):
    return SparseCCA(**{"n_components": 3, "n_features": None, "held_out": 0, **settings})


def cosines(found, expected):
    """Of every component in both views."""
    pairs = (found.x_weights_, expected.x_weights_), (found.y_weights_, expected.y_weights_)
    return np.concatenate(
        [np.sum(a * b, axis=0) / np.linalg.norm(a, axis=0) / np.linalg.norm(b, axis=0) for a, b in pairs]
    )


def assert_same(found, expected, beyond=1 - 1e-9):
    assert found.n_components_ == expected.n_components_
    assert cosines(found, expected).min() > beyond
    assert found.converged_.all()


# --- processes --------------------------------------------------------------------------------------------------------


def beside_the_rest(folder):
    """PYTHONPATH with one more folder: other processes import the same scca as this one."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


class Machines:
    """A scheduler and workers, each a process of its own that nobody starts again."""

    def __init__(self, folder, *options):
        self._folder, self._options = Path(folder), options
        self._stack = ExitStack()
        self.scheduler = self._start("scheduler", *_HERE_ALONE, "--port", "0")
        self.address = next(line.split()[-1] for line in self._lines("scheduler") if "Scheduler at:" in line)
        self.workers = []

    def _start(self, name, *arguments, path=Path(__file__).parent):
        code = f"from distributed.cli.dask_{'scheduler' if name == 'scheduler' else 'worker'} import main; main()"
        log = self._stack.enter_context((self._folder / f"{name}.log").open("w"))
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments, *self._options],
            stdout=log,
            stderr=log,
            cwd=self._folder,
            env=os.environ | {"PYTHONPATH": beside_the_rest(path)},
        )
        self._stack.callback(_ended, process)
        return process

    def _lines(self, name, seconds=60.0):
        """Of a log, waiting for more."""
        end = time.monotonic() + seconds
        with open(self._folder / f"{name}.log") as file:
            while time.monotonic() < end:
                if line := file.readline():
                    yield line
                else:
                    time.sleep(0.05)
        raise TimeoutError((self._folder / f"{name}.log").read_text())

    def add_worker(self, **options):
        name = f"worker-{len(self.workers)}"
        settings = ["--no-nanny", "--nthreads", "1", *_HERE_ALONE, "--memory-limit", "0"]
        self.workers.append(self._start(name, self.address, *settings, **options))

    def close(self):
        self._stack.close()


@contextmanager
def machines(folder, n_workers, *options):
    folder.mkdir()
    started = Machines(folder, *options)
    try:
        for _ in range(n_workers):
            started.add_worker()
        yield started
    finally:
        started.close()


def _ended(process):
    process.kill()
    process.wait()


def kill_worker(client):
    """End the process of one of the workers at once."""
    found = {}
    while not found:  # others may have ended just now
        found = client.run(os.getpid, on_error="ignore")
    os.kill(found[min(found)], signal.SIGKILL)


def kill_all_workers(client):
    for pid in client.run(os.getpid, on_error="ignore").values():
        os.kill(pid, signal.SIGKILL)


def paused(dask_worker):
    from distributed.core import Status

    dask_worker.status = Status.paused


def running(dask_worker):
    from distributed.core import Status

    dask_worker.status = Status.running


def eventually(condition, seconds=60.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def executing(client):
    """How many tasks the workers say that they execute."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(worker["metrics"].get("task_counts", {}).get("executing", 0) for worker in workers)


def keys_of(client):
    """All tasks and data that the scheduler knows of."""
    return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


# --- what workers compute ---------------------------------------------------------------------------------------------


def memory_hungry(items):
    """More than a worker of a test may have, written to so that it is really taken."""
    taken = [np.ones(1 << 24) for _ in range(16)]
    time.sleep(5.0)
    return len(taken)


def wait_for(event):
    from distributed import Event

    return Event(event).wait(60)


def column_sums(items):
    return items[0].sum(axis=0)


def failing(items):
    raise FileNotFoundError("[Errno 2] No such file or directory: 'gone.npy'")


def slow_sum(items, seconds):
    time.sleep(seconds)
    return items[0].sum(axis=0)


def out_of_memory(items):
    raise MemoryError("Unable to allocate 10.0 GiB")
