"""Training and test documents of a corpus, as every method of one comparison sees them."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold

from scca.reproduce import Corpus, Size
from scca.reproduce._retrieval import random_split
from scca.retrieval import average_precision

__all__ = ["Documents", "Split", "error", "inner_splits", "outer_split"]

_FOLDS = 3


@dataclass(frozen=True)
class Documents:
    """One language of a split: TF-IDF vectors over the words of its training documents."""

    train: sp.csr_array
    test: sp.csr_array

    @property
    def document_frequency(self) -> np.ndarray:
        return np.bincount(self.train.indices, minlength=self.train.shape[1])

    @property
    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Both, centred by the training mean, rows of unit norm.

        A test document's norm reads all its words, but scales its scores alone, which changes no cosine. One without a
        word is minus the mean, so that nothing about words that are not read matters.
        """
        mean = self.train.mean(axis=0)
        return _unit_rows(self.train.toarray() - mean), _unit_rows(self.test.toarray() - mean)


@dataclass(frozen=True)
class Split:
    """Both languages of training and test documents."""

    corpus: Corpus
    train: np.ndarray
    test: np.ndarray

    def documents(self) -> tuple[Documents, Documents]:
        first, second = (Documents(*self.corpus.vectors(side, self.train, self.test)) for side in (0, 1))
        return first, second


def outer_split(corpus: Corpus, size: Size, seed: int, number: int) -> Split:
    return Split(corpus, *random_split(len(corpus), size.within(len(corpus)), seed, number))


def inner_splits(split: Split, seed: int) -> list[Split]:
    """Training pairs held out in turn, to tune by."""
    folds = KFold(_FOLDS, shuffle=True, random_state=seed).split(split.train)
    return [Split(split.corpus, split.train[learnt], split.train[held]) for learnt, held in folds]


def error(a: np.ndarray, b: np.ndarray) -> float:
    """1 - p, p the average precision of finding mates by the cosine of their scores, both directions averaged."""
    return 1.0 - average_precision(np.nan_to_num(a), np.nan_to_num(b)).average_precision


def _unit_rows(Z: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(Z, axis=1, keepdims=True)
    return Z / np.where(norms > 0, norms, 1.0)
