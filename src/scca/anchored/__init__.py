"""Hardoon and Shawe-Taylor's method: components anchored at a sample, deflation, generation by the lasso."""

from ._anchors import AnchorStrategy, CrossEnergy, FixedOrder, anchor_strategy
from ._components import Component, Extraction, Settings, extract_components
from ._deflation import DeflatedView, Deflation
from ._generation import Generated, Generator
from ._signed import SignedView

__all__ = [
    # anchors
    "AnchorStrategy",
    "FixedOrder",
    "CrossEnergy",
    "anchor_strategy",
    # Algorithm 4
    "extract_components",
    "Settings",
    "Component",
    "Extraction",
    "Deflation",
    "DeflatedView",
    "SignedView",
    # generation
    "Generator",
    "Generated",
]
