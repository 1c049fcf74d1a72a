"""Preparing both views of a fit: the one place where training data are weighted, selected, centred and scaled."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._arrays import ChosenRows, chosen_rows
from .._data import Features
from .._types import MatrixLike
from ..samples import Groups
from ..views import (
    Compressed,
    FeatureView,
    Kernel,
    LowRankKernelView,
    Preparation,
    PreparedView,
    PrimalView,
    Scale,
    StoredKernelView,
    divided,
    scales_columns,
)
from ._weights import FEWEST_PAIRS, MOST_PAIRS, shared_weights

__all__ = ["Known", "Prepared", "PreparedPair", "Preparing"]

Prepared = PrimalView | StoredKernelView | LowRankKernelView


@dataclass(frozen=True, eq=False)
class Known:
    """The features of both views, under the names of the fitted attributes; without feature names, no attribute."""

    n_features_in_: int
    feature_names_in_: np.ndarray | None
    n_features_y_: int
    feature_names_y_: np.ndarray | None

    def of(self, name: str) -> Features:
        """The features of "X" or "Y"."""
        if name == "X":
            return Features(self.n_features_in_, self.feature_names_in_)
        return Features(self.n_features_y_, self.feature_names_y_)


@dataclass(frozen=True)
class PreparedPair:
    """Checked and prepared training data of an estimator, immutable, so that any number of fits can share them.

    Attributes
    ----------
    views : dict of str to PreparedView
        X and Y as the estimator represents them, features or kernels.
    samples : dict of str to the checked data, or `Compressed` if they are sparse
        From which a view can be prepared again, with fewer features.
    dtypes : dict of str to dtype
        Of X and Y, and so of the results.
    n_components : int
        Number of components requested.
    known : Known
        The features of both views.
    groups : Groups
        Which samples belong together.
    scales : dict of str to scaling
        Of X and Y.
    n_features : int, float or None
        How many features of a view, or which share of them, are read; None for all.
    """

    views: Mapping[str, PreparedView]
    samples: Mapping[str, Any]
    dtypes: Mapping[str, np.dtype]
    n_components: int
    known: Known
    groups: Groups
    scales: Mapping[str, Scale]
    n_features: int | float | None = None


@dataclass(frozen=True)
class Preparing:
    """How training data become views.

    Attributes
    ----------
    kernels : mapping of view names to Kernel
        Of the views without features: those with a kernel that is not linear.
    center : bool
    scales : mapping of view names to scalings
    weighted : bool
        Whether features are weighted by how well the other view predicts them.
    n_features : int, float or None
        How many features of a view, or which share of them, are read; None for all.
    n_jobs : int or None
    low_rank : dict or None
        How the kernels are approximated, as keyword arguments of `LowRankKernelView.of`; None to store them.
    as_they_are : collection of str
        Names of views whose single features mean nothing: they are neither weighted nor selected.
    groups : Groups or None
        Which samples belong together; None if every sample is on its own.
    """

    kernels: Mapping[str, Kernel]
    center: bool
    scales: Mapping[str, Scale]
    weighted: bool
    n_features: int | float | None = None
    n_jobs: int | None = None
    low_rank: Mapping[str, Any] | None = None
    as_they_are: Collection[str] = ()
    groups: Groups | None = None

    def views(self, X: MatrixLike, Y: MatrixLike, x_view: Prepared | None = None) -> dict[str, Prepared]:
        """The prepared views of checked data, by name; `x_view` is the result of `unweighted` for the same X."""
        data = {"X": self.by_columns(X, "X"), "Y": self.by_columns(Y, "Y")}
        views = {"X": x_view or self.unweighted(data["X"], "X"), "Y": self.unweighted(data["Y"], "Y")}
        n = views["X"].shape[0]
        if not self.weighted or n < FEWEST_PAIRS:
            return views
        rows = np.unique(np.linspace(0, n - 1, min(n, MOST_PAIRS)).astype(int))  # all, or some evenly spaced
        judged = [self.judged(self._of_rows(views[name], data[name], rows, name), name) for name in data]
        groups = None if self.groups is None else self.groups.chosen(rows)
        weights = shared_weights(judged[0], judged[1], self.n_features, groups)
        return {name: _weighted(views[name], data[name], earned) for name, earned in zip(data, weights, strict=True)}

    def judged(self, view: FeatureView | np.ndarray, name: str) -> FeatureView | np.ndarray:
        """What feature weights are estimated from: features, or a kernel if the features are not to be weighted."""
        return view.outer() if isinstance(view, FeatureView) and name in self.as_they_are else view

    def _of_rows(self, view: Prepared, samples: MatrixLike, rows: np.ndarray, name: str) -> FeatureView | np.ndarray:
        """The features of some samples, or their kernel."""
        if not isinstance(view, PrimalView):
            return view.among(rows)
        if isinstance(view, FeatureView) and len(rows) == view.shape[0]:
            return view
        samples = chosen_rows(samples.rows if isinstance(samples, Compressed) else samples, rows)
        return self._fitted(samples, name).transform(samples)

    def unweighted(self, samples: MatrixLike, name: str) -> Prepared:
        """One view, centred and scaled."""
        samples = self.by_columns(samples, name)
        if name not in self.kernels:
            return self._fitted(samples, name).transform(samples)
        scale = self.scales[name]
        # only divided: centring belongs to the kernel's space, and would cost sparse samples their zeros
        spread = Preparation.fit(samples, scale="columns").spread if scales_columns(scale) else None
        samples = divided(samples, spread)
        settings: dict[str, Any] = {"center": self.center, "scale": scale, "spread": spread, "n_jobs": self.n_jobs}
        settings["name"] = f"the kernel matrix of {name}"
        if self.low_rank is not None:
            return LowRankKernelView.of(samples, self.kernels[name], **self.low_rank, **settings)
        return StoredKernelView.of(samples, self.kernels[name], **settings)

    def _fitted(self, samples: MatrixLike, name: str) -> Preparation:
        return Preparation.fit(samples, center=self.center, scale=self.scales[name])

    def by_columns(self, samples: MatrixLike | Compressed, name: str) -> Any:
        """Sparse features by columns, converted once, since all products need them so; kernels need arrays."""
        if isinstance(samples, ChosenRows) and name in self.kernels:
            return np.asarray(samples)
        return Compressed(samples) if sp.issparse(samples) and name not in self.kernels else samples


def _weighted(view: Prepared, samples: MatrixLike, weights: np.ndarray | None) -> Prepared:
    """The view with its features weighted; unchanged without weights."""
    if weights is None or not isinstance(view, PrimalView) or view.preparation is None:
        return view
    return view.preparation.weighted(weights, samples).transform(samples)
