"""Factors of many samples by the covariances of their features, against the spectra of the views."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import scca.factors.find as module
import scca.factors.products as products
import scca.parallel._tasks as working
from scca.factors import constants
from scca.factors.large import shared_factors
from scca.factors.products import covariance
from scca.views import Preparation


@pytest.fixture
def words(rng):
    """Two views of 400 samples with features that are rare, as words are, and common ones."""
    shared = rng.standard_normal((400, 5))
    cut = rng.uniform(0.5, 2.5, 60)
    return [
        np.maximum(shared @ rng.standard_normal((5, m)) + rng.standard_normal((400, m)) - cut[:m], 0) for m in (60, 50)
    ]


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
    monkeypatch.setattr(products, "_FEATURES_PER_TASK", per_task)
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
