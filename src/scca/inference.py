"""How sure is it: p-values of components by permutation, and features that random halves of the data agree on."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_random_state

from ._threads import one_thread
from ._validation import check_count
from .estimators import KernelCCA
from .estimators._base import PairedTransformer
from .estimators._components import NothingSharedError

__all__ = ["PermutationTest", "StabilitySelection", "permutation_test", "stability_selection"]

Progress = Callable[[int, int], None]
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class PermutationTest:
    """What `permutation_test` found, one entry a component.

    Attributes
    ----------
    statistics : ndarray of shape (c,)
        The statistic of each component of the pairs as they are.
    null : ndarray of shape (n_permutations, c)
        The same for permuted pairs; a row is one permutation, shared by all components.
    p_values : ndarray of shape (c,)
        (1 + how many of the null are at least the statistic) / (1 + n_permutations), each component by itself.
    adjusted_p_values : ndarray of shape (c,)
        The largest p-value of this component and all before it.
    """

    statistics: np.ndarray
    null: np.ndarray

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
        """How many components, from the first on, have an adjusted p-value of at most `level`."""
        return int(np.count_nonzero(self.adjusted_p_values <= level))


@dataclass(frozen=True)
class StabilitySelection:
    """What `stability_selection` found. `dataclasses.replace(found, threshold=0.9)` is the answer at another threshold.

    Attributes
    ----------
    x_probabilities, y_probabilities : ndarray
        How often each coordinate of a view had a weight in any component: of a feature, the share of all subsamples;
        of a sample of a dual view, the share of the subsamples it was in (NaN if it was in none).
    x_mean_selected, y_mean_selected : float
        q, how many features had a weight in a subsample on average; NaN for a dual view.
    threshold : float
    n_subsamples : int
    x_names, y_names : ndarray of str or None
        Names of the features, where the view was a data frame with string column names.
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


# --- p-values ------------------------------------------------------------------------------------------------------


