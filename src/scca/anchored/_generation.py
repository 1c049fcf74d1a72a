"""Section 5.1: for a query in view Y, the sparse sample of view X that matches it best."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, lsqr

from .._checks import Penalty, check_count, check_tolerance
from .._data import check_matrix, check_same_samples
from .._types import MatrixLike, PenaltyLike
from ..solver import DEFAULT_MAX_ITER, ComponentResult, solve_path
from ..views import Preparation, Scale

__all__ = ["Generated", "Generator"]

_LSQR_TOLERANCE = 1e-8  # relative residual at which `least_squares` stops


@dataclass(frozen=True)
class Generated:
    """A generated sample.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Mostly zeros; positive if a feature is above its mean, negative if below.
    mu, objective, dual_gap : float
        The penalty, the value reached, and its largest possible (absolute) distance from the optimum.
    converged : bool
    n_passes : int
        Number of products with all of the training data.
    """

    weights: np.ndarray
    mu: float
    objective: float
    dual_gap: float
    converged: bool
    n_passes: int

    @property
    def n_selected(self) -> int:
        """Number of features with a weight."""
        return int(np.count_nonzero(self.weights))


class Generator:
    """Generates sparse samples of the view X for queries in the view Y, from paired training samples.

    For a query q it solves the lasso

        min over w of  ||X w - k||^2 + mu ||w||_1,    k = the inner products of q with the training samples of Y,

    with all samples centred by the training means and scaled to unit norm. The automatic mu is the paper's,
    mean |2 X'k|.

    Parameters
    ----------
    X, Y : {array, sparse matrix} of shape (n_samples, n_features)
        Training pairs.
    center : bool, default=True
    scale : {"columns", "rows", "both"} or None, default="rows"
    x_preparation, y_preparation : scca.views.Preparation, optional
        Replace `center` and `scale`: those of a fitted model (`x_preparation_`, `y_preparation_`) apply its feature
        weights here too, and leave out features that it does not read.
    tol : float, default=1e-6
        Duality gap to reach, relative to ||k||^2.
    max_iter : int, default=1000
    """

    def __init__(
        self,
        X: MatrixLike,
        Y: MatrixLike,
        *,
        center: bool = True,
        scale: Scale = "rows",
        x_preparation: Preparation | None = None,
        y_preparation: Preparation | None = None,
        tol: float = 1e-6,
        max_iter: int = DEFAULT_MAX_ITER,
    ):
        X, Y = check_matrix(X, "X"), check_matrix(Y, "Y")
        check_same_samples(X, Y)
        self._tol, self._max_iter = check_tolerance(tol), check_count(max_iter, "max_iter")
        prepare = partial(Preparation.fit, center=center, scale=scale)
        self._x_view = (x_preparation or prepare(X)).transform(X)
        self._y_preparation = y_preparation or prepare(Y)
        self._y_view = self._y_preparation.transform(Y)

    def generate(self, queries: MatrixLike, mu: PenaltyLike = "auto") -> list[Generated]:
        """One sparse sample per query, a row of `queries` in the features of Y."""
        return [path[0] for path in (self._path(k, [mu]) for k in self._similarities(queries))]

    def path(self, query: MatrixLike, mus: Sequence[PenaltyLike]) -> list[Generated]:
        """The samples generated for one query (a single row) at every mu of `mus`; not much slower than for one mu."""
        similarities = self._similarities(query)
        if len(similarities) != 1:
            raise ValueError(f"query must be a single row; got {len(similarities)}.")
        return self._path(similarities[0], mus)

    def least_squares(self, queries: MatrixLike) -> np.ndarray:
        """The non-sparse counterpart, one row per query: the minimum-norm w that minimises ||X w - k||^2."""
        view = self._x_view
        operator = LinearOperator(view.shape, matvec=view.matvec, rmatvec=view.rmatvec, dtype=np.float64)
        solved = (lsqr(operator, k, atol=_LSQR_TOLERANCE, btol=_LSQR_TOLERANCE) for k in self._similarities(queries))
        return np.array([solution[0] for solution in solved])

    def _similarities(self, queries: MatrixLike) -> np.ndarray:
        """k for every query, centred and scaled like the training samples."""
        queries = check_matrix(queries, "queries")
        if queries.shape[1] != self._y_view.shape[1]:
            raise ValueError(f"queries must have the {self._y_view.shape[1]} features of Y; got {queries.shape[1]}.")
        return self._y_view.similarities(self._y_preparation.transform(queries))

    def _path(self, k: np.ndarray, mus: Sequence[Any]) -> list[Generated]:
        penalties = [Penalty.parse(mu, "mu", zero_allowed=False) for mu in mus]
        results = solve_path(self._x_view, k, penalties, tol=self._tol, max_iter=self._max_iter)
        return [_generated(result) for result in results]


def _generated(result: ComponentResult) -> Generated:
    return Generated(result.w, result.mu, result.objective, result.dual_gap, result.converged, result.n_passes)
