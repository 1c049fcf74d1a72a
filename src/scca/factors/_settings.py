"""How factors are found and rendered, checked."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._checks import Penalty
from ..views import PreparedView

__all__ = ["FactorSettings"]


@dataclass(frozen=True)
class FactorSettings:
    """How factors are found and rendered.

    Attributes
    ----------
    ridge : float
        lambda of the factors; the weights use four times this. If automatic, for samples of unit norm.
    ridge_is_automatic : bool
        Whether the ridge is a multiple of the mean squared norm of a view's samples, and that of the weights is raised
        where they would overfit a factor of few samples.
    mu, gamma : Penalty
        For selecting features, and samples of a dual view; the automatic value is a share of the mean of |2 A't|,
        raised where more than `most` would be selected.
    most : int
        Maximum number of weights per factor under the automatic penalty.
    dense : collection of str
        Names of the views with weights on all coordinates.
    effort : dict
        The solver's settings, as keyword arguments.
    """

    ridge: float
    ridge_is_automatic: bool
    mu: Penalty
    gamma: Penalty
    most: int
    dense: Collection[str]
    effort: Mapping[str, Any] = field(default_factory=dict)

    def ridge_of(self, view: PreparedView) -> float:
        """The ridge of one view."""
        return self.ridge * view.unit if self.ridge_is_automatic else self.ridge
