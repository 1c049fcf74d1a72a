"""The four representations of anchored components."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare

from scca import AnchoredCCA
from scca.datasets import make_planted

REPRESENTATIONS = ["primal-dual", "dual-primal", "primal-primal", "dual-dual"]
AS_IS = {"center": False, "scale": None}
ANCHORED = {"anchors": "cross-energy"}
WEIGHTED = {"feature_weights": "shared", "scale": "auto"}


@pytest.fixture
def views(rng):
    Z = rng.standard_normal((18, 2))
    X = Z @ rng.standard_normal((2, 12)) + 0.5 * rng.standard_normal((18, 12))
    Y = Z @ rng.standard_normal((2, 9)) + 0.5 * rng.standard_normal((18, 9))
    return X, Y


def optimum(A, B, k, mu, gamma):
    """min ||A w - B v||^2 + mu |w| + gamma sum of the others, 0 <= v <= 1, v_k = 1, by another solver."""
    w, v = cp.Variable(A.shape[1]), cp.Variable(B.shape[1])
    penalty = mu * cp.norm1(w) + gamma * (cp.sum(v) - 1)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ w - B @ v) + penalty), [v >= 0, v <= 1, v[k] == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


@pytest.mark.parametrize("k", [0, 5])
@pytest.mark.parametrize("gamma", ["auto", "auto*0.05"])
def test_primal_primal_is_the_optimum_over_features_turned_to_the_anchor(views, k, gamma):
    X, Y = views
    model = AnchoredCCA(1, representation="primal-primal", anchors=[k], gamma=gamma, **AS_IS).fit(X, Y)
    turned = Y * np.where(Y.T @ Y[:, k] < 0, -1.0, 1.0)
    expected = optimum(X, turned, k, model.mu_[0], model.gamma_[0])
    assert model.objective_[0] == pytest.approx(expected, abs=1e-5 * Y[:, k] @ Y[:, k])
    assert model.mu_[0] == pytest.approx(np.mean(np.abs(2 * X.T @ Y[:, k])))
    v = model.y_weights_[:, 0] / model.y_weights_[k, 0]
    assert np.abs(v).max() == pytest.approx(1)
    assert (np.sign(v[v != 0]) == np.sign(Y.T @ Y[:, k])[v != 0]).all()


def test_dual_dual_is_the_optimum_over_samples(views):
    X, Y = views
    K, L = X @ X.T, Y @ Y.T
    model = AnchoredCCA(1, representation="dual-dual", anchors=[4], **AS_IS).fit(X, Y)
    expected = optimum(K, L, 4, model.mu_[0], model.gamma_[0])
    assert model.objective_[0] == pytest.approx(expected, abs=1e-5 * L[:, 4] @ L[:, 4])
    assert model.x_weights_.shape == (18, 1)
    settings = {"representation": "dual-dual", "kernel": "precomputed", "anchors": [4]}
    precomputed = AnchoredCCA(1, **settings, **AS_IS).fit(K, L)
    np.testing.assert_allclose(precomputed.x_weights_, model.x_weights_, atol=1e-8)


def test_dual_primal_is_primal_dual_with_the_views_swapped(views):
    X, Y = views
    one = AnchoredCCA(3, representation="primal-dual", **ANCHORED, **WEIGHTED).fit(X, Y)
    other = AnchoredCCA(3, representation="dual-primal", **ANCHORED, **WEIGHTED).fit(Y, X)
    np.testing.assert_allclose(one.x_rotations_, other.y_rotations_, atol=1e-12)
    np.testing.assert_allclose(one.y_weights_, other.x_weights_, atol=1e-12)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_training_scores_are_orthonormal_and_weights_have_unit_scores(views, store, representation):
    X, Y = (store(view) for view in views)
    model = AnchoredCCA(3, representation=representation, **ANCHORED).fit(X, Y)
    for scores in model.transform_pair(X, Y):
        np.testing.assert_allclose(scores.T @ scores, np.eye(3), atol=1e-6)
    x = prepare(views[0]) if model.x_weights_.shape[0] == 12 else prepare(views[0]) @ prepare(views[0]).T
    assert np.linalg.norm(x @ model.x_weights_[:, 0]) == pytest.approx(1)
    assert (model.correlations_ > 0).all()


def test_planted_factors_are_found_among_many_noise_features():
    """200 samples, 800 features per view, 10 of them planted."""
    made = make_planted(400, 800, 800, n_factors=1, random_state=0)
    X, Y = made.views
    strongest = int((((X[:200] - X[:200].mean(0)).T @ (Y[:200] - Y[:200].mean(0))) ** 2).sum(axis=0).argmax())
    model = AnchoredCCA(1, representation="primal-primal", anchors=[strongest], mu="auto*2", **WEIGHTED).fit(
        X[:200], Y[:200]
    )
    held_out = np.corrcoef(*(scores[:, 0] for scores in model.transform_pair(X[200:], Y[200:])))[0, 1]
    assert held_out > 0.8
    planted = np.flatnonzero(made.x_loadings.any(axis=1))
    assert np.isin(planted, np.flatnonzero(model.x_weights_[:, 0])).mean() > 0.7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"representation": "primal"}, "representation must be one of 'primal-dual', 'dual-primal'"),
        ({"representation": "primal-primal", "anchors": [9]}, "anchors must lie between 0 and 8"),
    ],
)
def test_bad_settings_are_refused(views, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        AnchoredCCA(1, **settings).fit(*views)
