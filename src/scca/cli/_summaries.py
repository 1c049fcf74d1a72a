"""Models and components in plain numbers and words, as commands print them."""

from collections.abc import Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from .._wording import counted

if TYPE_CHECKING:
    from ..text import BilingualModel, Component, Weighted

__all__ = ["clipped", "component_dict", "described", "listed", "summary_of", "verdict_of", "word_weights"]


def summary_of(model: "BilingualModel") -> dict[str, Any]:
    """What `scca fit` prints of a model as JSON."""
    scca = model.scca_
    second_used = int(scca.y_weights_.any(axis=1).sum())  # words of shared factors, documents of anchored components
    summary = {
        "languages": list(model.languages_),
        "components": scca.n_components_,
        "documents": model.n_documents_,
        "words": [len(vectorizer.words_) for vectorizer in model.vectorizers_],
        "words_used": int(scca.x_weights_.any(axis=1).sum()),
        "documents_used": None if model.anchors is None else second_used,
    }
    if model.anchors is None:
        summary |= {"mate_words_used": second_used} | _held_out_summary(model)
    return summary | {"largest_dual_gap": float(scca.dual_gap_.max())}


def _held_out_summary(model: "BilingualModel") -> dict[str, Any]:
    """What the pairs left out say; None wherever none were left out."""
    scca = model.scca_
    correlations = getattr(scca, "held_out_correlations_", None)
    intervals = getattr(scca, "held_out_intervals_", None)  # not in files of 0.2.0
    if correlations is not None and not all(map(isfinite, correlations)):  # too few pairs to leave any out
        correlations = None
    return {
        "held_out_correlations": None if correlations is None else correlations.tolist(),
        "held_out_intervals": None if correlations is None or intervals is None else intervals.tolist(),
        "folds": getattr(scca, "n_folds_", None),
        "p_value": None if correlations is None else scca.p_value_,
        "verdict": verdict_of(model),
    }


def verdict_of(model: "BilingualModel") -> str | None:
    """What the pairs left out say about the model; None if none were left out."""
    return getattr(model.scca_, "verdict_", None)


def described(c: "Component") -> str:
    """The numbers of a component as text."""
    correlation = f"correlation {c.correlation:.3f}"
    if c.anchor is not None:
        return f"{correlation}, {counted(len(c.words), 'word')}, {counted(len(c.documents), 'document')}"
    if c.held_out_correlation is not None:
        interval = "" if c.held_out_interval is None else ", {:.2f} to {:.2f},".format(*c.held_out_interval)
        correlation += f" ({c.held_out_correlation:.3f}{interval} on pairs left out)"
    return f"{correlation}, {len(c.words)} and {counted(len(c.mate_words), 'word')}"


def component_dict(c: "Component", top: int) -> dict[str, Any]:
    """A component as JSON, with its `top` words and documents."""

    def weighted(items: Sequence["Weighted"], name: str) -> list[dict[str, Any]]:
        return [
            {name: item.name, "weight": item.weight, "index": item.index}
            | ({} if item.loading is None else {"loading": item.loading})
            for item in items[:top]
        ]

    return {
        "component": c.number,
        "anchor": c.anchor,
        "correlation": c.correlation,
        "held_out_correlation": c.held_out_correlation,
        "held_out_interval": c.held_out_interval,
        "mu": c.mu,
        "gamma": c.gamma if c.gamma != inf else None,
        "dual_gap": c.dual_gap,
        "words": weighted(c.words, "word"),
        "documents": weighted(c.documents, "document"),
        "mate_words": weighted(c.mate_words, "word"),
    }


def word_weights(words: Sequence["Weighted"]) -> list[dict[str, Any]]:
    """Words with their weights as JSON."""
    return [{"word": word.name, "weight": word.weight} for word in words]


def listed(words: Sequence["Weighted"]) -> str:
    """Words with their weights as text; words that are ordered by loading with both, the loading first."""
    return "  ".join(
        f"{word.name} {word.weight:+.2f}"
        if word.loading is None
        else f"{word.name} {word.loading:+.2f} ({word.weight:+.2f})"
        for word in words
    )


def clipped(text: str, width: int = 70) -> str:
    """The text on one line of at most `width` characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
