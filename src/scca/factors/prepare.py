"""Preparing: the views of training samples weighed, centred and scaled, by weights that the other views decide."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor
from scipy.linalg.lapack import dpotri

from .._types import MatrixLike
from ..parallel import map_threads, one_blas_thread
from ..samples import ChosenRows, Groups, Views, chosen_rows
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
    norm_of,
    scales_columns,
    suitable_scale,
)
from . import constants

__all__ = [
    "Prepared",
    "Reading",
    "held_out_gain",
    "judged_views",
    "prepare",
    "reading_only",
    "shared_weights",
    "shares_explained",
    "unweighted_view",
    "weights_of",
]

_ROUNDING = 1e-20  # a feature whose sum of squares is below this share of the largest is constant
_ROUNDING_OF_NORMS = 1e-12  # a sample whose squared norm is below this share of the largest has no feature


@dataclass(frozen=True)
class Reading:
    """How the samples of every view are read; each tuple has one entry per view.

    Attributes
    ----------
    kernels : tuple of Kernel or None
        The kernel of each view; None for a view that is read by its features.
    scales : tuple of scalings
        The scaling of each view; "auto" where the data decide.
    center : bool
    weighted : bool
        Whether features are weighted by how well the other views predict them.
    meaningless : tuple of bool
        Views whose single features mean nothing, such as an encoder's: they are neither weighted nor selected.
    low_rank : tuple of dict or None
        How a kernel is approximated, as keyword arguments of `LowRankKernelView.of`; None to store it.
    n_jobs : int or None
    """

    kernels: tuple[Kernel | None, ...]
    scales: tuple[Any, ...]
    center: bool = True
    weighted: bool = False
    meaningless: tuple[bool, ...] = ()
    low_rank: tuple[dict[str, Any] | None, ...] = ()
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        count = len(self.kernels)
        object.__setattr__(self, "meaningless", self.meaningless or (False,) * count)
        object.__setattr__(self, "low_rank", self.low_rank or (None,) * count)

    def decided(self, views: Views) -> "Reading":
        """The same reading with "auto" replaced by the scaling that suits the data.

        Only norms are scaled for a kernel matrix, for a kernel function that the user wrote for unscaled rows, and for
        columns that mean nothing by themselves.
        """
        return replace(self, scales=tuple(self._scale(v, data) for v, data in enumerate(views.data)))

    def _scale(self, v: int, data: Any) -> Scale:
        if self.scales[v] != "auto":
            return self.scales[v]
        kernel = self.kernels[v]
        is_given = kernel is not None and (kernel.precomputed or callable(kernel.function))
        return "rows" if is_given or self.meaningless[v] else suitable_scale(data)


@dataclass(frozen=True, eq=False)
class Prepared:
    """The prepared views of training samples, immutable, so that any number of fits can share them.

    Attributes
    ----------
    views : tuple of PreparedView
    unweighted : tuple of PreparedView
        The views without feature weights, and with all features.
    samples : tuple of ndarray, `Compressed` (sparse samples) or `BlockRows`
        The samples from which a view can be prepared again, with fewer features.
    given : Views
        The samples as they were given, with their names and groups.
    reading : Reading
        How the samples were read, with "auto" replaced.
    kept : tuple of ndarray of int, or None
        The features of each view that are read; None for all.
    judged : tuple
        The features, or the kernels, of the samples by which features are judged; empty if they are not.
    explained : tuple of ndarray of shape (features,), or None
        The held-out R^2 of every feature of each view; -inf for those that are not read. Empty if none is judged.
    share : int, float or None
        The number or share of the features that were chosen; None for all.
    cost : Cost or None
        What it costs to read no more.
    n_counted : int or None
        The number of components, if it was counted to choose features for them.
    sharing : Sharing or None
        The test whether the views share anything, if the count needed it.
    """

    views: tuple[PreparedView, ...]
    unweighted: tuple[PreparedView, ...]
    samples: tuple[Any, ...]
    given: Views
    reading: Reading
    kept: tuple[np.ndarray | None, ...] = ()
    judged: tuple[Any, ...] = ()
    explained: tuple[np.ndarray | None, ...] = ()
    share: int | float | None = None
    cost: Any = None
    n_counted: int | None = None
    sharing: Any = None

    @property
    def n_read(self) -> list[int]:
        """The number of features of each view that are read; of samples, for a kernel."""
        return [
            len(features)
            if features is not None
            else len(view.varying)
            if isinstance(view, PrimalView)
            else view.shape[1]
            for features, view in zip(self.kept, self.unweighted, strict=True)
        ]

    @property
    def groups(self) -> Groups:
        return self.given.groups

    def in_dtypes(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The arrays, one per view, in the dtype of its data and in C order, as in model files."""
        return [array.astype(data.dtype, order="C") for array, data in zip(arrays, self.given.data, strict=True)]

    def forget_columns(self) -> None:
        """Free the columns of sparse samples, which only a fit to all of them needs."""
        for samples in self.samples:
            if isinstance(samples, Compressed):
                samples.forget_columns()

    def to_split(self) -> Views:
        """The samples stored by rows, to be split."""
        rows = (samples.rows if isinstance(samples, Compressed) else samples for samples in self.samples)
        return replace(self.given, data=tuple(rows))


