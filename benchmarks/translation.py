"""Words translated by the anchored problem, against a list of word pairs made by another measure."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from scca.datasets import load_trilingual
from scca.reproduce import Corpus, count_corpus
from scca.text import PairedText, Translator, read_pairs
from scca.views import Preparation

from ._table import print_table

__all__ = ["run"]

_DOCUMENTS = 1000
_WORDS = 150
_LEAST_FREQUENT = 4
_LEAST_DICE = 0.6


def run(corpus_paths: tuple[Path, Path] | None = None) -> None:
    """Print how often the listed mate of a word is its first translation, or among the first five."""
    corpus = _corpus(corpus_paths)
    everything = np.arange(len(corpus))
    first, second = (corpus.vectors(side, everything, [0])[0] for side in (0, 1))
    known = [_known(corpus, side) for side in (0, 1)]
    pairs = [(known[0][a], known[1][b]) for a, b in mutual_dice(corpus) if a in known[0] and b in known[1]]
    order = np.random.default_rng(0).permutation(len(pairs))[:_WORDS]
    translator = Translator(*(Preparation.fit(view).transform(view) for view in (second, first)))
    rows = []
    for mu in ("auto", "auto*2", "auto*4", "auto*8", "auto*16"):
        ranks, sizes = [], []
        for i in order:
            word, mate = pairs[i]
            weights = translator.translate(word, mu).weights
            ranks.append(1 + int(np.sum(weights > weights[mate])) if weights[mate] > 0 else len(weights))
            sizes.append(np.count_nonzero(weights > 0))
        hits = [f"{np.mean(np.array(ranks) <= n):.2f}" for n in (1, 5)]
        rows.append([mu, *hits, f"{np.mean(sizes):.1f}"])
    languages = " to ".join(corpus.languages)
    title = f"{corpus.name}, {languages}: {len(order)} of {len(pairs)} word pairs with a Dice coefficient from 0.6"
    print_table(title, ["mu", "first", "among five", "words listed"], rows)


def mutual_dice(corpus: Corpus) -> list[tuple[int, int]]:
    """Pairs of words that are each other's best by the Dice coefficient of the documents they stand in."""
    present = [sp.csc_array((counts > 0).astype(np.float64)) for counts in corpus.counts]
    frequency = [np.asarray(p.sum(axis=0)).ravel() for p in present]
    together = (present[0].T @ present[1]).tocoo()
    a, b = together.coords
    dice = 2 * together.data / (frequency[0][a] + frequency[1][b])
    common = (frequency[0][a] >= _LEAST_FREQUENT) & (frequency[1][b] >= _LEAST_FREQUENT)
    a, b, dice = a[common], b[common], dice[common]
    best = [np.zeros(p.shape[1]) for p in present]
    for values, words in zip(best, (a, b), strict=True):
        np.maximum.at(values, words, dice)
    kept = (dice >= _LEAST_DICE) & (dice == best[0][a]) & (dice == best[1][b])
    return list(zip(a[kept].tolist(), b[kept].tolist(), strict=True))


def _known(corpus: Corpus, side: int) -> dict[int, int]:
    """Columns of the vectors by columns of the counts: words in every document have no vector."""
    frequency = np.bincount(corpus.counts[side].indices, minlength=corpus.n_words[side])
    return {int(word): column for column, word in enumerate(np.flatnonzero(frequency < len(corpus)))}


def _corpus(paths: tuple[Path, Path] | None) -> Corpus:
    if paths is None:
        texts = load_trilingual()
        return count_corpus(PairedText.of(texts.en, texts.fr, ("en", "fr")), "the built-in corpus")
    return count_corpus(read_pairs(*paths), paths[0].name.split(".")[0], _DOCUMENTS)
