"""What a fitted model shows in a notebook: its result, without anything to load and nothing drawn."""

from html import escape
from typing import Any

from .._wording import counted
from ._reading import what_is_read, what_is_shown
from ._result import LearntComponent, LearntView, Result

__all__ = ["ShowsResult", "notebook_html"]

_COMPONENTS, _FEATURES = 8, 6  # number of components, and of features of each view in a component


class ShowsResult:
    """A model that notebooks show by its result once it is fitted, and before by its parameters.

    A subclass has `result(top)`, and is a scikit-learn estimator.
    """

    def result(self, top: int | None = None) -> Result:
        """What was learnt and how far to trust it."""
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "view_names_")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not self.__sklearn_is_fitted__():
            return super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return f"<pre>{escape(repr(self))}</pre>"
        return notebook_html(self.result(_FEATURES))


def notebook_html(result: Result) -> str:
    """The first components as a table, with what the samples left out say."""
    views, verdict = result.views, result.evidence.verdict or "nothing was left out to test this."
    sentences = filter(None, [verdict, what_is_read(result), what_is_shown(result)])
    header = "".join(f"<th>{escape(view.name)}</th>" for view in views)
    rows = "".join(_row(component, views) for component in result.components[:_COMPONENTS])
    more = len(result.components) - _COMPONENTS
    samples = "" if result.n_samples is None else f" from {result.n_samples} {escape(views[0].samples)}"
    return (
        f"<div><p><b>{counted(len(result.components), 'component')}</b> of {escape(_listed(views))}{samples}. "
        f"{escape(' '.join(sentence[0].upper() + sentence[1:] for sentence in sentences))}</p>"
        f"<table><thead><tr><th></th><th>held out</th>{header}</tr></thead><tbody>{rows}</tbody></table>"
        f"{f'<p>and {more} more</p>' if more > 0 else ''}</div>"
    )


def _row(component: LearntComponent, views: tuple[LearntView, ...]) -> str:
    held_out = component.held_out_correlation
    cells = "".join(f"<td>{escape(_shown(component, v, view))}</td>" for v, view in enumerate(views))
    return f"<tr><td>{component.number + 1}</td><td>{'' if held_out is None else f'{held_out:.2f}'}</td>{cells}</tr>"


def _shown(component: LearntComponent, v: int, view: LearntView) -> str:
    """The strongest features of a component in a view, with the signs of columns."""
    found = component.views[v]
    if not found.features:
        return counted(found.n_weights, *view.weighted)
    signed, minus = not view.is_text, "\N{MINUS SIGN}"
    return ", ".join(
        f"{minus if signed and (each.loading or each.weight) < 0 else ''}{each.name}"
        for each in found.features[:_FEATURES]
    )


def _listed(views: tuple[LearntView, ...]) -> str:
    *others, last = (view.name for view in views)
    return f"{', '.join(others)} and {last}"
