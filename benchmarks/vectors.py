"""An encoder's vectors as one view and words as the other: mates found, words read, and which words go unseen."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scca import KernelCCA, SparseCCA
from scca.text import TextVectorizer

from ._table import print_table
from ._texts import texts_of

__all__ = ["run"]

_TRAIN, _TEST = 1000, 500
_COMPONENTS = 30
_SPLITS = 2
_REGULARIZATIONS = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 0.9)
_WORDS = 8  # shown of a component
_COMMON = 20  # documents that have a word whose predictability is listed
_LISTED = 25  # words


@dataclass(frozen=True, eq=False)
class _Split:
    """Vectors and words of documents to learn from (first) and of others (second), and which word a column is."""

    learnt: tuple
    new: tuple
    words: np.ndarray


def run(vectors_path: Path, corpus_paths: tuple[Path, Path] | None = None, shown: int = 0) -> None:
    """Print what the vectors (row i: line i of the first file) share with its words, and with those of the mates."""
    vectors = np.load(vectors_path)
    texts = texts_of(corpus_paths)
    if len(vectors) > len(texts[0]) or len(vectors) < 2 * _TEST:
        raise SystemExit(f"{vectors_path} has {len(vectors)} rows; it must have {2 * _TEST} to {len(texts[0])}.")
    for name, side in zip(("the text that was encoded", "its mate"), texts, strict=True):
        found = [_measure(_split(vectors, side, seed)) for seed in range(_SPLITS)]
        methods = list(found[0])
        rows = [[m, *(f"{value:.3f}" for value in np.mean([each[m] for each in found], axis=0))] for m in methods]
        header = ["method", "error", "correlation", "said", "share of words", "words per factor"]
        print_table(f"vectors and words of {name}: {_COMPONENTS} components, {_SPLITS} splits", header, rows)
        if shown:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _show(_split(vectors, side, 0), shown)


def _split(vectors: np.ndarray, texts: list[str], seed: int) -> _Split:
    order = np.random.default_rng(seed).permutation(len(vectors))
    n = min(_TRAIN, len(vectors) - _TEST)
    train, test = order[:n], order[n : n + _TEST]
    vectorizer = TextVectorizer(log_counts=True, min_df=2).fit([texts[i] for i in train])
    learnt, new = ((vectors[rows], vectorizer.transform([texts[i] for i in rows])) for rows in (train, test))
    return _Split(learnt, new, vectorizer.words_)


# --- what is measured ----------------------------------------------------------------------------------------------


def _measure(split: _Split) -> dict[str, list[float]]:
    """For each method the error of mates, the mean correlation of new scores and its estimate, and the words read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {}
        for name, weights in (("kernel CCA", None), ("kernel CCA, weighted", "shared")):
            models = [
                KernelCCA(_COMPONENTS, regularization=r, feature_weights=weights, scale="rows").fit(*split.learnt)
                for r in _REGULARIZATIONS
            ]
            best = int(np.argmax([model.score(*split.new) for model in models]))
            print(f"{name}: best regularisation on the test {_REGULARIZATIONS[best]}")
            found[name] = _figures(models[best], split)
        for name, rendering in (("all words", "dense"), ("few words", ("dense", "sparse"))):
            found[name] = _figures(SparseCCA(_COMPONENTS, rendering=rendering, scale="rows").fit(*split.learnt), split)
    return found


def _figures(model, split: _Split) -> list[float]:
    sparse = isinstance(model, SparseCCA)
    said = float(np.mean(model.held_out_correlations_)) if sparse else np.nan
    share = np.mean(model.y_weights_.any(axis=1)) if sparse else 1.0
    count = float(np.median(np.count_nonzero(model.y_weights_, axis=0))) if sparse else split.words.size
    return [1 - model.score(*split.new), float(np.mean(_correlations(model, split))), said, float(share), count]


def _correlations(model, split: _Split) -> np.ndarray:
    x, y = model.transform_pair(*split.new)
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x.T, y.T, strict=True)])


# --- what there is to read -----------------------------------------------------------------------------------------


def _show(split: _Split, shown: int) -> None:
    """Print words of components, and the words that vectors predict best and least."""
    model = SparseCCA(_COMPONENTS, rendering=("dense", "sparse"), held_out=0).fit(*split.learnt)
    correlations = _correlations(model, split)
    print("\ncorrelation on new documents, and words with a weight by loading")
    for j in np.argsort(-correlations)[:: max(1, _COMPONENTS // shown)][:shown]:  # from the best to the worst
        loadings = np.where(model.y_weights_[:, j] != 0, model.y_loadings_[:, j], 0.0)
        print(f"  {correlations[j]:.2f}  " + " ".join(split.words[np.argsort(-loadings)[:_WORDS]]))

    # of few words only those in use keep their weight; kernel CCA reads all
    earned = KernelCCA(1, feature_weights="shared", scale="rows").fit(*split.learnt).y_feature_weights_
    frequency = np.diff(split.learnt[1].tocsc().indptr)
    common = np.flatnonzero(frequency >= _COMMON)
    unseen = np.mean(earned[common] <= earned[earned > 0].min())
    least = common[np.lexsort((-frequency[common], earned[common]))]  # the most frequent first where weights are equal
    best = common[np.lexsort((-frequency[common], -earned[common]))]
    print(f"\n{len(common)} words are in {_COMMON} documents or more; {unseen:.0%} of them have an R^2 of 0.02 or less")
    print("  predicted best:  " + " ".join(split.words[best[:_LISTED]]))
    print("  predicted least: " + " ".join(split.words[least[:_LISTED]]))
