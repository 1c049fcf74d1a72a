"""Deflation: M U = T C for whatever directions are taken, and views that do not change."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare

from scca.anchored import DeflatedView
from scca.views import LinearKernelView, Preparation, StoredKernelView


def views(X):
    """One view of every kind, and the dense matrix it stands for."""
    dense, sparse = (Preparation.fit(data).transform(data) for data in (X, sp.csr_array(X)))
    A = prepare(X)
    return {
        "features": (dense, A),
        "sparse features": (sparse, A),
        "stored kernel": (StoredKernelView.of_linear(dense), A @ A.T),
        "implicit kernel": (LinearKernelView(dense), A @ A.T),
        "implicit sparse kernel": (LinearKernelView(sparse), A @ A.T),
    }


KINDS = list(views(np.eye(3)))


def taken(view, rng, n_directions, sparse=False):
    left = DeflatedView(view)
    for _ in range(n_directions):
        direction = rng.standard_normal(view.shape[1])
        left = left.deflated(direction * (rng.random(len(direction)) < 0.4) if sparse else direction)
    return left


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_any_direction_is_kept_as_it_was_taken(rng, kind, sparse):
    view, M = views(rng.standard_normal((20, 8)))[kind]
    deflation = taken(view, rng, 5, sparse).deflation
    np.testing.assert_allclose(M @ deflation.U, deflation.T @ deflation.C, atol=1e-12)
    np.testing.assert_allclose(deflation.T.T @ deflation.T, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(M @ deflation.rotations, deflation.T, atol=1e-9)
    np.testing.assert_allclose(np.tril(deflation.C, -1), 0)
    np.testing.assert_allclose(deflation.images, M.T @ deflation.T, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_the_projected_matrix(rng, kind):
    view, M = views(rng.standard_normal((20, 8)))[kind]
    left = taken(view, rng, 3, sparse=True)
    P = np.eye(20) - left.deflation.T @ left.deflation.T.T
    matrix = P @ M @ P if view.columns_are_samples else P @ M
    w, r = rng.standard_normal(M.shape[1]), rng.standard_normal(20)
    np.testing.assert_allclose(left.matvec(w), matrix @ w, atol=1e-12)
    np.testing.assert_allclose(left.rmatvec(r), matrix.T @ r, atol=1e-12)
    np.testing.assert_allclose(left.columns(np.arange(M.shape[1])), matrix, atol=1e-12)
    inner = matrix if view.columns_are_samples else matrix @ matrix.T
    np.testing.assert_allclose(left.sample_squares(), np.diag(inner), atol=1e-12)
    # a score goes back to the direction whose own score is M M's, or K s, whatever part of s was taken before
    np.testing.assert_allclose(left.matvec(left.direction(r)), inner @ r, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_view_and_what_was_left_of_it_do_not_change(rng, kind):
    view, M = views(rng.standard_normal((20, 8)))[kind]
    once = taken(view, rng, 1)
    r, before = rng.standard_normal(20), once.rmatvec(np.ones(20))
    twice = once.deflated(rng.standard_normal(M.shape[1]))
    assert len(once.deflation) == 1
    assert len(twice.deflation) == 2
    np.testing.assert_array_equal(once.rmatvec(np.ones(20)), before)
    np.testing.assert_allclose(view.rmatvec(r), M.T @ r, atol=1e-12)


def test_scores_stay_orthonormal(rng):
    view, _ = views(rng.standard_normal((60, 80)))["features"]
    T = taken(view, rng, 58).deflation.T
    assert T.shape == (60, 58)
    np.testing.assert_allclose(T.T @ T, np.eye(58), atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_deflating_past_the_rank_is_refused(rng, kind):
    view, _ = views(rng.standard_normal((10, 3)))[kind]
    left = taken(view, rng, 3)
    assert abs(left.remaining) < 1e-12
    assert left.deflated(rng.standard_normal(view.shape[1])) is None
