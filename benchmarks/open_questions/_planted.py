"""Planted Gaussian factors: how much of what two views share is found again in new samples."""

import warnings

import cca_zoo.sparse
import numpy as np

from scca import SparseCCA
from scca.datasets import make_planted

from ._settings import PLANTED_PEERS, SPARSE_CCA

__all__ = ["held_out_correlations"]

_COMPONENTS = 2
_TRAIN = _TEST = 200


def held_out_correlations(seeds: int) -> dict[str, list[list[float]]]:
    """By method, for every seed: the correlation of the two views' scores of new samples, for components 1 and 2."""
    found: dict[str, list[list[float]]] = {}
    for seed in range(seeds):
        data = make_planted(_TRAIN + _TEST, random_state=seed)
        train, test = ([view[rows] for view in data.views] for rows in (slice(_TRAIN), slice(_TRAIN, None)))
        for name, settings in SPARSE_CCA.items():
            model = SparseCCA(_COMPONENTS, **settings).fit(*train)
            found.setdefault(name, []).append(_correlations(*model.transform_pair(*test)))
        for name, (peer, settings) in PLANTED_PEERS.items():
            model = getattr(cca_zoo.sparse, peer)(n_components=_COMPONENTS, random_state=0, **settings).fit(train)
            found.setdefault(name, []).append(_correlations(*model.transform(test)))
    return found


def _correlations(a: np.ndarray, b: np.ndarray) -> list[float]:
    """Of each pair of columns; 0 for a component that was not found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = [np.corrcoef(x, y)[0, 1] for x, y in zip(a.T, b.T, strict=True)]
    values += [0.0] * (_COMPONENTS - len(values))
    return np.nan_to_num(values).tolist()
