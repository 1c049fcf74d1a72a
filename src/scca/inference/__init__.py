"""How sure is it: p-values of components by permutation, and features that random halves of the data agree on."""

from ._permutation import PermutationTest, permutation_test
from ._stability import StabilitySelection, stability_selection

__all__ = ["PermutationTest", "StabilitySelection", "permutation_test", "stability_selection"]
