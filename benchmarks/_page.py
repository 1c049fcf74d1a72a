"""The results of a run as one page, with figures, from the JSON alone."""

from pathlib import Path
from typing import Any

from scca._drawing import COLOURS, INK, new_figure, to_svg
from scca._pages import render_template

from ._growth_tables import Axis, axes_of, tables_of

__all__ = ["growth_figure", "render_page", "write_page"]

_TABLES = {
    "dense": "One component beside lasso solvers",
    "sparse": "A lasso on many short documents",
    "first-call": "Import and first call in a new process",
    "first-fit": "The first scca fit",
    "memory": "Peak memory",
}
_LINES = ("-", "--")  # the second for more methods than there are colours


def write_page(data: dict, folder: Path) -> None:
    """Write `data` as index.html, which needs no other file."""
    (folder / "index.html").write_text(render_page(data), encoding="utf-8")


def render_page(data: dict) -> str:
    """The page of what was measured so far."""
    from markupsafe import Markup

    axes = axes_of(data["growth"])
    sections = [(axis.title, Markup(to_svg(growth_figure(axis))), tables_of(axis)) for axis in axes]
    texts = [(title, data["tables"][name]) for name, title in _TABLES.items() if name in data["tables"]]
    return render_template("benchmarks", "page.html", about=data["about"], sections=sections, texts=texts)


def growth_figure(axis: Axis) -> Any:
    """Time and memory against size, both logarithmic, one line per method."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullLocator

    figure, panels = new_figure(2, width=8.0, height=3.8)
    quantities = (("seconds", 1.0, "seconds"), ("bytes", 1e-6, "peak memory, MB"))
    for panel, (quantity, scale, label) in zip(panels, quantities, strict=True):
        for i, name in enumerate(axis.methods):
            sizes, values = axis.line(name, quantity)
            shown = [(size, scale * value) for size, value in zip(sizes, values, strict=True) if value > 0]
            if not shown:
                continue
            panel.plot(
                *zip(*shown, strict=True),
                color=COLOURS[i % len(COLOURS)],
                linestyle=_LINES[i // len(COLOURS) % len(_LINES)],
                linewidth=2.4 if i == 0 else 1.3,
                marker="o",
                markersize=4,
                label=name if quantity == "seconds" else None,
            )
        panel.set(xscale="log", yscale="log", xlabel=axis.label, ylabel=label)
        panel.set_xticks(axis.sizes, [f"{size:,g}" for size in axis.sizes])
        panel.xaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        panel.yaxis.set_minor_formatter(LogFormatter())  # only where there are few powers of ten
        panel.grid(color=INK, alpha=0.12, linewidth=0.6)
    if panels[0].lines:
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
