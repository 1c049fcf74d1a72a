"""Kernels of known spectrum: which are let through, and which are refused, as a matrix and by their products alone."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from scca._data import check_matrix
from scca.views._kernels import check_positive_semidefinite

SMALL, LARGE = 60, 700  # the one is decomposed, of the other only products are used
FORMS = {
    "matrix": lambda K: K,
    "sparse": sp.csr_array,
    "operator": aslinearoperator,
    "products": lambda K: lambda v: K @ v,
}


def with_spectrum(values):
    vectors, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((len(values), len(values))))
    K = (vectors * values) @ vectors.T
    return (K + K.T) / 2


def centred(K):
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1, keepdims=True)


@pytest.fixture(params=[SMALL, LARGE])
def n(request):
    return request.param


@pytest.fixture
def samples(n):
    return np.random.default_rng(1).standard_normal((n, 5))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [-0.002, -0.5, -3.0])
def test_refused(n, form, share):
    K = with_spectrum([2.0, 2.0 * share, *np.linspace(0, 1, n - 2)])
    with pytest.raises(ValueError, match="^K must be positive semi-definite; .* allowed: choose a positive") as caught:
        check_positive_semidefinite(FORMS[form](K), n, "K")
    said = re.search("eigenvalue is (.*), (.*) times the largest, where -0.001 times the largest", str(caught.value))
    assert [float(number) for number in said.groups()] == pytest.approx([2 * share, share], abs=2e-4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [-9e-4, -1e-8, 0.0, 0.3])
def test_let_through(n, form, share):
    K = with_spectrum([2.0, 2.0 * share, *np.linspace(max(share, 0), 1, n - 2)])
    check_positive_semidefinite(FORMS[form](K), n, "K")


def test_half_of_the_spectrum_is_negative(n):
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.\d+, -0\.\d+ times the largest"):
        check_positive_semidefinite(with_spectrum(np.linspace(-0.5, 1, n)), n, "K")


def test_low_rank(n, samples):
    check_positive_semidefinite(samples @ samples.T, n, "K")
    check_positive_semidefinite(np.ones((n, n)), n, "K")


def test_nothing_positive(n):
    with pytest.raises(ValueError, match="smallest eigenvalue is -1, and none is positive, where"):
        check_positive_semidefinite(-np.eye(n), n, "K")


def test_all_eigenvalues_the_same(n):
    check_positive_semidefinite(np.eye(n), n, "K")
    check_positive_semidefinite(np.zeros((n, n)), n, "K")


def test_rounding_in_float32(n, samples):
    for K in (rbf_kernel(samples, gamma=1e-3), samples @ samples.T):
        check_positive_semidefinite(K.astype(np.float32), n, "K")
        check_positive_semidefinite(centred(K.astype(np.float32)), n, "K")


def test_conditionally_positive_kernels_need_centring(n, samples):
    distances = euclidean_distances(samples)
    for K in (-distances, -(distances**2)):
        check_positive_semidefinite(centred(K), n, "K")
        with pytest.raises(ValueError, match="K must be positive semi-definite"):
            check_positive_semidefinite(K, n, "K")


@pytest.mark.parametrize("scale", [1e-70, 1e70])
def test_the_scale_does_not_matter(n, scale):
    check_positive_semidefinite(scale * with_spectrum(np.linspace(0, 1, n)), n, "K")
    with pytest.raises(ValueError, match=r"-0\.5 times the largest"):
        check_positive_semidefinite(scale * with_spectrum([-0.5, *np.linspace(0, 1, n - 1)]), n, "K")


def test_the_same_words_every_time():
    """The starting vector of the iteration is fixed."""
    K, said = with_spectrum(np.linspace(-0.3, 1, LARGE)), set()
    for _ in range(2):
        with pytest.raises(ValueError, match="positive semi-definite") as caught:
            check_positive_semidefinite(K, LARGE, "K")
        said.add(str(caught.value))
    assert len(said) == 1


def test_dates_are_refused_in_one_sentence():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"day": pd.date_range("2020", periods=4), "value": [1.0, 2, 3, 4]})
    with pytest.raises(TypeError, match="X must be a 2-d array .* of real numbers") as caught:
        check_matrix(frame, "X")
    assert len(str(caught.value)) < 300
    dates = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")[:, None]
    for data in (dates, dates - dates[0]):
        with pytest.raises(TypeError, match=r"X must be .* of real numbers; got (datetime|timedelta)64\[D\]"):
            check_matrix(data, "X")
