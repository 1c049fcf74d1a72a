"""The settings of a fit, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._checks import Penalty
from . import constants
from .prepare import Reading

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How factors are found, selected and tried on samples left out. Constructed once, by the estimator that checks it.

    Attributes
    ----------
    reading : Reading
        How samples become views.
    dense : tuple of bool
        Which views have weights on all coordinates.
    n_components : int
        Number of factors; the maximum number, if they are counted.
    is_counted : bool
        Whether the fit counts the factors that hold on samples left out, and has as many.
    n_features : int, float, "auto" or None
        Number or share of the features of each view that are read; "auto" for as many as finding mates needs.
    ridge : float
        lambda of the factors; the weights use four times this. An automatic ridge is for samples of unit norm.
    ridge_is_automatic : bool
        Whether the ridge is a multiple of the mean squared norm of a view's samples, and that of the weights is raised
        where they would overfit a factor of few samples.
    mu : Penalty
        The penalty that selects coordinates; the automatic value is a share of the mean of |2 A't|, raised where more
        than `most_weights` would be selected.
    most_weights : int
        Maximum number of weights per factor under the automatic penalty.
    effort : dict
        `tol` and `max_iter` of the elastic nets, as keyword arguments.
    n_folds : int or None
        Number of folds; None for as many as the samples and time allow, 0 to leave nothing out.
    n_jobs : int or None
    random_state : int or RandomState
        Draws the samples that are left out, and the permutations.
    """

    reading: Reading
    dense: tuple[bool, ...]
    n_components: int
    is_counted: bool
    n_features: int | float | str | None
    ridge: float
    ridge_is_automatic: bool
    mu: Penalty
    most_weights: int = constants.MOST_WEIGHTS
    effort: Mapping[str, Any] = field(default_factory=dict)
    n_folds: int | None = None
    n_jobs: int | None = None
    random_state: Any = 0
