"""Factors of many samples: by the covariances of their features, against spectra, and with weights of samples."""

import numpy as np
import pytest
import scipy.sparse as sp

import scca.factors.find as module
import scca.parallel._tasks as working
from scca import SparseCCA
from scca.factors import constants
from scca.factors.fit import find
from scca.factors.large import balanced_factors, shared_factors
from scca.samples import Groups, Views
from scca.views import LinearKernelView, Preparation, StoredKernelView


def prepared(X, center=True):
    return Preparation.fit(X, center=center).transform(X)


def test_covariances_find_what_spectra_find(words, monkeypatch):
    views, ridges = [prepared(sp.csr_array(X)) for X in words], [0.3, 0.7]
    exact = shared_factors(views, 5, ridges)
    monkeypatch.setattr(module, "_FEW", 0)
    found = shared_factors(views, 5, ridges)
    assert found.residuals.max() <= 1e-10  # in double precision
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-10)
    np.testing.assert_allclose(found.scores @ (found.scores.T @ exact.scores), exact.scores, atol=1e-9)


def test_only_the_features_that_vary_most_are_used(words, monkeypatch):
    """If they have most of the variance; otherwise all."""
    squares = [prepared(X).square_norms() for X in words]
    leading = [np.sort(np.argsort(-s)[:40]) for s in squares]
    shares = [s[kept].sum() / s.sum() for s, kept in zip(squares, leading, strict=True)]
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(constants, "MOST_FEATURES", 40)
    views = [prepared(sp.csr_array(X)) for X in words]
    monkeypatch.setattr(constants, "MOST_VARIANCE", min(shares) - 0.01)
    few = shared_factors(views, 3, [0.3, 0.3])
    monkeypatch.setattr(constants, "MOST_VARIANCE", max(shares) + 0.01)
    every = shared_factors(views, 3, [0.3, 0.3])
    monkeypatch.setattr(module, "_FEW", 3000)
    restricted = [view.restricted(kept) for view, kept in zip(views, leading, strict=True)]
    np.testing.assert_allclose(few.values, shared_factors(restricted, 3, [0.3, 0.3]).values, rtol=1e-5)
    # an iteration to residuals of 1e-3, of which sigma has about the square
    np.testing.assert_allclose(every.values, shared_factors(views, 3, [0.3, 0.3]).values, rtol=1e-4)
    assert not np.allclose(few.values, every.values, rtol=1e-3)


def test_a_ridge_lost_in_single_precision_takes_double(words, monkeypatch):
    X, Y = (np.hstack([X, X[:, :10]]) for X in words)  # equal columns: covariances of less than full rank
    views = [prepared(sp.csr_array(X)), prepared(sp.csr_array(Y))]
    exact = shared_factors(views, 3, [1e-9, 1e-9])
    monkeypatch.setattr(module, "_FEW", 0)
    found = shared_factors(views, 3, [1e-9, 1e-9])
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-6)


def test_the_same_bytes_for_any_number_of_cores(words, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 0)
    views, found = [prepared(sp.csr_array(X)) for X in words], []
    for n_cores in (1, 3):
        monkeypatch.setattr(working, "_N_CORES", n_cores)
        working._pool.cache_clear()
        found.append(shared_factors(views, 5, [0.3] * 2).scores)
    working._pool.cache_clear()
    np.testing.assert_array_equal(*found)


@pytest.fixture
def rare(rng):
    """Two views of 600 samples: ten features that five samples each share exactly, and a noisy common factor."""
    n, common = 600, rng.standard_normal(600)
    views = []
    for _ in range(2):
        X = np.zeros((n, 30))
        for j in range(10):
            X[60 * j : 60 * j + 5, j] = 10.0
        X[:, 10:] = common[:, None] * 0.7 + rng.standard_normal((n, 20))
        views.append(X)
    return common, [Preparation.fit(X).transform(X) for X in views]


@pytest.fixture
def fully_weighted(monkeypatch):
    """600 samples count as many."""
    monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 300)
    monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 600)


