"""Bad input gets one sentence that names the bound, the value and the remedy; harmless oddities get a warning."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score

from scca import (
    AnchoredCCA,
    AnchoredCCACV,
    DataWarning,
    EvidenceWarning,
    Kernel,
    KernelCCA,
    LowRankKernel,
    SparseCCA,
    SparseCCACV,
)

pytestmark = pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")  # for they are noise
WRONG_LENGTH = "{} must be one value for all views, or a list of 2, one for each view; got"
ODD = ["x", [], {}, np.array([1]), np.array([1, 2]), object, 1.5, b"auto"]  # values that no setting below takes


def factors(n_components=2, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


def anchored(n_components=2, **settings):
    return AnchoredCCA(
        n_components, **{"anchors": "cross-energy", "feature_weights": "shared", "scale": "auto", **settings}
    )


SPARSE = [factors, anchored]


@pytest.fixture
def X(rng):
    return rng.standard_normal((10, 6))


@pytest.fixture
def Y(rng):
    return rng.standard_normal((10, 5))


def _tampered(X):
    """Sparse matrices of every format, changed behind scipy's back so that compiled code would leave their memory."""
    for store in (sp.csr_array, sp.csc_array):
        for index in (10**9, -1):
            matrix = store(X)
            matrix.indices[3] = index
            yield matrix
        matrix = store(X)
        matrix.indptr[2] = 10**9  # rises and falls
        yield matrix
        matrix = store(X)
        matrix.indptr[-1] = 10**9
        yield matrix
        matrix = store(X)
        matrix.indptr[1:3] = 2**31 - 1, -(2**31)  # whose difference overflows
        yield matrix
        matrix = store(X)
        matrix.indices = matrix.indices.astype(np.float64)
        yield matrix
        matrix = store(X)
        matrix.data = matrix.data[:-1]
        yield matrix
        matrix = store(X)
        matrix._shape = (10, 3)
        yield matrix
    matrix = sp.coo_array(X)
    matrix.coords[1][0] = 10**9
    yield matrix
    matrix = sp.bsr_array(X, blocksize=(2, 2))
    matrix.indices[0] = 10**9
    yield matrix
    matrix = sp.lil_array(X)
    matrix.rows[0][0] = 10**9
    yield matrix
    matrix = sp.lil_array(X)
    matrix._shape = (2, 3)
    yield matrix
    matrix = sp.dia_array(X)
    matrix.offsets = matrix.offsets[:1]
    yield matrix
    matrix = sp.dok_array(X)
    matrix._dict[10**9, 0] = 1.0
    yield matrix


@pytest.mark.parametrize("case", range(22))
def test_broken_sparse_matrices_are_refused_and_do_not_crash(X, Y, case):
    broken = list(_tampered(X))[case]
    message = r"is a broken sparse matrix of shape .*; build it again from its rows, columns and values\.$"
    for fit in (lambda: factors().fit(broken, Y), lambda: KernelCCA().fit(Y, broken)):
        with pytest.raises(ValueError, match=message):
            fit()
    model = factors().fit(X, X)
    for use in (model.transform, model.transform_y, lambda samples: model.project(samples, "X")):
        with pytest.raises(ValueError, match=message):
            use(broken)


def test_a_sparse_matrix_with_room_to_spare_is_as_good_as_another(X, Y):
    roomy = sp.csr_array(X)
    roomy.data = np.append(roomy.data, [np.nan, 0.0])  # beyond the last entry, where nothing is stored
    roomy.indices = np.append(roomy.indices, np.array([5, 0], dtype=roomy.indices.dtype))
    np.testing.assert_array_equal(factors().fit(roomy, Y).x_weights_, factors().fit(sp.csr_array(X), Y).x_weights_)
    assert len(roomy.data) == X.size + 2


