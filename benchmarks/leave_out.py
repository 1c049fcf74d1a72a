"""What settings are worth on corpora of families that had no part in choosing them."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scca import SparseCCA

from ._table import print_table
from ._texts import split_vectors, texts_of
from .factors import best_kernel_cca

__all__ = ["run"]

_SETTINGS: dict[str, dict] = {
    "as shipped": {},
    "mu halved": {"mu": "auto*0.5"},
    "mu doubled": {"mu": "auto*2"},
    "ridge .1": {"ridge": 0.1},
    "ridge 1": {"ridge": 1.0},
    "no feature weights": {"feature_weights": None},
}
_SIZES = ((100, 20), (1000, 30))  # training pairs and factors


@dataclass(frozen=True)
class _Corpus:
    family: str
    name: str
    paths: tuple[Path, Path]
    join: int


def run(listed: Path) -> None:
    """For each corpus of a list, the error of the setting that is best on the other families, beside the shipped one's.

    A line of the list has, separated by tabs: family, name, two files (relative to the list), lines a document.
    """
    corpora = [_corpus(line, listed.parent) for line in listed.read_text(encoding="utf-8").splitlines() if line.strip()]
    for n, n_components in _SIZES:
        errors, kernel = {}, {}
        for corpus in corpora:
            texts = texts_of(corpus.paths, corpus.join)
            if n + 100 > len(texts[0]):
                continue
            learnt, new = split_vectors(texts, n, seed=2)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                kernel[corpus] = best_kernel_cca(learnt, new, n_components)
                errors[corpus] = [
                    1 - SparseCCA(n_components, held_out=0, **settings).fit(*learnt).score(*new)
                    for settings in _SETTINGS.values()
                ]
        rows = []
        for corpus, found in errors.items():
            others = [np.log(np.maximum(values, 1e-4)) for c, values in errors.items() if c.family != corpus.family]
            best = int(np.argmin(np.mean(others, axis=0)))
            cells = (kernel[corpus], found[0], found[best])
            rows.append([corpus.name, *(f"{value:.4f}" for value in cells), list(_SETTINGS)[best]])
        header = ["corpus", "kernel CCA, its best", "as shipped", "chosen on other families", "which is"]
        print_table(f"error of mates, {n} pairs, {n_components} factors, one split", header, rows)


def _corpus(line: str, folder: Path) -> _Corpus:
    family, name, first, second, join = line.split("\t")
    return _Corpus(family, name, (folder / first, folder / second), int(join))
