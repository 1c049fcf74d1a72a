"""Penalties chosen by cross-validation, for shared factors and for the paper's components."""

import logging
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import clone

from .._checks import DataWarning, check_choice, say_once, shown, silenced
from .._types import MatrixLike, SeedLike, Splitter
from ..anchored import anchor_strategy
from ..estimators import AnchoredCCA, LowRankKernel, PairedTransformer, SparseCCA, provenance
from ..factors import count_components
from ..parallel import run_tasks
from ..progress import report
from ..retrieval import average_precision
from ..samples import Samples, Views, consecutive_folds
from ..solver import DEFAULT_MAX_ITER
from ..views import Kernel
from ._search import Fitted, Multipliers, Trial, as_params, fits_of_a_fold, mean_correlation

__all__ = ["AnchoredCCACV", "SparseCCACV", "factors_to_try"]

_RULES = ("best", "one-standard-error")
_MU_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # default multipliers of mu, for sparse weights
_RIDGE_FACTORS = (0.25, 1.0, 4.0)  # default multipliers of the ridge, for shared factors

logger = logging.getLogger(__name__)


class _Search(PairedTransformer):
    """An estimator that chooses the penalties of another by cross-validation, and is then fitted to all pairs."""

    _searched: type[PairedTransformer]

    @abstractmethod
    def _candidates(self, views: Views) -> list[Multipliers]:
        """All combinations of the multipliers that these views can have."""

    def _common_params(self, views: Views) -> dict[str, Any]:
        """Parameters of all folds that depend on all samples."""
        return {"scale": self._settings().reading.decided(views).scales}

    def _fold_params(self, trial: Trial) -> dict[str, Any]:
        """Parameters that differ from fold to fold."""
        return {}

    def _fit_pair(self, X: MatrixLike, Y: MatrixLike, groups: Any = None) -> Self:
        settings, scoring = self._settings(), self._check_search()
        with silenced(DataWarning):  # the last fit, to all pairs, gives such warnings
            views, features = self._training({"X": X, "Y": Y}, groups, settings)
        candidates = self._candidates(views)
        common = self._common_params(views)
        folds = consecutive_folds(self.cv, len(views), groups=views.groups)
        trials = [[Trial(fold, *split, tried) for tried in candidates] for fold, split in enumerate(folds)]
        scores, used = self._scores(trials, views, common, scoring)

        table = _table(candidates, scores[:, :, -1], used)
        best = self._choose(table, len(folds))
        asked = {"n_components": common["n_components"]} if "n_components" in common else {}
        given = {} if groups is None else {"groups": groups}
        refitted = self._model(**table["params"][best], **asked).fit(X, Y, **given)

        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # left by an earlier fit
        self._remember(features)
        self.__dict__.update({name: v for name, v in vars(refitted).items() if name not in refitted.get_params()})
        self.provenance_ = provenance(self, refitted.provenance_["inputs"])
        self.n_splits_ = len(folds)
        self.component_scores_ = scores.mean(axis=1)
        self.cv_results_ = table
        self.best_index_ = best
        self.best_score_ = float(table["mean_test_score"][best])
        self.best_params_ = table["params"][best]
        for name, factor in candidates[best].items():
            setattr(self, f"{name}_factor_", factor)
        return self

    def _check_search(self) -> "Scoring":
        """The function that scores held-out pairs; raises ValueError for an unknown scoring or rule."""
        check_choice(self.rule, "rule", _RULES)
        if callable(self.scoring):
            return self.scoring
        if not isinstance(self.scoring, str) or self.scoring not in _SCORINGS:
            names = ", ".join(map(repr, _SCORINGS))
            raise ValueError(
                f"scoring must be {names} or a function of the two views' scores; got {shown(self.scoring)}."
            )
        return _SCORINGS[self.scoring]

    def _scores(
        self, trials: list[list[Trial]], views: Views, common: dict[str, Any], scoring: "Scoring"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Held-out scores (combination, fold, number of leading components), and numbers of features of X and Y with a
        weight (combination, fold, 2).

        All trials of a fold are one task.
        """
        n_candidates, n_fits = len(trials[0]), sum(map(len, trials))

        def log(fold: int, fits: list[Fitted]) -> None:
            for trial, fit in zip(trials[fold], fits, strict=True):
                logger.info("%s: score %.4f", trial, fit.measured.scores[-1])

        def count_fits(n_folds: int, _: Any) -> None:
            report("fits", n_folds * n_candidates, n_fits)

        tasks = (
            [
                (self._model(**common, **as_params(trial.multipliers), **self._fold_params(trial), n_jobs=None), trial)
                for trial in fold
            ]
            for fold in trials
        )
        by_fold = run_tasks(
            partial(fits_of_a_fold, views, partial(_scored, scoring)),
            tasks,
            len(trials),
            "folds",
            n_jobs=self.n_jobs,
            progress=count_fits,
            finished=log,
        )
        by_candidate = list(zip(*by_fold, strict=True))
        say_once((fit.warned for fits in by_candidate for fit in fits), "fits of the cross-validation")
        measured = [[fit.measured for fit in fits] for fits in by_candidate]
        scores, used = ([[getattr(each, name) for each in row] for row in measured] for name in ("scores", "used"))
        return np.array(scores), np.array(used)

    def _model(self, **changed: Any) -> Any:
        """The estimator whose penalties are searched for, with the same settings and the same random state."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in self._searched().get_params(deep=False) if name in own}
        return clone(self._searched(**{**shared, **changed}))

    def _choose(self, table: dict[str, Any], n_splits: int) -> int:
        best = int(table["mean_test_score"].argmax())
        sparsest = self.rule == "one-standard-error"
        slack = table["std_test_score"][best] / np.sqrt(max(n_splits - 1, 1)) if sparsest else 0.0
        good = np.flatnonzero(table["mean_test_score"] >= table["mean_test_score"][best] - slack)
        used = (table["mean_x_features"] + table["mean_y_features"]) * sparsest
        names = [name for name in table if name.endswith("_factor")]

        def preference(row: np.intp) -> tuple[float, ...]:
            return (-used[row], *(table[name][row] for name in names))

        return int(max(good, key=preference))


class SparseCCACV(_Search, SparseCCA):  # type: ignore[misc]
    """Sparse CCA whose penalties are multiples of the automatic ones, chosen by cross-validation.

    For every fold of the pairs and every combination (f, h) of the given multipliers, a `SparseCCA` with
    mu = f mu_auto and lambda = h lambda_auto is fitted to the training pairs of the fold and scored on the others. The
    combination with the best mean score is fitted to all pairs; this estimator then has all attributes and methods of
    that fit.

    What the fits of a fold have in common is computed once for each ridge: the features that are read, chosen by the
    training pairs alone, and the shared factors. These are rendered from the largest penalty to the smallest, each
    starting from the previous solution and certified on its own.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" is counted once, from all pairs, and used in all folds.
    mu_factors : sequence of float, optional
        Multipliers of the automatic mu; by default (0.25, 0.5, 1, 2, 4), or (1,) if no view is rendered "sparse", since
        mu then changes no score. ("joint", to which "auto" leads for words, weighs all features that are read;
        `model_path` shows what reading fewer of them costs.)
    ridge_factors : sequence of float, optional
        Multipliers of the automatic ridge, by default (0.25, 1, 4). All combinations are tried.
    cv : int, splitter or iterable, default=5
        Number of consecutive folds (of whole groups, if `fit` is given groups), a splitter of scikit-learn, which is
        given the groups, or pairs of training and held-out indices. A fold holds out at least 2 pairs.
    scoring : {"retrieval", "correlation"} or callable, default="retrieval"
        "retrieval": average precision of finding the mates of held-out pairs, both directions averaged. "correlation":
        mean over components of the correlation of the two scores. Or a function of the scores (n, c) of held-out pairs
        in both views; larger is better.
    rule : {"best", "one-standard-error"}, default="best"
        Choose the multipliers with the best mean score or, among those within one standard error of the best, the ones
        that leave the fewest features (and samples) with a weight. Ties go to the largest mu, then the largest ridge.
    n_jobs : int, optional
        Number of folds fitted in parallel. The results do not depend on it.
    rendering, feature_weights, n_features, kernel, center, scale, held_out : as for `SparseCCA`
        A precomputed kernel is split on both axes.
    tol, max_iter, random_state : as for `SparseCCA`

    Attributes
    ----------
    cv_results_ : dict of arrays
        One row per combination, as in scikit-learn's searches (`pandas.DataFrame(model.cv_results_)`): `mu_factor`,
        `ridge_factor`, `params`, `split0_test_score` and so on, `mean_test_score`, `std_test_score`, `rank_test_score`;
        and `mean_x_features`, `mean_y_features`, the number of features of each view (samples of a view with a kernel)
        with a weight, to trade error against size.
    component_scores_ : ndarray of shape (n_rows, n_components)
        Mean held-out score of every row with the first component alone, the first two, and so on.
    best_index_, best_score_, best_params_ : int, float, dict
        The chosen row, its mean score, and its parameters for `SparseCCA`, as `{"mu": "auto*0.5", "ridge": "auto"}`.
    mu_factor_, ridge_factor_ : float
        The chosen multipliers.
    n_splits_ : int
    n_components_, x_weights_, y_weights_, mu_, ... : as for `SparseCCA`.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 40, 30, random_state=0).views
    >>> model = scca.SparseCCACV(2, mu_factors=(0.5, 1), ridge_factors=(1, 4), cv=3).fit(X, Y)
    >>> model.component_scores_.shape
    (4, 2)
    """

    _searched = SparseCCA

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        mu_factors: Sequence[float] | None = None,
        ridge_factors: Sequence[float] | None = None,
        cv: Splitter = 5,
        scoring: str | Callable[..., float] = "retrieval",
        rule: str = "best",
        rendering: str | tuple[str, str] = "auto",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: Any = "linear",
        center: bool = True,
        scale: Any = "auto",
        held_out: int | str = "auto",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
    ):
        super().__init__(
            n_components,
            rendering=rendering,
            feature_weights=feature_weights,
            n_features=n_features,
            kernel=kernel,
            center=center,
            scale=scale,
            held_out=held_out,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.mu_factors = mu_factors
        self.ridge_factors = ridge_factors
        self.cv = cv
        self.scoring = scoring
        self.rule = rule

    def fit(self, X: MatrixLike, Y: MatrixLike, *, groups: ArrayLike | None = None) -> Self:  # type: ignore[override]
        """Choose the penalties and learn the components of paired samples; parameters as for `SparseCCA.fit`."""
        return self._fit_pair(X, Y, groups)

    def _candidates(self, views: Views) -> list[Multipliers]:
        settings = self._settings()
        renderings = settings.decided(settings.reading.decided(views).scales).renderings
        no_mu = ""
        if all(each == "dense" for each in renderings):
            no_mu = "the dense rendering, which has no penalties"
        elif "sparse" not in renderings:
            no_mu = 'the joint rendering, whose scores do not depend on mu (with rendering="sparse" they do)'
        mus = _multipliers_to_try(self.mu_factors, "mu_factors", _MU_FACTORS, no_mu)
        ridges = _multipliers_to_try(self.ridge_factors, "ridge_factors", _RIDGE_FACTORS, "")
        return [{"mu": mu, "ridge": ridge} for mu, ridge in product(mus, ridges)]

    def _common_params(self, views: Views) -> dict[str, Any]:
        settings = self._bounded(self._settings(), views)
        counted = settings.n_components
        if settings.is_counted:
            model = self._model()
            counted = count_components(model.prepare_views(views), settings)
        return super()._common_params(views) | {"n_components": counted, "held_out": 0}


class AnchoredCCACV(_Search, AnchoredCCA):
    """The paper's method with penalties that are multiples of its automatic ones, chosen by cross-validation.

    It works like `SparseCCACV`, with mu = f mu_auto and gamma = g gamma_auto for combinations (f, g). Anchors are
    training samples, so that no held-out pair is an anchor.

    Parameters
    ----------
    n_components : int, default=2
    mu_factors : sequence of float, optional
        Multipliers of the automatic mu; by default (0.25, 0.5, 1, 2, 4).
    gamma_factors : sequence of float, default=(1,)
        Multipliers of the automatic gamma. All combinations are tried.
    cv, scoring, rule, n_jobs : as for `SparseCCACV`
    anchors, n_candidates, representation, feature_weights, n_features, kernel : as for `AnchoredCCA`
        Anchors given as indices count over all pairs; a fold uses those that it trains on. A precomputed kernel is
        split on both axes.
    center, scale, algorithm, tol, max_iter : as for `AnchoredCCA`

    Attributes
    ----------
    cv_results_, best_index_, best_score_, best_params_, n_splits_ : as for `SparseCCACV`, with `gamma_factor`
    component_scores_ : ndarray of shape (n_rows, n_components)
        Components are nested, so that column j - 1 is the score of a model with j components.
    mu_factor_, gamma_factor_ : float
        The chosen multipliers.
    n_components_, x_weights_, y_weights_, x_rotations_, y_rotations_, mu_, gamma_, ... : as for `AnchoredCCA`.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 40, 30, random_state=0).views
    >>> model = scca.AnchoredCCACV(2, mu_factors=(0.5, 1), gamma_factors=(1, 2), cv=3).fit(X, Y)
    >>> model.component_scores_.shape
    (4, 2)
    """

    _searched = AnchoredCCA

    def __init__(
        self,
        n_components: int = 2,
        *,
        mu_factors: Sequence[float] | None = None,
        gamma_factors: Sequence[float] = (1,),
        cv: Splitter = 5,
        scoring: str | Callable[..., float] = "retrieval",
        rule: str = "best",
        anchors: str | Sequence[int] = "sequential",
        n_candidates: int | None = None,
        representation: str = "primal-dual",
        feature_weights: str | None = None,
        n_features: int | float | None = None,
        kernel: str | Callable[..., float] | Kernel | LowRankKernel = "linear",
        center: bool = True,
        scale: Any = "rows",
        algorithm: str = "working-set",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
    ):
        super().__init__(
            n_components,
            anchors=anchors,
            n_candidates=n_candidates,
            representation=representation,
            feature_weights=feature_weights,
            n_features=n_features,
            kernel=kernel,
            center=center,
            scale=scale,
            algorithm=algorithm,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
        )
        self.mu_factors = mu_factors
        self.gamma_factors = gamma_factors
        self.cv = cv
        self.scoring = scoring
        self.rule = rule

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Choose the penalties and learn the components of paired samples; parameters as for `AnchoredCCA.fit`."""
        return self._fit_pair(X, Y)

    def _candidates(self, views: Views) -> list[Multipliers]:
        mus = _multipliers_to_try(self.mu_factors, "mu_factors", _MU_FACTORS, "")
        gammas = _multipliers_to_try(self.gamma_factors, "gamma_factors", (1.0,), "")
        return [{"mu": mu, "gamma": gamma} for mu, gamma in product(mus, gammas)]

    def _common_params(self, views: Views) -> dict[str, Any]:
        n_anchors = len(views) if self.anchors_are_samples else views.data[1].shape[1]
        anchor_strategy(self.anchors, n_anchors, self.n_components, self.n_candidates)  # refuses what no fold can use
        return super()._common_params(views)

    def _fold_params(self, trial: Trial) -> dict[str, Any]:
        if isinstance(self.anchors, str) or not self.anchors_are_samples:
            return {}
        place = {sample: position for position, sample in enumerate(trial.train)}
        return {"anchors": np.array([place[anchor] for anchor in self.anchors if anchor in place], dtype=np.intp)}


# --- what is compared -------------------------------------------------------------------------------------------------

Scoring = Callable[[np.ndarray, np.ndarray], float]


def _retrieval(A: np.ndarray, B: np.ndarray) -> float:
    return average_precision(A, B).average_precision


_SCORINGS: dict[str, Scoring] = {"retrieval": _retrieval, "correlation": mean_correlation}


@dataclass(frozen=True)
class Scored:
    """Held-out scores with the first component, the first two, ..., and numbers of features of X and Y with a weight.

    If fewer components exist than requested, the last score is repeated.
    """

    scores: list[float]
    used: tuple[int, int]


def _scored(scoring: Scoring, model: PairedTransformer, held_out: Sequence[Samples]) -> Scored:
    x, y = held_out
    A, B = model.project(x.data, "X", x.diagonal), model.project(y.data, "Y", y.diagonal)
    scores = [_checked_score(scoring(A[:, :j], B[:, :j])) for j in range(1, A.shape[1] + 1)]
    used = [int(np.count_nonzero(weights.any(axis=1))) for weights in (model.x_weights_, model.y_weights_)]
    return Scored(scores + [scores[-1]] * (int(model.n_components) - len(scores)), (used[0], used[1]))


def _checked_score(score: float) -> float:
    score = float(score)
    if not np.isfinite(score):
        raise ValueError(f"scoring must give a finite number; got {score}.")
    return score


# --- user input, and the table of results -----------------------------------------------------------------------------


def factors_to_try(given: Any, name: str) -> tuple[float, ...]:
    """A user's multipliers of the automatic penalty, checked."""
    try:
        factors = () if isinstance(given, str | bytes) else tuple(float(factor) for factor in given)
    except (TypeError, ValueError):
        factors = ()
    if not factors or not all(0 < factor < np.inf for factor in factors):
        raise ValueError(
            f"{name} must be one or more finite numbers greater than 0, multipliers of the automatic penalty; got "
            f"{given!r}: pass for example (0.5, 1, 2)."
        )
    return factors


def _multipliers_to_try(given: Any, name: str, default: tuple[float, ...], meaningless: str) -> tuple[float, ...]:
    """The multipliers to try; `meaningless` names the setting, if any, that makes the penalty meaningless."""
    if given is None:
        return (1.0,) if meaningless else default
    factors = factors_to_try(given, name)
    if meaningless and factors != (1.0,):
        raise ValueError(f"{name} must be (1,) with {meaningless}; got {given!r}: leave it out.")
    return factors


def _table(candidates: Sequence[Multipliers], scores: np.ndarray, used: np.ndarray) -> dict[str, Any]:
    means = scores.mean(axis=1)
    return {
        **{f"{name}_factor": np.array([tried[name] for tried in candidates]) for name in candidates[0]},
        "params": [as_params(tried) for tried in candidates],
        **{f"split{fold}_test_score": column.copy() for fold, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
        "mean_x_features": used[:, :, 0].mean(axis=1),
        "mean_y_features": used[:, :, 1].mean(axis=1),
    }
