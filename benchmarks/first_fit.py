"""What a user waits for after `scca fit` on a small corpus: from pressing return to the end, in a new process.

Compiled code is cached from the second time on; in a fresh cache everything is compiled first. On a terminal the words
of the first components are shown before the others are known. scikit-learn imports pandas, and pandas pyarrow, wherever
they are installed, and numba imports cffi: an environment of `scca[cli]` alone has none of them.
"""

import os
import pty
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from scca.datasets import load_trilingual

from ._table import print_table
from ._workers import run_command

__all__ = ["run"]

_AIMED_SECONDS = 3.0
_ROUNDS = {False: 3, True: 1}
_COMPONENTS = 10
_FIRST = b"The first components"


def run(*, quick: bool = False) -> None:
    corpus = load_trilingual()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for language, texts in (("en", corpus.en), ("fr", corpus.fr)):
            paths.append(str(Path(folder, f"small.{language}")))
            Path(paths[-1]).write_text("".join(text.replace("\n", " ") + "\n" for text in texts), encoding="utf-8")
        few = ["fit", *paths, "-o", str(Path(folder, "model.scca")), "--components", str(_COMPONENTS)]
        commands = {
            "TF-IDF by scikit-learn": ["tf-idf", *paths],
            f"scca fit --components {_COMPONENTS}": few,
            "scca fit": few[:-2],
        }
        cached: dict[str, list[float]] = {name: [] for name in commands}
        first: dict[str, list[float]] = {name: [] for name in commands if name.startswith("scca")}
        run_command(*few, patience=None)  # fills caches
        for _ in range(_ROUNDS[quick]):
            for name, command in commands.items():
                cached[name].append(run_command(*command, patience=None)["seconds"])
                if name in first:
                    first[name].append(_seconds_to_words(command))
        alone = _python_of_its_own(Path(folder, "environment"))
        waits = (
            [] if alone is None else [_seconds_to_words(commands["scca fit"], alone) for _ in range(_ROUNDS[quick] + 1)]
        )
        fresh = {}
        for name, command in commands.items():
            with tempfile.TemporaryDirectory() as cache:
                fresh[name] = run_command(*command, patience=None, environment={"NUMBA_CACHE_DIR": cache})
    waited = {name: median(seconds) for name, seconds in cached.items()}
    unit = next(iter(waited.values()))
    rows = [
        [
            name,
            f"{median(first[name]):.1f}" if name in first else "",
            *(f"{value:.1f}" for value in (seconds, seconds / unit, fresh[name]["seconds"])),
            f"{fresh[name]['bytes'] / 1e6:,.0f}",
        ]
        for name, seconds in waited.items()
    ]
    print_table(
        f"A new process on {len(corpus.en)} pairs of the built-in corpus, median of {_ROUNDS[quick]}",
        ["command", "first words, s", "compiled code cached, s", "times TF-IDF", "fresh cache, s", "peak MB"],
        rows,
    )
    print(f"\naim, a first result of scca fit within {_AIMED_SECONDS:g} s: {_judged(median(first['scca fit']))}")
    if waits:
        print(f"in an environment of scca[cli] alone: {_judged(median(waits[1:]))}")  # the first one fills caches
    else:
        print("in an environment of scca[cli] alone: not measured, since pip could not make one")


def _judged(seconds: float) -> str:
    return f"{seconds:.1f} s, {'met' if seconds < _AIMED_SECONDS else 'not met'}"


def _python_of_its_own(folder: Path) -> str | None:
    """The interpreter of a new environment that has what `pip install 'scca[cli]'` brings; None if that fails."""
    python = folder / "bin" / "python"
    source = Path(__file__).parents[1]
    make = [sys.executable, "-m", "venv", str(folder)]
    install = [str(python), "-m", "pip", "install", "--quiet", "--editable", f"{source}[cli]"]
    done = subprocess.run(make).returncode == 0 and subprocess.run(install).returncode == 0
    return str(python) if done else None


def _seconds_to_words(command: list[str], python: str = sys.executable) -> float:
    """From pressing return on a terminal to the words of the first components."""
    terminal, inside = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen([python, "-m", "scca", *command], stdout=inside, stderr=inside)
    os.close(inside)
    seen = b""
    try:
        while _FIRST not in seen:
            seen += os.read(terminal, 1 << 16)  # an error if the command ends without any
        seconds = time.monotonic() - start
        while process.poll() is None:  # a full terminal would stop it
            _drained(terminal)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    return seconds


def _drained(terminal: int) -> None:
    try:
        os.read(terminal, 1 << 16)
    except OSError:  # closed by the command
        time.sleep(0.01)
