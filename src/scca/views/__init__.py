"""Views of n samples: features or a kernel, dense or sparse, centred, scaled and deflated without touching the data."""

from ._features import FeatureProjector, FeatureView
from ._kernel_views import KernelProjector, LinearKernelView, StoredKernelView, kernel_view
from ._kernels import Kernel
from ._oriented import OrientedView
from ._selection import ColumnSelection, Selection
from ._storage import storage_of
from .base import Projector, View

__all__ = [
    # the contract
    "View",
    "Projector",
    "Selection",
    "ColumnSelection",
    # primal
    "FeatureView",
    "FeatureProjector",
    "OrientedView",
    # dual
    "Kernel",
    "StoredKernelView",
    "LinearKernelView",
    "KernelProjector",
    "kernel_view",
    # storage
    "storage_of",
]
