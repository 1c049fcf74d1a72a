"""Ratios, memory and exponents from the measurements of `growth`, which are plain JSON and may have gaps."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ._table import print_table

__all__ = ["Axis", "Table", "axes_of", "fit_exponent", "print_growth", "tables_of"]

_LEAST_BYTES = 1e6  # below, memory is too coarse to fit a line to
_TITLES = {
    "component": "One component to a certified gap of 1e-6",
    "model": "A whole model of three components",
    "text": "From two files of text to a model, as a command",
}
_AXES = {"n": "samples", "m": "features per view", "density": "share of entries stored"}


@dataclass(frozen=True)
class Table:
    """Cells as text; `notes` say what is missing."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Axis:
    """What was measured along one axis: for each method, what was found at each size."""

    part: str
    axis: str
    fixed: dict[str, float]
    sizes: list[float]
    methods: dict[str, dict[float, dict]]

    @property
    def title(self) -> str:
        same = ", ".join(f"{name} = {value:,g}" for name, value in self.fixed.items())
        return f"{_TITLES[self.part]}: growing {self.label}" + (f"; {same}" if same else "")

    @property
    def label(self) -> str:
        return "pairs" if self.part == "text" else _AXES[self.axis]

    @property
    def unit(self) -> str:
        """The method that times are divided by."""
        return next(iter(self.methods))

    def line(self, method: str, quantity: str) -> tuple[list[float], list[float]]:
        """Sizes, and the best time ("seconds") or the memory ("bytes"), where they were measured."""
        found = {size: one for size, one in self.methods[method].items() if "missing" not in one}
        return list(found), [min(one["seconds"]) if quantity == "seconds" else one["bytes"] for one in found.values()]


def axes_of(growth: dict[str, dict]) -> list[Axis]:
    """The measurements of a run, axis by axis, in the order of measuring."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for group in growth.values():
        groups.setdefault((group["part"], group["axis"]), []).append(group)
    axes = []
    for (part, axis), found in groups.items():
        found = sorted(found, key=lambda group: group["size"])
        names = list(dict.fromkeys(name for group in found for name in group["methods"]))
        methods = {n: {g["size"]: g["methods"][n] for g in found if n in g["methods"]} for n in names}
        axes.append(Axis(part, axis, found[0]["fixed"], [group["size"] for group in found], methods))
    return axes


def fit_exponent(sizes: Iterable[float], values: Iterable[float]) -> float | None:
    """The b of values = a size^b, by least squares of the logarithms; None from fewer than two sizes."""
    sizes, values = np.array([*sizes], dtype=float), np.array([*values], dtype=float)
    if len(sizes) < 2:
        return None
    x, y = np.log(sizes), np.log(values)
    x -= x.mean()
    return float(x @ y / (x @ x))


def tables_of(axis: Axis) -> list[Table]:
    """Times as ratios, memory and, for whole models, the correlation of new samples."""
    tables = [_time_table(axis), _memory_table(axis)]
    if any("correlation" in one for found in axis.methods.values() for one in found.values()):
        rows = [[name, *_cells(axis, name, lambda one, _: f"{one['correlation']:.2f}")] for name in axis.methods]
        tables.append(Table("Correlation of new samples, mean of the components", ["method", *_header(axis)], rows))
    return tables


def print_growth(growth: dict[str, dict]) -> None:
    for axis in axes_of(growth):
        print(f"\n{axis.title}")
        for table in tables_of(axis):
            print_table(table.title, table.header, table.rows)
            if table.notes:
                print("\n" + "\n".join(table.notes))


def _time_table(axis: Axis) -> Table:
    def cell(one: dict, size: float) -> str:
        seconds, unit = min(one["seconds"]), axis.methods[axis.unit].get(size, {})
        if one is unit:
            return f"{_figures(1e3 * seconds)} ms" if seconds < 1 else f"{_figures(seconds)} s"
        return _figures(seconds / min(unit["seconds"])) if unit.get("seconds") else f"({_figures(seconds)} s)"

    rows = [[name, *_cells(axis, name, cell), _growth(axis, name, "seconds")] for name in axis.methods]
    return Table(
        f"Time: of {axis.unit}, and of the others as multiples of it", _full_header(axis), rows, _reasons(axis)
    )


def _memory_table(axis: Axis) -> Table:
    rows = [
        [name, *_cells(axis, name, lambda one, _: f"{one['bytes'] / 1e6:,.1f}"), _growth(axis, name, "bytes")]
        for name in axis.methods
    ]
    what = "of the whole process" if axis.part == "text" else "beyond the data"
    return Table(f"Peak memory {what}, MB", _full_header(axis), rows)


def _cells(axis: Axis, method: str, cell) -> list[str]:
    found = axis.methods[method]
    return [cell(found[size], size) if "missing" not in found.get(size, {"missing": ""}) else "" for size in axis.sizes]


def _growth(axis: Axis, method: str, quantity: str) -> str:
    sizes, values = axis.line(method, quantity)
    least = 0.0 if quantity == "seconds" else _LEAST_BYTES
    used = [(size, value) for size, value in zip(sizes, values, strict=True) if value > least]
    exponent = fit_exponent(*zip(*used, strict=True)) if used else None
    if exponent is None:
        return ""
    exponent = round(exponent, 2) + 0.0  # no -0.00
    return f"{axis.axis}^{exponent:.2f} ({used[0][0]:,g} to {used[-1][0]:,g})"


def _figures(value: float) -> str:
    """Three of them, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _header(axis: Axis) -> list[str]:
    return [f"{size:,g}" for size in axis.sizes]


def _full_header(axis: Axis) -> list[str]:
    return [f"method, {axis.label}:", *_header(axis), "growth"]


def _reasons(axis: Axis) -> list[str]:
    """Why methods have no figure at some sizes."""
    reasons = []
    for name, found in axis.methods.items():
        missing = {one["missing"]: None for one in found.values() if "missing" in one}
        # the first reason explains those of larger sizes
        reasons += [f"{name}: {reason}" for reason in list(missing)[:1]]
    return reasons
