"""Results of a bilingual model: words and documents with weights, mates, generated words and translations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Component", "GeneratedText", "Translation", "Weighted", "WordPair", "strongest"]


@dataclass(frozen=True)
class Weighted:
    """A word or a document with its weight."""

    name: str
    weight: float
    index: int
    loading: float | None = None  # cosine with a shared factor, times its length


@dataclass(frozen=True)
class Component:
    """One component in readable form.

    Attributes
    ----------
    words, mate_words : tuple of Weighted
        Words of the first and of the second language. For a shared factor these are the words with a weight, largest
        loading first. For an anchored component, `words` are the words with a weight, strongest first, and `mate_words`
        are the words with the largest weights in its documents, after centring and scaling.
    documents : tuple of Weighted
        Documents of the second language, strongest first: those with the largest scores, or those with a weight in an
        anchored component. They are named by their text if the model stores it.
    anchor : int or None
        The anchor document; None for a shared factor.
    correlation, mu, dual_gap : float
        Correlation of the two training scores; penalty on words; certificate (absolute).
    gamma : float or None
        Penalty on documents; None for a shared factor.
    held_out_correlation : float or None
        Correlation on pairs left out: what the component of this rank, in a fit to about this many pairs, reaches on
        new pairs. None for an anchored component.
    held_out_interval : tuple of two floats, or None
        The 95 % confidence interval of that correlation.
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
    held_out_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class GeneratedText:
    """The words of the other language that were generated for a query, strongest first; `known` as in `Mates`.

    With shared factors, a weight is the expected TF-IDF weight of the word in a document of unit norm, and `mu` and
    `dual_gap` are None. With anchors, `mu` and `dual_gap` are the penalty and the certificate of the lasso.
    """

    language: str
    words: tuple[Weighted, ...]
    mu: float | None
    dual_gap: float | None
    known: bool


@dataclass(frozen=True)
class Translation:
    """Translations of a word, best first.

    Attributes
    ----------
    word : str
        The word as the model spells it.
    source, target : str or None
        Its language and the other; None for an unknown word.
    words : tuple of Weighted
        Words of the other language with their shares as in `WordPair`.
    documents : int
        Number of training documents with the word; few make an uncertain translation.
    trust : float or None
        Estimated probability that the first of the words is right, as in `WordPair`; None if there are no words.
    known : bool
        False for a word that the model does not know, or that both languages have; `note` says which.
    """

    word: str
    source: str | None = None
    target: str | None = None
    words: tuple[Weighted, ...] = ()
    documents: int = 0
    trust: float | None = None
    known: bool = True
    note: str = ""


@dataclass(frozen=True)
class WordPair:
    """A word and its mate: an entry of a bilingual word list.

    Attributes
    ----------
    word : str
    mates : tuple of Weighted
        The words of the other language that are linked to it most often, best first. The weight of a mate is a share:
        of the documents with either word, the share in which the two are linked; 1 if always.
    trust : float
        Estimated probability that the best mate is right, calibrated by how often two halves of the pairs agree.
    mutual : bool
        Whether the word is also the best mate of its best mate.
    documents, mate_documents, together : int
        Numbers of training documents with the word, with its best mate, and with both.
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
    """Names with a nonzero weight, largest absolute weight first.

    Ties are ordered by position or, if `rarity` is given, from the most common name to the rarest.
    """
    order = np.argsort(-np.abs(weights), kind="stable")
    if rarity is not None:
        order = np.lexsort((rarity, -np.abs(weights).round(9)))
    return tuple(Weighted(str(names[i]), float(weights[i]), int(i)) for i in order[:most] if weights[i] != 0)
