"""Decompositions without the GIL: the same as those of numpy."""

import numpy as np
import pytest

from scca.parallel import invert_by_triangle, leading_eigh, solve_by_triangle, triangle_of, whiten_by_triangle


def lower_of(matrix):
    """The symmetric matrix whose lower half is that of `matrix`."""
    return np.tril(matrix) + np.tril(matrix, -1).T


@pytest.fixture
def positive(rng):
    A = rng.standard_normal((40, 60))
    return A @ A.T


def test_triangle(positive, rng):
    L = triangle_of(positive.copy())
    np.testing.assert_allclose(np.tril(L), np.linalg.cholesky(positive))
    R = rng.standard_normal((40, 3))
    np.testing.assert_allclose(positive @ solve_by_triangle(L, R), R, atol=1e-10)
    np.testing.assert_allclose(lower_of(invert_by_triangle(L.copy())), np.linalg.inv(positive), atol=1e-10)
    C = rng.standard_normal((40, 40))
    C = C + C.T
    np.testing.assert_allclose(lower_of(whiten_by_triangle(C.copy(), L)), np.tril(L).T @ C @ np.tril(L), atol=1e-9)


def test_a_matrix_that_is_not_definite_is_refused(positive):
    with pytest.raises(np.linalg.LinAlgError):
        triangle_of(positive - 100.0 * np.eye(40))


def test_leading_eigenvectors(positive):
    values, vectors = leading_eigh(positive.copy(), 5)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(positive)[::-1][:5])
    np.testing.assert_allclose(positive @ vectors, vectors * values, atol=1e-9)
