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


def anchored(n_components, **settings):
    return SparseCCA(n_components, **{"anchors": "cross-energy", **settings})


def factors(n_components, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


both = pytest.mark.parametrize("make", [factors, anchored])


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
        model = SparseCCA(6, tol=1e-9, **PAPER).fit(store(X), store(Y))
        Xp, Yp = prepare(X), prepare(Y)
        dense_algorithm(Xp, Yp @ Yp.T, model)

    def test_nonlinear_kernel(self, pairs):
        X, Y = pairs
        model = SparseCCA(4, tol=1e-9, **{**PAPER, "kernel": "rbf", "kernel_params": {"gamma": 0.05}}).fit(X, Y)
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
        model = anchored(5, feature_weights=None, scale="rows").fit(*pairs)
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
        model = anchored(5, feature_weights=None, scale="rows").fit(X, Y)
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
        settings = {"center": center, "scale": scale, "feature_weights": None}
        model = anchored(3, kernel=kernel, **settings).fit(X, Y)
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

    @both
    def test_precomputed_with_and_without_diagonal(self, pairs, new_pairs, make):
        """A kernel matrix is the linear kernel of the same features; a sample's own k(y, y) only scales its score."""
        (X, Y), (X_new, Y_new) = pairs, new_pairs
        settings = {"feature_weights": None, "tol": 1e-10, "scale": "rows"}
        linear = make(4, representation="primal-dual", **settings).fit(X, Y)
        model = make(4, kernel="precomputed", **settings).fit(X, Y @ Y.T)
        expected = linear.transform_y(Y_new)
        scores = model.transform_y(Y_new @ Y.T, diagonal=np.sum(Y_new**2, axis=1))
        np.testing.assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())  # sqrt(tol), relative
        unscaled = model.transform_y(Y_new @ Y.T)
        unit_scores, unit_expected = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (unscaled, expected))
        np.testing.assert_allclose(unit_scores, unit_expected, atol=1e-6)
        # a sample's own scale changes no ranking
        assert model.score(X_new, Y_new @ Y.T) == pytest.approx(linear.score(X_new, Y_new), abs=1e-12)

    def test_precomputed_first_view(self, pairs):
        X, Y = pairs
        model = anchored(3, kernel="precomputed", representation="dual-primal")
        scores = model.fit_transform(Y @ Y.T, X)
        np.testing.assert_allclose(scores.T @ scores, np.eye(3), atol=1e-10)
        assert model.__sklearn_tags__().input_tags.pairwise

    @both
    def test_sparse_and_dense_agree(self, pairs, new_pairs, make):
        dense = make(4).fit(*pairs)
        sparse = make(4).fit(*map(sp.csr_matrix, pairs))
        found = sparse.transform_pair(*map(sp.csr_array, new_pairs))
        for mine, other in zip(dense.transform_pair(*new_pairs), found, strict=True):
            assert isinstance(other, np.ndarray)
            np.testing.assert_allclose(mine, other, atol=1e-9)

    @both
    def test_float32_stays_float32(self, pairs, new_pairs, make):
        X, Y = (A.astype(np.float32) for A in pairs)
        model = make(3).fit(X, Y)
        assert model.x_weights_.dtype == model.y_weights_.dtype == np.float32
        assert model.dual_gap_.dtype == np.float64
        scores = model.transform_pair(*(A.astype(np.float32) for A in new_pairs))
        reference = make(3).fit(*pairs).transform_pair(*new_pairs)
        for mine, exact in zip(scores, reference, strict=True):
            assert mine.dtype == np.float32
            # the working set may stop at another point within tol = 1e-6, so sqrt(tol) apart
            np.testing.assert_allclose(mine, exact, atol=2e-3)

    @both
    def test_score_is_average_precision(self, pairs, new_pairs, make):
        model = make(5).fit(*pairs)
        A, B = model.transform_pair(*new_pairs)
        assert model.score(*new_pairs) == scca.retrieval.average_precision(A, B).average_precision

    def test_swapped_views_have_swapped_factors(self, pairs, new_pairs):
        """Neither view is the first of two; the sign and order of factors do not depend on it either."""
        one = factors(3, tol=1e-10).fit(*pairs)
        other = factors(3, tol=1e-10).fit(*reversed(pairs))
        for mine, swapped in zip(one.transform_pair(*new_pairs), other.transform_pair(*new_pairs[::-1])[::-1],
                                 strict=True):  # fmt: skip
            np.testing.assert_allclose(mine, swapped, atol=1e-6 * np.abs(mine).max())


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
        with pytest.warns(EmptyComponentWarning, match="every remaining anchor gives an empty component; .* mu=0"):
            model = SparseCCA(1, **PAPER).fit(X, Y)
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


