"""The constants behind the defaults, on families of corpora that were not used to choose them."""

import contextlib
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from unittest import mock

import numpy as np

from scca import SparseCCA

from ._table import print_table
from ._texts import Corpus, Vectors, listed_corpora, split_vectors
from .factors import best_kernel_cca, plain_idf, reading

__all__ = ["run"]

# a constant (of a module, or a parameter of SparseCCA) and its values, the shipped one first
_CONSTANTS: dict[str, tuple] = {
    "scca.factors.constants.PENALTY_SHARE": (0.15, 0.08, 0.3),
    "scca.factors.constants.WEIGHT_RIDGE": (4.0, 2.0, 8.0),
    "scca.factors.constants.UNEXPLAINED": (1.0, 0.0, 2.0),
    "scca.factors.constants.RIDGE": (0.25, 0.1, 0.6),
    "scca.factors.constants.MOST_POWER": (0.25, 0.15, 0.4),
    "scca.factors.constants.LEAST_R2": (0.02, 0.005, 0.08),
    "scca.factors.constants.BUDGET_ERRORS": ((1.0, 2.0), (1.0, 1.0), (1.0, 3.0)),
    "scca.factors.constants.LEAST_BUDGET": (0.15, 0.1, 0.2),
    "scca.factors.constants.JOINT_RIDGE": (0.25, 0.12, 0.5),
    "scca.factors.constants.ROW_DAMPING": (0.1, 0.03, 0.3),
    "idf": ("smooth", "plain"),
}
_SIZES = ((100, 20), (1000, 30))  # training pairs and factors
_SEED = 2
_LEAST_ERROR = 1e-4  # smaller errors are treated as equal

Constants = dict[str, object]
Splits = dict[str, tuple[Vectors, Vectors]]  # of one corpus, by the kind of idf


def run(listed: Path) -> None:
    """For each corpus of a list, the error with constants chosen on the other families, and with the shipped ones.

    One constant at a time is changed from its shipped value; of its values, the one with the least mean log error over
    the corpora of the other families is chosen, and a corpus is then fitted with all that were chosen without it.

    A line of the list is described at `listed_corpora`.
    """
    corpora = listed_corpora(listed)
    for n, n_components in _SIZES:
        splits = {corpus: found for corpus in corpora if (found := _splits(corpus, n)) is not None}
        errors = {corpus: _errors(found, n_components) for corpus, found in splits.items()}
        rows = []
        for corpus, found in splits.items():
            others = [errors[other] for other in splits if other.family != corpus.family]
            chosen = {name: _best(name, others) for name in _CONSTANTS}
            error, share, _ = _fit(chosen, found, n_components)
            shipped, shipped_share, _ = _fit({}, found, n_components)
            changed = [f"{name.split('.')[-1]} {value}" for name, value in chosen.items() if value != _shipped(name)]
            cells = best_kernel_cca(*found["plain"], n_components), shipped, error, shipped_share, share
            rows.append([corpus.name, *(f"{cell:.4f}" for cell in cells), ", ".join(changed)])
        print_table(
            f"error of mates, {n} pairs, {n_components} factors, one split",
            ["corpus", "kernel CCA, its best", "shipped", "chosen elsewhere", "words", "words, chosen", "changed"],
            rows,
        )


def _splits(corpus: Corpus, n: int) -> Splits | None:
    texts = corpus.texts()
    if n + 100 > len(texts[0]):
        return None
    smooth = split_vectors(texts, n, _SEED)
    return {"smooth": smooth, "plain": plain_idf(*smooth)}


def _errors(splits: Splits, n_components: int) -> dict[tuple[str, object], float]:
    """Of one corpus, for every value of every constant."""
    shipped = _fit({}, splits, n_components)[0]
    return {
        (name, value): shipped if value == _shipped(name) else _fit({name: value}, splits, n_components)[0]
        for name, values in _CONSTANTS.items()
        for value in values
    }


def _best(name: str, errors: list[dict[tuple[str, object], float]]):
    return min(_CONSTANTS[name], key=lambda value: np.mean([np.log(max(e[name, value], _LEAST_ERROR)) for e in errors]))


def _shipped(name: str):
    return _CONSTANTS[name][0]


def _fit(constants: Constants, splits: Splits, n_components: int) -> tuple[float, float, float]:
    """The error, the share of the words that are read, and the median of words per factor and language."""
    learnt, new = splits[str(constants.get("idf", "smooth"))]
    with _set(constants), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseCCA(n_components, held_out=0).fit(*learnt)
        return 1 - model.score(*new), *reading(model)


@contextlib.contextmanager
def _set(constants: Constants) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for name, value in constants.items():
            if name != "idf":
                module, _, attribute = name.rpartition(".")
                stack.enter_context(mock.patch.object(import_module(module), attribute, value))
        yield
