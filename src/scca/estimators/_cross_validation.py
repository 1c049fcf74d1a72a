"""Sparse CCA with the penalties chosen by cross-validation."""

import inspect
import logging
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import check_cv

from .._threads import one_thread
from .._validation import DataWarning
from ..retrieval import average_precision
from ._sparse_cca import SparseCCA

__all__ = ["SparseCCACV"]

_RULES = ("best", "one-standard-error")

logger = logging.getLogger(__name__)


def _with_parameters_of(parent: type, *, without: tuple[str, ...]):
    """Spell out the `**settings` of an `__init__` as the keywords of the parent's, but for some.

    scikit-learn reads an estimator's parameters from this signature, and passes over `**`.
    """

    def decorate(init: Any):
        own = inspect.signature(init).parameters
        inherited = inspect.signature(parent.__init__).parameters  # type: ignore[misc]
        init.__signature__ = inspect.Signature(
            [parameter for parameter in own.values() if parameter.kind is not parameter.VAR_KEYWORD]
            + [parameter for name, parameter in inherited.items() if name not in (*own, *without)]
        )
        return init

    return decorate


class SparseCCACV(SparseCCA):
    """Sparse CCA whose penalties are the automatic ones times the factors that did best on held-out pairs.

    For every fold of the pairs and every (f, g) of the factors, a `SparseCCA` with mu = f mu_auto and gamma = g
    gamma_auto is fitted to the training pairs of the fold and scored on the others. The factors with the best mean
    score are used for a last fit to all pairs, of which this estimator then has all attributes and methods. The anchors
    are training samples, so no score knows of the pair that a component is built around.

    Parameters
    ----------
    n_components : int, default=2
    mu_factors, gamma_factors : sequences of float, default=(0.25, 0.5, 1, 2, 4) and (1,)
        What to try, each of the one with each of the other. A factor of 1 is the paper's rule.
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
        Fits to make side by side. The results do not depend on it.
    verbose : int, default=0
        Above 0, each fit is logged at level INFO, otherwise DEBUG (logger `scca`).
    representation, anchors, kernel, kernel_params, center, normalize, algorithm, tol, max_iter, random_state :
        as for `SparseCCA`. Anchors given as indices count over all pairs; a fold uses those that it trains on. A
        precomputed kernel is split on both axes.

    Attributes
    ----------
    cv_results_ : dict of arrays
        A row for every pair of factors, as scikit-learn's searches have it (`pandas.DataFrame(model.cv_results_)`):
        `mu_factor`, `gamma_factor`, `params`, `split0_test_score` and so on, `mean_test_score`, `std_test_score`,
        `rank_test_score`.
    component_scores_ : ndarray of shape (n_rows, n_components)
        Mean held-out score of every row with the first component alone, the first two, and so on: projections are
        nested, so column j - 1 is what a model with j components scores.
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

    @_with_parameters_of(SparseCCA, without=("mu", "gamma"))
    def __init__(
        self,
        n_components=2,
        *,
        mu_factors=(0.25, 0.5, 1, 2, 4),
        gamma_factors=(1,),
        cv=5,
        scoring="retrieval",
        rule="best",
        **settings,
    ):
        super().__init__(n_components, mu="auto", gamma="auto", **settings)
        self.mu_factors = mu_factors
        self.gamma_factors = gamma_factors
        self.cv = cv
        self.scoring = scoring
        self.rule = rule

    def fit_with_progress(self, X, Y, progress: Callable[[int, int], None] | None = None):
        """`fit`, calling `progress(made, asked)` after every fit of the search."""
        self._check_settings()
        factors = [*product(_factors(self.mu_factors, "mu_factors"), _factors(self.gamma_factors, "gamma_factors"))]
        scoring = self._check_search()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the last fit, to all pairs, gives these
            *views, known = self._check_training(X, Y)
        checked = dict(zip("XY", views, strict=True))
        n_samples, n_components = checked["X"].shape[0], self._check_n_components(*checked.values())
        n_anchors = n_samples if self._anchors_are_samples else checked["Y"].shape[1]
        self._estimator()._anchor_strategy(n_anchors, n_components)  # refuses anchors that no fold could use
        folds = _folds(self.cv, n_samples)  # once: a splitter may draw others when asked again
        trials = [Trial(fold, *split, _params(*pair)) for pair in factors for fold, split in enumerate(folds)]
        scores = self._search(trials, checked, scoring, progress).reshape(len(factors), len(folds), n_components)

        self._remember(known)
        self.n_splits_ = len(folds)
        self.component_scores_ = scores.mean(axis=1)
        self.cv_results_ = _table(factors, scores[:, :, -1])
        self.best_index_ = self._choose()
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.mu_factor_, self.gamma_factor_ = factors[self.best_index_]

        refitted = self._estimator(**self.best_params_)
        refitted.fit(X, Y)
        self.__dict__.update({name: v for name, v in vars(refitted).items() if name not in refitted.get_params()})
        return self

    def _check_search(self) -> "Scoring":
        """The function that scores held-out pairs; an unknown scoring or rule is refused."""
        if self.rule not in _RULES:
            raise ValueError(f"rule must be {' or '.join(map(repr, _RULES))}; got {self.rule!r}.")
        if callable(self.scoring):
            return self.scoring
        if self.scoring not in _SCORINGS:
            names = ", ".join(map(repr, _SCORINGS))
            raise ValueError(f"scoring must be {names} or a function of the two views' scores; got {self.scoring!r}.")
        return _SCORINGS[self.scoring]

    def _search(self, trials: "list[Trial]", views: dict, scoring: "Scoring", progress) -> np.ndarray:
        """Held-out scores of every trial, with the first component, the first two, and so on."""
        level = logging.INFO if self.verbose else logging.DEBUG
        rows, warned = [], []
        work = (delayed(_held_out)(self._estimator_for(trial), views, trial, scoring) for trial in trials)
        done = Parallel(n_jobs=self.n_jobs, return_as="generator")(work)
        for trial, (scores, raised) in zip(trials, done, strict=True):
            logger.log(level, "%s: score %.4f", trial, scores[-1])
            rows.append(scores)
            warned += [(category, f"{trial}: {message}") for category, message in raised.items()]
            if progress is not None:
                progress(len(rows), len(trials))
        first = dict(reversed(warned))
        for category, count in Counter(category for category, _ in warned).items():
            message = f"{count} of {len(trials)} fits of the cross-validation warned; the first, {first[category]}"
            warnings.warn(message, category, stacklevel=4)
        return np.array(rows)

    def _estimator(self, **changed) -> SparseCCA:
        """A `SparseCCA` with the same settings; what is drawn at random starts from the same state in each."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in SparseCCA().get_params() if name in own}
        return clone(SparseCCA(**{**shared, **changed}))

    def _estimator_for(self, trial: "Trial") -> SparseCCA:
        anchors = self.anchors
        if self._anchors_are_samples and not (isinstance(anchors, str) or callable(anchors)):
            place = {sample: position for position, sample in enumerate(trial.train)}
            anchors = np.array([place[anchor] for anchor in anchors if anchor in place], dtype=np.intp)
        return self._estimator(**trial.params, anchors=anchors, n_jobs=None)

    def _choose(self) -> int:
        table = self.cv_results_
        best = int(table["mean_test_score"].argmax())
        slack = 0.0
        if self.rule == "one-standard-error":
            slack = table["std_test_score"][best] / np.sqrt(max(self.n_splits_ - 1, 1))
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