def permutation_test(
    model: PairedTransformer,
    X,
    Y,
    *,
    n_permutations: int = 199,
    statistic: str | Callable[[np.ndarray, np.ndarray], float] = "correlation",
    cv=5,
    n_jobs: int | None = None,
    random_state=None,
    progress: Progress | None = None,
) -> PermutationTest:
    """Test, component by component, whether the two views have more in common than chance gives.

    The model is fitted to the pairs, and again to `n_permutations` data sets in which the samples of Y are permuted,
    so that nothing is paired. The statistic of a component is by default the correlation of its two scores on samples
    that it was not fitted to: the scores of every fold come from a model of the other folds, those of all folds are
    put together, and correlated. On the samples it was fitted to (`cv=None`) the correlation says little: with more
    features than samples it is close to 1 for noise, too, and the components after the last real one look significant:
    with two strong factors planted, the third component of kernel CCA had p <= 0.2 in 95 to 100 % of 60 data sets, and
    in 23 to 27 % with held-out correlations, where 20 % is right. The sample a component is anchored at is fitted by
    construction, and therefore left out of its training correlation.

    Component j is tested on what the components before it left (`SparseCCA` deflates both views), and called
    significant only if all before it are: its adjusted p-value is the largest p-value of components 1 to j. Calling
    what is at most alpha significant makes a false call with probability at most alpha

    - exactly, if the views are independent and the pairs exchangeable (the p-value of the first component is then
      valid whatever the model and the statistic);
    - otherwise, under the assumption that the statistic of the first component that is not real varies as it would if
      those before it were not real, either. Held-out correlations, centred at 0 in both cases, come close to this;
      training correlations do not.

    What deflation leaves of a weak factor is shared, too, and can make the next component significant (with two weak
    factors planted, the third had p <= 0.2 in 15 to 47 % of 60 data sets); so can folds that find the same factor in
    another component, as few samples and anchors in order make likely. The number of significant components is
    therefore not the number of factors; the first p-value is the one to rely on.

    Parameters
    ----------
    model : SparseCCA, KernelCCA or another estimator of two views
        Not changed; it is cloned for every fit.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`. Of a precomputed kernel rows and columns are permuted together.
    n_permutations : int, default=199
        The smallest possible p-value is 1 / (1 + n_permutations).
    statistic : "correlation" or callable, default="correlation"
        A function of the two scores of one component, vectors of equal length, that is large if they are related. A
        component that does not exist, or whose score is constant, has the statistic 0.
    cv : int, splitter, iterable of (train, test) or None, default=5
        The held-out samples: the number of random folds, a splitter of scikit-learn, or the splits themselves; they are
        the same for all permutations. None fits and tests on all samples: faster, but only its first p-value is valid.
    n_jobs : int, optional
        Permutations computed at a time. The results do not depend on it.
    random_state : int, RandomState instance or None
    progress : callable, optional
        Called with the number of data sets done and to do.

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
    if statistic == "correlation":
        statistic = _correlation
    elif not callable(statistic):
        raise ValueError(f'statistic must be "correlation" or a function of two score vectors; got {statistic!r}.')
    rng = check_random_state(random_state)
    model, whole, X, Y = _prepared(model, X, Y, rng, leaves_samples_out=cv is not None)
    n = X.shape[0]
    splits = _splits(cv, n, rng)
    orders = (rng.permutation(n) if i else np.arange(n) for i in range(1 + n_permutations))  # first as they are
    compute = partial(_statistics, model, X, Y, splits, statistic, whole.n_components_)
    statistics = np.array(_run(compute, orders, 1 + n_permutations, n_jobs, progress))
    return PermutationTest(statistics[0], statistics[1:])


def _splits(cv, n: int, rng) -> Sequence[Split]:
    everyone = np.arange(n)
    if cv is None:
        return [(everyone, everyone)]
    if isinstance(cv, Integral):
        if not 2 <= int(cv) <= n:
            raise ValueError(f"cv must be from 2 to n_samples={n} folds; got {cv!r}: None is without folds.")
        cv = KFold(int(cv), shuffle=True, random_state=rng)
    splits = check_cv(cv).split(everyone)
    return [(everyone[train], everyone[test]) for train, test in splits]  # lists and masks become indices


def _statistics(model, X, Y, splits, statistic, n_components: int, order: np.ndarray) -> np.ndarray:
    """The statistic of every component, sample i of X being paired with sample order[i] of Y."""
    parts = [_scores(model, X, Y, order, n_components, *split) for split in splits]
    x_scores, y_scores, counted = (np.concatenate(blocks) for blocks in zip(*parts, strict=True))
    values = np.zeros(n_components)
    for j, rows in enumerate(counted.T):
        a, b = x_scores[rows, j], y_scores[rows, j]
        if np.ptp(a) > 0 and np.ptp(b) > 0:
            values[j] = statistic(a, b)
    if not np.isfinite(values).all():
        raise ValueError(f"statistic must give a finite number for every component; got {values.tolist()}.")
    return values


def _scores(model, X, Y, order, n_components: int, train, test) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of the test samples in both views, 0 for a component that does not exist, and which of them count."""
    x_scores, y_scores = np.zeros((2, len(test), n_components))
    counted = np.ones((len(test), n_components), dtype=bool)
    fitted = _fitted(model, X, Y, train, order[train])
    if fitted is not None:
        found = slice(min(n_components, fitted.n_components_))
        x_scores[:, found] = _projected(fitted, "X", X, test, train)[:, found]
        y_scores[:, found] = _projected(fitted, "Y", Y, order[test], order[train])[:, found]
        if hasattr(fitted, "anchors_") and model._dual_views:  # anchors are samples: fitted by construction
            counted[:, found] = test[:, None] != train[fitted.anchors_[found]]
    return x_scores, y_scores, counted


def _projected(fitted, name: str, data, rows, training_rows) -> np.ndarray:
    """Scores of the samples `rows` of a view by a model of its samples `training_rows`."""
    if fitted._is_precomputed(name):
        return fitted.project(data[rows][:, training_rows], name, data.diagonal()[rows])
    return fitted.project(data[rows], name)


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


# --- stable features -----------------------------------------------------------------------------------------------


