"""One component at many penalties: the exact path of the lasso, and warm starts where e is sought too."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import automatic, dual_bound, lasso_dual_bound
from sklearn.linear_model import lars_path

from scca import component_path, solve_component
from scca._checks import Penalty
from scca.solver import solve_path
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


def two_views(seed, n=30, m=60, rank=10):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 3))
    X = shared @ rng.standard_normal((3, m)) + rng.standard_normal((n, m))
    Y = shared @ rng.standard_normal((3, rank)) + rng.standard_normal((n, rank))
    X, Y = X - X.mean(0), Y - Y.mean(0)
    return X, Y @ Y.T / rank, int(rng.integers(n))


class TestComponentPath:
    MUS = tuple(f"auto*{factor}" for factor in np.geomspace(0.1, 4, 12))  # upwards: the order is the caller's

    @pytest.mark.parametrize("gammas", ["auto", "auto*0.1", 0.0, [f"auto*{f}" for f in np.geomspace(2, 0.05, 12)]])
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("seed", range(3))
    def test_every_point_is_the_answer_there(self, seed, store, gammas):
        X, K, k = two_views(seed)
        square = K[:, k] @ K[:, k]
        each = gammas if isinstance(gammas, list) else [gammas] * 12
        path = component_path(store(X), K, k, mus=self.MUS, gammas=gammas, tol=1e-8)
        alone = [
            solve_component(store(X), K, k, mu=mu, gamma=g, tol=1e-8) for mu, g in zip(self.MUS, each, strict=True)
        ]
        for point, answer in zip(path, alone, strict=True):
            assert (point.mu, point.gamma) == (answer.mu, answer.gamma)
            assert abs(point.objective - answer.objective) <= max(point.dual_gap, answer.dual_gap) + 1e-13 * square
            bound = dual_bound(X, K, point.w, point.e, k, point.mu, point.gamma)
            assert point.converged
            assert point.objective - bound <= 1.01e-8 * square
            assert point.e[k] == 1
        assert sum(point.n_passes for point in path) < sum(answer.n_passes for answer in alone)

    def test_held_dual_is_the_lasso(self):
        X, K, k = two_views(0)
        for mus in (self.MUS, self.MUS[:2]):  # along the exact path, and one by one
            path = component_path(X, K, k, mus=mus, fit_dual=False, tol=1e-9)
            for point, mu in zip(path, mus, strict=True):
                answer = solve_component(X, K, k, mu=mu, fit_dual=False, tol=1e-9)
                assert point.objective == pytest.approx(answer.objective, abs=1e-9 * (K[:, k] @ K[:, k]))
                assert point.gamma == np.inf
                np.testing.assert_array_equal(point.e, answer.e)
        target = component_path(X, y=K[:, k], mus=self.MUS, fit_dual=False, tol=1e-9)
        np.testing.assert_array_equal(target[0].w, component_path(X, K, k, mus=self.MUS, fit_dual=False, tol=1e-9)[0].w)
        assert target[0].e is None

    def test_large_gamma_is_the_held_dual(self):
        X, K, k = two_views(1)
        held = component_path(X, K, k, mus=self.MUS, fit_dual=False, tol=1e-9)
        free = component_path(X, K, k, mus=self.MUS, gammas=1e6 * automatic(X, K, k)[1], tol=1e-9)
        for one, other in zip(held, free, strict=True):
            assert one.objective == pytest.approx(other.objective, abs=2e-9 * (K[:, k] @ K[:, k]))

    def test_automatic_mu_of_an_orthogonal_view_holds_w(self):
        """X is orthogonal to the anchor's column, so "auto" is 0, which stands for w = 0; a number still counts."""
        X = np.array([[0.0], [1], [2]])
        K = np.array([[1.0, 0, 0], [0, 2, 1], [0, 1, 2]])
        path = component_path(X, K, 0, mus=["auto", 0.5], gammas=0.1)
        assert [point.mu for point in path] == [0, 0.5]
        assert not path[0].w.any()
        assert all(point.converged for point in path)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"mus": []}, r"mus must be a sequence of one or more penalties; got \[\]"),
            ({"mus": "auto"}, "mus must be a sequence of one or more penalties; got 'auto'"),
            ({"mus": [1.0, 0]}, "each of mus must be .* greater than 0"),
            ({"mus": [1.0, 2.0], "gammas": [1.0]}, "gammas must be one penalty or as many as mus, 2; got 1"),
            ({"mus": [1.0], "gammas": [np.inf]}, "gammas must be finite; got inf: pass fit_dual=False"),
            ({"mus": [1.0], "tol": 2}, "tol must be"),
        ],
    )
    def test_bad_input(self, settings, message):
        X, K, k = two_views(0)
        with pytest.raises(ValueError, match=message):
            component_path(X, K, k, **settings)
