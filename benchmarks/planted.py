"""Planted features found among many in few samples: 20 of 20,000 features of each of two views carry one factor."""

import warnings

import numpy as np

from scca import SparseCCA
from scca.datasets import make_planted

from ._table import print_table

__all__ = ["run"]

_STRENGTHS = (1.0, 1.2)
_N_ACTIVE = 20
_SETS = 8


def run() -> None:
    """Print in how many views all planted features have a weight, and in how many they have the largest."""
    rows = []
    for strength in _STRENGTHS:
        found = np.array([_found(strength, seed) for seed in range(_SETS)]).reshape(-1, 2)
        of = f" of {len(found)}"
        rows.append([f"{strength:g}", *(f"{count}{of}" for count in np.sum(found == _N_ACTIVE, axis=0))])
    print_table("views in which all planted features", ["strength", "have a weight", "have the largest"], rows)


def _found(strength: float, seed: int) -> list[tuple[int, int]]:
    """How many planted features of each view have a weight, and how many are among as many with the largest."""
    made = make_planted(60, 20_000, 20_000, n_factors=1, n_active=_N_ACTIVE, strength=strength, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseCCA(1, held_out=0).fit(*made.views)
    counts = []
    for weights, loadings in zip(model.weights_, made.loadings, strict=True):
        planted = np.flatnonzero(loadings[:, 0])
        largest = np.argsort(-np.abs(weights[:, 0]))[:_N_ACTIVE]
        counts.append((np.count_nonzero(weights[planted, 0]), len(np.intersect1d(planted, largest))))
    return counts
