"""Views of n samples: features or a kernel, dense or sparse, prepared and deflated without changing the data."""

from ._block_view import BlockRows, BlockView
from ._chosen_columns import ChosenColumns, CopiedColumns
from ._features import FeatureView
from ._kernel_views import KernelPreparation, LinearKernelView, StoredKernelView, linear_kernel_view
from ._kernels import Kernel, check_kernel_matrix
from ._low_rank import Landmarks, RandomFeatures
from ._low_rank_view import LowRankKernelView, LowRankPreparation
from ._preparation import (
    SCALES,
    UNIT,
    Norm,
    Preparation,
    Projector,
    Scale,
    divided,
    norm_of,
    scales_columns,
    suitable_scale,
)
from ._storage import Compressed, SparseStorage, storage_of
from .base import PreparedView, PrimalView, View

__all__ = [
    # the contract
    "View",
    "PreparedView",
    "PrimalView",
    "ChosenColumns",
    "CopiedColumns",
    # scaling
    "SCALES",
    "Scale",
    "Norm",
    "UNIT",
    "norm_of",
    "scales_columns",
    "suitable_scale",
    "divided",
    # primal
    "Preparation",
    "FeatureView",
    "BlockRows",
    "BlockView",
    # dual
    "Kernel",
    "check_kernel_matrix",
    "KernelPreparation",
    "StoredKernelView",
    "LinearKernelView",
    "linear_kernel_view",
    "Landmarks",
    "RandomFeatures",
    "LowRankPreparation",
    "LowRankKernelView",
    # new samples
    "Projector",
    # storage
    "storage_of",
    "SparseStorage",
    "Compressed",
]
