"""Whether this version answers as an earlier one, and as fast: settings, storages and sizes, fitted in both."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from ._table import print_table

__all__ = ["difference", "run"]

_VERSIONS = ("before", "after")
_TOLERANCE = 1e-6
_REPOSITORY = Path(__file__).resolve().parents[1]
_FEW_TURNS, _MORE_TURNS = 3, 5  # timed, of a case
_MOMENT = 0.1  # seconds below which a case is timed more often
_LONG = 3.0  # seconds from which on the first turn of large data is timed, too
_ALIKE = (0.8, 1.25)  # ratios for which the first turn of large data is enough
_NAMED = 4  # of the arrays that differ
_PATIENCE = 20.0  # seconds until a process that does not end is killed
_WORTH_COMPARING = 20e6  # bytes beyond the data: of less, the ratio is chance
_HEADER = ["setting", "difference", "s before", "s after", "ratio", "of processor", "of memory"]


@dataclass(frozen=True)
class _Row:
    """A case in both versions: how far apart their answers are and where, and what each took, or why nothing."""

    name: str
    difference: float
    where: str
    before: dict[str, float] | None = None
    after: dict[str, float] | None = None

    def ratio(self, of: str) -> float | None:
        return None if self.before is None or self.after is None else self.after[of] / self.before[of]

    def cells(self) -> list[str]:
        if self.before is None or self.after is None:
            return [self.name, "failed", *[""] * (len(_HEADER) - 2)]
        seconds = (f"{took['seconds']:.3f}" for took in (self.before, self.after))
        ratios = (f"{self.ratio(of):.2f}" for of in ("seconds", "busy"))
        large = max(self.before["bytes"], self.after["bytes"]) > _WORTH_COMPARING
        memory = f"{self.after['bytes'] / max(self.before['bytes'], 1):.2f}" if large else ""
        return [self.name, f"{self.difference:.1e}", *seconds, *ratios, memory]


def run(before: Path, corpus: tuple[Path, Path] | None = None, quick: bool = False, only: str = "") -> None:
    """Print how far the answers and the times of this version are from those of the one in `before`; 1 if they differ.

    `quick` leaves out large data, and `only` all cases without this text in their name.
    """
    paths = [str(path.resolve()) for path in corpus or ()]
    sources = _source(before), _source(_REPOSITORY)
    with tempfile.TemporaryDirectory() as folder, _versions(sources, paths) as workers:
        cases = workers[0].cases
        names = [name for name, large in cases.items() if only in name and not (quick and large)]
        rows = []
        for i, name in enumerate(names):
            rows.append(_row(name, workers, Path(folder), i))
            if rows[-1].difference > _TOLERANCE:  # known at once, since the table comes after all others
                print(f"{name}: {rows[-1].where}", flush=True)
    print_table(f"{sources[0]} and {sources[1]}, medians", _HEADER, [row.cells() for row in rows])
    sys.exit(_verdict(rows))


def _verdict(rows: list[_Row]) -> int:
    """Print the worst of all; 1 if any answer differs."""
    if not rows:
        print("no case has such a name")
        return 1
    for of, what in (("seconds", "time"), ("busy", "time of the processor")):
        _print_ratios([row for row in rows if row.before], of, what)
    worst_row = max(rows, key=lambda row: row.difference)
    changed = sum(row.difference > _TOLERANCE for row in rows)
    where = f" ({worst_row.name}: {worst_row.where})" if worst_row.where else ""
    print(f"largest difference {worst_row.difference:.1e}{where}")
    print(f"{len(rows) - changed} of {len(rows)} settings within {_TOLERANCE:g}: {'met' if not changed else 'NOT MET'}")
    return int(changed > 0)


def _print_ratios(rows: list[_Row], of: str, what: str) -> None:
    """The median of all, and the worst of those that take long enough to tell."""
    long = [row for row in rows if row.before["seconds"] >= _MOMENT]
    if rows:
        print(f"{what}, after / before: median {median(row.ratio(of) for row in rows):.2f}", end="")
        worst = max(long, key=lambda row: row.ratio(of), default=None)
        print(
            "" if worst is None else f", worst {worst.ratio(of):.2f} ({worst.name}) of those of {_MOMENT:g} s or more"
        )


def _row(name: str, workers: list["_Worker"], folder: Path, number: int) -> _Row:
    """The answers and times of a case in both versions."""
    paths = [folder / f"{version}.npz" for version in _VERSIONS]
    first = _turn(workers, name, paths, number)
    failed = [
        f"{version}: {said['failed']}" for version, said in zip(_VERSIONS, first, strict=True) if "failed" in said
    ]
    if failed:
        return _Row(name, np.inf, "; ".join(failed))
    answers = [_read(path, said["names"]) for path, said in zip(paths, first, strict=True)]
    turns = _timed(first, workers, name)
    took = [{of: median(turn[i][of] for turn in turns) for of in ("seconds", "busy", "bytes")} for i in (0, 1)]
    return _Row(name, *difference(*answers), *took)


def _timed(first: list[dict], workers: list["_Worker"], name: str) -> list[list[dict]]:
    """Turns to take the time of. The first one may have compiled something, and counts only where it is a long one."""
    before, after = (said["seconds"] for said in first)
    counted = [first] if workers[0].cases[name] and min(before, after) > _LONG else []
    if counted and _ALIKE[0] < after / before < _ALIKE[1]:
        return counted
    turns = _MORE_TURNS if max(before, after) < _MOMENT else _FEW_TURNS
    return counted + [_turn(workers, name, [None, None], i) for i in range(turns - len(counted))]


def _turn(workers: list["_Worker"], name: str, paths: list[Path | None], number: int) -> list[dict]:
    """The case in both versions, one after the other; the later one is first in every second turn."""
    order = (0, 1) if number % 2 == 0 else (1, 0)
    said = {i: workers[i].ask(name, paths[i]) for i in order}
    return [said[0], said[1]]


# --- differences ------------------------------------------------------------------------------------------------------


def difference(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> tuple[float, str]:
    """The largest difference of two sets of answers, relative to the largest value of each array, and where it is."""
    apart = {name: _apart(array, after[name]) for name, array in before.items() if name in after}
    apart |= dict.fromkeys(before.keys() - after.keys(), (np.inf, "is missing after"))
    apart |= dict.fromkeys(after.keys() - before.keys(), (np.inf, "is missing before"))
    apart = {name: found for name, found in apart.items() if found[0] > 0}
    worst_first = sorted(apart, key=lambda name: -apart[name][0])
    more = f" and {len(apart) - _NAMED} more" if len(apart) > _NAMED else ""
    where = ", ".join(f"{name} {apart[name][1]}" for name in worst_first[:_NAMED]) + more
    return max((size for size, _ in apart.values()), default=0.0), where


def _apart(before: np.ndarray, after: np.ndarray) -> tuple[float, str]:
    if before.shape != after.shape:
        return np.inf, f"has the shape {before.shape} before, {after.shape} after"
    if before.dtype.kind != after.dtype.kind or (before.dtype != after.dtype and before.dtype.kind != "U"):
        return np.inf, f"is of {before.dtype} before, of {after.dtype} after"
    if before.dtype.kind not in "fiu":
        n = int(np.sum(before != after))
        return (np.inf if n else 0.0), f"differs in {n} of {before.size}"
    finite = np.isfinite(before)
    if not np.array_equal(before[~finite], after[~finite], equal_nan=True) or not np.isfinite(after[finite]).all():
        return np.inf, "is finite in other places"
    a, b = before[finite].astype(float), after[finite].astype(float)
    size = float(np.max(np.abs(a - b), initial=0.0)) / (np.max(np.abs(a), initial=0.0) or 1.0)
    return size, f"differs by {size:.1e}"


def _read(path: Path, names: list[str]) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return {name: stored[str(i)] for i, name in enumerate(names)}


# --- processes --------------------------------------------------------------------------------------------------------


def _source(folder: Path) -> Path:
    """The folder from which a version is imported: `folder`, or src within it."""
    for source in (folder / "src", folder):
        if (source / "scca" / "__init__.py").exists():
            return source.resolve()
    raise SystemExit(f"{folder} has no scca, neither in it nor in its src: name a checkout of the earlier version")


class _Worker:
    """A process with one version of scca, which computes cases when told to."""

    def __init__(self, source: Path, corpus: list[str]):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks._unchanged_child", *corpus],
            cwd=_REPOSITORY,  # both versions are asked by the benchmarks that are beside this file
            env=os.environ | {"PYTHONPATH": str(source)},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started = self._answer()
        if not Path(started["from"]).is_relative_to(source):
            self.stop()
            raise SystemExit(f"scca was imported from {started['from']} instead of {source}")
        self.cases: dict[str, bool] = started["cases"]

    def ask(self, case: str, path: Path | None) -> dict:
        self._process.stdin.write(json.dumps({"case": case, "path": path and str(path)}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of a version ended with {self._process.wait()}")
        return json.loads(line)

    def stop(self) -> None:
        """Let it end by itself, since it may have processes of its own to end."""
        self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()


@contextmanager
def _versions(sources: tuple[Path, Path], corpus: list[str]) -> Iterator[list[_Worker]]:
    workers: list[_Worker] = []
    try:
        for source in sources:
            workers.append(_Worker(source, corpus))
        yield workers
    finally:
        for worker in workers:
            worker.stop()
