"""Factors of many samples, in which all of them count nearly alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..progress import Stage, from_checkpoint
from ..samples import each
from ..views import PreparedView
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
    stage = Stage("factors", _ROUNDS * rough + last)
    weights = None
    for i in range(_ROUNDS):
        weighted = _reweighted(views, weights)
        with stage.step(rough):
            squares = from_checkpoint(
                f"weights {i + 1}",
                partial(_squares, weighted, n_components, ridges),
                _packed,
                partial(_unpacked, weighted),
            )
        if squares is None:
            return shared_factors(views, n_components, ridges)
        weights = _next_weights(squares, weights)
    with stage.step(last):
        found = shared_factors(_reweighted(views, weights), n_components, ridges)
    return SharedFactors(orthonormal(_unweighted(found.scores, views, weights)), found.values, found.residuals)


def _squares(views: Sequence[PreparedView], n_components: int, ridges: Sequence[float]) -> Any:
    """||t_i||^2 of every weighted sample, one value per sample; None if the views share nothing."""
    found = shared_factors(views, n_components, ridges, _FEATURES)
    return row_squares(found.scores * found.values) if len(found.values) else None


def _packed(squares: Any) -> dict[str, np.ndarray]:
    """For a checkpoint: the values, or the weights that give those of samples elsewhere."""
    if squares is None:
        return {}
    if isinstance(squares, np.ndarray):
        return {"squares": squares}
    return {f"weights_{v}": W for v, W in enumerate(squares.arguments[0])}


def _unpacked(views: Sequence[PreparedView], stored: Mapping[str, np.ndarray]) -> Any:
    if "squares" in stored or not stored:
        return stored.get("squares")
    return row_squares(PooledScores(views, [stored[f"weights_{v}"] for v in range(len(views))]))


def _next_weights(squares: Any, weights: Any) -> Any:
    """The weights of the next round, with a mean of 1."""
    leverages = each(_leverages, [squares, weights])
    new = each(_damped, [leverages, weights], leverages.mean())
    return each(_divided, [new], new.mean())


def _leverages(items: Sequence[Any]) -> np.ndarray:
    """Of the samples as they are, from the squares of weighted ones."""
    squares, weights = items
    return squares if weights is None else squares / weights


def _damped(items: Sequence[Any], mean: float) -> np.ndarray:
    leverages, weights = items
    new = 1.0 / (leverages / mean + _LEAST)
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
    """The scores of the samples as they are, from those of weighted ones."""
    return replace(scores, views=views) if isinstance(scores, PooledScores) else scores / np.sqrt(weights)[:, None]
