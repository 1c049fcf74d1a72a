"""How far the remaining times that `scca fit` shows are from the true ones, by stage."""

import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from scca.cli._progress import Estimate
from scca.readers import read_pairs
from scca.text import BilingualModel

from ._table import print_table
from .million import written

__all__ = ["run"]

_FROM = 0.1  # of a stage, from which on its remaining time is to be trusted
_SHORT = 5.0  # seconds: nobody looks at the remaining time of shorter stages


@dataclass
class _Shown:
    """What was shown at a moment."""

    what: str
    at: float
    done: float
    remaining: float | None


def run(corpus: tuple[Path, Path] | None, n_pairs: int | None, n_components: int = 50) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = corpus or written(Path(folder), n_pairs or 100_000)
        shown: list[_Shown] = []
        estimate = Estimate()

        def report(what: str, done: float, total: float) -> None:
            estimate.take(what, done, total)
            shown.append(_Shown(what, time.monotonic(), estimate.done, estimate.remaining))

        pairs = read_pairs(*files)
        BilingualModel(n_components).fit(pairs, progress=report)
        shown.append(_Shown("", time.monotonic(), 0.0, None))
    rows = [row for stage in _stages(shown) if (row := _row(stage)) is not None]
    header = ["stage", "seconds", "times shown", "smallest shown / true", "largest shown / true"]
    print_table(f"{len(pairs):,} pairs, {n_components} components; from a tenth of a stage on", header, rows)


def _stages(shown: list[_Shown]) -> list[list[_Shown]]:
    """What was shown of each stage, and the moment that the next one began."""
    starts = [i for i, each in enumerate(shown) if not i or each.what != shown[i - 1].what]
    return [shown[start : end + 1] for start, end in pairwise(starts)]


def _row(stage: list[_Shown]) -> list[str] | None:
    end = stage[-1].at
    seconds = end - stage[0].at
    ratios = [
        each.remaining / (end - each.at)
        for each in stage[:-1]
        if each.remaining is not None and _FROM <= each.done < 1.0 and end - each.at > 0.1 * seconds
    ]
    if seconds < _SHORT:
        return None
    if not ratios:
        return [stage[0].what, f"{seconds:.0f}", "0", "", ""]
    return [stage[0].what, f"{seconds:.0f}", str(len(ratios)), f"{min(ratios):.2f}", f"{max(ratios):.2f}"]
