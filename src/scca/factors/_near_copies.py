"""Samples that nearly repeat each other, such as several measures of one person: their groups, if there are many."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..parallel import parts
from ..samples import Groups
from ..views import View
from ._spectrum import Spectrum, spectrum_of

__all__ = ["near_copies"]

_ALIKE = 0.95  # cosine of two samples, in both views, from which on they are near copies
_MANY = 0.1  # share of the samples that have one
_LOOKED_AT = 500  # samples, of more than that, that tell whether many have one
_LEAST_DIMENSION = 5.0  # of one view at least: in fewer dimensions, samples are alike by chance
_ROWS = 512  # whose cosines are in memory at a time


def near_copies(views: Sequence[View]) -> tuple[Groups, float] | None:
    """Near copies as groups, and the share of the samples that have one; None if there are few.

    The views' spectra have been computed by then, so that cosines cost little.
    """
    spectra = [spectrum_of(view) for view in views]
    n = views[0].shape[0]
    if max(s.values.sum() ** 2 / np.sum(s.values**2) for s in spectra) < _LEAST_DIMENSION:
        return None
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(n)[:_LOOKED_AT])
    if len(np.unique(_alike(spectra, some)[0])) < _MANY * len(some):
        return None
    first, second = _alike(spectra, np.arange(n))
    share = len(np.unique(first)) / n
    n_groups, labels = connected_components(coo_array((np.ones(len(first)), (first, second)), shape=(n, n)))
    if n_groups < 2 or share < _MANY:
        return None
    return Groups.of(labels, n), share


def _alike(spectra: Sequence[Spectrum], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different samples, the first of each among `rows`, that are alike in all views."""
    unit = []
    for spectrum in spectra:
        samples = spectrum.vectors * np.sqrt(spectrum.values)
        norms = np.linalg.norm(samples, axis=1, keepdims=True)
        small = norms <= 1e-6 * norms.max(initial=0.0)  # empty samples are alike without meaning anything
        unit.append(np.where(small, 0.0, samples) / np.where(small, 1.0, norms))
    first, second = [], []
    for part in parts(0, len(rows), _ROWS):
        some = rows[part]
        alike = np.logical_and.reduce([samples[some] @ samples.T >= _ALIKE for samples in unit])
        alike[np.arange(len(some)), some] = False
        one, other = np.nonzero(alike)
        first.append(some[one])
        second.append(other)
    return np.concatenate(first), np.concatenate(second)
