"""The compiled loops on a working set, compared with what they have to solve."""

import numpy as np
import pytest
from oracles import lasso_dual_bound

from scca.solver import _restricted, solve_restricted
from scca.solver._restricted import _newton_direction


@pytest.fixture(params=["compiled", "plain"])
def direction_of(request):
    """The compiled function, and the Python function it was compiled from."""
    plain = getattr(_newton_direction, "py_func", _newton_direction)
    return plain if request.param == "plain" else _newton_direction


class TestNewtonDirection:
    @pytest.mark.parametrize("size", [1, 3, 4, 5, 8, 23])
    def test_independent_columns(self, rng, direction_of, size):
        A = rng.standard_normal((30, size))
        hessian, downhill = A.T @ A, rng.standard_normal(size)
        direction, curved = direction_of(hessian.copy(), downhill)
        assert curved
        np.testing.assert_allclose(hessian @ direction, downhill, atol=1e-10)

    @pytest.mark.parametrize("copies", [1, 3, 6])
    def test_equal_columns_that_the_objective_cannot_tell_apart(self, rng, direction_of, copies):
        """One of them moves for all, and the step is still the whole way to the minimum."""
        A = rng.standard_normal((30, 10))
        A = np.hstack([A, A[:, :copies]])[:, rng.permutation(10 + copies)]
        hessian, downhill = A.T @ A, A.T @ rng.standard_normal(30)
        direction, curved = direction_of(hessian.copy(), downhill)
        assert curved
        np.testing.assert_allclose(hessian @ direction, downhill, atol=1e-9)
        assert np.count_nonzero(direction) == 10

    def test_a_slope_along_dependent_columns_is_followed(self, rng, direction_of):
        A = rng.standard_normal((30, 9))
        A = np.hstack([A, A[:, :1]])
        hessian, downhill = A.T @ A, rng.standard_normal(10)
        direction, curved = direction_of(hessian.copy(), downhill)
        assert not curved
        np.testing.assert_allclose(A @ direction, 0, atol=1e-10)
        assert direction @ downhill > 0


def test_equal_columns_take_one_factorisation(rng, monkeypatch):
    """Words that occur together used to stop every Newton step; the plain code shows how often one is made."""
    made = []

    def counted(*given):
        made.append(len(given[1]))
        return plain(*given)

    plain = getattr(_newton_direction, "py_func", _newton_direction)
    monkeypatch.setattr(_restricted, "_newton_direction", counted)
    face = getattr(_restricted._minimise_on_face, "py_func", _restricted._minimise_on_face)
    A = rng.standard_normal((30, 8))
    A = np.hstack([A, A])
    z = np.full(16, 5.0)
    gram, target = A.T @ A, A @ z
    penalties, correlations = np.full(16, 1e-3), A.T @ (target + 1e-3 * rng.standard_normal(30)) - A.T @ (A @ z)
    before = correlations + gram @ z
    face(gram, z, correlations, penalties, np.full(16, np.inf), 1e9)
    assert made == [16]
    np.testing.assert_allclose(correlations, before - gram @ z, atol=1e-9)
    np.testing.assert_allclose(correlations, 0.5 * penalties * np.sign(z), atol=1e-9)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-4, 1e-10])
def test_stops_at_the_tolerance_asked_for(rng, tolerance):
    """However rough: the gap, computed anew, is at most the tolerance, and b - Gz has been kept up to date."""
    A, y = rng.standard_normal((40, 25)), rng.standard_normal(40)
    mu, z, correlations = 4.0, np.zeros(25), A.T @ y
    unbounded = np.full(25, np.inf)
    solve_restricted(A.T @ A, z, correlations, np.full(25, mu), -unbounded, unbounded, y @ y, tolerance)
    r = y - A @ z
    assert r @ r + mu * np.abs(z).sum() - lasso_dual_bound(A, y, z, mu) <= tolerance + 1e-12
    np.testing.assert_allclose(correlations, A.T @ r, atol=1e-10)
