"""Pairs: parts of dense, sparse and precomputed views against plain indexing, and pairs in another order."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from scca import KernelCCA
from scca.samples import Pairs

TRAIN, TEST = np.array([4, 0, 5, 2]), np.array([3, 1])
STORES = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]


def dense(data):
    return data.toarray() if sp.issparse(data) else data


@pytest.fixture
def views(rng):
    return rng.standard_normal((6, 4)), rng.standard_normal((6, 3))


@pytest.mark.parametrize("store", STORES)
def test_features_are_split_by_rows(views, store):
    pairs = Pairs(*map(store, views))
    assert len(pairs) == 6
    for part, view in zip(pairs.training(TRAIN), views, strict=True):
        np.testing.assert_array_equal(dense(part), view[TRAIN])
    for (data, diagonal), view in zip(pairs.held_out(TEST, TRAIN), views, strict=True):
        np.testing.assert_array_equal(dense(data), view[TEST])
        assert diagonal is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("precomputed", [("X",), ("Y",), ("X", "Y")])
def test_kernels_are_split_by_rows_and_columns(views, store, precomputed):
    kernels = {name: view @ view.T if name in precomputed else view for name, view in zip("XY", views, strict=True)}
    pairs = Pairs(*map(store, kernels.values()), precomputed)
    for name, part, held_out in zip("XY", pairs.training(TRAIN), pairs.held_out(TEST, TRAIN), strict=True):
        whole = kernels[name]
        if name in precomputed:
            np.testing.assert_array_equal(dense(part), whole[np.ix_(TRAIN, TRAIN)])
            np.testing.assert_array_equal(dense(held_out.data), whole[np.ix_(TEST, TRAIN)])
            np.testing.assert_array_equal(held_out.diagonal, np.diag(whole)[TEST])
        else:
            np.testing.assert_array_equal(dense(part), whole[TRAIN])
            assert held_out.diagonal is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("precomputed", [(), ("X", "Y")])
def test_pairs_in_another_order_are_those_of_a_permuted_second_view(rng, views, store, precomputed):
    order = rng.permutation(6)
    X, Y = (view @ view.T for view in views) if precomputed else views
    moved = Y[np.ix_(order, order)] if precomputed else Y[order]
    mine = Pairs(store(X), store(Y), precomputed).in_order(order)
    plain = Pairs(X, moved, precomputed)
    for a, b in zip(mine.training(TRAIN), plain.training(TRAIN), strict=True):
        np.testing.assert_array_equal(dense(a), b)
    for a, b in zip(mine.held_out(TEST, TRAIN), plain.held_out(TEST, TRAIN), strict=True):
        np.testing.assert_array_equal(dense(a.data), b.data)
        np.testing.assert_array_equal(a.diagonal, b.diagonal)


def test_held_out_kernels_give_the_scores_of_held_out_features(rng):
    X, Y = rng.standard_normal((2, 20, 5))
    train, test = np.arange(12), np.arange(12, 20)
    plain, kernels = Pairs(X, Y), Pairs(X @ X.T, Y @ Y.T, ("X", "Y"))
    linear = KernelCCA(2, scale="rows").fit(*plain.training(train))
    given = KernelCCA(2, kernel="precomputed").fit(*kernels.training(train))
    for features, kernel, name in zip(plain.held_out(test, train), kernels.held_out(test, train), "XY", strict=True):
        transform = "transform" if name == "X" else "transform_y"
        np.testing.assert_allclose(getattr(given, transform)(*kernel), getattr(linear, transform)(*features), atol=1e-8)


def test_are_a_value(views):
    pairs = Pairs(*views)
    other = pairs.in_order(np.arange(6)[::-1])
    assert pairs.order is None
    assert other.X is pairs.X
    with pytest.raises(FrozenInstanceError):
        pairs.X = views[1]