def prepare(given: Views, reading: Reading, first: PreparedView | None = None) -> Prepared:
    """The prepared views of checked samples, with all features.

    `first` is the unweighted first view of the same samples, if it is known.
    """
    reading = reading.decided(given)
    samples = tuple(_stored_by_columns(data, kernel) for data, kernel in zip(given.data, reading.kernels, strict=True))
    unweighted = tuple(
        first if v == 0 and first is not None else unweighted_view(reading, v, data, given.names[v])
        for v, data in enumerate(samples)
    )
    judged: tuple[Any, ...] = ()
    n = unweighted[0].shape[0]
    if reading.weighted and n >= constants.FEWEST_JUDGED:
        rows = _judged_rows(n)
        judged = tuple(_features_of_rows(reading, v, unweighted[v], samples[v], rows) for v in range(len(unweighted)))
    return reading_only(
        Prepared(unweighted, unweighted, samples, given, reading, judged=judged), (None,) * len(unweighted)
    )


def reading_only(prepared: Prepared, kept: Sequence[np.ndarray | None]) -> Prepared:
    """The same samples with only these features of each view (None: all), weighed by what the other views predict."""
    weights: list[np.ndarray | None] = [None] * len(kept)
    explained: list[np.ndarray | None] = []
    if prepared.judged:
        judged, n = judged_views(prepared.reading, prepared.judged), len(prepared.given)
        explained = shares_explained(judged, kept, prepared.groups.chosen(_judged_rows(n)))
        weights = [None if each is None else weights_of(each, n) for each in explained]
    for v, features in enumerate(kept):
        if weights[v] is None and features is not None:
            read = np.zeros(prepared.unweighted[v].shape[1])
            read[features] = 1.0
            weights[v] = read
    views = tuple(map(_weighted_view, prepared.unweighted, prepared.samples, weights))
    return replace(prepared, views=views, kept=tuple(kept), explained=tuple(explained))


def _judged_rows(n: int) -> np.ndarray:
    """The samples, evenly spaced, by which features are judged."""
    return np.unique(np.linspace(0, n - 1, min(n, constants.MOST_JUDGED)).astype(int))


def unweighted_view(reading: Reading, v: int, samples: Any, name: str) -> PreparedView:
    """View number `v` of some samples, centred and scaled."""
    kernel, scale = reading.kernels[v], reading.scales[v]
    samples = _stored_by_columns(samples, kernel)
    if kernel is None:
        return Preparation.fit(samples, center=reading.center, scale=scale).transform(samples)
    # divided, not centred: a kernel is centred in its own space, and sparse samples would lose their zeros
    spread = Preparation.fit(samples, scale="columns").spread if scales_columns(scale) else None
    settings: dict[str, Any] = {"center": reading.center, "scale": scale, "spread": spread, "n_jobs": reading.n_jobs}
    samples, settings["name"] = divided(samples, spread), f"the kernel matrix of {name}"
    low_rank = reading.low_rank[v]
    if low_rank is not None:
        return LowRankKernelView.of(samples, kernel, **low_rank, **settings)
    return StoredKernelView.of(samples, kernel, **settings)


