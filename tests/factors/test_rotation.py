"""Varimax: an orthogonal matrix that no other beats, and simple structure where there is some."""

import numpy as np
import pytest
from scipy.stats import ortho_group

from scca.factors.find import _gradient_by_moments, _gradient_by_rows, equalized, varimax


def criterion(B):
    return np.sum(np.var(B**2, axis=0))


def test_no_rotation_of_the_plane_is_simpler(rng):
    L = rng.standard_normal((30, 2)) * [2.0, 1.0]
    found = varimax(L)
    angles = np.linspace(0, np.pi, 2001)
    best = max(criterion(L @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in angles)
    assert criterion(L @ found.matrix) >= best * (1 - 1e-6)
    assert found.converged


def test_is_a_rotation_that_random_ones_do_not_beat(rng):
    L = rng.standard_normal((50, 5)) ** 3
    R = varimax(L).matrix
    np.testing.assert_allclose(R.T @ R, np.eye(5), atol=1e-12)
    others = ortho_group(5, seed=0).rvs(200)
    assert criterion(L @ R) > max(criterion(L @ other) for other in others)


def test_simple_structure_is_found_again(rng):
    """Factors of features of their own, turned: turned back, but for order and sign."""
    simple = np.kron(np.eye(4), np.ones((10, 1))) * rng.uniform(0.5, 1.0, (40, 1))
    turned = simple @ ortho_group(4, seed=1).rvs()
    found = turned @ varimax(turned).matrix
    cosines = np.abs(found.T @ simple) / np.linalg.norm(found, axis=0)[:, None] / np.linalg.norm(simple, axis=0)
    np.testing.assert_allclose(np.sort(cosines, axis=1)[:, -1], 1, atol=1e-6)
    assert sorted(cosines.argmax(axis=1)) == [0, 1, 2, 3]


def test_starting_elsewhere_changes_the_rotation_and_not_the_factors(rng):
    L = np.kron(np.eye(3), np.ones((8, 1))) + 0.1 * rng.standard_normal((24, 3))
    Q = ortho_group(3, seed=2).rvs()
    one, other = L @ varimax(L).matrix, L @ Q @ varimax(L @ Q).matrix
    np.testing.assert_allclose(np.abs(one.T @ other).max(axis=1), np.sum(one**2, axis=0), rtol=1e-4)


@pytest.mark.parametrize(("n_rows", "n_factors"), [(40, 12), (3000, 8), (200, 60)])
def test_no_plain_step_gains_anything(rng, n_rows, n_factors):
    """The steps that go beyond plain ones end where those would."""
    L = rng.standard_normal((n_rows, n_factors)) ** 3 @ ortho_group(n_factors, seed=3).rvs()
    found = varimax(L)
    B = L @ found.matrix
    U, _, V = np.linalg.svd(L.T @ (B**3 - B * np.mean(B**2, axis=0)))
    assert found.converged
    assert criterion(L @ U @ V) <= criterion(B) * (1 + 1e-6)
    assert criterion(B) > criterion(L)


class TestEqualized:
    def test_rows_keep_their_direction_and_their_order_of_size(self, rng):
        loadings = rng.standard_normal((30, 4)) * np.linspace(0.01, 10, 30)[:, None]
        found = equalized(loadings)
        norms, before = np.linalg.norm(found, axis=1), np.linalg.norm(loadings, axis=1)
        np.testing.assert_allclose(found / norms[:, None], loadings / before[:, None])
        assert (np.argsort(norms) == np.argsort(before)).all()
        assert norms.max() < 1

    def test_what_is_far_above_the_mean_has_unit_norm_and_what_is_far_below_none(self, rng):
        loadings = rng.standard_normal((1000, 3))
        loadings[0] *= 1e4
        norms = np.linalg.norm(equalized(loadings), axis=1)
        assert norms[0] == pytest.approx(1, abs=0.01)
        assert norms[1:].max() < 0.2

    def test_the_unit_of_measurement_does_not_matter(self, rng):
        loadings = rng.standard_normal((20, 3))
        np.testing.assert_allclose(equalized(1e6 * loadings), equalized(loadings))
        assert not equalized(np.zeros((4, 2))).any()

    def test_turning_the_factors_turns_the_rows(self, rng):
        loadings, (R, _) = rng.standard_normal((20, 3)), np.linalg.qr(rng.standard_normal((3, 3)))
        np.testing.assert_allclose(equalized(loadings @ R), equalized(loadings) @ R)


def test_gradient_by_moments_is_the_gradient(rng, monkeypatch):
    monkeypatch.setattr("scca.samples._views._TILE_ENTRIES", 100)
    L = rng.standard_normal((300, 5)) ** 3
    R = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    expected = _gradient_by_rows(L, 400)(R)
    found = _gradient_by_moments(L, 400)(R)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("n_factors", [5, 40])  # by moments, by rows
def test_rows_of_zeros_count_although_they_are_left_out(rng, n_factors):
    """The gradient of the criterion of all rows, by differences."""
    L = np.zeros((400, n_factors))
    L[::2] = rng.standard_normal((200, n_factors)) ** 3
    R, direction = np.linalg.qr(rng.standard_normal((n_factors, n_factors)))[0], rng.standard_normal(L.shape[1:] * 2)
    gradient = _gradient_by_moments if n_factors < 10 else _gradient_by_rows
    step = 1e-5
    slope = (criterion(L @ (R + step * direction)) - criterion(L @ (R - step * direction))) / (2 * step)
    found = 4 * np.sum(gradient(L[::2], len(L))(R) * direction) / len(L)
    assert found == pytest.approx(slope, rel=1e-5)
    dense = L + 1e-100  # the same criterion, without a row of zeros
    np.testing.assert_allclose(varimax(L).matrix, varimax(dense).matrix, atol=1e-9)


def test_nothing_is_not_rotated():
    np.testing.assert_array_equal(varimax(np.zeros((6, 3))).matrix, np.eye(3))
