"""Four representations, refinement and the three kinds of directions."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare

from scca import SparseCCA
from scca.datasets import make_planted
from scca.estimators._refinement import refine
from scca.solver import solve_component
from scca.views import Preparation

REPRESENTATIONS = ["primal-dual", "dual-primal", "primal-primal", "dual-dual"]
AS_IS = {"center": False, "normalize": False}
ANCHORED = {"refine": False, "directions": "smooth", "feature_weights": None}


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
    model = SparseCCA(1, representation="primal-primal", anchors=[k], gamma=gamma, **ANCHORED, **AS_IS).fit(X, Y)
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
    model = SparseCCA(1, representation="dual-dual", anchors=[4], **ANCHORED, **AS_IS).fit(X, Y)
    expected = optimum(K, L, 4, model.mu_[0], model.gamma_[0])
    assert model.objective_[0] == pytest.approx(expected, abs=1e-5 * L[:, 4] @ L[:, 4])
    assert model.x_weights_.shape == (18, 1)
    precomputed = SparseCCA(1, representation="dual-dual", kernel="precomputed", anchors=[4], **ANCHORED, **AS_IS).fit(
        K, L
    )
    np.testing.assert_allclose(precomputed.x_weights_, model.x_weights_, atol=1e-8)


def test_dual_primal_is_primal_dual_with_the_views_swapped(views):
    X, Y = views
    one = SparseCCA(3, representation="primal-dual").fit(X, Y)
    other = SparseCCA(3, representation="dual-primal").fit(Y, X)
    np.testing.assert_allclose(one.x_rotations_, other.y_rotations_, atol=1e-12)
    np.testing.assert_allclose(one.y_weights_, other.x_weights_, atol=1e-12)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("directions", ["smooth", "sparse", "shared"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("refined", [False, True])
def test_training_scores_are_orthonormal_and_weights_have_unit_scores(
    views, store, directions, representation, refined
):
    X, Y = (store(view) for view in views)
    model = SparseCCA(
        3, representation=representation, directions=directions, refine=refined, feature_weights=None
    ).fit(X, Y)
    for scores in model.transform_pair(X, Y):
        np.testing.assert_allclose(scores.T @ scores, np.eye(3), atol=1e-6)
    x = prepare(views[0]) if model.x_weights_.shape[0] == 12 else prepare(views[0]) @ prepare(views[0]).T
    assert np.linalg.norm(x @ model.x_weights_[:, 0]) == pytest.approx(1)
    assert (model.correlations_ > 0).all()


@pytest.mark.parametrize("representation", ["primal-primal", "primal-dual"])
def test_sparse_directions_need_no_other_feature(views, representation):
    X, Y = views
    model = SparseCCA(2, representation=representation, mu="auto*2", directions="sparse", normalize=False).fit(X, Y)
    unused = ~model.x_weights_.any(axis=1)
    assert unused.any()
    assert not model.x_rotations_[unused].any()
    other = X + unused * 7.0
    np.testing.assert_allclose(model.transform(other), model.transform(X), atol=1e-10)


def lasso_violation(A, target, w, mu):
    pull = 2 * A.T @ (target - A @ w)
    return max(np.abs(pull - mu * np.sign(w))[w != 0].max(initial=0), (np.abs(pull)[w == 0] - mu).max(initial=0))


def refined(X, Y, k, factor=1.0, max_rounds=500, tol=1e-11):
    """From the anchor k of Y's features, on the matrices as they are."""
    start = solve_component(X, mu=f"auto*{factor}", fit_dual=False, y=Y[:, k], tol=tol)
    start = replace(start, e=np.eye(Y.shape[1])[k], gamma=factor * float(np.mean(np.abs(2 * Y.T @ Y[:, k]))))
    left, right = (Preparation.fit(view, **AS_IS).transform(view) for view in (X, Y))
    return refine(left, right, start, tol=tol, max_iter=1000, algorithm="working-set", max_rounds=max_rounds)


