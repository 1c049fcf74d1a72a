"""Stability selection: the features that random halves of the data agree on."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._checks import EvidenceWarning, check_count, check_seed, warn
from .._types import MatrixLike, SeedLike
from ..estimators import KernelCCA, PairedTransformer
from ..parallel import Progress, run_tasks
from ..samples import Groups
from ._fits import DATA_SETS, Fits

__all__ = ["StabilitySelection", "stability_selection"]

_MOST_FALSE_SHARE = 0.5  # largest share of the selected features that may be false without a warning


@dataclass(frozen=True)
class StabilitySelection:
    """The result of `stability_selection`; `dataclasses.replace(found, threshold=0.9)` applies another threshold.

    Attributes
    ----------
    x_probabilities, y_probabilities : ndarray
        Share of the subsamples in which a coordinate had a weight in any component: for a feature, of all subsamples;
        for a sample of a dual view, of the subsamples that contain it (NaN if none does).
    x_mean_selected, y_mean_selected : float
        q, the mean number of features with a weight in a subsample; NaN for a dual view.
    threshold : float
    n_subsamples : int
    x_names, y_names : ndarray of str or None
        Names of the features, if the view was a data frame with string column names.
    selected_x, selected_y : ndarray of int
        The coordinates with a probability of at least `threshold`.
    expected_false_x, expected_false_y : float
        Bound q^2 / ((2 threshold - 1) p) on the expected number of false features among the selected, with p features
        in the view; NaN for a dual view.
    """

    x_probabilities: np.ndarray
    y_probabilities: np.ndarray
    x_mean_selected: float
    y_mean_selected: float
    threshold: float
    n_subsamples: int
    x_names: np.ndarray | None = None
    y_names: np.ndarray | None = None

    @property
    def selected_x(self) -> np.ndarray:
        return np.flatnonzero(self.x_probabilities >= self.threshold)

    @property
    def selected_y(self) -> np.ndarray:
        return np.flatnonzero(self.y_probabilities >= self.threshold)

    @property
    def expected_false_x(self) -> float:
        return self._expected_false(self.x_mean_selected, self.x_probabilities)

    @property
    def expected_false_y(self) -> float:
        return self._expected_false(self.y_mean_selected, self.y_probabilities)

    def _expected_false(self, mean_selected: float, probabilities: np.ndarray) -> float:
        return mean_selected**2 / ((2 * self.threshold - 1) * len(probabilities))


def stability_selection(
    model: PairedTransformer,
    X: MatrixLike,
    Y: MatrixLike,
    *,
    n_subsamples: int = 100,
    fraction: float = 0.5,
    threshold: float = 0.6,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: SeedLike = None,
    progress: Progress | None = None,
) -> StabilitySelection:
    """Find the features that a sparse model selects consistently from random subsamples of the pairs.

    A feature is selected from a subsample if it has a weight in any component, since component j of one subsample need
    not be component j of another. Subsamples come in disjoint pairs and in random order, so that sequential anchors are
    random samples. With q the mean number of features selected from a subsample, out of p,

        expected number of false features with probability >= threshold  <=  q^2 / ((2 threshold - 1) p).

    This is Meinshausen and Buhlmann's bound if all false features are equally likely to be selected and true ones are
    selected no worse than at random. Since the subsamples are disjoint pairs, Shah and Samworth's theorem gives the
    same number without these assumptions, if "false" means: selected from a subsample with probability below q / p. The
    bound is loose, and useless near the number selected: above half of it, this function warns. A larger penalty (a
    smaller q) or a higher threshold lowers it; with fewer than q^2 features it is above 1 whatever the threshold.
    Random anchors keep probabilities well below 1 even for strong features.

    Parameters
    ----------
    model : SparseCCA or another sparse estimator of two views
        Not modified; it is cloned for every fit.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`.
    n_subsamples : int, default=100
        Number of subsamples, which must be even.
    fraction : float, default=0.5
        Share of the pairs in a subsample; at most 0.5, so that two can be disjoint.
    threshold : float, default=0.6
        Smallest probability of a selected feature, above 0.5 and at most 1.
    groups : array of shape (n_samples,), optional
        A label for each sample. Subsamples are then made of whole groups, `fraction` of them, so that two disjoint
        subsamples have no group in common.
    n_jobs : int, optional
        Number of subsamples computed in parallel. The results do not depend on it.
    random_state : int, RandomState instance or None
    progress : callable, optional
        A function that is called with the number of subsamples done and the total.

    Returns
    -------
    StabilitySelection

    Examples
    --------
    >>> import scca
    >>> data = scca.datasets.make_planted(100, 100, 100, n_factors=1, n_active=4, strength=2, random_state=0)
    >>> model = scca.SparseCCA(1, mu="auto*4", n_features=0.3)
    >>> found = scca.inference.stability_selection(model, *data.views, n_subsamples=40, threshold=0.9, random_state=0)
    >>> found.selected_x.tolist() == data.x_loadings[:, 0].nonzero()[0].tolist()
    True
    >>> found.expected_false_x < 0.25
    True
    """
    if check_count(n_subsamples, "n_subsamples", least=2) % 2:
        raise ValueError(f"n_subsamples must be even, since subsamples are disjoint pairs; got {n_subsamples}.")
    _check_between(fraction, "fraction", 0, 0.5)
    _check_between(threshold, "threshold", 0.5, 1)
    if isinstance(model, KernelCCA):
        raise ValueError("model must be sparse, but KernelCCA gives every sample a weight; pass a SparseCCA.")
    check_seed(random_state)
    rng = check_random_state(random_state)
    fits = Fits.of(model, X, Y, rng, leaves_samples_out=True, groups=groups)
    n, together = len(fits.views), fits.views.groups
    size = int(fraction * together.n_groups)
    if size < 2 - (groups is not None):
        raise ValueError(f"fraction={fraction} of n_samples={n} must be at least 2 samples; got {size}: raise it.")
    subsamples = _disjoint_pairs(together, size, n_subsamples // 2, rng)
    chosen = run_tasks(partial(_selected, fits), subsamples, n_subsamples, DATA_SETS, n_jobs=n_jobs, progress=progress)
    rows, x_selected, y_selected = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    times_there = np.bincount(rows, minlength=n)
    x_times_there, y_times_there = (
        times_there if name in fits.dual_views else np.full(view.shape[1], n_subsamples)
        for name, view in zip(fits.views.names, fits.views.data, strict=True)
    )
    found = StabilitySelection(
        x_probabilities=_shares(x_selected, x_times_there),
        y_probabilities=_shares(y_selected, y_times_there),
        x_mean_selected=np.nan if "X" in fits.dual_views else len(x_selected) / n_subsamples,
        y_mean_selected=np.nan if "Y" in fits.dual_views else len(y_selected) / n_subsamples,
        threshold=threshold,
        n_subsamples=n_subsamples,
        x_names=fits.x_names,
        y_names=fits.y_names,
    )
    _warn_of_false_features(found)
    return found


def _warn_of_false_features(found: StabilitySelection) -> None:
    """Warn if many of the selected features may be false; views with weights on samples have no bound."""
    doubtful = [
        f"{bound:.2g} for the {len(selected)} selected of {name}"
        for name, bound, selected in (
            ("X", found.expected_false_x, found.selected_x),
            ("Y", found.expected_false_y, found.selected_y),
        )
        if len(selected) and bound > _MOST_FALSE_SHARE * len(selected)
    ]
    if doubtful:
        higher = f", or the threshold above {found.threshold:g}" if found.threshold < 1 else ""
        warn(
            f"the selected features are weak evidence: the bound on false ones is {' and '.join(doubtful)}, more than "
            f"half of them; raise the model's mu{higher}.",
            EvidenceWarning,
        )


def _shares(selected: np.ndarray, times_there: np.ndarray) -> np.ndarray:
    """Share of the times that each coordinate was present in which it was selected; NaN if it never was present."""
    with np.errstate(invalid="ignore"):
        return np.bincount(selected, minlength=len(times_there)) / times_there


def _disjoint_pairs(groups: Groups, size: int, n_pairs: int, rng: np.random.RandomState) -> Iterator[np.ndarray]:
    """Samples of `size` groups in random order, then samples of `size` other groups, `n_pairs` times."""
    for _ in range(n_pairs):
        order = rng.permutation(groups.n_groups)
        for chosen in (order[:size], order[size : 2 * size]):
            yield chosen if groups.labels is None else rng.permutation(groups.samples(chosen))


def _selected(fits: Fits, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The subsample, and the coordinates of X and of Y with a weight in any component."""
    fitted = fits.fitted(rows)
    if fitted is None:
        return rows, rows[:0], rows[:0]
    x_selected, y_selected = (np.flatnonzero(w.any(axis=1)) for w in (fitted.x_weights_, fitted.y_weights_))
    if "X" in fits.dual_views:
        x_selected = rows[x_selected]
    if "Y" in fits.dual_views:
        y_selected = rows[y_selected]
    return rows, x_selected, y_selected


def _check_between(value: Any, name: str, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) <= high:
        raise ValueError(f"{name} must be a number above {low} and at most {high}; got {value!r}.")
