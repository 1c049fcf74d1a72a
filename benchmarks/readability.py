"""Which words come together in a component: shared factors, the paper's components and joint NMF, in one run."""

import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.preprocessing import normalize

from scca import PAPER, SparseCCA
from scca.text import BilingualModel, PairedText, TextVectorizer

from ._coherence import Coherence, Reference
from ._table import print_table
from ._texts import texts_of

__all__ = ["run"]

_TRAIN, _REFERENCE = 1000, 5000  # pairs
_COMPONENTS = 30
_WORDS = 8  # of a component and language
_SPLITS = 2
_IDF = ("plain", "smooth")
_COMMON = (None, 0.5, 0.3)  # words in more than this share of the documents are dropped

Components = list[tuple[list[str], list[str]]]


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1, shown: int = 0) -> None:
    """Print how well the words of a component go together, and the words of the first `shown` components."""
    texts = texts_of(corpus_paths, join)
    n = min(_TRAIN, len(texts[0]) // 2)
    rest = min(_REFERENCE, len(texts[0]) - n)
    found: dict[str, list[Coherence]] = {}
    first: dict[str, Components] = {}
    for seed in range(_SPLITS):
        order = np.random.default_rng(seed).permutation(len(texts[0]))
        learnt, kept = ([[side[i] for i in rows] for side in texts] for rows in (order[:n], order[n : n + rest]))
        reference = Reference(*kept)
        for method, components in _methods(learnt):
            found.setdefault(method, []).append(reference.coherence(components))
            first.setdefault(method, components)
    small = "; a small corpus, so differences mean little" if rest < _TRAIN else ""
    title = (
        f"coherence (NPMI) of the {_WORDS} strongest words of a language in {_COMPONENTS} components, learnt from {n} "
        f"pairs, in {rest} others; {_SPLITS} splits{small}"
    )
    header = ["method", "across languages", "first", "second", "words shown", "unknown"]
    print_table(title, header, [[method, *_cells(values)] for method, values in found.items()])
    for method, components in first.items() if shown else ():
        print(f"\n{method}")
        for words in components[:shown]:
            print("  " + " | ".join(map(" ".join, words)))


def _cells(values: list[Coherence]) -> list[str]:
    means = [np.mean([getattr(value, name) for value in values]) for name in ("across", "first", "second", "n_words")]
    return [*(f"{mean:.3f}" for mean in means[:3]), f"{means[3]:.1f}", str(sum(value.n_unknown for value in values))]


# --- methods -------------------------------------------------------------------------------------------------------


def _methods(texts: list[list[str]]) -> Iterator[tuple[str, Components]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NMF that has not converged is as good to read
        yield "shared factors, few words", _factors(texts)
        yield "shared factors, all words", _dense_factors(texts)
        yield "the paper's components", _paper(texts)
        for idf, common in product(_IDF, _COMMON):
            dropped = "" if common is None else f", words in over {common:.0%} dropped"
            yield f"NMF, {idf} idf{dropped}", _nmf(texts, idf, common)


def _factors(texts: list[list[str]]) -> Components:
    """As the model shows them; of its words, those that go with the factor."""
    model = BilingualModel(_COMPONENTS, held_out=0).fit(PairedText.of(*texts, ("first", "second")))
    return [
        tuple([word.name for word in words if word.loading > 0][:_WORDS] for words in (found.words, found.mate_words))
        for found in model.components()
    ]


def _dense_factors(texts: list[list[str]]) -> Components:
    """By covariance over the root of a word's norm: cosines alone put words of two documents first."""
    vectorizers, (X, Y) = _vectors(texts, log_counts=True)
    model = SparseCCA(_COMPONENTS, rendering="dense", held_out=0).fit(X, Y)
    views = model.x_preparation_.transform(X), model.y_preparation_.transform(Y)
    shared = [
        loadings * view.square_norms()[:, None] ** 0.25
        for loadings, view in zip((model.x_loadings_, model.y_loadings_), views, strict=True)
    ]
    return _strongest(shared, [vectorizer.words_ for vectorizer in vectorizers])


def _paper(texts: list[list[str]]) -> Components:
    """Words of the first language by the size of their weights, of the second by what they weigh in its documents."""
    vectorizers, (X, Y) = _vectors(texts, log_counts=False)
    model = SparseCCA(_COMPONENTS, **PAPER).fit(X, Y)
    mates = model.y_preparation_.transform(Y).rmatvec(model.y_weights_)
    return _strongest([np.abs(model.x_weights_), np.abs(mates)], [vectorizer.words_ for vectorizer in vectorizers])


def _nmf(texts: list[list[str]], idf: str, common: float | None) -> Components:
    """Both languages side by side, 1 + log tf, the rows of each of unit norm."""
    words, blocks = [], []
    for vectorizer, vectors in zip(*_vectors(texts, log_counts=True), strict=True):
        n = vectors.shape[0]
        frequency = np.diff(vectors.tocsc().indptr)
        wanted = np.log(n / frequency) if idf == "plain" else np.log((1 + n) / (1 + frequency)) + 1
        factors = wanted / vectorizer.idf_
        kept = np.flatnonzero(frequency <= n if common is None else frequency <= common * n)
        words.append(vectorizer.words_[kept])
        blocks.append(normalize((vectors @ sp.diags_array(factors)).tocsc()[:, kept].tocsr()))
    topics = NMF(min(_COMPONENTS, n), init="nndsvda", max_iter=400).fit(sp.hstack(blocks, format="csr")).components_.T
    return _strongest(np.split(topics, [len(words[0])]), words)


def _vectors(texts: list[list[str]], *, log_counts: bool) -> tuple[list[TextVectorizer], list[sp.csr_array]]:
    vectorizers = [TextVectorizer(log_counts=log_counts, min_df=2) for _ in texts]
    return vectorizers, [vectorizer.fit_transform(side) for vectorizer, side in zip(vectorizers, texts, strict=True)]


def _strongest(values: Sequence[np.ndarray], words: Sequence[np.ndarray]) -> Components:
    """The words of each language that have the largest values, which must be positive, in each component."""
    orders = [np.argsort(-side, axis=0, kind="stable")[:_WORDS] for side in values]
    return [
        tuple(
            [str(names[i]) for i in order[:, j] if side[i, j] > 0]
            for side, order, names in zip(values, orders, words, strict=True)
        )
        for j in range(values[0].shape[1])
    ]
