"""A view with a ridge, and the elastic net it makes of the solver's lasso."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare
from sklearn.linear_model import ElasticNet

from scca.solver import Penalty, no_view, solve_views
from scca.views import Preparation, RidgeView

NU, MU = 0.3, 0.2


def ridge_view(X):
    return RidgeView(Preparation.fit(X).transform(X), NU)


def elastic_net(view, t, mu=MU, tol=1e-12):
    return solve_views(
        *(view, no_view(view.shape[0]), None, view.target(t)),
        mu=Penalty(value=mu),
        gamma=Penalty(value=np.inf),
        tol=tol,
        max_iter=1000,
        algorithm="working-set",
    )


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_is_the_stacked_matrix(rng, store):
    X = rng.standard_normal((12, 7))
    view, matrix = ridge_view(store(X)), np.vstack([prepare(X), np.sqrt(NU) * np.eye(7)])
    w, r = rng.standard_normal(7), rng.standard_normal(19)
    np.testing.assert_allclose(view.matvec(w), matrix @ w, atol=1e-12)
    np.testing.assert_allclose(view.rmatvec(r), matrix.T @ r, atol=1e-12)
    np.testing.assert_allclose(view.columns(np.array([4, 1])), matrix[:, [4, 1]], atol=1e-12)
    np.testing.assert_allclose(view.square_norms(), np.sum(matrix**2, axis=0), atol=1e-12)
    np.testing.assert_allclose(view.sample_squares(), np.sum(matrix**2, axis=1), atol=1e-12)
    selection = view.selection()
    selection.add(np.array([5, 0]))
    selection.add(np.array([3]))
    chosen = matrix[:, [5, 0, 3]]
    np.testing.assert_allclose(selection.matvec(w[:3]), chosen @ w[:3], atol=1e-12)
    np.testing.assert_allclose(selection.rmatvec(r[:, None], 1), chosen[:, 1:].T @ r[:, None], atol=1e-12)
    np.testing.assert_allclose(selection.gram(1), chosen.T @ chosen[:, 1:], atol=1e-12)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("m", [8, 60])
def test_is_the_elastic_net(rng, store, m):
    X, t = rng.standard_normal((40, m)), rng.standard_normal(40)
    found = elastic_net(ridge_view(store(X)), t)
    reference = ElasticNet(
        alpha=(MU / 2 + NU) / 40, l1_ratio=(MU / 2) / (MU / 2 + NU), fit_intercept=False, tol=1e-14, max_iter=100_000
    ).fit(prepare(X), t)
    np.testing.assert_allclose(found.w, reference.coef_, atol=1e-9)
    assert found.converged


def test_identical_features_have_the_same_weight(rng):
    X = rng.standard_normal((30, 10))
    X[:, 7] = X[:, 2]
    w = elastic_net(ridge_view(X), X[:, 2] - X[:, 2].mean(), tol=1e-13).w
    assert w[2] > 0
    assert w[2] == pytest.approx(w[7], rel=1e-9)


def test_the_gap_bounds_the_error_of_the_weights(rng):
    """P(w) - P* >= ||A (w - w*)||^2 + nu ||w - w*||^2."""
    X, t = rng.standard_normal((30, 50)), rng.standard_normal(30)
    exact = elastic_net(ridge_view(X), t).w
    rough = elastic_net(ridge_view(X), t, tol=1e-2)
    error = rough.w - exact
    distance = np.sum((prepare(X) @ error) ** 2) + NU * error @ error
    assert 0 < distance <= rough.dual_gap * (1 + 1e-9)
