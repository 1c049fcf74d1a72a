"""scikit-learn estimators of paired views."""

from ._base import PairedTransformer
from ._factor_components import models_of_path
from ._kernel_cca import KernelCCA
from ._low_rank_kernel import LowRankKernel
from ._sparse_cca import PAPER, SparseCCA

__all__ = [
    # estimators
    "SparseCCA",
    "KernelCCA",
    "PairedTransformer",
    # settings
    "LowRankKernel",
    "PAPER",
    # many penalties
    "models_of_path",
]
