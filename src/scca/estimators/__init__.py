"""scikit-learn estimators of paired views."""

from ._anchored_cca import AnchoredCCA
from ._base import PairedTransformer
from ._kernel_cca import KernelCCA
from ._low_rank_kernel import LowRankKernel
from ._sparse_cca import SparseCCA

__all__ = [
    "SparseCCA",
    "AnchoredCCA",
    "KernelCCA",
    "PairedTransformer",
    "LowRankKernel",
]
