"""The paper's results compared with those of the experiments."""

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Claim", "compare"]

_LEVEL = 0.01  # errors that differ by less are level, whatever their noise


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
    claims: list[Claim] = []
    for name, claims_of in _CHECKS.items():
        if name in data:
            claims += claims_of(data[name])
    return claims


def _figure1(data: dict[str, Any]) -> list[Claim]:
    return [
        Claim(
            "Figure 1",
            f"the automatic mu selects about as many {d['to']} words as the mate has (one query)",
            "ratio near 1",
            f"{d['automatic_ratio']:.2f} ({d['automatic_selected']} words for {d['mate_words']})",
            _holds(0.5 <= d["automatic_ratio"] <= 1.5),
        )
        for d in data["directions"]
    ]


def _table1(data: dict[str, Any]) -> list[Claim]:
    claims = []
    for d in data["directions"]:
        way = f"{d['from']} query, {d['to']} words"
        automatic, full = d["automatic"], d["least_squares"]
        claims += [
            Claim(
                "Table 1",
                f"ratio with the automatic mu ({way})",
                "1.01 ± 0.54",
                _plus_minus(automatic),
                _holds(abs(automatic["mean"] - 1) <= automatic["std"]),
            ),
            Claim(
                "Table 1",
                f"ratio of the non-sparse method ({way})",
                "28.15 ± 15.71",
                _plus_minus(full),
                _holds(abs(full["mean"] - 28.15) <= 15.71),
            ),
        ]
    return claims


def _figure2(data: dict[str, Any]) -> list[Claim]:
    claims = []
    for panel in data["panels"]:
        size = f"{panel['train']}/{panel['test']}"
        last = len(panel["methods"]["scca"]["mean"])
        at = [j for j in (35,) if j < last and panel["train"] == 50] + [last]
        for j in at:
            for method, name in (("kcca", "kernel CCA at 0.03"), ("kcca-tuned", "tuned kernel CCA")):
                claims.append(
                    Claim(
                        "Figure 2",
                        f"sparse CCA level with {name}, {j} projections, {size} documents",
                        "level",
                        _beside(panel, method, j),
                        _holds(_level(panel, method, j)),
                    )
                )
    return claims


def _figure3(data: dict[str, Any]) -> list[Claim]:
    panel = data["panels"][0]
    j = min(35, len(panel["words"]["scca"]["mean"]))
    words, documents = (panel[name]["scca"]["mean"][j - 1] for name in ("words", "documents"))
    where = f"{j} projections, {panel['train']} training documents"
    return [
        Claim("Figure 3", f"words used with {where}", "about 142", f"{words:.0f}", _holds(_near(words, 142))),
        Claim("Figure 3", f"documents used with {where}", "about 42", f"{documents:.0f}", _holds(_near(documents, 42))),
        Claim(
            "Figure 3",
            "words that kernel CCA uses (mean of both languages)",
            "2,794",
            f"{np.mean(panel['vocabulary']):,.0f}",
            "the corpus is another one",
        ),
    ]


def _figure4(data: dict[str, Any]) -> list[Claim]:
    claims = []
    for panel in data["panels"]:
        size = f"{panel['train']}/{panel['test']}"
        scca = np.array(panel["methods"]["scca"]["mean"])
        for method, name in (("kcca", "kernel CCA at 0.03"), ("kcca-tuned", "tuned kernel CCA")):
            ahead = int(np.sum(scca < np.array(panel["methods"][method]["mean"])))
            claims.append(
                Claim(
                    "Figure 4",
                    f"sparse CCA ahead of {name} throughout, {size} documents",
                    "at every number of projections",
                    f"at {ahead} of {len(scca)}; with all: {_beside(panel, method, len(scca))}",
                    _holds(ahead == len(scca)),
                )
            )
    return claims


def _figure5(data: dict[str, Any]) -> list[Claim]:
    claims = []
    for panel in data["panels"]:
        most = max(panel["words"]["scca"]["mean"])
        total = np.mean(panel["vocabulary"])
        claims += [
            Claim(
                "Figure 5",
                f"words used at most, {panel['train']} training documents",
                "460",
                f"{most:.0f}",
                _holds(most <= 460),
            ),
            Claim(
                "Figure 5",
                "share of kernel CCA's words that sparse CCA uses at most",
                "460 of 49,212 (0.9 %)",
                f"{most:.0f} of {total:,.0f} ({100 * most / total:.1f} %)",
                "a small share in both" if most < 0.1 * total else "not a small share here",
            ),
        ]
    return claims


_CHECKS = {
    "figure1": _figure1,
    "table1": _table1,
    "figure2": _figure2,
    "figure3": _figure3,
    "figure4": _figure4,
    "figure5": _figure5,
}


def _level(panel: dict[str, Any], method: str, j: int) -> bool:
    """No further apart than two standard errors of the paired difference, or 0.01."""
    difference = panel["differences"]["scca"][method]
    return abs(difference["mean"][j - 1]) <= max(_LEVEL, 2 * difference["standard_error"][j - 1])


def _beside(panel: dict[str, Any], method: str, j: int) -> str:
    errors = (panel["methods"][name] for name in ("scca", method))
    ours, theirs = (f"{e['mean'][j - 1]:.3f} ± {e['std'][j - 1]:.3f}" for e in errors)
    return f"error {ours} against {theirs}"


def _near(count: float, reported: float) -> bool:
    """Within a fifth."""
    return abs(count - reported) <= reported / 5


def _plus_minus(spread: dict[str, Any]) -> str:
    return f"{spread['mean']:.2f} ± {spread['std']:.2f}"


def _holds(true: bool) -> str:
    return "holds" if true else "does not hold"
