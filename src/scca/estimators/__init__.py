"""scikit-learn estimators of two paired views."""

from ._components import EmptyComponentWarning
from ._cross_validation import SparseCCACV
from ._kernel_cca import KernelCCA
from ._sparse_cca import PAPER, SparseCCA

__all__ = [
    # estimators
    "SparseCCA",
    "SparseCCACV",
    "KernelCCA",
    # settings
    "PAPER",
    # warnings
    "EmptyComponentWarning",
]
