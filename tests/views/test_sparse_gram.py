"""Inner products of sparse columns, however the selection grew."""

import numpy as np
import pytest
import scipy.sparse as sp

from scca.views import _sparse_gram
from scca.views._sparse_gram import SparseGram

COMPILED = ["_by_sample", "_by_count", "_add_products", "_add_products_within"]


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run with the compiled functions, and with the Python functions they were compiled from."""
    if request.param == "plain":
        for name in COMPILED:
            function = getattr(_sparse_gram, name)
            monkeypatch.setattr(_sparse_gram, name, getattr(function, "py_func", function))


def problem(rng, dtype=np.float64):
    A = sp.random_array((25, 40), density=0.2, format="csc", rng=rng, dtype=np.float64).astype(dtype)
    weights = rng.random(25)
    return A, weights, SparseGram((A.data, A.indices, A.indptr), weights)


@pytest.mark.usefixtures("either")
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
