"""One component: from matrices, an anchor and penalties to a certified solution."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from .._checks import Penalty, check_choice, check_count, check_flag, check_tolerance, warn
from .._data import check_matrix
from .._types import MatrixLike, PenaltyLike
from .._wording import any_setting
from ..parallel import blas_threads_for
from ..views import FeatureView, View, check_kernel_matrix, storage_of
from ._certified import Algorithm, Outcome, solve_certified
from ._greedy import Greedy
from ._problem import ComponentProblem, Design
from ._working_set import WorkingSet

__all__ = [
    "ALGORITHMS",
    "DEFAULT_MAX_ITER",
    "ComponentResult",
    "checked_problem",
    "finished",
    "no_view",
    "weights_on_samples",
    "solve_component",
    "solve_views",
    "warn_of_gap",
]

ALGORITHMS: dict[str, type[Algorithm]] = {"working-set": WorkingSet, "greedy": Greedy}
DEFAULT_MAX_ITER = 1000


@dataclass(frozen=True)
class ComponentResult:
    """The solution of one component's problem.

    Attributes
    ----------
    w : ndarray of shape (m,)
        Weights on the columns of X.
    e : ndarray of shape (n,) or None
        Weights on the samples of K, `e[k] == 1`; None if neither K nor k was given.
    objective : float
        The value reached, P.
    dual_gap : float
        P - D: the optimum lies between `objective - dual_gap` and `objective`.
    mu, gamma : float
        The penalties used, in the scale of the objective; gamma is inf if e was fixed at the anchor.
    n_iter : int
        Number of rounds of the solver.
    n_passes : int
        Number of products with all of X or of K.
    converged : bool
        Whether `dual_gap <= tol * ||y||^2`.
    """

    w: np.ndarray
    e: np.ndarray | None
    objective: float
    dual_gap: float
    mu: float
    gamma: float
    n_iter: int
    n_passes: int
    converged: bool

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything as arrays, for a checkpoint."""
        return {name: np.asarray(value) for name, value in vars(self).items() if value is not None}

    @classmethod
    def of_arrays(cls, stored: Mapping[str, np.ndarray]) -> "ComponentResult":
        plain: dict[str, Any] = {name: value if value.ndim else value.item() for name, value in stored.items()}
        return cls(**{"e": None} | plain)


def solve_component(
    X: MatrixLike,
    K: MatrixLike = None,
    k: int | None = None,
    *,
    mu: PenaltyLike = "auto",
    gamma: PenaltyLike = "auto",
    fit_dual: bool = True,
    y: ArrayLike | None = None,
    tol: float = 1e-6,
    max_iter: int = DEFAULT_MAX_ITER,
    algorithm: str = "working-set",
    w0: ArrayLike | None = None,
    e0: ArrayLike | None = None,
) -> ComponentResult:
    """Solve the convex problem of one component to a certified duality gap.

    Minimises, jointly over w and e,

        ||X w - K e||^2 + mu ||w||_1 + gamma sum_{i != k} e_i,    0 <= e <= 1,  e_k = 1,

    for exactly the given matrices: nothing is centred, scaled or deflated, and the answer is not rescaled.

    Parameters
    ----------
    X : {array, sparse matrix, LinearOperator} of shape (n, m)
        The primal view, one row per sample.
    K : {array, sparse matrix, LinearOperator} of shape (n, n), symmetric; or None
        The kernel matrix of the dual view. None requires `y` and `fit_dual=False`.
    k : int or None
        The anchor: the sample whose weight is fixed at 1.
    mu, gamma : "auto", "auto*FACTOR" or float
        "auto" is the paper's rule: mu = mean |2 X'y|, gamma = mean |2 K'y| with y = K[:, k]. A number is absolute, in
        the scale of the objective above. mu must be positive (with mu = 0 no scaled dual point is feasible; use for
        example "auto*1e-6" for least squares); gamma may be 0, and inf fixes e at the anchor.
    fit_dual : bool
        False fixes e at the anchor: the lasso min ||X w - y||^2 + mu ||w||_1 of Section 5.1.
    y : array of shape (n,) or None
        With `fit_dual=False`: the target, in place of K[:, k].
    tol : float
        The solver stops once P - D <= tol * ||y||^2, which is always computed in float64.
    max_iter : int
        Maximum number of rounds; stopping before `tol` is reached warns.
    algorithm : {"working-set", "greedy"}
        The fast solver, or the paper's Algorithms 1 to 3.
    w0, e0 : arrays or None
        Starting point, for example the solution at nearby penalties.

    Returns
    -------
    ComponentResult

    Examples
    --------
    >>> import numpy as np, scca
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(20, 50)), rng.normal(size=(20, 8))
    >>> answer = scca.solve_component(X, Y @ Y.T, 3)
    >>> answer.converged, float(answer.e[3])
    (True, 1.0)
    """
    check_flag(fit_dual, "fit_dual")
    w_view, e_view, k, y = checked_problem(X, K, k, y, fit_dual)
    n, m = w_view.shape
    return solve_views(
        w_view,
        e_view,
        k,
        y,
        mu=Penalty.parse(mu, "mu", zero_allowed=False),
        gamma=Penalty.parse(gamma if fit_dual else np.inf, "gamma", zero_allowed=True),
        tol=check_tolerance(tol),
        max_iter=check_count(max_iter, "max_iter"),
        algorithm=algorithm,
        w0=None if w0 is None else _check_vector(w0, "w0", m),
        e0=None if e0 is None else _check_vector(e0, "e0", n),
    )


