"""Sparse canonical correlation analysis: what two or more views of the same samples share, by few features of each.

>>> import scca
>>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
>>> scca.SparseCCA(2).fit(X, Y).n_components_
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import anchored, datasets, distributed, inference, kinds, retrieval, text
    from ._checks import DataWarning, EmptyComponentWarning, EvidenceWarning
    from .estimators import AnchoredCCA, KernelCCA, LowRankKernel, MultiSparseCCA, SparseCCA
    from .model import Model
    from .persistence import load, save
    from .results import Result
    from .solver import ComponentResult, component_path, solve_component
    from .tuning import AnchoredCCACV, ModelPath, SparseCCACV, model_path
    from .views import Kernel

__all__ = [
    # estimators
    "SparseCCA",
    "MultiSparseCCA",
    "SparseCCACV",
    "AnchoredCCA",
    "AnchoredCCACV",
    "KernelCCA",
    "Kernel",
    "LowRankKernel",
    # a model of named views of any kinds, and what any model learnt
    "Model",
    "Result",
    # one model at many penalties
    "model_path",
    "ModelPath",
    # one component
    "solve_component",
    "component_path",
    "ComponentResult",
    # parts
    "datasets",
    "retrieval",
    "anchored",
    "inference",
    "kinds",
    "text",
    "distributed",
    # model files
    "save",
    "load",
    # warnings
    "DataWarning",
    "EvidenceWarning",
    "EmptyComponentWarning",
    # version
    "__version__",
]

# Where each name is defined: imported on first use, since scikit-learn and numba take seconds to load.
_HOMES = {
    "SparseCCA": "estimators",
    "MultiSparseCCA": "estimators",
    "SparseCCACV": "tuning",
    "KernelCCA": "estimators",
    "LowRankKernel": "estimators",
    "AnchoredCCA": "estimators",
    "AnchoredCCACV": "tuning",
    "Kernel": "views",
    "Model": "model",
    "Result": "results",
    "EmptyComponentWarning": "_checks",
    "model_path": "tuning",
    "ModelPath": "tuning",
    "solve_component": "solver",
    "component_path": "solver",
    "ComponentResult": "solver",
    "save": "persistence",
    "load": "persistence",
    "DataWarning": "_checks",
    "EvidenceWarning": "_checks",
}
_PARTS = ("datasets", "retrieval", "anchored", "inference", "kinds", "text", "distributed")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = found  # the next use finds it here
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
