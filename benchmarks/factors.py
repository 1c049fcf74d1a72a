"""Shared factors, sparse and dense, against kernel CCA with all words: mates found, words read."""

import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from scca import KernelCCA, SparseCCA

from ._table import print_table
from ._texts import Texts, Vectors, split_vectors, texts_of

__all__ = ["best_kernel_cca", "plain_idf", "reading", "run"]

_REGULARIZATIONS = (0.05, 0.1, 0.2, 0.4, 0.7)
_SIZES = ((100, (5, 10, 20, 50)), (1000, (30,)))  # training pairs, and numbers of factors
_SHORT = ((2000, (100,)),)  # instead, where documents are single lines of which there is nothing to be left out
_SPLITS = 2


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1, short: bool = False) -> None:
    """Print errors, 1 - average precision, among documents that were not learnt from."""
    texts = texts_of(corpus_paths, join)
    rows = []
    for n, counts in _SHORT if short else _SIZES:
        if n + 100 > len(texts[0]):
            continue
        for n_components in counts:
            found = [_errors(texts, n, n_components, seed) for seed in range(_SPLITS)]
            rows.append([f"{n}, {n_components}", *(f"{value:.4f}" for value in np.mean(found, axis=0))])
    header = [
        "pairs, factors",
        "plain",
        "kernel CCA",
        "weighted",
        "dense",
        "sparse",
        "share of words",
        "words per factor",
    ]
    title = "error of mates; kernel CCA with log(n / df), with the same vectors, and with feature weights, at its best "
    print_table(f"{title}regularisation on the test", header, rows)


def _errors(texts: Texts, n: int, n_components: int, seed: int) -> list[float]:
    learnt, new = split_vectors(texts, n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = best_kernel_cca(*plain_idf(learnt, new), n_components)
        kernel = best_kernel_cca(learnt, new, n_components)
        weighted = best_kernel_cca(learnt, new, n_components, feature_weights="shared")
        dense = SparseCCA(n_components, rendering="dense", held_out=0).fit(*learnt)
        sparse = SparseCCA(n_components, rendering="sparse", held_out=0).fit(*learnt)
    return [plain, kernel, weighted, 1 - dense.score(*new), 1 - sparse.score(*new), *reading(sparse)]


def best_kernel_cca(learnt: Vectors, new: Vectors, n_components: int, **settings) -> float:
    """The least error over the regularisations, on the test itself."""
    models = (KernelCCA(n_components, regularization=r, **settings) for r in _REGULARIZATIONS)
    return min(1 - model.fit(*learnt).score(*new) for model in models)


def reading(model: SparseCCA) -> tuple[float, float]:
    """The share of the words that are read, and the median of words per factor and language."""
    weights = model.x_weights_, model.y_weights_
    shares = [np.count_nonzero(w.any(axis=1)) / len(w) for w in weights]
    words = [np.median(np.count_nonzero(w, axis=0)) for w in weights]
    return float(np.mean(shares)), float(np.mean(words))


def plain_idf(learnt: Vectors, new: Vectors) -> tuple[Vectors, Vectors]:
    """The same with log(n / df) instead of log((1 + n) / (1 + df)) + 1."""
    scales = []
    for vectors in learnt:
        n, frequency = vectors.shape[0], np.diff(vectors.tocsc().indptr)
        scales.append(sp.diags_array(np.log(n / frequency) / (np.log((1 + n) / (1 + frequency)) + 1)))
    first, second = ([(v @ scale).tocsr() for v, scale in zip(views, scales, strict=True)] for views in (learnt, new))
    return first, second
