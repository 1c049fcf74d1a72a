"""Figures from a report's numbers."""

import io

from ._data import ReportData

__all__ = ["correlation_figure", "sparsity_figure", "to_svg"]

_INK, _ACCENT, _SECOND = "#22313f", "#1b7f79", "#c8553d"


def _axes(width: float = 6.4, height: float = 3.0):
    # the object interface of matplotlib: no global state, no display
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=_INK, labelsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure, axes


def correlation_figure(data: ReportData):
    """The correlation of each component's two training scores."""
    figure, axes = _axes()
    numbers = range(1, len(data.correlations) + 1)
    axes.plot(numbers, data.correlations, color=_ACCENT, linewidth=1.2, marker="o", markersize=3)
    axes.set(xlabel="component", ylabel="correlation in training", ylim=(0, 1.02))
    return figure


def sparsity_figure(data: ReportData):
    """How many words and documents the first components use in all."""
    figure, axes = _axes()
    numbers = range(1, len(data.words_used) + 1)
    marker = {"marker": "o", "markersize": 3} if len(numbers) < 20 else {}
    axes.plot(numbers, data.words_used, color=_ACCENT, linewidth=1.8, **marker)
    axes.plot(numbers, data.documents_used, color=_SECOND, linewidth=1.8, **marker)
    labels = (f"{data.languages[0]} words", f"{data.languages[1]} documents")
    for used, colour, label in zip((data.words_used, data.documents_used), (_ACCENT, _SECOND), labels, strict=True):
        axes.annotate(
            label, (len(used), used[-1]), xytext=(-4, 5), textcoords="offset points", color=colour, ha="right"
        )
    axes.set(xlabel="components", ylabel="used in all", ylim=(0, None))
    return figure


def to_svg(figure) -> str:
    """The figure as an SVG element that stands inside a page."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "scca", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    return text[text.index("<svg") :]
