"""The figure of a model's path, from plain numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._drawing import COLOURS, INK, new_figure

__all__ = ["path_figure"]

_FEW_MARKED = 40  # maximum number of points of a line that are marked


def path_figure(numbers: Mapping[str, Sequence[float]], names: Sequence[str] = ("X", "Y")) -> Any:
    """Three panels over the penalty or the share of features: errors, what holds on pairs left out, and features.

    The largest model is to the left.
    """
    figure, panels = new_figure(3, width=11.0, height=3.5)
    over_shares = "shares" in numbers
    at = np.array(numbers["shares" if over_shares else "mu_factors"])
    # multipliers have a meaning without the automatic penalty on the path
    automatic = at[np.array(numbers["automatic"], dtype=bool)] if over_shares else np.ones(1)
    marker = {"marker": "o", "markersize": 3.5} if len(at) <= _FEW_MARKED else {}

    def line(axes: Any, values: Any, colour: str, label: str, **style: Any) -> None:
        axes.plot(at, values, color=colour, linewidth=1.7, label=label, **{**marker, **style})

    error, shared, read = panels
    errors, spreads = np.array(numbers["errors"]), np.nan_to_num(np.array(numbers["error_spreads"]))
    error.fill_between(at, errors - spreads, errors + spreads, color=COLOURS[0], alpha=0.18, linewidth=0)
    line(error, errors, COLOURS[0], "error")
    error.set_ylim(0, None)
    error.set_title("error of mates, pairs left out", fontsize=10, color=INK)

    line(shared, numbers["correlations"], COLOURS[2], "correlation of the scores")
    line(shared, numbers["coherences"], COLOURS[1], "coherence of the features")
    shared.set_ylim(min(0.0, *numbers["coherences"], *numbers["correlations"]), 1)
    shared.set_title("what holds on pairs left out", fontsize=10, color=INK)

    line(read, numbers["x_features"], COLOURS[0], f"{names[0]}, all components")
    line(read, numbers["y_features"], COLOURS[1], f"{names[1]}, all components")
    few = "shown of a component, median" if over_shares else "a component, median"
    line(read, numbers["weights"], COLOURS[4], few, linestyle="--")
    read.set_yscale("symlog", linthresh=1)  # 0 is possible
    read.set_ylim(0, None)
    read.yaxis.set_major_formatter(_plain)
    read.set_title("features with a weight", fontsize=10, color=INK)

    for axes in panels:
        axes.set_xscale("log")
        axes.set_xlabel(
            "share of the features that are read" if over_shares else "mu / automatic mu", color=INK, fontsize=9
        )
        if over_shares:
            axes.invert_xaxis()
        for value in automatic:
            axes.axvline(value, color=INK, linewidth=0.9, linestyle=":", zorder=0)
        axes.xaxis.set_major_formatter(_plain)
    for value in automatic:
        error.annotate(
            "automatic", (value, 0.03), xycoords=("data", "axes fraction"), xytext=(4, 0), textcoords="offset points",
            fontsize=8, color=INK,
        )  # fmt: skip
    for axes in (shared, read):
        axes.legend(fontsize=8, labelcolor="linecolor", facecolor="white", edgecolor="none", framealpha=1.0)
    return figure


def _plain(value: float, _: Any) -> str:
    return f"{value:g}"
