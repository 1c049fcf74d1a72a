"""Parts of dense, sparse and precomputed views against plain indexing, and views in another order."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from scca import KernelCCA
from scca.samples import Groups, Views

TRAIN, TEST = np.array([4, 0, 5, 2]), np.array([3, 1])
STORES = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix]


def dense(data):
    return data.toarray() if sp.issparse(data) else data


def together(X, Y, precomputed=(False, False)):
    return Views((X, Y), Groups.of(None, X.shape[0]), precomputed=precomputed)


@pytest.fixture
def views(rng):
    return rng.standard_normal((6, 4)), rng.standard_normal((6, 3))


@pytest.mark.parametrize("store", STORES)
def test_features_are_split_by_rows(views, store):
    pairs = together(*map(store, views))
    assert len(pairs) == 6
    for part, view in zip(pairs.rows(TRAIN).data, views, strict=True):
        np.testing.assert_array_equal(dense(part), view[TRAIN])
    for (data, diagonal), view in zip(pairs.held_out(TEST, TRAIN), views, strict=True):
        np.testing.assert_array_equal(dense(data), view[TEST])
        assert diagonal is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("precomputed", [(True, False), (False, True), (True, True)])
def test_kernels_are_split_by_rows_and_columns(views, store, precomputed):
    given = [view @ view.T if is_kernel else view for view, is_kernel in zip(views, precomputed, strict=True)]
    pairs = together(*map(store, given), precomputed)
    parts = zip(precomputed, given, pairs.rows(TRAIN).data, pairs.held_out(TEST, TRAIN), strict=True)
    for is_kernel, whole, part, held_out in parts:
        if is_kernel:
            np.testing.assert_array_equal(dense(part), whole[np.ix_(TRAIN, TRAIN)])
            np.testing.assert_array_equal(dense(held_out.data), whole[np.ix_(TEST, TRAIN)])
            np.testing.assert_array_equal(held_out.diagonal, np.diag(whole)[TEST])
        else:
            np.testing.assert_array_equal(dense(part), whole[TRAIN])
            assert held_out.diagonal is None


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("precomputed", [(False, False), (True, True)])
def test_pairs_in_another_order_are_those_of_a_permuted_second_view(rng, views, store, precomputed):
    order = rng.permutation(6)
    X, Y = (view @ view.T for view in views) if any(precomputed) else views
    moved = Y[np.ix_(order, order)] if any(precomputed) else Y[order]
    mine = together(store(X), store(Y), precomputed).permuted(None, order)
    plain = together(X, moved, precomputed)
    for a, b in zip(mine.rows(TRAIN).data, plain.rows(TRAIN).data, strict=True):
        np.testing.assert_array_equal(dense(a), b)
    for a, b in zip(mine.held_out(TEST, TRAIN), plain.held_out(TEST, TRAIN), strict=True):
        np.testing.assert_array_equal(dense(a.data), b.data)
        np.testing.assert_array_equal(a.diagonal, b.diagonal)


def test_held_out_kernels_give_the_scores_of_held_out_features(rng):
    X, Y = rng.standard_normal((2, 20, 5))
    train, test = np.arange(12), np.arange(12, 20)
    plain, kernels = together(X, Y), together(X @ X.T, Y @ Y.T, (True, True))
    linear = KernelCCA(2, scale="rows").fit(*plain.rows(train).data)
    given = KernelCCA(2, kernel="precomputed").fit(*kernels.rows(train).data)
    for features, kernel, name in zip(plain.held_out(test, train), kernels.held_out(test, train), "XY", strict=True):
        transform = "transform" if name == "X" else "transform_y"
        np.testing.assert_allclose(getattr(given, transform)(*kernel), getattr(linear, transform)(*features), atol=1e-8)


def test_are_a_value(views):
    pairs = together(*views)
    other = pairs.permuted(None, np.arange(6)[::-1])
    assert pairs.orders == (None, None)
    assert other.data is pairs.data
    with pytest.raises(FrozenInstanceError):
        pairs.data = views[::-1]


def test_more_than_two(rng):
    data = tuple(rng.standard_normal((6, m)) for m in (4, 3, 2))
    views = Views(data, Groups.of(list("aabbcc"), 6), ("X", "Y", "Z"), (False,) * 3, (None,) * 3)
    order = rng.permutation(6)
    moved = views.permuted(None, order, None).rows(TRAIN)
    for part, whole in zip(moved.data, (data[0], data[1][order], data[2]), strict=True):
        np.testing.assert_array_equal(part, whole[TRAIN])
    assert moved.orders == (None,) * 3
    assert moved.groups.labels.tolist() == [2, 0, 2, 1]
