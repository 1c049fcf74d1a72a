"""AnchoredCCA: Algorithm 4 followed component by component, its anchors, exhausted views and new samples."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import automatic, deflate_features, deflate_kernel, dual_bound, objective, prepare, prepare_kernel
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels

from scca import AnchoredCCA, EmptyComponentWarning, Kernel, solve_component
from scca.datasets import make_planted

anchored = partial(AnchoredCCA, anchors="cross-energy")


@pytest.fixture
def pairs():
    return make_planted(30, 40, 25, n_active=5, random_state=0).views


@pytest.fixture
def new_pairs():
    return make_planted(11, 40, 25, n_active=5, random_state=1).views


def dense_algorithm(X, K, model):
    """Follow a fitted model component by component on dense matrices, checking each against the paper."""
    for j, k in enumerate(model.anchors_):
        w, e = model.x_weights_[:, j], model.y_weights_[:, j]
        assert np.linalg.norm(X @ w) == pytest.approx(1, rel=1e-9)
        assert np.linalg.norm(K @ e) == pytest.approx(1, rel=1e-9)
        assert (X @ w) @ (K @ e) == pytest.approx(model.correlations_[j], rel=1e-9)
        mu, gamma = automatic(X, K, k)
        assert model.mu_[j] == pytest.approx(mu, rel=1e-8)
        assert model.gamma_[j] == pytest.approx(gamma, rel=1e-8)
        unscaled_e = e / e[k]
        # w is free of scale by its norm; the problem's own scale is recovered from the objective's stationary point
        fitted = X @ w
        scale = fitted @ (K @ unscaled_e) - mu / 2 * np.abs(w).sum()
        unscaled_w = w * scale
        value = objective(X, K, unscaled_w, unscaled_e, k, mu, gamma)
        assert value == pytest.approx(model.objective_[j], rel=1e-6)
        bound = dual_bound(X, K, unscaled_w, unscaled_e, k, mu, gamma)
        # recovering the scale costs accuracy: sqrt(tol) in the weights
        assert value - bound <= 1e-3 * (K[:, k] @ K[:, k])
        X, K = deflate_features(X, w), deflate_kernel(K, e)


class TestAlgorithm:
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array, sp.csc_matrix])
    def test_is_algorithm_4(self, pairs, store):
        X, Y = pairs
        model = AnchoredCCA(6, tol=1e-9).fit(store(X), store(Y))
        Xp, Yp = prepare(X), prepare(Y)
        dense_algorithm(Xp, Yp @ Yp.T, model)

    def test_nonlinear_kernel(self, pairs):
        X, Y = pairs
        model = AnchoredCCA(4, tol=1e-9, kernel=Kernel("rbf", gamma=0.05)).fit(X, Y)
        dense_algorithm(prepare(X), prepare_kernel(pairwise_kernels(Y, metric="rbf", gamma=0.05)), model)

    def test_certificates(self, pairs):
        model = anchored(8, tol=1e-7).fit(*pairs)
        K = prepare(pairs[1]) @ prepare(pairs[1]).T
        assert (model.dual_gap_ <= 1e-7 * np.sum(K**2, axis=0).max()).all()
        assert (model.dual_gap_ >= -1e-12).all()
        assert (model.n_passes_ >= 2 * (model.n_iter_ + 1)).all()

    def test_greedy_finds_the_same_model(self, pairs):
        fast = anchored(4, tol=1e-10).fit(*pairs)
        greedy = anchored(4, tol=1e-10, algorithm="greedy").fit(*pairs)
        np.testing.assert_allclose(greedy.objective_, fast.objective_, rtol=1e-8)
        np.testing.assert_allclose(greedy.x_rotations_, fast.x_rotations_, atol=1e-4)

    def test_training_scores_are_orthonormal(self, pairs):
        model = anchored(12).fit(*pairs)
        for scores in model.transform_pair(*pairs):
            np.testing.assert_allclose(scores.T @ scores, np.eye(12), atol=1e-10)

    def test_rotations_give_the_training_scores(self, pairs):
        X, Y = prepare(pairs[0]), prepare(pairs[1])
        model = anchored(5).fit(*pairs)
        x_scores, y_scores = model.transform_pair(*pairs)
        np.testing.assert_allclose(X @ model.x_rotations_, x_scores, atol=1e-10)
        np.testing.assert_allclose(Y @ Y.T @ model.y_rotations_, y_scores, atol=1e-10)

    def test_inverse_representation_swaps_the_views(self, pairs):
        X, Y = pairs
        model = anchored(4).fit(X, Y)
        inverse = anchored(4, representation="dual-primal").fit(Y, X)
        np.testing.assert_array_equal(inverse.y_weights_, model.x_weights_)
        np.testing.assert_array_equal(inverse.x_weights_, model.y_weights_)
        np.testing.assert_array_equal(inverse.transform(Y), model.transform_y(Y))
        np.testing.assert_array_equal(inverse.transform_y(X), model.transform(X))

    def test_same_span_is_classical_cca(self):
        """With every direction of both views extracted, T'S has the canonical correlations as singular values."""
        rng = np.random.default_rng(0)
        shared = rng.standard_normal((40, 2))
        X = shared @ rng.standard_normal((2, 3)) + rng.standard_normal((40, 3))
        Y = shared @ rng.standard_normal((2, 3)) + rng.standard_normal((40, 3))
        for mu, gamma in (("auto*0.05", "auto"), ("auto*0.2", 100.0)):
            model = anchored(3, mu=mu, gamma=gamma, scale=None).fit(X, Y)
            assert model.n_components_ == 3
            x_scores, y_scores = model.transform_pair(X, Y)
            Qx, Qy = (np.linalg.qr(prepare(A, scale=None))[0] for A in (X, Y))
            expected = np.linalg.svd(Qx.T @ Qy, compute_uv=False)
            np.testing.assert_allclose(np.linalg.svd(x_scores.T @ y_scores, compute_uv=False), expected, atol=1e-9)


