"""What a bilingual model answers with: words and documents with weights, mates, generated and translated words."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Component", "GeneratedText", "Mates", "Translation", "Weighted"]


@dataclass(frozen=True)
class Weighted:
    """A word or a document with its weight."""

    name: str
    weight: float
    index: int
    loading: float | None = None  # cosine with a shared factor


@dataclass(frozen=True)
class Component:
    """One component in words a person can read.

    Attributes
    ----------
    words : tuple of Weighted
        The sparse answer in the first language, strongest first.
    documents : tuple of Weighted
        The documents of the second language it is built on, strongest first; named by their text where it was kept.
    mate_words : tuple of Weighted
        The words of the second language that weigh most in these documents, centred and scaled as the model sees them.
    anchor : int or None
        None for a shared factor, whose words stand in the order of their loadings, those that go with it first.
    correlation, mu, dual_gap : float
        Of the two training scores; the penalty on words; the certificate (absolute).
    gamma : float or None
        The penalty on documents, of which a shared factor needs none.
    held_out_correlation : float or None
        Of a shared factor, on pairs left out.
    """

    number: int
    anchor: int | None
    correlation: float
    mu: float
    gamma: float | None
    dual_gap: float
    words: tuple[Weighted, ...]
    documents: tuple[Weighted, ...]
    mate_words: tuple[Weighted, ...]
    held_out_correlation: float | None = None


@dataclass(frozen=True)
class Mates:
    """The candidates that match each query best, the best first.

    Attributes
    ----------
    source, target : str
        Languages of the queries and of the candidates.
    indices : ndarray of shape (n_queries, top)
        Positions of candidates.
    similarities : ndarray of shape (n_queries, top)
        Cosines in the common space.
    known, known_candidates : ndarray of bool of shape (n_queries,) and (n_candidates,)
        False for a document without any known word: it ties with everything, and its mates mean nothing.
    query_scores, candidate_scores : ndarray of shape (n, n_components)
        Where the documents lie in the common space.
    """

    source: str
    target: str
    indices: np.ndarray
    similarities: np.ndarray
    known: np.ndarray
    known_candidates: np.ndarray
    query_scores: np.ndarray
    candidate_scores: np.ndarray


@dataclass(frozen=True)
class GeneratedText:
    """The words of the other language that render a query, the strongest first; `known` as in `Mates`.

    `mu` and `dual_gap` are those of the lasso, None for shared factors, which need none: there a weight is the TF-IDF
    weight that the word is expected to have in a document of unit norm.
    """

    language: str
    words: tuple[Weighted, ...]
    mu: float | None
    dual_gap: float | None
    known: bool


@dataclass(frozen=True)
class Translation:
    """The words of the other language that go with a word, the strongest first.

    Attributes
    ----------
    word, source, target : str
        The word as the model knows it, its language and the other.
    words : tuple of Weighted
        Of the other language; a negative weight says that the word stays away.
    company : tuple of Weighted
        Words of its own language that were taken to belong with it.
    documents : int
        Training documents that have the word; few make a weak translation.
    mu, gamma, dual_gap : float
    """

    word: str
    source: str
    target: str
    words: tuple[Weighted, ...]
    company: tuple[Weighted, ...]
    documents: int
    mu: float
    gamma: float
    dual_gap: float
