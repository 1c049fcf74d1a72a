"""Shared factors, sparse and dense, against kernel CCA with all words: mates found, words read."""

import warnings
from pathlib import Path

import numpy as np

from scca import KernelCCA, SparseCCA
from scca.datasets import load_trilingual
from scca.text import TextVectorizer, read_pairs

from ._table import print_table

__all__ = ["run"]

_REGULARIZATIONS = (0.03, 0.1, 0.2, 0.4, 0.7)
_SIZES = ((100, (20, 50)), (1000, (30,)))  # training pairs, and numbers of factors
_TEST = 500
_SPLITS = 2


def run(corpus_paths: tuple[Path, Path] | None = None) -> None:
    """Print errors, 1 - average precision, among documents that were not learnt from."""
    texts = _texts(corpus_paths)
    rows = []
    for n, counts in _SIZES:
        if 2 * n > len(texts[0]):
            continue
        for n_components in counts:
            found = [_errors(texts, n, n_components, seed) for seed in range(_SPLITS)]
            rows.append([str(n), str(n_components), *(f"{value:.3f}" for value in np.mean(found, axis=0))])
    header = ["pairs", "factors", "kernel CCA, its best", "dense", "sparse", "share of words read", "words a factor"]
    print_table("error of mates: 1 + log tf for all; kernel CCA at its best regularisation on the test", header, rows)


def _errors(texts: tuple[list[str], list[str]], n: int, n_components: int, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(texts[0]))
    train, test = order[:n], order[n : n + _TEST]
    vectorizers = [TextVectorizer(log_counts=True, min_df=2).fit([side[i] for i in train]) for side in texts]
    learnt, new = (
        [vectorizer.transform([side[i] for i in rows]) for vectorizer, side in zip(vectorizers, texts, strict=True)]
        for rows in (train, test)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel = min(1 - KernelCCA(n_components, regularization=r).fit(*learnt).score(*new) for r in _REGULARIZATIONS)
        dense, sparse = (
            SparseCCA(n_components, anchors=None, rendering=rendering, held_out=0).fit(*learnt)
            for rendering in ("dense", "sparse")
        )
    weights = sparse.x_weights_, sparse.y_weights_
    common = [np.diff(view.tocsc().indptr) >= 2 for view in learnt]  # words in two documents or more
    shares = [np.count_nonzero(w.any(axis=1)) / np.count_nonzero(c) for w, c in zip(weights, common, strict=True)]
    words = [np.median(np.count_nonzero(w, axis=0)) for w in weights]
    return [kernel, 1 - dense.score(*new), 1 - sparse.score(*new), float(np.mean(shares)), float(np.mean(words))]


def _texts(paths: tuple[Path, Path] | None) -> tuple[list[str], list[str]]:
    if paths is None:
        corpus = load_trilingual()
        return list(corpus.en), list(corpus.fr)
    pairs = read_pairs(*paths)
    return list(pairs.documents(0)), list(pairs.documents(1))
