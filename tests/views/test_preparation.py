"""One preparation for training and for new samples, whatever their offset, type and storage."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import assert_is, prepare

from scca import AnchoredCCA, KernelCCA, SparseCCA
from scca.factors.products import covariance, regularised
from scca.views import Compressed, Preparation

STORES = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, sp.csr_matrix]


def dense(view):
    return view.columns(np.arange(view.shape[1]))


def exact(training, samples, weights=None):
    """Prepared in extended precision."""
    training, samples = np.asarray(training, np.longdouble), np.asarray(samples, np.longdouble)
    weights = np.ones(training.shape[1]) if weights is None else weights
    A = (samples - training.mean(axis=0)) * weights
    norms = np.sqrt((A**2).sum(axis=1, keepdims=True))
    return (A / np.where(norms > 0, norms, 1)).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_training_and_new_samples(rng, store, dtype, weighted):
    X, new = (rng.standard_normal((n, 9)).astype(dtype) * (rng.random((n, 9)) < 0.6) for n in (20, 7))
    weights = rng.random(9) if weighted else None
    preparation = Preparation.fit(store(X)).weighted(weights, store(X))
    R = rng.standard_normal((9, 3))
    tolerance = 1e-12 if dtype is np.float64 else 1e-6  # weighted float32 is kept in float32
    for samples in (X, new):
        expected = exact(X, samples, weights)
        np.testing.assert_allclose(dense(preparation.transform(store(samples))), expected, atol=tolerance)
        np.testing.assert_allclose(preparation.project(store(samples), R), expected @ R, atol=1e-12)


OFFSETS = {
    "all far": lambda X: X + 1e8,
    "a constant column": lambda X: np.where(np.arange(X.shape[1]) == 2, 1e8, X),
    "epoch seconds": lambda X: np.where(np.arange(X.shape[1]) == 4, 1.7e9 + 1e3 * X, X / 1e3),
}


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("offset", OFFSETS)
def test_an_offset_costs_no_more_digits_than_the_data_lost(rng, offset, store):
    X, new = (OFFSETS[offset](rng.standard_normal((n, 6))) for n in (30, 8))
    preparation = Preparation.fit(store(X))
    view = preparation.transform(store(X))
    expected = exact(X, X)
    atol = 1e-7 if offset == "all far" else 1e-11  # numbers near 1e8, the mean too, are multiples of 1.5e-8
    np.testing.assert_allclose(dense(view), expected, atol=atol)
    w, r = rng.standard_normal(6), rng.standard_normal(30)
    np.testing.assert_allclose(view.matvec(w), expected @ w, atol=atol)
    np.testing.assert_allclose(view.rmatvec(r), expected.T @ r, atol=atol)
    np.testing.assert_allclose(view.outer(), expected @ expected.T, atol=atol)
    np.testing.assert_allclose(view.sample_squares(), 1.0)
    if sp.issparse(store(new)):  # multiplied where they are stored: products lose the digits that the offset takes
        atol = 1e-6
    np.testing.assert_allclose(preparation.project(store(new), np.eye(6)), exact(X, new), atol=atol)


@pytest.mark.parametrize("store", STORES)
def test_float32_keeps_its_mean(rng, store):
    X = (1e4 + rng.standard_normal((200, 5))).astype(np.float32)
    preparation = Preparation.fit(store(X))
    R = rng.standard_normal((5, 2)).astype(np.float32)
    expected = exact(X, X) @ R.astype(float)
    atol = 1e-12 if not sp.issparse(store(X)) else 1e-10
    np.testing.assert_allclose(preparation.project(store(X), R), expected, atol=atol)


@pytest.mark.parametrize("store", STORES)
def test_a_sample_at_the_mean_is_zero(rng, store):
    X = np.vstack([rng.standard_normal((6, 4)), np.zeros((1, 4))])
    X[:6] -= X[:6].mean(axis=0)
    X = np.round(X * 64) / 64  # exact sums
    X[5] -= X.sum(axis=0)
    view = Preparation.fit(store(X)).transform(store(X))
    np.testing.assert_array_equal(dense(view)[6], 0.0)
    np.testing.assert_allclose(view.sample_squares()[:6], 1.0)


@pytest.mark.parametrize("store", STORES)
def test_a_feature_of_weight_zero_is_not_read(rng, store):
    X = rng.standard_normal((12, 5))
    weights = np.array([1.0, 0.0, 0.5, 0.0, 2.0])
    preparation = Preparation.fit(store(X)).weighted(weights, store(X))
    other = X + (weights == 0) * 50.0
    R = rng.standard_normal((5, 2))
    np.testing.assert_allclose(preparation.project(store(other), R), preparation.project(store(X), R), atol=1e-13)
    only_unread = np.where(weights == 0, 3.0, 0.0)[None]
    assert preparation.reads(store(np.vstack([only_unread, X[:1]]))).tolist() == [False, True]


@pytest.mark.parametrize("model", [SparseCCA(2), KernelCCA(2), AnchoredCCA(2, representation="primal-primal")])
@pytest.mark.parametrize("offset", [1e7, 1e8])
def test_a_model_does_not_depend_on_the_origin(rng, model, offset):
    Z = rng.standard_normal((60, 2))
    X, Y = (Z @ rng.standard_normal((2, m)) + 0.5 * rng.standard_normal((60, m)) for m in (12, 9))
    near = model.fit(X, Y)
    weights, scores = near.x_weights_, near.transform(X)
    far = model.fit(X + offset, Y)
    # X + 1e8 has 8 digits of X left
    np.testing.assert_allclose(far.x_weights_, weights, atol=1e-5 * np.abs(weights).max())
    np.testing.assert_allclose(far.transform(X + offset), scores, atol=1e-5)
    one_column = np.column_stack([X, np.full(60, offset)])
    with pytest.warns(UserWarning, match="1 constant feature "):
        scores = model.fit(one_column, Y).transform(one_column)
    with pytest.warns(UserWarning, match="1 constant feature "):
        expected = model.fit(np.column_stack([X, np.zeros(60)]), Y).transform(np.column_stack([X, np.zeros(60)]))
    np.testing.assert_allclose(scores, expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_float32_model_keeps_its_digits(rng, dtype):
    Z = rng.standard_normal((80, 2))
    X, Y = (Z @ rng.standard_normal((2, m)) + 0.5 * rng.standard_normal((80, m)) for m in (7, 5))
    X = (1e4 + X).astype(np.float32).astype(dtype)
    model = AnchoredCCA(2, anchors="cross-energy").fit(X, Y)
    expected = exact(X, X) @ model.x_rotations_.astype(float)
    # scores come back in the type of the data
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-7 if dtype is np.float32 else 1e-12)


def test_kernel_cca_can_have_the_same_weights(rng):
    Z = rng.standard_normal((40, 2))
    X, Y = (Z @ rng.standard_normal((2, m)) + rng.standard_normal((40, m)) for m in (12, 9))
    sparse = SparseCCA(2, rendering="dense", held_out=0, scale="rows").fit(X, Y)
    kernel = KernelCCA(2, feature_weights="shared", scale="rows").fit(X, Y)
    np.testing.assert_array_equal(kernel.x_feature_weights_, sparse.x_feature_weights_)
    by_hand = KernelCCA(2, scale="rows").fit(X * sparse.x_feature_weights_, Y * sparse.y_feature_weights_)
    np.testing.assert_allclose(kernel.transform(X), by_hand.transform(X * sparse.x_feature_weights_), atol=1e-10)
    few = KernelCCA(2, feature_weights="shared", n_features=4).fit(X, Y)
    assert np.count_nonzero(few.x_feature_weights_) == 4
    np.testing.assert_allclose(prepare(X), dense(Preparation.fit(X).transform(X)), atol=1e-12)


@pytest.mark.parametrize("given", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_columns_that_are_forgotten_come_back_if_they_are_needed(rng, given):
    X = rng.standard_normal((20, 12)) * (rng.random((20, 12)) < 0.6)
    stored = Compressed(given(X))
    view = Preparation.fit(stored).transform(stored)
    before = view.columns(np.arange(12)), view.square_norms(), view.outer()
    stored.forget_columns()
    assert ("columns" in vars(stored)) == (given is not sp.csr_array)  # the others are all that there is
    after = view.columns(np.arange(12)), view.square_norms(), view.outer()
    for found, expected in zip(after, before, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_read", [12, 10, 3])  # all, most (weighted within products), few (copied)
@pytest.mark.parametrize("given", [sp.csr_array, sp.csc_array])
def test_weighted_sparse_views_are_the_weighted_matrix(rng, n_read, given):
    X = rng.standard_normal((20, 12)) * (rng.random((20, 12)) < 0.6)
    weights = np.where(np.arange(12) < n_read, rng.uniform(0.5, 2, 12), 0.0)
    stored = Compressed(given(X))
    view = Preparation.fit(stored).weighted(weights, stored).transform(stored)
    M = exact(X, X, weights)
    assert_is(view, M, rng)
    np.testing.assert_allclose(view.outer(), M @ M.T, atol=1e-12)
    H = rng.standard_normal((20, 20))
    residual, around_mean = view.deviations(H)
    np.testing.assert_allclose(residual, np.sum((H @ M) ** 2, axis=0), atol=1e-10)
    np.testing.assert_allclose(around_mean, np.sum((M - M.mean(axis=0)) ** 2, axis=0), atol=1e-12)
    W = rng.standard_normal((12, 2))
    np.testing.assert_allclose(view.matmat(W), M @ W, atol=1e-12)
    np.testing.assert_allclose(view.rmatmat(M @ W), M.T @ M @ W, atol=1e-12)
    np.testing.assert_allclose(covariance(view, view), M.T @ M, atol=1e-12)
    np.testing.assert_allclose(regularised(view, 0.5, W), M.T @ M @ W + 0.5 * W, atol=1e-12)
    some = np.array([1, 2, 11])
    np.testing.assert_allclose(dense(view.restricted(some)), M[:, some], atol=1e-12)
    assert (view.storage.stored is stored) == (n_read > 3)
    assert stored.columns.toarray().tolist() == X.tolist()  # the samples are as they were
