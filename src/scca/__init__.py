"""Sparse canonical correlation analysis: what two views of the same samples share, by few features of each.

>>> import scca
>>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
>>> scca.SparseCCA(2).fit(X, Y).n_components_
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import datasets, distributed, generation, inference, retrieval, text
    from ._validation import DataWarning, EvidenceWarning
    from .estimators import (
        PAPER,
        EmptyComponentWarning,
        KernelCCA,
        LowRankKernel,
        ModelPath,
        SparseCCA,
        SparseCCACV,
        model_path,
    )
    from .persistence import load, save
    from .solver import ComponentResult, component_path, solve_component

__all__ = [
    # estimators
    "SparseCCA",
    "SparseCCACV",
    "KernelCCA",
    "LowRankKernel",
    "PAPER",
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
    "generation",
    "inference",
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
    "SparseCCACV": "estimators",
    "KernelCCA": "estimators",
    "LowRankKernel": "estimators",
    "PAPER": "estimators",
    "EmptyComponentWarning": "estimators",
    "model_path": "estimators",
    "ModelPath": "estimators",
    "solve_component": "solver",
    "component_path": "solver",
    "ComponentResult": "solver",
    "save": "persistence",
    "load": "persistence",
    "DataWarning": "_validation",
    "EvidenceWarning": "_validation",
}
_PARTS = ("datasets", "retrieval", "generation", "inference", "text", "distributed")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
