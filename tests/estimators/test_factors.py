"""Components that are shared factors: what is read is used, weights are certified, pairs left out are evidence."""

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import many_pairs
from oracles import prepare, shrinkage
from sklearn.exceptions import ConvergenceWarning

import scca.parallel._tasks as working
from scca import DataWarning, EmptyComponentWarning, Kernel, KernelCCA, SparseCCA
from scca.datasets import make_planted
from scca.factors import find, fit, refit
from scca.inference import permutation_test
from scca.samples import Groups, Views

LINEAR = Kernel("polynomial", degree=1, gamma=1.0, coef0=0.0)  # the linear kernel, with weights on samples
KERNELS = {"features": "linear", "Y": LINEAR, "X": (LINEAR, "linear"), "X and Y": (LINEAR, LINEAR)}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@pytest.fixture(scope="module")
def planted():
    return make_planted(160, 50, 40, n_factors=2, n_active=6, strength=1.5, random_state=3)


@pytest.fixture(scope="module")
def pairs(planted):
    return tuple(view[:80] for view in planted.views)


@pytest.fixture(scope="module")
def new_pairs(planted):
    return tuple(view[80:] for view in planted.views)


def factors(n_components=3, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


def n_features_read(X, Y, n_components=1, **settings):
    """How many features are read, or which share of them; None for all."""
    return factors(n_components, **settings).prepare_views(Views((X, Y), Groups.of(None, len(X)))).share


def read_view(model, X, training, name="x"):
    """The prepared samples by hand: features that are read, weighted, centred, scaled over them alone."""
    weights, scale = getattr(model, f"{name}_feature_weights_"), getattr(model, f"{name}_scale_")
    weights = weights / training.std(axis=0) if scale in ("columns", "both") else weights
    A, B = ((samples - training.mean(axis=0)) * weights for samples in (X, training))
    b, size = (0, 1) if scale == "rows" else shrinkage(B)
    return A if scale == "columns" else A / np.sqrt(b * size + (1 - b) * np.sum(A**2, axis=1, keepdims=True))


class TestWhatIsReadIsUsed:
    @pytest.mark.parametrize("scale", ["rows", "columns", "both"])
    def test_scores_are_the_prepared_view_times_the_weights(self, pairs, new_pairs, scale):
        model = factors(scale=scale).fit(*pairs)
        for name, scores, new, training in zip("xy", model.transform_pair(*new_pairs), new_pairs, pairs, strict=True):
            weights = getattr(model, f"{name}_weights_")
            assert np.mean(weights == 0) > 0
            np.testing.assert_allclose(scores, read_view(model, new, training, name) @ weights, atol=1e-12)

    def test_a_feature_without_a_weight_changes_nothing(self, pairs, new_pairs):
        model = factors(2, mu="auto*3").fit(*pairs)
        for name, new, transform in zip("xy", new_pairs, (model.transform, model.transform_y), strict=True):
            unread = ~getattr(model, f"{name}_weights_").any(axis=1)
            assert unread.any()
            assert not getattr(model, f"{name}_feature_weights_")[unread].any()
            np.testing.assert_allclose(transform(new + unread * 1e3), transform(new), atol=1e-10)

    def test_planted_features_have_the_weights(self, planted, pairs):
        model = factors(2, n_features=None).fit(*pairs)  # the budget may be smaller than what is planted
        for weights, loadings in ((model.x_weights_, planted.x_loadings), (model.y_weights_, planted.y_loadings)):
            strongest = np.argsort(-np.abs(weights).max(axis=1))[:12]
            assert np.isin(strongest, np.flatnonzero(loadings.any(axis=1))).sum() >= 11

    def test_few_samples_and_many_features(self):
        made = make_planted(60, 20_000, 20_000, n_factors=1, n_active=20, strength=1, random_state=0)
        model = factors(1).fit(*made.views)
        for weights, loadings in ((model.x_weights_, made.x_loadings), (model.y_weights_, made.y_loadings)):
            strongest = np.argsort(-np.abs(weights[:, 0]))[:20]
            assert set(strongest) == set(np.flatnonzero(loadings))

    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("scale", ["rows", None])
    def test_a_sample_without_a_read_feature_scores_zero(self, pairs, store, scale):
        X, Y = (view + 1.0 for view in pairs)
        X[4] = 0.0  # in training too
        model = factors(2, mu="auto*3", scale=scale, n_features=0.3).fit(store(X), store(Y))
        unread = ~model.x_weights_.any(axis=1)
        assert unread.any()
        flagged = r"X has {} without any feature that the model reads \(first: {}\); their scores are 0"
        with pytest.warns(DataWarning, match=flagged.format("2 samples", 0)):
            assert not model.transform(store(np.vstack([unread * 7.0, 0.0 * unread]))).any()
        with pytest.warns(DataWarning, match=flagged.format("1 sample", 4)):
            scores = model.transform(store(X))
        assert not scores[4].any()
        assert scores[5].all()

    def test_all_that_is_read_has_a_weight(self, pairs):
        model = factors(2, mu="auto*3").fit(*pairs)
        for name in "xy":
            read = getattr(model, f"{name}_feature_weights_") != 0
            np.testing.assert_array_equal(read, getattr(model, f"{name}_weights_").any(axis=1))


class TestHowManyFeatures:
    def test_few_where_few_share_anything_and_all_where_each_counts(self):
        made = make_planted(120, 400, 400, n_factors=1, n_active=20, strength=2, random_state=0)
        assert n_features_read(*made.views) < 0.3
        z, noise = np.random.default_rng(0).standard_normal((2, 600, 200))  # every feature has its own mate
        assert (n_features_read(z, z + 2.5 * noise, 150) or 1.0) > 0.9  # but for what one standard error allows

    def test_a_half_that_does_not_vary_leaves_all(self, pairs):
        """A feature of a single pair does not vary in the half without it."""
        X, Y = pairs
        assert n_features_read(X, Y[:, :1] * (np.arange(len(Y)) == 0)[:, None]) is None

    def test_automatic_is_all_for_dense_renderings_and_kernels(self, pairs):
        for settings in ({"rendering": "dense"}, {"kernel": (LINEAR, LINEAR)}):
            assert n_features_read(*pairs, 3, **settings) is None

    @pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
    def test_an_automatic_penalty_leaves_a_hundred_times_one_more_than_the_share(self, share):
        made = make_planted(60, 900, 900, n_factors=1, n_active=300, strength=1, random_state=0)
        weights = factors(2, n_features=share, rendering="sparse").fit(*made.views).x_weights_
        most = 100 * (1 + share)
        assert most / 2 < np.count_nonzero(weights, axis=0).max() <= most


class TestWeights:
    def test_are_ridge_regressions_of_one_factor_on_its_own_features(self, pairs):
        """Both views regress on the same factor: w = (A_S'A_S + lambda)^-1 A_S't gives t's part in A_S, from either."""
        model = factors(3, ridge=0.4).fit(*pairs)
        A = read_view(model, pairs[0], pairs[0])
        for w in model.x_weights_.T:
            S = np.flatnonzero(w)
            correlations = (A[:, S].T @ A[:, S] + 0.4 * np.eye(len(S))) @ w[S]  # = A_S't
            t = np.linalg.lstsq(A[:, S].T, correlations, rcond=None)[0]
            np.testing.assert_allclose(A[:, S].T @ (t - A[:, S] @ w[S]), 0.4 * w[S], atol=1e-10)
        assert model.dual_gap_.shape == model.mu_.shape == model.objective_.shape == (2, 3)

    @kernels
    def test_gaps_are_within_the_tolerance(self, pairs, kernel):
        model = factors(3, kernel=kernel, tol=1e-5).fit(*pairs)
        largest = model.objective_.max()  # t is no longer than 1
        assert (model.dual_gap_ <= 2e-5 * max(1.0, largest)).all()
        assert model.converged_.all()

    def test_all_features_of_the_dense_rendering_are_a_ridge_regression(self, pairs):
        model = factors(3, ridge=0.3, rendering="dense").fit(*pairs)
        A, correlations = self.regressors(model, pairs, "x")
        expected = np.linalg.solve(A.T @ A + 0.3 * np.eye(A.shape[1]), correlations)
        np.testing.assert_allclose(model.x_weights_, expected, atol=1e-6 * np.abs(expected).max())

    @pytest.mark.parametrize("scale", [1e-6, 1.0])
    def test_equations_that_are_not_solved_are_told_once(self, scale, recwarn):
        """Columns of very different sizes and nearly no ridge are too much for conjugate gradients."""
        X, Y = make_planted(3100, 200, 20, n_factors=2, strength=1.5, random_state=0).views
        X = X * np.geomspace(1.0, scale, 200)
        model = factors(2, ridge=1e-12, rendering="dense", feature_weights=None, scale="rows").fit(X, Y)
        told = [str(each.message) for each in recwarn if each.category is ConvergenceWarning]
        if scale == 1.0:
            assert model.converged_.all()
            assert not told
            return
        assert not model.converged_.any()
        assert len(told) == 1
        assert "all features of X are not solved: 2 of 2 components have a relative residual" in told[0]
        assert "above the required 1e-08; raise ridge, or scale the columns" in told[0]

    def test_no_penalty_is_a_regression_on_all_features_of_what_the_other_view_says(self, pairs):
        """Four times the ridge of the factors: of Y's part of the factor on X, and the other way round."""
        model = factors(3, ridge=0.3, mu="auto*1e-9", n_features=None).fit(*pairs)
        sides = [self.regressors(model, pairs, name) for name in "xy"]
        inverses = [np.linalg.inv(A.T @ A + 4 * 0.3 * np.eye(A.shape[1])) for A, _ in sides]
        for own, other, weights in ((0, 1, model.x_weights_), (1, 0, model.y_weights_)):
            said = sides[other][0] @ inverses[other] @ sides[other][1]
            expected = inverses[own] @ sides[own][0].T @ said
            cosines = np.sum(expected * weights, axis=0) / np.linalg.norm(expected, axis=0)
            np.testing.assert_allclose(cosines, np.linalg.norm(weights, axis=0), rtol=1e-6)

    @staticmethod
    def regressors(model, pairs, name):
        """The prepared view A, and A't of the factors."""
        X = pairs["xy".index(name)]
        A = getattr(model, f"{name}_preparation_").transform(X).columns(np.arange(X.shape[1]))
        return A, getattr(model, f"{name}_loadings_") * np.linalg.norm(A, axis=0)[:, None]

    def test_more_penalty_fewer_features(self, pairs):
        counts = [np.count_nonzero(factors(3, mu=f"auto*{f}").fit(*pairs).x_weights_) for f in (0.3, 1, 3)]
        assert counts[0] > counts[1] > counts[2] > 0

    def test_identical_features_have_the_same_weight(self, pairs):
        X = np.column_stack([pairs[0], pairs[0][:, 3]])
        weights = factors(3, tol=1e-12).fit(X, pairs[1]).x_weights_
        np.testing.assert_allclose(weights[3], weights[-1], atol=1e-9 * np.abs(weights).max())


class TestFactors:
    @pytest.mark.parametrize("scale", ["rows", "both"])
    def test_dense_renderings_span_kernel_cca(self, pairs, scale):
        """One component has nothing to be turned to: its scores are those of kernel CCA on the same features."""
        r = 0.2
        model = factors(1, rendering="dense", ridge=r / (1 - r), feature_weights=None, scale=scale).fit(*pairs)
        reference = KernelCCA(1, regularization=r, scale=scale).fit(*pairs)
        pooled = sum(reference.transform_pair(*pairs))[:, 0]
        A = prepare(pairs[0], scale=scale)
        expected = A @ np.linalg.solve(A.T @ A + r / (1 - r) * np.eye(A.shape[1]), A.T @ pooled)
        found = model.transform(pairs[0])[:, 0]
        assert abs(expected @ found) == pytest.approx(np.linalg.norm(expected) * np.linalg.norm(found), rel=1e-9)

    def test_rotation_leaves_the_inner_products_of_dense_scores(self, pairs, new_pairs, monkeypatch):
        turned = factors(3, rendering="dense").fit(*pairs).transform_pair(*new_pairs)
        monkeypatch.setattr(find, "varimax", lambda loadings: find.Rotation(np.eye(loadings.shape[1]), True))
        plain = factors(3, rendering="dense").fit(*pairs).transform_pair(*new_pairs)
        np.testing.assert_allclose(turned[0] @ turned[1].T, plain[0] @ plain[1].T, atol=1e-12)

    def test_loadings_are_cosines_with_the_factor(self, pairs):
        model = factors(2, feature_weights=None).fit(*pairs)
        assert model.x_loadings_.shape == model.x_weights_.shape
        assert np.abs(model.x_loadings_).max() <= 1 + 1e-12
        scores = model.transform(pairs[0])
        cosines = prepare(pairs[0]).T @ scores / np.linalg.norm(scores, axis=0)
        cosines /= np.linalg.norm(prepare(pairs[0]), axis=0)[:, None]
        read = model.x_weights_[:, 0] != 0
        assert np.corrcoef(model.x_loadings_[read, 0], cosines[read, 0])[0, 1] > 0.95

    @kernels
    @pytest.mark.parametrize("rendering", ["sparse", "dense"])
    def test_storage_does_not_matter(self, pairs, new_pairs, kernel, rendering):
        settings = {"kernel": kernel, "rendering": rendering}
        if rendering == "sparse":
            settings["tol"] = 1e-10
        dense = factors(3, **settings).fit(*pairs)
        sparse = factors(3, **settings).fit(*map(sp.csr_array, pairs))
        np.testing.assert_allclose(sparse.x_weights_, dense.x_weights_, atol=1e-7 * np.abs(dense.x_weights_).max())
        for mine, other in zip(
            sparse.transform_pair(*map(sp.csr_array, new_pairs)), dense.transform_pair(*new_pairs), strict=True
        ):
            np.testing.assert_allclose(mine, other, atol=1e-7)

    def test_one_kernel_is_that_of_y_and_two_are_those_of_both(self, pairs, new_pairs):
        """A view with a kernel has weights on its samples."""
        wide = Kernel("rbf", gamma=0.01)
        shapes = {"linear": (50, 40), wide: (50, 80), (wide, "linear"): (80, 40), (wide, LINEAR): (80, 80)}
        for kernel, (m, q) in shapes.items():
            model = factors(2, kernel=kernel).fit(*pairs)
            assert (len(model.x_weights_), len(model.y_weights_)) == (m, q)
            assert model.score(*new_pairs) > 0.1
        one, two = (factors(2, kernel=kernel).fit(*pairs) for kernel in (wide, ["linear", wide]))
        np.testing.assert_array_equal(one.y_weights_, two.y_weights_)

    def test_a_linear_kernel_means_features_however_it_is_named(self, pairs):
        for kernel in (Kernel("linear"), ("linear", Kernel())):
            model = factors(2, kernel=kernel).fit(*pairs)
            np.testing.assert_array_equal(model.y_weights_, factors(2).fit(*pairs).y_weights_)

    def test_kernels_of_swapped_views_are_swapped(self, pairs, new_pairs):
        settings = {"feature_weights": None, "tol": 1e-10}
        wide = Kernel("rbf", gamma=0.01)
        given = factors(2, kernel=(wide, LINEAR), **settings).fit(*pairs).transform_pair(*new_pairs)
        swapped = factors(2, kernel=(LINEAR, wide), **settings).fit(*pairs[::-1]).transform_pair(*new_pairs[::-1])
        for mine, other in zip(given, swapped[::-1], strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-6 * np.abs(other).max())

    def test_a_precomputed_kernel_is_the_linear_kernel_of_the_same_features(self, pairs):
        X, Y = pairs
        settings = {"feature_weights": None, "tol": 1e-10, "scale": "rows"}
        linear = factors(2, kernel=LINEAR, **settings).fit(X, Y)
        stored = factors(2, kernel="precomputed", **settings).fit(X, Y @ Y.T)
        np.testing.assert_allclose(stored.y_weights_, linear.y_weights_, atol=1e-6 * np.abs(linear.y_weights_).max())
        assert linear.y_weights_.shape == (80, 2)

    def test_many_samples_by_products(self, pairs, monkeypatch):
        for kind in ("sparse", "dense"):
            effort = {"tol": 1e-9} if kind == "sparse" else {}
            few = factors(2, rendering=kind, **effort).fit(*pairs)
            with monkeypatch.context() as patched:
                patched.setattr(find, "_FEW", 0)
                patched.setattr(refit, "_FEW_SAMPLES", 0)
                many = factors(2, rendering=kind, **effort).fit(*pairs)
            cosines = np.abs(np.sum(many.x_weights_ * few.x_weights_, axis=0))
            norms = np.linalg.norm(many.x_weights_, axis=0) * np.linalg.norm(few.x_weights_, axis=0)
            np.testing.assert_allclose(cosines / norms, 1, atol=1e-4)

    def test_float32_stays_float32(self, pairs, new_pairs):
        model = factors(2).fit(*(view.astype(np.float32) for view in pairs))
        assert model.x_weights_.dtype == np.float32
        assert model.transform(new_pairs[0].astype(np.float32)).dtype == np.float32


class TestOneDenseView:
    """X to be read, Y vectors whose coordinates mean nothing."""

    @pytest.fixture
    def made(self):
        return make_planted(200, 300, 40, n_factors=2, n_active=8, strength=1.5, random_state=0)

    def test_few_weights_here_and_all_there(self, made):
        model = factors(2, rendering=("sparse", "dense")).fit(*made.views)
        assert model.y_weights_.all()
        assert model.y_feature_weights_ is None
        for weights in model.x_weights_.T:
            strongest = np.argsort(-np.abs(weights))[:8]
            assert set(strongest) <= set(np.flatnonzero(made.x_loadings.any(axis=1)))
        other_way = factors(2, rendering=("dense", "sparse")).fit(*made.views[::-1])
        np.testing.assert_allclose(other_way.y_weights_, model.x_weights_, atol=1e-8)

    def test_turning_the_vectors_changes_nothing_of_what_is_read(self, made):
        Q = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 40)))[0]
        plain, turned = (factors(2, rendering=["sparse", "dense"]).fit(made.X, Y) for Y in (made.Y, made.Y @ Q))
        np.testing.assert_allclose(turned.x_weights_, plain.x_weights_, atol=1e-5 * np.abs(plain.x_weights_).max())
        np.testing.assert_allclose(Q @ turned.y_weights_, plain.y_weights_, atol=1e-5 * np.abs(plain.y_weights_).max())

    def test_penalties_are_those_of_the_sparse_view(self, made):
        few, many = (factors(2, rendering=("sparse", "dense"), mu=f"auto*{f}").fit(*made.views) for f in (3, 0.3))
        assert np.count_nonzero(few.x_weights_) < np.count_nonzero(many.x_weights_)
        with pytest.raises(ValueError, match="rendering must be one value for all views, or a list of 2, .*; got"):
            factors(2, rendering=("dense", "sparse", "dense")).fit(*made.views)


