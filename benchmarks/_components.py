"""Components in words, as several methods find them: shared factors, the paper's components and joint NMF."""

import warnings
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.preprocessing import normalize

from scca import AnchoredCCA, SparseCCA
from scca.readers import PairedText
from scca.text import BilingualModel, TextVectorizer

__all__ = ["WORDS", "Components", "components_by"]

WORDS = 8  # of a component and language

_IDF = ("plain", "smooth")
_COMMON = (None, 0.5, 0.3)  # words in more than this share of the documents are dropped

Components = list[tuple[list[str], list[str]]]


def components_by(texts: list[list[str]], n_components: int) -> Iterator[tuple[str, Components]]:
    """The words of components, strongest first in each language, method by method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NMF that has not converged is as good to read
        yield "shared factors, few words", _factors(texts, n_components)
        yield "shared factors, all words", _dense_factors(texts, n_components)
        yield "the paper's components", _paper(texts, n_components)
        for idf, common in product(_IDF, _COMMON):
            dropped = "" if common is None else f", words in over {common:.0%} dropped"
            yield f"NMF, {idf} idf{dropped}", _nmf(texts, n_components, idf, common)


def _factors(texts: list[list[str]], n_components: int) -> Components:
    """As the model shows them; of its words, those that go with the factor."""
    model = BilingualModel(n_components, held_out=0).fit(PairedText.of(*texts, ("first", "second")))
    return [
        tuple([word.name for word in words if word.loading > 0][:WORDS] for words in (found.words, found.mate_words))
        for found in model.components()
    ]


def _dense_factors(texts: list[list[str]], n_components: int) -> Components:
    """By covariance over the root of a word's norm: cosines alone put words of two documents first."""
    vectorizers, (X, Y) = _vectors(texts, log_counts=True)
    model = SparseCCA(n_components, rendering="dense", held_out=0).fit(X, Y)
    views = model.x_preparation_.transform(X), model.y_preparation_.transform(Y)
    shared = [
        loadings * view.square_norms()[:, None] ** 0.25
        for loadings, view in zip((model.x_loadings_, model.y_loadings_), views, strict=True)
    ]
    return _strongest(shared, [vectorizer.words_ for vectorizer in vectorizers])


def _paper(texts: list[list[str]], n_components: int) -> Components:
    """Words of the first language by absolute weight, of the second by their weight in its documents."""
    vectorizers, (X, Y) = _vectors(texts, log_counts=False)
    model = AnchoredCCA(n_components).fit(X, Y)
    mates = model.y_preparation_.transform(Y).rmatvec(model.y_weights_)
    return _strongest([np.abs(model.x_weights_), np.abs(mates)], [vectorizer.words_ for vectorizer in vectorizers])


def _nmf(texts: list[list[str]], n_components: int, idf: str, common: float | None) -> Components:
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
    topics = NMF(min(n_components, n), init="nndsvda", max_iter=400).fit(sp.hstack(blocks, format="csr")).components_.T
    return _strongest(np.split(topics, [len(words[0])]), words)


def _vectors(texts: list[list[str]], *, log_counts: bool) -> tuple[list[TextVectorizer], list[sp.csr_array]]:
    vectorizers = [TextVectorizer(log_counts=log_counts, min_df=2) for _ in texts]
    return vectorizers, [vectorizer.fit_transform(side) for vectorizer, side in zip(vectorizers, texts, strict=True)]


def _strongest(values: Sequence[np.ndarray], words: Sequence[np.ndarray]) -> Components:
    """The words of each language that have the largest values, which must be positive, in each component."""
    orders = [np.argsort(-side, axis=0, kind="stable")[:WORDS] for side in values]
    return [
        tuple(
            [str(names[i]) for i in order[:, j] if side[i, j] > 0]
            for side, order, names in zip(values, orders, words, strict=True)
        )
        for j in range(values[0].shape[1])
    ]
