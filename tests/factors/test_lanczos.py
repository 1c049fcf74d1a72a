"""Block Lanczos: the eigenvectors of a direct decomposition, or none."""

import numpy as np
import pytest

import scca.factors.find as module
from scca.factors._lanczos import leading_eigenvectors
from scca.factors.find import of_two


def spectrum(values, seed=0):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return Q * values @ Q.T, Q


@pytest.mark.parametrize("decay", ["fast", "slow", "in pairs", "of low rank"])
def test_finds_the_largest_eigenvalues_and_their_vectors(decay):
    n = 600
    values = {
        "fast": 0.9 ** np.arange(n),
        "slow": 1.0 / np.sqrt(1.0 + np.arange(n)),
        "in pairs": np.repeat(0.95 ** np.arange(n // 2), 2),
        "of low rank": np.where(np.arange(n) < 40, 2.0 - np.arange(n) / 40, 0.0),
    }[decay]
    C, Q = spectrum(values)
    found, U = leading_eigenvectors(lambda V: C @ V, n, 8)
    np.testing.assert_allclose(found, values[:8], rtol=1e-12)
    np.testing.assert_allclose(U.T @ U, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(C @ U, U * found, atol=2e-8 * found[0])
    np.testing.assert_allclose(np.linalg.svd(Q[:, :8].T @ U, compute_uv=False), 1, atol=1e-10)  # the same space


def test_too_close_eigenvalues_are_left_to_others():
    C, _ = spectrum(1.0 + 1e-9 * np.arange(300))
    C[::2, ::2] += np.diag(np.linspace(0, 1e-6, 150))
    assert leading_eigenvectors(lambda V: C @ V, 300, 10) is None


@pytest.mark.parametrize("shape", [(300, 420), (420, 300)])
def test_singular_vectors_do_not_depend_on_how_they_are_found(rng, monkeypatch, shape):
    M = rng.standard_normal(shape) * 0.97 ** np.arange(shape[1])
    expected, Z = of_two(M, 5)
    monkeypatch.setattr(module, "_MANY", 100)
    calls = []
    monkeypatch.setattr(module, "leading_eigenvectors", lambda *given: calls.append(1) or leading_eigenvectors(*given))
    found, W = of_two(M, 5)
    assert calls
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(Z * W, axis=0)), 1, atol=1e-12)


def test_what_an_iteration_does_not_find_is_decomposed(rng, monkeypatch):
    M = rng.standard_normal((200, 200))
    expected, _ = of_two(M, 3)
    monkeypatch.setattr(module, "_MANY", 100)
    monkeypatch.setattr(module, "leading_eigenvectors", lambda *_: None)
    np.testing.assert_array_equal(of_two(M, 3)[0], expected)
