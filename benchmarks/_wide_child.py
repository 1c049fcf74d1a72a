"""In a new process: the time of a fit to dense data, and how far its own memory, without the data, rises meanwhile."""

import json
import pickle
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from scca import AnchoredCCA, SparseCCA
from scca.datasets import make_planted

from ._memory_child import resident

_INTERVAL = 0.02  # seconds between two looks at the memory
_SHARED, _FACTORS = 4000, 20  # features of a view that are not noise, and what they share


def made(n_samples: int, sizes: tuple[int, int], folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Two views of float32, in memory or read from files in `folder`: noise, and features that share factors."""
    rng = np.random.default_rng(0)
    T = rng.standard_normal((n_samples, _FACTORS), dtype=np.float32)
    views = []
    for name, size in zip("XY", sizes, strict=True):
        shape, shared = (n_samples, size), min(size // 4, _SHARED)
        path = None if folder is None else Path(folder, f"{name}.npy")
        view = (
            np.empty(shape, dtype=np.float32)
            if path is None
            else np.lib.format.open_memmap(path, "w+", np.float32, shape)
        )
        weights = rng.standard_normal((_FACTORS, shared), dtype=np.float32)
        for row, t in zip(view, T, strict=True):
            row[:] = rng.standard_normal(size, dtype=np.float32)
            row[:shared] += t @ weights
        views.append(view if path is None else np.load(path, mmap_mode="r"))
    return views[0], views[1]


def main(path: str) -> None:
    warnings.simplefilter("ignore")
    n_samples, sizes, folder, settings = pickle.loads(Path(path).read_bytes())
    estimator = AnchoredCCA if "anchors" in settings else SparseCCA
    estimator(1, **settings).fit(*make_planted(50, 50, 50, random_state=0).views)  # loads what is compiled
    X, Y = made(n_samples, sizes, folder)
    field = "RssAnon" if folder else "VmRSS"  # pages of a file are not the process's own
    before, peak, done = resident(field), [0], threading.Event()

    def watch() -> None:
        while not done.wait(_INTERVAL):
            peak[0] = max(peak[0], resident(field))

    watcher = threading.Thread(target=watch)
    watcher.start()
    start, busy = time.perf_counter(), time.process_time()
    estimator(20, **settings).fit(X, Y)
    took = {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy}
    done.set()
    watcher.join()
    print(json.dumps({"bytes": peak[0] - before, "data": X.nbytes + Y.nbytes, **took}))


if __name__ == "__main__":
    main(*sys.argv[1:])
