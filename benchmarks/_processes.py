"""Measure in a separate Python process."""

import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["in_new_process"]


def in_new_process(module: str, data, *arguments: str, repeats: int = 1) -> list[dict]:
    """What `python -m benchmarks.MODULE FILE *arguments` prints as JSON, `repeats` times; FILE has `data` pickled."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.pickle")
        path.write_bytes(pickle.dumps(data))
        command = [sys.executable, "-m", f"benchmarks.{module}", str(path), *arguments]
        return [json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout) for _ in range(repeats)]
