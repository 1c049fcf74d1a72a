"""How far to trust a word's best mate: by how often two halves of the pairs agree."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit

from ._links import Links, link_words, two_best

__all__ = ["TRUST_STEPS", "best_mates", "fit_trust", "trust"]

_HALVINGS = 2
_MOST_PAIRS = 5000  # more pairs are not halved: what evidence is worth does not depend on their number
TRUST_STEPS = 4 * _HALVINGS  # calls of `advance`
_PRIOR_MEAN = np.array([0.3, 1.2, 0.6, 0.6])  # from corpora of verses, debates and descriptions
_NEGLIGIBLE_SHARE = 1e-3


def best_mates(links: Links) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Words that have a mate, the best mate of each, whether it is mutual, and the evidence for it.

    Evidence is (1, log links, log share, log lead): how often the two are linked, in what share of the documents with
    either word, and the ratio of that share to the next best share of either word. Links and share are multiplied by
    1 - df df' / (n together), which removes what is due to chance.
    """
    words, mates, share, next_best = two_best(links.shares)
    columns, rows, strongest, second = two_best(sp.csr_array(links.shares.T))
    of_column = np.searchsorted(columns, mates)
    mutual = rows[of_column] == words
    rival = np.maximum(next_best, np.where(mutual, second[of_column], strongest[of_column]))
    lead = np.clip(np.log((share + _NEGLIGIBLE_SHARE) / (rival + _NEGLIGIBLE_SHARE)), -4, 4)
    documents, mate_documents = links.documents[0][words], links.documents[1][mates]
    # indexed by no words, a sparse array would stay one
    together = np.asarray(links.together[words, mates]).ravel() if len(words) else np.empty(0)
    beyond = share * np.maximum(0.0, 1 - documents * mate_documents / (links.n_documents * together))
    n_links = beyond * (documents + mate_documents) / 2
    evidence = np.column_stack([np.ones(len(words)), np.log(n_links + 0.1), np.log(beyond + 0.01), lead])
    return words, mates, mutual, evidence


def trust(evidence: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Estimated probability that the best mate is right."""
    return expit(evidence @ coefficients)


def fit_trust(X: sp.csr_array, Y: sp.csr_array, advance: Callable[[], None] = lambda: None) -> np.ndarray:
    """Coefficients b of trust = 1 / (1 + exp(-b . evidence)), estimated without a dictionary.

    Two halves of the pairs are linked independently. They agree on the mate of a word if both are right, so

        P(agree) = trust(evidence in one half) trust(evidence in the other),

    and b maximises the log-likelihood of agreements and disagreements, over words of both languages and two halvings,
    minus |b - prior mean|^2 / 2. More evidence never lowers trust. If both halves agree on a wrong mate, because two
    words always occur together, it counts as right.
    """
    rng = np.random.default_rng(0)
    one, other, alike = [], [], []
    n = min(X.shape[0], _MOST_PAIRS)
    for _ in range(_HALVINGS):
        order = rng.permutation(X.shape[0])[:n]
        halves = [link_words(X[rows], Y[rows], advance) for rows in (order[: n // 2], order[n // 2 :])]
        for both in (halves, [half.transposed() for half in halves]):
            (words, mates, _, evidence), (other_words, other_mates, _, other_evidence) = map(best_mates, both)
            _, here, there = np.intersect1d(words, other_words, assume_unique=True, return_indices=True)
            one.append(evidence[here])
            other.append(other_evidence[there])
            alike.append(mates[here] == other_mates[there])
    P, Q, agreed = np.concatenate(one), np.concatenate(other), np.concatenate(alike)

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        p, q = trust(P, b), trust(Q, b)
        both = np.clip(p * q, 1e-12, 1 - 1e-12)
        slope = np.where(agreed, 1.0, -both / (1 - both))  # of the log-likelihood in log(p q)
        value = -np.sum(np.log(np.where(agreed, both, 1 - both))) + np.sum((b - _PRIOR_MEAN) ** 2) / 2
        return value, -((slope * (1 - p)) @ P + (slope * (1 - q)) @ Q) + b - _PRIOR_MEAN

    return minimize(loss, _PRIOR_MEAN, jac=True, method="L-BFGS-B", bounds=[(None, None)] + [(0, None)] * 3).x
