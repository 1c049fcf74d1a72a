"""The paper's table and figures: their tasks, numbers and tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._corpus import Corpus
from ._generation import VARIATIONS, generate_path, generate_varied, generate_words, left_out
from ._retrieval import SPARSE, retrieve
from ._settings import Settings, Size

__all__ = ["METHODS", "NAMES", "Experiment", "Task", "paper_experiments"]

NAMES = ("figure1", "table1", "figure2", "figure3", "figure4", "figure5", "extra-errors", "extra-sparsity")
METHODS = {
    "scca": "sparse CCA",
    "kcca": "kernel CCA, regularisation 0.03",
    "kcca-tuned": "kernel CCA, regularisation tuned",
}

_CHUNK = 25  # left-out documents per task, so that a killed run loses little
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
        """Rows of CSV files, by the suffixes of their names."""

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
        rows = []
        for d in data["directions"]:
            for mu, selected, ratio in zip(d["mu"], d["selected"], d["ratio"], strict=True):
                rows.append({"from": d["from"], "to": d["to"], "mu": mu, "selected": selected, "ratio": ratio})
        return {"": rows}


class SelectionRatio(Experiment):
    """Table 1, in both directions, and the same with one thing changed at a time."""

    def tasks(self) -> list[Task]:
        documents = left_out(self.corpus, self.settings.left_out)
        tasks = []
        for side in (0, 1):
            for start in range(0, len(documents), _CHUNK):
                chunk = documents[start : start + _CHUNK]
                tasks.append(self._task(f"words-{side}-{chunk[0]}-{chunk[-1]}", generate_words, side, chunk))
        tasks += [self._task(f"varied-{v.name}", generate_varied, 0, v) for v in VARIATIONS]
        return tasks

    def data(self, results: list[dict[str, Any]]) -> dict[str, Any]:
        n_chunks = (len(results) - len(VARIATIONS)) // 2
        directions = [self._one_direction(side, results[side * n_chunks :][:n_chunks]) for side in (0, 1)]
        variations = []
        for variation, result in zip(VARIATIONS, results[2 * n_chunks :], strict=True):
            described = {"name": variation.name, "description": variation.description}
            variations.append(described | _described(result))
        return {"directions": directions, "varied": self._direction(0), "variations": variations}

    def _one_direction(self, side: int, results: list[dict[str, Any]]) -> dict[str, Any]:
        rows = [row for result in results for row in result["rows"]]
        mate = np.array([row["mate_words"] for row in rows])
        columns = {name: np.array([row[name] for row in rows]) for name in ("selected", "positive", "least_squares")}
        return self._direction(side) | {
            "documents": len(rows),
            "mate_words": _spread(mate),
            "selected": _spread(columns["selected"]),
            "automatic": _spread(columns["selected"] / mate),
            "positive": _spread(columns["positive"] / mate),
            "least_squares": _spread(columns["least_squares"] / mate),
            "correlation_with_length": _correlation(columns["selected"], mate),
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
    """Base of the figures of mate retrieval: random splits at one or more sizes."""

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
        panels, n = [], self.settings.splits
        for i, size in enumerate(self.sizes):
            splits = results[i * n :][:n]
            described = {"train": size.train, "test": size.test, "splits": n, "languages": list(self.corpus.languages)}
            panels.append(described | self.panel(splits))
        return {"panels": panels}

    @abstractmethod
    def panel(self, splits: list[dict[str, Any]]) -> dict[str, Any]: ...


class RetrievalError(Retrieval):
    """Figures 2 and 4: average precision error against the number of projections."""

    def panel(self, splits: Any) -> dict[str, Any]:
        methods = {name: _errors([split["methods"][name] for split in splits]) for name in METHODS}
        differences = {
            ours: {
                theirs: _paired([_both(s["methods"][ours]) - _both(s["methods"][theirs]) for s in splits])
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
        rows = []
        for panel in data["panels"]:
            for name, errors in (panel["methods"] | {"no-learning": panel["no-learning"]}).items():
                for j in range(len(errors["mean"])):
                    projections = panel["train"] if name == "no-learning" else j + 1
                    row = {"train": panel["train"], "test": panel["test"], "method": name, "projections": projections}
                    row |= {"error": errors["mean"][j], "std": errors["std"][j]}
                    for direction, label in (("a_to_b", "first_to_second"), ("b_to_a", "second_to_first")):
                        row |= {label: errors[direction]["mean"][j], f"{label}_std": errors[direction]["std"][j]}
                    rows.append(row)
        return {"": rows}


class Sparsity(Retrieval):
    """Figures 3 and 5: words and documents used against the number of projections."""

    def panel(self, splits: Any) -> dict[str, Any]:
        vocabulary = np.mean([split["vocabulary"] for split in splits], axis=0)
        used = {
            name: {method: _series([split[name][method] for split in splits]) for method in SPARSE}
            for name in ("words", "documents")
        }
        return used | {"vocabulary": vocabulary.tolist()}

    def tables(self, data: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
        rows = []
        for panel in data["panels"]:
            for method in SPARSE:
                for j in range(len(panel["words"][method]["mean"])):
                    row = {"train": panel["train"], "test": panel["test"], "method": method, "projections": j + 1}
                    for name in ("words", "documents"):
                        used = panel[name][method]
                        row |= {name: used["mean"][j], f"{name}_std": used["std"][j]}
                    rows.append(row)
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
    return _series([_both(curve) for curve in curves]) | directions


def _paired(differences: list[np.ndarray]) -> dict[str, list[float]]:
    """Mean difference and its standard error."""
    series = _series(differences)
    return {"mean": series["mean"], "standard_error": [std / np.sqrt(len(differences)) for std in series["std"]]}


def _correlation(a: np.ndarray, b: np.ndarray) -> float | None:
    return float(np.corrcoef(a, b)[0, 1]) if min(a.std(), b.std()) > 0 else None


def _described(result: dict[str, Any]) -> dict[str, Any]:
    mate, selected, positive = (
        np.array([row[name] for row in result["rows"]], dtype=float) for name in ("mate_words", "selected", "positive")
    )
    return {
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
        if isinstance(value, dict):
            flat |= {name: value["mean"], f"{name}_std": value["std"]}
        else:
            flat[name] = value
    return flat
