"""Shared factors against the dense problem they solve, kernel CCA, and each other's ways of finding them."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare
from scipy.linalg import block_diag, eigh
from sklearn.metrics.pairwise import rbf_kernel

import scca.factors._shared as module
from scca import KernelCCA
from scca.factors import shared_factors, spectrum_of
from scca.views import Kernel, LinearKernelView, Preparation, StoredKernelView

SIZES = (9, 7, 6)


@pytest.fixture
def data(rng):
    shared = rng.standard_normal((40, 3))
    return [shared @ rng.standard_normal((3, m)) + 0.8 * rng.standard_normal((40, m)) for m in SIZES]


def prepared(X):
    return Preparation.fit(X).transform(X)


def dense_solution(matrices, ridges, n_components):
    """sum over u != v of C_vu w_u = sigma (C_vv + lambda_v) w_v, as one generalised symmetric eigenproblem."""
    everything = np.hstack(matrices)
    right = block_diag(*(A.T @ A for A in matrices))
    left = everything.T @ everything - right
    right += np.diag(np.concatenate([np.full(A.shape[1], ridge) for A, ridge in zip(matrices, ridges, strict=True)]))
    values, W = eigh(left, right)
    order = np.argsort(-values)[:n_components]
    return values[order], everything @ W[:, order]


def assert_same_factors(found, values, pooled):
    np.testing.assert_allclose(found.values, values, rtol=1e-7)
    np.testing.assert_allclose(found.scores.T @ found.scores, np.eye(len(values)), atol=1e-12)
    for j in range(len(values)):  # one after the other: the first j span the same space
        basis = np.linalg.qr(pooled[:, : j + 1])[0]
        assert np.linalg.norm(basis.T @ found.scores[:, j]) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("n_views", [2, 3])
@pytest.mark.parametrize("few", [3000, 0])  # by spectra, by products
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_solve_the_problem_over_all_views(data, n_views, few, store, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    views, ridges = [prepared(store(X)) for X in data[:n_views]], [0.3, 1.0, 0.5][:n_views]
    found = shared_factors(views, 3, ridges)
    assert_same_factors(found, *dense_solution([prepare(X) for X in data[:n_views]], ridges, 3))
    assert found.converged.all()


def test_a_large_eigenproblem_is_solved_by_an_iteration(data, monkeypatch):
    direct = shared_factors([prepared(X) for X in data], 3, [0.3] * 3)
    monkeypatch.setattr(module, "_SMALL", 0)
    assert_same_factors(shared_factors([prepared(X) for X in data], 3, [0.3] * 3), direct.values, direct.scores)


@pytest.mark.parametrize("r", [0.03, 0.3, 0.9])
def test_two_views_are_kernel_cca(data, r):
    X, Y = data[:2]
    found = shared_factors([prepared(X), prepared(Y)], 4, [r / (1 - r)] * 2)
    reference = KernelCCA(4, regularization=r).fit(X, Y)
    np.testing.assert_allclose(found.values, (1 - r) * reference.canonical_values_, rtol=1e-9)
    assert_same_factors(found, found.values, sum(reference.transform_pair(X, Y)))


def test_a_kernel_is_the_features_it_stands_for(data):
    X, Y = data[:2]
    features = shared_factors([prepared(X), prepared(Y)], 4, [0.3, 0.3])
    implicit = shared_factors([prepared(X), LinearKernelView(prepared(Y))], 4, [0.3, 0.3])
    stored = shared_factors([StoredKernelView.of_linear(prepared(X)), prepared(Y)], 4, [0.3, 0.3])
    for other in (implicit, stored):
        assert_same_factors(other, features.values, features.scores)


def test_a_nonlinear_kernel(data):
    X, Y = data[:2]
    view = StoredKernelView.of(Y, Kernel("rbf", {"gamma": 0.1}), center=True, normalize=True)
    found = shared_factors([prepared(X), view], 3, [0.3, 0.3])
    K = view.columns(np.arange(40))
    U, values, _ = np.linalg.svd(K)
    kept = values > 1e-10
    assert_same_factors(found, *dense_solution([prepare(X), U[:, kept] * np.sqrt(values[kept])], [0.3, 0.3], 3))
    assert not np.allclose(K, rbf_kernel(Y, gamma=0.1))  # centred and scaled


def test_what_one_view_has_alone_is_no_factor(rng):
    """A strong private direction must not come before a weak shared one, whatever the ridge."""
    shared, private = rng.standard_normal((200, 1)), 5 * rng.standard_normal((200, 1))
    X = np.hstack([private, 0.6 * shared + 0.3 * rng.standard_normal((200, 1))])
    Y = 0.6 * shared + 0.3 * rng.standard_normal((200, 2))
    views = [Preparation.fit(A, normalize=False).transform(A) for A in (X, Y)]
    for ridge in (1e-3, 1.0, 100.0):
        first = shared_factors(views, 1, [ridge, ridge]).scores[:, 0]
        assert abs(np.corrcoef(first, shared[:, 0])[0, 1]) > 0.8
        assert abs(np.corrcoef(first, private[:, 0])[0, 1]) < 0.3


def test_no_more_factors_than_the_smaller_view_has(data):
    found = shared_factors([prepared(data[0]), prepared(data[2][:, :2])], 5, [0.3, 0.3])
    assert found.scores.shape == (40, 2)


def test_residuals_tell_of_an_iteration_cut_short(data, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(module, "_MAX_ITER", 1)
    found = shared_factors([prepared(X) for X in data[:2]], 3, [0.3, 0.3])
    assert not found.converged.all()
    assert (found.residuals > 1e-4).any()


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("m", [6, 60])
def test_a_spectrum_is_that_of_the_kernel(rng, store, m):
    X = rng.standard_normal((20, m))
    found = spectrum_of(prepared(store(X)))
    K = prepare(X) @ prepare(X).T
    np.testing.assert_allclose((found.vectors * found.values) @ found.vectors.T, K, atol=1e-12)
    assert len(found.values) == min(19, m)
    scores = K @ rng.standard_normal((20, 2))
    np.testing.assert_allclose(K @ found.coefficients(scores), scores, atol=1e-10)
