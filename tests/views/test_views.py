"""Every view, however stored, is the dense matrix it stands for: centred, scaled and deflated."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import assert_is, deflate_features, deflate_kernel, prepare, prepare_kernel
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from scca import SparseCCA
from scca.anchored import DeflatedView, SignedView
from scca.views import (
    FeatureView,
    Kernel,
    LinearKernelView,
    Preparation,
    StoredKernelView,
    linear_kernel_view,
    storage_of,
)

N, M = 15, 9


def data(rng, density=0.5):
    X = rng.standard_normal((N, M)) * (rng.random((N, M)) < density)
    X[3] = 0  # an empty sample
    X[:, 2] = 0  # an empty feature
    return X


def prepared(X, **preparation):
    return Preparation.fit(X, **preparation).transform(X)


def feature_view(X, store, **preparation):
    return prepared(store(X), **preparation), prepare(X, **preparation)


def kernels(X, **preparation):
    """The same linear kernel in its three storages, and what it should be."""
    features = prepared(sp.csr_array(X), **preparation)
    dense = prepare(X, **preparation)
    views = {
        "implicit": LinearKernelView(features),
        "stored": StoredKernelView.of_linear(prepared(X, **preparation)),
        "stored sparse": StoredKernelView.of_linear(prepared(sp.csc_array(X), **preparation)),
        "precomputed": StoredKernelView.of(X @ X.T, Kernel("precomputed"), **preparation),
    }
    return views, dense @ dense.T


@pytest.mark.parametrize("scale", ["rows", None])
@pytest.mark.parametrize("center", [True, False])
class TestImplicit:
    @pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
    def test_features(self, rng, store, center, scale):
        X = data(rng)
        view, matrix = feature_view(X, store, center=center, scale=scale)
        assert_is(view, matrix, rng)
        np.testing.assert_allclose(view.outer(), matrix @ matrix.T, atol=1e-10)
        view = DeflatedView(view)
        for _ in range(4):
            w = rng.standard_normal(M)
            view = view.deflated(view.direction(view.matvec(w)))
            matrix = deflate_features(matrix, w)
            assert_is(view, matrix, rng)
            assert view.remaining == pytest.approx(np.sum(matrix**2) / np.sum(prepare(X, center, scale) ** 2))

    @pytest.mark.parametrize("storage", ["implicit", "stored", "stored sparse", "precomputed"])
    def test_kernels(self, rng, storage, center, scale):
        X = data(rng)
        views, matrix = kernels(X, center=center, scale=scale)
        assert_is(views[storage], matrix, rng)
        view, energy = DeflatedView(views[storage]), np.trace(matrix)
        for _ in range(4):
            e = rng.random(N)
            view = view.deflated(view.direction(view.matvec(e)))
            matrix = deflate_kernel(matrix, e)
            assert_is(view, matrix, rng)
            assert view.remaining == pytest.approx(np.trace(matrix) / energy)

    @pytest.mark.parametrize(
        ("kernel", "params"), [("rbf", {"gamma": 0.3}), ("polynomial", {"degree": 2}), ("laplacian", {})]
    )
    def test_nonlinear_kernels(self, rng, kernel, params, center, scale):
        X = data(rng)
        view = StoredKernelView.of(X, Kernel(kernel, params), center=center, scale=scale)
        assert_is(view, prepare_kernel(pairwise_kernels(X, metric=kernel, **params), center, scale), rng)


def test_all_columns_are_gone_through_in_blocks(rng, monkeypatch):
    monkeypatch.setattr("scca.views.base._COLUMN_BLOCK", 4)
    view, matrix = feature_view(data(rng), np.asarray, center=True, scale="rows")
    np.testing.assert_allclose(view.square_norms(), np.sum(matrix**2, axis=0), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sparse_columns_of_every_length(rng, dtype):
    """Sums are made two by two: columns of an odd and of an even number of entries, and without any."""
    triangle = sp.csc_array(np.triu(rng.standard_normal((6, 7)), 1).astype(dtype))
    dense = triangle.toarray().astype(np.float64)
    storage, R = storage_of(triangle), rng.standard_normal((6, 3))
    assert sorted(np.diff(triangle.indptr)) == [0, 1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(storage.rmatvec(R[:, 0]), dense.T @ R[:, 0], atol=1e-14)
    few = np.array([5, 0, 2])
    np.testing.assert_allclose(storage.rmatvec(R, few), dense[:, few].T @ R, atol=1e-14)
    np.testing.assert_allclose(storage.combination(few, R[:3, 0]), dense[:, few] @ R[:3, 0], atol=1e-14)


class TestPrecision:
    def test_float32_is_multiplied_in_float64(self, rng):
        X = rng.standard_normal((400, 300)).astype(np.float32)
        exact = prepare(X.astype(float))
        r = rng.standard_normal(400)
        for store in (np.asarray, sp.csc_array):
            view = prepared(store(X), center=True, scale="rows")
            assert view.storage.columns(np.arange(2)).dtype == np.float64
            np.testing.assert_allclose(view.rmatvec(r), exact.T @ r, rtol=1e-9, atol=1e-11)

    def test_large_means_do_not_drown_the_data(self, rng):
        X = 1e6 + rng.standard_normal((30, 8))
        view = prepared(X, center=True, scale="rows")
        matrix = prepare(X)
        everything = view.selection()
        everything.add(np.arange(8))
        # 1e6 leaves ten of sixteen digits to the deviations
        np.testing.assert_allclose(everything.gram(0), matrix.T @ matrix, atol=1e-8)
        np.testing.assert_allclose(view.outer(), matrix @ matrix.T, atol=1e-8)


class TestExhaustion:
    def test_centred_and_scaled_kernel_has_rank_n_minus_1(self, rng):
        view, matrix = feature_view(rng.standard_normal((8, 20)), np.asarray, center=True, scale="rows")
        norms = np.linalg.norm(prepare(view.storage.array, scale=None), axis=1)
        # after centring and scaling the null vector is the vector of norms, not of ones
        np.testing.assert_allclose(view.outer() @ norms, 0, atol=1e-12)
        assert np.linalg.matrix_rank(matrix) == 7


class TestChoiceOfStorage:
    def test_small_kernels_are_stored_and_large_ones_are_not(self, rng):
        wide = rng.standard_normal((50, 400))
        assert isinstance(linear_kernel_view(prepared(wide), 5), StoredKernelView)
        tall = sp.random_array((5000, 300), density=0.02, format="csr", random_state=rng)
        assert isinstance(linear_kernel_view(prepared(tall), 5), LinearKernelView)

    def test_a_large_sparse_view_is_never_made_dense(self, rng, monkeypatch):
        X = sp.random_array((5000, 300), density=0.02, format="csr", random_state=rng)

        def refuse(*args, **kwargs):
            raise AssertionError("a square or dense matrix was asked for")

        for name in ("toarray", "todense"):
            monkeypatch.setattr(sp.csc_array, name, refuse)
            monkeypatch.setattr(sp.csr_array, name, refuse)
        monkeypatch.setattr(FeatureView, "outer", refuse)
        view = DeflatedView(linear_kernel_view(prepared(X), 2))
        view = view.deflated(view.direction(view.matvec(rng.random(5000))))
        assert view.rmatvec(rng.standard_normal(5000)).shape == (5000,)


def clone_of(kernel):
    """As scikit-learn copies the settings of an estimator."""
    return clone(SparseCCA(kernel=(kernel, "linear"))).kernel[0]


class TestKernel:
    def test_same_bytes_for_any_number_of_threads(self, rng):
        X = rng.standard_normal((1300, 5))
        kernel = Kernel("rbf", {"gamma": 0.1})
        assert kernel.matrix(X, n_jobs=1).tobytes() == kernel.matrix(X, n_jobs=3).tobytes()

    def test_diagonal(self, rng):
        X = rng.random((40, 3))
        for kernel in (Kernel("polynomial"), Kernel("rbf"), Kernel(lambda a, b: float(a @ b) ** 2)):
            np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel.matrix(X)), rtol=1e-12)

    def test_is_written_as_it_was_given(self):
        kernel = Kernel("rbf", gamma=0.1)
        assert repr(kernel) == "Kernel('rbf', gamma=0.1)"
        assert eval(repr(kernel)) == kernel
        assert repr(Kernel()) == "Kernel('linear')"

    def test_equal_are_those_of_the_same_function_and_parameters(self):
        kernel = Kernel("polynomial", degree=2, coef0=1)
        same = Kernel("polynomial", {"coef0": 1, "degree": 2})
        assert kernel == same
        assert hash(kernel) == hash(same)
        for other in (Kernel("polynomial", degree=2), Kernel("poly", degree=2, coef0=1), "polynomial", None):
            assert kernel != other

    @pytest.mark.parametrize("again", [clone_of, lambda kernel: pickle.loads(pickle.dumps(kernel)), deepcopy])
    def test_a_copy_is_the_same(self, again):
        kernel = Kernel("rbf", gamma=0.1)
        assert again(kernel) == kernel
        assert again(kernel) is not kernel

    @pytest.mark.parametrize("name", ["gauss", "", None, 3, [], np.array(["rbf", "linear"])])
    def test_unknown_names_are_refused(self, name):
        with pytest.raises(ValueError, match=r"^kernel must be a callable or one of .*precomputed; got"):
            Kernel(name)

    @pytest.mark.parametrize("name", ["linear", "precomputed"])
    def test_what_has_no_parameters_takes_none(self, name):
        for make in (lambda: Kernel(name, {"gamma": 1}), lambda: Kernel(name, gamma=1)):
            with pytest.raises(ValueError, match=rf"^the {name} kernel takes no parameters; got \{{'gamma': 1\}}"):
                make()

    @pytest.mark.parametrize("params", [3, "x", [], [("gamma", 1)], {1: 2}, np.array([1, 2]), True])
    def test_parameters_have_names(self, params):
        with pytest.raises(ValueError, match="^params of a kernel must be None or a dict with names as keys, .*; got"):
            Kernel("rbf", params)

    def test_a_matrix_that_is_no_kernel_is_refused(self):
        with pytest.raises(
            ValueError, match="the kernel matrix must be positive semi-definite; its smallest eigenvalue is"
        ):
            StoredKernelView.of(-np.eye(4), Kernel("precomputed"), center=True, scale="rows")

    def test_a_kernel_of_data_far_from_zero_is_refused(self, rng):
        far = 1e8 + rng.standard_normal((6, 3))
        with pytest.raises(ValueError, match="their squared norms are rounding error relative to its entries; centre"):
            StoredKernelView.of(far @ far.T, Kernel("precomputed"), center=True, scale="rows")


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_signed_view_has_its_columns_turned(rng, store):
    view, matrix = feature_view(data(rng), store, center=True, scale="rows")
    signs = np.where(rng.random(M) < 0.5, -1.0, 1.0)
    assert_is(SignedView(view, signs), matrix * signs, rng)
