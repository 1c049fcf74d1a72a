"""The results of the experiments beside what the paper reports."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Claim", "between", "compare", "plus_minus", "standings"]

_NOT_IN_PAPER = "not in the paper"
_LEVEL = 0.01  # errors that differ by less are level, whatever their noise
_STANDINGS = ("lower", "level", "higher")
_KERNEL_METHODS = {"kcca": "kernel CCA at 0.03", "kcca-tuned": "tuned kernel CCA"}


@dataclass(frozen=True)
class Claim:
    """A number or statement of the paper's Section 5, and what was found here."""

    where: str
    statement: str
    paper: str
    found: str
    verdict: str


def compare(data: dict[str, dict[str, Any]]) -> list[Claim]:
    """The claims that the finished experiments, by name, can check."""
    return [claim for name, claims in _CLAIMS.items() if name in data for claim in claims(data[name])]


def plus_minus(spread: dict[str, Any], digits: int, j: int | None = None) -> str:
    """A mean and its standard deviation; of a curve, those with j projections."""
    i = None if j is None else spread["projections"].index(j)
    mean, std = (spread[name] if i is None else spread[name][i] for name in ("mean", "std"))
    return f"{mean:.{digits}f} ± {std:.{digits}f}"


def between(least: float, most: float) -> str:
    """Two numbers as a range, or one if they are the same once rounded."""
    shown = dict.fromkeys(f"{number:,.0f}" for number in (least, most))
    return " to ".join(shown)


def standings(difference: dict[str, Any]) -> str:
    """With which numbers of projections an error is lower, level or higher than another one, by their difference."""
    numbers = difference["projections"]
    by_standing = {name: [j for j in numbers if _standing(difference, j) == name] for name in _STANDINGS}
    return ", ".join(f"{name} with {_listed(found)}" for name, found in by_standing.items() if found)


def _standing(difference: dict[str, Any], j: int) -> str:
    i = difference["projections"].index(j)
    mean, noise = difference["mean"][i], 2 * difference["standard_error"][i]  # of the paired difference
    if abs(mean) <= max(_LEVEL, noise):
        return "level"
    return "lower" if mean < 0 else "higher"


def _figure1(data: dict[str, Any]) -> Iterator[Claim]:
    for d in data["directions"]:
        yield _claim(
            "Figure 1",
            f"the automatic mu selects about as many {d['to']} words as the mate has (one query)",
            "ratio near 1",
            f"{d['automatic_ratio']:.2f} ({d['automatic_selected']} words for {d['mate_words']})",
            holds=0.5 <= d["automatic_ratio"] <= 1.5,
        )


def _table1(data: dict[str, Any]) -> Iterator[Claim]:
    for d in data["directions"]:
        way = f"{d['from']} query, {d['to']} words"
        sparse, dense = d["automatic"], d["least_squares"]
        ratio, holds = plus_minus(sparse, 2), abs(sparse["mean"] - 1) <= sparse["std"]
        yield _claim("Table 1", f"ratio with the automatic mu ({way})", "1.01 ± 0.54", ratio, holds)
        ratio, holds = plus_minus(dense, 2), abs(dense["mean"] - 28.15) <= 15.71
        yield _claim("Table 1", f"ratio of the non-sparse method ({way})", "28.15 ± 15.71", ratio, holds)


def _figure2(data: dict[str, Any]) -> Iterator[Claim]:
    for panel in data["panels"]:
        last = len(panel["methods"]["scca"]["mean"])
        for j in [35, last] if panel["train"] == 50 and last > 35 else [last]:
            for method, name in _KERNEL_METHODS.items():
                statement = f"sparse CCA level with {name}, {j} projections, {_size(panel)} documents"
                is_level = _standing(panel["differences"]["scca"][method], j) == "level"
                yield _claim("Figure 2", statement, "level", _both_errors(panel, method, j), is_level)
    yield from _shared_errors("Figure 2", data)


