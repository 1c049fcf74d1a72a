"""Inference: p-values of components by permutation, and stability selection of features."""

from ._permutation import PermutationTest, permutation_test
from ._stability import StabilitySelection, stability_selection

__all__ = ["PermutationTest", "StabilitySelection", "permutation_test", "stability_selection"]
