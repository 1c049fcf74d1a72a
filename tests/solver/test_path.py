"""The exact path of the lasso, against single solves and scikit-learn's own path."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import lasso_dual_bound
from sklearn.linear_model import lars_path

from scca import solve_component
from scca.solver import Penalty, solve_path
from scca.views import FeatureView, storage_of


def path(X, y, mus, tol=1e-9):
    return solve_path(FeatureView(storage_of(X)), y, [Penalty(value=mu) for mu in mus], tol=tol, max_iter=1000)


def problem(seed, n=40, m=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.5)
    return X, X[:, :5] @ rng.standard_normal(5) + rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("store", [np.asarray, sp.csc_array])
def test_exact_at_every_penalty_without_further_rounds(seed, store):
    X, y = problem(seed)
    mus = np.geomspace(2 * np.abs(X.T @ y).max(), 1e-3, 60)
    results = path(store(X), y, mus)
    assert [result.n_iter for result in results] == [0] * 60  # the path alone leads to the optimum
    for mu, result in zip(mus, results, strict=True):
        objective = np.sum((y - X @ result.w) ** 2) + mu * np.abs(result.w).sum()
        assert objective - lasso_dual_bound(X, y, result.w, mu) <= 2e-9 * (y @ y)


def test_equals_scikit_learns_path():
    X, y = problem(7, n=30, m=50)
    alphas, _, coefficients = lars_path(X, y, method="lasso")
    mus = 2 * len(y) * alphas[1:-1]  # its objective is 1/(2n) ||.||^2 + alpha |w|_1
    for result, expected in zip(path(X, y, mus), coefficients.T[1:-1], strict=True):
        np.testing.assert_allclose(result.w, expected, atol=1e-7)


def test_order_of_penalties_is_kept():
    X, y = problem(1)
    mus = [0.5, 20.0, 3.0, 0.1, 7.0]
    results = path(X, y, mus)
    assert [result.mu for result in results] == mus
    for result in results:
        alone = solve_component(X, y=y, fit_dual=False, mu=result.mu, tol=1e-9)
        assert result.objective == pytest.approx(alone.objective, abs=2e-9 * (y @ y))


def test_copies_and_dependent_columns():
    """Columns given twice, turned round, scaled, and sums of others: still certified all the way."""
    X, y = problem(2, n=20, m=12)
    X = np.hstack([X, X, -X, 0.5 * X, X[:, :4] + X[:, 4:8], np.zeros((20, 2))])
    mus = np.geomspace(2 * np.abs(X.T @ y).max(), 1e-2, 40)
    for mu, result in zip(mus, path(X, y, mus), strict=True):
        assert result.converged
        objective = np.sum((y - X @ result.w) ** 2) + mu * np.abs(result.w).sum()
        assert objective - lasso_dual_bound(X, y, result.w, mu) <= 2e-9 * (y @ y)


def test_target_orthogonal_to_everything():
    X = np.vstack([np.eye(3), np.zeros((2, 3))])
    results = path(X, np.array([0.0, 0, 0, 1, 2]), [1.0, 0.5, 0.1, 0.01])
    assert not any(result.w.any() for result in results)
    assert all(result.converged for result in results)
