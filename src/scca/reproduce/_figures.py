"""Figures of the experiments' numbers."""

from collections.abc import Callable
from typing import Any

from .._drawing import COLOURS, INK, component_axis, new_figure
from ._experiments import METHODS, Experiment, GenerationPath, RetrievalError, SelectionRatio, Sparsity

__all__ = ["draw"]

_METHOD_COLOURS = dict(zip(METHODS, COLOURS, strict=False))
_ERROR_BARS = 12  # per curve, approximately; a bar at every projection would hide the curves


def draw(experiment: Experiment, data: dict[str, Any]) -> Any:
    """The figure of an experiment's numbers."""
    return _DRAWN[type(experiment)](data)


def _path(data: dict[str, Any]) -> Any:
    figure, panels = new_figure(2, width=9.0, height=3.4)
    for axes, d in zip(panels, data["directions"], strict=True):
        axes.plot(d["mu"], d["ratio"], color=COLOURS[0], linewidth=1.6, label="over mu")
        axes.axhline(1.0, color=INK, linewidth=0.9, linestyle="--", label="ideal: as many words as the mate")
        axes.axvline(d["automatic_mu"], color=COLOURS[1], linewidth=0.9, label="automatic mu")
        axes.plot([d["automatic_mu"]], [d["automatic_ratio"]], "x", color=COLOURS[1], label="_automatic")
        axes.set(xscale="log", xlabel="mu", ylabel="words generated / words of the mate", ylim=(0, None))
        axes.set_title(f"{d['from']} query, {d['to']} words", fontsize=10, color=INK)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _ratios(data: dict[str, Any]) -> Any:
    figure, (scatter, bars) = new_figure(2, width=10.0, height=4.2)
    longest = 0
    for d, colour in zip(data["directions"], COLOURS, strict=False):
        mate, selected = ([row[name] for row in d["rows"]] for name in ("mate_words", "selected"))
        scatter.plot(mate, selected, ".", color=colour, markersize=3, label=f"{d['from']} query, {d['to']} words")
        longest = max(longest, *mate)
    scatter.plot([0, longest], [0, longest], color=INK, linewidth=0.9, linestyle="--", label="ideal: as many")
    scatter.set(xlabel="words of the mate", ylabel="words generated, automatic mu", xlim=(0, None), ylim=(0, None))
    scatter.legend(frameon=False, fontsize=8)
    variations = data["variations"][::-1]
    places = range(len(variations))
    means, spreads = ([v["ratio"][name] for v in variations] for name in ("mean", "std"))
    bars.barh(places, means, xerr=spreads, color=COLOURS[0], ecolor=INK, error_kw={"linewidth": 0.8}, height=0.65)
    bars.set_yticks(places, [v["description"].split(",")[0] for v in variations], fontsize=8)
    bars.axvline(1.0, color=INK, linewidth=0.9, linestyle="--")
    bars.set_xlabel("words generated / words of the mate")
    return figure


def _errors(data: dict[str, Any]) -> Any:
    figure, panels = new_figure(len(data["panels"]), width=1.2 + 4.4 * len(data["panels"]), height=3.8)
    for axes, panel in zip(panels, data["panels"], strict=True):
        for i, (name, label) in enumerate(METHODS.items()):
            style = "--" if name == "kcca-tuned" else "-"  # often on top of the untuned one
            place = {"number": i, "n_curves": len(METHODS)}
            _curve(axes, panel["methods"][name], _METHOD_COLOURS[name], label, linestyle=style, **place)
        _level(axes, panel["no-learning"]["mean"][0], "no learning: similarities")
        axes.set(xlabel="projections", ylabel="average precision error 1 - p", ylim=(0, None))
        component_axis(axes, max(errors["projections"][-1] for errors in panel["methods"].values()))
        axes.set_title(_sizes(panel), fontsize=10, color=INK)
    panels[0].legend(frameon=False, fontsize=8)
    return figure


def _sparsity(data: dict[str, Any]) -> Any:
    figure, panels = new_figure(2 * len(data["panels"]), width=1.2 + 4.2 * 2 * len(data["panels"]), height=3.4)
    for i, panel in enumerate(data["panels"]):
        first, second = panel["languages"]
        shown = (
            ("words", f"{first} words used", panel["vocabulary"][0]),
            ("documents", f"{second} documents used", panel["train"]),
        )
        for axes, (name, label, total) in zip(panels[2 * i :], shown, strict=False):
            curves = panel[name]
            for method, used in curves.items():
                _curve(axes, used, _METHOD_COLOURS[method], METHODS[method])
            _level(axes, total, f"kernel CCA: all {total:,.0f}")
            axes.set(xlabel="projections", ylabel=label)
            component_axis(axes, max(used["projections"][-1] for used in curves.values()))
            axes.set_title(_sizes(panel), fontsize=10, color=INK)
            if total > 5 * max(max(used["mean"]) for used in curves.values()):
                axes.set_yscale("log")
            else:
                axes.set_ylim(0, None)
            axes.legend(frameon=False, fontsize=8)
    return figure


def _curve(
    axes: Any,
    series: dict[str, Any],
    colour: str,
    label: str,
    *,
    linestyle: str = "-",
    number: int = 0,
    n_curves: int = 1,
) -> None:
    """Means over the number of projections; the error bars of several curves stand side by side.

    A curve that does not have every number of projections is drawn as points; the thin lines between them only lead the
    eye.
    """
    numbers, means, stds = (series[name] for name in ("projections", "mean", "std"))
    is_complete = len(numbers) == numbers[-1] > 1
    shape = {"linewidth": 1.6} if is_complete else {"linewidth": 0.8, "marker": "o", "markersize": 5, "clip_on": False}
    axes.plot(numbers, means, color=colour, linestyle=linestyle, label=label, **shape)
    step = max(1, len(numbers) // _ERROR_BARS)
    at = slice(number * step // n_curves, None, step)
    bars: dict[str, Any] = {"fmt": "none", "ecolor": colour, "elinewidth": 0.9, "capsize": 2}
    axes.errorbar(numbers[at], means[at], yerr=stds[at], **bars)


def _level(axes: Any, value: float, label: str) -> None:
    axes.axhline(value, color=INK, linewidth=0.9, linestyle=":", label=label)


def _sizes(panel: dict[str, Any]) -> str:
    return f"{panel['train']} training, {panel['test']} test documents, {panel['splits']} splits"


_DRAWN: dict[type, Callable[..., Any]] = {
    GenerationPath: _path,
    SelectionRatio: _ratios,
    RetrievalError: _errors,
    Sparsity: _sparsity,
}