class TestHeldOut:
    def test_tells_what_new_pairs_will_show(self, pairs, new_pairs):
        model = factors(3, held_out=5).fit(*pairs)
        A, B = model.transform_pair(*new_pairs)
        truth = np.array([np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(3)])
        assert model.p_value_ <= 2 / 200  # at most one of 199 other orders does as well
        np.testing.assert_allclose(np.sort(model.held_out_correlations_)[1:], np.sort(truth)[1:], atol=0.15)
        assert np.sort(model.held_out_correlations_)[0] < 0.35

    def test_does_not_tell_what_training_pairs_show(self, pairs):
        """Of three components, one is noise; all 50 and 40 features fit it in training, where few would not."""
        model = factors(3, n_features=None, held_out=5).fit(*pairs)
        assert np.sort(model.held_out_correlations_)[0] < 0.35 < 0.8 < np.sort(model.correlations_)[0]

    @pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")
    def test_independent_views_share_no_more_than_chance(self):
        rng = np.random.default_rng(0)
        models = [
            factors(2, held_out=5).fit(rng.standard_normal((40, 25)), rng.standard_normal((40, 20))) for _ in range(40)
        ]
        found = np.array([model.held_out_correlations_ for model in models])
        assert abs(found.mean()) < 0.05
        assert np.mean([model.correlations_ for model in models]) > 0.6  # in training noise looks as good as the truth
        # of 40 p-values, each at most .05 with probability .05, more than 6 are so with probability .003
        assert np.sum([model.p_value_ <= 0.05 for model in models]) <= 6

    def test_number_of_jobs_does_not_matter(self, pairs):
        one, two = (factors(2, held_out=3, n_jobs=n).fit(*pairs) for n in (1, 2))
        assert one.held_out_correlations_.tobytes() == two.held_out_correlations_.tobytes()

    def test_number_of_cores_does_not_matter(self, pairs, monkeypatch):
        found = []
        for n_cores in (1, 3):
            monkeypatch.setattr(working, "_N_CORES", n_cores)
            working._pool.cache_clear()
            model = factors("auto", held_out=3).fit(*(sp.csr_array(np.maximum(view, 0)) for view in pairs))
            found.append([model.held_out_correlations_, model.x_weights_, model.y_weights_, model.transform(pairs[0])])
        working._pool.cache_clear()
        for one, other in zip(*found, strict=True):
            assert one.tobytes() == other.tobytes()

    def test_progress_counts_the_folds(self, pairs):
        seen = []
        factors(2, held_out=3).fit_with_progress(*pairs, progress=lambda *call: seen.append(call))
        assert [call for call in seen if call[0] == "folds left out"] == [
            ("folds left out", done, 3) for done in (0, 1, 2, 3)
        ]

    def test_of_many_pairs_one_split_tells_both(self, pairs, new_pairs, monkeypatch):
        many_pairs(monkeypatch, len(pairs[0]) - 1)
        seen = []
        model = factors(3, held_out=5)
        model.fit_with_progress(*pairs, progress=lambda *call: seen.append(call))
        A, B = model.transform_pair(*new_pairs)
        truth = np.array([np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(3)])
        assert [call for call in seen if call[0] == "folds left out"] == [
            ("folds left out", done, 1) for done in (0, 1)
        ]
        assert model.p_value_ <= 0.05
        assert np.corrcoef(model.held_out_correlations_, truth)[0, 1] > 0.8

    def test_is_off_in_many_fits(self, pairs, monkeypatch):
        monkeypatch.setattr(fit, "held_out_correlations", None)  # calling it would fail
        found = permutation_test(factors(1, held_out=5), *pairs, n_permutations=3, random_state=0)
        assert found.p_values[0] == 0.25


