"""How factors are found and rendered, checked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..solver import Penalty

__all__ = ["FactorSettings"]


@dataclass(frozen=True)
class FactorSettings:
    """How factors are found and rendered.

    Attributes
    ----------
    ridge : float
        lambda of the factors and, four times it, of the weights.
    ridge_is_automatic : bool
        Then it is raised where weights explain more of a factor than so few samples can tell.
    mu, gamma : Penalty
        Of the selection of features, and of samples where a view is dual; the automatic value is a share of the mean of
        |2 A't|, raised where more than `most` would be selected.
    most : int
        Weights of a factor: with more of them its automatic penalty is raised.
    dense : collection of str
        Names of the views that have weights on all coordinates instead.
    effort : dict
        What every convex problem is solved with.
    """

    ridge: float
    ridge_is_automatic: bool
    mu: Penalty
    gamma: Penalty
    most: int
    dense: Collection[str]
    effort: Mapping[str, Any] = field(default_factory=dict)
