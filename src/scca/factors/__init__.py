"""Shared factors of two or more views: the method, one step a file. `fit.py` is the whole, from top to bottom."""

from .chance import is_doubtful, verdict
from .choose import Choice, Cost, fewer_features, n_rounds
from .find import spectrum_of
from .fit import Fit, count_components, fit_path, fit_prepared, prepare_chosen, prepare_nested
from .hold_out import HeldOut
from .prepare import Prepared, Reading, prepare, unweighted_view
from .settings import Settings

__all__ = [
    # the method
    "prepare_chosen",
    "prepare_nested",
    "fit_prepared",
    "fit_path",
    "count_components",
    "Fit",
    "Settings",
    # preparing
    "prepare",
    "unweighted_view",
    "Prepared",
    "Reading",
    # choosing features
    "fewer_features",
    "n_rounds",
    "Choice",
    "Cost",
    # evidence
    "HeldOut",
    "is_doubtful",
    "verdict",
    # spectra of views
    "spectrum_of",
]
