"""One component: the optimum, its certificate, its limits and its edges."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import automatic, clarabel_optimum, dual_bound, kkt_violation, lasso_dual_bound, objective
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from scca import solve_component
from scca._checks import Penalty
from scca.solver import solve_views
from scca.views import FeatureView, LinearKernelView, storage_of
from scca.views._storage import DenseStorage

ALGORITHMS = ["working-set", "greedy"]


def random_problem(seed, n=12, m=20, rank=8):
    """A correlated pair: X, and a kernel of rank `rank` that shares factors with it."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, 3))
    X = shared @ rng.standard_normal((3, m)) + rng.standard_normal((n, m))
    Y = shared @ rng.standard_normal((3, rank)) + rng.standard_normal((n, rank))
    X, Y = X - X.mean(0), Y - Y.mean(0)
    return X, Y @ Y.T / rank, int(rng.integers(n))


def sparse_problem(seed, n=30, m=40):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, m), density=0.2, random_state=rng, data_sampler=rng.standard_normal)
    Y = sp.random_array((n, m), density=0.2, random_state=rng, data_sampler=rng.standard_normal)
    return sp.csr_array(X), (Y @ Y.T).toarray(), int(rng.integers(n))


class TestOptimum:
    @pytest.mark.parametrize("factors", [(1, 1), (0.1, 1), (1, 0.1), (0.05, 0.05), (2, 3)])
    @pytest.mark.parametrize("seed", range(6))
    def test_equals_clarabel(self, seed, factors):
        X, K, k = random_problem(seed, n=8 + 3 * seed, m=5 + 9 * seed)
        mu, gamma = np.multiply(automatic(X, K, k), factors)
        answer = solve_component(X, K, k, mu=mu, gamma=gamma, tol=1e-9)
        square = K[:, k] @ K[:, k]
        # Clarabel stops at 1e-10 relative; we are certified to 1e-9
        assert answer.objective == pytest.approx(clarabel_optimum(X, K, k, mu, gamma), abs=3e-9 * square)
        assert answer.objective == pytest.approx(objective(X, K, answer.w, answer.e, k, mu, gamma), rel=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_equals_clarabel_on_sparse_views(self, seed):
        X, K, k = sparse_problem(seed)
        answer = solve_component(X, K, k, mu="auto*0.5", gamma="auto*0.5", tol=1e-9)
        optimum = clarabel_optimum(X.toarray(), K, k, answer.mu, answer.gamma)
        assert answer.objective == pytest.approx(optimum, abs=3e-9 * (K[:, k] @ K[:, k]))

    @pytest.mark.parametrize("seed", range(3))
    def test_held_dual_equals_clarabel(self, seed):
        X, K, k = random_problem(seed)
        answer = solve_component(X, K, k, fit_dual=False, tol=1e-9)
        optimum = clarabel_optimum(X, K, k, answer.mu, 0.0, fit_dual=False)
        assert answer.objective == pytest.approx(optimum, abs=3e-9 * (K[:, k] @ K[:, k]))
        assert answer.e[k] == 1
        assert np.count_nonzero(answer.e) == 1

    def test_box_is_reached(self):
        """An anchor larger than the others drives some e to 1, the upper end, where the condition turns around."""
        X, K, k = random_problem(3, n=15, m=4)
        scale = np.where(np.arange(15) == k, 6.0, 1.0)
        K = K * np.outer(scale, scale)
        gamma = automatic(X, K, k)[1] * 1e-3
        answer = solve_component(X, K, k, gamma=gamma, tol=1e-12)
        assert np.count_nonzero(np.delete(answer.e, k) == 1) > 0
        assert kkt_violation(X, K, answer.w, answer.e, k, answer.mu, gamma) < 1e-6 * answer.mu
        optimum = clarabel_optimum(X, K, k, answer.mu, gamma)
        assert answer.objective == pytest.approx(optimum, abs=1e-8 * (K[:, k] @ K[:, k]))


class TestCertificate:
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    @pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-9])
    @pytest.mark.parametrize("seed", range(3))
    def test_gap_recomputed(self, seed, tol, algorithm):
        X, K, k = random_problem(seed)
        answer = solve_component(X, K, k, mu="auto*0.3", tol=tol, algorithm=algorithm)
        square = K[:, k] @ K[:, k]
        gap = answer.objective - dual_bound(X, K, answer.w, answer.e, k, answer.mu, answer.gamma)
        assert answer.converged
        assert answer.dual_gap + 1e-13 * square >= 0
        assert answer.dual_gap <= tol * square
        # the solver may keep a better bound from an earlier round, never a worse one
        assert answer.dual_gap <= gap + 1e-12 * square

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_optimality_conditions(self, algorithm):
        X, K, k = random_problem(1, n=15, m=30)
        answer = solve_component(X, K, k, mu="auto*0.5", gamma="auto*0.3", tol=1e-12, algorithm=algorithm)
        # the gap bounds the error of the residual by sqrt(gap): conditions hold to sqrt(tol) times the data's norm
        allowed = 2 * np.sqrt(1e-12 * (K[:, k] @ K[:, k])) * np.linalg.norm(np.hstack([X, K]), 2)
        assert kkt_violation(X, K, answer.w, answer.e, k, answer.mu, answer.gamma) < allowed
        assert answer.e[k] == 1
        assert (answer.e >= 0).all()
        assert (answer.e <= 1).all()

    def test_bound_holds_for_every_earlier_stop(self):
        """Weak duality at each round: no bound along the way lies above the optimum."""
        X, K, k = random_problem(2, n=40, m=300)
        optimum = solve_component(X, K, k, mu="auto*0.1", tol=1e-12).objective
        for rounds in range(1, 5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                early = solve_component(X, K, k, mu="auto*0.1", tol=1e-12, max_iter=rounds)
            assert early.objective - early.dual_gap <= optimum * (1 + 1e-12)
            assert early.objective >= optimum * (1 - 1e-12)

    def test_float32_is_certified_in_float64(self):
        X, K, k = random_problem(4)
        X32, K32 = X.astype(np.float32), K.astype(np.float32)
        answer = solve_component(X32, K32, k, tol=1e-10)
        X64, K64 = X32.astype(float), K32.astype(float)
        gap = answer.objective - dual_bound(X64, K64, answer.w, answer.e, k, answer.mu, answer.gamma)
        assert gap <= 1e-9 * (K64[:, k] @ K64[:, k])
        assert answer.converged

    def test_stopping_short_warns_with_the_numbers(self):
        X, K, k = random_problem(0, n=40, m=400)
        with pytest.warns(
            ConvergenceWarning, match=r"after 1 iterations .* above the required 1e-10; raise max_iter, tol or mu"
        ):
            answer = solve_component(X, K, k, mu="auto*0.05", tol=1e-10, max_iter=1)
        assert not answer.converged
        assert answer.dual_gap > 1e-10 * (K[:, k] @ K[:, k])

    def test_rounding_error_is_named_where_it_stops_the_solver(self):
        rng = np.random.default_rng(189)
        Y = rng.standard_normal((25, 52)) * 10.0 ** rng.integers(-4, 4, (25, 1))
        X = rng.standard_normal((25, 73))
        with pytest.warns(ConvergenceWarning, match="rounding error prevents a smaller gap: raise tol"):
            answer = solve_component(X, Y @ Y.T, int(np.argmin(np.sum(Y**2, axis=1))), mu="auto*0.1", tol=1e-16)
        assert answer.n_iter < 100


class TestGreedy:
    @pytest.mark.parametrize("seed", range(5))
    def test_reaches_the_same_optimum(self, seed):
        X, K, k = random_problem(seed, n=15, m=25)
        fast = solve_component(X, K, k, mu="auto*0.5", gamma="auto*0.5", tol=1e-8)
        greedy = solve_component(X, K, k, mu="auto*0.5", gamma="auto*0.5", tol=1e-8, algorithm="greedy")
        assert greedy.converged
        assert greedy.objective == pytest.approx(fast.objective, abs=2e-8 * (K[:, k] @ K[:, k]))

    def test_on_sparse_views_and_held_dual(self):
        X, K, k = sparse_problem(1)
        for settings in ({}, {"fit_dual": False}):
            fast, greedy = (solve_component(X, K, k, tol=1e-8, algorithm=a, **settings) for a in ALGORITHMS)
            assert greedy.objective == pytest.approx(fast.objective, abs=2e-8 * (K[:, k] @ K[:, k]))


class TestStorage:
    """The same problem, however it is stored, has the same answer."""

    @pytest.mark.parametrize(
        "store",
        [
            sp.csr_matrix,
            sp.csc_array,
            sp.coo_array,
            np.asfortranarray,
            aslinearoperator,
            lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        ],
    )
    def test_any_storage(self, store):
        X, K, k = random_problem(5)
        reference = solve_component(X, K, k, tol=1e-10)
        answer = solve_component(store(X), store(K), k, tol=1e-10)
        np.testing.assert_allclose(answer.w, reference.w, atol=1e-6 * np.abs(reference.w).max())
        np.testing.assert_allclose(answer.e, reference.e, atol=1e-6)
        assert answer.mu == pytest.approx(reference.mu, rel=1e-12)

    def test_sparse_with_duplicate_entries(self):
        rows, columns, values = [0, 0, 1, 2, 3, 3], [0, 0, 1, 2, 0, 1], [1.0, 2.0, 1.0, -1.0, 2.0, 1.0]
        X = sp.coo_array((values, (rows, columns)), shape=(4, 3))
        doubled = sp.csr_array((np.array(values), np.array(columns), np.array([0, 2, 3, 4, 6])), shape=(4, 3))
        assert not doubled.has_canonical_format
        K = np.eye(4) + 0.5
        answer = solve_component(doubled, K, 0, fit_dual=False)
        assert doubled.nnz == 6
        np.testing.assert_allclose(answer.w, solve_component(X.toarray(), K, 0, fit_dual=False).w, atol=1e-8)

    def test_input_is_left_alone(self):
        X, K, k = random_problem(6)
        for array in (X, K):
            array.setflags(write=False)
        before = X.copy(), K.copy()
        for algorithm in ALGORITHMS:
            solve_component(X, K, k, algorithm=algorithm)
        assert np.array_equal(X, before[0])
        assert np.array_equal(K, before[1])

    def test_memory_mapped(self, tmp_path):
        X, K, k = random_problem(7)
        np.save(tmp_path / "X.npy", X)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert solve_component(mapped, K, k).objective == solve_component(X, K, k).objective


class TestPenalties:
    def test_automatic_values_are_the_papers(self):
        X, K, k = random_problem(0)
        answer = solve_component(X, K, k)
        assert (answer.mu, answer.gamma) == pytest.approx(automatic(X, K, k), rel=1e-12)

    def test_mean_runs_over_empty_columns_too(self):
        X, K, k = random_problem(0)
        padded = np.hstack([X, np.zeros_like(X)])
        assert solve_component(padded, K, k).mu == pytest.approx(solve_component(X, K, k).mu / 2, rel=1e-12)

    def test_factor(self):
        X, K, k = random_problem(0)
        mu, gamma = automatic(X, K, k)
        answer = solve_component(X, K, k, mu="auto*0.25", gamma="auto * 3")
        assert (answer.mu, answer.gamma) == pytest.approx((mu / 4, gamma * 3), rel=1e-12)

    @pytest.mark.parametrize("value", [0, -1.0, np.nan, "automatic", "auto*", "auto*-1", "auto*x", None, True, "0.5"])
    def test_bad_mu(self, value):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match=r"^mu must be .*; got "):
            solve_component(X, K, k, mu=value)

    def test_bad_gamma(self):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match=r"gamma must be .* a number at least 0; got -0.5"):
            solve_component(X, K, k, gamma=-0.5)

    def test_zero_gamma_is_solved(self):
        X, K, k = random_problem(2)
        answer = solve_component(X, K, k, gamma=0.0, tol=1e-8)
        optimum = clarabel_optimum(X, K, k, answer.mu, 0.0)
        assert answer.converged
        assert answer.objective == pytest.approx(optimum, abs=2e-8 * (K[:, k] @ K[:, k]))

    def test_equivariant_to_scaling_either_view(self):
        X, K, k = random_problem(3)
        base = solve_component(X, K, k, tol=1e-12)
        scaled = solve_component(7 * X, 0.1 * K, k, tol=1e-12)
        np.testing.assert_allclose(scaled.w, base.w * 0.1 / 7, atol=1e-8)
        np.testing.assert_allclose(scaled.e, base.e, atol=1e-8)


