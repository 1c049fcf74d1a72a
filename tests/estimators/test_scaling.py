"""Units of columns decide nothing, few columns keep what they say, and the scaling that was chosen is said."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

import scca
from scca import AnchoredCCA, KernelCCA, LowRankKernel, SparseCCA, SparseCCACV
from scca.datasets import load_trilingual, make_planted
from scca.inference import permutation_test

EXACT = {"tol": 1e-10}  # columns in other units are rounded otherwise; weights agree to about the square root of this


@pytest.fixture(scope="module")
def planted():
    return make_planted(160, 30, 20, n_factors=2, n_active=5, strength=1.5, random_state=1)


@pytest.fixture(scope="module")
def pairs(planted):
    return [view[:90] for view in planted.views]


@pytest.fixture(scope="module")
def new_pairs(planted):
    return [view[90:] for view in planted.views]


MODELS = {
    "factors": SparseCCA(2, held_out=3, **EXACT),
    "auto": SparseCCA("auto", held_out=0, **EXACT),
    "dense": SparseCCA(2, rendering="dense", held_out=0),
    "columns": SparseCCA(2, scale="columns", held_out=0, **EXACT),
    "anchored": AnchoredCCA(2, anchors="cross-energy", feature_weights="shared", scale="auto", **EXACT),
    "kernel": KernelCCA(2),
    "rbf": KernelCCA(2, kernel="rbf"),
    "low rank": KernelCCA(2, kernel=LowRankKernel("rbf", 90)),
    "chosen": SparseCCACV(1, mu_factors=(1, 4), ridge_factors=(1,), cv=2, held_out=0, **EXACT),
}


@pytest.mark.filterwarnings("ignore:.*the kernel of")
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("model", MODELS)
class TestUnits:
    @pytest.mark.parametrize("powers", [6, 60])
    def test_columns_times_powers_of_ten_change_no_score(self, pairs, new_pairs, model, store, powers):
        rng = np.random.default_rng(0)
        units = [10.0 ** rng.integers(-powers, powers + 1, view.shape[1]) for view in pairs]
        plain, scaled = (
            clone(MODELS[model]).fit(*map(store, views))
            for views in (pairs, [view * unit for view, unit in zip(pairs, units, strict=True)])
        )
        scores = plain.transform_pair(*map(store, new_pairs))
        others = scaled.transform_pair(*(store(view * unit) for view, unit in zip(new_pairs, units, strict=True)))
        for mine, other in zip(scores, others, strict=True):
            np.testing.assert_allclose(other, mine, atol=1e-5 * np.abs(mine).max())
        if model == "factors":
            np.testing.assert_allclose(scaled.held_out_correlations_, plain.held_out_correlations_, atol=1e-5)
            assert scaled.p_value_ == plain.p_value_

    def test_storage_changes_no_score(self, pairs, new_pairs, model, store):
        """Nor does shifting columns, whatever becomes of zeros."""
        plain = clone(MODELS[model]).fit(*pairs)
        other = clone(MODELS[model]).fit(*(store(view + 3.0) for view in pairs))
        for mine, shifted in zip(
            plain.transform_pair(*new_pairs), other.transform_pair(*(store(v + 3.0) for v in new_pairs)), strict=True
        ):
            np.testing.assert_allclose(shifted, mine, atol=1e-5 * np.abs(mine).max())


class TestColumns:
    @pytest.mark.parametrize("rendering", ["sparse", "dense"])
    def test_are_those_of_standardised_data(self, pairs, new_pairs, rendering):
        # what is decided on samples left out standardises each part by itself
        effort = {**EXACT, "n_features": 0.5} if rendering == "sparse" else {}
        scalers = [StandardScaler().fit(view) for view in pairs]
        given, new = ([s.transform(v) for s, v in zip(scalers, views, strict=True)] for views in (pairs, new_pairs))
        model = SparseCCA(2, scale="columns", rendering=rendering, held_out=0, **effort).fit(*pairs)
        plain = SparseCCA(2, scale=None, rendering=rendering, held_out=0, **effort).fit(*given)
        np.testing.assert_allclose(model.x_weights_, plain.x_weights_, atol=1e-6 * np.abs(plain.x_weights_).max())
        weighted = new[0] * (1 if model.x_feature_weights_ is None else model.x_feature_weights_)
        np.testing.assert_allclose(model.transform(new_pairs[0]), weighted @ model.x_weights_, atol=1e-10)

    def test_the_whole_view_in_other_units_changes_no_score_even_as_it_is(self, pairs, new_pairs):
        scores = SparseCCA(2, scale=None, held_out=0, **EXACT).fit(*pairs).transform(new_pairs[0])
        larger = SparseCCA(2, scale=None, held_out=0, **EXACT).fit(1e3 * pairs[0], 1e-4 * pairs[1])
        np.testing.assert_allclose(larger.transform(1e3 * new_pairs[0]), scores, atol=1e-5 * np.abs(scores).max())

    @pytest.mark.parametrize("scale", ["columns", "both"])
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_constant_ones_drop_out(self, pairs, new_pairs, scale, store):
        X, Y = pairs
        wide = np.insert(X, [4, 9], 1e7, axis=1)
        with pytest.warns(scca.DataWarning, match="X has 2 constant features"):
            model = SparseCCA(2, scale=scale, held_out=0, **EXACT).fit(store(wide), store(Y))
        plain = SparseCCA(2, scale=scale, held_out=0, **EXACT).fit(X, Y)
        assert not model.x_weights_[[4, 10]].any()
        new = np.insert(new_pairs[0], [4, 9], -1e9, axis=1)
        np.testing.assert_allclose(model.transform(store(new)), plain.transform(new_pairs[0]), atol=1e-6)


class TestFewColumns:
    @pytest.mark.parametrize("n_columns", [1, 2])
    def test_lose_no_more_than_one_hundredth_to_the_lasso(self, n_columns):
        """Mean over data sets of the correlation on new samples; unit norm would leave the sign of one column."""
        found = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X = rng.standard_normal((700, 40))
            signal = X[:, : 3 * n_columns].reshape(700, n_columns, 3).sum(axis=2)
            Y = signal + 0.3 * rng.standard_normal(signal.shape)
            model = SparseCCA(n_columns, held_out=0).fit(X[:200], Y[:200])
            assert model.y_scale_ == "both"
            A, B = model.transform_pair(X[200:], Y[200:])
            lasso = [LassoCV(cv=5).fit(X[:200], y[:200]).predict(X[200:]) for y in Y.T]
            pairs_of_scores = [*zip(A.T, B.T, strict=True)], [*zip(lasso, Y[200:].T, strict=True)]
            found.append([np.mean([np.corrcoef(a, b)[0, 1] for a, b in each]) for each in pairs_of_scores])
        ours, of_lasso = np.mean(found, axis=0)
        assert of_lasso > 0.97
        assert ours > of_lasso - 0.01

    def test_a_vector_is_one_column(self, pairs):
        X, Y = pairs
        one, other = (SparseCCA(1, held_out=0).fit(X, y) for y in (Y[:, 0], Y[:, :1]))
        np.testing.assert_array_equal(one.transform(X), other.transform(X))


class TestWhatIsChosen:
    def test_is_said(self, pairs):
        X, Y = pairs
        words = np.random.default_rng(0).poisson(0.3, size=(90, 20)) * 1.0
        for estimator in (
            SparseCCA(1, held_out=0),
            KernelCCA(1),
            SparseCCACV(1, mu_factors=(1,), ridge_factors=(1,), cv=2, held_out=0),
        ):
            model = estimator.fit(X, words)
            assert (model.x_scale_, model.y_scale_) == ("both", "rows")
        assert SparseCCA(1, held_out=0, scale=("columns", None)).fit(X, Y).x_scale_ == "columns"
        model = SparseCCA(1, held_out=0, scale=["rows", "both"]).fit(X, Y)
        assert (model.x_scale_, model.y_scale_) == ("rows", "both")

    def test_rows_for_the_paper_and_for_texts(self, pairs):
        model = AnchoredCCA(2).fit(*pairs)
        assert model.x_scale_ == model.y_scale_ == model.scale == "rows"
        corpus = load_trilingual()
        text = scca.text.BilingualModel(2, held_out=0).fit(scca.text.PairedText.of(corpus.en[:40], corpus.fr[:40]))
        assert text.scca_.scale == text.scca_.x_scale_ == "rows"

    def test_rows_where_columns_mean_nothing(self, pairs):
        X, Y = pairs
        assert KernelCCA(1, kernel="precomputed").fit(X @ X.T, Y @ Y.T).x_scale_ == "rows"
        assert KernelCCA(1, kernel=lambda a, b: float(a @ b)).fit(X[:20], Y[:20]).x_scale_ == "rows"
        model = SparseCCA(1, rendering=("dense", "sparse"), held_out=0).fit(X, Y)
        assert (model.x_scale_, model.y_scale_) == ("rows", "both")

    def test_is_the_same_in_every_fold(self, monkeypatch):
        """Of these samples a little more than half of the values are zero: some folds would choose otherwise."""
        import scca.views._preparation as module

        rng = np.random.default_rng(0)
        X = np.abs(rng.standard_normal((60, 8))) * (rng.random((60, 8)) < 0.5)
        X.flat[np.flatnonzero(X)[: max(0, np.count_nonzero(X) - 240)]] = 0.0
        assert np.count_nonzero(X) == 240
        Y = X[:, :6] + rng.standard_normal((60, 6))
        seen = []
        fit = module.Preparation.fit.__func__

        def noting(cls, data, **settings):
            seen.append((data.shape[1], settings["scale"]))
            return fit(cls, data, **settings)

        monkeypatch.setattr(module.Preparation, "fit", classmethod(noting))
        SparseCCA(1, held_out=5).fit(X, Y)
        SparseCCACV(1, mu_factors=(1,), ridge_factors=(1,), cv=4, held_out=0).fit(X, Y)
        permutation_test(KernelCCA(1), X, Y, n_permutations=3, random_state=0)
        assert set(seen) == {(8, "rows"), (6, "both")}
        assert len(seen) > 20

    @pytest.mark.parametrize("value", ["row", True, 1, ("rows",), ("rows", "columns", "both"), ["rows", "x"], {}])
    def test_bad_ones_are_refused(self, pairs, value):
        has_wrong_length = isinstance(value, tuple)
        said = (
            "value for all views, or a list of 2, .*"
            if has_wrong_length
            else "of 'auto', 'columns', 'rows', 'both', None"
        )
        for estimator in (SparseCCA(1, scale=value), KernelCCA(1, scale=value)):
            with pytest.raises(ValueError, match=f"^scale must be one {said}; got"):
                estimator.fit(*pairs)

    def test_a_kernel_matrix_has_no_columns(self, pairs):
        K = pairs[0] @ pairs[0].T
        with pytest.raises(ValueError, match='scale="both" needs columns, and X is a kernel matrix'):
            KernelCCA(1, kernel="precomputed", scale="both").fit(K, K)


@pytest.mark.parametrize("scale", ["columns", "rows", "both", None, ("both", "rows")])
@pytest.mark.parametrize(
    "model", [SparseCCA(2, held_out=0), KernelCCA(2, kernel="rbf"), KernelCCA(2, kernel=LowRankKernel("rbf", 20))]
)
@pytest.mark.filterwarnings("ignore:.*the kernel of")
def test_a_saved_model_scales_alike(pairs, new_pairs, tmp_path, model, scale):
    fitted = clone(model).set_params(scale=scale).fit(*pairs)
    scca.save(fitted, tmp_path / "m.scca")
    loaded = scca.load(tmp_path / "m.scca")
    assert (loaded.scale, loaded.x_scale_, loaded.y_scale_) == (fitted.scale, fitted.x_scale_, fitted.y_scale_)
    for mine, other in zip(loaded.transform_pair(*new_pairs), fitted.transform_pair(*new_pairs), strict=True):
        np.testing.assert_array_equal(mine, other)
