"""p-values of components, by permuting the pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._checks import DataWarning, check_count, check_seed, shown, warn
from .._types import MatrixLike, SeedLike, Splitter
from ..estimators import PairedTransformer
from ..parallel import Progress, run_tasks
from ..samples import Split, random_folds
from ._fits import DATA_SETS, Fits

__all__ = ["PermutationTest", "permutation_test"]


@dataclass(frozen=True)
class PermutationTest:
    """The result of `permutation_test`, one entry per component.

    Attributes
    ----------
    statistics : ndarray of shape (c,)
        The statistic of each component for the original pairs.
    null : ndarray of shape (n_permutations, c)
        The statistics for permuted pairs, one row per permutation.
    p_values : ndarray of shape (c,)
        (1 + number of null values of at least the statistic) / (1 + n_permutations), for each component.
    adjusted_p_values : ndarray of shape (c,)
        The largest p-value of this component and all before it.
    """

    statistics: np.ndarray
    null: np.ndarray

    def __repr__(self) -> str:
        """The statistics and p-values; the null has too many numbers to read."""
        values = {
            name: ", ".join(f"{value:.3g}" for value in getattr(self, name))
            for name in ("p_values", "adjusted_p_values", "statistics")
        }
        shown = ", ".join(f"{name}=[{numbers}]" for name, numbers in values.items())
        return f"PermutationTest({shown}, n_permutations={self.n_permutations})"

    @property
    def n_permutations(self) -> int:
        return len(self.null)

    @property
    def p_values(self) -> np.ndarray:
        return (1 + np.count_nonzero(self.null >= self.statistics, axis=0)) / (1 + self.n_permutations)

    @property
    def adjusted_p_values(self) -> np.ndarray:
        return np.maximum.accumulate(self.p_values)

    def n_significant(self, level: float = 0.05) -> int:
        """Number of leading components with an adjusted p-value of at most `level`."""
        return int(np.count_nonzero(self.adjusted_p_values <= level))


def permutation_test(
    model: PairedTransformer,
    X: MatrixLike,
    Y: MatrixLike,
    *,
    n_permutations: int = 199,
    statistic: str | Callable[[np.ndarray, np.ndarray], float] = "correlation",
    cv: Splitter = 5,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: SeedLike = None,
    progress: Progress | None = None,
) -> PermutationTest:
    """Test, component by component, whether the two views share more than by chance.

    The model is fitted to the pairs, and again to `n_permutations` data sets in which the samples of Y are permuted, so
    that nothing is paired. By default the statistic of a component is the correlation of its two scores on held-out
    samples: the scores of every fold come from a model of the other folds, and are correlated over all folds together.
    The correlation on training samples (`cv=None`) is a poor statistic: with more features than samples it is close to
    1 even for noise, and components after the last real one look significant. With two strong factors planted, the
    third component of kernel CCA had p <= 0.2 in 95 to 100 % of 60 data sets, and in 23 to 27 % with held-out
    correlations, where 20 % is right. The anchor sample of a component is fitted by construction, and therefore left
    out of its training correlation.

    Component j is tested on what the previous components left (`SparseCCA` deflates both views), and called significant
    only if all before it are: its adjusted p-value is the largest p-value of components 1 to j. If components with
    adjusted p-values of at most alpha are called significant, a false call has probability at most alpha

    - exactly, if the views are independent and the pairs exchangeable (the p-value of the first component is then
      valid whatever the model and the statistic);
    - otherwise, under the assumption that the statistic of the first component that is not real has the same
      distribution as if those before it were not real either. Held-out correlations, centred at 0 in both cases, come
      close to this; training correlations do not.

    What deflation leaves of a weak factor is also shared, and can make the next component significant (with two weak
    factors planted, the third had p <= 0.2 in 15 to 47 % of 60 data sets); so can folds that find the same factor in
    different components, which few samples and sequential anchors make likely. The number of significant components is
    therefore not the number of factors; rely on the first p-value.

    Parameters
    ----------
    model : SparseCCA, KernelCCA or another estimator of two views
        Not modified; it is cloned for every fit.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`. Rows and columns of a precomputed kernel are permuted together.
    n_permutations : int, default=199
        The smallest possible p-value is 1 / (1 + n_permutations).
    statistic : "correlation" or callable, default="correlation"
        A function of the two scores of one component, vectors of equal length, that is large if they are related. The
        statistic is 0 if a component does not exist or a score is constant.
    cv : int, splitter, iterable of (train, test) or None, default=5
        The held-out samples: a number of random folds, a scikit-learn splitter, or the splits themselves, the same for
        all permutations. None fits and tests on all samples: faster, but only the first p-value is valid.
    groups : array of shape (n_samples,), optional
        A label for each sample. Samples with the same label, such as repeated measures of a person, are left out
        together and permuted as a whole, with groups of the same size.
    n_jobs : int, optional
        Number of permutations computed in parallel. The results do not depend on it.
    random_state : int, RandomState instance or None
    progress : callable, optional
        A function that is called with the number of data sets done and the total.

    Returns
    -------
    PermutationTest

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 30, 20, n_factors=1, random_state=0).views
    >>> test = scca.inference.permutation_test(scca.SparseCCA(1), X, Y, n_permutations=19, random_state=0)
    >>> test.p_values
    array([0.05])
    """
    n_permutations = check_count(n_permutations, "n_permutations")
    if isinstance(statistic, str) and statistic == "correlation":
        statistic = _correlation
    elif not callable(statistic):
        raise ValueError(f'statistic must be "correlation" or a function of two score vectors; got {shown(statistic)}.')
    check_seed(random_state)
    rng = check_random_state(random_state)
    fits = Fits.of(model, X, Y, rng, leaves_samples_out=cv is not None, groups=groups)
    n, together = len(fits.views), fits.views.groups
    splits = random_folds(cv, n, rng, groups=together)
    if together.log_orders < np.log(1 + n_permutations):
        warn(
            f"groups of the same size change places in {np.exp(together.log_orders):.0f} orders only, so that no "
            f"p-value can be below {np.exp(-together.log_orders):.2g}; add groups, or make them equally large.",
            DataWarning,
        )
    permuted = together.orders(n_permutations, np.random.default_rng(rng.randint(2**31 - 1)))
    orders = chain([np.arange(n)], permuted)
    first_views = [fits.first_view(train) for train, _ in splits]  # only Y is permuted
    compute = partial(_statistics, fits, splits, first_views, statistic)
    statistics = np.array(
        run_tasks(compute, orders, 1 + n_permutations, DATA_SETS, n_jobs=n_jobs, progress=progress),
    )
    return PermutationTest(statistics[0], statistics[1:])


def _statistics(
    fits: Fits,
    splits: Sequence[Split],
    first_views: Sequence[Any],
    statistic: Callable[[np.ndarray, np.ndarray], float],
    order: np.ndarray,
) -> np.ndarray:
    """The statistic of every component, with sample i of X paired with sample order[i] of Y."""
    fits = fits.in_order(order)
    parts = [_scores(fits, *split, first_view) for split, first_view in zip(splits, first_views, strict=True)]
    x_scores, y_scores, counted = (np.concatenate(blocks) for blocks in zip(*parts, strict=True))
    values = np.zeros(fits.n_components)
    for j, rows in enumerate(counted.T):
        a, b = x_scores[rows, j], y_scores[rows, j]
        if np.ptp(a) > 0 and np.ptp(b) > 0:
            values[j] = statistic(a, b)
    if not np.isfinite(values).all():
        raise ValueError(f"statistic must give a finite number for every component; got {values.tolist()}.")
    return values


def _scores(
    fits: Fits, train: np.ndarray, test: np.ndarray, first_view: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of the test samples in both views, 0 for missing components, and which scores count."""
    n_components = fits.n_components
    x_scores, y_scores = np.zeros((2, len(test), n_components))
    counted = np.ones((len(test), n_components), dtype=bool)
    fitted = fits.fitted(train, first_view)
    if fitted is not None:
        found = slice(min(n_components, fitted.n_components_))
        x, y = fits.views.held_out(test, train)
        x_scores[:, found] = fitted.project(x.data, "X", x.diagonal)[:, found]
        y_scores[:, found] = fitted.project(y.data, "Y", y.diagonal)[:, found]
        if hasattr(fitted, "anchors_") and fits.dual_views:  # anchors are samples: fitted by construction
            counted[:, found] = test[:, None] != train[fitted.anchors_[found]]
    return x_scores, y_scores, counted


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
