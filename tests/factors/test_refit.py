"""Weights of factors on chosen features: ridge regressions, certified, that leave something unexplained."""

import numpy as np
import pytest
import scipy.sparse as sp

from scca.factors.refit import weigh_features
from scca.views import Preparation


@pytest.fixture
def chosen():
    return [np.array([0, 3, 4]), np.array([1, 2, 3, 5, 8, 9]), np.array([], dtype=int)]


def explained(A, t, S, w):
    return 1 - np.sum((t - A[:, S] @ w[S]) ** 2) / (t @ t)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_weights_are_ridge_regressions_on_the_chosen_features(rng, chosen, store):
    X, T = rng.standard_normal((12, 10)), rng.standard_normal((12, 3))
    view = Preparation.fit(store(X)).transform(store(X))
    A = view.columns(np.arange(10))
    ridges = np.array([0.3, 1.2, 0.5])
    found = weigh_features(view, T, chosen, ridges)
    for j, S in enumerate(chosen):
        expected = np.zeros(10)
        expected[S] = np.linalg.solve(A[:, S].T @ A[:, S] + ridges[j] * np.eye(len(S)), A[:, S].T @ T[:, j])
        np.testing.assert_allclose(found.weights[:, j], expected, atol=1e-12)
        objective = np.sum((T[:, j] - A @ expected) ** 2) + ridges[j] * expected @ expected
        np.testing.assert_allclose(found.objective[j], objective, rtol=1e-12)
    assert np.abs(found.dual_gap).max() < 1e-12
    np.testing.assert_array_equal(found.ridge, ridges)


def test_the_ridge_is_raised_to_leave_a_share_unexplained_and_no_further(rng, chosen):
    X = rng.standard_normal((12, 10))
    view = Preparation.fit(X).transform(X)
    A = view.columns(np.arange(10))
    T = np.column_stack([A[:, :5] @ rng.standard_normal(5), A @ rng.standard_normal(10), A[:, 0]])
    free = weigh_features(view, T, chosen, 0.05)
    shares = [explained(A, T[:, j], chosen[j], free.weights[:, j]) for j in (0, 1)]
    between = np.mean(shares)  # one factor has more explained, one less
    found = weigh_features(view, T, chosen, 0.05, between)
    more, less = int(np.argmax(shares)), int(np.argmin(shares))
    np.testing.assert_allclose(explained(A, T[:, more], chosen[more], found.weights[:, more]), between, rtol=1e-5)
    assert found.ridge[more] > 0.05
    np.testing.assert_array_equal(found.weights[:, less], free.weights[:, less])
    again = weigh_features(view, T, chosen, found.ridge)  # the weights of the ridge that is told
    np.testing.assert_allclose(again.weights, found.weights, atol=1e-12)
    assert np.abs(found.dual_gap).max() < 1e-12


def test_a_ridge_below_rounding_error_is_used_nonetheless(rng):
    X = rng.standard_normal((12, 5))
    X = np.hstack([X, X])  # of half the rank
    view = Preparation.fit(X).transform(X)
    t = view.columns(np.arange(5)) @ np.ones(5)
    found = weigh_features(view, t[:, None], [np.arange(10)], 1e-18)
    np.testing.assert_allclose(view.matmat(found.weights)[:, 0], t, atol=1e-6)
