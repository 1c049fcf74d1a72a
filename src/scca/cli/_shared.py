"""What several commands do alike: load a model, tell a language, clip and list."""

from pathlib import Path
from typing import Any

import numpy as np

from .. import load
from ..text import BilingualModel, Component
from ._terminal import Terminal

__all__ = [
    "as_penalty",
    "clipped",
    "component_dict",
    "described",
    "language_of",
    "listed",
    "load_bilingual",
    "note_language",
    "note_unknown",
    "summary_of",
]


def load_bilingual(path: Path) -> BilingualModel:
    model = load(path)
    if not isinstance(model, BilingualModel):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a bilingual model; make one with scca fit.")
    return model


def as_penalty(given: str) -> str | float:
    try:
        return float(given)
    except ValueError:
        return given


def language_of(model: BilingualModel, documents: list[str], given: str | None, terminal: Terminal) -> str:
    if given is not None:
        model.other(given)  # complains about a language the model does not have
        return given
    source = model.detect_language(documents)
    terminal.note(f"queries taken to be {source}, by their words")
    return source


def note_unknown(terminal: Terminal, what: str, known: Any, language: str) -> None:
    unknown = [i for i, is_known in enumerate(known) if not is_known]
    if unknown:
        terminal.note(
            f"scca: note: {len(unknown)} {what} hold no known {language} word (first: line {unknown[0] + 1}); they tie "
            "with everything."
        )


def note_language(terminal: Terminal, model: BilingualModel, documents: list[str], language: str) -> None:
    """Say so where documents look like the other language."""
    counts = {name: model.vectorize(documents, name).nnz for name in model.languages_}
    if counts[model.other(language)] > 2 * counts[language]:
        terminal.note(f"scca: note: the candidates look like {model.other(language)}, not {language}; check the files.")


def summary_of(model: BilingualModel) -> dict[str, Any]:
    scca = model.scca_
    return {
        "languages": list(model.languages_),
        "components": scca.n_components_,
        "documents": model.training_[0].shape[0],
        "words": [len(vectorizer.words_) for vectorizer in model.vectorizers_],
        "words_used": int(scca.x_weights_.any(axis=1).sum()),
        **_used_of_the_second(model),
        "largest_dual_gap": float(scca.dual_gap_.max()),
    }


def _used_of_the_second(model: BilingualModel) -> dict[str, Any]:
    """Documents, or words where components are shared factors."""
    used = int(model.scca_.y_weights_.any(axis=1).sum())
    if model.scca_.anchors is None:
        held_out = getattr(model.scca_, "held_out_correlations_", None)
        if held_out is not None and not np.isfinite(held_out).all():  # too few pairs to leave any out
            held_out = None
        return {
            "documents_used": None,
            "mate_words_used": used,
            "held_out_correlations": None if held_out is None else held_out.tolist(),
            "p_value": None if held_out is None else model.scca_.p_value_,
        }
    return {"documents_used": used}


def described(c: Component) -> str:
    """A component in numbers."""
    if c.anchor is None:
        held_out = "" if c.held_out_correlation is None else f" ({c.held_out_correlation:.3f} on pairs left out)"
        return f"correlation {c.correlation:.3f}{held_out}, {len(c.words)} and {len(c.mate_words)} words"
    documents = f"{len(c.documents)} document{'s' * (len(c.documents) != 1)}"
    return f"correlation {c.correlation:.3f}, {len(c.words)} words, {documents}"


def component_dict(c: Component, top: int) -> dict[str, Any]:
    def weighted(items: Any, name: str) -> Any:
        plain = [{name: item.name, "weight": item.weight, "index": item.index} for item in items[:top]]
        if items and items[0].loading is not None:
            return [entry | {"loading": item.loading} for entry, item in zip(plain, items, strict=False)]
        return plain

    return {
        "component": c.number,
        "anchor": c.anchor,
        "correlation": c.correlation,
        "held_out_correlation": c.held_out_correlation,
        "mu": c.mu,
        "gamma": c.gamma if c.gamma != float("inf") else None,
        "dual_gap": c.dual_gap,
        "words": weighted(c.words, "word"),
        "documents": weighted(c.documents, "document"),
        "mate_words": weighted(c.mate_words, "word"),
    }


def listed(items: Any) -> str:
    return "  ".join(f"{item.name} {item.weight:+.2f}" for item in items)


def clipped(text: str, width: int = 70) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
