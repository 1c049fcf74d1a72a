"""Sparse CCA with the penalties chosen by cross-validation."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone

from .._validation import DataWarning, check_choice, shown
from ..engine import Collector, Pairs, Progress, Samples, collected, consecutive_folds, run_tasks, say_once, silenced
from ..retrieval import average_precision
from ..solver import DEFAULT_MAX_ITER
from ._anchors import anchor_strategy
from ._preparing import PreparedPair
from ._sparse_cca import SparseCCA

__all__ = ["SparseCCACV"]

_RULES = ("best", "one-standard-error")

logger = logging.getLogger(__name__)


class SparseCCACV(SparseCCA):
    """Sparse CCA whose penalties are the automatic ones times the factors that did best on held-out pairs.

    For every fold of the pairs and every (f, g) of the factors, a `SparseCCA` with mu = f mu_auto and gamma = g
    gamma_auto is fitted to the training pairs of the fold and scored on the others. The factors with the best mean
    score are used for a last fit to all pairs, of which this estimator then has all attributes and methods. Anchors
    are training samples, so no score knows of the pair that a component is built around.

    Parameters
    ----------
    n_components : int, default=2
    mu_factors, gamma_factors : sequences of float, default=(0.25, 0.5, 1, 2, 4) and (1,)
        What to try, each of the one with each of the other. A factor of 1 is the automatic penalty.
    cv : int, splitter or iterable, default=5
        Number of consecutive folds, a splitter of scikit-learn, or pairs of training and held-out indices. A fold holds
        out at least 2 pairs.
    scoring : {"retrieval", "correlation"} or callable, default="retrieval"
        Of the scores (n, c) of held-out pairs in the two views: the average precision of finding each one's mate, both
        directions averaged; the mean over components of the correlation of the two scores; or a function of the two
        arrays whose value is the larger the better.
    rule : {"best", "one-standard-error"}, default="best"
        Which factors to choose: those with the best mean score, or, for fewer weights, the largest mu (then the largest
        gamma) with a mean score within one standard error of the best. Equally good ones go to the largest mu.
    n_jobs : int, optional
        Folds to fit side by side. The results do not depend on it.
    verbose : int, default=0
        Above 0, each fit is logged at level INFO, otherwise DEBUG (logger `scca`).
    anchors, representation, rendering, ridge, feature_weights, n_features, kernel, kernel_params, center, normalize, \
    held_out, algorithm, tol, max_iter, random_state :
        as for `SparseCCA`. Anchors given as indices count over all pairs; a fold uses those that it trains on. A
        precomputed kernel is split on both axes.

    Attributes
    ----------
    cv_results_ : dict of arrays
        A row for every pair of factors, as scikit-learn's searches have it (`pandas.DataFrame(model.cv_results_)`):
        `mu_factor`, `gamma_factor`, `params`, `split0_test_score` and so on, `mean_test_score`, `std_test_score`,
        `rank_test_score`.
    component_scores_ : ndarray of shape (n_rows, n_components)
        Mean held-out score of every row with the first component alone, the first two, and so on. Anchored components
        are nested, so there column j - 1 is what a model with j components scores; shared factors are not.
    best_index_, best_score_, best_params_ : int, float, dict
        The row chosen, its mean score, and the parameters that make a `SparseCCA` of it, such as
        `{"mu": "auto*0.5", "gamma": "auto"}`.
    mu_factor_, gamma_factor_ : float
        The factors chosen.
    n_splits_ : int
    n_components_, x_weights_, y_weights_, x_rotations_, y_rotations_, mu_, gamma_, ... : as for `SparseCCA`.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(60, 40, 30, random_state=0).views
    >>> model = scca.SparseCCACV(2, mu_factors=(0.5, 1), cv=3).fit(X, Y)
    >>> model.component_scores_.shape
    (2, 2)
    """

    def __init__(
        self,
        n_components=2,
        *,
        mu_factors=(0.25, 0.5, 1, 2, 4),
        gamma_factors=(1,),
        cv=5,
        scoring="retrieval",
        rule="best",
        anchors=None,
        representation="auto",
        rendering="sparse",
        ridge="auto",
        feature_weights="shared",
        n_features="auto",
        kernel="linear",
        kernel_params=None,
        center=True,
        normalize=True,
        held_out=5,
        algorithm="working-set",
        tol=1e-6,
        max_iter=DEFAULT_MAX_ITER,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(
            n_components,
            anchors=anchors,
            representation=representation,
            rendering=rendering,
            ridge=ridge,
            feature_weights=feature_weights,
            n_features=n_features,
            kernel=kernel,
            kernel_params=kernel_params,
            center=center,
            normalize=normalize,
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
        self.cv = cv
        self.scoring = scoring
        self.rule = rule

    def fit_with_progress(self, X, Y, progress: Progress | None = None):
        """`fit`, calling `progress(made, asked)` after every fit of the search."""
        self._check_settings()
        factors = [*product(_factors(self.mu_factors, "mu_factors"), _factors(self.gamma_factors, "gamma_factors"))]
        scoring = self._check_search()
        with silenced(DataWarning):  # the last fit, to all pairs, gives these
            x_view, y_view, known = self._check_training(X, Y)
        pairs = Pairs(x_view, y_view, tuple(name for name in "XY" if self._is_precomputed(name)))
        n_components = self._check_n_components(pairs.X, pairs.Y)
        if self._components_asked() is None:  # counted once, so that all folds have as many
            counted = self._estimator()
            n_components = counted._count(counted.prepare_checked(pairs.X, pairs.Y), counted._check_factor_settings())
        n_anchors = len(pairs) if self._anchors_are_samples else pairs.Y.shape[1]
        if self.anchors is not None:
            anchor_strategy(self.anchors, n_anchors, n_components)  # refuses anchors that no fold could use
        folds = consecutive_folds(self.cv, len(pairs))
        params = [{**_params(*pair), "n_components": n_components} for pair in factors]
        trials = [[Trial(fold, *split, setting) for setting in params] for fold, split in enumerate(folds)]
        scores = self._search(trials, pairs, scoring, progress)

        table = _table(factors, scores[:, :, -1])
        best = self._choose(table, len(folds))
        refitted = self._estimator(**table["params"][best], n_components=n_components).fit(X, Y)

        self._remember(known)
        self.__dict__.update({name: v for name, v in vars(refitted).items() if name not in refitted.get_params()})
        self.n_splits_ = len(folds)
        self.component_scores_ = scores.mean(axis=1)
        self.cv_results_ = table
        self.best_index_ = best
        self.best_score_ = float(table["mean_test_score"][best])
        self.best_params_ = table["params"][best]
        self.mu_factor_, self.gamma_factor_ = factors[best]
        return self

    def _check_search(self) -> "Scoring":
        """The function that scores held-out pairs; an unknown scoring or rule is refused."""
        check_choice(self.rule, "rule", _RULES)
        if callable(self.scoring):
            return self.scoring
        if not isinstance(self.scoring, str) or self.scoring not in _SCORINGS:
            names = ", ".join(map(repr, _SCORINGS))
            raise ValueError(
                f"scoring must be {names} or a function of the two views' scores; got {shown(self.scoring)}."
            )
        return _SCORINGS[self.scoring]

    def _search(self, trials: "list[list[Trial]]", pairs: Pairs, scoring: "Scoring", progress) -> np.ndarray:
        """Held-out scores by factors, folds and components: with the first component, the first two, and so on.

        All trials of a fold are one task.
        """
        level = logging.INFO if self.verbose else logging.DEBUG
        n_factors, n_fits = len(trials[0]), sum(map(len, trials))

        def log(fold: int, fits: list[Fit]) -> None:
            for trial, fit in zip(trials[fold], fits, strict=True):
                logger.log(level, "%s: score %.4f", trial, fit.scores[-1])

        def count_fits(n_folds: int, _) -> None:
            for made in range((n_folds - 1) * n_factors, n_folds * n_factors):
                progress(1 + made, n_fits)

        tasks = ([(self._estimator_for(trial), trial) for trial in fold] for fold in trials)
        by_fold = run_tasks(
            partial(_fits_of_a_fold, pairs, scoring),
            tasks,
            len(trials),
            "folds",
            n_jobs=self.n_jobs,
            progress=None if progress is None else count_fits,
            finished=log,
        )
        by_factors = list(zip(*by_fold, strict=True))
        say_once((fit.warned for fits in by_factors for fit in fits), "fits of the cross-validation")
        return np.array([[fit.scores for fit in fits] for fits in by_factors])

    def _estimator(self, **changed) -> SparseCCA:
        """A `SparseCCA` with the same settings; what is drawn at random starts from the same state in each."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in SparseCCA().get_params() if name in own}
        return clone(SparseCCA(**{**shared, **changed}))

    def _estimator_for(self, trial: "Trial") -> SparseCCA:
        anchors = self.anchors
        if self._anchors_are_samples and not (anchors is None or isinstance(anchors, str)):
            place = {sample: position for position, sample in enumerate(trial.train)}
            anchors = np.array([place[anchor] for anchor in anchors if anchor in place], dtype=np.intp)
        return self._estimator(**trial.params, anchors=anchors, held_out=0, n_jobs=None)

    def _choose(self, table: dict, n_splits: int) -> int:
        best = int(table["mean_test_score"].argmax())
        slack = 0.0
        if self.rule == "one-standard-error":
            slack = table["std_test_score"][best] / np.sqrt(max(n_splits - 1, 1))
        good = np.flatnonzero(table["mean_test_score"] >= table["mean_test_score"][best] - slack)
        return int(max(good, key=lambda row: (table["mu_factor"][row], table["gamma_factor"][row])))


