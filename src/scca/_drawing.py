"""Style and export of figures: matplotlib's object interface, without global state or a display."""

import io
from itertools import count
from typing import Any

__all__ = ["COLOURS", "INK", "component_axis", "new_figure", "to_png", "to_svg"]

INK = "#22313f"
COLOURS = ("#1b7f79", "#c8553d", "#6b5ca5", "#b58900", "#5c6b7a")
_MOST_TICKS = 10


def new_figure(columns: int = 1, *, width: float = 6.4, height: float = 3.0) -> Any:
    """A figure and a list of its `columns` axes, side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(1, columns, squeeze=False)[0])
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=9)
    return figure, panels


def component_axis(axes: Any, n_components: int) -> None:
    """Let the x axis count components from 1: matplotlib's ticks begin at 0, and are fractions if there are few."""
    steps = (digit * 10**exponent for exponent in count() for digit in (1, 5))
    step = next(step for step in steps if n_components <= _MOST_TICKS * step)
    axes.set_xlim(0.5, n_components + 0.5)
    axes.set_xticks(sorted({1, *range(step, n_components + 1, step)}))


def to_svg(figure: Any) -> str:
    """The figure as an SVG element to embed in a page; the same figure gives the same bytes."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "scca", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def to_png(figure: Any) -> bytes:
    """The figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()
