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
        How many factors or, if they are counted, at most how many.
    is_counted : bool
        Whether there are as many factors as hold on samples left out.
    n_features : int, float, "auto" or None
        How many features of each view are read; "auto" for as many as the mates of samples left out need.
    ridge : float
        lambda of the factors; the weights use four times this. If automatic, for samples of unit norm.
    ridge_is_automatic : bool
        Whether the ridge is a multiple of the mean squared norm of a view's samples, and that of the weights is raised
        where they would overfit a factor of few samples.
    mu : Penalty
        For selecting coordinates; the automatic value is a share of the mean of |2 A't|, raised where more than
        `most_weights` would be selected.
    most_weights : int
        Maximum number of weights per factor under the automatic penalty.
    effort : dict
        `tol` and `max_iter` of the elastic nets, as keyword arguments.
    n_folds : int or None
        Folds that are left out; None for as many as the samples and time allow, 0 for none.
    n_jobs : int or None
    random_state : int or RandomState
        Draws what is left out and how samples are permuted.
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