class TestNewSamples:
    def test_centring_and_scaling_are_those_of_training(self, pairs, new_pairs):
        (X, Y), (X_new, Y_new) = pairs, new_pairs
        model = anchored(5).fit(X, Y)
        centred = X_new - X.mean(0)
        expected = centred / np.linalg.norm(centred, axis=1, keepdims=True) @ model.x_rotations_
        np.testing.assert_allclose(model.transform(X_new), expected, atol=1e-12)
        centred = Y_new - Y.mean(0)
        block = centred / np.linalg.norm(centred, axis=1, keepdims=True) @ prepare(Y).T
        np.testing.assert_allclose(model.transform_y(Y_new), block @ model.y_rotations_, atol=1e-12)

    @pytest.mark.parametrize(("center", "scale"), list(itertools.product([True, False], ["rows", None])))
    @pytest.mark.parametrize("kernel", ["linear", "polynomial", lambda a, b: float(a @ b)])
    def test_feature_map_and_kernel_agree(self, pairs, new_pairs, kernel, center, scale):
        """A test kernel is centred by the training means: the same as centring in feature space."""
        (X, Y), (_, Y_new) = pairs, new_pairs
        model = anchored(3, kernel=kernel, center=center, scale=scale).fit(X, Y)
        metric = "linear" if callable(kernel) else kernel
        everything = pairwise_kernels(np.vstack([Y, Y_new]), metric=metric, gamma=None) if metric != "linear" else None
        if everything is None:
            everything = np.vstack([Y, Y_new]) @ np.vstack([Y, Y_new]).T
        n = len(Y)
        values, vectors = np.linalg.eigh(everything)
        features = vectors * np.sqrt(np.maximum(values, 0))
        train, new = features[:n], features[n:]
        if center:
            train, new = train - features[:n].mean(0), new - features[:n].mean(0)
        if scale is not None:
            train, new = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (train, new))
        np.testing.assert_allclose(model.transform_y(Y_new), new @ train.T @ model.y_rotations_, atol=1e-7)

    def test_precomputed_first_view(self, pairs):
        X, Y = pairs
        model = anchored(3, kernel="precomputed", representation="dual-primal")
        scores = model.fit_transform(Y @ Y.T, X)
        np.testing.assert_allclose(scores.T @ scores, np.eye(3), atol=1e-10)
        assert model.__sklearn_tags__().input_tags.pairwise