# --- what is compared -------------------------------------------------------------------------------------------------

Scoring = Callable[[np.ndarray, np.ndarray], float]


def _retrieval(A: np.ndarray, B: np.ndarray) -> float:
    return average_precision(A, B).average_precision


def _correlation(A: np.ndarray, B: np.ndarray) -> float:
    """Mean over the columns of the correlation of A's with B's; a column that does not vary has none."""
    A, B = (scores - scores.mean(axis=0, dtype=np.float64) for scores in (A, B))
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return float(np.mean(np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)))


_SCORINGS: dict[str, Scoring] = {"retrieval": _retrieval, "correlation": _correlation}


# --- the fits of the search -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One fold and one setting of the penalties."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    params: dict[str, Any]

    def __str__(self):
        return f"fold {self.fold} with mu={self.params['mu']}, gamma={self.params['gamma']}"


@dataclass(frozen=True)
class Fit:
    """The scores of a trial with the first component, the first two, ..., and what it warned of."""

    scores: list[float]
    warned: Collector


def _fits_of_a_fold(pairs: Pairs, scoring: Scoring, task: list[tuple[SparseCCA, Trial]]) -> list[Fit]:
    """All fits of a fold, to the same prepared pairs."""
    first_model, first = task[0]
    try:
        prepared = first_model.prepare_checked(*pairs.training(first.train))
    except Exception as error:
        raise ValueError(f"{first}: {error}") from error
    held_out = pairs.held_out(first.test, first.train)
    return [_held_out(prepared, held_out, scoring, model, trial) for model, trial in task]


