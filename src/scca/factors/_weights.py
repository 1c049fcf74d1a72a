"""Feature weights: how well the other view predicts each feature."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import cho_factor
from scipy.linalg.lapack import dpotri

from ..parallel import map_threads, one_blas_thread
from ..samples import Groups
from ..views import FeatureView, norm_of

__all__ = ["FEWEST_PAIRS", "KEPT", "MOST_PAIRS", "elimination", "held_out_gain", "shared_weights"]

FEWEST_PAIRS = 4
KEPT = 0.7  # share of a view's features kept in each round of elimination
MOST_PAIRS = 2000  # used for the estimate, which needs a square matrix of this size

_RIDGE = 1.0  # for a kernel whose mean diagonal is 1
_LEAST = 0.02  # R^2 is not taken below this: a feature that cannot be predicted keeps a little weight
_MOST_POWER = 0.25
_PAIRS_OF_MOST = 100  # up to so many pairs; with more, factors depend less on the weights
_ROUNDING = 1e-20  # a feature whose sum of squares is below this share of the largest is constant
_ROUNDING_OF_NORMS = 1e-12  # the same for samples that have none of the features


class _Side:
    """One view: the kernel that predicts the other view and, unless it is a kernel itself, features to be predicted."""

    kept: np.ndarray
    kernel: np.ndarray
    view: Any

    def __init__(self, view: Any):
        self._whole = view
        self._has_features = isinstance(view, FeatureView)
        self.kept, self.kernel, self.view = np.arange(view.shape[1]), view, view
        if isinstance(view, FeatureView):
            self.kept, self.kernel = view.varying, view.outer()
            self.view = view if len(self.kept) == view.shape[1] else view.restricted(self.kept)
        self._n_varying = len(self.kept)
        self._gain = np.zeros(len(self.kept))

    def keep(self, kept: np.ndarray) -> None:
        """Use these features alone, also for the norm of a sample."""
        self.kept = kept
        part = self._whole.restricted(kept)
        kernel = FeatureView(part.storage, part.mean).outer()
        norm, scale = norm_of(self._whole.preparation.scale, kernel), None
        if norm is not None:
            squares = np.diag(kernel)
            scale = norm.inverse(squares, _ROUNDING_OF_NORMS * squares.max(initial=0.0))
            kernel = kernel * scale[:, None] * scale
        self.view = FeatureView(part.storage, part.mean, scale)
        self.kernel = kernel

    def drop_some(self, budget: int) -> None:
        """Keep the seven tenths of the features with the largest gain, and no fewer than `budget`."""
        if not self._has_features or len(self.kept) <= budget:
            return
        count = max(budget, int(KEPT * len(self.kept)))
        self.keep(self.kept[np.sort(np.argsort(-self._gain, kind="stable")[:count])])

    def budget(self, n_features: int | float | None) -> int:
        n, m = self._whole.shape[0], self._n_varying
        if n_features is None or not self._has_features:
            return m
        return int(n_features) if isinstance(n_features, Integral) else max(n // 2, round(n_features * m))

    def weights(self, other_kernel: np.ndarray, groups: Groups | None) -> np.ndarray | None:
        if not self._has_features:
            return None
        gain, deviation = held_out_gain(self.view, other_kernel, groups)
        self._gain = gain
        varies = deviation > _ROUNDING * deviation.max(initial=0.0)
        explained = np.where(varies, gain, 0.0) / np.where(varies, deviation, 1.0)
        weights = np.zeros(self._whole.shape[1])
        weights[self.kept] = np.maximum(explained, _LEAST) ** _power(len(other_kernel))
        return weights


def shared_weights(
    first: FeatureView | np.ndarray,
    second: FeatureView | np.ndarray,
    n_features: int | float | None = None,
    groups: Groups | None = None,
) -> list[np.ndarray | None]:
    """max(R^2, 0.02)^p of every feature of both views, with R^2 from `held_out_gain`.

    p is 1/4 for up to 100 pairs and 2.5 / sqrt(n) for more.

    A view without features is given as its kernel matrix, and gets None. With `n_features`, a number or a share of a
    view's features (but at least half as many as pairs), all others get the weight 0: the last of `elimination`.
    """
    *_, last = elimination(first, second, n_features, groups)
    return last


def elimination(
    first: FeatureView | np.ndarray,
    second: FeatureView | np.ndarray,
    n_features: int | float | None,
    groups: Groups | None = None,
) -> Iterator[list[np.ndarray | None]]:
    """Weights of both views with all features, then with fewer and fewer, finally with `n_features`.

    Each round drops the three tenths of a view's features that the remaining features of the other view predict worst,
    and reassesses the rest: a feature that only dropped ones predicted goes next.
    """
    one, other = sides = _Side(first), _Side(second)
    budgets = [side.budget(n_features) for side in sides]

    def on_both(compute: Callable[..., Any], given: Iterable[Any]) -> list[Any]:
        with one_blas_thread():  # a thread per view: several on one small matrix wait for each other most of the time
            return map_threads(lambda task: compute(*task), zip(sides, given, strict=True))

    while True:
        yield on_both(partial(_Side.weights, groups=groups), (other.kernel, one.kernel))
        if all(len(side.kept) <= budget for side, budget in zip(sides, budgets, strict=True)):
            return
        on_both(_Side.drop_some, budgets)


def _power(n_pairs: int) -> float:
    return _MOST_POWER * min(1.0, (_PAIRS_OF_MOST / n_pairs) ** 0.5)


def held_out_gain(
    view: FeatureView, other_kernel: np.ndarray, groups: Groups | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How much better kernel ridge regression on the other view predicts each feature than its mean does.

    Both by leave-one-out; the regression leaves out all samples of a group. With the other view's kernel K, centred and
    scaled to a mean diagonal of 1, the regression with an intercept has the hat matrix H = K (K + I)^-1 + 11'/n, and
    the leave-one-out residual of sample i is (x_i - (H x)_i) / (1 - H_ii); for the mean, H = 11'/n. Those of a group g
    are (I - H_gg)^-1 (x - H x)_g.

    Returns
    -------
    gain : ndarray of shape (m,)
        Sum of squared residuals of the mean less that of the regression; negative if the other view misleads.
    deviation : ndarray of shape (m,)
        Sum of squared residuals of the mean: gain / deviation is the held-out R^2.
    """
    n = len(other_kernel)
    K = other_kernel - other_kernel.mean(axis=0)
    K = K - K.mean(axis=1, keepdims=True)
    trace = float(np.trace(K))
    K = K * (n / trace) if trace > 0 else K
    remainder = _RIDGE * _inverse(K + _RIDGE * np.eye(n)) - 1.0 / n  # I - H
    if groups is None or groups.labels is None:
        left_out = remainder / np.diag(remainder)[:, None]
    else:
        left_out = np.empty_like(remainder)
        for group in range(groups.n_groups):
            rows = groups.samples(np.array([group]))
            left_out[rows] = np.linalg.solve(remainder[np.ix_(rows, rows)], remainder[rows])
    residual, around_mean = view.deviations(left_out)
    deviation = around_mean * (n / (n - 1)) ** 2
    return deviation - residual, deviation


def _inverse(positive: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix."""
    factor, _ = cho_factor(positive, lower=True)
    lower = np.tril(dpotri(factor, lower=True)[0])
    return lower + np.tril(lower, -1).T