def test_few_samples_are_not_weighted(rare, monkeypatch):
    views = rare[1]
    data = tuple(view.columns(np.arange(30)) for view in views)
    model = SparseCCA(3, ridge=0.3, center=False, scale=None, feature_weights=None)
    prepared, settings = model.prepare_views(Views(data, Groups.of(None, 600))), model._settings()
    plain = shared_factors(prepared.views, 3, [0.3] * 2)
    assert find(prepared, 3, settings).scores.tobytes() == (plain.scores * plain.values).tobytes()
    monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 599)
    monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 600)
    weighted = balanced_factors(prepared.views, 3, [0.3] * 2)
    assert find(prepared, 3, settings).scores.tobytes() == (weighted.scores * weighted.values).tobytes()
    assert np.abs(weighted.values / plain.values - 1).max() > 0.01


def test_weights_begin_gradually(rare, monkeypatch):
    """At the first size with weights they are 1, and the power grows from there to full weights."""
    views = rare[1]
    plain = shared_factors(views, 3, [0.3] * 2)
    monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 600)
    monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 1200)
    np.testing.assert_allclose(balanced_factors(views, 3, [0.3] * 2).values, plain.values, rtol=1e-10)
    found = []
    for first in (599, 540, 300, 0):
        monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", first)
        monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", first + 600)
        found.append(np.abs(balanced_factors(views, 3, [0.3] * 2).values - plain.values).max())
    assert found[0] < 0.01 * found[-1]
    assert found == sorted(found)


def test_what_all_samples_share_is_found_among_what_few_share(rare, fully_weighted):
    common, views = rare
    shares = []
    for find_ in (shared_factors, balanced_factors):
        T = find_(views, 3, [0.3] * 2).scores
        shares.append(np.linalg.norm(T.T @ common) / np.linalg.norm(common))
    assert shares[0] < 0.3  # three of the rare ones come first
    assert shares[1] > 0.7


def test_factors_solve_the_weighted_problem(rare, fully_weighted, monkeypatch):
    """With the weights of the last round, those of one round being 1 / (leverage + 0.1), square rooted for damping."""
    views = rare[1]
    monkeypatch.setattr(constants, "WEIGHTING_ROUNDS", 1)
    first = shared_factors(views, 3, [0.3] * 2)
    leverage = np.sum((first.scores * first.values) ** 2, axis=1)
    weights = 1 / np.sqrt(leverage / leverage.mean() + 0.1)
    weights /= weights.mean()
    A, B = (np.sqrt(weights)[:, None] * view.columns(np.arange(30)) for view in views)
    whiten = [np.linalg.inv(np.linalg.cholesky(M.T @ M + 0.3 * np.eye(30))) for M in (A, B)]
    U, values, V = np.linalg.svd(whiten[0] @ A.T @ B @ whiten[1].T)
    found = balanced_factors(views, 3, [0.3] * 2)
    np.testing.assert_allclose(found.values, values[:3], rtol=1e-9)
    pooled = (A @ whiten[0].T @ U[:, :3] + B @ whiten[1].T @ V[:3].T) / np.sqrt(weights)[:, None]
    np.testing.assert_allclose(found.scores @ (found.scores.T @ pooled), pooled, atol=1e-9)
    np.testing.assert_allclose(found.scores.T @ found.scores, np.eye(3), atol=1e-12)


def test_without_anything_shared_there_are_no_factors():
    X, Y = np.zeros((2, 8, 1))
    X[:4], Y[::2] = 1.0, 1.0  # orthogonal once centred
    views = [Preparation.fit(M).transform(M) for M in (X, Y)]
    assert balanced_factors(views, 1, [0.3] * 2).scores.shape == (8, 0)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_reweighted_views_are_their_rows_times_a_factor_each(store, rng):
    X, factors = np.maximum(rng.standard_normal((20, 6)), 0), rng.uniform(0.5, 2, 20)
    features = Preparation.fit(store(X)).transform(store(X))
    for view in (features, LinearKernelView(features), StoredKernelView.of_linear(features)):
        M = view.columns(np.arange(view.shape[1])) * factors[:, None]
        M = M * factors if view.columns_are_samples else M
        reweighted = view.reweighted(factors)
        np.testing.assert_allclose(reweighted.columns(np.arange(view.shape[1])), M, atol=1e-14)
        np.testing.assert_allclose(reweighted.matmat(np.eye(view.shape[1])), M, atol=1e-14)
        np.testing.assert_allclose(reweighted.sample_squares(), view.sample_squares() * factors**2, atol=1e-14)
