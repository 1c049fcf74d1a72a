"""The page of a report, one self-contained HTML file, and its figures."""

from base64 import b64encode
from os import PathLike
from typing import Any

import numpy as np

from .._drawing import COLOURS, component_axis, new_figure, to_svg
from .._files import atomic_write
from .._pages import check_page_tools, render_template
from .._wording import counted, joined
from ..results import Result, what_is_read, what_is_shown

__all__ = ["MOST_SHOWN", "correlation_figure", "render", "sparsity_figure", "write_report"]

MOST_SHOWN = 12  # number of features and samples of a component in a view


def write_report(result: Result, path: str | PathLike[str]) -> None:
    """Write the page of a result; the file appears complete or not at all."""
    page = render(result).encode()
    with atomic_write(path) as file:
        file.write(page)


def render(result: Result) -> str:
    """The page of a result."""
    check_page_tools("reports")
    from markupsafe import Markup

    figures = {}
    if result.components:
        drawn = {"sparsity": sparsity_figure(result), "correlations": correlation_figure(result)}
        figures = {name: Markup(to_svg(figure)) for name, figure in drawn.items()}
    return render_template(
        __package__,
        "template.html",
        result=result.shortened(MOST_SHOWN),
        figures=figures,
        names=joined([view.name for view in result.views]),
        is_read=what_is_read(result),
        is_shown=what_is_shown(result),
        left_out="pairs" if len(result.views) == 2 else "samples",
        same_units=len({view.units for view in result.views}) == 1,
        same_samples=len({view.samples for view in result.views}) == 1,
        n_colours=len(COLOURS),
        counted=counted,
        data_url=_data_url,
    )


def _data_url(drawing: str) -> str:
    """A drawing as the source of an image, in which a browser runs no script."""
    return f"data:image/svg+xml;base64,{b64encode(drawing.encode()).decode()}"


def correlation_figure(result: Result) -> Any:
    """The correlation of each component's scores, in training and on samples left out."""
    figure, axes, numbers = _component_figure(result)
    style: dict[str, Any] = {"linewidth": 1.2, "marker": "o", "markersize": 3}
    axes.plot(numbers, [c.correlation for c in result.components], color=COLOURS[0], label="in training", **style)
    held_out = [c.held_out_correlation for c in result.components if c.held_out_correlation is not None]
    if held_out:
        axes.plot(numbers[: len(held_out)], held_out, color=COLOURS[1], label="left out", **style)
        axes.legend(frameon=False, loc="lower right")
    label = "correlation" if held_out else "correlation in training"
    axes.set(xlabel="component", ylabel=label, ylim=(min([0.0, *held_out]), 1.02))
    return figure


def sparsity_figure(result: Result) -> Any:
    """Number of different features (or samples) of each view with a weight in the first components."""
    from matplotlib.ticker import MaxNLocator

    figure, axes, numbers = _component_figure(result)
    marker: dict[str, Any] = {"marker": "o", "markersize": 3} if len(numbers) < 20 else {}
    lower = int(np.argmin([view.used[-1] for view in result.views]))  # its label goes below its line
    for v, view in enumerate(result.views):
        colour, label = COLOURS[v % len(COLOURS)], f"{view.name} {view.weighted[1]}"
        axes.plot(numbers, view.used, color=colour, linewidth=1.8, label=label, **marker)
        if len(result.views) == 2:  # the labels of more lines would overlap
            place: dict[str, Any] = {"xytext": (-4, -12 if v == lower else 5), "textcoords": "offset points"}
            axes.annotate(label, (len(view.used), view.used[-1]), color=colour, ha="right", **place)
    if len(result.views) > 2:
        axes.legend(frameon=False, loc="lower right")
    axes.set(xlabel="components", ylabel="used in all", ylim=(0, None))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    return figure


def _component_figure(result: Result) -> tuple[Any, Any, range]:
    """A figure, its axes, and the numbers of the components along the x axis."""
    figure, (axes,) = new_figure()
    component_axis(axes, len(result.components))
    return figure, axes, range(1, len(result.components) + 1)