class TestEdges:
    @pytest.mark.parametrize("n", [2, 3, 5])
    def test_too_few_pairs_to_leave_any_out(self, pairs, n):
        model = factors(1, held_out=5).fit(*(view[:n] for view in pairs))
        assert np.isnan(model.held_out_correlations_).all()
        assert np.isnan(model.p_value_)
        assert np.isfinite(model.transform(pairs[0])).all()

    def test_a_penalty_that_leaves_nothing_is_said(self, pairs):
        with pytest.warns(EmptyComponentWarning, match="2 of 2 components have no weight .*; lower mu"):
            model = factors(2, mu=1e6).fit(*pairs)
        assert not model.transform(pairs[0]).any()

    def test_nothing_in_common(self):
        X, Y = np.eye(6)[:, :2], np.eye(6)[:, 3:5]
        with pytest.raises(ValueError, match="X and Y have nothing in common: .*; check the pairing"):
            factors(1, center=False, scale=None, feature_weights=None).fit(X, Y)

    def test_fewer_factors_than_asked(self, rng):
        shared = rng.standard_normal((30, 2))
        X, Y = shared @ rng.standard_normal((2, 5)), shared @ rng.standard_normal((2, 6))
        with pytest.warns(ConvergenceWarning, match="the views share 2 of n_components=4 factors; set n_components=2"):
            assert factors(4, scale=None).fit(X, Y).n_components_ == 2


