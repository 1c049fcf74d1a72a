"""Shared factors against the dense problem they solve, kernel CCA, and each other's ways of finding them; varimax."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare, shared_problem
from scipy.stats import ortho_group
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

import scca.factors._iteration as iteration
import scca.factors._ridge as ridge_regression
import scca.factors.find as module
import scca.factors.large as large
import scca.factors.products as products
import scca.factors.refit as refitting
import scca.parallel._tasks as working
from scca import KernelCCA
from scca.factors import constants
from scca.factors._iteration import leading_solutions
from scca.factors._lanczos import leading_eigenvectors
from scca.factors.find import (
    _gradient_by_moments,
    _gradient_by_rows,
    equalized,
    factors_by_spectra,
    spectrum_of,
    varimax,
)
from scca.factors.large import shared_factors
from scca.factors.products import regularised
from scca.factors.refit import dense_weights
from scca.views import Kernel, LinearKernelView, Preparation, StoredKernelView

SIZES = (9, 7, 6)


@pytest.fixture
def data(rng):
    shared = rng.standard_normal((40, 3))
    return [shared @ rng.standard_normal((3, m)) + 0.8 * rng.standard_normal((40, m)) for m in SIZES]


def prepared(X):
    return Preparation.fit(X).transform(X)


def assert_same_factors(found, values, pooled):
    np.testing.assert_allclose(found.values, values, rtol=1e-7)
    np.testing.assert_allclose(found.scores.T @ found.scores, np.eye(len(values)), atol=1e-12)
    for j in range(len(values)):  # one after the other: the first j span the same space
        basis = np.linalg.qr(pooled[:, : j + 1])[0]
        assert np.linalg.norm(basis.T @ found.scores[:, j]) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("n_views", [2, 3])
@pytest.mark.parametrize("few", [3000, 0])  # by spectra, by covariances
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_solve_the_problem_over_all_views(data, n_views, few, store, monkeypatch):
    monkeypatch.setattr(module, "_FEW", few)
    for place in (module, large):
        monkeypatch.setattr(place, "_TOLERANCE", 1e-9)  # which single precision does not reach
    views, ridges = [prepared(store(X)) for X in data[:n_views]], [0.3, 1.0, 0.5][:n_views]
    found = shared_factors(views, 3, ridges)
    assert_same_factors(found, *shared_problem([prepare(X) for X in data[:n_views]], ridges, 3))
    assert found.converged.all()


@pytest.mark.parametrize("few", [3000, 0])  # by spectra, by covariances
def test_a_large_eigenproblem_is_solved_by_an_iteration(few, monkeypatch):
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(400, 4)) * [4, 3, 2, 1.5]
    views = [prepared(shared @ rng.normal(size=(4, 300)) + rng.normal(size=(400, 300))) for _ in range(3)]
    monkeypatch.setattr(module, "_FEW", few)
    direct = shared_factors(views, 3, [0.5] * 3)
    found = []

    def counted(*given):
        found.append(leading_eigenvectors(*given))
        return found[-1]

    monkeypatch.setattr(module, "_LARGE_EIGENPROBLEM", 0)
    monkeypatch.setattr(module, "leading_eigenvectors", counted)
    assert_same_factors(shared_factors(views, 3, [0.5] * 3), direct.values, direct.scores)
    assert found
    assert found[0] is not None


def test_few_factors_of_a_small_eigenproblem_are_found_by_an_iteration(data, monkeypatch):
    direct = shared_factors([prepared(X) for X in data], 3, [0.3] * 3)
    used, eigsh = [], module.eigsh
    monkeypatch.setattr(module, "eigsh", lambda *given, **settings: used.append(1) or eigsh(*given, **settings))
    monkeypatch.setattr(module, "_SIZE_PER_COMPONENT", 1)
    assert_same_factors(shared_factors([prepared(X) for X in data], 3, [0.3] * 3), direct.values, direct.scores)
    assert used


def test_views_that_share_nothing_at_all_have_no_factor(monkeypatch):
    """Every sample is in one view alone, so that the matrix of the eigenproblem is zero, where an iteration fails."""
    monkeypatch.setattr(module, "_SIZE_PER_COMPONENT", 1)
    views = [Preparation.fit(X, center=False, scale=None).transform(X) for X in np.split(np.eye(12), 3, axis=1)]
    assert len(factors_by_spectra(views, 2, [0.3] * 3).values) == 0


@pytest.mark.parametrize("r", [0.03, 0.3, 0.9])
def test_two_views_are_kernel_cca(data, r):
    X, Y = data[:2]
    found = shared_factors([prepared(X), prepared(Y)], 4, [r / (1 - r)] * 2)
    reference = KernelCCA(4, regularization=r, scale="rows").fit(X, Y)
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
    view = StoredKernelView.of(Y, Kernel("rbf", {"gamma": 0.1}), center=True, scale="rows")
    found = shared_factors([prepared(X), view], 3, [0.3, 0.3])
    K = view.columns(np.arange(40))
    U, values, _ = np.linalg.svd(K)
    kept = values > 1e-10
    assert_same_factors(found, *shared_problem([prepare(X), U[:, kept] * np.sqrt(values[kept])], [0.3, 0.3], 3))
    assert not np.allclose(K, rbf_kernel(Y, gamma=0.1))  # centred and scaled


def test_what_one_view_has_alone_is_no_factor(rng):
    """A strong private direction must not come before a weak shared one, whatever the ridge."""
    shared, private = rng.standard_normal((200, 1)), 5 * rng.standard_normal((200, 1))
    X = np.hstack([private, 0.6 * shared + 0.3 * rng.standard_normal((200, 1))])
    Y = 0.6 * shared + 0.3 * rng.standard_normal((200, 2))
    views = [Preparation.fit(A, scale=None).transform(A) for A in (X, Y)]
    for ridge in (1e-3, 1.0, 100.0):
        first = shared_factors(views, 1, [ridge, ridge]).scores[:, 0]
        assert abs(np.corrcoef(first, shared[:, 0])[0, 1]) > 0.8
        assert abs(np.corrcoef(first, private[:, 0])[0, 1]) < 0.3


def test_no_more_factors_than_the_smaller_view_has(data):
    found = shared_factors([prepared(data[0]), prepared(data[2][:, :2])], 5, [0.3, 0.3])
    assert found.scores.shape == (40, 2)


@pytest.fixture
def wide(rng):
    """Three views of more features than an iteration can span at once, and sparse as words are."""
    shared = rng.standard_normal((300, 6))
    return [
        sp.csr_array(np.maximum(shared @ rng.standard_normal((6, m)) / 2 + rng.standard_normal((300, m)) - 1.5, 0.0))
        for m in (90, 70, 80)
    ]


@pytest.fixture
def by_products(monkeypatch):
    """Nothing by spectra or covariances; few features coupled and few rows at a time, so that neither is the whole."""
    monkeypatch.setattr(module, "_FEW", 0)
    monkeypatch.setattr(constants, "MOST_FEATURES", 0)
    monkeypatch.setattr(ridge_regression, "_MOST_COUPLED", 20)
    monkeypatch.setattr(products, "_ROWS", 43)


@pytest.mark.parametrize(
    ("n_views", "center"), [(2, True), (2, False), (3, True), pytest.param(3, False, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("store", [sp.csr_array.toarray, sp.csc_array, lambda X: X.astype(np.float32)])
def test_products_find_what_spectra_find(wide, n_views, store, center, by_products, monkeypatch):
    views = [Preparation.fit(X, center=center).transform(X) for X in map(store, wide[:n_views])]
    ridges = [0.3, 1.0, 0.5][:n_views]
    for place in (module, large):
        monkeypatch.setattr(place, "_TOLERANCE", 1e-9)
    found = shared_factors(views, 5, ridges)
    monkeypatch.setattr(module, "_FEW", 3000)
    exact = shared_factors(views, 5, ridges)
    assert found.converged.all()
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(found.scores * exact.scores, axis=0)), 1, rtol=1e-8)
    np.testing.assert_allclose(found.scores @ (found.scores.T @ exact.scores), exact.scores, atol=1e-8)


@pytest.mark.parametrize("max_iter", [1, 4, 200])
def test_residuals_are_those_of_the_equations(wide, max_iter, by_products, monkeypatch):
    """Whether the iteration was cut short or not."""
    monkeypatch.setattr(large, "_MAX_ITER", max_iter)
    solved = []
    monkeypatch.setattr(
        large, "leading_solutions", lambda *a, **k: solved.append(leading_solutions(*a, **k)) or solved[0]
    )
    found = shared_factors([prepared(X) for X in wide[:2]], 5, [0.3, 0.4])
    A, B = (prepare(X.toarray()) for X in wide[:2])
    W, V = solved[0].vectors
    right = np.vstack([A.T @ (A @ W) + 0.3 * W, B.T @ (B @ V) + 0.4 * V]) * found.values
    left = np.vstack([A.T @ (B @ V), B.T @ (A @ W)])
    expected = np.linalg.norm(left - right, axis=0) / np.linalg.norm(right, axis=0)
    np.testing.assert_allclose(found.residuals, expected, rtol=1e-6)
    assert found.converged.all() == (max_iter == 200)


def test_products_with_two_views_are_kernel_cca(wide, by_products, monkeypatch):
    for place in (module, large):
        monkeypatch.setattr(place, "_TOLERANCE", 1e-7)
    found = shared_factors([prepared(X) for X in wide[:2]], 4, [1.0, 1.0])
    reference = KernelCCA(4, regularization=0.5).fit(*wide[:2])
    np.testing.assert_allclose(found.values, 0.5 * reference.canonical_values_, rtol=1e-10)


def test_products_are_the_same_for_any_number_of_threads(wide, by_products):
    views = [prepared(X) for X in wide]
    with threadpool_limits(1):
        one = shared_factors(views, 5, [0.3] * 3)
    np.testing.assert_array_equal(shared_factors(views, 5, [0.3] * 3).scores, one.scores)


def test_products_are_the_same_for_any_number_of_cores(wide, by_products, monkeypatch):
    monkeypatch.setattr(working, "_ROWS", 16)  # many parts, whose sums must be added in one order
    views, found = [prepared(X) for X in wide[:2]], []
    for n_cores in (1, 3):
        monkeypatch.setattr(working, "_N_CORES", n_cores)
        working._pool.cache_clear()
        found.append(shared_factors(views, 5, [0.3] * 2).scores)
    working._pool.cache_clear()
    np.testing.assert_array_equal(*found)


def test_a_basis_that_is_full_starts_anew(wide, by_products, monkeypatch):
    views = [prepared(X) for X in wide[:2]]
    exact = shared_factors(views, 3, [0.3] * 2)
    monkeypatch.setattr(iteration, "_BASIS_SIZE", 4)
    monkeypatch.setattr(iteration, "_LEAST_BASIS_SIZE", 0)
    found = shared_factors(views, 3, [0.3] * 2)
    assert found.converged.all()
    np.testing.assert_allclose(found.values, exact.values, rtol=1e-5)


def test_all_features_coupled_leave_single_precision(wide, by_products, monkeypatch):
    """Which is more than enough for the residuals that are asked for, and is still honest about them."""
    views = [prepared(X) for X in wide[:2]]
    monkeypatch.setattr(ridge_regression, "_MOST_COUPLED", 1000)
    found = shared_factors(views, 5, [0.3] * 2)
    monkeypatch.setattr(module, "_FEW", 3000)
    np.testing.assert_allclose(found.values, shared_factors(views, 5, [0.3] * 2).values, rtol=1e-5)
    assert found.converged.all()


@pytest.mark.parametrize("share", [0.0, 0.05, 4.0])
def test_an_inverse_however_many_features_are_coupled(wide, rng, share, by_products, monkeypatch):
    """Fewer, if the view has few entries; one at least."""
    monkeypatch.setattr(ridge_regression, "_PER_ROOT", share)
    view = prepared(wide[0])
    product = ridge_regression.Coupled(view, 0.3)
    product.couple()
    assert len(product._coupled) == min(20, 1 + int(share * np.sqrt(view.n_stored)))
    R = rng.standard_normal((90, 3))
    np.testing.assert_allclose(regularised(product.view, 0.3, product.solve(R, 1e-10).weights), R, atol=1e-8)


@pytest.mark.parametrize("max_iter", [3, 1000])
def test_a_solution_says_how_far_it_is_off(wide, rng, max_iter, by_products, monkeypatch):
    monkeypatch.setattr(ridge_regression, "_MAX_ITER", max_iter)
    product = ridge_regression.Coupled(prepared(wide[0]), 0.3)
    product.couple()
    R = np.column_stack([rng.standard_normal((90, 2)), np.zeros(90)])
    found = product.solve(R, 1e-6)
    norms = np.linalg.norm(R - regularised(product.view, 0.3, found.weights), axis=0)
    np.testing.assert_allclose(found.residuals[:2], norms[:2] / np.linalg.norm(R[:, :2], axis=0), rtol=1e-6)
    np.testing.assert_array_equal(found.converged, [max_iter == 1000, max_iter == 1000, True])


@pytest.mark.parametrize("store", [sp.csr_array.toarray, sp.csr_array])
def test_weights_on_all_features_solve_the_normal_equations(wide, rng, store, by_products, monkeypatch):
    view, T = prepared(store(wide[0])), rng.standard_normal((300, 4))
    exact = dense_weights(view, T, 0.3).weights
    monkeypatch.setattr(refitting, "_FEW_SAMPLES", 0)
    np.testing.assert_allclose(dense_weights(view, T, 0.3).weights, exact, atol=1e-7 * np.abs(exact).max())
    assert not dense_weights(view, 0 * T, 0.3).weights.any()


def test_a_ridge_below_single_precision(wide, rng, by_products, monkeypatch):
    monkeypatch.setattr(ridge_regression, "_MOST_COUPLED", 1000)
    X = sp.csr_array(sp.hstack([wide[0]] * 2))  # every feature twice: singular without a ridge
    view, T = prepared(X), rng.standard_normal((300, 2))
    exact = view.matmat(dense_weights(view, T, 1e-9).weights)
    monkeypatch.setattr(refitting, "_FEW_SAMPLES", 0)
    np.testing.assert_allclose(view.matmat(dense_weights(view, T, 1e-9).weights), exact, atol=1e-5)


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


def test_a_decomposition_that_does_not_converge_is_done_another_way(monkeypatch):
    original = module.svd

    def failing(matrix, lapack_driver="gesdd", **settings):
        if lapack_driver == "gesdd":
            raise np.linalg.LinAlgError("SVD did not converge")
        return original(matrix, lapack_driver=lapack_driver, **settings)

    A = np.random.default_rng(0).standard_normal((8, 5))
    expected = original(A, full_matrices=False)
    monkeypatch.setattr(module, "svd", failing)
    vectors, singular = module._left_singular_vectors(A)
    np.testing.assert_allclose(singular, expected[1], atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(vectors * expected[0], axis=0)), 1.0)


def criterion(B):
    return np.sum(np.var(B**2, axis=0))


def test_no_rotation_of_the_plane_is_simpler(rng):
    L = rng.standard_normal((30, 2)) * [2.0, 1.0]
    found = varimax(L)
    angles = np.linspace(0, np.pi, 2001)
    best = max(criterion(L @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])) for a in angles)
    assert criterion(L @ found.matrix) >= best * (1 - 1e-6)
    assert found.converged


def test_is_a_rotation_that_random_ones_do_not_beat(rng):
    L = rng.standard_normal((50, 5)) ** 3
    R = varimax(L).matrix
    np.testing.assert_allclose(R.T @ R, np.eye(5), atol=1e-12)
    others = ortho_group(5, seed=0).rvs(200)
    assert criterion(L @ R) > max(criterion(L @ other) for other in others)


def test_simple_structure_is_found_again(rng):
    """Factors of features of their own, turned: turned back, but for order and sign."""
    simple = np.kron(np.eye(4), np.ones((10, 1))) * rng.uniform(0.5, 1.0, (40, 1))
    turned = simple @ ortho_group(4, seed=1).rvs()
    found = turned @ varimax(turned).matrix
    cosines = np.abs(found.T @ simple) / np.linalg.norm(found, axis=0)[:, None] / np.linalg.norm(simple, axis=0)
    np.testing.assert_allclose(np.sort(cosines, axis=1)[:, -1], 1, atol=1e-6)
    assert sorted(cosines.argmax(axis=1)) == [0, 1, 2, 3]


def test_starting_elsewhere_changes_the_rotation_and_not_the_factors(rng):
    L = np.kron(np.eye(3), np.ones((8, 1))) + 0.1 * rng.standard_normal((24, 3))
    Q = ortho_group(3, seed=2).rvs()
    one, other = L @ varimax(L).matrix, L @ Q @ varimax(L @ Q).matrix
    np.testing.assert_allclose(np.abs(one.T @ other).max(axis=1), np.sum(one**2, axis=0), rtol=1e-4)


@pytest.mark.parametrize(("n_rows", "n_factors"), [(40, 12), (3000, 8), (200, 60)])
def test_no_plain_step_gains_anything(rng, n_rows, n_factors):
    """The steps that go beyond plain ones end where those would."""
    L = rng.standard_normal((n_rows, n_factors)) ** 3 @ ortho_group(n_factors, seed=3).rvs()
    found = varimax(L)
    B = L @ found.matrix
    U, _, V = np.linalg.svd(L.T @ (B**3 - B * np.mean(B**2, axis=0)))
    assert found.converged
    assert criterion(L @ U @ V) <= criterion(B) * (1 + 1e-6)
    assert criterion(B) > criterion(L)


class TestEqualized:
    def test_rows_keep_their_direction_and_their_order_of_size(self, rng):
        loadings = rng.standard_normal((30, 4)) * np.linspace(0.01, 10, 30)[:, None]
        found = equalized(loadings)
        norms, before = np.linalg.norm(found, axis=1), np.linalg.norm(loadings, axis=1)
        np.testing.assert_allclose(found / norms[:, None], loadings / before[:, None])
        assert (np.argsort(norms) == np.argsort(before)).all()
        assert norms.max() < 1

    def test_what_is_far_above_the_mean_has_unit_norm_and_what_is_far_below_none(self, rng):
        loadings = rng.standard_normal((1000, 3))
        loadings[0] *= 1e4
        norms = np.linalg.norm(equalized(loadings), axis=1)
        assert norms[0] == pytest.approx(1, abs=0.01)
        assert norms[1:].max() < 0.2

    def test_the_unit_of_measurement_does_not_matter(self, rng):
        loadings = rng.standard_normal((20, 3))
        np.testing.assert_allclose(equalized(1e6 * loadings), equalized(loadings))
        assert not equalized(np.zeros((4, 2))).any()

    def test_turning_the_factors_turns_the_rows(self, rng):
        loadings, (R, _) = rng.standard_normal((20, 3)), np.linalg.qr(rng.standard_normal((3, 3)))
        np.testing.assert_allclose(equalized(loadings @ R), equalized(loadings) @ R)


def test_gradient_by_moments_is_the_gradient(rng, monkeypatch):
    monkeypatch.setattr("scca.samples._views._TILE_ENTRIES", 100)
    L = rng.standard_normal((300, 5)) ** 3
    R = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    expected = _gradient_by_rows(L, 400)(R)
    found = _gradient_by_moments(L, 400)(R)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("n_factors", [5, 40])  # by moments, by rows
def test_rows_of_zeros_count_although_they_are_left_out(rng, n_factors):
    """The gradient of the criterion of all rows, by differences."""
    L = np.zeros((400, n_factors))
    L[::2] = rng.standard_normal((200, n_factors)) ** 3
    R, direction = np.linalg.qr(rng.standard_normal((n_factors, n_factors)))[0], rng.standard_normal(L.shape[1:] * 2)
    gradient = _gradient_by_moments if n_factors < 10 else _gradient_by_rows
    step = 1e-5
    slope = (criterion(L @ (R + step * direction)) - criterion(L @ (R - step * direction))) / (2 * step)
    found = 4 * np.sum(gradient(L[::2], len(L))(R) * direction) / len(L)
    assert found == pytest.approx(slope, rel=1e-5)
    dense = L + 1e-100  # the same criterion, without a row of zeros
    np.testing.assert_allclose(varimax(L).matrix, varimax(dense).matrix, atol=1e-9)


def test_nothing_is_not_rotated():
    np.testing.assert_array_equal(varimax(np.zeros((6, 3))).matrix, np.eye(3))
