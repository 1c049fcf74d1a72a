"""Scaling of columns and samples, against dense arithmetic; what decides by itself which scaling suits data."""

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import in_blocks
from oracles import assert_is, prepare, shrinkage

from scca.views import UNIT, Kernel, Norm, Preparation, StoredKernelView, norm_of, suitable_scale

SCALES = ["columns", "rows", "both", None]
STORES = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array]


def table(rng, n=30, m=8):
    """Columns in many units, many zeros, one far from zero, one constant."""
    X = rng.standard_normal((n, m)) @ rng.standard_normal((m, m)) * np.logspace(-4, 4, m)
    X[:, 1:4] *= rng.random((n, 3)) < 0.4
    X[:, 5] += 1e3 * np.abs(X[:, 5]).max()
    X[:, 6] = 7.25
    return X


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("store", STORES)
class TestPreparation:
    def test_training_samples(self, rng, store, center, scale):
        X = table(rng)
        view = Preparation.fit(store(X), center=center, scale=scale).transform(store(X))
        expected = prepare(X, center, scale)
        assert_is(view, expected, rng, atol=1e-9 * max(1, np.abs(expected).max() ** 2))
        assert view.unit == pytest.approx(np.mean(np.sum(expected**2, axis=1)) if scale in ("columns", None) else 1)

    def test_new_samples_are_scaled_as_those_in_training(self, rng, store, center, scale):
        X, new, W = table(rng), table(rng, 9), rng.standard_normal((8, 2))
        preparation = Preparation.fit(store(X), center=center, scale=scale)
        A, B = new.copy(), X.copy()
        if center:
            A, B = new - X.mean(axis=0), X - X.mean(axis=0)
        if scale in ("columns", "both"):
            spread = X.std(axis=0)
            A, B = (np.where(spread > 0, V, 0) / np.where(spread > 0, spread, 1) for V in (A, B))
        b, size = shrinkage(B) if scale == "both" else (0, 1)
        if scale in ("rows", "both"):
            A = A / np.sqrt(b * size + (1 - b) * np.sum(A**2, axis=1, keepdims=True))
        found = preparation.project(store(new), W)
        np.testing.assert_allclose(found, A @ W, atol=1e-8 * np.abs(A @ W).max())
        np.testing.assert_allclose(preparation.transform(store(new)).matmat(W), found, atol=1e-8 * np.abs(found).max())


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("exponent", [-290, -200, -20, 0, 20, 60])
def test_spreads_of_columns_in_any_unit(rng, store, exponent):
    """Squares of such values would underflow."""
    X = rng.standard_normal((25, 5)) * (rng.random((25, 5)) < 0.7)
    scaled = X * np.array([1, 10.0**exponent, 1, 10.0**exponent, 1])
    view = Preparation.fit(store(scaled), scale="columns").transform(store(scaled))
    np.testing.assert_allclose(view.columns(np.arange(5)), prepare(X, scale="columns"), atol=1e-10)


def test_a_column_that_is_constant_up_to_rounding_is_not_read(rng):
    X = rng.standard_normal((20, 3))
    X[:, 1] = 0.1 + 1e-17 * np.arange(20) + np.where(np.arange(20) % 2, 1.4e-17, 0)
    for stored in (X, sp.csr_array(X)):
        preparation = Preparation.fit(stored, scale="columns")
        assert preparation.spread[1] == 0
        assert not preparation.transform(stored).columns(np.array([1])).any()