def test_refinement_raises_its_objective_to_a_point_where_each_side_is_optimal(views):
    X, Y = views
    values = [refined(X, Y, 3, max_rounds=rounds).objective for rounds in (1, 2, 3, 5, 9, 200)]
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0] + 1e-3
    found = refined(X, Y, 3)
    w, e, mu, gamma = found.w, found.e, found.mu, found.gamma
    assert np.linalg.norm(X @ w) == pytest.approx(1)
    assert np.linalg.norm(Y @ e) == pytest.approx(1)
    J = (X @ w) @ (Y @ e) - mu / 2 * np.abs(w).sum() - gamma / 2 * np.abs(e).sum()
    assert found.objective == pytest.approx(J)
    for A, target, weights, penalty in ((X, Y @ e, w, mu), (Y, X @ w, e, gamma)):
        scale = (A @ weights) @ target - penalty / 2 * np.abs(weights).sum()  # the best multiple of weights
        assert lasso_violation(A, target, scale * weights, penalty) < 1e-4


def test_refinement_finds_the_largest_objective_there_is_from_some_anchor(rng):
    """Two features a view: every pair of unit scores can be tried."""
    z = rng.standard_normal(30)
    X, Y = (np.column_stack([z, -z]) + rng.standard_normal((30, 2)) for _ in range(2))
    found = max((refined(X, Y, k, factor=0.2) for k in (0, 1)), key=lambda result: result.objective)
    angles = np.linspace(0, 2 * np.pi, 1441)
    circle = np.vstack([np.cos(angles), np.sin(angles)])
    W, E = circle / np.linalg.norm(X @ circle, axis=0), circle / np.linalg.norm(Y @ circle, axis=0)
    penalty = found.mu / 2 * np.abs(W).sum(axis=0)[:, None] + found.gamma / 2 * np.abs(E).sum(axis=0)
    best = np.max((X @ W).T @ (Y @ E) - penalty)
    assert found.objective == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("n_copies", [1, 3])  # 18 samples by their whole spectrum, 54 by an iteration
def test_shared_directions_are_the_leading_pair_of_the_cross_covariance(views, rng, n_copies):
    X, Y = (np.vstack([view + 0.3 * rng.standard_normal(view.shape) for _ in range(n_copies)]) for view in views)
    A, B = prepare(X), prepare(Y)
    model = SparseCCA(2, representation="primal-primal", directions="shared", refine=False, feature_weights=None).fit(
        X, Y
    )
    for j in range(2):
        left, _, right = np.linalg.svd(A.T @ B)
        t, s = A @ left[:, 0], B @ right[0]
        for score, found in ((t, prepare(X) @ model.x_rotations_[:, j]), (s, prepare(Y) @ model.y_rotations_[:, j])):
            assert abs(score @ found) / np.linalg.norm(score) == pytest.approx(1, abs=1e-8)
        assert model.converged_[j]
        A, B = A - np.outer(t, t @ A) / (t @ t), B - np.outer(s, s @ B) / (s @ s)


def test_planted_factors_are_found_among_many_noise_features():
    """200 samples, 800 features a view, 10 of them planted."""
    made = make_planted(400, 800, 800, n_factors=1, random_state=0)
    X, Y = made.views
    strongest = int((((X[:200] - X[:200].mean(0)).T @ (Y[:200] - Y[:200].mean(0))) ** 2).sum(axis=0).argmax())
    model = SparseCCA(
        1, representation="primal-primal", anchors=[strongest], refine=True, directions="sparse", mu="auto*2"
    ).fit(X[:200], Y[:200])
    held_out = np.corrcoef(*(scores[:, 0] for scores in model.transform_pair(X[200:], Y[200:])))[0, 1]
    assert held_out > 0.8
    planted = np.flatnonzero(made.x_loadings.any(axis=1))
    assert np.isin(planted, np.flatnonzero(model.x_weights_[:, 0])).mean() > 0.7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"representation": "primal"}, "representation must be one of 'auto', 'primal-dual', 'dual-primal'"),
        ({"directions": "rough"}, "directions must be one of 'auto', 'smooth', 'sparse', 'shared'; got 'rough'"),
        ({"refine": True, "gamma": 0.0}, "refine=True needs gamma greater than 0; got 0.0"),
        ({"representation": "primal-primal", "anchors": [9]}, "anchors must lie between 0 and 8"),
    ],
)
def test_bad_settings_are_refused(views, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseCCA(1, **settings).fit(*views)
