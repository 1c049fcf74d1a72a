"""The page of a report, one self-contained HTML file, and its figures."""

from os import PathLike
from typing import Any

import numpy as np

from .._drawing import COLOURS, component_axis, new_figure, to_svg
from .._files import atomic_write
from .._pages import check_page_tools, render_template
from ..text import BilingualModel
from ._content import ReportData, prepare

__all__ = ["correlation_figure", "render", "sparsity_figure", "write_report"]

_FIRST_COLOUR, _SECOND_COLOUR = COLOURS[:2]


def write_report(model: BilingualModel, path: str | PathLike[str], *, texts: bool = True) -> None:
    """Write the page of a fitted model, with or without its documents; the file appears complete or not at all."""
    page = render(prepare(model, texts=texts)).encode()
    with atomic_write(path) as file:
        file.write(page)


def render(data: ReportData) -> str:
    """The page of a report's data."""
    check_page_tools("reports")
    from markupsafe import Markup

    drawn = {"correlations": correlation_figure(data), "sparsity": sparsity_figure(data)}
    figures = {name: Markup(to_svg(figure)) for name, figure in drawn.items()}
    return render_template(__package__, "template.html", data=data, figures=figures)


def correlation_figure(data: ReportData) -> Any:
    """The correlation of each component's two scores, in training and on pairs left out."""
    figure, axes, numbers = _component_figure(data)
    style: dict[str, Any] = {"linewidth": 1.2, "marker": "o", "markersize": 3}
    axes.plot(numbers, data.correlations, color=_FIRST_COLOUR, label="in training", **style)
    if data.held_out:
        axes.plot(numbers, data.held_out, color=_SECOND_COLOUR, label="left out", **style)
        axes.legend(frameon=False, loc="lower right")
    label = "correlation" if data.held_out else "correlation in training"
    axes.set(xlabel="component", ylabel=label, ylim=(min([0.0, *data.held_out]), 1.02))
    return figure


def sparsity_figure(data: ReportData) -> Any:
    """Number of words of the first language, and of words or documents of the second, that the first components use."""
    from matplotlib.ticker import MaxNLocator

    figure, axes, numbers = _component_figure(data)
    marker: dict[str, Any] = {"marker": "o", "markersize": 3} if len(numbers) < 20 else {}
    lower = int(np.argmin([data.words_used[-1], data.second_used[-1]]))  # its label goes below its line
    curves = (
        (f"{data.languages[0]} words", data.words_used, _FIRST_COLOUR),
        (f"{data.languages[1]} {data.second_unit}", data.second_used, _SECOND_COLOUR),
    )
    for i, (label, used, colour) in enumerate(curves):
        axes.plot(numbers, used, color=colour, linewidth=1.8, **marker)
        place: dict[str, Any] = {"xytext": (-4, -12 if i == lower else 5), "textcoords": "offset points", "ha": "right"}
        axes.annotate(label, (len(used), used[-1]), color=colour, **place)
    axes.set(xlabel="components", ylabel="used in all", ylim=(0, None))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    return figure


def _component_figure(data: ReportData) -> tuple[Any, Any, range]:
    """A figure, its axes, and the numbers of the components along the x axis."""
    figure, (axes,) = new_figure()
    component_axis(axes, len(data.correlations))
    return figure, axes, range(1, len(data.correlations) + 1)
