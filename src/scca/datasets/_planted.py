"""Views with planted sparse factors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._checks import check_count
from .._types import SeedLike

__all__ = ["PlantedViews", "make_planted"]


@dataclass(frozen=True)
class PlantedViews:
    """Paired samples and the known answer: which features carry which factor, and with what weight.

    Attributes
    ----------
    views : tuple of {ndarray, csr_array} of shape (n_samples, n_features)
        Two or more; `X` and `Y` are the first two.
    factors : ndarray of shape (n_samples, n_factors)
        The values that all views share.
    loadings : tuple of ndarray of shape (n_features, n_factors)
        Zero where a feature does not carry a factor; `x_loadings` and `y_loadings` are the first two.
    """

    views: tuple[Any, ...]
    factors: np.ndarray
    loadings: tuple[np.ndarray, ...]

    @property
    def X(self) -> np.ndarray | sp.csr_array:  # noqa: N802 (as scikit-learn names it)
        return self.views[0]

    @property
    def Y(self) -> np.ndarray | sp.csr_array:  # noqa: N802
        return self.views[1]

    @property
    def x_loadings(self) -> np.ndarray:
        return self.loadings[0]

    @property
    def y_loadings(self) -> np.ndarray:
        return self.loadings[1]


def make_planted(
    n_samples: int = 200,
    n_features_x: int = 2000,
    n_features_y: int = 2000,
    *n_features_more: int,
    n_factors: int = 2,
    n_active: int = 10,
    strength: float = 1.0,
    density: float = 1.0,
    random_state: SeedLike = None,
) -> PlantedViews:
    """Two or more views of the same samples, in which a few features of each share hidden factors.

    Every feature is standard normal noise; `n_active` features of each view, different ones for every factor, carry
    that factor in addition, with weight `strength` and a random sign.

    Parameters
    ----------
    n_samples, n_features_x, n_features_y : int
    *n_features_more : int
        Numbers of features of further views.
    n_factors : int
        Number of independent standard normal factors; n_factors * n_active features of each view carry one.
    n_active : int
        Number of features of each view that carry a factor.
    strength : float
        Weight of the factor relative to noise of unit variance.
    density : float
        Below 1, only this share of the entries is not zero, and the views are stored as scipy.sparse arrays.
    random_state : int, RandomState instance or None

    Returns
    -------
    PlantedViews
    """
    n_samples, n_factors = check_count(n_samples, "n_samples"), check_count(n_factors, "n_factors")
    n_active = check_count(n_active, "n_active")
    if not 0 < density <= 1:
        raise ValueError(f"density must be greater than 0 and at most 1; got {density!r}.")
    rng = check_random_state(random_state)
    factors = rng.standard_normal((n_samples, n_factors))
    counts = {"n_features_x": n_features_x, "n_features_y": n_features_y}
    counts |= {f"n_features of view {v}": count for v, count in enumerate(n_features_more, 3)}
    loadings = tuple(_loadings(count, name, n_factors, n_active, strength, rng) for name, count in counts.items())
    return PlantedViews(tuple(_observe(factors, each, density, rng) for each in loadings), factors, loadings)


def _loadings(
    n_features: int, name: str, n_factors: int, n_active: int, strength: float, rng: np.random.RandomState
) -> np.ndarray:
    n_features = check_count(n_features, name)
    if n_factors * n_active > n_features:
        raise ValueError(
            f"{name} must be at least n_factors * n_active = {n_factors * n_active}; got {n_features}: "
            "plant fewer or ask for more features."
        )
    loadings = np.zeros((n_features, n_factors))
    chosen = rng.permutation(n_features)[: n_factors * n_active].reshape(n_factors, n_active)
    for factor, features in enumerate(chosen):
        loadings[features, factor] = strength * rng.choice([-1.0, 1.0], size=n_active)
    return loadings


def _observe(
    factors: np.ndarray, loadings: np.ndarray, density: float, rng: np.random.RandomState
) -> np.ndarray | sp.csr_array:
    shape = (len(factors), len(loadings))
    if density == 1:
        return factors @ loadings.T + rng.standard_normal(shape)
    # positions come from the same bit stream as values; scipy.sparse.random_array has other arguments in each version
    places = np.random.Generator(rng._bit_generator).choice(
        shape[0] * shape[1], size=round(density * shape[0] * shape[1]), replace=False
    )
    rows, columns = (axis.astype(np.int32) for axis in np.unravel_index(places, shape, order="F"))
    values = rng.standard_normal(len(places)) + np.einsum("ij,ij->i", factors[rows], loadings[columns])
    return sp.csr_array((values, (rows, columns)), shape=shape)
