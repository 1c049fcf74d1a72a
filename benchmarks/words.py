"""The default text model beside kernel CCA with all words: mates found, words read, on every corpus of a list."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from scca import SparseCCA

from ._table import print_table
from ._texts import Corpus, listed_corpora, split_vectors
from .factors import best_kernel_cca, reading

__all__ = ["run"]

_JOINED = ((100, 20), (100, 50), (1000, 30), (1000, 50))  # training pairs and factors, for documents
_SINGLE = (
    (300, 20),
    (1000, 30),
    (2000, 100),
)  # for documents that are single lines of a corpus whose lines are also joined


def run(listed: Path, n_splits: int, only: str = "", settings: dict[str, Any] | None = None) -> None:
    """Print errors, 1 - average precision, of random splits, with the standard error of their mean difference.

    `settings` are parameters of `SparseCCA` other than the default. A corpus of the list whose name ends in ", single"
    is of documents that are single lines.
    """
    rows = []
    for corpus in listed_corpora(listed):
        texts = corpus.texts()
        for n, n_components in _SINGLE if corpus.name.endswith(", single") else _JOINED:
            if n + 100 > len(texts[0]) or only not in f"{corpus.name} {n} {n_components}":
                continue
            found = np.array([_measured(texts, n, n_components, seed, settings or {}) for seed in range(n_splits)])
            rows.append(_row(corpus, n, n_components, found))
            print("  ".join(rows[-1]), flush=True)
    header = ["corpus", "pairs, factors", "kernel CCA", "scca", "scca / kernel CCA", "difference", "words read"]
    print_table(f"error of mates, mean of {n_splits} splits; kernel CCA at its best on the test", header, rows)


def _row(corpus: Corpus, n: int, n_components: int, found: np.ndarray) -> list[str]:
    kernel, ours, share = found.mean(axis=0)
    spread = (found[:, 1] - found[:, 0]).std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    cells = (
        f"{kernel:.4f}",
        f"{ours:.4f}",
        f"{ours / kernel:.2f}" if kernel else "",
        f"{ours - kernel:+.4f} ({spread:.4f})",
    )
    return [corpus.name, f"{n}, {n_components}", *cells, f"{share:.0%}"]


def _measured(texts, n: int, n_components: int, seed: int, settings: dict[str, Any]) -> tuple[float, float, float]:
    """Error of kernel CCA and of the model, and the share of the words that this reads."""
    learnt, new = split_vectors(texts, n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = best_kernel_cca(learnt, new, n_components, scale="rows")
        model = SparseCCA(n_components, held_out=0, **settings).fit(*learnt)
        return kernel, 1 - model.score(*new), reading(model)[0]
