"""A whole model at many sizes: features, and error, correlation and coherence on pairs left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
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
from ..factors import Prepared, count_components, n_rounds
from ..parallel import Progress, run_tasks
from ..results import shown_weights
from ..retrieval import average_precision
from ..samples import Samples, Views, consecutive_folds
from ._coherence import coherence
from ._cross_validation import factors_to_try
from ._search import Multipliers, Trial, as_params, fits_of_a_fold, mean_correlation

__all__ = ["ModelPath", "model_path"]

_LAST_FACTOR = 0.05  # last multiplier of the automatic penalty on the default path
_LEAST_FIRST_FACTOR = 2.0  # smallest first multiplier of the automatic penalty on the default path
_FEWEST_FEATURES = 5  # number of features of the smaller view at the end of the default path, or one per component


@dataclass(frozen=True, eq=False)
class ModelPath:
    """A model at every penalty, or with every share of the features, largest first; arrays have one entry for each.

    Attributes
    ----------
    axis : {"mu_factors", "shares"}
        What changes along the path: the array of this name, which is the first column of `frame()`.
    mu_factors : ndarray or None
        The penalty divided by the automatic one, for every component and view; None on a path over shares.
    shares : ndarray or None
        The share of the features of each view that are read; None on a path over penalties.
    automatic : ndarray of bool
        True for the automatic penalty or share. The automatic share is found in all pairs, as in `fit`, before any are
        left out here; `model.mates_kept_` judges it by pairs that had no part in it. A path over shares that were given
        has no automatic one.
    mus : ndarray
        The penalty itself, median over components and views.
    x_features, y_features : ndarray of int
        Number of features with a weight in any component, in the model of all pairs, which reads no other features.
    weights : ndarray
        Number of weights that are shown to a reader, median over components and views: all weights that are not 0 with
        the sparse rendering; with the joint one those of the features that represent the component.
    errors, error_spreads : ndarray
        1 - average precision of finding the mates of pairs left out, mean over the folds, and its standard error (the
        standard deviation over the folds divided by the root of their number; NaN for a single fold).
    correlations : ndarray
        Correlation of the two views' scores on pairs left out, mean over components and folds.
    coherences : ndarray
        Mean correlation, on pairs left out, of a component's 8 strongest features of X with its 8 strongest of Y among
        those that are shown, each multiplied by the sign of its loading; mean over components and folds. 1 if the
        features always occur together, 0 if only by chance. A component with fewer features is averaged over those it
        has, so that coherence rises where features are few. It does not rank models by readability: docs/tuning
        compares it with the NPMI of words.
    x_weights, y_weights : tuple of csc_array of shape (n_features, n_components)
        Weights of the model of all pairs. Component j is the same factor at every penalty, but not at every share: the
        factors are those of the features that are read.
    """

    axis: str
    mu_factors: np.ndarray | None
    shares: np.ndarray | None
    automatic: np.ndarray
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
        return len(self.errors)

    def numbers(self) -> dict[str, list[Any]]:
        """All arrays but the weights as plain lists, which can be saved as JSON; that of the axis is the first."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: values.tolist() for name, values in named.items() if isinstance(values, np.ndarray)}

    def frame(self) -> Frame:
        """One row per penalty or share (needs pandas)."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("data frames need pandas: pip install 'scca[frames]'.") from error
        return pd.DataFrame(self.numbers())

    def plot(self, *, names: Sequence[str] = ("X", "Y")) -> Any:
        """A figure of errors, coherence and features over the axis (needs matplotlib); `names` label the views.

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
    shares: Sequence[float] | None = None,
    cv: Splitter = 5,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> ModelPath:
    """Shared factors at many sizes: number of features, and error, correlation and coherence on pairs left out.

    What the size of a model depends on is what changes along the path:

    - with the sparse rendering, the penalty mu. The factors of all pairs, and those of every fold's training pairs, are
      found once and rendered from the largest penalty to the smallest, each starting from the previous solution and
      certified on its own.
    - with the joint rendering, the share of the features that are read. Each fit chooses its features, for all factors
      together, among those of the fit before, and finds the factors again.

    `rendering="auto"` is decided by the data, as in `fit`. If one view is then joint and the other sparse, the path is
    over shares, since these decide what is read of both views, and mu only what is read of one.

    Whatever a fold fits, the choice of features included, is learnt from its training pairs alone. One model is in
    memory at a time; the nonzero weights of the model of all pairs are kept.

    Parameters
    ----------
    model : SparseCCA
        A model of shared factors with weights on the features of both views; not modified. What changes along the path
        is ignored, its `mu` or its `n_features`, and its `random_state` draws the folds.
    X, Y : {array, sparse matrix, data frame}
        Paired samples as for `model.fit`.
    mu_factors : sequence of float, optional
        Multipliers of the automatic penalty. By default `n_mus` values, evenly spaced in the logarithm, from where the
        first component loses its last weight in a view down to 0.05, the automatic penalty (1) included.
    n_mus : int, default=16
        Number of penalties if `mu_factors` is not given; at least 3.
    shares : sequence of float, optional
        Shares of the features of each view, above 0 and at most 1. By default from 1 down to five features of the
        smaller view (or one per component), each share about 0.6 times the one before, the automatic one included.
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
    >>> path = scca.model_path(scca.SparseCCA(2, rendering="joint"), X, Y, shares=(1, 0.5, 0.2), cv=3)
    >>> path.axis, path.x_features.tolist()
    ('shares', [40, 20, 8])

    The path of a bilingual model: `scca.model_path(model.scca_, *model.training_).plot(names=model.languages_)`.
    """
    model = _checked_copy(model)
    settings = model._settings()
    views, _ = model._training({"X": X, "Y": Y}, groups, settings)
    scales = settings.reading.decided(views).scales
    over_shares = "joint" in settings.decided(scales).renderings
    _check_axis(over_shares, mu_factors, shares)
    folds = consecutive_folds(cv if groups is not None else _random_folds(cv, model), len(views), groups=views.groups)
    model.set_params(scale=scales)
    path = _over_shares(model, views, shares) if over_shares else _over_penalties(model, views, mu_factors, n_mus)

    with silenced(EmptyComponentWarning):  # expected at large penalties, and with few features
        fitted = [_Model.of(each) for each in path.fits(views)]
    tasks = (
        [(each, Trial(fold, *split, tried)) for each, tried in zip(path.models(), path.tried, strict=True)]
        for fold, split in enumerate(folds)
    )
    compute = partial(fits_of_a_fold, views, _measures, quiet=(EmptyComponentWarning,), through=path.through)
    done = run_tasks(compute, tasks, len(folds), "folds", n_jobs=n_jobs, progress=progress)
    say_once((fit.warned for fits in done for fit in fits), "fits of the path")
    measured = np.array([[fit.measured for fit in fits] for fits in done])  # axes: folds, sizes, measures
    errors, correlations, coherences = measured.mean(axis=0).T
    several = len(folds) > 1
    spreads = measured[:, :, 0].std(axis=0, ddof=1) / np.sqrt(len(folds)) if several else np.full(len(errors), np.nan)
    return ModelPath(
        axis="shares" if over_shares else "mu_factors",
        mu_factors=None if over_shares else path.values,
        shares=path.values if over_shares else None,
        automatic=path.values == path.automatic,
        mus=np.array([each.mu for each in fitted]),
        x_features=np.array([_n_used(each.x_weights) for each in fitted]),
        y_features=np.array([_n_used(each.y_weights) for each in fitted]),
        weights=np.array([each.n_shown for each in fitted]),
        errors=errors,
        error_spreads=spreads,
        correlations=correlations,
        coherences=coherences,
        x_weights=tuple(each.x_weights for each in fitted),
        y_weights=tuple(each.y_weights for each in fitted),
    )