def stability_selection(
    model: PairedTransformer,
    X,
    Y,
    *,
    n_subsamples: int = 100,
    fraction: float = 0.5,
    threshold: float = 0.6,
    n_jobs: int | None = None,
    random_state=None,
    progress: Progress | None = None,
) -> StabilitySelection:
    """Find the features that a sparse model selects again and again from random subsamples of the pairs.

    A feature is selected from a subsample if it has a weight in any component: component j of one subsample need not
    be component j of another. Subsamples come in disjoint pairs and in random order, so that anchors that are taken in
    order are random samples. With q the mean number of features selected from a subsample, of p,

        expected number of false features with probability >= threshold  <=  q^2 / ((2 threshold - 1) p).

    This is Meinshausen and Buhlmann's bound if all false features are equally likely to be selected and true ones are
    selected no worse than at random. As the subsamples are disjoint pairs, Shah and Samworth's theorem gives the same
    number without these assumptions, if "false" is read as: selected from a subsample with a probability below q / p.
    The bound is loose, and says nothing once it exceeds the number selected: more penalty (a smaller q) or a higher
    threshold lowers it. Random anchors keep probabilities well below 1 even for strong features.

    Parameters
    ----------
    model : SparseCCA or another sparse estimator of two views
        Not changed; it is cloned for every fit.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`.
    n_subsamples : int, default=100
        An even number.
    fraction : float, default=0.5
        Share of the pairs in a subsample; at most 0.5, for two to be disjoint.
    threshold : float, default=0.6
        Probability from which a feature is selected, above 0.5 and at most 1.
    n_jobs : int, optional
        Subsamples computed at a time. The results do not depend on it.
    random_state : int, RandomState instance or None
    progress : callable, optional
        Called with the number of subsamples done and to do.

    Returns
    -------
    StabilitySelection

    Examples
    --------
    >>> import scca
    >>> data = scca.datasets.make_planted(100, 50, 20, n_factors=1, n_active=4, strength=2, random_state=0)
    >>> found = scca.inference.stability_selection(scca.SparseCCA(1), *data.views, n_subsamples=40, random_state=0)
    >>> found.selected_x.tolist() == data.x_loadings[:, 0].nonzero()[0].tolist()
    True
    """
    if check_count(n_subsamples, "n_subsamples", least=2) % 2:
        raise ValueError(f"n_subsamples must be even, for subsamples come in disjoint pairs; got {n_subsamples}.")
    _check_between(fraction, "fraction", 0, 0.5)
    _check_between(threshold, "threshold", 0.5, 1)
    if isinstance(model, KernelCCA):
        raise ValueError("model must be sparse, but KernelCCA gives every sample a weight; pass a SparseCCA.")
    rng = check_random_state(random_state)
    model, whole, X, Y = _prepared(model, X, Y, rng, leaves_samples_out=True)
    n = X.shape[0]
    size = int(fraction * n)
    if size < 2:
        raise ValueError(f"fraction={fraction} of n_samples={n} must be at least 2 samples; got {size}: raise it.")
    subsamples = _disjoint_pairs(n, size, n_subsamples // 2, rng)
    chosen = _run(partial(_selected, model, X, Y), subsamples, n_subsamples, n_jobs, progress)
    rows, x_selected, y_selected = (np.concatenate(parts) for parts in zip(*chosen, strict=True))
    times_there = np.bincount(rows, minlength=n)
    x_times_there, y_times_there = (
        times_there if name in model._dual_views else np.full(n_features, n_subsamples)
        for name, n_features in (("X", X.shape[1]), ("Y", Y.shape[1]))
    )
    return StabilitySelection(
        x_probabilities=_shares(x_selected, x_times_there),
        y_probabilities=_shares(y_selected, y_times_there),
        x_mean_selected=np.nan if "X" in model._dual_views else len(x_selected) / n_subsamples,
        y_mean_selected=np.nan if "Y" in model._dual_views else len(y_selected) / n_subsamples,
        threshold=threshold,
        n_subsamples=n_subsamples,
        x_names=getattr(whole, "feature_names_in_", None),
        y_names=getattr(whole, "feature_names_y_", None),
    )


def _shares(selected: np.ndarray, times_there: np.ndarray) -> np.ndarray:
    """How often each coordinate was selected, of the times it was there; NaN if it never was."""
    with np.errstate(invalid="ignore"):
        return np.bincount(selected, minlength=len(times_there)) / times_there


def _disjoint_pairs(n: int, size: int, n_pairs: int, rng) -> Iterator[np.ndarray]:
    for _ in range(n_pairs):
        order = rng.permutation(n)
        yield order[:size]
        yield order[size : 2 * size]


def _selected(model, X, Y, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The subsample, and the coordinates of X and of Y that have a weight in any component of it."""
    fitted = _fitted(model, X, Y, rows, rows)
    if fitted is None:
        return rows, rows[:0], rows[:0]
    x_selected, y_selected = (np.flatnonzero(w.any(axis=1)) for w in (fitted.x_weights_, fitted.y_weights_))
    if "X" in model._dual_views:
        x_selected = rows[x_selected]
    if "Y" in model._dual_views:
        y_selected = rows[y_selected]
    return rows, x_selected, y_selected


def _check_between(value, name: str, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not low < float(value) <= high:
        raise ValueError(f"{name} must be a number above {low} and at most {high}; got {value!r}.")


# --- many fits -----------------------------------------------------------------------------------------------------


def _prepared(model, X, Y, rng, *, leaves_samples_out: bool) -> tuple:
    """A copy of the model, the model fitted to everything, and both views as checked matrices.

    Whatever is wrong with the data or the settings is said by that fit, in the estimator's own words.
    """
    if not isinstance(model, PairedTransformer):
        raise TypeError(f"model must be an estimator of two views such as scca.SparseCCA(2); got {model!r}.")
    model = clone(model)
    if model.get_params().get("random_state", 0) is None:
        model.set_params(random_state=rng.randint(2**31 - 1))  # workers would each draw a seed of their own
    whole = clone(model).fit(X, Y)
    if leaves_samples_out and whole._dual_views and not isinstance(getattr(model, "anchors", ""), str):
        raise ValueError(
            "anchors must be the name of a strategy where samples are left out, for indices would then mean other "
            f"samples; got {model.anchors!r}."
        )
    return model, whole, whole._check_view(X, "X"), whole._check_view(Y, "Y")


def _fitted(model, X, Y, x_rows: np.ndarray, y_rows: np.ndarray) -> PairedTransformer | None:
    """The model fitted to the samples `x_rows` of X paired with `y_rows` of Y; None if they share nothing."""
    views = (
        data[rows][:, rows] if model._is_precomputed(name) else data[rows]
        for name, data, rows in (("X", X, x_rows), ("Y", Y, y_rows))
    )
    try:
        return clone(model).fit(*views)
    except NothingSharedError:
        return None
    except ValueError as error:
        raise ValueError(f"the fit to {len(x_rows)} of the {X.shape[0]} pairs failed: {error}") from error


def _run(compute: Callable, tasks: Iterable, n_tasks: int, n_jobs, progress: Progress | None) -> list:
    """`compute` of every task, in order; warnings are counted, and each kind is given once."""
    results: list = []
    times: Counter[type[Warning]] = Counter()
    first: dict[type[Warning], str] = {}
    work = (delayed(_quietly)(compute, task) for task in tasks)
    for result, said in Parallel(n_jobs=n_jobs, return_as="generator")(work):
        results.append(result)
        times.update(said.keys())
        first = said | first
        if progress is not None:
            progress(len(results), n_tasks)
    for kind, count in times.items():
        text = f"in {count} of {n_tasks} permuted or subsampled data sets, the first time: {first[kind]}"
        warnings.warn(text, kind, stacklevel=3)
    return results


def _quietly(compute: Callable, task) -> tuple[object, dict[type[Warning], str]]:
    """The result, and the first warning of each kind."""
    with warnings.catch_warnings(record=True) as caught, one_thread():  # with more, sums would round otherwise
        warnings.simplefilter("always")
        result = compute(task)
    return result, {warning.category: str(warning.message) for warning in reversed(caught)}