def _held_out(
    prepared: PreparedPair, held_out: tuple[Samples, Samples], scoring: Scoring, model: SparseCCA, trial: Trial
) -> Fit:
    """One fit to the training pairs and its scores on the others.

    Where fewer components than asked exist, the last score counts for the rest.
    """
    try:
        with collected(str(trial)) as warned:
            model.fit_prepared(prepared)
            x, y = held_out
            A, B = model.project(x.data, "X", x.diagonal), model.project(y.data, "Y", y.diagonal)
            scores = [_finite(scoring(A[:, :j], B[:, :j])) for j in range(1, A.shape[1] + 1)]
    except Exception as error:
        raise ValueError(f"{trial}: {error}") from error
    return Fit(scores + [scores[-1]] * (model.n_components - len(scores)), warned)


def _finite(score) -> float:
    score = float(score)
    if not np.isfinite(score):
        raise ValueError(f"scoring must give a finite number; got {score}.")
    return score


# --- what users hand in, and get --------------------------------------------------------------------------------------


def _factors(given, name: str) -> list[float]:
    try:
        factors = [] if isinstance(given, str | bytes) else [float(factor) for factor in given]
    except (TypeError, ValueError):
        factors = []
    if not factors or not all(0 < factor < np.inf for factor in factors):
        raise ValueError(
            f"{name} must be one or more finite numbers greater than 0, factors of the automatic penalty; got "
            f"{given!r}: pass for example (0.5, 1, 2)."
        )
    return factors


def _params(mu_factor: float, gamma_factor: float) -> dict[str, str]:
    """The penalties as `SparseCCA` takes them."""
    factors = {"mu": mu_factor, "gamma": gamma_factor}
    return {name: "auto" if factor == 1 else f"auto*{factor!r}" for name, factor in factors.items()}


def _table(factors: list[tuple[float, float]], scores: np.ndarray) -> dict[str, Any]:
    means = scores.mean(axis=1)
    return {
        "mu_factor": np.array([mu_factor for mu_factor, _ in factors]),
        "gamma_factor": np.array([gamma_factor for _, gamma_factor in factors]),
        "params": [_params(*pair) for pair in factors],
        **{f"split{fold}_test_score": column.copy() for fold, column in enumerate(scores.T)},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": rankdata(-means, method="min").astype(np.int32),
    }
