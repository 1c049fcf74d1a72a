"""Words translated by linking all and by the Dice coefficient, against a list of pairs."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from scca.datasets import make_bilingual
from scca.text import TextVectorizer
from scca.text._lexicon import Lexicographer

from ._table import print_table
from ._texts import Texts, texts_of

__all__ = ["run"]

_DOCUMENTS = 1000  # of a larger corpus, where both the list and the translations are made from the same
_WORDS = 500
_LEAST_FREQUENT = 4
_LEAST_DICE = 0.6
_BOUNDS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)


def run(corpus_paths: tuple[Path, Path] | None = None, n_pairs: int | None = None) -> None:
    """Print how often the listed mate of a word is its first translation, or among the first five.

    The list holds the words that are each other's best by the Dice coefficient, of the documents that are learnt from
    or, with `n_pairs`, of all while `n_pairs` of them are learnt from. Made-up documents come with their dictionary.
    """
    texts = texts_of(corpus_paths)
    order = np.random.default_rng(0).permutation(len(texts[0]))
    drawn = _taken(texts, order[: n_pairs or _DOCUMENTS])
    listed = mutual_dice(drawn if n_pairs is None else texts)
    name = "the built-in corpus" if corpus_paths is None else corpus_paths[0].name.split(".")[0]
    _compare(f"{name}, {len(drawn[0])} pairs", drawn, listed, "the list")
    if corpus_paths is None:
        made = make_bilingual(2000, vocabulary=3000, length=15, random_state=0)
        first, second = zip(*made.texts(), strict=True)
        dictionary = dict(zip(made.x_words.tolist(), made.y_words[made.dictionary].tolist(), strict=True))
        _compare("made-up documents, 2000 pairs", (list(first), list(second)), dictionary, "the dictionary")


def _compare(title: str, texts: Texts, listed: dict[str, str], what: str) -> None:
    vectorizers = [TextVectorizer(log_counts=True, min_df=2) for _ in texts]
    views = [vectorizer.fit_transform(side) for vectorizer, side in zip(vectorizers, texts, strict=True)]
    words = [vectorizer.words_.tolist() for vectorizer in vectorizers]
    column = {word: at for at, word in enumerate(words[1])}
    pairs = [(at, column[listed[word]]) for at, word in enumerate(words[0]) if listed.get(word) in column]
    chosen = [pairs[i] for i in np.sort(np.random.default_rng(0).permutation(len(pairs))[:_WORDS])]
    rows = []

    def measure(method: str, mates_of: Callable[[int], np.ndarray]) -> None:
        start = perf_counter()
        ranks = np.array([_rank(mates_of(word), mate) for word, mate in chosen])
        hits = [f"{np.mean(ranks <= n):.3f}" for n in (1, 5)]
        rows.append([method, *hits, f"{perf_counter() - start:.1f}"])

    start = perf_counter()
    lexicographer = Lexicographer(views, [np.array(side) for side in words])
    seconds = perf_counter() - start
    measure("linked", lambda word: np.array([mate.index for mate in lexicographer.entry(0, word).mates]))
    rows[0][-1] = f"{seconds:.1f}, all words"
    dice = _dice(*views)
    measure("Dice", lambda word: _strongest(dice[[word]].toarray().ravel()))
    print_table(f"{title}: {len(chosen)} words of {what}", ["translated by", "first", "among five", "seconds"], rows)
    _print_trust(lexicographer, listed, what)


def _print_trust(lexicographer: Lexicographer, listed: dict[str, str], what: str) -> None:
    """How often the first translation is right at each level of trust; never where the listed mate was not seen."""
    entries = lexicographer.entries(0)
    trust = np.array([entry.trust for entry in entries])
    asked = np.array([entry.word in listed for entry in entries])
    right = np.array([listed.get(entry.word) == entry.mate for entry in entries])
    rows = []
    for low, high in pairwise(_BOUNDS):
        within = (trust >= low) & (trust < high)
        both = within & asked
        figures = [f"{values[both].mean():.2f}" if both.any() else "" for values in (trust, right)]
        rows.append([f"{low:.2f} to {high:.2f}", f"{within.mean():.2f}", str(both.sum()), *figures])
    header = ["trust", f"share of {len(entries)} words", f"of them in {what}", "mean trust", "right"]
    print_table("how far the trust in a linked mate holds", header, rows)


def mutual_dice(texts: Texts) -> dict[str, str]:
    """Words that are each other's best by the Dice coefficient of the documents they stand in."""
    vectorizers = [TextVectorizer(min_df=_LEAST_FREQUENT) for _ in texts]
    views = [vectorizer.fit_transform(side) for vectorizer, side in zip(vectorizers, texts, strict=True)]
    best = [np.zeros(view.shape[1]) for view in views]
    found = []
    for start, dice in _dice_by_block(*views):
        rows, columns = dice.coords
        np.maximum.at(best[0], rows + start, dice.data)
        np.maximum.at(best[1], columns, dice.data)
        kept = dice.data >= _LEAST_DICE
        found.append((rows[kept] + start, columns[kept], dice.data[kept]))
    a, b, dice = (np.concatenate(part) for part in zip(*found, strict=True))
    kept = (dice == best[0][a]) & (dice == best[1][b])
    first, second = (vectorizer.words_ for vectorizer in vectorizers)
    return dict(zip(first[a[kept]].tolist(), second[b[kept]].tolist(), strict=True))


def _dice(X: sp.csr_array, Y: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(sp.vstack([block for _, block in _dice_by_block(X, Y)]))


def _dice_by_block(X: sp.csr_array, Y: sp.csr_array, size: int = 500) -> Iterator[tuple[int, sp.coo_array]]:
    present = [(view != 0).astype(np.float64) for view in (X, Y)]
    frequency = [np.asarray(view.sum(axis=0)).ravel() for view in present]
    words = sp.csr_array(present[0].T)
    for start in range(0, words.shape[0], size):
        together = sp.coo_array(words[start : start + size] @ present[1])
        rows, columns = together.coords
        together.data = 2 * together.data / (frequency[0][rows + start] + frequency[1][columns])
        yield start, together


def _strongest(weights: np.ndarray) -> np.ndarray:
    order = np.argsort(-weights, kind="stable")[:20]
    return order[weights[order] > 0]


def _rank(mates: np.ndarray, mate: int) -> float:
    at = np.flatnonzero(mates == mate)
    return 1.0 + at[0] if len(at) else np.inf


def _taken(texts: Texts, rows: np.ndarray) -> Texts:
    first, second = ([side[i] for i in rows] for side in texts)
    return first, second