@pytest.mark.parametrize("estimator", [*SPARSE, KernelCCA])
class TestAll:
    def test_different_numbers_of_samples(self, estimator, X, Y):
        with pytest.raises(ValueError, match="X and Y must have the same number of samples; got 10 and 9"):
            estimator().fit(X, Y[:9])

    def test_empty(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"X must be .* 0 sample\(s\) .* minimum of 1 is required"):
            estimator().fit(X[:0], Y[:0])
        with pytest.raises(ValueError, match=r"Y must be .* 0 feature\(s\) .* minimum of 1 is required"):
            estimator().fit(X, Y[:, :0])

    def test_one_sample(self, estimator, X, Y):
        with pytest.raises(ValueError, match="must have at least 2 samples; got n_samples=1"):
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
        with pytest.raises(ValueError, match="pass Y, the other view"):
            estimator().fit(X, None)

    def test_too_many_components(self, estimator, X, Y):
        wide = np.hstack([X, X]), np.hstack([Y, Y, Y])
        with pytest.raises(ValueError, match=r"`n_components` upper bound is n_samples - 1=9\. Got 10 instead\."):
            estimator(10).fit(*wide)
        with pytest.raises(ValueError, match=r"upper bound is n_samples=10\. Got 11"):
            estimator(11, center=False).fit(*wide)

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
        with pytest.warns(DataWarning, match=r"Y has 1 all-zero sample \(first: 7\)"):
            model = estimator(1).fit(store(X), store(Y))
        assert np.isfinite(model.transform_y(store(Y))).all()

    def test_clean_data_do_not_warn(self, estimator, X, Y):
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            estimator(1).fit(X, Y)

    def test_precomputed_kernel(self, estimator, X, Y):
        K = Y @ Y.T
        first = X @ X.T if estimator is KernelCCA else X
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

    @pytest.mark.parametrize("scale", [1e155, 1e-155])
    def test_magnitude_of_new_samples(self, estimator, X, Y, scale):
        model = estimator(1).fit(X, Y)
        said = r"the largest value of {} must lie between 1e-75 and 1e\+75"
        with pytest.raises(ValueError, match=said.format("X")):
            model.transform(X * scale)
        with pytest.raises(ValueError, match=said.format("Y")):
            model.transform_y(Y * scale)
        with pytest.raises(ValueError, match=said.format("Y")):
            model.transform_pair(X, Y * scale)
        with pytest.raises(ValueError, match=said.format("X")):
            model.score(X * scale, Y)

    @pytest.mark.parametrize("value", [*ODD, None])
    @pytest.mark.parametrize("name", ["center"])
    def test_flags(self, estimator, X, Y, name, value):
        with pytest.raises(ValueError, match=f"^{name} must be True or False; got"):
            estimator(1, **{name: value}).fit(X, Y)

    @pytest.mark.parametrize("value", [*ODD, 0, True])
    def test_n_jobs(self, estimator, X, Y, value):
        with pytest.raises(
            ValueError, match="^n_jobs must be None or an integer other than 0; got .*: 1 is sequential"
        ):
            estimator(1, n_jobs=value).fit(X, Y)

    @pytest.mark.parametrize(
        "value", [[], {}, np.array(["rbf", "linear"]), None, 1.5, ("rbf",), ("rbf", None), ("rbf", "rbf", "rbf")]
    )
    def test_odd_kernels(self, estimator, X, Y, value):
        no_kernel = "kernel must be a callable, one of the names .* a LowRankKernel; got"
        with pytest.raises(ValueError, match=f"^({no_kernel}|{WRONG_LENGTH.format('kernel')})"):
            estimator(1, kernel=value).fit(X, Y)

    def test_numpy_values_of_settings(self, estimator, X, Y):
        plain = estimator(1, center=False, scale="rows", n_jobs=1).fit(X, Y)
        model = estimator(np.int64(1), center=np.False_, scale="rows", n_jobs=np.int32(1)).fit(X, Y)
        np.testing.assert_array_equal(model.x_weights_, plain.x_weights_)

    def test_long_arrays_are_not_quoted(self, estimator, X, Y):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead: Reshape your data") as caught:
            estimator().fit(np.arange(500.0), Y)
        assert len(str(caught.value)) < 350

    def test_kernel_that_fails(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"the kernel rbf failed with \{'gama': 1\}: .*gama"):
            estimator(1, kernel=Kernel("rbf", gama=1)).fit(X, Y)

    @pytest.mark.parametrize("copies", [1, 40])  # a small and a large number of samples
    def test_kernel_that_is_not_finite(self, estimator, X, Y, copies):
        many = np.tile(X, (copies, 1)), np.tile(Y, (copies, 1))
        with pytest.raises(ValueError, match=r"the kernel polynomial gives .*inf for some samples with .*scale"):
            estimator(1, kernel=Kernel("polynomial", degree=5000, gamma=9)).fit(*many)
        model = estimator(1, kernel=Kernel("polynomial", degree=5)).fit(X, Y)
        with pytest.raises(ValueError, match=r"the kernel polynomial gives .*inf for some samples"):
            model.transform_y(Y[:3] * 1e70)

    def test_kernel_function_that_is_not_symmetric(self, estimator, X, Y):
        with pytest.raises(ValueError, match=r"a kernel function must be symmetric, .* two samples differ by"):
            estimator(1, kernel=lambda a, b: float(a @ b) + 0.1 * (a[0] - b[0])).fit(X, Y)

    @pytest.mark.parametrize("offset", [1e5, 1e8])
    def test_rbf_does_not_depend_on_the_origin(self, estimator, X, Y, offset):
        kernel = Kernel("rbf", gamma=0.1)
        near, far = estimator(2, kernel=kernel).fit(X, Y), estimator(2, kernel=kernel).fit(X, Y + offset)
        np.testing.assert_allclose(far.transform_y(Y + offset), near.transform_y(Y), atol=1e-6)

    def test_diagonal_that_is_no_numbers(self, estimator, X, Y):
        K = X @ X.T
        model = estimator(1, kernel="precomputed").fit(K if estimator is KernelCCA else X, K)
        with pytest.raises(ValueError, match="diagonal must be 3 finite numbers, k.* of every sample; got 'abc'"):
            model.transform_y(K[:3], diagonal="abc")

    def test_long_settings_are_not_quoted(self, estimator, X, Y):
        with pytest.raises(ValueError, match="center must be True or False") as caught:
            estimator(center=np.arange(500.0)).fit(X, Y)
        assert len(str(caught.value)) < 150
        assert "\n" not in str(caught.value)

    def test_wrong_kernel_name(self, estimator, X, Y):
        with pytest.raises(ValueError, match="kernel must be a callable or one of .* got 'gaussian'"):
            estimator(kernel="gaussian").fit(X, Y)

    def test_strongly_indefinite_kernel_matrix(self, estimator, X, Y, rng):
        vectors, _ = np.linalg.qr(rng.standard_normal((10, 10)))
        K = vectors @ np.diag([1, 1, 1, 1, 1, 1, 1, 1, 1, -0.5]) @ vectors.T
        first = X @ X.T if estimator is KernelCCA else X
        with pytest.raises(
            ValueError, match=r"Y must be positive semi-definite; its smallest eigenvalue is .* times the"
        ):
            estimator(1, kernel="precomputed").fit(first, K)
        with pytest.raises(ValueError, match=r"Y must be positive semi-definite; .* -0\.5 times the largest"):
            estimator(1, kernel="precomputed", center=False, scale=None).fit(first, K)

    def test_strongly_indefinite_kernel_function(self, estimator, X, Y):
        with pytest.raises(ValueError, match="must be positive semi-definite; its smallest eigenvalue is"):
            estimator(1, kernel=Kernel("sigmoid", gamma=1.0, coef0=-2.0)).fit(X, Y)

    def test_conditionally_positive_kernel_that_is_not_centred(self, estimator, X, Y):
        with pytest.raises(ValueError, match="must be positive semi-definite; its smallest eigenvalue is"):
            estimator(1, kernel=minus_square_distance, center=False).fit(X, Y)

    def test_conditionally_positive_kernel(self, estimator, X, Y):
        """Centred, minus squared distances are twice the inner products of the centred samples."""
        model = estimator(1, kernel=minus_square_distance, scale=None).fit(X, Y)
        assert model.n_components_ == 1

    @pytest.mark.parametrize("least", [-1e-15, -1e-7, -9e-4])
    def test_slightly_indefinite_kernel_matrix(self, estimator, X, rng, least):
        vectors, _ = np.linalg.qr(np.hstack([np.ones((10, 1)), rng.standard_normal((10, 9))]))  # centred already
        K = vectors @ np.diag([0, *np.linspace(1, 0.5, 8), least]) @ vectors.T
        first = X @ X.T if estimator is KernelCCA else X
        assert estimator(1, kernel="precomputed", scale=None).fit(first, K).n_components_ == 1


