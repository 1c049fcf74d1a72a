"""The numbers and words of a report, plain enough to be saved as JSON."""

from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..estimators import SparseCCA
from ..text import BilingualModel

__all__ = ["ReportData", "prepare", "running_union"]

_MOST_SHOWN = 12  # words and documents of a component


@dataclass(frozen=True)
class ReportData:
    """The content of a report.

    Attributes
    ----------
    languages : list of str
    documents : int
        Training pairs.
    vocabulary : list of int
        Number of words of each language.
    correlations, held_out : list of float
        One per component, in training and on pairs left out; the latter is empty for anchored components.
    words_used, second_used : list of int
        Number of different words of the first language, and of words (with anchors, documents) of the second, that the
        first 1, 2, ... components use.
    second_unit : {"documents", "words"}
    second_total : int
        How many words or documents of the second language there are.
    verdict : str
        What the pairs left out say about the model; empty if none were left out.
    components : list of dict
        Words, documents, penalties and certificate of each component.
    """

    languages: list[str]
    documents: int
    vocabulary: list[int]
    correlations: list[float]
    held_out: list[float]
    words_used: list[int]
    second_used: list[int]
    second_unit: str
    second_total: int
    largest_gap: float
    verdict: str
    components: list[dict[str, Any]]


def prepare(model: BilingualModel, *, texts: bool = True) -> ReportData:
    """The content of the report of a fitted model; without `texts`, documents are shown by their numbers."""
    if not texts:
        model = copy(model)
        model.texts_ = None
    scca = model.scca_
    components = []
    for component in model.components(n_mate_words=_MOST_SHOWN):
        shown = asdict(component)
        shown["gamma"] = component.gamma if component.gamma is not None and np.isfinite(component.gamma) else None
        for name in ("words", "documents", "mate_words"):
            shown[f"n_{name}"] = len(shown[name])
            shown[name] = shown[name][:_MOST_SHOWN]
        components.append(shown)
    vocabulary = [len(vectorizer.words_) for vectorizer in model.vectorizers_]
    has_factors = isinstance(scca, SparseCCA)
    return ReportData(
        languages=list(model.languages_),
        documents=model.n_documents_,
        vocabulary=vocabulary,
        correlations=scca.correlations_.tolist(),
        held_out=[r for r in getattr(scca, "held_out_correlations_", np.empty(0)).tolist() if not np.isnan(r)],
        words_used=running_union(scca.x_weights_),
        second_used=running_union(scca.y_weights_),
        second_unit="words" if has_factors else "documents",
        second_total=vocabulary[1] if has_factors else model.training_[0].shape[0],
        largest_gap=max(0.0, float(scca.dual_gap_.max())),
        verdict=getattr(scca, "verdict_", ""),
        components=components,
    )


def running_union(weights: np.ndarray) -> list[int]:
    """The number of rows with a weight in the first 1, 2, ... columns."""
    return np.logical_or.accumulate(weights != 0, axis=1).sum(axis=0).tolist()