class TestExhaustion:
    def test_fewer_components_than_asked(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 10))
        Y = rng.standard_normal((20, 15))
        with pytest.warns(UserWarning, match="exhausted after 2 of n_components=5 .* set n_components=2"):
            model = anchored(5, scale=None).fit(X, Y)
        assert model.n_components_ == 2
        assert model.transform(X).shape == (20, 2)
        assert list(model.get_feature_names_out()) == ["sparsecca0", "sparsecca1"]

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


class TestScikitLearn:
    @both
    def test_clone_and_pickle(self, pairs, new_pairs, make):
        model = make(3, mu="auto*0.5").fit(*pairs)
        assert clone(model).get_params() == model.get_params()
        again = pickle.loads(pickle.dumps(model))
        for mine, other in zip(again.transform_pair(*new_pairs), model.transform_pair(*new_pairs), strict=True):
            np.testing.assert_array_equal(mine, other)

    def test_clone_keeps_given_anchors(self, pairs):
        model = SparseCCA(3, anchors=[1, 5, 2])
        assert clone(model).fit(*pairs).anchors_.tolist() == [1, 5, 2]

    @pytest.mark.parametrize("representation", ["auto", "primal-dual"])
    @both
    def test_pickle_does_not_carry_the_training_data_of_a_linear_kernel(self, make, representation):
        X, Y = make_planted(300, 20, 20, n_active=5, random_state=0).views
        model = make(1, representation=representation).fit(X, Y)
        assert len(pickle.dumps(model)) < X.nbytes / 2

    @both
    def test_grid_search_and_pipeline(self, make):
        X, Y = make_planted(60, 30, 30, n_active=5, strength=3, random_state=0).views
        search = GridSearchCV(make(2), {"mu": ["auto", "auto*0.3"], "n_components": [1, 4]}, cv=3).fit(X, Y)
        assert search.best_params_["n_components"] == 4
        piped = make_pipeline(StandardScaler(), make(2)).fit(X, Y)
        expected = make(2).fit(StandardScaler().fit_transform(X), Y).transform(StandardScaler().fit_transform(X))
        np.testing.assert_allclose(piped.transform(X), expected, atol=1e-12)
        assert 0 < piped.score(X, Y) <= 1

    @both
    def test_data_frames(self, pairs, make):
        X = pd.DataFrame(pairs[0]).rename(columns=lambda c: f"x{c}")
        Y = pd.DataFrame(pairs[1]).rename(columns=lambda c: f"y{c}")
        model = make(2).set_output(transform="pandas").fit(X, Y)
        assert list(model.feature_names_in_) == list(X.columns)
        assert list(model.feature_names_y_) == list(Y.columns)
        frame = model.transform(X)
        assert list(frame.columns) == list(model.get_feature_names_out()) == ["sparsecca0", "sparsecca1"]
        np.testing.assert_allclose(model.transform_y(Y), make(2).fit(*pairs).transform_y(pairs[1]), atol=1e-12)
        with pytest.raises(ValueError, match="feature names of Y should match"):
            model.transform_y(Y[Y.columns[::-1]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(X[X.columns[::-1]])

    def test_another_mode_leaves_nothing_of_the_one_before(self, pairs):
        model = anchored(2).fit(*pairs)
        model.set_params(anchors=None, held_out=3).fit(*pairs)
        fresh = SparseCCA(2, held_out=3).fit(*pairs)
        assert {n for n in vars(model) if n.endswith("_")} == {n for n in vars(fresh) if n.endswith("_")}
        model.set_params(anchors="cross-energy", held_out=0).fit(*pairs)
        fresh = anchored(2).fit(*pairs)
        assert {n for n in vars(model) if n.endswith("_")} == {n for n in vars(fresh) if n.endswith("_")}

    def test_paper_settings(self, pairs):
        model = SparseCCA(3, **scca.PAPER).fit(*pairs)
        assert model.anchors_.tolist() == [0, 1, 2]

    def test_verbose_logs(self, pairs, caplog):
        with caplog.at_level("INFO", logger="scca"):
            anchored(2, verbose=1).fit(*pairs)
        assert [r.message.split(":")[0] for r in caplog.records] == ["component 1", "component 2"]