def minus_square_distance(a, b):
    return -float(np.sum((a - b) ** 2))


@pytest.mark.parametrize("estimator", [SparseCCA, SparseCCACV, AnchoredCCA, AnchoredCCACV, KernelCCA, LowRankKernel])
def test_settings_are_stored_and_not_checked_before_fit(estimator):
    odd = {name: [] for name in estimator().get_params()}
    assert estimator(**odd).get_params() == odd


def test_noise_is_said_to_be_noise():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((120, 6)), rng.standard_normal((120, 5))
    with pytest.warns(EvidenceWarning, match="the pairs share no more than chance, .*; check that both sides of each"):
        SparseCCA(1).fit(X, Y)


class TestFactorsOnly:
    def test_features_bound_the_components(self, X, Y):
        with pytest.raises(ValueError, match=r"upper bound is n_features=5 of Y\. Got 6 instead"):
            factors(6).fit(X, Y)
        with pytest.raises(ValueError, match=r"upper bound is n_features=6 of X\. Got 7 instead"):
            factors(7, kernel="rbf").fit(X, Y)

    @pytest.mark.parametrize("value", ["x", [], np.array([1, 2]), object, b"auto", 0, -1.0, np.inf, np.nan, True, None])
    def test_ridge(self, X, Y, value):
        with pytest.raises(
            ValueError, match=r'^ridge must be "auto", "auto\*FACTOR".* number greater than 0 and finite; got'
        ):
            factors(1, ridge=value).fit(X, Y)

    @pytest.mark.parametrize("value", [*ODD, -1, True, None])
    def test_held_out(self, X, Y, value):
        with pytest.raises(ValueError, match='^held_out must be "auto", 0 or an integer of at least 2; got'):
            SparseCCA(1, held_out=value).fit(X, Y)

    @pytest.mark.parametrize("value", [*ODD, None])
    def test_rendering(self, X, Y, value):
        renderings = "'auto', 'sparse', 'joint', 'dense'"
        with pytest.raises(
            ValueError, match=f"^(rendering must be one of {renderings}; got|{WRONG_LENGTH.format('rendering')})"
        ):
            factors(1, rendering=value).fit(X, Y)

    @pytest.mark.parametrize("value", [None, True, [], np.array([0, 1]), "automatic", "auto*0", np.nan, 0, -1.0])
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_odd_penalties(self, X, Y, kernel, value):
        with pytest.raises(ValueError, match=r'^mu must be "auto", "auto\*FACTOR".* or a number .*; got'):
            factors(1, kernel=kernel, mu=value).fit(X, Y)

    @pytest.mark.parametrize("value", ODD)
    def test_random_state(self, X, Y, value):
        with pytest.raises(ValueError, match=r"^random_state must be None, an integer from 0 to 2\*\*32 - 1 or a"):
            factors(1, random_state=value).fit(X, Y)

    @pytest.mark.parametrize("value", [-1, 2**32])
    def test_seeds_out_of_range(self, X, Y, value):
        with pytest.raises(ValueError, match=f"^random_state must be None, .*; got {value}"):
            factors(1, random_state=value).fit(X, Y)


