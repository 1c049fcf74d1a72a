"""Finding factors of many samples or features: in the features that vary most, with samples of equal influence."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..parallel import one_blas_thread
from ..progress import Stage, from_checkpoint
from ..samples import each
from ..views import PreparedView, PrimalView, View
from . import constants
from ._iteration import Solutions, leading_solutions
from ._ridge import Coupled
from ._whitened import whitened_cost, whitened_solutions
from .find import SharedFactors, factors_by_spectra, features_of, is_large, orthonormal, with_orthonormal_scores
from .products import PooledScores, Scores, row_squares, scores_of

__all__ = ["balanced_factors", "leading_factors", "rough_factors", "shared_factors"]

_DIRECTIONS_PER_ROUND = (8, 16)  # minimum and maximum number of directions added per round of the iteration
_MAX_ITER = 200  # maximum number of rounds
_TOLERANCE = 1e-3  # largest relative residual of a factor
_SEED = 0


def leading_factors(views: Sequence[PreparedView], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Up to `n_components` factors of two or more views, of samples that are weighted if there are many."""
    by = balanced_factors if views[0].shape[0] > constants.WEIGHTED_SAMPLES else shared_factors
    return by(views, n_components, ridges)


def shared_factors(
    views: Sequence[View], n_components: int, ridges: Sequence[float], most_features: int | None = None
) -> SharedFactors:
    """Up to `n_components` factors of two or more views; fewer if the views share fewer.

    Factors of small views and of kernels are found by spectra; those of large views by covariances of features, if
    6,000 (or `most_features`) features have most of the variance, and otherwise by products with all features.
    """
    if not is_large(views):
        return factors_by_spectra(views, n_components, ridges)
    features = [view for view in map(features_of, views) if view is not None]
    with one_blas_thread():  # the same order of sums for any number of threads
        found = _by_features(features, n_components, ridges, most_features or constants.MOST_FEATURES)
        return with_orthonormal_scores(scores_of(features, found.vectors), found.values, found.residuals)


