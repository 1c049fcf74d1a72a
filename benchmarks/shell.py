"""Start-up times of the command line: the version, help and wrong calls, compared with importing NumPy."""

import subprocess
import sys
from time import perf_counter

from ._table import print_table

__all__ = ["run"]

_NUMPY = ["-c", "import numpy"]
_CALLS = (["--version"], ["--help"], ["fit", "--help"], ["fit", "--nope"])
_AIMED_RATIO, _AIMED_SECONDS = 5, 0.5
_ROUNDS = 7


def run() -> None:
    programs = [_NUMPY, *(["-m", "scca", *call] for call in _CALLS)]
    rounds = [[_seconds(program) for program in programs] for _ in range(_ROUNDS + 1)][1:]  # the first fills caches
    numpy, *best = (min(times) for times in zip(*rounds, strict=True))
    rows = [["import numpy", f"{numpy:.2f}", ""]]
    rows += [
        [f"scca {' '.join(call)}", f"{time:.2f}", f"{time / numpy:.1f}"]
        for call, time in zip(_CALLS, best, strict=True)
    ]
    print_table(f"A new process, best of {_ROUNDS} in turn", ["command", "s", "times import numpy"], rows)
    met = best[0] < _AIMED_RATIO * numpy and max(best) < _AIMED_SECONDS
    print(
        f"\naims, all under {_AIMED_SECONDS} s and --version under {_AIMED_RATIO} imports of NumPy: "
        f"{'met' if met else 'not met'}"
    )


def _seconds(arguments: list[str]) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True)
    return perf_counter() - start
