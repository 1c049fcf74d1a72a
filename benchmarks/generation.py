"""Words generated for unseen documents: how many of the first twelve their true mates have."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from scca.anchored import Generator
from scca.readers import PairedText
from scca.text import BilingualModel, TextVectorizer

from ._table import print_table
from ._texts import Texts, texts_of

__all__ = ["run"]

_FEW, _MANY = 200, 1000  # training pairs: of a corpus of at most 1,000 documents, and of others
_QUERIES = 300  # at most
_LISTED = 12
_COMMON = 0.25  # of all documents: a word in more of them counts as a function word
_MOST = 20_000  # documents, drawn at random, from which function words are found


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1) -> None:
    """Print, both directions averaged, what share of the words listed is in the mate."""
    texts = _drawn(texts_of(corpus_paths, join))
    n = _FEW if len(texts[0]) <= _MANY else _MANY
    train, test = ([side[rows] for side in texts] for rows in (slice(n), slice(n, n + _QUERIES)))
    model = BilingualModel(random_state=0).fit(PairedText.of(*train, ("first", "second")))
    found: dict[str, list[tuple[float, ...]]] = {}
    for side in (0, 1):
        frequent = _frequencies(texts[1 - side], model.vectorizers_[1 - side].words_) > _COMMON
        mates = model.vectorize(test[1 - side], model.languages_[1 - side]).toarray() > 0
        for name, weights in _methods(model, test[side], side).items():
            found.setdefault(name, []).append(_judged(weights, mates, frequent))
    corpus = corpus_paths[0].name.split(".")[0] if corpus_paths else "the built-in corpus"
    joined = f", {join} lines joined" if join > 1 else ""
    title = f"{corpus}{joined}: {n} pairs to learn from, {len(test[0])} unseen queries in both directions"
    header = ["method", f"first {_LISTED} words", f"first {_LISTED} content words", "function words among the first"]
    print_table(title, header, [[name, *(f"{x:.3f}" for x in np.mean(rows, axis=0))] for name, rows in found.items()])


def _methods(model: BilingualModel, queries: list[str], side: int) -> dict[str, np.ndarray]:
    """Weights of all words of the other language, one row per query."""
    source, target = model.training_[side], model.training_[1 - side]
    asked, mates = model.vectorize(queries, model.languages_[side]), normalize(target)
    methods = {"most frequent words": np.tile((target != 0).sum(axis=0), (len(queries), 1)).astype(np.float64)}
    similar = np.maximum((normalize(asked) @ normalize(source).T).toarray(), 0.0)
    for power in (1, 2, 4, 8):
        methods[f"neighbours' sum, similarity^{power}"] = similar**power @ mates
    for nearest in (20, 40, 80, 160):
        least = -np.sort(-similar, axis=1)[:, [nearest - 1]]
        kept = np.where(similar < least, 0.0, similar)
        methods[f"neighbours' sum, {nearest} nearest, similarity^2"] = kept**2 @ mates
    rare = [_without_common(source, source), _without_common(asked, source), _without_common(target, target)]
    similar = np.maximum((normalize(rare[1]) @ normalize(rare[0]).T).toarray(), 0.0)
    for power in (1, 2):
        methods[f"neighbours' sum, idf = log(n / df), similarity^{power}"] = similar**power @ normalize(rare[2])
    preparations = model.scca_.x_preparation_, model.scca_.y_preparation_
    lasso = Generator(target, source, x_preparation=preparations[1 - side], y_preparation=preparations[side])
    methods["lasso of Section 5.1, automatic mu"] = np.array([made.weights for made in lasso.generate(asked)])
    methods["scca"] = _listed(model, queries, side)
    return methods


def _listed(model: BilingualModel, queries: list[str], side: int) -> np.ndarray:
    """What `generate` lists where it lists all."""
    n_words = len(model.vectorizers_[1 - side].words_)
    weights = np.zeros((len(queries), n_words))
    for row, text in zip(weights, model.generate(queries, source=model.languages_[side], top=n_words), strict=True):
        row[[word.index for word in text.words]] = [word.weight for word in text.words]
    return weights


def _without_common(vectors: sp.csr_array, training: sp.csr_array) -> sp.csr_array:
    """Vectors of term frequencies times log((1 + n) / (1 + df)) + 1 with log(n / df) instead."""
    n, df = training.shape[0], np.asarray((training != 0).sum(axis=0)).ravel()
    return sp.csr_array(vectors.multiply(np.log(n / df) / (np.log((1 + n) / (1 + df)) + 1)))


def _judged(weights: np.ndarray, mates: np.ndarray, frequent: np.ndarray) -> tuple[float, float, float]:
    """Shares of the first words and of the first content words that the mates have, and of function words listed.

    A place that a method leaves empty, for want of a word of positive weight, counts as a wrong word.
    """
    listed = np.argsort(-weights, axis=1, kind="stable")[:, :_LISTED]
    content = np.argsort(-np.where(frequent, -np.inf, weights), axis=1, kind="stable")[:, :_LISTED]
    right = mates & (weights > 0)
    shares = (np.take_along_axis(right, order, axis=1).mean() for order in (listed, content))
    return *shares, float(frequent[listed].mean())


def _frequencies(documents: list[str], words: np.ndarray) -> np.ndarray:
    """Shares of all documents that have each of `words`."""
    counts, names = TextVectorizer().count(documents)
    frequency = np.bincount(counts.indices, minlength=len(names)) / len(documents)
    return frequency[np.searchsorted(names, words)]


def _drawn(texts: Texts) -> Texts:
    """The documents in random order, at most so many."""
    order = np.random.default_rng(0).permutation(len(texts[0]))[:_MOST]
    first, second = ([side[i] for i in order] for side in texts)
    return first, second
