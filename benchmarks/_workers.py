"""Methods that take turns on one problem, each in a process of its own, so that its peak of memory is its own."""

import json
import os
import pickle
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ._contest import GAP
from ._growth_methods import METHODS, Data

__all__ = ["NOT_INSTALLED", "Measured", "run_command", "take_turns"]

NOT_INSTALLED = "not installed"
PATIENCE = 60.0  # seconds after which a method is stopped
_STARTING = 60.0  # seconds more until all have loaded and compiled what they need
_ENOUGH = 3.0  # seconds after which a method has no more turns
_ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

Measured = dict[str, dict]  # by method: seconds of each turn, bytes and more, or why they are missing


def take_turns(part: str, data: Data, density: float, left_out: dict[str, str], turns: int) -> Measured:
    """Time and memory of all installed methods of `part` but those `left_out`, for which the reason is given.

    They wait for each other, loaded and compiled, and run one after another, turn by turn: a slow moment of the machine
    falls on all of them. One component is solved with one thread each, a whole model with the threads that a user has.
    """
    measured = {name: {"missing": reason} for name, reason in left_out.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.pickle")
        path.write_bytes(pickle.dumps(data))
        workers: dict[str, _Worker] = {}
        try:
            for name, method in METHODS[part].items():
                if not method.is_installed:
                    measured[name] = {"missing": NOT_INSTALLED}
                elif name not in measured:
                    workers[name] = _Worker(path, part, name, str(density))
            until = time.monotonic() + _STARTING + PATIENCE
            for name, worker in workers.items():
                started = worker.answer(until - time.monotonic())
                measured[name] = {"seconds": []} if "missing" not in started else started
            for turn in range(turns):
                for name, worker in workers.items():
                    _run(worker, measured[name], first=turn == 0)
        finally:
            for worker in workers.values():
                worker.stop()
    return {name: measured[name] for name in METHODS[part]}


def _run(worker: "_Worker", found: dict, *, first: bool) -> None:
    if "missing" in found or (not first and sum(found["seconds"]) > _ENOUGH):
        return
    answer = worker.go()
    if answer.get("gap", 0.0) > GAP:
        answer = {"missing": f"stopped at a gap of {answer['gap']:.0e}"}
    if "missing" in answer:
        found.clear()
        found.update(answer)
        return
    seconds = [*found["seconds"], answer["seconds"]]
    found.update(answer | {"seconds": seconds, "bytes": max(answer["bytes"], found.get("bytes", 0))})


class _Worker:
    """A process that has one method and its data, and runs it when told to."""

    def __init__(self, path: Path, *arguments: str):
        command = [sys.executable, "-m", "benchmarks._growth_child", str(path), *arguments]
        environment = os.environ | (_ONE_THREAD if arguments[0] == "component" else {})
        self._process = subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def go(self) -> dict:
        try:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"missing": "failed"}
        return self.answer(PATIENCE)

    def answer(self, patience: float) -> dict:
        """What it says next; or why it says nothing."""
        if not select.select([self._process.stdout], [], [], max(patience, 0.0))[0]:
            return {"missing": f"took more than {PATIENCE:.0f} s"}
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"missing": "failed"}  # an error, or killed for want of memory

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


def run_command(*command: str, patience: float | None = PATIENCE, environment: dict | None = None) -> dict:
    """Seconds from pressing return to the end of `scca command`, or of `tf-idf A B`, and the process's peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "bytes")
        start = time.perf_counter()
        try:
            subprocess.run(
                [sys.executable, "-m", "benchmarks._command_child", str(out), *command],
                check=True,
                capture_output=True,
                env=os.environ | (environment or {}),
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            return {"missing": f"took more than {patience:.0f} s"}
        except subprocess.CalledProcessError:
            return {"missing": "failed"}
        return {"seconds": time.perf_counter() - start, "bytes": int(out.read_text())}
