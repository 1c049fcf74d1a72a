"""One component or lasso of every shape that differs in where a solver's time goes, beside the fastest lasso solver.

Dense and sparse planted views, generated short documents and, of a corpus, its documents as they are, the longest of
them and all cut to five words. Documents make the lasso of `sparse`, for several queries: some take few words, others
hundreds. Seconds are those of the processor, summed over the queries.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ._contest import AIMED_RATIO, race
from ._corpus import TextPairs, made_up_pair, read_texts, tf_idf_of
from ._problem import Problem
from ._solvers import PEERS
from ._table import print_table
from .single_component import planted_problem
from .sparse_lasso import query_problem

__all__ = ["run"]

_PAIRS, _LONGEST, _CUT = 50_000, 10_000, 5
_QUERIES = (1, 300, 2000)
_NAMES = ("celer", "skglm", "scikit-learn")
_HEADER = ["shape", "samples", "features", "chosen", "scca ms", *_NAMES, "fastest / scca"]


def run(repeats: int, corpus: tuple[Path, Path] | None) -> None:
    rows = [_row(shape, problems, repeats) for shape, problems in _shapes(corpus)]
    print_table(f"Processor time as multiples of scca's, best of {repeats} turns", _HEADER, rows)
    print(f"\naim: {AIMED_RATIO:g} times as fast as the fastest of the others on every shape")


def _shapes(corpus: tuple[Path, Path] | None) -> Iterator[tuple[str, list[Problem]]]:
    yield "planted, dense", [planted_problem()]
    yield "planted, 5 % stored", [planted_problem(density=0.05)]
    if corpus is None:
        yield "generated documents", _of_queries(*made_up_pair())
        return
    texts = read_texts(*corpus, _PAIRS)
    yield "documents", _of_queries(*tf_idf_of(texts))
    yield "the longest of them", _of_queries(*tf_idf_of(_longest(texts)))
    yield f"cut to {_CUT} words", _of_queries(*tf_idf_of([tuple(map(_cut, pair)) for pair in texts]))


def _of_queries(X, Y) -> list[Problem]:
    return [query_problem(X, Y, query) for query in _QUERIES]


def _longest(texts: TextPairs) -> TextPairs:
    return sorted(texts, key=lambda pair: -len(pair[0].split()))[:_LONGEST]


def _cut(text: str) -> str:
    return " ".join(text.split()[:_CUT])


def _row(shape: str, problems: list[Problem], repeats: int) -> list[str]:
    """Best times, summed over the problems; of a peer that misses the gap once, none."""
    peers = [PEERS[name] for name in _NAMES if PEERS[name].is_installed]
    seconds, chosen = [], []
    for problem in problems:
        entries = race(problem, peers, repeats)
        seconds.append([entry.best if entry.qualifies else np.inf for entry in entries])
        chosen.append(entries[0].verdict.chosen)
    scca, *others = np.sum(seconds, axis=0)
    ratios = dict.fromkeys(_NAMES, "not installed")
    for peer, time in zip(peers, others, strict=True):
        ratios[peer.name] = f"{time / scca:.2f}" if np.isfinite(time) else "gap too wide"
    n, m = problems[0].X.shape
    size = [f"{n:,}", f"{m:,}", f"{min(chosen)}-{max(chosen)}" if len(chosen) > 1 else str(chosen[0])]
    return [shape, *size, f"{1e3 * scca:.2f}", *ratios.values(), f"{min(others, default=np.nan) / scca:.2f}"]
