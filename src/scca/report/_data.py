"""The numbers and words of a report, plain enough to be saved as JSON."""

from dataclasses import asdict, dataclass

import numpy as np

from ..text import BilingualModel

__all__ = ["ReportData", "prepare", "running_union"]

_SHOWN = 12  # words and documents of a component


@dataclass(frozen=True)
class ReportData:
    """What a report shows.

    Attributes
    ----------
    languages : list of str
    documents : int
        Training pairs.
    vocabulary : list of int
        Words of either language.
    correlations : list of float
        One a component.
    words_used, documents_used : list of int
        How many different ones the first 1, 2, ... components use.
    components : list of dict
        Words, documents, penalties and certificate of each.
    """

    languages: list[str]
    documents: int
    vocabulary: list[int]
    correlations: list[float]
    words_used: list[int]
    documents_used: list[int]
    largest_gap: float
    components: list[dict]


def prepare(model: BilingualModel) -> ReportData:
    """Collect what the report of a fitted model shows."""
    scca = model.scca_
    components = []
    for component in model.components(n_mate_words=_SHOWN):
        shown = asdict(component)
        shown |= {"n_words": len(component.words), "n_documents": len(component.documents)}
        shown["gamma"] = component.gamma if np.isfinite(component.gamma) else None
        for name in ("words", "documents"):
            shown[name] = shown[name][:_SHOWN]
        components.append(shown)
    return ReportData(
        languages=list(model.languages_),
        documents=model.training_[0].shape[0],
        vocabulary=[len(vectorizer.words_) for vectorizer in model.vectorizers_],
        correlations=scca.correlations_.tolist(),
        words_used=running_union(scca.x_weights_),
        documents_used=running_union(scca.y_weights_),
        largest_gap=max(0.0, float(scca.dual_gap_.max())),
        components=components,
    )


def running_union(weights: np.ndarray) -> list[int]:
    """How many rows have a weight in the first 1, 2, ... columns."""
    return np.logical_or.accumulate(weights != 0, axis=1).sum(axis=0).tolist()
