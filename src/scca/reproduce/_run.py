"""Runs that can be interrupted: each finished task is a file, and a second run computes only the other tasks."""

import csv
import io
import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .._drawing import to_png, to_svg
from .._files import atomic_write
from .._pages import check_page_tools
from .._version import __version__
from ..parallel import Progress, check_n_jobs, run_tasks
from ._corpus import Corpus
from ._experiments import NAMES, Experiment, Task, paper_experiments
from ._figures import draw
from ._page import write_pages
from ._run_settings import Settings

__all__ = ["Results", "reproduce"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "matplotlib")
_DIGITS = 7  # significant digits in tables and JSON; so many are the same on all machines


@dataclass(frozen=True)
class Results:
    """The results of a run, written to its folder.

    Attributes
    ----------
    folder : Path
    data : dict
        The numbers of every finished experiment by its name.
    manifest : dict
    """

    folder: Path
    data: dict[str, dict[str, Any]]
    manifest: dict[str, Any]


def reproduce(
    folder: str | Path,
    french: Corpus,
    spanish: Corpus,
    settings: Settings,
    *,
    only: Sequence[str] = (),
    jobs: int = 1,
    command: str = "",
    progress: Progress | None = None,
) -> Results:
    """Run the experiments of Section 5 and write numbers, figures and one page to `folder`.

    Parameters
    ----------
    folder : path
        Created if missing. Finished tasks in it are not repeated; a folder of another run is refused.
    french, spanish : Corpus
        Substitutes for the paper's English-French and English-Spanish corpora; may be the same.
    settings : Settings
    only : sequence of str
        Names of the experiments to run; all by default. Experiments finished before stay on the page.
    jobs : int
        Tasks computed in parallel. The results do not depend on it.
    command : str
        The command shown on the page.
    progress : callable, optional
        Called with the number of tasks done and the total.

    Returns
    -------
    Results
    """
    check_n_jobs(jobs, "jobs")
    check_page_tools("reproduced figures")
    experiments = paper_experiments(french, spanish, settings)
    wanted = _chosen(experiments, only)
    store = _Store(Path(folder), manifest(french, spanish, settings, command))
    tasks = {task.key: task for experiment in wanted for task in experiment.tasks()}  # some experiments share tasks
    _compute(list(tasks.values()), settings, store, jobs, progress)

    data = {}
    for experiment in experiments:
        results = [result for task in experiment.tasks() if (result := store.result(task)) is not None]
        if len(results) == len(experiment.tasks()):
            data[experiment.name] = _rounded(experiment.data(results))
    finished = [experiment for experiment in experiments if experiment.name in data]
    figures = {}
    for experiment in finished:
        numbers, name = data[experiment.name], experiment.name
        figure = draw(experiment, numbers)
        figures[name] = to_svg(figure)
        store.write(f"{name}.json", _json(numbers))
        store.write(f"{name}.svg", figures[name])
        store.write(f"{name}.png", to_png(figure))
        for ending, rows in experiment.tables(numbers).items():
            store.write(f"{name}{ending}.csv", _csv(rows))
    write_pages(store.write, finished, data, figures, store.manifest)
    return Results(store.folder, data, store.manifest)


def manifest(french: Corpus, spanish: Corpus, settings: Settings, command: str) -> dict[str, Any]:
    """Everything that the numbers depend on: versions, seed, settings and corpora."""
    corpora = {corpus.name: corpus for corpus in (french, spanish)}
    return {
        "command": command,
        "scca": __version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
        "settings": settings.as_dict(),
        "corpora": {
            name: {
                "languages": list(corpus.languages),
                "pairs": corpus.n_pairs,
                "documents_used": len(corpus),
                "words": list(corpus.n_words),
                "sha256": list(corpus.sha256),
            }
            for name, corpus in corpora.items()
        },
        "roles": {"english-french": french.name, "english-spanish": spanish.name},
    }


def _chosen(experiments: list[Experiment], only: Sequence[str]) -> list[Experiment]:
    available = {experiment.name: experiment for experiment in experiments}
    for name in only:
        if name not in available:
            hint = "; give --size TRAIN/TEST" if name in NAMES else ""
            raise ValueError(f"there is no experiment {name!r}; choose from {', '.join(available)}{hint}.")
    return [experiment for experiment in experiments if not only or experiment.name in only]


class _Store:
    """The folder of a run: a manifest that identifies it, finished tasks under `work`, and the results."""

    def __init__(self, folder: Path, manifest: dict[str, Any]):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file; name a folder.")
        self.folder, self.manifest = folder, manifest
        self._refuse_other_run()
        (folder / "work").mkdir(parents=True, exist_ok=True)
        self.write("manifest.json", _json(manifest))

    def _refuse_other_run(self) -> None:
        path = self.folder / "manifest.json"
        if not path.exists():
            return
        there = _read(path) or {}
        for name, value in json.loads(json.dumps(self.manifest)).items():
            if name != "command" and there.get(name) != value:
                what = _difference(there.get(name), value, name)
                raise ValueError(f"{self.folder} holds a run with {what}; name another folder, or remove it.")

    def result(self, task: Task) -> dict[str, Any] | None:
        """The result of a task; None if it is not done, or if its file is damaged."""
        return _read(self.folder / "work" / f"{task.key}.json")

    def keep(self, task: Task, result: dict[str, Any]) -> None:
        self.write(f"work/{task.key}.json", json.dumps(result))

    def write(self, name: str, content: str | bytes) -> None:
        with atomic_write(self.folder / name) as file:
            file.write(content.encode() if isinstance(content, str) else content)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _difference(there: Any, here: Any, name: str) -> str:
    """The innermost difference between two manifests."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in {**here, **there}:
            if there.get(key) != here.get(key):
                return _difference(there.get(key), here.get(key), key)
    return f"other {name} ({there} there, {here} here)"


def _compute(tasks: list[Task], settings: Settings, store: _Store, jobs: int, progress: Progress | None) -> None:
    """Compute the tasks that have no result yet, and store their results."""
    missing = [task for task in tasks if store.result(task) is None]

    def report(done: int, _: int = 0) -> None:
        if progress is not None:
            progress(len(tasks) - len(missing) + done, len(tasks))

    report(0)
    run_tasks(
        partial(_result, settings),
        missing,
        len(missing),
        "tasks",
        n_jobs=jobs,
        progress=report,
        finished=lambda position, result: store.keep(missing[position], result),
    )


def _result(settings: Settings, task: Task) -> dict[str, Any]:
    return task.compute(task.corpus, settings, *task.arguments)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rounded(rows))
    return text.getvalue()