@pytest.mark.parametrize("estimator", SPARSE)
class TestSparse:
    @pytest.mark.parametrize(
        ("name", "value", "bound"),
        [
            ("mu", -1.0, "greater than 0"),
            ("mu", 0, "greater than 0"),
            ("tol", 0.0, "between 0 and 1"),
            ("max_iter", 0, "at least 1"),
        ],
    )
    def test_settings(self, estimator, X, Y, name, value, bound):
        with pytest.raises(ValueError, match=rf"{name} must be .*{bound}.*got"):
            estimator(1, **{name: value}).fit(X, Y)

    @pytest.mark.parametrize("value", ODD)
    @pytest.mark.parametrize(
        ("name", "bound"),
        [
            ("feature_weights", "'shared' or None"),
            ("n_features", ".*an integer of at least 1"),
            ("max_iter", "an integer of at least 1"),
        ],
    )
    def test_odd_types(self, estimator, X, Y, name, bound, value):
        with pytest.raises(ValueError, match=f"^{name} must be {bound}.*; got"):
            estimator(1, **{name: value}).fit(X, Y)

    @pytest.mark.parametrize("value", ["x", [], np.array([0.1, 0.2]), None, True, -1, 0, 1, np.nan])
    def test_tol(self, estimator, X, Y, value):
        with pytest.raises(ValueError, match="^tol must be a number between 0 and 1; got .*: 1e-6 is the default"):
            estimator(1, tol=value).fit(X, Y)

    def test_n_features_beyond_those_there_are_keeps_all(self, estimator, X, Y):
        everything = estimator(1).fit(X, Y)
        np.testing.assert_array_equal(estimator(1, n_features=100).fit(X, Y).x_weights_, everything.x_weights_)

    @pytest.mark.parametrize("value", [[], "x", np.array(["rbf", "linear"])])
    def test_scikit_learn_may_ask_about_a_wrong_setting(self, estimator, X, Y, value):
        """Its searches read an estimator's tags before they fit it."""
        with pytest.raises(ValueError, match="kernel must be"):
            cross_val_score(estimator(1, kernel=value), X, Y, cv=2, error_score="raise")

    @pytest.mark.parametrize(("name", "value"), [("center", "x"), ("kernel", 3), ("max_iter", "x"), ("n_jobs", "x")])
    def test_a_search_refuses_them_before_its_first_fold(self, estimator, X, Y, name, value):
        search = SparseCCACV if estimator is factors else AnchoredCCACV
        with pytest.raises(ValueError, match=f"^{name} must be"):
            search(1, cv=2, **{name: value}).fit(X, Y)

    def test_nothing_in_common(self, estimator):
        X = np.array([[1.0, 0], [-1, 0], [0, 0], [0, 0]])
        Y = np.array([[0.0], [0], [1], [-1]])
        with pytest.raises(ValueError, match="X and Y have nothing in common"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            estimator(1, scale=None).fit(X, Y)
