"""In a process of one version: the cases that it is told to compute, their answers, time and memory.

A line of JSON on standard input names a case, and a file for its answers if they are wanted; a line on standard output
says how long it took.
"""

import ctypes
import gc
import json
import sys
import time
import warnings
from contextlib import redirect_stdout, suppress
from pathlib import Path

import numpy as np

import scca

from ._resident import reset_peak, resident
from ._unchanged_cases import Case, all_cases


def measured(case: Case, path: str | None) -> dict:
    data = case.data()
    _give_back()
    reset_peak()
    before, start, busy = resident("VmRSS"), time.perf_counter(), time.process_time()
    answers = case.answers(data)
    took = {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy}
    took["bytes"] = resident("VmHWM") - before
    if path is not None:
        np.savez(path, **{str(i): array for i, array in enumerate(answers.values())})  # names may not be those of files
    return took | {"names": list(answers)}


def _give_back() -> None:
    """Return free memory to the system: what earlier cases left would hide the peak of this one."""
    gc.collect()
    with suppress(OSError, AttributeError):  # only glibc keeps it and can be told to
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def main(*corpus: str) -> None:
    warnings.simplefilter("ignore")
    answer, cases = sys.stdout, all_cases(tuple(map(Path, corpus)) or None)
    kinds = {name: case.large for name, case in cases.items()}
    print(json.dumps({"from": scca.__file__, "cases": kinds}), file=answer, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            with redirect_stdout(sys.stderr):
                said = measured(cases[asked["case"]], asked["path"])
        except Exception as error:  # a setting that one version refuses is a result
            said = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), file=answer, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
