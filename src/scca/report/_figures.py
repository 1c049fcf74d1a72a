"""Figures from a report's numbers."""

from typing import Any

import numpy as np

from .._drawing import COLOURS, component_axis, new_figure
from ._data import ReportData

__all__ = ["correlation_figure", "sparsity_figure"]

_ACCENT, _SECOND = COLOURS[:2]


def _axes(data: ReportData) -> Any:
    figure, (axes,) = new_figure()
    component_axis(axes, len(data.correlations))
    return figure, axes


def correlation_figure(data: ReportData) -> Any:
    """The correlation of each component's two scores, in training and on pairs left out."""
    figure, axes = _axes(data)
    numbers = range(1, len(data.correlations) + 1)
    axes.plot(numbers, data.correlations, color=_ACCENT, linewidth=1.2, marker="o", markersize=3, label="in training")
    if data.held_out:
        axes.plot(numbers, data.held_out, color=_SECOND, linewidth=1.2, marker="o", markersize=3, label="left out")
        axes.legend(frameon=False, loc="lower right")
    least = min(0.0, *data.held_out) if data.held_out else 0.0
    axes.set(
        xlabel="component", ylabel="correlation" if data.held_out else "correlation in training", ylim=(least, 1.02)
    )
    return figure


def sparsity_figure(data: ReportData) -> Any:
    """Number of words of the first language, and of words or documents of the second, that the first components use."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = _axes(data)
    numbers = range(1, len(data.words_used) + 1)
    marker = {"marker": "o", "markersize": 3} if len(numbers) < 20 else {}
    axes.plot(numbers, data.words_used, color=_ACCENT, linewidth=1.8, **marker)
    axes.plot(numbers, data.second_used, color=_SECOND, linewidth=1.8, **marker)
    labels = (f"{data.languages[0]} words", f"{data.languages[1]} {data.second_unit}")
    lower = int(np.argmin([data.words_used[-1], data.second_used[-1]]))  # its label goes below its line
    for i, (used, colour) in enumerate(((data.words_used, _ACCENT), (data.second_used, _SECOND))):
        place = {"xytext": (-4, -12 if i == lower else 5), "textcoords": "offset points", "ha": "right"}
        axes.annotate(labels[i], (len(used), used[-1]), color=colour, **place)
    axes.set(xlabel="components", ylabel="used in all", ylim=(0, None))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    return figure
