"""The expected words of a document's mate: every word is regressed on the words that the model reads."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from sklearn.preprocessing import normalize

from ..parallel import blas_threads_for
from ..views import FeatureView, Preparation

__all__ = ["ExpectedWords"]

_RIDGE = 2.0  # for documents of unit norm; a smaller ridge lists more content words, a larger one fewer wrong words
_MOST_LEFT_OUT = 1000  # documents from which the slopes of the words are estimated
_BLOCK_ENTRIES = 1 << 22  # numbers in memory at a time


class ExpectedWords:
    """Expected TF-IDF weights of the words of a query's mate, as a document of unit norm.

    Z are the training documents of the query's language as the model prepares them, Y those of the other, scaled to
    unit norm, and m the mean of Y. For a prepared query q, ridge regression of the words on what the model reads
    predicts

        y(q) = m + s (Y - m)'a,    a = (Z Z' + 2)^-1 Z q,

    a weighted sum of the mates of training documents similar to q. The slope s of a word, from 0 to 1, comes from
    regressing the word on its leave-one-out predictions (exact, without refitting): a word that cannot be predicted
    stays at its mean.

    Parameters
    ----------
    source, target : csr_array of shape (n_documents, n_words)
        Vectors of the training documents in the query's language and in the other.
    preparation : Preparation
        Of the query's language.
    listed : ndarray of shape (n_words,), optional
        Nonzero for the words of the other language that may be predicted; by default all words may.

    Attributes
    ----------
    slopes : ndarray of shape (n_words,)
    """

    def __init__(
        self, source: sp.csr_array, target: sp.csr_array, *, preparation: Preparation, listed: np.ndarray | None = None
    ):
        self._preparation = preparation
        weights = preparation.feature_weights
        self._read = np.arange(source.shape[1]) if weights is None else np.flatnonzero(weights)
        self._documents = self._prepared(source)
        target = target if listed is None else sp.csr_array(target.multiply(listed != 0))
        self._target = sp.csr_array(normalize(target))
        self._mean = np.asarray(self._target.mean(axis=0)).ravel()
        with blas_threads_for(self._documents.n_stored):
            self._factor = self._factorised()
            self.slopes = self._slopes(source)

    def weights(self, queries: sp.csr_array) -> Iterator[np.ndarray]:
        """The expected weights of all words, for one query after the other to save memory."""
        for rows in self._blocks(np.arange(queries.shape[0])):
            with blas_threads_for(self._documents.n_stored):
                deviations = self._deviations(self._parts(queries[rows]))
            yield from self._mean + self.slopes * deviations

    def _prepared(self, vectors: sp.csr_array) -> FeatureView:
        return self._preparation.transform(vectors).restricted(self._read)

    def _factorised(self) -> Any:
        """Cholesky factor of Z'Z + 2 or Z Z' + 2, whichever is smaller."""
        n, m = self._documents.shape
        if n < m:
            gram = self._documents.outer()
        else:
            words = self._documents.selection()
            words.add(np.arange(m))
            gram = words.gram(0)
        gram[np.diag_indices_from(gram)] += _RIDGE
        return cho_factor(gram, lower=True, overwrite_a=True)

    def _parts(self, vectors: sp.csr_array) -> np.ndarray:
        """The vector a of each document, as a column: (Z Z' + 2)^-1 Z q = Z (Z'Z + 2)^-1 q."""
        queries = self._prepared(vectors).rmatmat(np.eye(vectors.shape[0]))
        n, m = self._documents.shape
        if n < m:
            return cho_solve(self._factor, self._documents.matmat(queries))
        return self._documents.matmat(cho_solve(self._factor, queries))

    def _deviations(self, parts: np.ndarray) -> np.ndarray:
        """(Y - m)'a as a row, for each column a of `parts`."""
        return (self._target.T @ parts).T - np.outer(parts.sum(axis=0), self._mean)

    def _slopes(self, source: sp.csr_array) -> np.ndarray:
        """sum(c y) / sum(c^2), y the deviations of a word from its mean and c their leave-one-out predictions.

        With h = a_i for document i itself, the prediction without this document is c = ((Y - m)'a - h y) / (1 - h).
        """
        n = source.shape[0]
        products, squares = np.zeros(len(self._mean)), np.zeros(len(self._mean))
        for rows in self._blocks(np.unique(np.linspace(0, n - 1, min(n, _MOST_LEFT_OUT)).astype(np.intp))):
            parts = self._parts(source[rows])
            own = parts[rows, np.arange(len(rows))][:, None]
            actual = self._target[rows].toarray() - self._mean
            expected = (self._deviations(parts) - own * actual) / (1.0 - own)
            products += np.einsum("ij,ij->j", expected, actual)
            squares += np.einsum("ij,ij->j", expected, expected)
        return np.clip(products / np.where(squares > 0, squares, 1.0), 0.0, 1.0)

    def _blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        """Blocks of rows that fit into the allowed memory."""
        step = max(1, _BLOCK_ENTRIES // max(*self._documents.shape, len(self._mean)))
        return [rows[start : start + step] for start in range(0, len(rows), step)]
