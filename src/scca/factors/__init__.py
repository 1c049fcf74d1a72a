"""Shared factors: the scores that all views predict best, rotated to simple structure and rendered by few features."""

from ._balance import balanced_factors
from ._chance import LEADING, WhitenedPair, associations, strongest_features, window_strengths
from ._nets import Nets
from ._products import RidgeSolution
from ._rendering import Weighing, dense_weights, weigh_features
from ._rotation import Rotation, equalized, varimax
from ._scores import Scores, column_products, correlations, inner_products, scores_of
from ._shared import SharedFactors, shared_factors
from ._spectrum import Spectrum, spectrum_of

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
    "Nets",
    "weigh_features",
    "Weighing",
    "dense_weights",
    "RidgeSolution",
    # chance
    "WhitenedPair",
    "LEADING",
    "associations",
    "strongest_features",
    "window_strengths",
    # spectra of views
    "Spectrum",
    "spectrum_of",
    # scores, stored or not
    "Scores",
    "column_products",
    "correlations",
    "inner_products",
    "scores_of",
]
