"""The path of a model: its ends, cold fits, what is measured on pairs left out, the figure."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import scca
from scca import AnchoredCCA, SparseCCA, SparseCCACV, model_path
from scca.datasets import make_planted
from scca.factors.fit import find, rotate
from scca.samples import Samples
from scca.tuning._coherence import coherence

pytestmark = pytest.mark.filterwarnings("error::scca.EmptyComponentWarning")


@pytest.fixture(scope="module")
def pairs():
    return make_planted(60, 80, 50, n_active=8, strength=2, random_state=0).views


@pytest.fixture(scope="module")
def path(pairs):
    return model_path(SparseCCA(2, tol=1e-10), *pairs, n_mus=7, cv=3)


class TestEnds:
    def test_nothing_is_read_above_the_largest_penalty(self, pairs):
        path = model_path(SparseCCA(2), *pairs, mu_factors=[1e6, 1], cv=2)
        assert path.x_features[0] == path.y_features[0] == path.weights[0] == 0
        assert path.coherences[0] == path.correlations[0] == 0

    def test_ridge_regression_below_the_smallest(self):
        X, Y = make_planted(60, 12, 10, n_active=4, random_state=0).views
        model = SparseCCA(2, ridge=0.3, feature_weights=None, n_features=None, tol=1e-12)
        path = model_path(model, X, Y, mu_factors=[1e-7], cv=2)
        settings = model._settings()
        prepared = model.prepare_views(model._training({"X": X, "Y": Y}, None, settings)[0])
        T = rotate(prepared, find(prepared, 2, settings), settings).scores
        views = [view.matmat(np.eye(view.shape[1])) for view in prepared.views]
        maps = [np.linalg.solve(A.T @ A + 4 * 0.3 * np.eye(A.shape[1]), A.T) for A in views]
        for own, other, weights in ((0, 1, path.x_weights), (1, 0, path.y_weights)):
            said = views[other] @ maps[other] @ T  # by the other view, and as long as the factor
            expected = maps[own] @ (said * np.linalg.norm(T, axis=0) / np.linalg.norm(said, axis=0))
            np.testing.assert_allclose(weights[0].toarray(), expected, atol=1e-9)

    def test_more_is_read_as_the_penalty_falls(self, path):
        assert np.all(np.diff(path.mus) < 0)
        for counts in (path.x_features, path.y_features, path.weights):
            assert counts[0] == counts.min() < counts.max() == counts[-1]

    def test_the_grid_begins_where_a_component_loses_its_last_weight(self, pairs, path):
        factors = path.mu_factors
        assert len(path) == 7
        assert 1.0 in factors
        assert factors[-1] == 0.05
        near = model_path(SparseCCA(2, tol=1e-10), *pairs, mu_factors=[1.0001 * factors[0], 0.98 * factors[0]], cv=2)
        none, some = (
            min(np.diff(weights[i].indptr).min() for weights in (near.x_weights, near.y_weights)) for i in (0, 1)
        )
        assert none == 0 < some


class TestCold:
    def test_weights_are_those_of_cold_fits(self, pairs, path):
        """From the second penalty on: at the first a component loses its last weight."""
        for factor, x, y in list(zip(path.mu_factors, path.x_weights, path.y_weights, strict=True))[1:]:
            cold = SparseCCA(2, mu=f"auto*{float(factor)!r}", tol=1e-10, held_out=0).fit(*pairs)
            np.testing.assert_allclose(x.toarray(), cold.x_weights_, atol=1e-5)
            np.testing.assert_allclose(y.toarray(), cold.y_weights_, atol=1e-5)

    def test_measures_are_those_of_cold_fits(self, pairs):
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        path = model_path(SparseCCA(2, tol=1e-10), X, Y, mu_factors=(0.3, 2), cv=[(train, test)])
        assert path.mu_factors.tolist() == [2, 0.3]
        assert np.isnan(path.error_spreads).all()
        for i, factor in enumerate((2.0, 0.3)):
            cold = SparseCCA(2, mu=f"auto*{factor}", tol=1e-10, held_out=0).fit(X[train], Y[train])
            A, B = cold.transform_pair(X[test], Y[test])
            assert path.errors[i] == pytest.approx(1 - cold.score(X[test], Y[test]), abs=1e-7)
            held_out = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])
            assert path.correlations[i] == pytest.approx(held_out, abs=1e-7)
            assert path.coherences[i] == pytest.approx(plain_coherence(cold, X[test], Y[test]), abs=1e-7)

    def test_standard_errors(self, pairs):
        splits = [(np.setdiff1d(np.arange(60), test), test) for test in np.arange(60).reshape(3, 20)]
        whole = model_path(SparseCCA(2), *pairs, mu_factors=[1], cv=splits)
        parts = [model_path(SparseCCA(2), *pairs, mu_factors=[1], cv=[split]).errors[0] for split in splits]
        assert whole.errors[0] == pytest.approx(np.mean(parts))
        assert whole.error_spreads[0] == pytest.approx(np.std(parts, ddof=1) / np.sqrt(3))


class TestHeldOut:
    def test_pairs_left_out_that_are_no_pairs_have_nothing_to_show(self, pairs):
        X, Y = pairs
        train, test = np.arange(30), np.arange(30, 60)
        Y = np.vstack([Y[train], np.random.default_rng(0).permutation(Y[test])])
        path = model_path(SparseCCA(2), X, Y, mu_factors=[1], cv=[(train, test)])
        assert abs(path.correlations[0]) < 0.35
        assert abs(path.coherences[0]) < 0.15
        assert path.errors[0] > 0.7

    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    def test_coherence_is_a_plain_loop(self, pairs, store):
        X, Y = (np.where(np.abs(view) > 1, view, 0.0) for view in pairs)
        model = SparseCCA(3, held_out=0).fit(X[:40], Y[:40])
        found = coherence(model, (Samples(store(X[40:]), None), Samples(store(Y[40:]), None)))
        assert found == pytest.approx(plain_coherence(model, X[40:], Y[40:]))
        assert found > 0.1

    def test_coherence_of_copies_is_one(self, rng):
        """Eight copies of one feature in both views, some turned round: they always come together."""
        x = rng.standard_normal((60, 1))
        X, Y = x * rng.choice([-1, 1], 8), x * rng.choice([-1, 1], 8)
        noise = rng.standard_normal((2, 60, 3))
        path = model_path(SparseCCA(1), np.hstack([X, noise[0]]), np.hstack([Y, noise[1]]), mu_factors=[5], cv=2)
        assert path.coherences[0] == pytest.approx(1)

    def test_folds_are_random_and_the_same_every_time(self, pairs):
        first, again, other = (
            model_path(SparseCCA(2, random_state=seed), *pairs, mu_factors=[1], cv=3).errors[0]
            for seed in (None, None, 5)
        )
        assert first == again != other

    def test_number_of_jobs_does_not_matter(self, pairs):
        alone, together = (model_path(SparseCCA(2), *pairs, mu_factors=(3, 1), cv=3, n_jobs=n) for n in (1, 2))
        assert alone.numbers() == together.numbers()


class TestAnswer:
    def test_numbers_frame_and_figure(self, path):
        pytest.importorskip("matplotlib")
        numbers = json.loads(json.dumps(path.numbers()))
        assert list(numbers) == list(path.frame().columns)
        assert len(path.frame()) == 7
        figure = path.plot(names=("English", "French"))
        assert [axes.get_xscale() for axes in figure.axes] == ["log"] * 3
        drawn = figure.axes[0].lines[0].get_xydata()
        np.testing.assert_array_equal(drawn, np.column_stack([path.mu_factors, path.errors]))
        assert "English" in figure.axes[2].get_legend().get_texts()[0].get_text()

    def test_of_a_bilingual_model(self):
        corpus = scca.datasets.load_trilingual()
        pairs = scca.text.PairedText.of(corpus.en[:60], corpus.fr[:60], ("en", "fr"))
        model = scca.text.BilingualModel(3, held_out=0).fit(pairs)
        path = model_path(model.scca_, *model.training_, mu_factors=(1,), cv=2)
        np.testing.assert_array_equal(path.x_weights[0].toarray(), model.scca_.x_weights_)

    def test_components_are_counted_once(self):
        X, Y = make_planted(90, 40, 30, n_factors=2, strength=2, random_state=0).views
        path = model_path(SparseCCA("auto"), X, Y, mu_factors=[1], cv=2)
        assert path.x_weights[0].shape == (40, 2)

    def test_progress(self, pairs):
        calls = []
        model_path(SparseCCA(1), *pairs, mu_factors=[1], cv=3, progress=lambda *call: calls.append(call))
        assert calls == [(1, 3), (2, 3), (3, 3)]


class TestRefusals:
    @pytest.mark.parametrize("model", [None, "auto", SparseCCACV(2), AnchoredCCA(2), scca.KernelCCA(2)])
    def test_no_sparse_cca(self, pairs, model):
        with pytest.raises(ValueError, match="^model must be a SparseCCA; got .*: pass for example SparseCCA\\(20\\)"):
            model_path(model, *pairs)

    @pytest.mark.parametrize("settings", [{"rendering": "dense"}, {"kernel": "rbf"}])
    def test_models_without_a_path(self, pairs, settings):
        with pytest.raises(ValueError, match="^model_path needs sparse weights on the features of both views; leave"):
            model_path(SparseCCA(2, **settings), *pairs)

    def test_the_linear_kernel_is_read_by_features_however_it_is_named(self, pairs):
        plain, named = (SparseCCA(2, kernel=kernel) for kernel in ("linear", scca.Kernel("linear")))
        one, other = (model_path(model, *pairs, mu_factors=[1], cv=2) for model in (plain, named))
        assert one.numbers() == other.numbers()

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_mus": 2}, "n_mus must be an integer of at least 3; got 2"),
            ({"mu_factors": []}, "mu_factors must be one or more finite numbers greater than 0"),
            ({"mu_factors": "auto"}, "mu_factors must be one or more finite numbers greater than 0"),
            ({"cv": 1}, "cv=1 cannot split"),
            ({"cv": 60}, "must hold out at least 2 pairs"),
            ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0"),
        ],
    )
    def test_settings(self, pairs, settings, message):
        with pytest.raises(ValueError, match=message):
            model_path(SparseCCA(1), *pairs, **{"mu_factors": [1], **settings} if "n_mus" not in settings else settings)


def plain_coherence(model, X, Y):
    values = []
    for j in range(model.n_components_):
        sides = []
        for weights, loadings in ((model.x_weights_, model.x_loadings_), (model.y_weights_, model.y_loadings_)):
            strength = np.abs(loadings[:, j]) * (weights[:, j] != 0)
            sides.append([(i, np.sign(loadings[i, j])) for i in np.argsort(-strength)[:8] if strength[i] > 0])
        values.append(np.mean([s * t * np.corrcoef(X[:, a], Y[:, b])[0, 1] for a, s in sides[0] for b, t in sides[1]]))
    return np.mean(values)
