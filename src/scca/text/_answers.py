"""What a bilingual model answers with: words and documents with weights, mates, generated and translated words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Component", "GeneratedText", "Mates", "Translation", "Weighted", "WordPair", "strongest"]


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
    word : str
        As the model knows it.
    source, target : str or None
        Its language and the other; None for an unknown word.
    words : tuple of Weighted
        Of the other language, with their shares as in `WordPair`. Of the anchored problem with its weights: a negative
        one says that the word stays away.
    documents : int
        Training documents that have the word; few make a weak translation.
    trust : float or None
        Estimated probability that the first of the words is right, as in `WordPair`; None of the anchored problem.
    known : bool
        False for a word that the model does not know, or that is a word of both languages; `note` says which.
    joined_by : tuple of Weighted
        Of the anchored problem: words of its own language that were taken to belong with it.
    mu, gamma, dual_gap : float or None
        Of the anchored problem: its penalties and certificate.
    """

    word: str
    source: str | None = None
    target: str | None = None
    words: tuple[Weighted, ...] = ()
    documents: int = 0
    trust: float | None = None
    known: bool = True
    note: str = ""
    joined_by: tuple[Weighted, ...] = ()
    mu: float | None = None
    gamma: float | None = None
    dual_gap: float | None = None


@dataclass(frozen=True)
class WordPair:
    """A word and its mate: an entry of a bilingual word list.

    Attributes
    ----------
    word : str
    mates : tuple of Weighted
        The words of the other language that are linked to it most, the best first, each with its share: of the
        documents that have either word, those in which they are linked; 1 if they are always each other's.
    trust : float
        Estimated probability that the best mate is right, calibrated by what two halves of the pairs find alike.
    mutual : bool
        Whether the word is also the best one of its best mate.
    documents, mate_documents, together : int
        Training documents that have the word, that have its best mate, and that have both.
    """

    word: str
    mates: tuple[Weighted, ...]
    trust: float
    mutual: bool
    documents: int
    mate_documents: int
    together: int

    @property
    def mate(self) -> str:
        return self.mates[0].name


def strongest(
    weights: np.ndarray, names: Sequence[str], rarity: np.ndarray | None = None, *, most: int | None = None
) -> tuple[Weighted, ...]:
    """What has a weight, by its size; of equal ones the less rare first, else in the order they stand."""
    order = np.argsort(-np.abs(weights), kind="stable")
    if rarity is not None:
        order = np.lexsort((rarity, -np.abs(weights).round(9)))
    return tuple(Weighted(str(names[i]), float(weights[i]), int(i)) for i in order[:most] if weights[i] != 0)
