"""In a new process: one way of finding the best candidates, its times, what it finds, and its peak memory."""

import json
import sys
import tempfile
import time

import numpy as np

from scca.retrieval import ApproximateIndex, ExactIndex

from ._resident import resident

_COLUMNS, _NOISE, _TOP = 100, 0.5, 10


def scores(n_candidates: int, n_queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Queries, the mates of the first candidates: scores of falling variance that both have, and noise."""
    rng = np.random.default_rng(0)
    spread = (1 + np.arange(_COLUMNS, dtype=np.float32)) ** -0.5

    def drawn(n: int) -> np.ndarray:
        rows = rng.standard_normal((n, _COLUMNS), dtype=np.float32)
        rows *= spread
        return rows

    candidates = drawn(n_candidates)
    queries = candidates[:n_queries] + np.float32(_NOISE) * drawn(n_queries)
    for start in range(0, n_candidates, 10_000):  # little by little, since the peak of memory is measured
        candidates[start : start + 10_000] += np.float32(_NOISE) * drawn(min(10_000, n_candidates - start))
    return queries, candidates


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Plain:
    """All cosines at once, as one would write it in NumPy."""

    def __init__(self, candidates: np.ndarray):
        self._candidates = _unit(candidates)

    def best_matches(self, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        cosines = _unit(queries) @ self._candidates.T
        found = np.argpartition(-cosines, top, axis=1)[:, :top]
        return found, np.take_along_axis(cosines, found, axis=1)


def main(way: str, n_candidates: str, n_queries: str) -> None:
    queries, candidates = scores(int(n_candidates), int(n_queries))
    kind = {"plain": Plain, "exact": ExactIndex, "index": ApproximateIndex}[way]
    kind(candidates[:2000]).best_matches(queries[:2], _TOP)  # loads what is imported late
    before, start = resident("VmRSS"), time.perf_counter()
    index = kind(candidates)
    made = time.perf_counter()
    found, _ = index.best_matches(queries, _TOP)
    done = time.perf_counter()
    peak = resident("VmHWM") - before
    with tempfile.NamedTemporaryFile(suffix=".npy", delete=False) as file:
        np.save(file, found)
    print(json.dumps({"make": made - start, "search": done - made, "bytes": peak, "found": file.name}))


if __name__ == "__main__":
    main(*sys.argv[2:])  # the first is a file of data, which this does not need