def _stored_by_columns(samples: MatrixLike | Compressed, kernel: Kernel | None) -> Any:
    """Sparse features stored by columns, converted once for all products; for a kernel, an array."""
    if kernel is not None:
        return np.asarray(samples) if isinstance(samples, ChosenRows) else samples
    return Compressed(samples) if sp.issparse(samples) else samples


def _features_of_rows(reading: Reading, v: int, view: Any, samples: Any, rows: np.ndarray) -> FeatureView | np.ndarray:
    """The features of some samples, or their kernel."""
    if not isinstance(view, PrimalView):
        return view.among(rows)
    if isinstance(view, FeatureView) and len(rows) == view.shape[0]:
        return view
    samples = chosen_rows(samples.rows if isinstance(samples, Compressed) else samples, rows)
    return Preparation.fit(samples, center=reading.center, scale=reading.scales[v]).transform(samples)


def _features_or_kernel(reading: Reading, v: int, view: FeatureView | np.ndarray) -> FeatureView | np.ndarray:
    """The features from which feature weights are estimated, or their kernel if the features mean nothing."""
    return view.outer() if isinstance(view, FeatureView) and reading.meaningless[v] else view


def _weighted_view(view: Any, samples: Any, weights: np.ndarray | None) -> Any:
    """The view with its features weighted; unchanged without weights."""
    if weights is None or not isinstance(view, PrimalView) or view.preparation is None:
        return view
    return view.preparation.weighted(weights, samples).transform(samples)


# --- feature weights --------------------------------------------------------------------------------------------------


def judged_views(reading: Reading, views: Sequence[Any]) -> list[FeatureView | np.ndarray]:
    """The features or kernels by which features are judged, given unweighted views."""
    return [_features_or_kernel(reading, v, view) for v, view in enumerate(views)]


def shared_weights(
    views: Sequence[FeatureView | np.ndarray],
    kept: Sequence[np.ndarray | None] | None = None,
    groups: Groups | None = None,
) -> list[np.ndarray | None]:
    """`weights_of` what the views predict of each other's features; None for a view without features."""
    n = len(views[0]) if isinstance(views[0], np.ndarray) else views[0].shape[0]
    return [None if each is None else weights_of(each, n) for each in shares_explained(views, kept, groups)]


def weights_of(explained: np.ndarray, n_samples: int) -> np.ndarray:
    """max(R^2, 0.02)^p, p = min(1/4, 25 / n), of every feature; 0 for features that are not read, whose R^2 is -inf."""
    power = constants.MOST_POWER * min(1.0, constants.FULL_POWER_SAMPLES / n_samples)
    return np.where(explained == -np.inf, 0.0, np.maximum(explained, constants.LEAST_R2) ** power)


def shares_explained(
    views: Sequence[FeatureView | np.ndarray],
    kept: Sequence[np.ndarray | None] | None = None,
    groups: Groups | None = None,
) -> list[np.ndarray | None]:
    """The R^2 of every feature of every view, on samples left out, from `held_out_gain`.

    A view without features is given as its kernel matrix, and gets None. With `kept`, only these features of a view
    count, in either role; the others get -inf.
    """
    sides = [_Side(view, None if kept is None else kept[v]) for v, view in enumerate(views)]

    def on_all(compute: Callable[..., Any], given: Iterable[Any]) -> list[Any]:
        with one_blas_thread():  # one thread per view: several threads on one small matrix mostly wait
            return map_threads(lambda task: compute(*task), zip(sides, given, strict=True))

    left_out = on_all(_Side.left_out, [groups] * len(sides))
    others = [[found for u, found in enumerate(left_out) if u != v] for v in range(len(sides))]
    return on_all(_Side.explained, others)