def checked_problem(
    X: MatrixLike, K: MatrixLike, k: int | None, y: Any, fit_dual: bool
) -> tuple[View, View, int | None, np.ndarray]:
    """The checked input: the view with weights w, the view with weights e, the anchor and the target y."""
    X = X if isinstance(X, LinearOperator) else check_matrix(X, "X")
    n = X.shape[0]
    w_view, e_view = FeatureView(storage_of(X)), _dual_view(K, n)
    k = None if k is None else _check_anchor(k, n)
    if y is not None:
        if fit_dual:
            raise ValueError("y replaces K[:, k] only if e is fixed; pass fit_dual=False with y.")
        y = _check_vector(y, "y", n)
    elif K is None or k is None:
        raise ValueError("a component needs K and k, or y with fit_dual=False; pass one of the two.")
    else:
        y = e_view.columns(np.array([k]))[:, 0]
    return w_view, e_view, k, y


def solve_views(
    w_view: View,
    e_view: View,
    anchor: int | None,
    y: np.ndarray,
    *,
    mu: Penalty,
    gamma: Penalty,
    tol: float,
    max_iter: int,
    algorithm: str,
    w0: np.ndarray | None = None,
    e0: np.ndarray | None = None,
) -> ComponentResult:
    """`solve_component` on checked views; gamma = inf fixes e at the anchor, as any large enough gamma does."""
    check_choice(algorithm, "algorithm", tuple(ALGORITHMS))
    held = gamma.value == np.inf
    few_threads = blas_threads_for(w_view.n_stored, e_view.n_stored)
    with few_threads, np.errstate(over="ignore", invalid="ignore"):  # `finished` reports overflow
        design = Design(w_view, no_view(len(y)) if held else e_view, y, anchor)
        problem = ComponentProblem(
            design,
            mu.resolve(lambda: design.split(design.correlations_of_y)[0]),
            np.inf if held else gamma.resolve(lambda: design.split(design.correlations_of_y)[1]),
        )
        start = problem.coordinates(w0, e0) if design.square > 0 else np.zeros(design.size)
        outcome = solve_certified(ALGORITHMS[algorithm](problem, tol * design.square), start, max_iter)
    return finished(problem, outcome, weights_on_samples(e_view, design, outcome.z), tol, max_iter)


def weights_on_samples(e_view: View, design: Design, z: np.ndarray) -> np.ndarray | None:
    """e including its anchor, on the columns of `e_view` even if the design fixes e; None without an anchor."""
    if design.anchor is None:
        return None
    e = np.zeros(e_view.shape[1] or len(design.y))
    e[: design.n_e] = design.split(z)[1]
    e[design.anchor] = 1.0
    return e


def finished(
    problem: ComponentProblem, outcome: Outcome, e: np.ndarray | None, tol: float, max_iter: int, passes_before: int = 0
) -> ComponentResult:
    """The result of an outcome: overflow is an error, and stopping before `tol` is reached is a warning."""
    design = problem.design
    square = design.square
    if not (np.isfinite(outcome.objective) and np.isfinite(outcome.gap) and np.isfinite(outcome.z).all()):
        raise ValueError(
            f"the objective overflowed float64 (||y||^2 is {square:.3g}); rescale X and K, for example to unit norm."
        )
    if not outcome.converged:
        warn_of_gap(outcome.gap / square, tol, outcome.n_iter, max_iter)
    return ComponentResult(
        w=design.split(outcome.z)[0].copy(),
        e=e,
        objective=outcome.objective,
        dual_gap=outcome.gap,
        mu=problem.mu,
        gamma=problem.gamma,
        n_iter=outcome.n_iter,
        n_passes=design.n_passes - passes_before,
        converged=outcome.converged,
    )


def warn_of_gap(gap: float, tol: float, n_iter: int, max_iter: int) -> None:
    """Warn that a solver stopped before its relative gap was at most `tol`."""
    from sklearn.exceptions import ConvergenceWarning  # imported late: it loads all of scikit-learn

    short = n_iter == max_iter
    names = any_setting("max_iter", "tol", "mu") if short else any_setting("tol", "mu")
    remedy = f"raise {names}" if short else f"rounding error prevents a smaller gap: raise {names}"
    warn(
        f"stopped after {n_iter} iterations at a relative duality gap of {gap:.2g}, above the required {tol:.2g}; "
        f"{remedy}.",
        ConvergenceWarning,
    )


def _dual_view(K: MatrixLike, n: int) -> View:
    """The kernel matrix as a view, unchanged; a view without columns if there is none."""
    if K is None:
        return no_view(n)
    if isinstance(K, LinearOperator):
        if K.shape != (n, n):
            raise ValueError(f"K must have shape ({n}, {n}), one row and column per sample of X; got {K.shape}.")
    else:
        K = check_kernel_matrix(check_matrix(K, "K"), "K")
        if K.shape[0] != n:
            raise ValueError(f"K must have one row and column for each of the {n} samples of X; got shape {K.shape}.")
    return FeatureView(storage_of(K, symmetric=True))


def no_view(n: int) -> View:
    """A view without columns: there is no e to solve for."""
    return FeatureView(storage_of(np.empty((n, 0))))


def _check_anchor(k: Any, n: int) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k < n:
        raise ValueError(f"k must be an integer from 0 to {n - 1}, the index of a sample; got {k!r}.")
    return int(k)


def _check_vector(values: Any, name: str, length: int) -> np.ndarray:
    values = np.asarray(values)
    if values.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},); got {values.shape}.")
    return check_matrix(values[:, None], name)[:, 0].astype(np.float64)
