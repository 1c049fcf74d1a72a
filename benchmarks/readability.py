"""Readability of components: shared factors, the paper's components and joint NMF, in one run."""

from pathlib import Path

import numpy as np

from ._coherence import Coherence, Reference
from ._components import WORDS, Components, components_by
from ._table import print_table
from ._texts import texts_of

__all__ = ["run"]

_TRAIN, _REFERENCE = 1000, 5000  # pairs
_COMPONENTS = 30
_SPLITS = 2


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1, shown: int = 0) -> None:
    """Print the coherence of components, and the words of the first `shown` ones."""
    texts = texts_of(corpus_paths, join)
    n = min(_TRAIN, len(texts[0]) // 2)
    rest = min(_REFERENCE, len(texts[0]) - n)
    found: dict[str, list[Coherence]] = {}
    first: dict[str, Components] = {}
    for seed in range(_SPLITS):
        order = np.random.default_rng(seed).permutation(len(texts[0]))
        learnt, kept = ([[side[i] for i in rows] for side in texts] for rows in (order[:n], order[n : n + rest]))
        reference = Reference(*kept)
        for method, components in components_by(learnt, _COMPONENTS):
            found.setdefault(method, []).append(reference.coherence(components))
            first.setdefault(method, components)
    small = "; a small corpus, so differences mean little" if rest < _TRAIN else ""
    title = (
        f"coherence (NPMI) of the {WORDS} strongest words of a language in {_COMPONENTS} components, learnt from {n} "
        f"pairs, in {rest} others; {_SPLITS} splits{small}"
    )
    header = ["method", "across languages", "first", "second", "words shown", "unknown"]
    print_table(title, header, [[method, *_cells(values)] for method, values in found.items()])
    for method, components in first.items() if shown else ():
        print(f"\n{method}")
        for words in components[:shown]:
            print("  " + " | ".join(map(" ".join, words)))


def _cells(values: list[Coherence]) -> list[str]:
    means = [np.mean([getattr(value, name) for value in values]) for name in ("across", "first", "second", "n_words")]
    return [*(f"{mean:.3f}" for mean in means[:3]), f"{means[3]:.1f}", str(sum(value.n_unknown for value in values))]
