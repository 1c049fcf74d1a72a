"""SparseCCA: Algorithm 4 against its dense form, and the scores of new samples."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from oracles import automatic, deflate_features, deflate_kernel, dual_bound, objective, prepare, prepare_kernel
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scca
from scca import PAPER, EmptyComponentWarning, SparseCCA, solve_component
from scca.datasets import make_planted


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
        pull = fitted @ (K @ unscaled_e) - mu / 2 * np.abs(w).sum()
        unscaled_w = w * pull
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
        model = SparseCCA(6, tol=1e-9, **PAPER).fit(store(X), store(Y))
        Xp, Yp = prepare(X), prepare(Y)
        dense_algorithm(Xp, Yp @ Yp.T, model)

    def test_nonlinear_kernel(self, pairs):
        X, Y = pairs
        model = SparseCCA(4, tol=1e-9, **{**PAPER, "kernel": "rbf", "kernel_params": {"gamma": 0.05}}).fit(X, Y)
        dense_algorithm(prepare(X), prepare_kernel(pairwise_kernels(Y, metric="rbf", gamma=0.05)), model)

    def test_certificates(self, pairs):
        model = SparseCCA(8, tol=1e-7).fit(*pairs)
        K = prepare(pairs[1]) @ prepare(pairs[1]).T
        assert (model.dual_gap_ <= 1e-7 * np.sum(K**2, axis=0).max()).all()
        assert (model.dual_gap_ >= -1e-12).all()
        assert (model.n_passes_ >= 2 * (model.n_iter_ + 1)).all()

    def test_greedy_finds_the_same_model(self, pairs):
        fast = SparseCCA(4, tol=1e-10).fit(*pairs)
        greedy = SparseCCA(4, tol=1e-10, algorithm="greedy").fit(*pairs)
        np.testing.assert_allclose(greedy.objective_, fast.objective_, rtol=1e-8)
        np.testing.assert_allclose(greedy.x_rotations_, fast.x_rotations_, atol=1e-4)

    def test_training_scores_are_orthonormal(self, pairs):
        model = SparseCCA(12).fit(*pairs)
        for scores in model.transform_pair(*pairs):
            np.testing.assert_allclose(scores.T @ scores, np.eye(12), atol=1e-10)

    def test_rotations_give_the_training_scores(self, pairs):
        X, Y = prepare(pairs[0]), prepare(pairs[1])
        model = SparseCCA(5, feature_weights=None).fit(*pairs)
        x_scores, y_scores = model.transform_pair(*pairs)
        np.testing.assert_allclose(X @ model.x_rotations_, x_scores, atol=1e-10)
        np.testing.assert_allclose(Y @ Y.T @ model.y_rotations_, y_scores, atol=1e-10)

    def test_inverse_representation_swaps_the_views(self, pairs):
        X, Y = pairs
        model = SparseCCA(4).fit(X, Y)
        inverse = SparseCCA(4, representation="dual-primal").fit(Y, X)
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
            model = SparseCCA(3, mu=mu, gamma=gamma, normalize=False).fit(X, Y)
            assert model.n_components_ == 3
            x_scores, y_scores = model.transform_pair(X, Y)
            Qx, Qy = (np.linalg.qr(prepare(A, normalize=False))[0] for A in (X, Y))
            expected = np.linalg.svd(Qx.T @ Qy, compute_uv=False)
            np.testing.assert_allclose(np.linalg.svd(x_scores.T @ y_scores, compute_uv=False), expected, atol=1e-9)


class TestNewSamples:
    def test_centring_and_scaling_are_those_of_training(self, pairs, new_pairs):
        (X, Y), (X_new, Y_new) = pairs, new_pairs
        model = SparseCCA(5, feature_weights=None).fit(X, Y)
        centred = X_new - X.mean(0)
        expected = centred / np.linalg.norm(centred, axis=1, keepdims=True) @ model.x_rotations_
        np.testing.assert_allclose(model.transform(X_new), expected, atol=1e-12)
        centred = Y_new - Y.mean(0)
        block = centred / np.linalg.norm(centred, axis=1, keepdims=True) @ prepare(Y).T
        np.testing.assert_allclose(model.transform_y(Y_new), block @ model.y_rotations_, atol=1e-12)

    @pytest.mark.parametrize(("center", "normalize"), list(itertools.product([True, False], [True, False])))
    @pytest.mark.parametrize("kernel", ["linear", "polynomial", lambda a, b: float(a @ b)])
    def test_feature_map_and_kernel_agree(self, pairs, new_pairs, kernel, center, normalize):
        """A test kernel is centred by the training means: the same as centring in feature space."""
        (X, Y), (_, Y_new) = pairs, new_pairs
        settings = {"center": center, "normalize": normalize, "feature_weights": None}
        model = SparseCCA(3, kernel=kernel, **settings).fit(X, Y)
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
        if normalize:
            train, new = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (train, new))
        np.testing.assert_allclose(model.transform_y(Y_new), new @ train.T @ model.y_rotations_, atol=1e-7)

    def test_precomputed_with_and_without_diagonal(self, pairs, new_pairs):
        (X, Y), (X_new, Y_new) = pairs, new_pairs
        linear = SparseCCA(4, feature_weights=None).fit(X, Y)
        model = SparseCCA(4, kernel="precomputed", feature_weights=None).fit(X, Y @ Y.T)
        expected = linear.transform_y(Y_new)
        scores = model.transform_y(Y_new @ Y.T, diagonal=np.sum(Y_new**2, axis=1))
        np.testing.assert_allclose(scores, expected, atol=1e-10)
        unscaled = model.transform_y(Y_new @ Y.T)
        np.testing.assert_allclose(unscaled / np.linalg.norm(unscaled, axis=1, keepdims=True),
                                   expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-10)  # fmt: skip
        # a sample's own scale changes no ranking
        assert model.score(X_new, Y_new @ Y.T) == pytest.approx(linear.score(X_new, Y_new), abs=1e-12)

    def test_precomputed_first_view(self, pairs):
        X, Y = pairs
        model = SparseCCA(3, kernel="precomputed", representation="dual-primal")
        scores = model.fit_transform(Y @ Y.T, X)
        np.testing.assert_allclose(scores.T @ scores, np.eye(3), atol=1e-10)
        assert model.__sklearn_tags__().input_tags.pairwise

    def test_sparse_and_dense_agree(self, pairs, new_pairs):
        dense = SparseCCA(4).fit(*pairs)
        sparse = SparseCCA(4).fit(*map(sp.csr_matrix, pairs))
        for mine, other in zip(dense.transform_pair(*new_pairs), sparse.transform_pair(*map(sp.csr_array, new_pairs)),
                               strict=True):  # fmt: skip
            assert isinstance(other, np.ndarray)
            np.testing.assert_allclose(mine, other, atol=1e-9)

    def test_float32_stays_float32(self, pairs, new_pairs):
        X, Y = (A.astype(np.float32) for A in pairs)
        model = SparseCCA(3).fit(X, Y)
        assert model.x_weights_.dtype == model.y_rotations_.dtype == np.float32
        assert model.dual_gap_.dtype == np.float64
        scores = model.transform_pair(*(A.astype(np.float32) for A in new_pairs))
        reference = SparseCCA(3).fit(*pairs).transform_pair(*new_pairs)
        for mine, exact in zip(scores, reference, strict=True):
            assert mine.dtype == np.float32
            # the working set may stop at another point within tol = 1e-6, so sqrt(tol) apart
            np.testing.assert_allclose(mine, exact, atol=2e-3)

    def test_score_is_average_precision(self, pairs, new_pairs):
        model = SparseCCA(5).fit(*pairs)
        A, B = model.transform_pair(*new_pairs)
        assert model.score(*new_pairs) == scca.retrieval.average_precision(A, B).average_precision


class TestAnchors:
    def test_sequential(self, pairs):
        assert SparseCCA(5, **PAPER).fit(*pairs).anchors_.tolist() == [0, 1, 2, 3, 4]

    def test_given(self, pairs):
        model = SparseCCA(3, anchors=[7, 2, 7]).fit(*pairs)
        assert model.anchors_.tolist() == [7, 2, 7]

    def test_empty_components_are_passed_over(self):
        """60 x 6, where every fourth anchor gives w = 0 at the automatic mu, the first two among them."""
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((60, 6)), rng.standard_normal((60, 6))
        with warnings.catch_warnings():
            warnings.simplefilter("error", EmptyComponentWarning)
            model = SparseCCA(2, **PAPER).fit(X, Y)
        K = prepare(Y) @ prepare(Y).T
        assert [k for k in range(5) if not solve_component(prepare(X), K, k).w.any()] == [0, 1]
        assert model.anchors_[0] == 2
        assert np.count_nonzero(model.x_weights_, axis=0).min() > 0
        assert np.isfinite(model.gamma_).all()

    def test_when_none_is_left_the_anchor_is_held(self):
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((20, 1)), rng.standard_normal((20, 3))  # one feature: mean = max, always empty
        with pytest.warns(EmptyComponentWarning, match="every anchor left gives an empty component; .* anchor 0"):
            model = SparseCCA(1, **PAPER).fit(X, Y)
        assert model.gamma_[0] == np.inf
        assert np.count_nonzero(model.y_weights_) == 1
        assert np.isfinite(model.x_weights_).all()
        assert model.x_weights_[0, 0] != 0

    def test_a_hopeless_mu_is_lowered_and_said(self, pairs):
        with pytest.warns(EmptyComponentWarning, match="mu="):
            model = SparseCCA(1, mu=1e6).fit(*pairs)
        assert 0 < model.mu_[0] < 1e6
        assert model.x_weights_.any()


class TestExhaustion:
    def test_fewer_components_than_asked(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 10))
        Y = rng.standard_normal((20, 15))
        with pytest.warns(UserWarning, match="exhausted after 2 of n_components=5 .* set n_components=2"):
            model = SparseCCA(5, normalize=False).fit(X, Y)
        assert model.n_components_ == 2
        assert model.transform(X).shape == (20, 2)
        assert list(model.get_feature_names_out()) == ["sparsecca0", "sparsecca1"]

    def test_all_components(self, pairs):
        """Y has 25 features, so as many components exist, and the last is as orthonormal as the first."""
        model = SparseCCA(25).fit(*pairs)
        assert model.n_components_ == 25
        for scores in model.transform_pair(*pairs):
            np.testing.assert_allclose(scores.T @ scores, np.eye(25), atol=1e-8)

    def test_duplicated_samples(self, pairs):
        X, Y = (np.vstack([A[:10], A[:10]]) for A in pairs)
        with pytest.warns(UserWarning, match="exhausted after 9"):
            model = SparseCCA(15).fit(X, Y)
        assert np.isfinite(model.x_rotations_).all()


class TestScikitLearn:
    def test_clone_and_pickle(self, pairs, new_pairs):
        model = SparseCCA(3, mu="auto*0.5", anchors=[1, 5, 2]).fit(*pairs)
        assert clone(model).get_params() == model.get_params()
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.transform_y(new_pairs[1]), model.transform_y(new_pairs[1]))

    def test_pickle_does_not_carry_the_training_data_of_a_linear_kernel(self):
        X, Y = make_planted(300, 20, 20, n_active=5, random_state=0).views
        assert len(pickle.dumps(SparseCCA(1).fit(X, Y))) < X.nbytes / 2

    def test_grid_search_and_pipeline(self):
        X, Y = make_planted(60, 30, 30, n_active=5, strength=3, random_state=0).views
        search = GridSearchCV(SparseCCA(2), {"mu": ["auto", "auto*0.3"], "n_components": [1, 4]}, cv=3).fit(X, Y)
        assert search.best_params_["n_components"] == 4
        piped = make_pipeline(StandardScaler(), SparseCCA(2)).fit(X, Y)
        expected = SparseCCA(2).fit(StandardScaler().fit_transform(X), Y).transform(StandardScaler().fit_transform(X))
        np.testing.assert_allclose(piped.transform(X), expected, atol=1e-12)
        assert 0 < piped.score(X, Y) <= 1

    def test_data_frames(self, pairs):
        X = pd.DataFrame(pairs[0]).rename(columns=lambda c: f"x{c}")
        Y = pd.DataFrame(pairs[1]).rename(columns=lambda c: f"y{c}")
        model = SparseCCA(2).set_output(transform="pandas").fit(X, Y)
        assert list(model.feature_names_in_) == list(X.columns)
        assert list(model.feature_names_y_) == list(Y.columns)
        frame = model.transform(X)
        assert list(frame.columns) == list(model.get_feature_names_out()) == ["sparsecca0", "sparsecca1"]
        np.testing.assert_allclose(model.transform_y(Y), SparseCCA(2).fit(*pairs).transform_y(pairs[1]), atol=1e-12)
        with pytest.raises(ValueError, match="feature names of Y should match"):
            model.transform_y(Y[Y.columns[::-1]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(X[X.columns[::-1]])

    def test_paper_settings(self, pairs):
        model = SparseCCA(3, **scca.PAPER).fit(*pairs)
        assert model.anchors_.tolist() == [0, 1, 2]

    def test_verbose_logs(self, pairs, caplog):
        with caplog.at_level("INFO", logger="scca"):
            SparseCCA(2, verbose=1).fit(*pairs)
        assert [r.message.split(":")[0] for r in caplog.records] == ["component 1", "component 2"]
