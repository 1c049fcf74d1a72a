"""What a third language gains over two: mates of new documents by models of three languages and of each pair."""

import warnings
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np

from scca import MultiSparseCCA, SparseCCA
from scca.datasets import load_trilingual
from scca.kinds import TextVectorizer
from scca.readers import read_texts
from scca.retrieval import average_precision

from ._table import print_table

__all__ = ["run"]

_SIZES = ((100, 20), (100, 50), (200, 30), (1000, 30))  # number of training samples, and of components
_SPLITS = 6
_NEW = 500  # maximum number of new samples
_RENDERINGS = ("sparse", "dense")


def run(paths: list[Path] | None = None) -> None:
    """Print the errors, 1 - average precision, of every pair of languages: two views, three, and their difference."""
    texts = _texts_of(paths)
    names, n_all = list(texts), len(next(iter(texts.values())))
    rows = []
    for n, n_components in _SIZES:
        if n + 100 > n_all:
            continue
        for rendering in _RENDERINGS:
            found = [_errors(texts, n, n_components, rendering, seed) for seed in range(_SPLITS)]
            errors = np.array([errors for errors, _ in found])  # splits, pairs, (two views, three views)
            seconds = np.mean([seconds for _, seconds in found], axis=0)
            for pair, (first, second) in enumerate(combinations(names, 2)):
                two, three = errors[:, pair].T
                gain = three - two
                spread = gain.std(ddof=1) / np.sqrt(len(gain))
                cells = [f"{two.mean():.4f}", f"{three.mean():.4f}", f"{gain.mean():+.4f} ({spread:.4f})"]
                rows.append([f"{n}, {n_components}, {rendering}", f"{first}-{second}", *cells, f"{seconds[pair]:.2f}"])
    print_table(
        f"error of mates among new samples, {_SPLITS} splits: a model of the pair, and of all {len(names)} languages",
        ["samples, components", "pair", "two views", "all views", "difference (se)", "time ratio"],
        rows,
    )


def _texts_of(paths: list[Path] | None) -> dict[str, list[str]]:
    if paths is None:
        corpus = load_trilingual()
        return {language: list(corpus.texts(language)) for language in ("en", "fr", "es")}
    views = read_texts(*paths)
    return {language: list(views.documents(v)) for v, language in enumerate(views.languages)}


def _errors(
    texts: dict[str, list[str]], n: int, n_components: int, rendering: str, seed: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """For each pair the errors of two views and of all, and the time of all over that of two."""
    order = np.random.default_rng(seed).permutation(len(next(iter(texts.values()))))
    train, test = order[:n], order[n : n + _NEW]
    learnt, new = [], []
    for documents in texts.values():
        vectorizer = TextVectorizer.usual()
        learnt.append(vectorizer.fit_transform([documents[i] for i in train]))
        new.append(vectorizer.transform([documents[i] for i in test]))
    settings = {"rendering": rendering, "held_out": 0, "scale": "rows"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = perf_counter()
        scores = MultiSparseCCA(n_components, **settings).fit(learnt).transform(new)
        took = perf_counter() - start
        errors, ratios = [], []
        for v, u in combinations(range(len(learnt)), 2):
            start = perf_counter()
            pair = SparseCCA(n_components, **settings).fit(learnt[v], learnt[u])
            ratios.append(took / (perf_counter() - start))
            of_all = average_precision(scores[v], scores[u]).average_precision
            errors.append((1 - pair.score(new[v], new[u]), 1 - of_all))
    return errors, ratios