class TestNorm:
    def test_a_single_column_has_the_same_divisor_for_all(self, rng):
        for column in (rng.standard_normal((30, 1)), rng.exponential(size=(30, 1)) ** 3):
            b, _ = norm(column)
            assert b == pytest.approx(1, abs=1e-12)

    def test_few_columns_on_their_own_are_hardly_divided(self, rng):
        assert norm(rng.standard_normal((4000, 2)))[0] > 0.9
        assert norm(rng.standard_normal((4000, 30)))[0] > 0.9  # norms differ by chance alone

    def test_samples_of_unequal_size_are_divided_by_their_norm(self, rng):
        sizes = rng.lognormal(sigma=1, size=(500, 1))
        assert norm(sizes * rng.standard_normal((500, 300)))[0] < 0.02
        assert norm((rng.random((500, 300)) < 0.3 * sizes / sizes.max()).astype(float))[0] < 0.1

    def test_is_that_of_its_definition(self, rng):
        for A in (rng.standard_normal((12, 3)), rng.standard_normal((40, 7)) ** 3, rng.exponential(size=(9, 200))):
            np.testing.assert_allclose(norm(A), shrinkage(A - A.mean(axis=0)), rtol=1e-10)

    def test_depends_neither_on_units_nor_on_order_nor_on_copies_of_columns(self, rng):
        A = rng.standard_normal((30, 6)) * rng.exponential(size=(30, 1))
        b, size = norm(A)
        for other, times in ((1e9 * A, 1e18), (A[::-1, ::-1], 1), (np.hstack([A, A]), 2)):
            np.testing.assert_allclose(norm(other), (b, times * size), rtol=1e-10)

    def test_many_samples_are_judged_by_some(self, rng, monkeypatch):
        import scca.views._preparation as module

        A = rng.standard_normal((3000, 10)) * rng.exponential(size=(3000, 1))
        whole = norm(A)
        monkeypatch.setattr(module, "_MOST_PRODUCTS", 0)
        some = norm(A)
        assert some[1] == whole[1]
        assert some[0] != whole[0]
        assert some[0] == pytest.approx(whole[0], rel=0.2)

    def test_inverse(self):
        squares, noise = np.array([4.0, 0.0, 1e-30]), np.array([0.0, 0.0, 1e-20])
        np.testing.assert_allclose(UNIT.inverse(squares, noise), [0.5, 1, 1])
        np.testing.assert_allclose(Norm(1.0, 9.0).inverse(squares, noise), [1 / 3] * 3)
        np.testing.assert_allclose(Norm(0.5, 8.0).inverse(squares, noise), 1 / np.sqrt([6, 4, 4]))
        assert norm_of(None, np.eye(3)) is norm_of("columns", np.eye(3)) is None


def norm(A):
    """b and s^2 of a view whose columns stay as they are."""
    found = Preparation.fit(A, scale=None).with_norms("both", A).norm
    return found.shrinkage, found.size


@pytest.mark.parametrize("scale", SCALES)
def test_a_kernel_of_scaled_columns(rng, scale):
    X, new = table(rng), table(rng, 6)
    spread = X.std(axis=0) if scale in ("columns", "both") else None
    factors = np.ones(8) if spread is None else np.divide(1, spread, out=np.zeros(8), where=spread > 0)
    view = StoredKernelView.of(X * factors, Kernel("linear", {}), center=True, scale=scale, spread=spread)
    features = prepare(X, scale=scale)
    np.testing.assert_allclose(view.columns(np.arange(30)), features @ features.T, atol=1e-8 * np.sum(features**2))
    weights = rng.standard_normal((30, 2))
    by_features = Preparation.fit(X, scale=scale).project(new, features.T @ weights)
    found = view.projector(weights)(new, None)
    np.testing.assert_allclose(found, by_features, atol=1e-6 * np.abs(by_features).max())


class TestSuitableScale:
    def test_of_tables_and_of_words(self, rng):
        words = rng.poisson(0.2, size=(50, 40)) * rng.random(40)
        for data, expected in (
            (rng.standard_normal((50, 10)), "both"),
            (np.exp(rng.standard_normal((50, 10))), "both"),  # positive, but measured everywhere
            (words, "rows"),
            ((words > 0).astype(float), "rows"),
            (words - 0.01 * (words > words.max() / 2), "rows"),
            (words - 2 * words * (words == words.max()), "both"),  # one negative value
            (words * np.append(np.ones(39), 0) + np.eye(1, 40, 39), "rows"),
        ):
            assert suitable_scale(data) == expected
            assert suitable_scale(sp.csr_array(data)) == expected
            assert suitable_scale(in_blocks([sp.csr_array(data)], [20, 30])[0]) == expected

    def test_zeros_count_by_value(self, rng):
        words = (rng.random((20, 30)) < 0.5) * 1.0
        words[0, :] = 0.0
        everywhere = sp.csr_array((words.ravel(), np.tile(np.arange(30), 20), np.arange(21) * 30), shape=(20, 30))
        assert everywhere.nnz == 600
        assert suitable_scale(everywhere) == suitable_scale(words)

    def test_at_least_half_are_zero(self):
        half = np.tile([[1.0, 2.0, 0.0, 0.0]], (10, 1))
        assert suitable_scale(half) == "rows"
        half[0, 2] = 1.0
        assert suitable_scale(half) == "both"

    def test_a_norm_says_nothing_of_samples_with_one_value(self, rng):
        counts = rng.poisson(0.5, size=(60, 1)).astype(float)
        labels = np.eye(5)[rng.integers(5, size=60)]
        for data in (counts, np.hstack([counts, counts[::-1]]), labels):
            assert (data == 0).mean() >= 0.5
            assert suitable_scale(data) == "both"
