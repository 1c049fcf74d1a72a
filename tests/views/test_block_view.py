"""Views in blocks against the same views in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import in_blocks

from scca.factors.products import (
    PooledScores,
    column_products,
    correlations,
    covariance,
    images,
    inner_products,
    row_squares,
)
from scca.samples import AllBut, summed
from scca.samples._views import chosen_rows
from scca.views import Preparation

N, M = 30, 8
SIZES = [[30], [11, 19], [1] * 30, [1, 28, 1]]
LEFT_OUT = {"none": [], "some": [0, 7, 8, 29], "whole blocks": list(range(11))}
STORES = {"dense": np.asarray, "single": lambda X: X.astype(np.float32), "sparse": sp.csr_array}


@pytest.fixture
def X(rng):
    X = rng.standard_normal((N, M)) * (rng.random((N, M)) < 0.6)
    X[3] = 0  # an empty sample
    X[:, 2] = 0  # an empty feature
    return X


def without(data, left_out):
    return data.chosen(AllBut(N, np.array(left_out, dtype=np.intp))) if left_out else data


def tolerance(data):
    return 1e-5 if data.dtype == np.float32 else 1e-10


@pytest.fixture(params=STORES)
def store(request):
    return STORES[request.param]


@pytest.mark.parametrize("left_out", LEFT_OUT.values(), ids=LEFT_OUT)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
class TestPreparation:
    @pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
    def test_moments_are_those_of_the_samples_that_count(self, X, store, sizes, left_out, offset):
        X = X.copy()
        X[:, 5] += offset
        X = store(X)
        here = Preparation.fit(X[np.setdiff1d(np.arange(N), left_out)])
        there = Preparation.fit(without(in_blocks([X], sizes)[0], left_out))
        np.testing.assert_allclose(there.mean, here.mean, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(there.offset, here.offset)

    @pytest.mark.parametrize("scale", ["rows", "columns", "both", None])
    @pytest.mark.parametrize("center", [True, False])
    @pytest.mark.parametrize("offset", [0.0, 1e8])
    def test_all_sums_are_those_of_the_view_in_memory(self, rng, X, store, sizes, left_out, center, scale, offset):
        X = X.copy()
        if center and store(X).dtype != np.float32:
            X[:, 5] += offset
        X, Y = store(X), store(rng.standard_normal((N, M - 2)))
        kept = np.setdiff1d(np.arange(N), left_out)
        settings = {"center": center, "scale": scale}
        here = [Preparation.fit(V[kept], **settings).transform(V[kept]) for V in (X, Y)]
        rows = [without(data, left_out) for data in in_blocks([X, Y], sizes)]
        there = [Preparation.fit(data, **settings).transform(data) for data in rows]
        assert_same_sums(here, there, rng, 1e-6 if offset and center else tolerance(X))


def assert_same_sums(here, there, rng, atol):
    """Everything that is computed from views of many samples."""

    def same(found, expected):
        np.testing.assert_allclose(found, expected, atol=atol, rtol=atol)

    assert [view.shape for view in there] == [view.shape for view in here]
    W = [rng.standard_normal((view.shape[1], 3)) for view in here]
    V = [rng.standard_normal((view.shape[1], 3)) for view in here]
    for a, b in zip(here, there, strict=True):
        same(b.square_norms(), a.square_norms())
        same(covariance(b, b), covariance(a, a))
    same(covariance(*there), covariance(*here))
    same(
        covariance(*there, rows=np.array([4, 1]), columns=np.array([0])),
        covariance(*here, rows=np.array([4, 1]), columns=np.array([0])),
    )
    for found, expected in zip(*(images(views, [0.5] * len(views), W) for views in (there, here)), strict=True):
        for f, e in zip(found, expected, strict=True):
            same(f, e)
    T, U = (PooledScores(there, weights) for weights in (W, V))
    t, u = (sum(view.matmat(w) for view, w in zip(here, weights, strict=True)) for weights in (W, V))
    same(inner_products(T, U), t.T @ u)
    same(inner_products(T, T), t.T @ t)
    same(column_products(T, U), np.sum(t * u, axis=0))
    for found, view in zip(correlations(there, T), here, strict=True):
        same(found, view.rmatmat(t))
    same(row_squares(T).mean(), np.sum(t**2, axis=1).mean())


def test_samples_count_by_their_weights(rng, X, store):
    X = store(X)
    rows = in_blocks([X], [11, 19])[0]
    there = Preparation.fit(rows).transform(rows)
    here = Preparation.fit(X).transform(X)
    squares = row_squares(PooledScores([there], [np.eye(M)]))
    in_memory = np.sum(here.matmat(np.eye(M)) ** 2, axis=1)
    assert_same_sums([here.reweighted(in_memory)] * 2, [there.reweighted(squares)] * 2, rng, tolerance(X))


class TestChosenRows:
    @pytest.mark.parametrize("sizes", SIZES, ids=str)
    @pytest.mark.parametrize("left_out", LEFT_OUT.values(), ids=LEFT_OUT)
    def test_are_in_memory_in_the_order_asked_for(self, rng, X, store, sizes, left_out):
        X = store(X)
        rows = without(in_blocks([X], sizes)[0], left_out)
        asked = rng.choice(rows.shape[0], 9)  # some of them twice
        found = rows.chosen(asked)
        kept = np.setdiff1d(np.arange(N), left_out)
        assert sp.issparse(found) == sp.issparse(X)
        assert found.dtype == X.dtype
        dense = [part.toarray() if sp.issparse(part) else part for part in (found, X)]
        np.testing.assert_array_equal(dense[0], dense[1][kept[asked]])

    def test_cost_one_pass(self, X):
        rows = in_blocks([X], [11, 19])[0]
        chosen_rows(rows, np.array([3, 20]))
        assert rows.remote.n_passes == 1

    def test_may_be_none(self, X, store):
        found = in_blocks([store(X)], [11, 19])[0].chosen(np.empty(0, dtype=np.intp))
        assert found.shape == (0, M)


def test_a_view_without_its_samples_refuses_products(X):
    rows = in_blocks([X], [11, 19])[0]
    view = Preparation.fit(rows).transform(rows)
    for call in (view.matvec, view.rmatvec, view.columns):
        with pytest.raises(NotImplementedError, match="can only be summed over"):
            call(np.zeros(M))
    with pytest.raises(NotImplementedError, match="can only be summed over"):
        view.sample_squares()


def test_new_samples_are_prepared_as_in_memory(rng, X, store):
    X, new = store(X), rng.standard_normal((4, M))
    rows = in_blocks([X], [11, 19])[0]
    directions = rng.standard_normal((M, 2))
    here = Preparation.fit(X).transform(X).projector(directions)
    there = Preparation.fit(rows).transform(rows).projector(directions)
    np.testing.assert_allclose(there(new), here(new), atol=tolerance(X))


def sizes_of(items):
    return items[0].shape[0]


def test_describes_itself(X):
    rows = in_blocks([X], [11, 19])[0]
    assert repr(rows) == "<30 x 8 X in blocks>"
    assert summed(sizes_of, [rows]) == 30


def test_samples_brought_here_do_not_travel_back(X):
    import pickle

    rows = in_blocks([X], [N])[0]
    assert rows.evenly(5).shape == (5, M)
    assert rows.evenly(5) is rows.evenly(5)
    assert "_some" not in vars(pickle.loads(pickle.dumps(rows)))
