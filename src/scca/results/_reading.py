"""What a model reads of its views, what it costs to read no more, and what it shows, in sentences."""

from .._wording import joined
from ._result import ComponentView, LearntView, Result

__all__ = ["what_is_read", "what_is_shown"]


def what_is_read(result: Result) -> str:
    """How many features of each view the model reads, and what that costs on samples left out, in a sentence.

    Empty for anchored components and for views that have weights on samples alone.
    """
    views = [view for view in result.views if view.weights_on == "features" and view.used]
    if not views or not result.has_factors:
        return ""
    return f"the model reads {joined([_read_of(view) for view in views])}{_cost(result, views)}."


def what_is_shown(result: Result) -> str:
    """Which of the features that a component weighs are shown, in a sentence; empty if all of them can be."""
    joint = [view for v, view in enumerate(result.views) if any(_shows_fewer(c.views[v]) for c in result.components)]
    if not joint:
        return ""
    features = f"{joined([view.name for view in joint])} {_units_of(joint)}"
    return f"each component weighs all {features} that are read; those shown are selected to say what it is about."


def _shows_fewer(view: ComponentView) -> bool:
    return view.n_shown < view.n_weights


def _units_of(views: list[LearntView]) -> str:
    """What the features of these views are called, if all have the same word."""
    found = {view.units for view in views}
    return found.pop() if len(found) == 1 else "features"


def _read_of(view: LearntView) -> str:
    read, n = view.used[-1], view.n_features
    if n == 1 and read == 1:
        return f"the only {view.name} {view.unit}"
    return f"{'all' if read == n else f'{read:,} of'} {n:,} {view.name} {view.units}"


def _cost(result: Result, views: list[LearntView]) -> str:
    """The end of the sentence: what the features that are read find, or what is known of fewer."""
    evidence, units = result.evidence, _units_of(views)
    left_out = "pairs" if len(result.views) == 2 else "samples"
    if any(view.used[-1] < view.n_features for view in views):
        if evidence.mates_kept is None:
            return f"; what the other {units} would add is not known"
        interval = "" if (known := evidence.mates_kept_interval) is None else " ({:.2f} to {:.2f})".format(*known)
        return (
            f", which find the mates of {left_out} left out with {evidence.mates_kept:.2f}{interval} times the average "
            f"precision of all {units}"
        )
    if not _are_decided(result):
        return ""
    if evidence.mates_kept is None:
        return f"; there are too few {left_out} to tell whether fewer {units} would do"
    return f"; fewer {units} find the mates of {left_out} left out less well"


def _are_decided(result: Result) -> bool:
    """Whether the fit itself decided how many features of a view all components weigh."""
    settings = result.provenance.get("settings", {})
    asked = settings.get("n_features", settings.get("n_words"))
    renderings = {view.rendering for view in result.views}
    return asked == "auto" and "joint" in renderings and "sparse" not in renderings
