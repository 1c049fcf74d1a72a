"""Large dense data, in memory or in a file, give the same model as small ones, and are never copied as a whole."""

import tracemalloc

import numpy as np
import pytest

import scca.parallel._tasks as working
import scca.samples._views as arrays
from scca import SparseCCA
from scca.factors import find

SETTINGS = {"defaults": {}, "dense": {"rendering": "dense"}, "all features": {"n_features": None}, "mu": {"mu": 0.05}}


def pair(n, m, q):
    rng = np.random.default_rng(0)
    T = rng.standard_normal((n, 3))
    X, Y = rng.standard_normal((n, m)), rng.standard_normal((n, q))
    X[:, : m // 8] += T @ rng.standard_normal((3, m // 8))
    Y[:, : q // 4] += T @ rng.standard_normal((3, q // 4))
    return X.astype(np.float32), Y.astype(np.float32)


def in_file(X, path, order="C"):
    np.save(path, np.asarray(X, order=order))
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("order", "CF")
def test_same_model_in_tiles_from_a_file(settings, order, tmp_path, monkeypatch):
    X, Y = pair(60, 300, 80)
    expected = SparseCCA(2, **settings).fit(X, Y)
    monkeypatch.setattr(arrays, "_TILE_ENTRIES", 1000)
    monkeypatch.setattr(arrays, "_MOST_COPIED", 1000)
    monkeypatch.setattr(find, "_MOST_COPIED", 1000)
    found = SparseCCA(2, **settings).fit(in_file(X, tmp_path / "X.npy", order), in_file(Y, tmp_path / "Y.npy", order))
    assert found.x_weights_.dtype == found.x_loadings_.dtype == np.float32
    np.testing.assert_allclose(found.held_out_correlations_, expected.held_out_correlations_, atol=1e-5)
    np.testing.assert_allclose(found.correlations_, expected.correlations_, atol=1e-6)
    np.testing.assert_allclose(found.x_loadings_, expected.x_loadings_, atol=1e-6)
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"held_out": 2}, id="two folds"),
        pytest.param({}, id="defaults", marks=pytest.mark.slow),
        pytest.param({"held_out": 0, "rendering": "dense"}, id="dense"),
    ],
)
@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "file"])
def test_no_copy_of_the_whole(settings, mapped, tmp_path, monkeypatch):
    X, Y = pair(200, 20_000, 50)  # 16 MB; weights and loadings take 0.3 MB each
    monkeypatch.setattr(arrays, "_TILE_ENTRIES", 1 << 14)
    monkeypatch.setattr(arrays, "_MOST_COPIED", 1 << 14)
    monkeypatch.setattr(find, "_MOST_COPIED", 1 << 14)
    monkeypatch.setattr(working, "_N_CORES", 1)  # folds side by side have tiles and sums of their own each
    if mapped:
        X = in_file(X, tmp_path / "X.npy")
    SparseCCA(1).fit(*pair(20, 30, 30))  # compiles
    tracemalloc.start()
    SparseCCA(2, **settings).fit(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # a copy alone would take 1.0; vectors over all features, of which folds have their own, take the rest
    assert peak < 0.9 * X.nbytes