# --- one fit of the search --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trial:
    """One fold and one setting of the penalties."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    params: dict[str, str]

    def __str__(self):
        return f"fold {self.fold} with mu={self.params['mu']}, gamma={self.params['gamma']}"


def _held_out(model: SparseCCA, views: dict, trial: Trial, scoring: Scoring) -> tuple[list[float], dict]:
    """The scores of a trial with the first component, the first two, ..., and the first warning of each category.

    Where fewer components than asked exist, the last score counts for the rest.
    """
    try:
        with one_thread(), warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DataWarning)  # features may well be constant in a part of the data
            A, B = _fit_and_project(model, views, trial)
            scores = [_finite(scoring(A[:, :j], B[:, :j])) for j in range(1, A.shape[1] + 1)]
    except Exception as error:
        raise ValueError(f"{trial}: {error}") from error
    scores += [scores[-1]] * (model.n_components - len(scores))
    return scores, {warning.category: str(warning.message) for warning in reversed(raised)}


def _fit_and_project(model: SparseCCA, views: dict, trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    """The scores of the held-out pairs in both views, of a model fitted to the training pairs."""
    training, held_out = {}, {}
    diagonals: dict[str, np.ndarray | None] = {}
    for name, data in views.items():
        training[name], held_out[name], diagonals[name] = data[trial.train], data[trial.test], None
        if model._is_precomputed(name):
            training[name], held_out[name] = training[name][:, trial.train], held_out[name][:, trial.train]
            diagonals[name] = data.diagonal()[trial.test]
    model.fit(training["X"], training["Y"])
    return model.transform(held_out["X"], diagonals["X"]), model.transform_y(held_out["Y"], diagonals["Y"])


def _finite(score) -> float:
    score = float(score)
    if not np.isfinite(score):
        raise ValueError(f"scoring must give a finite number; got {score}.")
    return score


# --- what users hand in, and get --------------------------------------------------------------------------------------


def _factors(given, name: str) -> list[float]:
    try:
        factors = [float(factor) for factor in given]
    except (TypeError, ValueError):
        factors = []
    if not factors or not all(0 < factor < np.inf for factor in factors):
        raise ValueError(
            f"{name} must be one or more finite numbers greater than 0, factors of the automatic penalty; got "
            f"{given!r}: pass for example (0.5, 1, 2)."
        )
    return factors


def _folds(cv, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    samples = np.arange(n)
    try:
        folds = [(samples[train], samples[test]) for train, test in check_cv(cv).split(samples)]
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"cv={cv!r} cannot split n_samples={n} pairs ({error}); pass fewer folds.") from error
    smallest = min((len(test) for _, test in folds), default=0)
    if smallest < 2:
        raise ValueError(
            f"every fold of cv must hold out at least 2 pairs to tell mates from others; got {smallest} of "
            f"n_samples={n}: lower cv."
        )
    return folds


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