# --- what is fitted ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Path:
    """The values that are tried, largest first, and the fits to all pairs.

    Attributes
    ----------
    model : SparseCCA
        With the number of components and the scaling of all pairs.
    name : {"mu", "n_features"}
        The parameter that has these values.
    values : ndarray
    automatic : float
        The automatic value, or NaN.
    prepared : Prepared or None
        The prepared pairs, if all fits have the same.
    through : float or None
        As for `SparseCCA.prepare_nested`; None if all fits have the same prepared pairs.
    """

    model: SparseCCA
    name: str
    values: np.ndarray
    automatic: float
    prepared: Prepared | None = None
    through: float | None = None

    @property
    def tried(self) -> list[Multipliers]:
        return [{self.name: float(value)} for value in self.values]

    def models(self) -> Iterator[SparseCCA]:
        return (clone(self.model).set_params(**as_params(tried), n_jobs=None) for tried in self.tried)

    def fits(self, views: Views) -> Iterator[SparseCCA]:
        """The models of all pairs."""
        if self.prepared is not None:
            yield from self.model.fit_many(list(self.models()), self.prepared)
            return
        assert self.through is not None
        nested = self.model.prepare_nested(views, self.values.tolist(), self.through)
        for model, prepared in zip(self.models(), nested, strict=True):
            yield from model.fit_many([model], prepared)


def _over_penalties(model: SparseCCA, views: Views, mu_factors: Any, n_mus: Any) -> _Path:
    model = clone(model).set_params(mu="auto")
    if mu_factors is not None:
        factors = np.unique(factors_to_try(mu_factors, "mu_factors"))[::-1]
    else:
        check_count(n_mus, "n_mus", least=3)
    prepared = model.prepare_views(views)
    model.set_params(n_components=_counted(model, prepared))
    if mu_factors is None:
        factors = _default_multipliers(model, prepared, n_mus)
    return _Path(model, "mu", factors, automatic=1.0, prepared=prepared)


