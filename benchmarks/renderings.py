"""The renderings beside each other: mates found, correlations on samples left out, features read and weighed."""

import warnings
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from scca import SparseCCA

from ._table import print_table
from ._texts import listed_corpora, split_vectors
from .factors import best_kernel_cca
from .scaling import correlations_of, tables_of

__all__ = ["run"]

_RENDERINGS = ("auto", "joint", "sparse", "dense")
_SIZES = ((100, 20), (1000, 30))  # training pairs and factors, for texts
_COMPONENTS = 5  # for tables
_LEFT_OUT = 0.2
_JOBS = 2


def run(listed: Path | None, tables: Sequence[Path] | None, n_splits: int) -> None:
    """Print a table for every corpus of a list and every pair of matrices in .npz files, means of random splits."""
    for corpus in listed_corpora(listed) if listed else ():
        texts = corpus.texts()
        for n, n_components in _SIZES:
            if n + 100 <= len(texts[0]):
                splits = (split_vectors(texts, n, seed) for seed in range(n_splits))
                found = [_measured(*split, n_components) for split in splits]
                _print_means(f"{corpus.name}: {n} pairs, {n_components} components", found)
    for path in tables or ():
        for (one, X), (other, Y) in combinations(tables_of(path).items(), 2):
            if len(X) == len(Y):
                found = Parallel(n_jobs=_JOBS)(delayed(_of_table)(X, Y, seed) for seed in range(n_splits))
                _print_means(f"{path.stem}: {one} {X.shape}, {other} {Y.shape}", found)


def _print_means(title: str, found: list[dict[str, tuple]]) -> None:
    rows = []
    for name in found[0]:
        precision, first, mean, read, weighed, chosen = zip(*(split[name] for split in found), strict=True)
        spread = np.std(precision, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
        cells = f"{np.mean(precision):.3f} ({spread:.3f})", f"{np.mean(first):.3f}", f"{np.mean(mean):.3f}"
        rows.append([name, *cells, f"{np.mean(read):.0%}", f"{np.mean(weighed):.0f}", chosen[0]])
    header = ["rendering", "precision of mates", "first correlation", "mean", "features read", "weights", "is"]
    print_table(f"{title}, {len(found)} splits", header, rows)


def _of_table(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[str, tuple]:
    test, train = np.split(np.random.default_rng(seed).permutation(len(X)), [int(_LEFT_OUT * len(X))])
    n_components = min(_COMPONENTS, X.shape[1], Y.shape[1])
    return _measured((X[train], Y[train]), (X[test], Y[test]), n_components)


def _measured(learnt: Any, new: Any, n_components: int) -> dict[str, tuple]:
    """Of each rendering: precision, first and mean correlation, share of features read, weights, what "auto" is."""
    warnings.simplefilter("ignore")
    found: dict[str, tuple] = {}
    for rendering in _RENDERINGS:
        model = SparseCCA(n_components, rendering=rendering, held_out=0).fit(*learnt)
        correlations = np.zeros(n_components)
        correlations[: model.n_components_] = correlations_of(*model.transform_pair(*new))
        read = sum(model.n_read_) / sum(each.shape[1] for each in learnt)
        weighed = np.median([np.count_nonzero(weights, axis=0) for weights in model.weights_])
        measured = float(correlations[0]), float(correlations.mean()), read, weighed, ", ".join(model.rendering_)
        found[rendering] = (model.score(*new), *measured)
    kernel = 1.0 - best_kernel_cca(*([list(views) for views in (learnt, new)]), n_components, scale="auto")
    found["kernel CCA"] = (kernel, np.nan, np.nan, 1.0, np.nan, "best on the test")
    return found
