"""scikit-learn estimators of two or more views."""

from ._anchored_cca import AnchoredCCA
from ._base import ViewsEstimator
from ._kernel_cca import KernelCCA
from ._low_rank_kernel import LowRankKernel
from ._multi_sparse_cca import MultiSparseCCA
from ._paired import PairedTransformer
from ._provenance import plain, provenance
from ._sparse_cca import SparseCCA

__all__ = [
    "MultiSparseCCA",
    "SparseCCA",
    "AnchoredCCA",
    "KernelCCA",
    "ViewsEstimator",
    "PairedTransformer",
    "LowRankKernel",
    "provenance",
    "plain",
]
