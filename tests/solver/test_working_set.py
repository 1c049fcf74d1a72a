"""A working set: its Gram matrix however it grew, which coordinates join it, and rough early rounds."""

import numpy as np
import pytest
import scipy.sparse as sp

from scca import solve_component
from scca.datasets import make_planted
from scca.solver import ComponentProblem, Design, _problem, _working_set
from scca.solver._certified import Point
from scca.solver._working_set import WorkingSet
from scca.views import FeatureView, storage_of

COMPILED = [(_problem, "_coordinates_of_certificate")] + [
    (_working_set, name) for name in ("_joining", "_worst", "solve_inside", "_write_block")
]
STORAGES = {"dense": np.asarray, "csc": sp.csc_array, "csr": sp.csr_array}


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run with the compiled functions, and with the Python functions they were compiled from."""
    if request.param == "plain":
        for module, name in COMPILED:
            function = getattr(module, name)
            monkeypatch.setattr(module, name, getattr(function, "py_func", function))


def planted(n=60, m=500, density=1.0, storage="dense", dtype=np.float64):
    """X as it is stored, and a kernel, dense; many more features violate their condition at first than can join."""
    X, Y = make_planted(n, m, m, n_factors=2, n_active=10, density=density, random_state=0).views
    X, Y = (np.asarray(view.toarray() if sp.issparse(view) else view, dtype=dtype) for view in (X, Y))
    return STORAGES[storage](X), np.asarray(Y @ Y.T, dtype=np.float64)


def problem_of(X, K, factor=1.0):
    design = Design(FeatureView(storage_of(X)), FeatureView(storage_of(K, symmetric=True)), K[:, 0].copy(), 0)
    w_part, e_part = design.split(2 * np.abs(design.correlations_of_y))
    return ComponentProblem(design, factor * w_part.mean(), factor * e_part.mean())


def at(problem, z):
    """Where a round starts from z."""
    r = problem.design.residual(z)
    correlations = problem.design.correlations(r)
    certificate = problem.certificate(z, r, correlations)
    return Point(z, r, correlations, certificate.excess, certificate.objective - certificate.bound)


@pytest.mark.usefixtures("either")
class TestRound:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("storage", STORAGES)
    def test_gram_matrix_of_a_growing_set(self, storage, dtype):
        """Coordinates of w and of e join in turn, so that the set has them in no order."""
        X, K = planted(density=0.1, storage=storage, dtype=dtype)
        problem = problem_of(X, K, 0.3)
        dense = X.toarray() if sp.issparse(X) else X
        M = np.hstack([dense.astype(np.float64), -K])
        algorithm, z = WorkingSet(problem, 1e-9), np.zeros(problem.design.size)
        sizes = []
        for _ in range(3):
            z, r = algorithm.improve(at(problem, z))
            chosen = M[:, algorithm._indices]
            sizes.append(chosen.shape[1])
            found = algorithm._gram[: sizes[-1], : sizes[-1]]
            np.testing.assert_allclose(found, chosen.T @ chosen, atol=1e-11 * np.abs(found).max())
            np.testing.assert_allclose(r, K[:, 0] - M @ z, atol=1e-9 * np.abs(K[:, 0]).max())
        assert sizes[0] < sizes[1] < sizes[2]
        assert 0 < np.count_nonzero(algorithm._indices >= problem.design.n_w) < sizes[-1]

    def test_the_worst_join_and_the_others_wait(self):
        X, K = planted()
        problem = problem_of(X, K)
        algorithm, start = WorkingSet(problem, 1e-9), at(problem, np.zeros(problem.design.size))
        grown, all_joined = algorithm._grow(start)
        assert grown
        assert not all_joined
        w_excess, inside = start.excess[: problem.design.n_w], algorithm._inside[: problem.design.n_w]
        assert w_excess[inside].min() >= w_excess[~inside].max() > 0

    def test_weights_join_and_of_equally_bad_ones_the_first(self):
        z = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0])
        excess = np.array([5.0, -1.0, 7.0, 5.0, 5.0, 9.0, 0.0, -0.5])
        inside = np.arange(8) == 5
        new, all_join = _working_set._worst(z, excess, inside, -1.0, 3)
        np.testing.assert_array_equal(new, [0, 1, 2, 3, 6])
        assert not all_join
        np.testing.assert_array_equal(np.flatnonzero(inside), [0, 1, 2, 3, 5, 6])
        new, all_join = _working_set._worst(z, excess, inside, -1.0, 3)
        np.testing.assert_array_equal(new, [4, 7])
        assert all_join

    def test_those_that_nearly_violate_wait_for_those_that_do(self):
        excess = np.array([-0.3, 1.0, -0.2, 2.0, -0.1, -5.0])
        new, all_join = _working_set._worst(np.zeros(6), excess, np.zeros(6, dtype=bool), -1.0, 3)
        np.testing.assert_array_equal(new, [1, 3, 4])
        assert all_join

    def test_all_have_joined_once_no_other_violates(self):
        X, K = planted(n=20, m=30)
        problem = problem_of(X, K)
        algorithm, start = WorkingSet(problem, 1e-9), at(problem, np.zeros(problem.design.size))
        while not (grown := algorithm._grow(start))[1]:
            assert grown[0]
        assert algorithm._inside[start.excess > 0].all()
        again = algorithm._grow(start)
        assert again == (False, True)

    @pytest.mark.parametrize("e_fixed", [True, False])
    def test_certificate_is_its_definition(self, rng, e_fixed):
        X, K = planted(n=20, m=30)
        nothing = FeatureView(storage_of(np.empty((20, 0))))
        e_view = nothing if e_fixed else FeatureView(storage_of(K, symmetric=True))
        design = Design(FeatureView(storage_of(X)), e_view, K[:, 0].copy(), 0)
        mu, gamma = 3.0, np.inf if e_fixed else 2.0
        problem = ComponentProblem(design, mu, gamma)
        z = np.clip(rng.standard_normal(design.size), problem.lower, problem.upper)
        M = X if e_fixed else np.hstack([X, -K])
        r = K[:, 0] - M @ z
        found = problem.certificate(z, r, M.T @ r)
        v = 2 * r * min(1.0, mu / np.abs(2 * X.T @ r).max())
        e_part = [] if e_fixed else np.delete(gamma + K @ v, 0)
        paid = mu * np.abs(z[:30]).sum() + (0.0 if e_fixed else gamma * z[30:].sum())
        assert found.objective == pytest.approx(r @ r + paid)
        assert found.bound == pytest.approx(v @ K[:, 0] - v @ v / 4 + np.minimum(0, e_part).sum())
        excess = np.abs(2 * X.T @ r) - mu
        if not e_fixed:
            excess = np.append(excess, np.where(np.arange(20) == 0, -np.inf, -2 * K @ r - gamma))
        np.testing.assert_allclose(found.excess, excess, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_rough_early_rounds_lead_to_the_same_optimum(monkeypatch, storage, dtype, tol):
    """Both ways stop at a certificate of their own, so their objectives differ by no more than it allows."""
    X, K = planted(n=100, m=1500, density=0.1, storage=storage, dtype=dtype)
    rough = solve_component(X, K, 0, tol=tol)
    monkeypatch.setattr(_working_set, "_EARLY_SHARE", 0.0)
    exact = solve_component(X, K, 0, tol=tol)
    square = K[:, 0] @ K[:, 0]
    assert rough.n_iter > 1
    assert max(rough.dual_gap, exact.dual_gap) <= tol * square
    assert rough.objective == pytest.approx(exact.objective, abs=tol * square)
