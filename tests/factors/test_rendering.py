"""Weights of factors on chosen features: ridge regressions, certified, that leave something unexplained."""

import numpy as np
import pytest
import scipy.sparse as sp

from scca.factors import select_features, weigh_features
from scca.views import FeatureView, Preparation


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


def test_all_factors_start_from_one_product(rng, monkeypatch):
    """Selecting features for factors together gives what each alone gets, with a pass less for each."""
    X = sp.random_array((40, 60), density=0.2, format="csr", rng=rng)
    view = Preparation.fit(X, center=True, normalize=True).transform(X)
    T = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    settings = {"tol": 1e-8, "max_iter": 100, "algorithm": "working-set"}
    mus, blocks = np.full(3, 0.2), []
    rmatmat = FeatureView.rmatmat

    def counting(self, R):
        blocks.append(R.shape[1])
        return rmatmat(self, R)

    monkeypatch.setattr(FeatureView, "rmatmat", counting)
    together = select_features(view, T, mus, 0.1, **settings)
    assert blocks == [3]
    given = select_features(view, T, mus, 0.1, correlations=rmatmat(view, T), **settings)
    assert blocks == [3]
    for j, found in enumerate(together):
        alone = select_features(view, T[:, [j]], mus[[j]], 0.1, start=np.zeros(60), **settings)[0]
        assert found.w.any()
        assert found.n_passes == given[j].n_passes == alone.n_passes - 1
        assert found.objective == pytest.approx(alone.objective, abs=2e-8)
