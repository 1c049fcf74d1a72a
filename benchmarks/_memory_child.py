"""In a new process: how far resident memory rises while a model is fitted or a component is solved."""

import json
import pickle
import resource
import sys
import time
from pathlib import Path

from scca import SparseCCA, solve_component
from scca.datasets import make_planted

_STATUS = Path("/proc/self/status")


def fit(data) -> None:
    views, n_components = data
    SparseCCA(n_components).fit(*views)


def solve(problem) -> None:
    solve_component(problem.X, problem.K, problem.k)


def main(path: str, task: str) -> None:
    SparseCCA(1).fit(*make_planted(50, 50, 50, density=0.5, random_state=0).views)  # loads what is compiled
    data = pickle.loads(Path(path).read_bytes())
    before, start = _resident("VmRSS"), time.perf_counter()
    {"fit": fit, "solve": solve}[task](data)
    print(json.dumps({"bytes": _resident("VmHWM") - before, "seconds": time.perf_counter() - start}))


def _resident(field: str) -> int:
    """Bytes now (VmRSS) or at the most so far (VmHWM); where the system has no such file, at the most for either.

    Linux's own `ru_maxrss` would not do: it starts from what the parent process had.
    """
    if not _STATUS.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    main(*sys.argv[1:])
