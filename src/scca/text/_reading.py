"""What is shown of a shared factor: its words, and the documents that have it."""

from collections.abc import Sequence

import numpy as np

from ..views import FeatureView

__all__ = ["presence", "presence_loadings", "strongest_documents", "words_in_order"]


def presence(scores: Sequence[np.ndarray]) -> np.ndarray:
    """How much each document has of each factor (n x c): the positive parts of its scores, added up over languages.

    A document either has a topic, more or less, or it lacks it; how far below the mean it lies says nothing.
    """
    return np.sum([np.maximum(side, 0.0) for side in scores], axis=0)


def presence_loadings(view: FeatureView, present: np.ndarray) -> np.ndarray:
    """Cosines (m x c) of every word of a view, as it is prepared, with the presence of each factor, centred.

    Words that are common among documents without the factor do not gain by them, as they do where the whole score is
    taken.
    """
    centred = present - present.mean(axis=0)
    norms = np.sqrt(view.square_norms())[:, None] * np.linalg.norm(centred, axis=0)
    return view.rmatmat(centred) / np.where(norms > 0, norms, 1.0)


def words_in_order(weights: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """Positions of the words that have a weight in a factor: what goes with it first, what stays away last."""
    order = np.argsort(-loadings, kind="stable")
    return order[weights[order] != 0]


def strongest_documents(present: np.ndarray, count: int) -> np.ndarray:
    """Positions of the documents that have most of a factor, and no more than have it at all."""
    order = np.argsort(-present, kind="stable")[:count]
    return order[present[order] > 0]
