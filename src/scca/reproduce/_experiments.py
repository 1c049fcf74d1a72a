"""The paper's table and figures: their tasks, numbers and tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._corpus import Corpus
from ._generated_words import VARIATIONS, Variation, generate_path, generate_varied, generate_words, left_out
from ._retrieval import SPARSE, retrieve
from ._run_settings import Settings, Size

__all__ = ["METHODS", "NAMES", "Experiment", "Task", "paper_experiments"]

NAMES = ("figure1", "table1", "figure2", "figure3", "figure4", "figure5", "extra-errors", "extra-sparsity")
METHODS = {
    "scca": "the paper's sparse CCA",
    "kcca": "kernel CCA, regularisation 0.03",
    "kcca-tuned": "kernel CCA, regularisation tuned",
    "shared": "shared factors (default of scca)",
}

_DOCUMENTS_PER_TASK = 25  # few, so that a killed run loses little
_PAPER_SIZES = {"figure2": (Size(50, 250), Size(100, 200)), "figure4": (Size(100, 900),)}


@dataclass(frozen=True)
class Task:
    """An atomic piece of work: `compute(corpus, settings, *arguments)` returns plain JSON."""

    key: str
    corpus: Corpus
    compute: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]


class Experiment(ABC):
    """One table or figure.

    `tasks` are independent of each other. `data` turns their results, in the same order, into the numbers for the
    figure, the tables and the comparison with the paper.
    """

    def __init__(self, name: str, title: str, corpus: Corpus, settings: Settings):
        self.name, self.title, self.corpus, self.settings = name, title, corpus, settings

    @abstractmethod
    def tasks(self) -> list[Task]: ...

    @abstractmethod
    def data(self, results: list[dict[str, Any]]) -> dict[str, Any]: ...

    @abstractmethod
    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        """The rows of each CSV file, by what its name has behind the name of the experiment."""

    def _task(self, what: str, compute: Callable[..., dict[str, Any]], *arguments: Any) -> Task:
        return Task(f"{self.corpus.name}-{what}", self.corpus, compute, arguments)

    def _direction(self, side: int) -> dict[str, Any]:
        return {"from": self.corpus.languages[1 - side], "to": self.corpus.languages[side]}


class GenerationPath(Experiment):
    """Figure 1, in both directions."""

    def tasks(self) -> list[Task]:
        return [self._task(f"path-{side}", generate_path, side) for side in (0, 1)]

    def data(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        directions = []
        for side, result in enumerate(results):
            ratio = [selected / result["mate_words"] for selected in result["selected"]]
            automatic = result["automatic_selected"] / result["mate_words"]
            directions.append(self._direction(side) | result | {"ratio": ratio, "automatic_ratio": automatic})
        return {"query": self.settings.query, "directions": directions}

    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        rows = [
            {"from": d["from"], "to": d["to"], "mu": mu, "selected": selected, "ratio": ratio}
            for d in data["directions"]
            for mu, selected, ratio in zip(d["mu"], d["selected"], d["ratio"], strict=True)
        ]
        return {"": rows}


class SelectionRatio(Experiment):
    """Table 1, in both directions, and the same with one thing changed at a time."""

    def tasks(self) -> list[Task]:
        documents = left_out(self.corpus, self.settings.left_out)
        tasks = []
        for side in (0, 1):
            for start in range(0, len(documents), _DOCUMENTS_PER_TASK):
                some = documents[start : start + _DOCUMENTS_PER_TASK]
                tasks.append(self._task(f"words-{side}-{some[0]}-{some[-1]}", generate_words, side, some))
        tasks += [self._task(f"varied-{v.name}", generate_varied, 0, v) for v in VARIATIONS]
        return tasks

    def data(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        n_tasks = (len(results) - len(VARIATIONS)) // 2  # of each direction
        directions = [self._direction_data(side, results[side * n_tasks :][:n_tasks]) for side in (0, 1)]
        variations = [
            _variation_data(variation, result)
            for variation, result in zip(VARIATIONS, results[2 * n_tasks :], strict=True)
        ]
        return {"directions": directions, "varied": self._direction(0), "variations": variations}

    def _direction_data(self, side: int, results: list[dict[str, Any]]) -> dict[str, Any]:
        rows = [row for result in results for row in result["rows"]]
        mate, selected, positive, dense = _columns(rows, "mate_words", "selected", "positive", "least_squares")
        correlation = float(np.corrcoef(selected, mate)[0, 1]) if min(selected.std(), mate.std()) > 0 else None
        return self._direction(side) | {
            "documents": len(rows),
            "mate_words": _spread(mate),
            "selected": _spread(selected),
            "automatic": _spread(selected / mate),
            "positive": _spread(positive / mate),
            "least_squares": _spread(dense / mate),
            "correlation_with_length": correlation,
            "rows": rows,
        }

    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        rows = [
            {"from": d["from"], "to": d["to"]} | row | {"ratio": row["selected"] / row["mate_words"]}
            for d in data["directions"]
            for row in d["rows"]
        ]
        return {"": rows, "-variations": [_flat(variation) for variation in data["variations"]]}


class Retrieval(Experiment):
    """A figure of mate retrieval, from random splits at one or more sizes."""

    def __init__(self, name: str, title: str, corpus: Corpus, settings: Settings, sizes: Sequence[Size]):
        super().__init__(name, title, corpus, settings)
        self.sizes = list(dict.fromkeys(sizes))

    def tasks(self) -> list[Task]:
        return [
            self._task(f"split-{size.train}-{size.test}-{split}", retrieve, size, split)
            for size in self.sizes
            for split in range(self.settings.splits)
        ]

    def data(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        n, languages = self.settings.splits, list(self.corpus.languages)
        panels = [
            {"train": size.train, "test": size.test, "splits": n, "languages": languages}
            | self.panel(results[i * n :][:n])
            for i, size in enumerate(self.sizes)
        ]
        return {"panels": panels}

    @abstractmethod
    def panel(self, splits: list[dict[str, Any]]) -> dict[str, Any]:
        """The numbers of one size, from the results of its splits."""


class RetrievalError(Retrieval):
    """Figures 2 and 4: average precision error against the number of projections."""

    def panel(self, splits: Any) -> dict[str, Any]:
        methods = {name: _errors([split["methods"][name] for split in splits]) for name in METHODS}
        differences = {
            ours: {
                theirs: _paired([s["methods"][ours] for s in splits], [s["methods"][theirs] for s in splits])
                for theirs in ("kcca", "kcca-tuned")
            }
            for ours in SPARSE
        }
        chosen = np.median([split["regularization"] for split in splits], axis=0)
        return {
            "methods": methods,
            "no-learning": _errors([split["no-learning"] for split in splits]),
            "differences": differences,
            "median_regularization": chosen.tolist(),
        }

    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        rows = [
            _row(panel, name, projections)
            | {"error": errors["mean"][j], "std": errors["std"][j]}
            | _mean_and_std("first_to_second", errors["a_to_b"], j)
            | _mean_and_std("second_to_first", errors["b_to_a"], j)
            for panel in data["panels"]
            for name, errors in (panel["methods"] | {"no-learning": panel["no-learning"]}).items()
            for j, projections in enumerate(errors["projections"])
        ]
        return {"": rows}


class Sparsity(Retrieval):
    """Figures 3 and 5: words and documents used against the number of projections."""

    def panel(self, splits: Any) -> dict[str, Any]:
        vocabulary = np.mean([split["vocabulary"] for split in splits], axis=0)
        used = {
            name: {
                method: _projections([split["methods"][method] for split in splits])
                | _series([split[name][method] for split in splits])
                for method in splits[0][name]
            }
            for name in ("words", "documents")
        }
        return used | {"vocabulary": vocabulary.tolist()}

    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        rows = [
            _row(panel, method, projections)
            | _mean_and_std("words", words, j)
            | _mean_and_std("documents", panel["documents"].get(method), j)
            for panel in data["panels"]
            for method, words in panel["words"].items()
            for j, projections in enumerate(words["projections"])
        ]
        return {"": rows}


def paper_experiments(french: Corpus, spanish: Corpus, settings: Settings) -> list[Experiment]:
    """Section 5 on the substitutes for the English-French and English-Spanish corpora, which may be the same."""
    fr_sizes = [size.within(len(french)) for size in _PAPER_SIZES["figure2"]]
    es_sizes = [size.within(len(spanish)) for size in _PAPER_SIZES["figure4"]]
    experiments = [
        GenerationPath("figure1", "Figure 1: words generated for one query", french, settings),
        SelectionRatio("table1", "Table 1: words generated, every pair left out in turn", french, settings),
        RetrievalError("figure2", "Figure 2: mates found", french, settings, fr_sizes),
        Sparsity("figure3", "Figure 3: words and documents used", french, settings, fr_sizes[:1]),
        RetrievalError("figure4", "Figure 4: mates found, many words", spanish, settings, es_sizes),
        Sparsity("figure5", "Figure 5: words and documents used, many words", spanish, settings, es_sizes),
    ]
    if settings.sizes:
        for size in settings.sizes:
            if size.train + size.test > len(french):
                raise ValueError(f"the size {size} needs {size.train + size.test} documents; there are {len(french)}.")
        experiments += [
            RetrievalError("extra-errors", "Other sizes: mates found", french, settings, settings.sizes),
            Sparsity("extra-sparsity", "Other sizes: words and documents used", french, settings, settings.sizes),
        ]
    return experiments


# --- summaries -----------------------------------------------------------------------------------------------------


def _spread(values: Any) -> dict[str, float]:
    """Mean and standard deviation."""
    values = np.asarray(values, dtype=float)
    return {"mean": float(values.mean()), "std": float(values.std(ddof=1)) if len(values) > 1 else 0.0}


def _series(values: Any) -> dict[str, list[float]]:
    """Mean and standard deviation over the first axis, for each number of projections."""
    spreads = [_spread(column) for column in np.asarray(values, dtype=float).T]
    return {name: [spread[name] for spread in spreads] for name in ("mean", "std")}


def _both(curve: dict[str, Any]) -> np.ndarray:
    return (np.asarray(curve["a_to_b"]) + np.asarray(curve["b_to_a"])) / 2


def _errors(curves: list[dict[str, Any]]) -> dict[str, Any]:
    directions = {name: _series([curve[name] for curve in curves]) for name in ("a_to_b", "b_to_a")}
    return _projections(curves) | _series([_both(curve) for curve in curves]) | directions


def _paired(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Mean difference of the errors of two methods and its standard error, for each of our numbers of projections."""
    at = [theirs[0]["projections"].index(number) for number in ours[0]["projections"]]
    series = _series([_both(one) - _both(other)[at] for one, other in zip(ours, theirs, strict=True)])
    errors = [std / np.sqrt(len(ours)) for std in series["std"]]
    return _projections(ours) | {"mean": series["mean"], "standard_error": errors}


