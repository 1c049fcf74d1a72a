"""Time and memory as samples, features or density grow, one at a time: scca beside its peers.

`component`: the paper's problem for one component, by lasso solvers at the same certified gap. `model`: all components
of sparse CCA, which the methods define differently. `text`: the command `scca fit`, in units of scikit-learn's TF-IDF
of the same text.
"""

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scca.datasets import make_bilingual

from ._growth_methods import make_data
from ._growth_tables import print_growth
from ._results import Results
from ._workers import NOT_INSTALLED, Measured, run_command, take_turns

__all__ = ["SIZES", "run"]

_SLOW = {"component": 5.0, "model": 10.0, "text": 20.0}  # seconds from which on a method is left out at larger sizes
_LARGE = 4e9  # the same in bytes
_TURNS = {False: 5, True: 2}  # of each method; fewer in a quick run
_COMMAND_TURNS = {False: 2, True: 1}
_TF_IDF, _FEW, _DEFAULT = "scikit-learn TF-IDF", "scca fit --components 20", "scca fit"
_WORDS = 20  # per document


@dataclass(frozen=True)
class Grid:
    """Sizes along one axis, and what is the same at all of them."""

    part: str
    axis: str
    sizes: tuple[float, ...]
    fixed: dict[str, float]


_GRIDS = (
    Grid("component", "n", (100, 200, 400, 800, 1600), {"m": 2000, "density": 1.0}),
    Grid("component", "m", (500, 2000, 8000, 32000), {"n": 200, "density": 1.0}),
    Grid("component", "density", (0.01, 0.03, 0.1, 0.3), {"n": 400, "m": 4000}),
    Grid("model", "n", (50, 100, 200, 400), {"m": 500, "density": 1.0}),
    Grid("model", "m", (250, 500, 1000, 2000, 4000), {"n": 100, "density": 1.0}),
    Grid("model", "density", (0.1, 0.2, 0.4, 0.8), {"n": 200, "m": 500}),
    Grid("text", "n", (250, 500, 1000, 2000, 4000, 8000), {}),
)
_QUICK_GRIDS = (
    Grid("component", "n", (100, 200), {"m": 1000, "density": 1.0}),
    Grid("model", "n", (100, 200), {"m": 300, "density": 1.0}),
    Grid("text", "n", (125, 250), {}),
)
SIZES = {False: _GRIDS, True: _QUICK_GRIDS}


def run(results: Results, *, quick: bool = False) -> None:
    """Measure what `results` do not have yet, and print ratios, memory and exponents."""
    for grid in SIZES[quick]:
        left_out: dict[str, str] = {}
        for size in grid.sizes:
            name = f"{grid.part} {grid.axis} {size:g}"
            group = results.get("growth", name, partial(_measure, grid, size, dict(left_out), quick))
            left_out |= _too_slow(group)
            print(f"{name}: " + ", ".join(f"{method} {_brief(found)}" for method, found in group["methods"].items()))
    print_growth(results.data["growth"])


def _measure(grid: Grid, size: float, left_out: dict[str, str], quick: bool) -> dict:
    if grid.part == "text":
        found = _measured_text(int(size), left_out, _COMMAND_TURNS[quick])
    else:
        sizes = {**grid.fixed, grid.axis: size}
        data = make_data(grid.part, sizes["n"], sizes["m"], sizes["density"])
        found = take_turns(grid.part, data, sizes["density"], left_out, _TURNS[quick])
    return {"part": grid.part, "axis": grid.axis, "size": size, "fixed": grid.fixed, "methods": found}


def _too_slow(group: dict) -> dict[str, str]:
    """Methods that need not be tried at larger sizes, and why; the first is what the others are divided by."""
    at = f"at {group['axis']} = {group['size']:,g}"
    found = {}
    for name, measured in list(group["methods"].items())[1:]:
        if "missing" in measured:
            if measured["missing"] != NOT_INSTALLED:
                reason = measured["missing"]
                found[name] = reason if " at " in reason else f"{reason} {at}"
        elif min(measured["seconds"]) > _SLOW[group["part"]]:
            found[name] = f"took {min(measured['seconds']):.0f} s {at}"
        elif measured["bytes"] > _LARGE:
            found[name] = f"took {measured['bytes'] / 1e9:.0f} GB {at}"
    return found


def _measured_text(n_pairs: int, left_out: dict[str, str], turns: int) -> Measured:
    """Whole commands in turn, from the start of a process to its end, on files of made-up pairs."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("made.first", "made.second")]
        made = make_bilingual(n_pairs, vocabulary=10_000, n_topics=50, length=_WORDS, random_state=0)
        with open(paths[0], "w") as first, open(paths[1], "w") as second:
            for left, right in made.texts():
                first.write(left + "\n")
                second.write(right + "\n")
        fit = ["fit", *paths, "-o", str(Path(folder, "model.scca")), "--quiet"]
        commands = {_TF_IDF: ["tf-idf", *paths], _FEW: [*fit, "--components", "20"], _DEFAULT: fit}
        measured: Measured = {name: {"missing": left_out[name]} if name in left_out else {} for name in commands}
        for _ in range(turns):
            for name, command in commands.items():
                found = measured[name]
                if "missing" in found:
                    continue
                one = run_command(*command)
                if "missing" in one:
                    measured[name] = one
                else:
                    found["seconds"] = [*found.get("seconds", []), one["seconds"]]
                    found["bytes"] = max(found.get("bytes", 0), one["bytes"])
    return measured


def _brief(found: dict) -> str:
    return found["missing"] if "missing" in found else f"{min(found['seconds']):.3g} s"
