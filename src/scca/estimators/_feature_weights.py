"""How well each feature of a view is predicted from the other view, and the weight this earns it."""

from typing import Any

import numpy as np

from ..views import FeatureView

__all__ = ["FEWEST_PAIRS", "MOST_PAIRS", "held_out_gain", "shared_weights"]

FEWEST_PAIRS = 4
MOST_PAIRS = 2000  # used for the estimate, which takes a square matrix of them

_RIDGE = 1.0  # beside a kernel whose mean diagonal is 1
_LEAST = 0.02  # a feature that cannot be predicted keeps a little weight
_POWER = 0.25
_KEPT = 0.9  # of a view's features in each round of elimination
_ROUNDING = 1e-20  # squares below this share of the largest are those of a constant
_BLOCK_ENTRIES = 1 << 22


class _Side:
    """One of the two views: a kernel that predicts and, where it has features, features to be predicted."""

    def __init__(self, view: FeatureView | np.ndarray):
        self._whole: Any = view
        self._has_features = isinstance(view, FeatureView)
        self.kept = np.arange(view.shape[1])

    @property
    def view(self) -> FeatureView:
        """The features that are kept, centred and scaled as the whole is."""
        return self._whole if len(self.kept) == self._whole.shape[1] else self._whole.restricted(self.kept)

    @property
    def kernel(self) -> np.ndarray:
        return self.view.outer() if self._has_features else self._whole

    def exceeds(self, n_features: int) -> bool:
        return self._has_features and len(self.kept) > n_features

    def drop_some(self, n_features: int, other_kernel: np.ndarray) -> None:
        """Keep nine tenths of the features, those that gain most, and no fewer than `n_features`."""
        count = max(n_features, int(_KEPT * len(self.kept)))
        gain, _ = held_out_gain(self.view, other_kernel)
        self.kept = self.kept[np.sort(np.argsort(-gain, kind="stable")[:count])]

    def weights(self, other_kernel: np.ndarray) -> np.ndarray | None:
        if not self._has_features:
            return None
        gain, deviation = held_out_gain(self.view, other_kernel)
        varies = deviation > _ROUNDING * deviation.max(initial=0.0)
        explained = np.where(varies, gain, 0.0) / np.where(varies, deviation, 1.0)
        weights = np.zeros(self._whole.shape[1])
        weights[self.kept] = np.maximum(explained, _LEAST) ** _POWER
        return weights


def shared_weights(
    first: FeatureView | np.ndarray, second: FeatureView | np.ndarray, n_features: int | None = None
) -> list[np.ndarray | None]:
    """max(R^2, 0.02)^(1/4) of every feature of both views, R^2 as `held_out_gain` gives it.

    A view without features is given as its kernel matrix, and gets None. With `n_features`, all but so many features of
    a view get the weight 0. The tenth of a view's features that gains least from the features left in the other is
    dropped in each round and the rest is judged anew: a feature that only dropped ones predicted goes as well.
    """
    sides = _Side(first), _Side(second)
    while n_features is not None and any(side.exceeds(n_features) for side in sides):
        kernels = [side.kernel for side in sides]
        for side, other_kernel in zip(sides, reversed(kernels), strict=True):
            if side.exceeds(n_features):
                side.drop_some(n_features, other_kernel)
    kernels = [side.kernel for side in sides]
    return [side.weights(other_kernel) for side, other_kernel in zip(sides, reversed(kernels), strict=True)]


def held_out_gain(view: FeatureView, other_kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How much better than its mean kernel ridge regression on the other view predicts a feature of samples left out.

    With the other view's kernel K, centred and scaled to a mean diagonal of 1, the regression with a mean has the hat
    matrix H = K (K + I)^-1 + 11'/n, and leaving sample i out turns its residual x_i - (H x)_i into
    (x_i - (H x)_i) / (1 - H_ii); the mean alone is H = 11'/n.

    Returns
    -------
    gain : ndarray of shape (m,)
        Sum of squares left out by the mean, less that of the regression; negative where the other view misleads.
    deviation : ndarray of shape (m,)
        The former sum: gain / deviation is the held-out R^2.
    """
    n = len(other_kernel)
    K = other_kernel - other_kernel.mean(axis=0)
    K = K - K.mean(axis=1, keepdims=True)
    trace = float(np.trace(K))
    K = K * (n / trace) if trace > 0 else K
    hat = np.linalg.solve(K + _RIDGE * np.eye(n), K) + 1.0 / n
    residual = _square_norms(view, (np.eye(n) - hat) / (1.0 - np.diag(hat))[:, None])
    around_mean = view.square_norms() - view.rmatvec(np.ones(n)) ** 2 / n
    deviation = np.maximum(around_mean, 0.0) * (n / (n - 1)) ** 2
    return deviation - residual, deviation


def _square_norms(view: FeatureView, left: np.ndarray) -> np.ndarray:
    """Squared norms of the columns of `left` times the view, in blocks of columns."""
    m = view.shape[1]
    step = max(1, _BLOCK_ENTRIES // len(left))
    blocks = [None] if step >= m else [np.arange(start, min(start + step, m)) for start in range(0, m, step)]
    products = (view.rmatvec(left.T, block) for block in blocks)
    return np.concatenate([np.einsum("ij,ij->i", product, product) for product in products])