class TestLimits:
    def test_large_gamma_is_held_dual(self):
        X, K, k = random_problem(4)
        gamma = 1e3 * automatic(X, K, k)[1]
        large = solve_component(X, K, k, gamma=gamma, tol=1e-10)
        held = solve_component(X, K, k, fit_dual=False, tol=1e-10)
        infinite = solve_component(X, K, k, gamma=np.inf, tol=1e-10)
        np.testing.assert_allclose(large.w, held.w, atol=1e-7)
        assert np.count_nonzero(large.e) == 1
        assert infinite.objective == held.objective
        assert held.gamma == np.inf

    def test_vanishing_mu_is_least_squares_with_quadratic_excess(self):
        X, K, k = random_problem(5, n=40, m=6)
        y = K[:, k]
        best = np.sum((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2)
        excess = []
        for factor in (1e-2, 1e-3):
            w = solve_component(X, None, None, y=y, fit_dual=False, mu=f"auto*{factor}", tol=1e-13).w
            excess.append(np.sum((y - X @ w) ** 2) - best)
        assert 0 <= excess[1] < excess[0]
        assert excess[0] / excess[1] == pytest.approx(100, rel=0.01)

    def test_one_column_second_view_gives_the_canonical_correlation(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((50, 4))
        X -= X.mean(0)
        y = X @ [1, -2, 0.5, 0] + rng.standard_normal(50)
        y -= y.mean()
        w = solve_component(X, np.outer(y, y), 0, fit_dual=False, mu="auto*1e-6", tol=1e-14).w
        fitted = X @ w
        cosine = abs(fitted @ y) / np.linalg.norm(fitted) / np.linalg.norm(y)
        multiple = np.sqrt(1 - np.sum((y - X @ np.linalg.lstsq(X, y, rcond=None)[0]) ** 2) / (y @ y))
        assert cosine == pytest.approx(multiple, rel=1e-9)

    def test_collapse_as_gamma_vanishes(self):
        """On a centred kernel e = (1, ..., 1) costs only gamma (n - 1), so K e and w vanish with gamma: this limit is
        not classical CCA, which would keep ||K e|| = 1.
        """
        X, K, k = random_problem(6, n=20, m=5)
        assert np.abs(K.sum(axis=0)).max() < 1e-12
        sizes = []
        for factor in (1.0, 1e-2, 1e-4, 1e-6):
            answer = solve_component(X, K, k, gamma=f"auto*{factor}", tol=1e-12)
            ceiling = answer.gamma * (len(K) - 1)
            assert answer.objective <= ceiling
            assert answer.mu * np.abs(answer.w).sum() <= ceiling
            sizes.append(np.linalg.norm(K @ answer.e))
        assert sizes[0] > sizes[1] > sizes[2] > sizes[3]
        assert sizes[3] < 1e-2 * sizes[0]


class TestEdges:
    def test_zero_columns_get_no_weight(self):
        X, K, k = random_problem(0)
        X[:, ::3] = 0
        answer = solve_component(X, K, k, mu="auto*0.1")
        assert answer.converged
        assert not answer.w[::3].any()

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_duplicated_columns(self, algorithm):
        X, K, k = random_problem(1)
        mu, gamma = automatic(X, K, k)
        single = solve_component(X, K, k, mu=0.3 * mu, gamma=gamma, tol=1e-8)
        double = solve_component(np.hstack([X, X]), K, k, mu=0.3 * mu, gamma=gamma, tol=1e-8, algorithm=algorithm)
        assert double.converged
        assert double.objective == pytest.approx(single.objective, abs=2e-8 * (K[:, k] @ K[:, k]))

    def test_zero_kernel_column_elsewhere(self):
        X, K, k = random_problem(2)
        other = (k + 1) % len(K)
        K[other] = K[:, other] = 0
        answer = solve_component(X, K, k, gamma="auto*0.01")
        assert answer.converged
        assert answer.e[other] == 0

    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_zero_anchor_column(self, algorithm):
        X, K, k = random_problem(2)
        K[k] = K[:, k] = 0
        answer = solve_component(X, K, k, algorithm=algorithm)
        assert answer.converged
        assert answer.objective == answer.dual_gap == 0
        assert not answer.w.any()

    def test_orthogonal_views_give_an_empty_component(self):
        X = np.array([[1.0], [-1.0], [0.0], [0.0]])
        K = np.outer([0, 0, 1, -1], [0, 0, 1, -1]).astype(float)
        answer = solve_component(X, K, 2)
        assert answer.mu == 0
        assert answer.w[0] == 0
        assert answer.converged

    def test_one_feature_is_always_empty_at_the_automatic_mu(self):
        X, K, k = random_problem(3, m=1)
        answer = solve_component(X, K, k)
        assert answer.w[0] == 0
        assert answer.converged

    def test_warm_start_at_the_answer_needs_no_rounds(self):
        X, K, k = random_problem(4, n=30, m=100)
        answer = solve_component(X, K, k, mu="auto*0.2")
        again = solve_component(X, K, k, mu="auto*0.2", w0=answer.w, e0=answer.e)
        assert again.n_iter == 0
        assert again.objective == pytest.approx(answer.objective, rel=1e-12)

    def test_warm_start_from_nonsense_is_as_good(self):
        X, K, k = random_problem(4)
        rng = np.random.default_rng(0)
        cold = solve_component(X, K, k, tol=1e-9)
        warm = solve_component(
            X, K, k, tol=1e-9, w0=rng.standard_normal(X.shape[1]), e0=5 * rng.standard_normal(len(K))
        )
        assert warm.objective == pytest.approx(cold.objective, abs=2e-9 * (K[:, k] @ K[:, k]))

    def test_given_target(self):
        X, K, k = random_problem(5)
        by_column = solve_component(X, K, k, fit_dual=False)
        by_target = solve_component(X, y=K[:, k], fit_dual=False)
        assert by_target.e is None
        np.testing.assert_array_equal(by_target.w, by_column.w)
        gap = by_target.objective - lasso_dual_bound(X, K[:, k], by_target.w, by_target.mu)
        assert gap <= 1e-6 * (K[:, k] @ K[:, k])

    def test_passes_are_counted(self, monkeypatch):
        X, K, k = random_problem(6, n=40, m=300)
        products = []
        whole = DenseStorage.rmatvec

        def counting(self, r, columns=None):
            if columns is None:
                products.append(self.shape)
            return whole(self, r, columns)

        monkeypatch.setattr(DenseStorage, "rmatvec", counting)
        answer = solve_component(X, K, k, mu="auto*0.1")
        assert answer.n_iter > 1
        assert answer.n_passes == len(products) == 2 * (answer.n_iter + 1)

    def test_columns_of_a_linear_kernel_that_join_together_take_one_pass(self, rng, monkeypatch):
        X, Y = (sp.random_array((60, 90), density=0.1, format="csc", rng=rng) for _ in range(2))
        features = FeatureView(storage_of(Y))
        products, blocks = [], []
        matvec, matmat = FeatureView.matvec, FeatureView.matmat

        def counting(self, weights):
            products.append(self is features)
            return matvec(self, weights)

        def counting_blocks(self, weights):
            blocks.append(weights.shape[1])
            return matmat(self, weights)

        kernel = LinearKernelView(features)
        y = kernel.columns(np.array([0]))[:, 0]
        monkeypatch.setattr(FeatureView, "matvec", counting)
        monkeypatch.setattr(FeatureView, "matmat", counting_blocks)
        settings = {"tol": 1e-8, "max_iter": 100, "algorithm": "working-set"}
        answer = solve_views(
            FeatureView(storage_of(X)), kernel, 0, y, mu=Penalty(factor=0.3), gamma=Penalty(factor=0.1), **settings
        )
        assert answer.converged
        assert max(blocks) > 1
        # one product with X and one with K at the start and after each round, and one block of columns per growth
        assert sum(products) == answer.n_iter + 1
        assert answer.n_passes == 2 * (answer.n_iter + 1) + len(blocks)
        reference = solve_component(X, (Y @ Y.T).toarray(), 0, mu="auto*0.3", gamma="auto*0.1", tol=1e-8)
        assert answer.objective == pytest.approx(reference.objective, abs=2e-8 * (y @ y))

    def test_a_given_penalty_and_start_take_no_pass_over_the_target(self):
        X, K, k = random_problem(4, n=30, m=100)
        answer = solve_component(X, K, k, mu="auto*0.2", gamma="auto*0.5")
        again = solve_component(X, K, k, mu=answer.mu, gamma=answer.gamma, w0=answer.w, e0=answer.e)
        assert again.n_iter == 0
        assert again.n_passes == 2 + bool(np.delete(answer.e, k).any()) + bool(answer.w.any())


class TestBadInput:
    @pytest.mark.parametrize("k", [-1, 12, 1.5, "0", True])
    def test_anchor(self, k):
        X, K, _ = random_problem(0)
        with pytest.raises(ValueError, match=r"k must be an integer from 0 to 11, .* got"):
            solve_component(X, K, k)

    def test_shapes(self):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match=r"for each of the 11 samples of X; got shape \(12, 12\)"):
            solve_component(X[:11], K, k)
        with pytest.raises(ValueError, match=r"K must be a square kernel matrix.* got shape \(12, 11\)"):
            solve_component(X, K[:, :11], k)
        with pytest.raises(ValueError, match=r"y must have shape \(12,\); got \(3,\)"):
            solve_component(X, y=np.ones(3), fit_dual=False)
        with pytest.raises(ValueError, match=r"w0 must have shape \(20,\)"):
            solve_component(X, K, k, w0=np.ones(3))

    def test_asymmetric_kernel(self):
        X, K, k = random_problem(0)
        K[0, 1] += 1
        with pytest.raises(ValueError, match=r"K must be symmetric; .* is 1, where .* is allowed: pass \(K \+ K\.T\)"):
            solve_component(X, K, k)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_not_finite(self, bad):
        X, K, k = random_problem(0)
        X[3, 4] = bad
        with pytest.raises(ValueError, match=r"X contains (NaN|inf) \(first at row 3, column 4\)"):
            solve_component(X, K, k)
        with pytest.raises(ValueError, match=r"X contains (NaN|inf) \(first at row 3, column 4\)"):
            solve_component(sp.csr_array(X), K, k)

    def test_what_is_missing(self):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match="needs K and k, or y with fit_dual=False"):
            solve_component(X)
        with pytest.raises(ValueError, match="pass fit_dual=False with y"):
            solve_component(X, K, k, y=K[:, k])

    @pytest.mark.parametrize(("name", "value"), [("tol", 0), ("tol", -1), ("max_iter", 0), ("algorithm", "newton")])
    def test_settings(self, name, value):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match=rf"{name} must be .*; got {value!r}"):
            solve_component(X, K, k, **{name: value})

    def test_overflow_is_said(self):
        X, K, k = random_problem(0)
        with pytest.raises(ValueError, match="overflowed float64 .* rescale X and K"):
            solve_component(1e200 * X, 1e200 * K, k)
