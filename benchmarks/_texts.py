"""Paired documents of a benchmark about quality, and random splits of them as vectors."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from scca.datasets import load_trilingual
from scca.readers import read_pairs
from scca.text import TextVectorizer

__all__ = ["Corpus", "Texts", "Vectors", "listed_corpora", "split_vectors", "texts_of"]

Texts = tuple[list[str], list[str]]
Vectors = list[sp.csr_array]


def texts_of(paths: tuple[Path, Path] | None, join: int = 1) -> Texts:
    """Documents of two line-aligned files, `join` lines each, or of the built-in corpus."""
    if paths is None:
        corpus = load_trilingual()
        return list(corpus.en), list(corpus.fr)
    pairs = read_pairs(*paths)
    first, second = ([*pairs.documents(side)] for side in (0, 1))
    starts = range(0, len(first) - join + 1, join)
    return [" ".join(first[i : i + join]) for i in starts], [" ".join(second[i : i + join]) for i in starts]


@dataclass(frozen=True)
class Corpus:
    """A corpus of a list: its family, its name, its two line-aligned files, and how many lines make a document."""

    family: str
    name: str
    paths: tuple[Path, Path]
    join: int

    def texts(self) -> Texts:
        return texts_of(self.paths, self.join)


def listed_corpora(listed: Path) -> list[Corpus]:
    """A line of the list has, separated by tabs: family, name, two files (relative to the list), lines a document."""
    corpora = []
    for line in filter(str.strip, listed.read_text(encoding="utf-8").splitlines()):
        family, name, first, second, join = line.split("\t")
        corpora.append(Corpus(family, name, (listed.parent / first, listed.parent / second), int(join)))
    return corpora


def split_vectors(texts: Texts, n: int, seed: int, n_test: int = 500) -> tuple[Vectors, Vectors]:
    """Vectors of `n` random pairs to learn from and of others to find mates among, as `BilingualModel` makes them."""
    order = np.random.default_rng(seed).permutation(len(texts[0]))
    train, test = order[:n], order[n : n + n_test]
    vectorizers = [TextVectorizer(log_counts=True, min_df=2).fit([side[i] for i in train]) for side in texts]
    learnt, new = (
        [vectorizer.transform([side[i] for i in rows]) for vectorizer, side in zip(vectorizers, texts, strict=True)]
        for rows in (train, test)
    )
    return learnt, new
