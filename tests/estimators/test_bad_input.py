"""Bad input gets one sentence that names the bound, the value and the remedy; harmless oddities get a warning."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from scca import DataWarning, KernelCCA, SparseCCA

ESTIMATORS = [SparseCCA, KernelCCA]


@pytest.fixture
def X(rng):
    return rng.standard_normal((10, 6))


@pytest.fixture
def Y(rng):
    return rng.standard_normal((10, 5))


@pytest.mark.parametrize("estimator", ESTIMATORS)
class TestBoth:
    def test_different_numbers_of_samples(self, estimator, X, Y):
        with pytest.raises(ValueError, match="X and Y must have the same number of samples; got 10 and 9"):
            estimator().fit(X, Y[:9])

    def test_empty(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"X must be .* 0 sample\(s\) .* minimum of 1 is required"):
            estimator().fit(X[:0], Y[:0])
        with pytest.raises(ValueError, match=r"Y must be .* 0 feature\(s\) .* minimum of 1 is required"):
            estimator().fit(X, Y[:, :0])

    def test_one_sample(self, estimator, X, Y):
        with pytest.raises(ValueError, match="need at least 2 samples to vary; got n_samples=1"):
            estimator().fit(X[:1], Y[:1])

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_not_finite_names_the_view(self, estimator, X, Y, bad, store):
        Y[4, 2] = bad
        with pytest.raises(ValueError, match=r"Input Y contains (NaN|inf) \(first at row 4, column 2\)"):
            estimator().fit(store(X), store(Y))
        model = estimator().fit(X, X)
        X[0, 0] = bad
        with pytest.raises(ValueError, match=r"Input X contains"):
            model.transform(X)

    def test_complex(self, estimator, X, Y):
        with pytest.raises(ValueError, match="Y must be .* of real numbers: Complex data not supported"):
            estimator().fit(X, Y + 1j)

    def test_text(self, estimator, X, Y):
        with pytest.raises(ValueError, match="Y must be .* of real numbers: could not convert string"):
            estimator().fit(X, Y.astype(str).astype(object) + "x")

    def test_no_second_view(self, estimator, X, Y):
        with pytest.raises(ValueError, match="pass Y, the second view"):
            estimator().fit(X, None)

    def test_too_many_components(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"`n_components` upper bound is n_samples - 1=9\. Got 10 instead\."):
            estimator(10).fit(np.hstack([X, X]), Y)
        with pytest.raises(ValueError, match=r"upper bound is n_samples=10\. Got 11"):
            estimator(11, center=False).fit(np.hstack([X, X]), Y)

    @pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
    def test_n_components(self, estimator, X, Y, value):
        with pytest.raises(ValueError, match="n_components must be an integer of at least 1; got"):
            estimator(value).fit(X, Y)

    def test_constant_view(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"Y does not vary: all of its 5 features are constant"):
            estimator().fit(X, np.full_like(Y, 0.1))

    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_constant_and_zero_columns_warn(self, estimator, X, Y, store):
        X[:, 1], X[:, 3] = 0, 2.5
        with pytest.warns(DataWarning, match=r"X has 2 constant features \(first: 1\)"):
            model = estimator(1).fit(store(X), store(Y))
        assert np.isfinite(model.transform(store(X))).all()

    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_zero_samples_warn(self, estimator, X, Y, store):
        Y[7] = 0
        with pytest.warns(DataWarning, match=r"Y has 1 all-zero samples \(first: 7\)"):
            model = estimator(1).fit(store(X), store(Y))
        assert np.isfinite(model.transform_y(store(Y))).all()

    def test_clean_data_do_not_warn(self, estimator, X, Y):
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            estimator(1).fit(X, Y)

    def test_precomputed_kernel(self, estimator, X, Y):
        K = Y @ Y.T
        first = X if estimator is SparseCCA else X @ X.T
        model = estimator(1, kernel="precomputed").fit(first, K)
        with pytest.raises(ValueError, match=r"Y must be a square kernel matrix .* got shape \(10, 9\)"):
            estimator(1, kernel="precomputed").fit(first, K[:, :9])
        with pytest.raises(ValueError, match=r"Y must be symmetric; its largest difference"):
            estimator(1, kernel="precomputed").fit(first, K + np.arange(10))
        with pytest.raises(ValueError, match=r"diagonal must be 10 finite numbers"):
            model.transform_y(K, diagonal=np.ones(3))

    def test_diagonal_without_precomputed_kernel(self, estimator, X, Y):
        with pytest.raises(ValueError, match="diagonal is only for a precomputed kernel"):
            estimator(1).fit(X, Y).transform_y(Y, diagonal=np.ones(10))

    def test_features_of_new_samples(self, estimator, X, Y):
        model = estimator(1).fit(X, Y)
        with pytest.raises(ValueError, match=r"X has 5 features, but \w+ is expecting 6 features"):
            model.transform(X[:, :5])
        with pytest.raises(ValueError, match=r"Y has 6 features, but \w+ is expecting 5 features"):
            model.transform_y(X)
        with pytest.raises(ValueError, match=r"same number of samples; got 10 and 4"):
            model.transform_pair(X, Y[:4])

    def test_inputs_are_not_modified(self, estimator, X, Y):
        sparse_X, sparse_Y = sp.csr_array(X), sp.csr_array(Y)
        copies = X.copy(), Y.copy()
        for array in (X, Y, sparse_X.data, sparse_Y.data, sparse_X.indices, sparse_Y.indices):
            array.setflags(write=False)
        for pair in ((X, Y), (sparse_X, sparse_Y)):
            model = estimator(2).fit(*pair)
            model.transform_pair(*pair)
        assert np.array_equal(X, copies[0])
        assert np.array_equal(sparse_Y.toarray(), copies[1])

    @pytest.mark.parametrize("scale", [1e155, 1e-155])
    def test_magnitude(self, estimator, X, Y, scale):
        with pytest.raises(ValueError, match=r"the largest value of Y must lie between 1e-75 and 1e\+75"):
            estimator().fit(X, Y * scale)

    def test_long_arrays_are_not_quoted(self, estimator, X, Y):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead: Reshape your data") as caught:
            estimator().fit(np.arange(500.0), Y)
        assert len(str(caught.value)) < 350

    def test_kernel_that_fails(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"the kernel rbf failed with \{'gama': 1\}: .*gama"):
            estimator(1, kernel="rbf", kernel_params={"gama": 1}).fit(X, Y)

    def test_wrong_kernel_name(self, estimator, X, Y):
        with pytest.raises(ValueError, match="kernel must be a callable or one of .* got 'gaussian'"):
            estimator(kernel="gaussian").fit(X, Y)


class TestSparseOnly:
    def test_features_bound_the_components(self, X, Y):
        with pytest.raises(ValueError, match=r"upper bound is n_features=6 of X\. Got 7 instead"):
            SparseCCA(7).fit(X, Y)
        with pytest.raises(ValueError, match=r"upper bound is n_features=5 of Y\. Got 6 instead"):
            SparseCCA(6, representation="dual-primal").fit(X, Y)

    @pytest.mark.parametrize(
        ("name", "value", "bound"),
        [
            ("mu", -1.0, "greater than 0"),
            ("mu", 0, "greater than 0"),
            ("gamma", -1.0, "at least 0"),
            ("representation", "primal", "one of 'primal-dual', 'dual-primal', 'primal-primal', 'dual-dual'"),
            ("algorithm", "fista", "'working-set' or 'greedy'"),
            ("tol", 0.0, "between 0 and 1"),
            ("max_iter", 0, "at least 1"),
            ("anchors", "nearest", '"sequential", .* a sequence of indices or a function'),
            ("anchors", "best-of-0", "N at least 1"),
            ("anchors", [0.5, 1.5], "a sequence of indices, integers from 0 to 9"),
            ("anchors", [[0, 1]], "a sequence of indices, integers from 0 to 9"),
        ],
    )
    def test_settings(self, X, Y, name, value, bound):
        with pytest.raises(ValueError, match=rf"{name} must be .*{bound}.*got"):
            SparseCCA(1, **{name: value}).fit(X, Y)

    def test_anchors(self, X, Y):
        with pytest.raises(ValueError, match=r"anchors must lie between 0 and 9, .* got 10"):
            SparseCCA(1, anchors=[10]).fit(X, Y)
        with pytest.raises(ValueError, match=r"at least n_components=3 indices; got 2: give more anchors or reduce"):
            SparseCCA(3, anchors=[0, 1]).fit(X, Y)

    def test_nothing_in_common(self):
        X = np.array([[1.0, 0], [-1, 0], [0, 0], [0, 0]])
        Y = np.array([[0.0], [0], [1], [-1]])
        with pytest.raises(ValueError, match="X and Y have nothing in common"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            SparseCCA(1, normalize=False).fit(X, Y)