def _figure3(data: dict[str, Any]) -> Iterator[Claim]:
    panel = data["panels"][0]
    j = min(35, panel["words"]["scca"]["projections"][-1])
    for name, reported in (("words", 142), ("documents", 42)):
        used = panel[name]["scca"]["mean"][j - 1]
        statement = f"{name} used with {j} projections, {panel['train']} training documents"
        is_near = abs(used - reported) <= reported / 5
        yield _claim("Figure 3", statement, f"about {reported}", f"{used:.0f}", is_near)
    found = f"{np.mean(panel['vocabulary']):,.0f}"
    statement = "words that kernel CCA uses (mean of both languages)"
    yield Claim("Figure 3", statement, "2,794", found, "the corpus is another one")
    yield from _shared_words("Figure 3", data)


def _figure4(data: dict[str, Any]) -> Iterator[Claim]:
    for panel in data["panels"]:
        scca = np.array(panel["methods"]["scca"]["mean"])
        for method, name in _KERNEL_METHODS.items():
            ahead = int(np.sum(scca < np.array(panel["methods"][method]["mean"])))
            yield _claim(
                "Figure 4",
                f"sparse CCA ahead of {name} throughout, {_size(panel)} documents",
                "at every number of projections",
                f"at {ahead} of {len(scca)}; with all: {_both_errors(panel, method, len(scca))}",
                holds=ahead == len(scca),
            )
    yield from _shared_errors("Figure 4", data)


def _figure5(data: dict[str, Any]) -> Iterator[Claim]:
    for panel in data["panels"]:
        most, total = max(panel["words"]["scca"]["mean"]), np.mean(panel["vocabulary"])
        statement = f"words used at most, {panel['train']} training documents"
        yield _claim("Figure 5", statement, "460", f"{most:.0f}", most <= 460)
        yield Claim(
            "Figure 5",
            "share of kernel CCA's words that sparse CCA uses at most",
            "460 of 49,212 (0.9 %)",
            f"{most:.0f} of {total:,.0f} ({100 * most / total:.1f} %)",
            "a small share in both" if most < 0.1 * total else "not a small share here",
        )
    yield from _shared_words("Figure 5", data)


def _shared_errors(where: str, data: dict[str, Any]) -> Iterator[Claim]:
    """The errors of shared factors beside those of kernel CCA."""
    for panel in data["panels"]:
        for method, name in _KERNEL_METHODS.items():
            last = panel["methods"]["shared"]["projections"][-1]
            difference = panel["differences"]["shared"][method]
            yield Claim(
                where,
                f"error of shared factors, compared with {name}, {_size(panel)} documents",
                _NOT_IN_PAPER,
                f"{standings(difference)} projections; with {last}: {_both_errors(panel, method, last, 'shared')}",
                f"{_standing(difference, last)} with all",
            )


def _shared_words(where: str, data: dict[str, Any]) -> Iterator[Claim]:
    """The words that shared factors read."""
    for panel in data["panels"]:
        words, total = panel["words"]["shared"]["mean"], panel["vocabulary"][0]
        least, most = min(words), max(words)
        yield Claim(
            where,
            f"{panel['languages'][0]} words that shared factors read, {panel['train']} training documents",
            _NOT_IN_PAPER,
            f"{between(least, most)} of {total:,.0f} ({between(100 * least / total, 100 * most / total)} %)",
            "nearly all words" if least >= 0.9 * total else "a small share" if most < 0.1 * total else "not all words",
        )


_CLAIMS = {
    "figure1": _figure1,
    "table1": _table1,
    "figure2": _figure2,
    "figure3": _figure3,
    "figure4": _figure4,
    "figure5": _figure5,
}


def _claim(where: str, statement: str, paper: str, found: str, holds: bool) -> Claim:
    return Claim(where, statement, paper, found, "holds" if holds else "does not hold")


def _both_errors(panel: dict[str, Any], theirs: str, j: int, ours: str = "scca") -> str:
    our_error, their_error = (plus_minus(panel["methods"][name], 3, j) for name in (ours, theirs))
    return f"error {our_error} against {their_error}"


def _listed(numbers: list[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _size(panel: dict[str, Any]) -> str:
    return f"{panel['train']}/{panel['test']}"
