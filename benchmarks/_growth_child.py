"""In a new process: one method with its data, run whenever a line arrives, with its time and peak memory as JSON."""

import json
import os
import pickle
import sys
import time
import warnings
from pathlib import Path

from ._growth_methods import METHODS, make_data
from ._resident import reset_peak, resident

_SHORT, _MOST = 0.2, 10  # seconds that short runs are repeated for, and how often


def main(path: str, part: str, name: str, density: str) -> None:
    warnings.simplefilter("ignore")  # of not converging
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a package prints must not get among the answers

    def answer(found: dict) -> None:
        print(json.dumps(found), file=answers, flush=True)

    method = METHODS[part][name]
    method.prepare(make_data(part, 50, 60, 1.0 if float(density) == 1 else 0.5)).run()  # loads and compiles
    with open(Path(path), "rb") as file:
        data = pickle.load(file)
    before = resident("VmRSS")
    reset_peak()
    ready = method.prepare(data)
    answer({})
    for _ in sys.stdin:
        seconds: list[float] = []
        while not seconds or (sum(seconds) < _SHORT and len(seconds) < _MOST):
            start = time.perf_counter()
            result = ready.run()
            seconds.append(time.perf_counter() - start)
        peak = resident("VmHWM") - before
        answer({"seconds": min(seconds), "bytes": peak, **ready.describe(result)})


if __name__ == "__main__":
    main(*sys.argv[1:])
