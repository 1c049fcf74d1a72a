"""Elastic nets that share their products, against a lasso on the data with the ridge as further rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import scca.factors.products as products
import scca.parallel._tasks as working
from scca import solve_component
from scca.factors.products import grams
from scca.factors.selection import Nets
from scca.views import LinearKernelView, Preparation, StoredKernelView

RIDGE = 0.3


@pytest.fixture
def T(rng):
    return np.linalg.qr(rng.standard_normal((60, 4)))[0] * [3.0, 2.0, 1.0, 1.0]


@pytest.fixture(params=["dense", "sparse", "implicit kernel", "stored kernel"])
def view(request, rng, monkeypatch):
    """Few rows, coordinates and products at a time, so that none is the whole."""
    monkeypatch.setattr(products, "_ROWS", 7)
    monkeypatch.setattr(products, "_COORDINATES_AT_ONCE", 5)
    X = np.maximum(rng.standard_normal((60, 40)) - 0.5, 0)
    X[:, 7] = X[:, 3]
    features = Preparation.fit(X).transform(X)
    if request.param == "sparse":
        return Preparation.fit(sp.csr_array(X)).transform(sp.csr_array(X))
    kernels = {"implicit kernel": LinearKernelView, "stored kernel": StoredKernelView.of_linear}
    return kernels.get(request.param, lambda view: view)(features)


def as_matrix(view):
    return view.columns(np.arange(view.shape[1]))


def nets_of(view, T, **effort):
    effort = {"tol": 1e-10, "max_iter": 1000, "room": 3} | effort
    return Nets(view, view.rmatmat(T), np.sum(T**2, axis=0), RIDGE, **effort)


def as_lasso(view, t, mu):
    A = as_matrix(view)
    extended = np.vstack([A, np.sqrt(RIDGE) * np.eye(A.shape[1])])
    y = np.concatenate([t, np.zeros(A.shape[1])])
    return solve_component(extended, y=y, mu=mu, fit_dual=False, tol=1e-12)


def penalties(view, T, share):
    return dict(enumerate((share * 2 * np.abs(view.rmatmat(T)).max(axis=0)).tolist()))


@pytest.mark.parametrize("share", [0.7, 0.1, 0.01])
def test_solve_the_elastic_net_of_every_factor(view, T, share):
    mus = penalties(view, T, share)
    found = nets_of(view, T).solve(mus)
    A = as_matrix(view)
    for j, mu in mus.items():
        w, t = found[j].w, T[:, j]
        exact = as_lasso(view, t, mu)
        np.testing.assert_allclose(w, exact.w, atol=1e-4 * np.abs(exact.w).max())
        objective = np.sum((A @ w - t) ** 2) + mu * np.abs(w).sum() + RIDGE * w @ w
        assert found[j].objective == pytest.approx(objective, rel=1e-12)
        assert found[j].converged
        # the certificate holds: the optimum is within the gap
        assert found[j].dual_gap <= 1e-10 * (t @ t)
        assert exact.objective >= found[j].objective - found[j].dual_gap - 1e-12
        correlations = 2 * (A.T @ (t - A @ w) - RIDGE * w)
        np.testing.assert_allclose(correlations[w != 0], mu * np.sign(w[w != 0]), rtol=1e-3)
        assert np.abs(correlations).max() <= mu * (1 + 1e-3)


def test_identical_features_get_the_same_weight(view, T):
    if view.columns_are_samples:
        pytest.skip("samples are not identical")
    found = nets_of(view, T, tol=1e-13).solve(penalties(view, T, 0.01))
    weights = np.array([result.w for result in found.values()])
    assert weights[:, 3].any()
    np.testing.assert_allclose(weights[:, 3], weights[:, 7], atol=1e-5)


def test_other_penalties_start_from_where_the_nets_were(view, T):
    path = nets_of(view, T)
    for share in (0.5, 0.2, 0.05):
        path.solve(penalties(view, T, share))
    mus = penalties(view, T, 0.04)
    warm, cold = path.solve(mus), nets_of(view, T).solve(mus)
    for j in mus:
        assert warm[j].objective == pytest.approx(cold[j].objective, rel=1e-9)
    assert sum(r.n_passes for r in warm.values()) < sum(r.n_passes for r in cold.values())


def test_factors_do_not_depend_on_the_others_that_are_solved_with_them(view, T):
    mus = penalties(view, T, 0.05)
    together, alone = nets_of(view, T).solve(mus), nets_of(view, T)
    for j, mu in mus.items():
        np.testing.assert_allclose(alone.solve({j: mu})[j].w, together[j].w, atol=1e-4)


def test_no_round_is_made_beyond_the_last(view, T):
    mus = penalties(view, T, 0.01)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations at a relative duality gap of"):
        found = nets_of(view, T, max_iter=1).solve(mus)
    assert all(result.n_iter == 1 and result.n_passes == 2 for result in found.values())
    for j, result in found.items():  # what is reported of a solution that is not one is true nonetheless
        exact = as_lasso(view, T[:, j], mus[j]).objective
        assert result.objective - result.dual_gap <= exact + 1e-12 <= result.objective + 1e-9


def test_a_factor_that_the_view_does_not_have(view):
    t = np.linalg.svd(as_matrix(view))[0][:, -1:]  # orthogonal to all columns, but for rounding
    found = Nets(view, np.zeros((view.shape[1], 1)), np.array([t[:, 0] @ t[:, 0]]), RIDGE, tol=1e-6, max_iter=9)
    result = found.solve({0: 0.0})[0]
    assert result.converged
    assert not result.w.any()


def test_inner_products_of_many_choices(view, rng):
    wanted = [(rng.permutation(40)[:9], rng.permutation(40)[:size]) for size in (12, 1, 0)]
    A = as_matrix(view)
    for found, (rows, columns) in zip(grams(view, wanted), wanted, strict=True):
        np.testing.assert_allclose(found, A[:, rows].T @ A[:, columns], atol=1e-12)


def test_the_same_bytes_for_any_number_of_cores(view, T, monkeypatch):
    found = []
    for n_cores in (1, 3):
        monkeypatch.setattr(working, "_N_CORES", n_cores)
        working._pool.cache_clear()
        found.append([result.w for result in nets_of(view, T).solve(penalties(view, T, 0.05)).values()])
    working._pool.cache_clear()
    np.testing.assert_array_equal(*found)


def test_nets_of_all_coordinates_share_their_inner_products(view, T):
    """And have the solutions of nets whose working sets grow by a few coordinates at a time."""
    mus = penalties(view, T, 0.05)
    whole = Nets(view, view.rmatmat(T), np.sum(T**2, axis=0), RIDGE, tol=1e-10, max_iter=1000, room=view.shape[1])
    searched = {j: lambda count_at, before, mu=mu: mu for j, mu in mus.items()}  # which considers all coordinates
    found, grown = whole.solve(searched), nets_of(view, T).solve(mus)
    for j in mus:
        np.testing.assert_allclose(found[j].w, grown[j].w, atol=1e-4 * np.abs(grown[j].w).max())
    assert all(net.gram is whole._nets[0].gram for net in whole._nets)
    A = as_matrix(view)[:, whole._nets[0].indices]
    np.testing.assert_allclose(whole._nets[0].gram, A.T @ A + RIDGE * np.eye(A.shape[1]), atol=1e-12)
