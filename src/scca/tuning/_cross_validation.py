"""Sparse CCA with the penalties chosen by cross-validation."""

import logging
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
from ..estimators import LowRankKernel, SparseCCA
from ..parallel import run_tasks
from ..progress import report
from ..retrieval import average_precision
from ..samples import Groups, Pairs, Samples, consecutive_folds
from ..solver import DEFAULT_MAX_ITER
from ._search import Fit, Penalties, Trial, fits_of_a_fold, mean_correlation

__all__ = ["SparseCCACV", "factors_to_try"]

_RULES = ("best", "one-standard-error")
_MU_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of sparse weights, unless given
_RIDGE_FACTORS = (0.25, 1.0, 4.0)  # of shared factors, unless given

logger = logging.getLogger(__name__)


class SparseCCACV(SparseCCA):
    """Sparse CCA whose penalties are multiples of the automatic ones, chosen by cross-validation.

    For every fold of the pairs and every combination (f, g, h) of the given multipliers, a `SparseCCA` with
    mu = f mu_auto, gamma = g gamma_auto and lambda = h lambda_auto is fitted to the training pairs of the fold and
    scored on the others. The combination with the best mean score is fitted to all pairs; this estimator then has all
    attributes and methods of that fit. Anchors are training samples, so no held-out pair is an anchor.

    What the fits of a fold have in common is computed once: the prepared pairs, and the shared factors for each ridge.
    These are rendered from the largest penalty to the smallest, each starting from the previous solution and certified
    on its own.

    Parameters
    ----------
    n_components : int, default=2
    mu_factors : sequence of float, optional
        Multipliers of the automatic mu; by default (0.25, 0.5, 1, 2, 4), or (1,) with the dense rendering or without
        weights on features.
    gamma_factors : sequence of float, default=(1,)
        Multipliers of the automatic gamma, if samples have weights.
    ridge_factors : sequence of float, optional
        Multipliers of the automatic ridge of shared factors, by default (0.25, 1, 4); not with anchors. All
        combinations of the three are tried.
    cv : int, splitter or iterable, default=5
        Number of consecutive folds (of whole groups, if `fit` is given groups), a splitter of scikit-learn, which is
        given the groups, or pairs of training and held-out indices. A fold holds out at least 2 pairs.
    scoring : {"retrieval", "correlation"} or callable, default="retrieval"
        "retrieval": average precision of finding the mates of held-out pairs, both directions averaged. "correlation":
        mean over components of the correlation of the two scores. Or a function of the scores (n, c) of held-out pairs
        in both views; larger is better.
    rule : {"best", "one-standard-error"}, default="best"
        Choose the multipliers with the best mean score, or, among all within one standard error of the best, those that
        leave the fewest features (and samples) with a weight. Ties go to the largest mu, then gamma, then ridge.
    n_jobs : int, optional
        Folds fitted in parallel. The results do not depend on it.
    verbose : int, default=0
        Above 0, each fit is logged at level INFO, otherwise DEBUG (logger `scca`).
    anchors, representation, rendering, feature_weights, n_features, kernel, kernel_params : as for `SparseCCA`
        Anchors given as indices count over all pairs; a fold uses those that it trains on. A precomputed kernel is
        split on both axes.
    center, scale, held_out, algorithm, tol, max_iter, random_state : as for `SparseCCA`

    Attributes
    ----------
    cv_results_ : dict of arrays
        One row per combination, as in scikit-learn's searches (`pandas.DataFrame(model.cv_results_)`): `mu_factor`,
        `gamma_factor`, `ridge_factor` (NaN with anchors), `params`, `split0_test_score` and so on, `mean_test_score`,
        `std_test_score`, `rank_test_score`; and `mean_x_features`, `mean_y_features`, the number of features of each
        view (samples of a dual one) with a weight, to trade error against size.
    component_scores_ : ndarray of shape (n_rows, n_components)
        Mean held-out score of every row with the first component alone, the first two, and so on. Anchored components
        are nested, so that column j - 1 is the score of a model with j components; shared factors are not.
    best_index_, best_score_, best_params_ : int, float, dict
        The chosen row, its mean score, and its parameters for `SparseCCA`, such as
        `{"mu": "auto*0.5", "gamma": "auto", "ridge": "auto*4.0"}`; no ridge with anchors.
    mu_factor_, gamma_factor_, ridge_factor_ : float
        The chosen multipliers; no `ridge_factor_` with anchors.
    n_splits_ : int
    n_components_, x_weights_, y_weights_, x_rotations_, y_rotations_, mu_, gamma_, ... : as for `SparseCCA`.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 40, 30, random_state=0).views
    >>> model = scca.SparseCCACV(2, mu_factors=(0.5, 1), ridge_factors=(1, 4), cv=3).fit(X, Y)
    >>> model.component_scores_.shape
    (4, 2)
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        mu_factors: Sequence[float] | None = None,
        gamma_factors: Sequence[float] = (1,),
        ridge_factors: Sequence[float] | None = None,
        cv: Splitter = 5,
        scoring: str | Callable[..., float] = "retrieval",
        rule: str = "best",
        anchors: str | Sequence[int] | None = None,
        representation: str = "auto",
        rendering: str = "sparse",
        feature_weights: str | None = "shared",
        n_features: int | float | str | None = "auto",
        kernel: str | Callable[..., float] | LowRankKernel = "linear",
        kernel_params: dict[str, Any] | None = None,
        center: bool = True,
        scale: Any = "auto",
        held_out: int | str = "auto",
        algorithm: str = "working-set",
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ):
        super().__init__(
            n_components,
            anchors=anchors,
            representation=representation,
            rendering=rendering,
            feature_weights=feature_weights,
            n_features=n_features,
            kernel=kernel,
            kernel_params=kernel_params,
            center=center,
            scale=scale,
            held_out=held_out,
            algorithm=algorithm,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.mu_factors = mu_factors
        self.gamma_factors = gamma_factors
        self.ridge_factors = ridge_factors
        self.cv = cv
        self.scoring = scoring
        self.rule = rule

    def fit(self, X: MatrixLike, Y: MatrixLike, *, groups: ArrayLike | None = None) -> Self:
        """Choose the penalties and learn the components of paired samples; parameters as for `SparseCCA.fit`."""
        self._check_settings()
        candidates = self._candidates()
        scoring = self._check_search()
        with silenced(DataWarning):  # the last fit, to all pairs, gives these
            x_view, y_view, known = self._check_training(X, Y)
        kernels = tuple(name for name in "XY" if self._is_precomputed(name))
        pairs = Pairs(x_view, y_view, kernels, groups=Groups.of(groups, x_view.shape[0]))
        n_components = self._check_n_components(pairs.X, pairs.Y)
        if self._components_asked() is None:  # counted once, so that all folds have as many
            counted = self._estimator()
            n_components = counted.count_components(counted.prepare_checked(pairs.X, pairs.Y, groups=pairs.groups))
        n_anchors = len(pairs) if self._anchors_are_samples else pairs.Y.shape[1]
        if self.anchors is not None:
            anchor_strategy(self.anchors, n_anchors, n_components)  # rejects anchors that no fold could use
        folds = consecutive_folds(self.cv, len(pairs), groups=pairs.groups)
        trials = [[Trial(fold, *split, tried) for tried in candidates] for fold, split in enumerate(folds)]
        scales = self._scale_of(pairs.X, "X"), self._scale_of(pairs.Y, "Y")  # the same in all folds
        scores, used = self._search(trials, pairs, {"n_components": n_components, "scale": scales}, scoring)

        table = _table(candidates, scores[:, :, -1], used)
        best = self._choose(table, len(folds))
        refitted = self._estimator(**table["params"][best], n_components=n_components).fit(X, Y, groups=groups)

        self._remember(known)
        self.__dict__.update({name: v for name, v in vars(refitted).items() if name not in refitted.get_params()})
        self.n_splits_ = len(folds)
        self.component_scores_ = scores.mean(axis=1)
        self.cv_results_ = table
        self.best_index_ = best
        self.best_score_ = float(table["mean_test_score"][best])
        self.best_params_ = table["params"][best]
        self.mu_factor_, self.gamma_factor_ = candidates[best].mu, candidates[best].gamma
        if candidates[best].ridge is not None:
            self.ridge_factor_ = candidates[best].ridge
        return self

    def _candidates(self) -> list[Penalties]:
        """All combinations of the multipliers; 1 alone for a penalty that does not apply."""
        factors = self.anchors is None
        no_mu = no_gamma = ""
        no_ridge = "" if factors else "anchors, which have no ridge"
        if factors and len(self._dense_views) == 2:
            no_mu = no_gamma = "the dense rendering, which has no penalties"
        elif factors and len(self._dual_views) == 2:
            no_mu = "views without weights on features"
        elif factors and not self._dual_views:
            no_gamma = "views without weights on samples"
        mus = _tried(self.mu_factors, "mu_factors", _MU_FACTORS, no_mu)
        gammas = _tried(self.gamma_factors, "gamma_factors", (1.0,), no_gamma)
        ridges = _tried(self.ridge_factors, "ridge_factors", _RIDGE_FACTORS, no_ridge)
        return [Penalties(mu, gamma, ridge if factors else None) for mu, gamma, ridge in product(mus, gammas, ridges)]

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

    def _search(
        self, trials: list[list[Trial]], pairs: Pairs, settings: dict[str, Any], scoring: "Scoring"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Held-out scores (combination, fold, number of leading components), and how many features of X and of Y have a
        weight (combination, fold, 2).

        All trials of a fold are one task.
        """
        level = logging.INFO if self.verbose else logging.DEBUG
        n_factors, n_fits = len(trials[0]), sum(map(len, trials))

        def log(fold: int, fits: list[Fit]) -> None:
            for trial, fit in zip(trials[fold], fits, strict=True):
                logger.log(level, "%s: score %.4f", trial, fit.measured.scores[-1])

        def count_fits(n_folds: int, _: Any) -> None:
            report("fits", n_folds * n_factors, n_fits)

        tasks = ([(self._estimator_for(trial, settings), trial) for trial in fold] for fold in trials)
        by_fold = run_tasks(
            partial(fits_of_a_fold, pairs, partial(_scored, scoring)),
            tasks,
            len(trials),
            "folds",
            n_jobs=self.n_jobs,
            progress=count_fits,
            finished=log,
        )
        by_factors = list(zip(*by_fold, strict=True))
        say_once((fit.warned for fits in by_factors for fit in fits), "fits of the cross-validation")
        measured = [[fit.measured for fit in fits] for fits in by_factors]
        scores, used = ([[getattr(each, name) for each in row] for row in measured] for name in ("scores", "used"))
        return np.array(scores), np.array(used)

    def _estimator(self, **changed: Any) -> SparseCCA:
        """A `SparseCCA` with the same settings and the same random state."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in SparseCCA().get_params() if name in own}
        return clone(SparseCCA(**{**shared, **changed}))

    def _estimator_for(self, trial: Trial, settings: dict[str, Any]) -> SparseCCA:
        anchors: Any = self.anchors
        if self._anchors_are_samples and not (anchors is None or isinstance(anchors, str)):
            place = {sample: position for position, sample in enumerate(trial.train)}
            anchors = np.array([place[anchor] for anchor in anchors if anchor in place], dtype=np.intp)
        params = {**trial.penalties.params, **settings, "anchors": anchors}
        return self._estimator(**params, held_out=0, n_jobs=None)

    def _choose(self, table: dict[str, Any], n_splits: int) -> int:
        best = int(table["mean_test_score"].argmax())
        sparsest = self.rule == "one-standard-error"
        slack = table["std_test_score"][best] / np.sqrt(max(n_splits - 1, 1)) if sparsest else 0.0
        good = np.flatnonzero(table["mean_test_score"] >= table["mean_test_score"][best] - slack)
        used = (table["mean_x_features"] + table["mean_y_features"]) * sparsest

        def preference(row: np.intp) -> tuple[float, ...]:
            return (-used[row], *(table[f"{name}_factor"][row] for name in ("mu", "gamma", "ridge")))

        return int(max(good, key=preference))


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


def _scored(scoring: Scoring, model: SparseCCA, held_out: tuple[Samples, Samples]) -> Scored:
    x, y = held_out
    A, B = model.project(x.data, "X", x.diagonal), model.project(y.data, "Y", y.diagonal)
    scores = [_finite(scoring(A[:, :j], B[:, :j])) for j in range(1, A.shape[1] + 1)]
    used = [int(np.count_nonzero(weights.any(axis=1))) for weights in (model.x_weights_, model.y_weights_)]
    return Scored(scores + [scores[-1]] * (int(model.n_components) - len(scores)), (used[0], used[1]))


def _finite(score: float) -> float:
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


def _tried(given: Any, name: str, default: tuple[float, ...], meaningless: str) -> tuple[float, ...]:
    """The multipliers to try; `meaningless` names the setting, if any, with which the penalty does not apply."""
    if given is None:
        return (1.0,) if meaningless else default
    factors = factors_to_try(given, name)
    if meaningless and factors != (1.0,):
        raise ValueError(f"{name} must be (1,) with {meaningless}; got {given!r}: leave it out.")
    return factors


def _table(candidates: list[Penalties], scores: np.ndarray, used: np.ndarray) -> dict[str, Any]:
    means = scores.mean(axis=1)
    return {
        **{
            f"{name}_factor": np.array([getattr(tried, name) for tried in candidates], dtype=np.float64)
            for name in ("mu", "gamma", "ridge")
        },
        "params": [tried.params for tried in candidates],
        **{f"split{fold}_test_score": column.copy() for fold, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
        "mean_x_features": used[:, :, 0].mean(axis=1),
        "mean_y_features": used[:, :, 1].mean(axis=1),
    }
