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
_SHORT = ((2000, (200,)),)  # instead, where documents are single lines of which there is nothing to be left out
_TEST = 500
_SPLITS = 2

Texts = tuple[list[str], list[str]]


def run(corpus_paths: tuple[Path, Path] | None = None, joined: int = 1, short: bool = False) -> None:
    """Print errors, 1 - average precision, among documents that were not learnt from; `joined` lines are a document."""
    texts = _texts(corpus_paths, joined)
    rows = []
    for n, counts in _SHORT if short else _SIZES:
        if n + 100 > len(texts[0]):
            continue
        for n_components in counts:
            found = [_errors(texts, n, n_components, seed) for seed in range(_SPLITS)]
            rows.append([str(n), str(n_components), *(f"{value:.4f}" for value in np.mean(found, axis=0))])
    header = ["pairs", "factors", "kernel CCA", "weighted", "dense", "sparse", "share of words read", "words a factor"]
    title = "error of mates; kernel CCA, without and with feature weights, at its best regularisation on the test"
    print_table(title, header, rows)


def _errors(texts: Texts, n: int, n_components: int, seed: int) -> list[float]:
    order = np.random.default_rng(seed).permutation(len(texts[0]))
    train, test = order[:n], order[n : n + _TEST]
    vectorizers = [TextVectorizer(log_counts=True, min_df=2).fit([side[i] for i in train]) for side in texts]
    learnt, new = (
        [vectorizer.transform([side[i] for i in rows]) for vectorizer, side in zip(vectorizers, texts, strict=True)]
        for rows in (train, test)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel, weighted = (
            min(
                1 - KernelCCA(n_components, regularization=r, feature_weights=weights).fit(*learnt).score(*new)
                for r in _REGULARIZATIONS
            )
            for weights in (None, "shared")
        )
        dense, sparse = (
            SparseCCA(n_components, anchors=None, rendering=rendering, held_out=0).fit(*learnt)
            for rendering in ("dense", "sparse")
        )
    weights = sparse.x_weights_, sparse.y_weights_
    shares = [np.count_nonzero(w.any(axis=1)) / len(w) for w in weights]
    words = [np.median(np.count_nonzero(w, axis=0)) for w in weights]
    errors = [kernel, weighted, 1 - dense.score(*new), 1 - sparse.score(*new)]
    return [*errors, float(np.mean(shares)), float(np.mean(words))]


def _texts(paths: tuple[Path, Path] | None, joined: int) -> Texts:
    if paths is None:
        corpus = load_trilingual()
        texts = list(corpus.en), list(corpus.fr)
    else:
        pairs = read_pairs(*paths)
        texts = list(pairs.documents(0)), list(pairs.documents(1))
    first, second = (
        [" ".join(side[start : start + joined]) for start in range(0, len(side) - joined + 1, joined)] for side in texts
    )
    return first, second
