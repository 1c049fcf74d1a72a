"""Shared factors: the scores that all views predict best, rotated to simple structure and rendered by few features."""

from ._balance import balanced_factors
from ._rendering import Weighing, dense_weights, select_features, weigh_features
from ._rotation import Rotation, equalized, varimax
from ._shared import SharedFactors, shared_factors
from ._spectrum import Spectrum, spectrum_of
from ._together import together

__all__ = [
    # factors
    "SharedFactors",
    "balanced_factors",
    "shared_factors",
    # simple structure
    "Rotation",
    "equalized",
    "varimax",
    # weights
    "select_features",
    "weigh_features",
    "Weighing",
    "dense_weights",
    # spectra of views
    "Spectrum",
    "spectrum_of",
    # work that threads share
    "together",
]
