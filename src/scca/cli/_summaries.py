"""Results in plain numbers and words, as commands print them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._wording import counted, joined

if TYPE_CHECKING:
    from ..results import ComponentView, Feature, LearntComponent, LearntView, Result
    from ..text import Weighted

__all__ = [
    "clipped",
    "component_dict",
    "described",
    "explained",
    "left_out",
    "listed",
    "listed_features",
    "summary_of",
    "used_of",
    "word_weights",
]


def left_out(result: "Result") -> str:
    """What samples are called in sentences about those left out."""
    return "pairs" if len(result.views) == 2 else "samples"


def summary_of(result: "Result") -> dict[str, Any]:
    """What `scca fit` prints of a model as JSON; two languages have keys of their own beside those of all views."""
    used = [view.used[-1] if view.used else 0 for view in result.views]
    summary: dict[str, Any] = {
        "views": [
            {
                "name": view.name,
                "kind": view.kind,
                "features": view.n_features,
                "used": n,
                "read": n if view.weights_on == "features" else None,
                "weights_on": view.weights_on,
            }
            for view, n in zip(result.views, used, strict=True)
        ],
        "components": len(result.components),
        "samples": result.n_samples,
    }
    if len(result.text_views) == len(result.views):
        summary |= {
            "languages": [view.name for view in result.views],
            "documents": result.n_samples,
            "words": [view.n_features for view in result.views],
            "words_read": [each["read"] for each in summary["views"]],
        }
    if len(result.text_views) == len(result.views) == 2:
        second = "mate_words_used" if result.has_factors else "documents_used"
        summary |= {"words_used": used[0], "documents_used": None, second: used[1]}
    if result.has_factors:
        evidence, known = result.evidence, [c for c in result.components if c.held_out_correlation is not None]
        summary |= {
            "held_out_correlations": [c.held_out_correlation for c in known] or None,
            "held_out_intervals": [c.held_out_interval for c in known] if _all_intervals(known) else None,
            "folds": evidence.n_folds,
            "p_value": evidence.p_value,
            "verdict": evidence.verdict,
            "mates_kept": evidence.mates_kept,
            "mates_kept_interval": evidence.mates_kept_interval,
        }
    return summary | {"largest_dual_gap": result.largest_gap}


def _all_intervals(components: "Sequence[LearntComponent]") -> bool:
    """Whether all have intervals, which models of the first version do not have."""
    return bool(components) and all(c.held_out_interval is not None for c in components)


def used_of(view: "LearntView") -> str:
    """How many of a view's features have weights, as text."""
    n = view.used[-1] if view.used else 0
    if view.weights_on == "features":
        return f"{n} of {view.n_features} {view.name} {view.units}"
    return f"{n} {view.name} {view.weighted[1]}"


def described(result: "Result", c: "LearntComponent") -> str:
    """The numbers of a component as text."""
    correlation = f"correlation {c.correlation:.3f}"
    if c.held_out_correlation is not None:
        interval = "" if c.held_out_interval is None else ", {:.2f} to {:.2f},".format(*c.held_out_interval)
        correlation += f" ({c.held_out_correlation:.3f}{interval} on {left_out(result)} left out)"
    units = [view.weighted for view in result.views]
    if len(set(units)) == 1:
        *others, last = (each.n_weights for each in c.views)
        selected = ""
        if any(each.n_shown < each.n_weights for each in c.views):
            selected = f" ({joined([str(each.n_shown) for each in c.views])} selected)"
        return f"{correlation}, {', '.join(map(str, others))} and {counted(last, *units[0])}{selected}"
    *words, last_words = (
        counted(each.n_weights, *unit) + (f" ({each.n_shown} selected)" if each.n_shown < each.n_weights else "")
        for each, unit in zip(c.views, units, strict=True)
    )
    return f"{correlation}, {', '.join(words)}{' and' if len(words) > 1 else ','} {last_words}"


def explained(result: "Result", n_components: int, top: int) -> dict[str, Any]:
    """The first components as JSON: the schema of results, with the names of the views in every component."""
    shown = result.to_dict() | {
        "components": [component_dict(result, c, top) for c in result.components[:n_components]]
    }
    texts = [view.name for view in result.text_views]
    evidence = {"p_value": result.evidence.p_value, "verdict": result.evidence.verdict}
    return ({"languages": texts} if texts else {}) | evidence | shown


def component_dict(result: "Result", c: "LearntComponent", top: int) -> dict[str, Any]:
    """A component as JSON, with its `top` features and samples; the words of two languages have names of their own."""
    found: dict[str, Any] = {
        "component": c.number,
        "anchor": c.anchor,
        "correlation": c.correlation,
        "held_out_correlation": c.held_out_correlation,
        "held_out_interval": c.held_out_interval,
        "pair_correlations": c.pair_correlations,
        "held_out_pair_correlations": c.held_out_pair_correlations,
        "held_out_pair_intervals": c.held_out_pair_intervals,
        "mu": c.penalties[0],
        "gamma": None if c.anchor is None else c.penalties[1],
        "penalties": c.penalties,
        "dual_gap": c.dual_gap,
        "views": [
            {
                "name": view.name,
                "kind": view.kind,
                "n_weights": each.n_weights,
                "n_shown": each.n_shown,
                "features": [_feature_dict(feature, "name") for feature in each.features[:top]],
                "samples": [{"name": s.name, "score": s.score, "index": s.index} for s in each.samples[:top]],
            }
            for view, each in zip(result.views, c.views, strict=True)
        ],
    }
    if len(result.text_views) == len(result.views) == 2:
        first, second = c.views
        found |= {
            "words": [_feature_dict(word, "word") for word in first.features[:top]],
            "documents": [
                {"document": s.name or f"document {s.index + 1}", "weight": s.score, "index": s.index}
                for s in second.samples[:top]
            ],
            "mate_words": [_feature_dict(word, "word") for word in second.features[:top]],
        }
    return found


def _feature_dict(feature: "Feature", name: str) -> dict[str, Any]:
    found = {name: feature.name, "weight": feature.weight, "index": feature.index}
    return found if feature.loading is None else found | {"loading": feature.loading}


def word_weights(words: Sequence["Weighted"]) -> list[dict[str, Any]]:
    """Words with their weights as JSON."""
    return [{"word": word.name, "weight": word.weight} for word in words]


def listed(words: Sequence["Weighted"]) -> str:
    """Words with their weights as text."""
    return "  ".join(f"{word.name} {word.weight:+.2f}" for word in words)


def listed_features(view: "ComponentView", top: int) -> str:
    """Features with their weights as text; those that are ordered by loading with both, the loading first."""
    return "  ".join(
        f"{each.name} {each.weight:+.2f}"
        if each.loading is None
        else f"{each.name} {each.loading:+.2f} ({each.weight:+.2f})"
        for each in view.features[:top]
    )


def clipped(text: str, width: int = 70) -> str:
    """The text on one line of at most `width` characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
