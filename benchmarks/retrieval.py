"""Finding the best of more and more candidates: compared with all, by an index, and by plain NumPy."""

import importlib.util
from pathlib import Path

import numpy as np

from ._processes import in_new_process
from ._table import print_table

__all__ = ["run"]

_CANDIDATES = 10_000, 100_000, 1_000_000
_QUERIES = 1000
_HEADER = ["candidates", "way", "search", "making it", "recall", "mates found", "MB beyond the data"]


def run() -> None:
    """Times are ratios to that of the exact search, each in a process of its own."""
    ways = ["exact", "plain", "index"]
    if importlib.util.find_spec("faiss") is None:
        print("faiss is not installed, so that the index is left out: pip install 'scca[index]'")
        ways.remove("index")
    rows = []
    for n in _CANDIDATES:
        measured = {way: _measured(way, n) for way in ways}
        exact = measured["exact"]
        rows += [_row(n, way, one, exact) for way, one in measured.items()]
        print(f"{n:,} candidates: the exact search took {exact['search']:.2f} s for {_QUERIES:,} queries")
    print_table("The 10 best candidates of 1,000 queries, 100 scores in float32", _HEADER, rows)


def _measured(way: str, n: int) -> dict:
    [measured] = in_new_process("_retrieval_child", None, way, str(n), str(_QUERIES))
    path = Path(measured["found"])
    measured["found"] = np.load(path)
    path.unlink()
    return measured


def _row(n: int, way: str, measured: dict, exact: dict) -> list[str]:
    pairs = zip(measured["found"], exact["found"], strict=True)
    recall = np.mean([len(np.intersect1d(some, best)) / len(best) for some, best in pairs])
    mates = np.mean((measured["found"] == np.arange(_QUERIES)[:, None]).any(axis=1))
    ratios = (f"{measured[part] / exact['search']:.2f}" for part in ("search", "make"))
    return [f"{n:,}", way, *ratios, f"{recall:.3f}", f"{mates:.3f}", f"{measured['bytes'] / 1e6:,.0f}"]
