"""Factors of many samples, in which all of them count nearly alike."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..engine import kept, report
from ..views import FeatureView, PreparedView
from ._scores import PooledScores, Scores, row_squares
from ._shared import SharedFactors, factor_cost, orthonormal, shared_factors

__all__ = ["balanced_factors"]

_MANY = 3000  # samples from which on they are weighted
_ROUNDS = 3  # of weighting
_LEAST = 0.1  # of the mean leverage, added to each: samples without any are not to decide everything
_FEATURES = 3000  # of a view, for factors that only give weights


def balanced_factors(views: Sequence[PreparedView], n_components: int, ridges: Sequence[float]) -> SharedFactors:
    """Shared factors; those of 3,000 samples or more with the sample weights d_i = 1 / (h_i / mean(h) + 0.1).

    h_i = ||t_i||^2 is the leverage of sample i, t_i its scores. Correlation alone ranks what a few samples share almost
    perfectly before what many share well. The more samples there are, the more rare features they have, and the fewer
    samples such factors concern; the others are left with scores near zero. The weights are those of an M-estimate of
    the covariances: a fixed point, approached by three rounds of d = sqrt(d * new d), in which the factors are found in
    at most 3,000 features of a view. The last factors solve the problem with these weights to its full precision.
    """
    n = views[0].shape[0]
    if n < _MANY:
        return shared_factors(views, n_components, ridges)
    rough, last = factor_cost(views, n_components, _FEATURES), factor_cost(views, n_components)
    weights = np.ones(n)
    for i in range(_ROUNDS):
        report("factors", i * rough, _ROUNDS * rough + last)
        compute = partial(_next_weights, views, n_components, ridges, weights)
        weights = kept(f"weights {i + 1}", compute, lambda found: {"weights": found}, lambda stored: stored["weights"])
        if not len(weights):
            return shared_factors(views, n_components, ridges)
    report("factors", _ROUNDS * rough, _ROUNDS * rough + last)
    found = shared_factors(_reweighted(views, weights), n_components, ridges)
    report("factors", _ROUNDS * rough + last, _ROUNDS * rough + last)
    return SharedFactors(orthonormal(_unweighted(found.scores, views, weights)), found.values, found.residuals)


def _next_weights(
    views: Sequence[PreparedView], n_components: int, ridges: Sequence[float], weights: np.ndarray
) -> np.ndarray:
    """The weights of the next round; none if the views share nothing."""
    found = shared_factors(_reweighted(views, weights), n_components, ridges, _FEATURES)
    if not len(found.values):
        return np.empty(0)
    new = 1.0 / (_mean_one(_leverages(found, weights)) + _LEAST)
    return _mean_one(np.sqrt(weights * _mean_one(new)))


def _reweighted(views: Sequence[PreparedView], weights: np.ndarray) -> list[PreparedView]:
    return [view.reweighted(np.sqrt(weights)) for view in views]


def _unweighted(scores: Scores, views: Sequence[PreparedView], weights: np.ndarray) -> Scores:
    """The scores of the samples as they are, from those of weighted ones."""
    if isinstance(scores, PooledScores):
        return replace(scores, views=[view for view in views if isinstance(view, FeatureView)])
    return scores / np.sqrt(weights)[:, None]


def _leverages(found: SharedFactors, weights: np.ndarray) -> np.ndarray:
    """Of the samples as they are, from the scores of weighted ones."""
    return row_squares(found.scores * found.values) / weights


def _mean_one(values: np.ndarray) -> np.ndarray:
    return values / values.mean()