def test_a_penalty_without_selection_is_refused(pairs):
    with pytest.raises(
        ValueError, match='mu is for a rendering that selects features; got .auto.2. with "dense": drop it'
    ):
        factors(2, rendering="dense", mu="auto*2").fit(*pairs)


@pytest.mark.parametrize("gone", ["anchors", "representation", "gamma", "kernel_params", "algorithm", "verbose"])
def test_parameters_that_are_no_more(gone):
    with pytest.raises(TypeError, match=gone):
        SparseCCA(2, **{gone: "auto"})


@pytest.mark.parametrize(("n", "ridge"), [(10, 0.25), (10_000, 0.25), (40_000, 1.0)])
def test_the_automatic_ridge_grows_with_many_samples(n, ridge):
    X = np.arange(n, dtype=float)[:, None] % 7
    model = factors(1, feature_weights=None)
    prepared = model.prepare_views(Views((X, X), Groups.of(None, n)))
    assert fit._adapted(model._settings(), prepared).ridge == ridge


@pytest.mark.parametrize(("name", "value"), [("tol", 1e-3), ("max_iter", 7)])
def test_effort_of_the_convex_problems_is_refused_where_there_are_none(pairs, name, value):
    with pytest.raises(
        ValueError, match=f'{name} is for a rendering that selects features; got .* with "dense": leave it at'
    ):
        factors(2, rendering="dense", **{name: value}).fit(*pairs)
    factors(2, rendering=("dense", "sparse"), **{name: value}).fit(*pairs)