def _projections(curves: list[dict[str, Any]]) -> dict[str, list[int]]:
    """The numbers of projections of a curve, which are the same in all splits."""
    return {"projections": curves[0]["projections"]}


def _columns(rows: list[dict[str, Any]], *names: str) -> list[np.ndarray]:
    return [np.array([row[name] for row in rows], dtype=float) for name in names]


def _variation_data(variation: Variation, result: dict[str, Any]) -> dict[str, Any]:
    mate, selected, positive = _columns(result["rows"], "mate_words", "selected", "positive")
    return {
        "name": variation.name,
        "description": variation.description,
        "n_training": result["n_training"],
        "n_words": result["n_words"],
        "mate_words": _spread(mate),
        "selected": _spread(selected),
        "ratio": _spread(selected / mate),
        "positive_ratio": _spread(positive / mate),
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with means and standard deviations as separate columns."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        flat |= {name: value["mean"], f"{name}_std": value["std"]} if isinstance(value, dict) else {name: value}
    return flat


def _row(panel: dict[str, Any], method: str, projections: int) -> dict[str, Any]:
    return {"train": panel["train"], "test": panel["test"], "method": method, "projections": projections}


def _mean_and_std(name: str, series: dict[str, Any] | None, j: int) -> dict[str, float | None]:
    """Two cells of a row; empty ones if there is no such series."""
    if series is None:
        return {name: None, f"{name}_std": None}
    return {name: series["mean"][j], f"{name}_std": series["std"][j]}
