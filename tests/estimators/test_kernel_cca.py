"""KernelCCA against primal CCA, its limits, and classical CCA."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare
from scipy.linalg import eigh
from sklearn.metrics.pairwise import pairwise_kernels

from scca import Kernel, KernelCCA
from scca.datasets import make_planted

PLAIN = {"scale": None}


@pytest.fixture
def tall():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((50, 2))
    X = shared @ rng.standard_normal((2, 4)) + rng.standard_normal((50, 4))
    Y = shared @ rng.standard_normal((2, 5)) + rng.standard_normal((50, 5))
    return X, Y


def primal_cca(X, Y, r):
    """Generalised eigenproblem of CCA with covariances (1 - r) C + r I, straight from the definition."""
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    m, p = X.shape[1], Y.shape[1]
    cross = Xc.T @ Yc
    top = np.block([[np.zeros((m, m)), cross], [cross.T, np.zeros((p, p))]])
    bottom = np.zeros_like(top)
    bottom[:m, :m] = (1 - r) * Xc.T @ Xc + r * np.eye(m)
    bottom[m:, m:] = (1 - r) * Yc.T @ Yc + r * np.eye(p)
    values, vectors = eigh(top, bottom)
    best = np.argsort(values)[::-1][: min(m, p)]
    return values[best], Xc @ vectors[:m, best], Yc @ vectors[m:, best]


@pytest.mark.parametrize("r", [1e-6, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_linear_kernel_is_primal_cca(tall, r, store):
    X, Y = tall
    model = KernelCCA(4, regularization=r, **PLAIN).fit(store(X), store(Y))
    values, x_scores, _ = primal_cca(X, Y, r)
    np.testing.assert_allclose(model.canonical_values_, values, rtol=1e-9)
    scores = model.transform(store(X))
    # the same directions, up to sign; the eigenproblem's normalisation differs by sqrt(2)
    np.testing.assert_allclose(np.abs(scores), np.abs(x_scores) * np.sqrt(2), rtol=1e-6, atol=1e-9)


def test_no_regularisation_is_classical_cca(tall):
    X, Y = tall
    model = KernelCCA(4, regularization=0, **PLAIN).fit(X, Y)
    Qx, Qy = (np.linalg.qr(prepare(A, scale=None))[0] for A in (X, Y))
    expected = np.linalg.svd(Qx.T @ Qy, compute_uv=False)
    np.testing.assert_allclose(model.canonical_values_, expected, rtol=1e-10)
    np.testing.assert_allclose(model.correlations_, expected, rtol=1e-10)
    for scores in model.transform_pair(X, Y):
        np.testing.assert_allclose(scores.T @ scores, np.eye(4), atol=1e-10)


def test_full_regularisation_gives_the_singular_values_of_the_cross_product(tall):
    X, Y = tall
    model = KernelCCA(4, regularization=1, **PLAIN).fit(X, Y)
    cross = prepare(X, scale=None).T @ prepare(Y, scale=None)
    np.testing.assert_allclose(model.canonical_values_, np.linalg.svd(cross, compute_uv=False), rtol=1e-10)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_constraint_and_stationarity(kernel):
    """a'((1 - r) K^2 + r K) a = 1, and K_x K_y b = value * ((1 - r) K_x^2 + r K_x) a."""
    X, Y = make_planted(25, 60, 40, n_active=5, random_state=0).views
    r = 0.2
    model = KernelCCA(5, regularization=r, kernel=kernel, scale="rows").fit(X, Y)
    kernels = []
    for data in (X, Y):
        K = pairwise_kernels(data, metric=kernel)
        H = np.eye(25) - 1 / 25
        K = H @ K @ H
        kernels.append(K / np.sqrt(np.outer(np.diag(K), np.diag(K))))
    Kx, Ky = kernels
    a, b = model.x_weights_, model.y_weights_
    Rx, Ry = ((1 - r) * K @ K + r * K for K in kernels)
    np.testing.assert_allclose(a.T @ Rx @ a, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(b.T @ Ry @ b, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(Kx @ Ky @ b, Rx @ a * model.canonical_values_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), Kx @ a, atol=1e-9)
    np.testing.assert_allclose(model.transform_y(Y), Ky @ b, atol=1e-9)


@pytest.mark.parametrize("r", [0.0, 1e-8, 0.03])
def test_stable_with_singular_kernels(r):
    """More features than samples, and samples given twice: nothing blows up."""
    X, Y = make_planted(20, 300, 200, n_active=5, random_state=0).views
    X, Y = np.vstack([X, X]), np.vstack([Y, Y])
    model = KernelCCA(5, regularization=r).fit(X, Y)
    assert np.isfinite(model.x_weights_).all()
    assert np.abs(model.x_weights_).max() < 1e3
    scores = model.transform(X)
    np.testing.assert_allclose(scores[:20], scores[20:], atol=1e-8)
    assert (np.abs(model.correlations_) <= 1 + 1e-12).all()


def test_rank_below_n_components_warns(tall):
    X, Y = tall
    with pytest.warns(UserWarning, match="rank 4, so only that many of n_components=6 .* set n_components=4"):
        model = KernelCCA(6).fit(X, Y)
    assert model.n_components_ == model.transform(X).shape[1] == 4


def test_storages_agree():
    X, Y = make_planted(40, 60, 30, n_active=5, density=0.3, random_state=0).views
    reference = KernelCCA(3).fit(X.toarray(), Y.toarray())
    for model in (KernelCCA(3).fit(X, Y), KernelCCA(3).fit(X.tocsc(), Y.toarray())):
        np.testing.assert_allclose(model.transform(X), reference.transform(X.toarray()), atol=1e-8)
    reference = KernelCCA(3, scale="rows").fit(X.toarray(), Y.toarray())
    gram = KernelCCA(3, kernel="precomputed").fit((X @ X.T).toarray(), (Y @ Y.T).toarray())
    np.testing.assert_allclose(
        gram.transform((X @ X.T).toarray(), diagonal=(X @ X.T).diagonal()), reference.transform(X.toarray()), atol=1e-8
    )


@pytest.mark.parametrize("value", [-0.1, 1.5, "auto", None, True, np.nan])
def test_bad_regularization(tall, value):
    with pytest.raises(ValueError, match="regularization must be a number from 0 to 1; got"):
        KernelCCA(2, regularization=value).fit(*tall)


def test_a_kernel_of_zeros_is_refused():
    K = np.diag(np.arange(1.0, 7.0))
    for pair in ((K, 0 * K), (0 * K, K)):
        with pytest.raises(ValueError, match="the kernel matrix of X or of Y has rank 0"):
            KernelCCA(1, kernel="precomputed").fit(*pair)


def test_a_pair_names_the_kernel_of_each_view(tall):
    """A matrix of either stands for it."""
    X, Y = tall
    rbf = Kernel("rbf", gamma=0.1)
    given = KernelCCA(2, kernel=("linear", rbf), scale="rows").fit(X, Y)
    for kernel, views in (
        (("linear", "precomputed"), (X, rbf.matrix(Y))),
        (("precomputed", rbf), (X @ X.T, Y)),
        (["precomputed", "precomputed"], (X @ X.T, rbf.matrix(Y))),
    ):
        model = KernelCCA(2, kernel=kernel, scale="rows").fit(*views)
        np.testing.assert_allclose(model.canonical_values_, given.canonical_values_, rtol=1e-9)
        assert model.__sklearn_tags__().input_tags.pairwise == (kernel[0] == "precomputed")
    one, both = (KernelCCA(2, kernel=kernel).fit(X, Y) for kernel in (rbf, (rbf, rbf)))
    np.testing.assert_array_equal(one.x_weights_, both.x_weights_)