def _over_shares(model: SparseCCA, views: Views, shares: Any) -> _Path:
    asked = None if shares is None else np.unique(_checked_shares(shares))[::-1]
    model = clone(model).set_params(n_features="auto" if asked is None else None)
    prepared = model.prepare_views(views)
    n_components = _counted(model, prepared)
    model.set_params(n_components=n_components)
    if asked is not None:
        return _Path(model, "n_features", asked, automatic=np.nan, through=1.0)
    automatic = 1.0 if prepared.share is None else float(prepared.share)
    values = _default_shares(automatic, prepared, n_components)
    return _Path(model, "n_features", values, automatic, through=automatic)


def _counted(model: SparseCCA, prepared: Prepared) -> int:
    return count_components(prepared, model._bounded(model._settings(), prepared.given))


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


def _default_shares(automatic: float, prepared: Prepared, n_components: int) -> np.ndarray:
    """1 and ever smaller shares down to few features: to the automatic one those of the rounds of its choice."""
    read, whole = prepared.n_read, replace(prepared, kept=(None,) * len(prepared.views)).n_read
    share, factors = min(n / m for n, m in zip(read, whole, strict=True)), (n_components, len(prepared.given))
    above = np.geomspace(1.0, automatic, 1 + n_rounds(share, *factors))
    least = min(automatic, max(_FEWEST_FEATURES, n_components) / min(whole))
    below = np.geomspace(automatic, least, 1 + n_rounds(least / automatic, *factors))
    return np.concatenate([above, below[1:]])


# --- what is kept of a fit --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Model:
    """The part of a model of all pairs that is kept: its weights and penalties."""

    mu: float
    n_shown: float
    x_weights: sp.csc_array
    y_weights: sp.csc_array

    @classmethod
    def of(cls, model: SparseCCA) -> "_Model":
        counts = [np.count_nonzero(shown_weights(model, v), axis=0) for v in range(2)]
        weights = sp.csc_array(model.x_weights_), sp.csc_array(model.y_weights_)
        return cls(float(np.median(model.mu_)), float(np.median(counts)), *weights)


def _n_used(weights: sp.csc_array) -> int:
    return len(np.unique(weights.indices))


def _measures(model: SparseCCA, held_out: Sequence[Samples]) -> tuple[float, float, float]:
    """Error, correlation and coherence."""
    A, B = (model.project(samples.data, name) for samples, name in zip(held_out, "XY", strict=True))
    return 1.0 - average_precision(A, B).average_precision, mean_correlation(A, B), coherence(model, held_out)


# --- user input -------------------------------------------------------------------------------------------------------


def _checked_copy(model: Any) -> SparseCCA:
    """A copy of the model without held-out folds; raises ValueError if it has no path."""
    if not isinstance(model, SparseCCA) or "mu" not in model.get_params():
        raise ValueError(f"model must be a SparseCCA; got {shown(model)}: pass for example SparseCCA(20).")
    if "dense" in model._renderings() or model._dual_views:
        raise ValueError(
            'model_path needs features of both views that it can leave out; leave rendering at "auto", "sparse" or '
            '"joint", and kernel at "linear".'
        )
    copy = clone(model).set_params(held_out=0)
    copy._settings()
    return copy


def _check_axis(over_shares: bool, mu_factors: Any, shares: Any) -> None:
    """Raises ValueError for values of the other axis."""
    if over_shares and mu_factors is not None:
        raise ValueError(
            "mu_factors are for the sparse rendering, and these views are rendered jointly; pass shares, or "
            'rendering="sparse" to the model.'
        )
    if not over_shares and shares is not None:
        raise ValueError(
            "shares are for the joint rendering, and these views are rendered sparsely; pass mu_factors, or "
            'rendering="joint" to the model.'
        )


def _checked_shares(given: Any) -> np.ndarray:
    try:
        shares = np.array([] if isinstance(given, str | bytes) else [float(share) for share in given])
    except (TypeError, ValueError):
        shares = np.array([])
    if not len(shares) or not np.all((shares > 0) & (shares <= 1)):
        raise ValueError(
            f"shares must be one or more numbers above 0 and at most 1, shares of the features of each view; got "
            f"{given!r}: pass for example (1, 0.5, 0.1)."
        )
    return shares


def _random_folds(cv: Splitter, model: SparseCCA) -> Any:
    """A number of folds becomes random folds, since documents are often sorted by subject."""
    from sklearn.model_selection import KFold
    from sklearn.utils import check_random_state

    if not isinstance(cv, Integral) or isinstance(cv, bool) or cv < 2:
        return cv
    return KFold(int(cv), shuffle=True, random_state=check_random_state(model.random_state or 0))
