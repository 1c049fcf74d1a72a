"""In a new process: how long an import and a first call take. Nothing is imported before the clock starts."""

import json
import pickle
import sys
import time
from importlib import import_module
from pathlib import Path

_USED = {"scca": "solve_component"}


def main(path: str, package: str) -> None:
    start = time.perf_counter()
    module = import_module(package)
    getattr(module, _USED.get(package, "__name__"))  # scca loads its parts when they are first asked for
    imported = time.perf_counter() - start

    from ._solvers import PEERS, SCCA

    problem = pickle.loads(Path(path).read_bytes())
    solver = next(solver for solver in [SCCA, *PEERS.values()] if solver.packages[0] == package)
    solve = solver.prepare(problem)
    start = time.perf_counter()
    solve(1e-6)
    called = time.perf_counter() - start
    print(json.dumps({"import": imported, "first call": called}))


if __name__ == "__main__":
    main(*sys.argv[1:])
