"""scikit-learn estimators of two paired views."""

from ._base import PairedTransformer
from ._components import EmptyComponentWarning, NothingSharedError
from ._cross_validation import SparseCCACV
from ._kernel_cca import KernelCCA
from ._left_out import MANY_PAIRS
from ._low_rank_kernel import LowRankKernel
from ._model_path import ModelPath, model_path
from ._sharing import CHANCE
from ._sparse_cca import PAPER, SparseCCA

__all__ = [
    # estimators
    "SparseCCA",
    "SparseCCACV",
    "KernelCCA",
    "PairedTransformer",
    # one model at many penalties
    "ModelPath",
    "model_path",
    # settings
    "LowRankKernel",
    "PAPER",
    "MANY_PAIRS",
    "CHANCE",
    # warnings and errors
    "EmptyComponentWarning",
    "NothingSharedError",
]