class _Side:
    """One view: its kernel, which predicts the other views, and its features, if any, which are predicted."""

    def __init__(self, whole: Any, kept: np.ndarray | None):
        self._size = whole.shape[1]
        self._has_features = isinstance(whole, FeatureView)
        if not self._has_features:
            self._kept, self._kernel, self._view = np.arange(self._size), whole, whole
        elif kept is None:
            self._kept, self._kernel = whole.varying, whole.outer()
            self._view = whole if len(self._kept) == self._size else whole.restricted(self._kept)
        else:
            self._kept = kept
            self._restrict(whole)

    def _restrict(self, whole: FeatureView) -> None:
        """Use only the kept features, also for the norm of a sample."""
        part = whole.restricted(self._kept)
        kernel = FeatureView(part.storage, part.mean).outer()
        norm, scale = norm_of(whole.preparation.scale if whole.preparation else None, kernel), None
        if norm is not None:
            squares = np.diag(kernel)
            scale = norm.inverse(squares, _ROUNDING_OF_NORMS * squares.max(initial=0.0))
            kernel = kernel * scale[:, None] * scale
        self._view, self._kernel = FeatureView(part.storage, part.mean, scale), kernel

    def left_out(self, groups: Groups | None) -> np.ndarray:
        """The residuals of samples left out, by which this view predicts the features of the others."""
        return _left_out(self._kernel, groups)

    def explained(self, others: Sequence[np.ndarray]) -> np.ndarray | None:
        """The R^2 of all features, given the residuals by which each other view predicts them."""
        if not self._has_features:
            return None
        gain, deviation = _mean_gain(self._view, others)
        varies = deviation > _ROUNDING * deviation.max(initial=0.0)
        found = np.full(self._size, -np.inf)
        found[self._kept] = np.where(varies, gain, 0.0) / np.where(varies, deviation, 1.0)
        return found


def held_out_gain(
    view: FeatureView, *other_kernels: np.ndarray, groups: Groups | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """How much better kernel ridge regression on another view predicts each feature than its mean does.

    With several other views it is the mean over them: a feature that one of them predicts well, and another not at all,
    is not shared by all. Judged by their kernels together such features would count as much as shared ones.

    Both predict samples left out: one sample at a time, or for the regression all samples of a group. With the other
    view's kernel K, centred and scaled to a mean diagonal of 1, the regression with an intercept has the hat matrix H =
    K (K + I)^-1 + 11'/n, and the leave-one-out residual of sample i is (x_i - (H x)_i) / (1 - H_ii); for the mean, H =
    11'/n. The residuals of a group g are (I - H_gg)^-1 (x - H x)_g.

    Returns
    -------
    gain : ndarray of shape (m,)
        Sum of squared residuals of the mean less that of the regression; negative if the other views mislead.
    deviation : ndarray of shape (m,)
        Sum of squared residuals of the mean: gain / deviation is the held-out R^2.
    """
    return _mean_gain(view, [_left_out(kernel, groups) for kernel in other_kernels])


def _left_out(kernel: np.ndarray, groups: Groups | None) -> np.ndarray:
    """The matrix that takes a feature to the residuals of its leave-one-out predictions."""
    n, ridge = len(kernel), constants.FEATURE_RIDGE
    K = kernel - kernel.mean(axis=0)
    K = K - K.mean(axis=1, keepdims=True)
    trace = float(np.trace(K))
    K = K * (n / trace) if trace > 0 else K
    remainder = ridge * _inverse_of_positive(K + ridge * np.eye(n)) - 1.0 / n  # I - H
    if groups is None or groups.labels is None:
        return remainder / np.diag(remainder)[:, None]
    left_out = np.empty_like(remainder)
    for group in range(groups.n_groups):
        rows = groups.samples(np.array([group]))
        left_out[rows] = np.linalg.solve(remainder[np.ix_(rows, rows)], remainder[rows])
    return left_out


def _mean_gain(view: FeatureView, others: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The gain over the residuals that each of the other views leaves, mean over these views; and the deviation."""
    found = [view.deviations(left_out) for left_out in others]
    n, around_mean = len(others[0]), found[0][1]
    residual = found[0][0] if len(found) == 1 else np.mean([residual for residual, _ in found], axis=0)
    deviation = around_mean * (n / (n - 1)) ** 2
    return deviation - residual, deviation


def _inverse_of_positive(positive: np.ndarray) -> np.ndarray:
    """The inverse of a positive definite matrix."""
    factor, _ = cho_factor(positive, lower=True)
    lower = np.tril(dpotri(factor, lower=True)[0])
    return lower + np.tril(lower, -1).T
