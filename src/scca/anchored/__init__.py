"""Hardoon and Shawe-Taylor's method: components anchored at a sample, deflation, generation by the lasso."""

from ._anchors import AnchorStrategy, BestObjective, CrossEnergy, FixedOrder, anchor_strategy
from ._components import AnchoredSettings, Component, Extraction, extract_components
from ._deflation import DeflatedView, Deflation
from ._generation import Generated, Generator
from ._signed import SignedView

__all__ = [
    # anchors
    "AnchorStrategy",
    "FixedOrder",
    "CrossEnergy",
    "BestObjective",
    "anchor_strategy",
    # Algorithm 4
    "extract_components",
    "AnchoredSettings",
    "Component",
    "Extraction",
    "Deflation",
    "DeflatedView",
    "SignedView",
    # generation
    "Generator",
    "Generated",
]