def _by_features(
    views: Sequence[PrimalView], n_components: int, ridges: Sequence[float], most_features: int
) -> Solutions:
    leading = [_leading_features(view, most_features) for view in views]
    n_components = min(n_components, *map(len, leading))
    if max(map(len, leading)) <= constants.MOST_FEATURES:
        return whitened_solutions(views, leading, n_components, ridges)
    products = [Coupled(view, ridge) for view, ridge in zip(views, ridges, strict=True)]
    for product in products:
        product.couple()
    at_once = int(np.clip(n_components // 8, *_DIRECTIONS_PER_ROUND))
    rng = np.random.default_rng(_SEED)
    start = [product.precondition(rng.standard_normal((product.shape[1], at_once))) for product in products]
    return leading_solutions(products, start, n_components, tol=_TOLERANCE, max_iter=_MAX_ITER)


def _leading_features(view: PrimalView, most_features: int) -> np.ndarray:
    """The features that vary most, if they have most of the variance: rare words share what frequent words share."""
    squares = view.square_norms()
    order = np.argsort(-squares, kind="stable")[: np.count_nonzero(squares)]  # features that are not read do not vary
    leading = squares[order[: constants.MOST_FEATURES]].sum()
    if most_features >= len(order) or leading < constants.MOST_VARIANCE * squares.sum():
        return np.sort(order)
    return np.sort(order[:most_features])


def factor_cost(views: Sequence[View], n_components: int, most_features: int | None = None) -> float:
    """Approximate time of `shared_factors` for many samples, in nanoseconds of a core; only ratios matter."""
    products = 5.0 * n_components * sum(view.n_stored for view in views)
    return whitened_cost(views, most_features or constants.MOST_FEATURES) + products


# --- weights of samples -----------------------------------------------------------------------------------------------


def balanced_factors(views: Sequence[PreparedView], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Shared factors of many samples, with the sample weights d_i = 1 / (h_i / mean(h) + 0.1)^s.

    h_i = ||t_i||^2 is the leverage of sample i, t_i its scores. By correlation alone, a factor that a few samples share
    almost perfectly would come before one that many share well. The more samples there are, the more rare features they
    have, and the fewer samples such a factor concerns. The weights are those of an M-estimate of the covariances:
    a fixed point, approached by three rounds of d = sqrt(d * new d) that find factors in at most 3,000 features of a
    view. The final factors solve the problem with these weights to full precision. The power s grows from 0 for 3,000
    samples to 1 for twice as many.
    """
    rough, last = factor_cost(views, n_components, constants.WEIGHTING_FEATURES), factor_cost(views, n_components)
    stage = Stage("factors", constants.WEIGHTING_ROUNDS * rough + last)
    weights = None
    for i in range(constants.WEIGHTING_ROUNDS):
        weighted = _reweighted(views, weights)
        with stage.step(rough):
            squares = from_checkpoint(
                f"weights {i + 1}",
                partial(_squares, weighted, n_components, ridges),
                _squares_as_arrays,
                partial(_squares_of_arrays, weighted),
            )
        if squares is None:
            return shared_factors(views, n_components, ridges)
        weights = _next_weights(squares, weights, views[0].shape[0])
    with stage.step(last):
        found = shared_factors(_reweighted(views, weights), n_components, ridges)
    return SharedFactors(orthonormal(_unweighted(found.scores, views, weights)), found.values, found.residuals)


def _squares(views: Sequence[PreparedView], n_components: int, ridges: Sequence[float]) -> Any:
    """||t_i||^2 of every weighted sample; None if the views share nothing."""
    found = shared_factors(views, n_components, ridges, constants.WEIGHTING_FEATURES)
    return row_squares(found.scores * found.values) if len(found.values) else None


def _squares_as_arrays(squares: Any) -> dict[str, np.ndarray]:
    """Arrays for a checkpoint: the squares or, for remote samples, the weights that give them."""
    if squares is None:
        return {}
    if isinstance(squares, np.ndarray):
        return {"squares": squares}
    return {f"weights_{v}": W for v, W in enumerate(squares.arguments[0])}


def _squares_of_arrays(views: Sequence[PreparedView], stored: Mapping[str, np.ndarray]) -> Any:
    if "squares" in stored or not stored:
        return stored.get("squares")
    return row_squares(PooledScores(views, [stored[f"weights_{v}"] for v in range(len(views))]))


def rough_factors(
    views: Sequence[PreparedView], n_components: int, ridges: Sequence[float], weights: Any = None
) -> tuple[SharedFactors, Any]:
    """Factors precise enough to judge features by, given weights of the samples, and the weights for another round.

    Of many samples, they are found in at most 2,000 features of a view.
    """
    n = views[0].shape[0]
    if n <= constants.WEIGHTED_SAMPLES:
        return shared_factors(views, n_components, ridges), None
    found = shared_factors(_reweighted(views, weights), n_components, ridges, constants.ROUGH_FEATURES)
    if not len(found.values):
        return found, weights
    scores = orthonormal(_unweighted(found.scores, views, weights)) if weights is not None else found.scores
    again = _next_weights(row_squares(found.scores * found.values), weights, n)
    return SharedFactors(scores, found.values, found.residuals), again


def _next_weights(squares: Any, weights: Any, n_samples: int) -> Any:
    """The weights of the next round, with a mean of 1."""
    first, fully = constants.WEIGHTED_SAMPLES, constants.FULLY_WEIGHTED_SAMPLES
    power = float(np.clip((n_samples - first) / (fully - first), 0.0, 1.0))
    leverages = each(_leverages, [squares, weights])
    new = each(_damped_weights, [leverages, weights], leverages.mean(), power)
    return each(_divided, [new], new.mean())


def _leverages(items: Sequence[Any]) -> np.ndarray:
    """The leverages of the unweighted samples, from the squares of the weighted ones."""
    squares, weights = items
    return squares if weights is None else squares / weights


def _damped_weights(items: Sequence[Any], mean: float, power: float) -> np.ndarray:
    leverages, weights = items
    new = 1.0 / (leverages / mean + constants.LEAST_LEVERAGE) ** power
    return np.sqrt(new if weights is None else weights * new)


def _divided(items: Sequence[np.ndarray], by: float) -> np.ndarray:
    return items[0] / by


def _root(items: Sequence[np.ndarray]) -> np.ndarray:
    return np.sqrt(items[0])


def _reweighted(views: Sequence[PreparedView], weights: Any) -> list[PreparedView]:
    if weights is None:
        return list(views)
    factors = each(_root, [weights])
    return [view.reweighted(factors) for view in views]


def _unweighted(scores: Scores, views: Sequence[PreparedView], weights: Any) -> Scores:
    """The scores of the unweighted samples, from those of the weighted ones."""
    return replace(scores, views=views) if isinstance(scores, PooledScores) else scores / np.sqrt(weights)[:, None]
