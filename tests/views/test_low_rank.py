"""Factors of kernels against dense kernel matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import assert_is, prepare, prepare_kernel
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics.pairwise import pairwise_kernels

from scca.views import Kernel, LowRankKernelView
from scca.views._low_rank import factorised, mapped

RBF = Kernel("rbf", {"gamma": 0.1})
LANDMARKS = ["cholesky", "nystroem"]


@pytest.fixture
def samples(rng):
    return rng.standard_normal((60, 8))


def view_of(samples, kernel, rank, method, **settings):
    return LowRankKernelView.of(samples, kernel, rank, method, **{"center": True, "scale": "rows", **settings})


@pytest.mark.parametrize("method", LANDMARKS)
@pytest.mark.parametrize(
    "kernel", [RBF, Kernel("laplacian"), Kernel("polynomial", {"degree": 2}), Kernel(lambda a, b: float(a @ b) ** 2)]
)
def test_error_is_the_trace_norm_of_the_difference(samples, kernel, method):
    K = kernel.matrix(samples)
    for rank in (1, 5, 30):
        found = factorised(samples, kernel, rank, method)
        values = np.linalg.eigvalsh(K - found.Z @ found.Z.T)
        assert found.Z.shape == (60, rank)
        assert values.min() > -1e-9 * np.trace(K)  # semi-definite, so that its trace is its norm
        np.testing.assert_allclose(found.error, np.abs(values).sum() / np.trace(K), rtol=1e-7)
        best = np.sort(np.linalg.eigvalsh(K))[:-rank].sum() / np.trace(K)
        assert found.error >= best - 1e-12


@pytest.mark.parametrize("method", LANDMARKS)
def test_full_rank_is_the_kernel(samples, method):
    for rank in (60, 500):  # more than there are samples
        found = factorised(samples, RBF, rank, method)
        assert found.map.rank == 60
        assert found.error < 1e-13
        np.testing.assert_allclose(found.Z @ found.Z.T, RBF.matrix(samples), atol=1e-12)


@pytest.mark.parametrize("method", LANDMARKS)
def test_ends_at_the_rank_of_the_kernel(samples, method):
    linear = factorised(samples, Kernel("linear"), 40, method)
    assert linear.map.rank == 8
    np.testing.assert_allclose(linear.Z @ linear.Z.T, samples @ samples.T, atol=1e-10)
    square = Kernel("polynomial", {"degree": 2, "gamma": 1.0, "coef0": 0.0})
    found = factorised(samples, square, 50, method)
    assert found.map.rank == 8 * 9 // 2  # products of two features
    np.testing.assert_allclose(found.Z @ found.Z.T, (samples @ samples.T) ** 2, atol=1e-9)


def test_duplicates_are_no_landmarks(samples):
    found = factorised(np.vstack([samples] * 3), RBF, 180, "cholesky")
    assert found.map.rank == 60
    assert found.error < 1e-13
    np.testing.assert_allclose(found.Z[:60], found.Z[120:], atol=1e-9)


def test_nystroem_is_that_of_scikit_learn(samples):
    found = factorised(samples, RBF, 12, "nystroem")
    landmarks = found.map.samples
    theirs = Nystroem(kernel="rbf", gamma=0.1, n_components=12).fit(landmarks).transform(samples)
    np.testing.assert_allclose(found.Z @ found.Z.T, theirs @ theirs.T, atol=1e-10)
    assert all((samples == row).all(axis=1).any() for row in landmarks)


def test_random_features_are_those_of_scikit_learn(samples):
    found = factorised(samples, RBF, 40, "random", random_state=3)
    theirs = RBFSampler(gamma=0.1, n_components=40, random_state=3).fit_transform(samples)
    np.testing.assert_allclose(found.Z, theirs, atol=1e-12)
    K = RBF.matrix(samples)
    np.testing.assert_allclose(found.error, np.linalg.norm(K - theirs @ theirs.T) / np.linalg.norm(K), rtol=1e-10)
    errors = [factorised(samples, RBF, rank, "random").error for rank in (100, 10_000)]
    assert errors[1] < 0.2 * errors[0]  # about a tenth: the root of the rank
    default = factorised(samples, Kernel("rbf"), 10_000, "random")  # gamma = 1 / n_features
    assert default.error < 0.05


def test_draws_in_proportion_find_small_groups(rng):
    """A tenth of the samples are far apart from the others and each other: equal chances mostly miss them."""
    crowd = 0.01 * rng.standard_normal((900, 5))
    others = 100 * rng.standard_normal((20, 5))
    X = np.vstack([crowd, others])
    errors = [factorised(X, RBF, 25, method).error for method in ("cholesky", "nystroem")]
    assert errors[0] < 1e-3
    assert errors[1] > 10 * errors[0]


@pytest.mark.parametrize("scale", ["rows", None])
@pytest.mark.parametrize("center", [True, False])
class TestView:
    def test_is_the_prepared_kernel_at_full_rank(self, rng, center, scale):
        X = rng.standard_normal((15, 9))
        view = view_of(X, RBF, 15, "cholesky", center=center, scale=scale)
        assert_is(view, prepare_kernel(RBF.matrix(X), center=center, scale=scale), rng)

    @pytest.mark.parametrize("method", [*LANDMARKS, "random"])
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_is_prepared_in_the_approximated_space(self, rng, store, method, center, scale):
        X = rng.standard_normal((15, 9))
        view = view_of(store(X), RBF, 6, method, center=center, scale=scale)
        F = prepare(factorised(X, RBF, 6, method).Z, center=center, scale=scale)
        assert_is(view, F @ F.T, rng)
        np.testing.assert_allclose(view.sample_squares(), np.sum(F**2, axis=1), atol=1e-12)
        np.testing.assert_allclose(view.among(np.array([3, 7])), (F @ F.T)[np.ix_([3, 7], [3, 7])], atol=1e-12)
        weights = rng.standard_normal((15, 2))
        project = view.projector(weights)
        np.testing.assert_allclose(project(store(X)), F @ F.T @ weights, atol=1e-9)
        np.testing.assert_allclose(project(store(X[4:5])), (F @ F.T @ weights)[4:5], atol=1e-9)


@pytest.mark.parametrize("method", [*LANDMARKS, "random"])
def test_seed_and_workers(rng, method):
    X = rng.standard_normal((5000, 6))  # more than a block
    found = [factorised(X, RBF, 20, method, seed, n_jobs) for seed, n_jobs in ((0, 1), (None, 2), (0, 3), (1, 1))]
    assert all(np.array_equal(found[0].Z, other.Z) and found[0].error == other.error for other in found[1:3])
    assert not np.array_equal(found[0].Z, found[3].Z)
    np.testing.assert_array_equal(mapped(found[0].map, X), found[0].Z)


class TestRefused:
    def test_indefinite(self, samples):
        for kernel in (Kernel("sigmoid", {"gamma": 2.0}), Kernel(lambda a, b: -float(np.sum((a - b) ** 2)) + 1)):
            with pytest.raises(ValueError, match="must be positive semi-definite; .*: choose a positive semi-definite"):
                factorised(samples, kernel, 20, "cholesky")

    def test_without_a_positive_diagonal(self, samples):
        with pytest.raises(ValueError, match=r"gives no k\(x, x\) above 0"):
            factorised(samples, Kernel(lambda a, b: 0.0), 20, "cholesky")

    def test_asymmetric(self, samples):
        with pytest.raises(ValueError, match="a kernel function must be symmetric"):
            factorised(samples, Kernel(lambda a, b: float(a[0] * b[1])), 5, "nystroem")

    def test_constant(self):
        with pytest.raises(ValueError, match="does not show how samples differ"):
            view_of(np.ones((9, 3)), RBF, 5, "cholesky")


def test_one_column_is_that_of_the_matrix(samples):
    for kernel in (RBF, Kernel("polynomial"), Kernel(lambda a, b: float(a @ b))):
        np.testing.assert_allclose(kernel.column(samples, 7), kernel.matrix(samples)[:, 7], atol=1e-12)
    np.testing.assert_allclose(RBF.column(samples, 7), pairwise_kernels(samples, metric="rbf", gamma=0.1)[:, 7])
