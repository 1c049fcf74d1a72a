"""What was measured so far, as JSON: written after every measurement, so that a run can be interrupted and resumed."""

import hashlib
import json
import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["PACKAGES", "Results", "about", "version_of"]

PACKAGES = (
    *("scca", "numpy", "scipy", "numba", "scikit-learn", "celer", "skglm", "cvxpy", "clarabel", "cca-zoo"),
    *("sparsecca", "faiss-cpu"),
)
_ROOT = Path(__file__).parents[1]


class Results:
    """Measurements by kind and name, kept in `folder`/results.json.

    What is there is kept if it was measured by the same code, versions, machine and settings (`about`, but for the
    date), and otherwise put aside as results-before.json. `show` is given everything after each measurement.
    """

    def __init__(self, folder: Path, about: dict, *, fresh: bool = False, show: Callable[[dict, Path], None]):
        self._path, self._show = folder / "results.json", show
        folder.mkdir(parents=True, exist_ok=True)
        self.data: dict = {"about": about, "growth": {}, "tables": {}}
        if self._path.exists():
            before = json.loads(self._path.read_text(encoding="utf-8"))
            if not fresh and _undated(before["about"]) == _undated(about):
                self.data = before
            else:
                self._path.replace(folder / "results-before.json")

    def get(self, kind: str, name: str, measure: Callable[[], object]):
        """What was measured under this name, now or before."""
        found = self.data[kind]
        if name not in found:
            found[name] = measure()
            self._write()
        return found[name]

    def _write(self) -> None:
        draft = self._path.with_suffix(".part")
        draft.write_text(json.dumps(self.data, indent=1), encoding="utf-8")
        draft.replace(self._path)
        self._show(self.data, self._path.parent)


def about(settings: dict) -> dict:
    """Code, versions, machine, date and settings of a run."""
    digest = hashlib.sha256()
    for path in sorted(path for folder in ("src", "benchmarks") for path in (_ROOT / folder).rglob("*.py")):
        digest.update(path.read_bytes())
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory": _memory(),
        "versions": {package: version_of(package) for package in PACKAGES},
        "code": digest.hexdigest()[:12],
        "settings": settings,
    }


def version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _memory() -> int | None:
    """Bytes of the machine, where it says so."""
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _undated(about: dict) -> dict:
    return {name: value for name, value in about.items() if name != "date"}
