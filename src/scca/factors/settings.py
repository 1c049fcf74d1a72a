"""The settings of a fit, checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
    renderings : tuple of str
        The rendering of each view: "sparse", "joint" or "dense"; "auto" until the data decide.
    n_components : int
        Number of factors; the maximum number, if they are counted.
    is_counted : bool
        Whether the fit counts the factors that hold on samples left out, and has as many.
    n_features : int, float, "auto" or None
        Number or share of the features of each view that are read; "auto" for as few as lose nothing measurable.
    ridge : float
        lambda of the factors; the weights use a multiple of this. An automatic ridge is for samples of unit norm.
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
    are_shown : bool
        Whether features are selected for each factor of a joint view, to show them to a reader.
    """

    reading: Reading
    renderings: tuple[str, ...]
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
    are_shown: bool = True

    @property
    def dense(self) -> tuple[bool, ...]:
        """Which views have weights on all coordinates."""
        return tuple(rendering == "dense" for rendering in self.renderings)

    def decided(self, scales: tuple[Any, ...]) -> "Settings":
        """The same settings with "auto" replaced by the rendering that suits the scaling of the view.

        Words, which are scaled by samples alone, are read jointly; columns of tables few for each factor. A view with
        a kernel that is not linear has weights on few samples.
        """
        return replace(self, renderings=tuple(map(_decided, self.renderings, scales, self.reading.kernels)))


def _decided(rendering: str, scale: Any, kernel: Any) -> str:
    if kernel is not None:
        return "dense" if rendering == "dense" else "sparse"
    return ("joint" if scale == "rows" else "sparse") if rendering == "auto" else rendering
