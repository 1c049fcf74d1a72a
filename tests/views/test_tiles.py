"""A view of a large dense array, read a tile at a time, is the dense matrix it stands for."""

import numpy as np
import pytest
from oracles import assert_is, prepare

from scca.samples._views import ChosenRows
from scca.views import Preparation


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("scca.samples._views._TILE_ENTRIES", 40)


def in_file(X, path):
    np.save(path, X)
    return np.load(path, mmap_mode="r")


STORES = {
    "memory": lambda X, path: X,
    "by columns": lambda X, path: np.asfortranarray(X),
    "float32": lambda X, path: X.astype(np.float32),
    "file": in_file,
    "file by columns": lambda X, path: in_file(np.asfortranarray(X), path),
    "rows": lambda X, path: ChosenRows(np.vstack([X[::-1], X]), len(X) + np.arange(len(X))),
}


@pytest.mark.parametrize("shape", [(12, 90), (90, 12)], ids=["wide", "tall"])
@pytest.mark.parametrize("offset", [0.0, 3e4])  # a large one is subtracted from the data, not within products
@pytest.mark.parametrize("store", STORES)
class TestFeatures:
    def views(self, store, shape, offset, rng, path):
        X = (offset + rng.integers(-8, 9, shape) / 4).astype(np.float64)  # exact in float32
        stored = STORES[store](X, path / "X.npy")
        return X, stored, Preparation.fit(stored)

    def test_view(self, store, shape, offset, rng, tmp_path):
        X, stored, preparation = self.views(store, shape, offset, rng, tmp_path)
        view, matrix = preparation.transform(stored), prepare(X)
        atol = 1e-10 if offset == 0 else 1e-9
        assert_is(view, matrix, rng, atol=atol)
        W, R, L = (rng.standard_normal((size, 3)) for size in (shape[1], shape[0], shape[0]))
        np.testing.assert_allclose(view.matmat(W), matrix @ W, atol=atol)
        np.testing.assert_allclose(view.rmatmat(R), matrix.T @ R, atol=atol)
        np.testing.assert_allclose(view.outer(), matrix @ matrix.T, atol=atol)
        L = rng.standard_normal((shape[0], shape[0]))
        images, around_mean = view.deviations(L)
        np.testing.assert_allclose(images, np.sum((L @ matrix) ** 2, axis=0), atol=100 * atol)
        np.testing.assert_allclose(around_mean, shape[0] * matrix.var(axis=0), atol=atol)
        np.testing.assert_allclose(preparation.project(stored, W), matrix @ W, atol=atol)

    def test_features_without_weight_are_not_read(self, store, shape, offset, rng, tmp_path):
        X, stored, preparation = self.views(store, shape, offset, rng, tmp_path)
        weights = np.where(rng.random(shape[1]) < 0.3, rng.random(shape[1]), 0.0)
        preparation = preparation.weighted(weights, stored)
        view, matrix = preparation.transform(stored), prepare((X - X.mean(axis=0)) * weights)
        atol = 1e-10 if offset == 0 else 1e-9
        assert view.n_stored == shape[0] * np.count_nonzero(weights)
        assert_is(view, matrix, rng, atol=atol)
        np.testing.assert_allclose(view.outer(), matrix @ matrix.T, atol=atol)
        W = rng.standard_normal((shape[1], 2))
        np.testing.assert_allclose(preparation.project(stored, W), matrix @ W, atol=atol)
        chosen = np.sort(rng.permutation(shape[1])[:11])
        assert_is(view.restricted(chosen), matrix[:, chosen], rng, atol=atol)
        again = view.restricted(np.arange(shape[1])[::-1]).restricted(np.arange(9))
        assert_is(again, matrix[:, ::-1][:, :9], rng, atol=atol)
        read = np.zeros(shape[0], dtype=bool)
        np.testing.assert_array_equal(preparation.reads(stored), read | X[:, weights != 0].any(axis=1))
