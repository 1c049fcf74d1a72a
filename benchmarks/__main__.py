"""`python -m benchmarks [dense] [sparse] [first-call] [memory]`: the tables asked for, or all of them."""

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from . import first_call, memory, single_component, sparse_lasso

_PACKAGES = ["scca", "numpy", "scipy", "numba", "scikit-learn", "celer", "skglm", "cvxpy", "clarabel"]


def main() -> None:
    arguments = _parser().parse_args()
    runs = {
        "dense": lambda: single_component.run(arguments.repeats),
        "sparse": lambda: sparse_lasso.run(arguments.repeats, arguments.corpus),
        "first-call": first_call.run,
        "memory": memory.run,
    }
    unknown = [name for name in arguments.names if name not in runs]
    if unknown:
        _parser().error(f"no benchmark named {', '.join(unknown)}; choose from {', '.join(runs)}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, " + ", ".join(map(_version, _PACKAGES)))
    for name in arguments.names or runs:
        runs[name]()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure scca beside its peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="dense, sparse, first-call, memory; all unless given")
    parser.add_argument("--repeats", type=int, default=50, help="times each solver is timed (%(default)s)")
    parser.add_argument(
        "--corpus",
        nargs=2,
        type=Path,
        metavar=("A", "B"),
        help="two line-aligned text files (.gz or not) for 'sparse' instead of made-up documents",
    )
    return parser


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"


if __name__ == "__main__":
    main()
