"""Sparse canonical correlation analysis: what two views of the same things have in common, from few features.

>>> import scca
>>> X, Y = scca.datasets.make_planted(100, 40, 30, random_state=0).views
>>> scca.SparseCCA(2).fit(X, Y).n_components_
2
"""

from . import datasets, generation, retrieval, text
from ._validation import DataWarning
from ._version import __version__
from .estimators import PAPER, EmptyComponentWarning, KernelCCA, SparseCCA
from .persistence import load, save
from .solver import ComponentResult, solve_component

__all__ = [
    # estimators
    "SparseCCA",
    "KernelCCA",
    "PAPER",
    # one component
    "solve_component",
    "ComponentResult",
    # parts
    "datasets",
    "retrieval",
    "generation",
    "text",
    # model files
    "save",
    "load",
    # warnings
    "DataWarning",
    "EmptyComponentWarning",
    # version
    "__version__",
]
