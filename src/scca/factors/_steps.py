"""Shared factors: scores that both views predict, rotated to simple structure and rendered in each view."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._arrays import column_blocks
from .._checks import NothingSharedError
from ..progress import from_checkpoint
from ..samples import AllBut, Pairs, remote_blocks_of
from ..views import PreparedView, PrimalView
from ._renderings import Rendering, RenderingPath
from ._rotation import Rotation, equalized, varimax
from ._sample_weights import balanced_factors
from ._scores import Scores, correlations
from ._settings import FactorSettings
from ._shared import SharedFactors

__all__ = ["FactorFit", "Factors", "factor_path", "find_factors", "fit_factors", "held_out_scores"]


@dataclass(frozen=True, eq=False)
class Factors:
    """Rotated factors T (n x c), and how well the views share each (sigma of the unrotated ones)."""

    scores: Scores
    values: np.ndarray
    converged: bool


@dataclass(frozen=True, eq=False)
class FactorFit(Factors):
    """Factors and their renderings in both views."""

    renderings: Mapping[str, Rendering]


def fit_factors(
    views: Mapping[str, PreparedView],
    samples: Mapping[str, Any],
    n_components: int,
    settings: FactorSettings,
    rotate: Callable[[Scores], Scores] | None = None,
) -> FactorFit:
    """Factors of the views, rotated to simple structure (or by `rotate`, a function of T) and rendered in each."""
    found = find_factors(views, n_components, settings, rotate)
    return next(factor_path(views, samples, found, [settings]))


def find_factors(
    views: Mapping[str, PreparedView],
    n_components: int,
    settings: FactorSettings,
    rotate: Callable[[Scores], Scores] | None = None,
) -> Factors:
    """Factors of the views, rotated to simple structure (or by `rotate`, a function of T).

    Simple structure is sought in the views with sparse weights; in all views if there are none.
    """
    found = from_checkpoint(
        "factors",
        lambda: balanced_factors(
            list(views.values()), n_components, [settings.ridge_of(view) for view in views.values()]
        ),
        SharedFactors.arrays,
        lambda stored: SharedFactors.of_arrays(stored, list(views.values())),
    )
    if not len(found.values):
        raise NothingSharedError("X and Y have nothing in common: no score is predicted by both; check the pairing.")
    T = found.scores * found.values  # so that the strongest factors count most when scores are compared
    if rotate is not None:
        return Factors(rotate(T), found.values, bool(found.converged.all()))
    read = [view for name, view in views.items() if name not in settings.dense] or list(views.values())
    rotation = from_checkpoint(
        "rotation", lambda: _simple_structure(read, T, found.values), Rotation.arrays, Rotation.of_arrays
    )
    return Factors(T @ rotation.matrix, found.values, bool(found.converged.all()) and rotation.converged)


def _simple_structure(views: Sequence[PreparedView], T: Scores, values: np.ndarray) -> Rotation:
    """The rotation of T, whose columns are orthogonal and as long as `values`, the longest rotated one first."""
    # each view in its own unit, so that the one with the larger numbers does not decide alone
    found = [each / np.sqrt(view.unit) for view, each in zip(views, correlations(views, T), strict=True)]
    loadings = np.vstack(
        [each[view.varying] if isinstance(view, PrimalView) else each for view, each in zip(views, found, strict=True)]
    )
    rotation = varimax(equalized(loadings))
    sizes = np.linalg.norm(values[:, None] * rotation.matrix, axis=0)  # of the columns of T R
    R = rotation.matrix[:, np.argsort(-sizes, kind="stable")]
    skewness = sum(np.sum((loadings[rows] @ R) ** 3, axis=0) for rows in column_blocks(*loadings.shape[::-1]))
    return Rotation(R * np.where(skewness < 0, -1.0, 1.0), rotation.converged)  # the few large loadings positive


def factor_path(
    views: Mapping[str, PreparedView], samples: Mapping[str, Any], found: Factors, settings: Sequence[FactorSettings]
) -> Iterator[FactorFit]:
    """The same factors at one penalty after another, each starting from the previous solution.

    Decreasing penalties are fastest. One fit is in memory at a time.
    """
    path = RenderingPath(views, samples, found.scores)
    for setting in settings:
        yield FactorFit(found.scores, found.values, found.converged, path.at(setting))


def _unrotated(T: Scores) -> Scores:
    return T


def held_out_scores(
    model: Any,
    settings: FactorSettings,
    n_components: int,
    rotated: bool,
    in_units: bool,
    pairs: Pairs,
    train: np.ndarray | AllBut,
    test: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the pairs `test` in both views, from factors learnt from the pairs `train` alone.

    Everything is learnt from these: nothing is matched to a fit that saw the pairs `test`, since matching would choose
    what suits them. The factors are rotated and ordered as in any fit or, if not `rotated`, as regularised CCA orders
    them. With `in_units`, scores are in units of their standard deviation in training; 0 if there is no such factor.
    """
    train = train if remote_blocks_of([pairs.X]) else np.asarray(train)
    pair = model.prepare_checked(*pairs.training(train), groups=pairs.groups.chosen(train))
    rotate = None if rotated else _unrotated
    nothing = np.zeros((len(test), n_components))
    try:
        fit = fit_factors(pair.views, pair.samples, n_components, settings, rotate=rotate)
    except NothingSharedError:  # these pairs alone may leave a view constant
        return nothing, nothing
    found = []
    for rendering, samples in zip(fit.renderings.values(), pairs.held_out(test, train), strict=True):
        scores = rendering.view.projector(rendering.weights)(*samples)
        if in_units:
            scores = _in_units_of(rendering.view.matmat(rendering.weights), scores)
        found.append(np.ascontiguousarray(np.hstack([scores, nothing[:, scores.shape[1] :]])))
    return found[0], found[1]


def _in_units_of(training: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Scores less the mean of those in training, divided by their standard deviation."""
    spread = training.std(axis=0)
    return np.where(spread > 0, scores - training.mean(axis=0), 0.0) / np.where(spread > 0, spread, 1.0)
