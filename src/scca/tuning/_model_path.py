"""A whole model at many penalties: number of features, and error, correlation and coherence on pairs left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._checks import EmptyComponentWarning, check_count, say_once, shown, silenced
from .._types import Frame, MatrixLike, Splitter
from ..estimators import SparseCCA
from ..factors import Prepared, count_components
from ..parallel import Progress, run_tasks
from ..retrieval import average_precision
from ..samples import Samples, consecutive_folds
from ._coherence import coherence
from ._cross_validation import factors_to_try
from ._search import Multipliers, Trial, as_params, fits_of_a_fold, mean_correlation

__all__ = ["ModelPath", "model_path"]

_LAST_FACTOR = 0.05  # last multiplier of the automatic penalty on the default path
_LEAST_FIRST_FACTOR = 2.0  # smallest first multiplier of the automatic penalty on the default path


@dataclass(frozen=True, eq=False)
class ModelPath:
    """A model at every penalty, largest first; all arrays have one entry per penalty.

    Attributes
    ----------
    mu_factors : ndarray
        The penalty divided by the automatic one, for every component and view.
    mus : ndarray
        The penalty itself, median over components and views.
    x_features, y_features : ndarray of int
        Number of features with a weight in any component, in the model of all pairs, which reads no other features.
    weights : ndarray
        Number of weights, median over components and views.
    errors, error_spreads : ndarray
        1 - average precision of finding the mates of pairs left out, mean over the folds, and its standard error (the
        standard deviation over the folds divided by the root of their number; NaN for a single fold).
    correlations : ndarray
        Correlation of the two views' scores on pairs left out, mean over components and folds.
    coherences : ndarray
        Mean correlation, on pairs left out, of a component's 8 strongest features of X with its 8 strongest of Y, each
        multiplied by the sign of its loading; mean over components and folds. 1 if the features always occur together,
        0 if only by chance. A component with fewer features is averaged over those it has, so that coherence rises
        where features are few. It does not rank models by readability: docs/tuning compares it with the NPMI of words.
    x_weights, y_weights : tuple of csc_array of shape (n_features, n_components)
        Weights of the model of all pairs; component j is the same factor at every penalty.
    """

    mu_factors: np.ndarray
    mus: np.ndarray
    x_features: np.ndarray
    y_features: np.ndarray
    weights: np.ndarray
    errors: np.ndarray
    error_spreads: np.ndarray
    correlations: np.ndarray
    coherences: np.ndarray
    x_weights: tuple[sp.csc_array, ...]
    y_weights: tuple[sp.csc_array, ...]

    def __len__(self) -> int:
        return len(self.mu_factors)

    def numbers(self) -> dict[str, list[Any]]:
        """Everything but the weights as plain lists, which can be saved as JSON."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: values.tolist() for name, values in named.items() if isinstance(values, np.ndarray)}

    def frame(self) -> Frame:
        """One row per penalty (needs pandas)."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("data frames need pandas: pip install 'scca[frames]'.") from error
        return pd.DataFrame(self.numbers())

    def plot(self, *, names: Sequence[str] = ("X", "Y")) -> Any:
        """A figure of errors, coherence and features read over the penalty (needs matplotlib); `names` label the views.

        Save it with `figure.savefig("path.png")`; notebooks display it.
        """
        from ._path_figure import path_figure

        return path_figure(self.numbers(), names)


def model_path(
    model: SparseCCA,
    X: MatrixLike,
    Y: MatrixLike,
    *,
    mu_factors: Sequence[float] | None = None,
    n_mus: int = 16,
    cv: Splitter = 5,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ModelPath:
    """Shared factors at many penalties: number of features, and error, correlation and coherence on pairs left out.

    The factors of all pairs, and those of every fold's training pairs, are found once and rendered from the largest
    penalty to the smallest, each starting from the previous solution and certified on its own. One model is in memory
    at a time; the nonzero weights of the model of all pairs are kept.

    Parameters
    ----------
    model : SparseCCA
        A model of shared factors with sparse weights on the features of both views; not modified. Its `mu` is ignored,
        and its `random_state` draws the folds.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`.
    mu_factors : sequence of float, optional
        Multipliers of the automatic penalty. By default `n_mus` values, evenly spaced in the logarithm, from where the
        first component loses its last weight in a view down to 0.05, the automatic penalty (1) included.
    n_mus : int, default=16
        Number of penalties if `mu_factors` is not given; at least 3.
    cv : int, splitter or iterable, default=5
        Number of random folds, a splitter of scikit-learn, or pairs of training and held-out indices.
    groups : array of shape (n_samples,), optional
        As for `model.fit`: samples with the same label are left out together.
    n_jobs : int, optional
        Number of folds fitted in parallel. The results do not depend on it.
    progress : callable, optional
        Called with the number of folds done and the total.

    Returns
    -------
    ModelPath

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 40, 30, random_state=0).views
    >>> path = scca.model_path(scca.SparseCCA(2), X, Y, mu_factors=(4, 1, 0.25), cv=3)
    >>> bool(path.x_features[0] < path.x_features[-1])
    True

    The path of a bilingual model: `scca.model_path(model.scca_, *model.training_).plot(names=model.languages_)`.
    """
    model = _checked_copy(model)
    settings = model._settings()
    views, _ = model._training({"X": X, "Y": Y}, groups, settings)
    folds = consecutive_folds(cv if groups is not None else _random_folds(cv, model), len(views), groups=views.groups)
    prepared = model.prepare_views(views)
    n_components = count_components(prepared, model._bounded(settings, views))
    model.set_params(n_components=n_components, scale=prepared.reading.scales)
    if mu_factors is None:
        factors = _default_multipliers(model, prepared, check_count(n_mus, "n_mus", least=3))
    else:
        factors = np.unique(factors_to_try(mu_factors, "mu_factors"))[::-1]
    candidates: list[Multipliers] = [{"mu": float(factor)} for factor in factors]

    with silenced(EmptyComponentWarning):  # expected at large penalties
        fitted = [_Model.of(each) for each in model.fit_many(list(_models(model, candidates)), prepared)]
    tasks = (
        [(each, Trial(fold, *split, tried)) for each, tried in zip(_models(model, candidates), candidates, strict=True)]
        for fold, split in enumerate(folds)
    )
    compute = partial(fits_of_a_fold, views, _measures, quiet=(EmptyComponentWarning,))
    done = run_tasks(compute, tasks, len(folds), "folds", n_jobs=n_jobs, progress=progress)
    say_once((fit.warned for fits in done for fit in fits), "fits of the path")
    measured = np.array([[fit.measured for fit in fits] for fits in done])  # axes: folds, penalties, measures
    errors, correlations, coherences = measured.mean(axis=0).T
    several = len(folds) > 1
    spreads = measured[:, :, 0].std(axis=0, ddof=1) / np.sqrt(len(folds)) if several else np.full(len(errors), np.nan)
    return ModelPath(
        mu_factors=factors,
        mus=np.array([each.mu for each in fitted]),
        x_features=np.array([_n_used(each.x_weights) for each in fitted]),
        y_features=np.array([_n_used(each.y_weights) for each in fitted]),
        weights=np.array([_n_weights(each) for each in fitted]),
        errors=errors,
        error_spreads=spreads,
        correlations=correlations,
        coherences=coherences,
        x_weights=tuple(each.x_weights for each in fitted),
        y_weights=tuple(each.y_weights for each in fitted),
    )


@dataclass(frozen=True)
class _Model:
    """The part of a model of all pairs that is kept: its weights and penalties."""

    mu: float
    x_weights: sp.csc_array
    y_weights: sp.csc_array

    @classmethod
    def of(cls, model: SparseCCA) -> "_Model":
        return cls(float(np.median(model.mu_)), sp.csc_array(model.x_weights_), sp.csc_array(model.y_weights_))


def _n_used(weights: sp.csc_array) -> int:
    return len(np.unique(weights.indices))


def _n_weights(model: _Model) -> float:
    return float(np.median([np.diff(weights.indptr) for weights in (model.x_weights, model.y_weights)]))


def _measures(model: SparseCCA, held_out: Sequence[Samples]) -> tuple[float, float, float]:
    """Error, correlation and coherence."""
    A, B = (model.project(samples.data, name) for samples, name in zip(held_out, "XY", strict=True))
    return 1.0 - average_precision(A, B).average_precision, mean_correlation(A, B), coherence(model, held_out)


def _models(model: SparseCCA, candidates: Sequence[Multipliers]) -> Iterator[SparseCCA]:
    return (clone(model).set_params(**as_params(tried), n_jobs=None) for tried in candidates)


def _default_multipliers(model: SparseCCA, prepared: Prepared, n_mus: int) -> np.ndarray:
    """Multipliers from where a component loses its last weight, max |2 A't|, down to 0.05."""
    with silenced(EmptyComponentWarning):
        automatic = next(model.fit_many([model], prepared))
    loadings = automatic.x_loadings_, automatic.y_loadings_
    most = [
        2.0 * np.max(np.abs(cosines) * np.sqrt(view.square_norms())[:, None], axis=0)
        for cosines, view in zip(loadings, prepared.views, strict=True)
    ]
    top = max(_LEAST_FIRST_FACTOR, float(np.min(np.array(most) / automatic.mu_)))
    n_above = min(max(1, round((n_mus - 1) * np.log(top) / np.log(top / _LAST_FACTOR))), n_mus - 2)
    return np.concatenate([np.geomspace(top, 1.0, n_above + 1), np.geomspace(1.0, _LAST_FACTOR, n_mus - n_above)[1:]])


def _checked_copy(model: Any) -> SparseCCA:
    """A copy of the model, with the automatic penalty and no held-out folds; raises ValueError if it has no path."""
    if not isinstance(model, SparseCCA) or "mu" not in model.get_params():
        raise ValueError(f"model must be a SparseCCA; got {shown(model)}: pass for example SparseCCA(20).")
    if model.rendering != "sparse" or model._dual_views:
        raise ValueError(
            "model_path needs sparse weights on the features of both views; leave rendering and kernel at their "
            "defaults."
        )
    copy = clone(model).set_params(mu="auto", held_out=0)
    copy._settings()
    return copy


def _random_folds(cv: Splitter, model: SparseCCA) -> Any:
    """A number of folds becomes random folds, since documents are often sorted by subject."""
    from sklearn.model_selection import KFold
    from sklearn.utils import check_random_state

    if not isinstance(cv, Integral) or isinstance(cv, bool) or cv < 2:
        return cv
    return KFold(int(cv), shuffle=True, random_state=check_random_state(model.random_state or 0))
