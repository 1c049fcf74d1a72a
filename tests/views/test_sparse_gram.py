"""Inner products of sparse columns, however the selection grew."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from scca.views import FeatureView, _sparse_gram
from scca.views._sparse_gram import SparseGram
from scca.views._storage import SparseStorage

COMPILED = ["_by_sample", "_by_count", "_add_products", "_add_products_within"]


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run with the compiled functions, and with the Python functions they were compiled from."""
    if request.param == "plain":
        for name in COMPILED:
            function = getattr(_sparse_gram, name)
            monkeypatch.setattr(_sparse_gram, name, getattr(function, "py_func", function))


@pytest.fixture(params=["all parts kept", "small ones sorted again"])
def parts(request, monkeypatch):
    if request.param == "all parts kept":
        monkeypatch.setattr(_sparse_gram, "_WORTH_KEEPING", 0)


def problem(rng, dtype=np.float64, n=25):
    A = sp.random_array((n, 40), density=0.2, format="csc", rng=rng, dtype=np.float64).astype(dtype)
    weights = rng.random(n)
    return A, weights, SparseGram((A.data, A.indices, A.indptr), weights)


@pytest.mark.usefixtures("either", "parts")
class TestProducts:
    @pytest.mark.parametrize("sizes", [[40], [10, 5, 1, 24], [1] * 40, [0, 7, 0, 3]])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_of_a_growing_selection(self, rng, sizes, dtype):
        A, weights, gram = problem(rng, dtype)
        columns = rng.permutation(40)
        dense = A.toarray().astype(np.float64)
        size = 0
        for added in sizes:
            start, size = size, size + added
            chosen = dense[:, columns[:size]]
            products = gram.products(columns[:size], start)
            np.testing.assert_allclose(products, (chosen.T * weights) @ chosen[:, start:], atol=1e-12)

    def test_from_any_position(self, rng):
        A, weights, gram = problem(rng)
        dense = A.toarray()
        for start in (20, 5, 33, 0, 40):
            expected = (dense.T * weights) @ dense[:, start:]
            np.testing.assert_allclose(gram.products(np.arange(40), start), expected, atol=1e-12)


@pytest.mark.usefixtures("parts")
def test_of_more_samples_than_a_block_has(rng):
    A, weights, gram = problem(rng, n=2 * _sparse_gram._SAMPLES_AT_ONCE + 100)
    dense = A.toarray()
    for start in (0, 15, 30):
        chosen = dense[:, : start + 10]
        expected = (chosen.T * weights) @ chosen[:, start:]
        np.testing.assert_allclose(gram.products(np.arange(start + 10), start), expected, atol=1e-10)


def test_entries_of_a_column_in_any_order(rng):
    A = problem(rng, n=2 * _sparse_gram._SAMPLES_AT_ONCE)[0]
    shuffled = A.copy()
    for start, stop in pairwise(A.indptr):
        order = start + rng.permutation(stop - start)
        shuffled.indices[start:stop], shuffled.data[start:stop] = A.indices[order], A.data[order]
    shuffled.has_sorted_indices = False
    before = shuffled.indices.copy()
    selection = FeatureView(SparseStorage(shuffled)).selection()
    selection.add(np.arange(40))
    np.testing.assert_allclose(selection.gram(0), (A.T @ A).toarray(), atol=1e-10)
    np.testing.assert_array_equal(shuffled.indices, before)  # the caller's matrix stays as it is
