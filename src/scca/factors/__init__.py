"""Shared factors: the scores that all views predict best, rotated to simple structure and rendered by few features."""

from ._budget import needed_share
from ._chance import LEADING, WhitenedPair, associations, strongest_features, window_strengths
from ._held_out import HeldOut, held_out_correlations
from ._left_out import MANY_PAIRS, has_many
from ._near_copies import near_copies
from ._nets import Nets
from ._preparing import Known, Prepared, PreparedPair, Preparing
from ._products import RidgeSolution
from ._rendering import Weighing, dense_weights, weigh_features
from ._rotation import Rotation, equalized, varimax
from ._sample_weights import balanced_factors
from ._scores import Scores, column_products, correlations, inner_products, scores_of
from ._settings import FactorSettings
from ._shared import SharedFactors, shared_factors
from ._sharing import CHANCE, Sharing, can_refit, count_shared, refitted_test
from ._spectrum import Spectrum, spectrum_of
from ._steps import FactorFit, Factors, factor_path, find_factors, held_out_scores
from ._verdict import is_doubtful, verdict

__all__ = [
    # to be tidied
    "needed_share",
    "HeldOut",
    "held_out_correlations",
    "MANY_PAIRS",
    "has_many",
    "near_copies",
    "Known",
    "Prepared",
    "PreparedPair",
    "Preparing",
    "FactorSettings",
    "CHANCE",
    "Sharing",
    "can_refit",
    "count_shared",
    "refitted_test",
    "FactorFit",
    "Factors",
    "factor_path",
    "find_factors",
    "held_out_scores",
    "is_doubtful",
    "verdict",
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
