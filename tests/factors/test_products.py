"""Products with views: scores that are not stored, against the same scores stored, and covariances."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import scca.factors.find as finding
import scca.factors.products as module
import scca.factors.refit as refitting
import scca.parallel._tasks as working
from scca import SparseCCA
from scca.factors import constants
from scca.factors.large import balanced_factors
from scca.factors.products import column_products, correlations, covariance, inner_products, scores_of
from scca.views import Preparation


@pytest.fixture
def views(rng):
    data = [sp.csr_array(np.maximum(rng.standard_normal((50, m)) - 0.5, 0)) for m in (9, 7)]
    scale = rng.uniform(0.5, 2, 50)
    return [Preparation.fit(data[0]).transform(data[0]), Preparation.fit(data[1]).transform(data[1]).reweighted(scale)]


@pytest.fixture
def weights(rng):
    return [rng.standard_normal((9, 3)), rng.standard_normal((7, 3))]


@pytest.fixture
def unstored(monkeypatch):
    """No scores are stored, and few rows computed at a time."""
    monkeypatch.setattr(module, "_MOST_STORED", 0)
    monkeypatch.setattr(module, "_POOLED_ROWS", 4)
    monkeypatch.setattr(module, "_BLOCKS_PER_LANE", 2)
    monkeypatch.setattr(module, "_ROWS", 6)


def both(views, weights, monkeypatch):
    stored = sum(view.columns(np.arange(view.shape[1])) @ W for view, W in zip(views, weights, strict=True))
    pooled = scores_of(views, weights)
    assert isinstance(pooled, module.PooledScores)
    return pooled, stored


def test_are_the_sum_over_the_views(views, weights, unstored, monkeypatch):
    pooled, stored = both(views, weights, monkeypatch)
    assert pooled.shape == stored.shape
    assert_allclose(np.asarray(pooled), stored, atol=1e-14)


def test_behave_like_arrays(views, weights, unstored, monkeypatch, rng):
    pooled, stored = both(views, weights, monkeypatch)
    C, rows = rng.standard_normal((3, 2)), rng.permutation(50)[:20]
    assert_allclose(np.asarray(pooled @ C), stored @ C, atol=1e-13)
    assert_allclose(np.asarray(pooled * [1, 2, 0]), stored * [1, 2, 0], atol=1e-13)
    assert_allclose(np.asarray(pooled + pooled @ np.eye(3)[::-1]), stored + stored[:, ::-1], atol=1e-13)
    assert_allclose(np.asarray(pooled[rows]), stored[rows], atol=1e-13)
    assert_allclose(np.asarray(pooled[rows][rows[:5] // 3]), stored[rows][rows[:5] // 3], atol=1e-13)


def test_products_are_those_of_stored_scores(views, weights, unstored, monkeypatch, rng):
    pooled, stored = both(views, weights, monkeypatch)
    other, rows = rng.standard_normal((50, 2)), rng.permutation(50)[:20]
    for found, view in zip(correlations(views, pooled), views, strict=True):
        assert_allclose(found, view.rmatmat(stored), atol=1e-12)
    assert_allclose(inner_products(pooled, pooled), stored.T @ stored, atol=1e-12)
    assert_allclose(inner_products(pooled, other), stored.T @ other, atol=1e-12)
    assert_allclose(inner_products(other[rows], pooled[rows]), other[rows].T @ stored[rows], atol=1e-12)
    assert_allclose(column_products(pooled, pooled[np.arange(50)]), np.sum(stored**2, axis=0), atol=1e-12)
    assert_allclose(module.row_squares(pooled), np.sum(stored**2, axis=1), atol=1e-12)


@pytest.fixture
def documents(rng):
    """Sparse pairs that share factors, as words do."""
    shared = rng.standard_normal((300, 5))
    return [
        sp.csr_array(np.maximum(shared @ rng.standard_normal((5, m)) + rng.standard_normal((300, m)) - 1, 0))
        for m in (60, 50)
    ]


@pytest.fixture
def many(monkeypatch):
    """Every sample counts as one of many: factors by covariances, and weighted."""
    monkeypatch.setattr(finding, "_FEW", 0)
    monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 0)
    monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 1)
    monkeypatch.setattr(refitting, "_FEW_SAMPLES", 0)


def test_factors_are_orthonormal_and_the_same(documents, many, unstored, monkeypatch):
    views = [Preparation.fit(X).transform(X) for X in documents]
    pooled = balanced_factors(views, 4, [0.3, 0.3])
    monkeypatch.setattr(module, "_MOST_STORED", 1 << 25)
    stored = balanced_factors(views, 4, [0.3, 0.3])
    assert isinstance(stored.scores, np.ndarray)
    assert_allclose(pooled.values, stored.values, rtol=1e-6)  # covariances are in single precision
    assert_allclose(inner_products(pooled.scores, pooled.scores), np.eye(4), atol=1e-12)
    assert_allclose(np.asarray(pooled.scores), stored.scores, atol=1e-5)


@pytest.mark.parametrize("rendering", ["sparse", "dense", ("sparse", "dense")])
def test_models_are_the_same(documents, many, unstored, rendering, monkeypatch):
    fitted = []
    for most in (0, 1 << 25):
        monkeypatch.setattr(module, "_MOST_STORED", most)
        fitted.append(SparseCCA(4, rendering=rendering, random_state=0).fit(*documents))
    pooled, stored = fitted
    for name in ("correlations_", "held_out_correlations_", "x_loadings_", "y_loadings_", "objective_"):
        assert_allclose(getattr(pooled, name), getattr(stored, name), atol=1e-4, err_msg=name)
    for found, expected in zip(pooled.transform_pair(*documents), stored.transform_pair(*documents), strict=True):
        assert_allclose(found, expected, atol=1e-3)


def test_models_have_the_same_bytes_for_any_number_of_cores(documents, many, unstored, monkeypatch):
    found = []
    for n_cores in (1, 3):
        monkeypatch.setattr(working, "_N_CORES", n_cores)
        working._pool.cache_clear()
        model = SparseCCA(4, random_state=0).fit(*documents)
        found.append((model.x_weights_, model.y_weights_, model.held_out_correlations_))
    working._pool.cache_clear()
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


def prepared(X, center=True):
    return Preparation.fit(X, center=center).transform(X)


def as_matrix(view):
    return view.columns(np.arange(view.shape[1]))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("stores", [(sp.csr_array,) * 2, (np.asarray,) * 2, (sp.csr_array, np.asarray)])
def test_covariances_are_products_of_the_prepared_views(words, stores, center):
    views = [
        prepared(store(X), center).reweighted(np.linspace(0.5, 2, 400)) for store, X in zip(stores, words, strict=True)
    ]
    expected = as_matrix(views[0]).T @ as_matrix(views[1])
    np.testing.assert_allclose(covariance(*views), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(covariance(*views, np.float32), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("store", [sp.csr_array, np.asarray])
@pytest.mark.parametrize("per_task", [512, 7])
def test_covariances_of_a_view_with_itself_are_whole(words, store, per_task, monkeypatch, rng):
    monkeypatch.setattr(module, "_FEATURES_PER_TASK", per_task)
    view = prepared(store(words[0])).reweighted(np.linspace(0.5, 2, 400))
    expected = as_matrix(view).T @ as_matrix(view)
    for kept in (np.arange(60), np.sort(rng.permutation(60)[:30]), rng.permutation(60)[:30], np.arange(1)):
        found = covariance(view, view, rows=kept, columns=kept)
        np.testing.assert_allclose(found, expected[np.ix_(kept, kept)], rtol=1e-12, atol=1e-12)


def test_the_features_of_a_sample_may_be_stored_in_any_order(words):
    plain = sp.csr_array(words[0])
    mixed = plain.copy()
    for start, stop in pairwise(plain.indptr):
        mixed.indices[start:stop] = plain.indices[start:stop][::-1]
        mixed.data[start:stop] = plain.data[start:stop][::-1]
    mixed.has_sorted_indices = False
    views = [prepared(X) for X in (plain, mixed)]
    np.testing.assert_allclose(covariance(views[1], views[1]), covariance(views[0], views[0]), rtol=1e-12, atol=1e-12)