class TestAnchors:
    def test_sequential(self, pairs):
        assert AnchoredCCA(5).fit(*pairs).anchors_.tolist() == [0, 1, 2, 3, 4]

    def test_given(self, pairs):
        model = AnchoredCCA(3, anchors=[7, 2, 7]).fit(*pairs)
        assert model.anchors_.tolist() == [7, 2, 7]

    def test_empty_components_are_passed_over(self):
        """60 x 6, where every fourth anchor gives w = 0 at the automatic mu, the first two among them."""
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((60, 6)), rng.standard_normal((60, 6))
        with warnings.catch_warnings():
            warnings.simplefilter("error", EmptyComponentWarning)
            model = AnchoredCCA(2).fit(X, Y)
        K = prepare(Y) @ prepare(Y).T
        assert [k for k in range(5) if not solve_component(prepare(X), K, k).w.any()] == [0, 1]
        assert model.anchors_[0] == 2
        assert np.count_nonzero(model.x_weights_, axis=0).min() > 0
        assert np.isfinite(model.gamma_).all()

    def test_when_none_is_left_the_anchor_is_held(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((20, 1)), rng.standard_normal((20, 3))  # one feature: mean = max, always empty
        with pytest.warns(EmptyComponentWarning, match="every remaining anchor gives an empty component; .* mu=0"):
            model = AnchoredCCA(1).fit(X, Y)
        assert model.anchors_.tolist() == [0]
        assert model.gamma_[0] == np.inf
        assert np.count_nonzero(model.y_weights_) == 1
        assert np.isfinite(model.x_weights_).all()
        assert model.x_weights_[0, 0] != 0

    def test_a_hopeless_mu_is_lowered_and_said(self, pairs):
        with pytest.warns(EmptyComponentWarning, match="mu="):
            model = anchored(1, mu=1e6).fit(*pairs)
        assert 0 < model.mu_[0] < 1e6
        assert model.x_weights_.any()

    def test_clone_keeps_given_anchors(self, pairs):
        model = AnchoredCCA(3, anchors=[1, 5, 2])
        assert clone(model).fit(*pairs).anchors_.tolist() == [1, 5, 2]


class TestExhaustion:
    def test_fewer_components_than_asked(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 10))
        Y = rng.standard_normal((20, 15))
        with pytest.warns(UserWarning, match="exhausted after 2 of n_components=5 .* set n_components=2"):
            model = anchored(5, scale=None).fit(X, Y)
        assert model.n_components_ == 2
        assert model.transform(X).shape == (20, 2)
        assert list(model.get_feature_names_out()) == ["anchoredcca0", "anchoredcca1"]

    def test_all_components(self, pairs):
        """Y has 25 features, so as many components exist, and the last is as orthonormal as the first."""
        model = anchored(25).fit(*pairs)
        assert model.n_components_ == 25
        for scores in model.transform_pair(*pairs):
            np.testing.assert_allclose(scores.T @ scores, np.eye(25), atol=1e-8)

    def test_duplicated_samples(self, pairs):
        X, Y = (np.vstack([A[:10], A[:10]]) for A in pairs)
        with pytest.warns(UserWarning, match="exhausted after 9"):
            model = anchored(15).fit(X, Y)
        assert np.isfinite(model.x_rotations_).all()
