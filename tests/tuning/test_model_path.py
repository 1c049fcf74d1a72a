"""The path of a model over penalties or shares: its ends, cold fits, what is measured on pairs left out, the figure."""

import itertools
import json

import numpy as np
import pytest
import scipy.sparse as sp

import scca
from scca import AnchoredCCA, SparseCCA, SparseCCACV, model_path
from scca.datasets import make_planted
from scca.factors.choose import Round
from scca.factors.fit import find, rotate
from scca.samples import Samples
from scca.tuning._coherence import coherence

pytestmark = pytest.mark.filterwarnings("error::scca.EmptyComponentWarning")


@pytest.fixture(scope="module")
def pairs():
    return make_planted(60, 80, 50, n_active=8, strength=2, random_state=0).views


def sparse(n_components, **settings):
    return SparseCCA(n_components, rendering="sparse", **settings)


@pytest.fixture(scope="module")
def path(pairs):
    return model_path(sparse(2, tol=1e-10), *pairs, n_mus=7, cv=3)


class TestEnds:
    def test_nothing_is_read_above_the_largest_penalty(self, pairs):
        path = model_path(sparse(2), *pairs, mu_factors=[1e6, 1], cv=2)
        assert path.x_features[0] == path.y_features[0] == path.weights[0] == 0
        assert path.coherences[0] == path.correlations[0] == 0

    def test_ridge_regression_below_the_smallest(self):
        X, Y = make_planted(60, 12, 10, n_active=4, random_state=0).views
        model = sparse(2, ridge=0.3, feature_weights=None, n_features=None, tol=1e-12)
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
        near = model_path(sparse(2, tol=1e-10), *pairs, mu_factors=[1.0001 * factors[0], 0.98 * factors[0]], cv=2)
        none, some = (
            min(np.diff(weights[i].indptr).min() for weights in (near.x_weights, near.y_weights)) for i in (0, 1)
        )
        assert none == 0 < some


class TestCold:
    def test_weights_are_those_of_cold_fits(self, pairs, path):
        """From the second penalty on: at the first a component loses its last weight."""
        for factor, x, y in list(zip(path.mu_factors, path.x_weights, path.y_weights, strict=True))[1:]:
            cold = sparse(2, mu=f"auto*{float(factor)!r}", tol=1e-10, held_out=0).fit(*pairs)
            np.testing.assert_allclose(x.toarray(), cold.x_weights_, atol=1e-5)
            np.testing.assert_allclose(y.toarray(), cold.y_weights_, atol=1e-5)

    def test_measures_are_those_of_cold_fits(self, pairs):
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        path = model_path(sparse(2, tol=1e-10), X, Y, mu_factors=(0.3, 2), cv=[(train, test)])
        assert path.mu_factors.tolist() == [2, 0.3]
        assert np.isnan(path.error_spreads).all()
        for i, factor in enumerate((2.0, 0.3)):
            cold = sparse(2, mu=f"auto*{factor}", tol=1e-10, held_out=0).fit(X[train], Y[train])
            A, B = cold.transform_pair(X[test], Y[test])
            assert path.errors[i] == pytest.approx(1 - cold.score(X[test], Y[test]), abs=1e-7)
            held_out = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])
            assert path.correlations[i] == pytest.approx(held_out, abs=1e-7)
            assert path.coherences[i] == pytest.approx(plain_coherence(cold, X[test], Y[test]), abs=1e-7)

    def test_standard_errors(self, pairs):
        splits = [(np.setdiff1d(np.arange(60), test), test) for test in np.arange(60).reshape(3, 20)]
        whole = model_path(sparse(2), *pairs, mu_factors=[1], cv=splits)
        parts = [model_path(sparse(2), *pairs, mu_factors=[1], cv=[split]).errors[0] for split in splits]
        assert whole.errors[0] == pytest.approx(np.mean(parts))
        assert whole.error_spreads[0] == pytest.approx(np.std(parts, ddof=1) / np.sqrt(3))


class TestHeldOut:
    def test_pairs_left_out_that_are_no_pairs_have_nothing_to_show(self, pairs):
        X, Y = pairs
        train, test = np.arange(30), np.arange(30, 60)
        Y = np.vstack([Y[train], np.random.default_rng(0).permutation(Y[test])])
        path = model_path(sparse(2), X, Y, mu_factors=[1], cv=[(train, test)])
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
        path = model_path(sparse(1), np.hstack([X, noise[0]]), np.hstack([Y, noise[1]]), mu_factors=[5], cv=2)
        assert path.coherences[0] == pytest.approx(1)

    def test_folds_are_random_and_the_same_every_time(self, pairs):
        first, again, other = (
            model_path(sparse(2, random_state=seed), *pairs, mu_factors=[1], cv=3).errors[0] for seed in (None, None, 5)
        )
        assert first == again != other

    def test_number_of_jobs_does_not_matter(self, pairs):
        alone, together = (model_path(sparse(2), *pairs, mu_factors=(3, 1), cv=3, n_jobs=n) for n in (1, 2))
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
        """Texts are read jointly unless a rendering is asked for."""
        corpus = scca.datasets.load_trilingual()
        pairs = scca.text.PairedText.of(corpus.en[:60], corpus.fr[:60], ("en", "fr"))
        model = scca.text.BilingualModel(3, held_out=0, rendering="sparse").fit(pairs)
        path = model_path(model.scca_, *model.training_, mu_factors=(1,), cv=2)
        np.testing.assert_array_equal(path.x_weights[0].toarray(), model.scca_.x_weights_)
        model = scca.text.BilingualModel(3, held_out=0).fit(pairs)
        path = model_path(model.scca_, *model.training_, cv=2)
        assert path.axis == "shares"
        assert np.count_nonzero(path.automatic) == 1
        own = path.x_weights[int(np.argmax(path.automatic))]
        np.testing.assert_array_equal(own.toarray(), model.scca_.x_weights_)

    def test_components_are_counted_once(self):
        X, Y = make_planted(90, 40, 30, n_factors=2, strength=2, random_state=0).views
        path = model_path(sparse("auto"), X, Y, mu_factors=[1], cv=2)
        assert path.x_weights[0].shape == (40, 2)

    def test_progress(self, pairs):
        calls = []
        model_path(sparse(1), *pairs, mu_factors=[1], cv=3, progress=lambda *call: calls.append(call))
        assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.fixture(scope="module")
def shares(pairs):
    return model_path(joint(2), *pairs, shares=(0.6, 1, 0.36, 0.05), cv=3)


def joint(n_components, **settings):
    return SparseCCA(n_components, **{"rendering": "joint", "held_out": 0, **settings})


def read(weights):
    """The features with a weight in any component."""
    return set(np.unique(weights.indices).tolist())


class TestShares:
    """The path over the share of features, of views that are rendered jointly."""

    def test_so_many_features_are_read_each_among_those_before(self, shares):
        assert (shares.axis, shares.mu_factors) == ("shares", None)
        np.testing.assert_array_equal(shares.shares, [1, 0.6, 0.36, 0.05])
        assert not shares.automatic.any()
        np.testing.assert_array_equal(shares.x_features, np.round(80 * shares.shares))
        np.testing.assert_array_equal(shares.y_features, np.round(50 * shares.shares))
        for found in (shares.x_weights, shares.y_weights):
            assert all(read(few) < read(many) for many, few in itertools.pairwise(found))

    def test_fewer_features_are_shown_than_read(self, shares):
        assert 0 < shares.weights[0] < shares.x_features[0]
        assert np.all(shares.weights <= np.maximum(shares.x_features, shares.y_features))

    def test_planted_features_are_read_last(self, pairs, shares):
        planted = make_planted(60, 80, 50, n_active=8, strength=2, random_state=0)
        for weights, loadings in ((shares.x_weights, planted.x_loadings), (shares.y_weights, planted.y_loadings)):
            assert read(weights[-1]) <= set(np.flatnonzero(loadings.any(axis=1)).tolist())

    @pytest.mark.parametrize("share", [1, 0.5, 0.1])
    def test_measures_of_one_share_are_those_of_a_fit(self, pairs, share):
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        path = model_path(joint(2, mu="auto*2"), X, Y, shares=[share], cv=[(train, test)])
        fitted = joint(2, mu="auto*2", n_features=float(share)).fit(X[train], Y[train])
        A, B = fitted.transform_pair(X[test], Y[test])
        assert path.errors[0] == pytest.approx(1 - fitted.score(X[test], Y[test]), abs=1e-9)
        held_out = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])
        assert path.correlations[0] == pytest.approx(held_out, abs=1e-9)
        assert path.coherences[0] == pytest.approx(plain_coherence(fitted, X[test], Y[test]), abs=1e-9)
        whole = joint(2, mu="auto*2", n_features=float(share)).fit(X, Y)
        np.testing.assert_array_equal(path.x_weights[0].toarray(), whole.x_weights_)
        assert path.mus[0] == np.median(whole.mu_)

    def test_all_features_are_those_of_the_dense_rendering(self, pairs):
        """The ridges of the two differ, so that mates are found about as well, and not exactly."""
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        path = model_path(joint(2), X, Y, shares=[1], cv=[(train, test)])
        dense = SparseCCA(2, rendering="dense", held_out=0).fit(X[train], Y[train])
        assert path.errors[0] == pytest.approx(1 - dense.score(X[test], Y[test]), abs=0.05)
        plain = joint(2, n_features=None).fit(X[train], Y[train])
        assert path.errors[0] == pytest.approx(1 - plain.score(X[test], Y[test]), abs=1e-9)

    def test_the_default_path_has_the_model_of_a_fit(self, pairs):
        """From all features, by the automatic number, down to five; and each is no smaller than a round leaves."""
        path = model_path(joint(2), *pairs, cv=2)
        fitted = joint(2).fit(*pairs)
        own = int(np.flatnonzero(path.automatic)[0])
        np.testing.assert_array_equal(path.x_weights[own].toarray(), fitted.x_weights_)
        np.testing.assert_array_equal(path.y_weights[own].toarray(), fitted.y_weights_)
        assert (path.shares[0], path.x_features[0], path.y_features[-1]) == (1, 80, 5)
        steps = path.shares[1:] / path.shares[:-1]
        assert np.all((steps < 1) & (steps > 0.6 - 1e-9))

    def test_an_automatic_share_below_one_is_reached_by_the_rounds_of_a_fit(self, pairs, monkeypatch):
        """Whatever the automatic share is: here a number that no power of 0.6 is."""
        X, Y = pairs
        wanted = 0.23
        monkeypatch.setattr("scca.factors.fit.cost_of", lambda *given: Decided(wanted))
        path = model_path(joint(3), X, Y, cv=2)
        rounds, fewer = [], Round.fewer
        monkeypatch.setattr(Round, "fewer", lambda now, sizes: rounds.append(sizes) or fewer(now, sizes))
        fitted = joint(3, n_features=wanted).fit(X, Y)
        own = path.shares.tolist().index(wanted)
        assert path.automatic[own]
        assert own == len(rounds) > 2
        for k, sizes in enumerate(rounds, 1):
            assert [path.x_features[k], path.y_features[k]] == sizes
        np.testing.assert_array_equal(path.x_weights[own].toarray(), fitted.x_weights_)
        np.testing.assert_array_equal(path.y_weights[own].toarray(), fitted.y_weights_)

    def test_there_is_a_feature_for_each_component(self, pairs):
        path = model_path(joint(9), *pairs, cv=2)
        assert path.y_features[-1] == 9

    def test_no_fold_sees_the_pairs_left_out(self, pairs, monkeypatch):
        """Other pairs left out leave the features, and their weights, what they were."""
        train, test = np.arange(40), np.arange(40, 60)
        rng = np.random.default_rng(1)
        others = [view.copy() for view in pairs]
        for view in others:
            view[test] = 3 * rng.standard_normal(view[test].shape)
        seen = []
        monkeypatch.setattr(
            "scca.tuning._model_path.coherence", lambda model, held_out: seen.append(model.weights_) or 0.0
        )
        for views in (pairs, others):
            model_path(joint(2, scale="both"), *views, shares=(1, 0.4, 0.1), cv=[(train, test)])
        assert len(seen) == 6
        for these, those in zip(seen[:3], seen[3:], strict=True):
            for one, other in zip(these, those, strict=True):
                np.testing.assert_array_equal(one, other)

    def test_pairs_left_out_that_are_no_pairs_have_nothing_to_show(self, pairs):
        X, Y = pairs
        train, test = np.arange(30), np.arange(30, 60)
        Y = np.vstack([Y[train], np.random.default_rng(0).permutation(Y[test])])
        path = model_path(joint(2), X, Y, shares=[0.3], cv=[(train, test)])
        assert abs(path.correlations[0]) < 0.35
        assert abs(path.coherences[0]) < 0.15
        assert path.errors[0] > 0.7

    def test_number_of_jobs_does_not_matter(self, pairs, shares):
        together = model_path(joint(2), *pairs, shares=(0.6, 1, 0.36, 0.05), cv=3, n_jobs=2)
        assert together.numbers() == shares.numbers()

    @pytest.mark.parametrize(
        ("rendering", "axis"),
        [("auto", "shares"), ("sparse", "mu_factors"), (("sparse", "joint"), "shares")],
    )
    def test_the_axis_is_decided_by_the_data_unless_a_rendering_is_asked_for(self, pairs, rendering, axis):
        X, Y = (np.where(view > 1, view, 0.0) for view in pairs)  # like words
        path = model_path(SparseCCA(2, rendering=rendering), X, Y, cv=2, **{axis: [1, 0.5]})
        assert path.axis == axis

    def test_a_view_of_words_beside_a_table_is_a_path_over_shares(self, pairs):
        words, table = np.where(pairs[0] > 1, pairs[0], 0.0), pairs[1]
        path = model_path(SparseCCA(2), words, table, shares=[0.5], cv=2)
        assert (path.x_features[0], path.axis) == (40, "shares")
        assert path.y_features[0] <= 25

    def test_components_are_counted_once(self):
        X, Y = make_planted(90, 40, 30, n_factors=2, strength=2, random_state=0).views
        path = model_path(joint("auto"), X, Y, shares=[1, 0.5], cv=2)
        assert [weights.shape for weights in path.x_weights] == [(40, 2), (40, 2)]

    def test_numbers_frame_and_figure(self, pairs, shares):
        pytest.importorskip("matplotlib")
        path = model_path(joint(2), *pairs, cv=2)
        numbers = json.loads(json.dumps(path.numbers()))
        assert list(numbers) == list(path.frame().columns)
        assert "mu_factors" not in numbers
        figure = path.plot(names=("English", "French"))
        for axes in figure.axes:
            assert axes.get_xscale() == "log"
            assert axes.get_xlim()[0] > axes.get_xlim()[1]  # all features to the left
        np.testing.assert_array_equal(figure.axes[0].lines[0].get_xdata(), path.shares)
        marked = figure.axes[0].lines[-1].get_xdata()
        np.testing.assert_array_equal(np.unique(marked), path.shares[path.automatic])
        assert not any("automatic" in text.get_text() for text in shares.plot().axes[0].texts)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"shares": []}, "shares must be one or more numbers above 0 and at most 1"),
            ({"shares": "auto"}, "shares must be one or more numbers above 0 and at most 1"),
            ({"shares": [1, 0]}, "shares must be one or more numbers above 0 and at most 1"),
            ({"shares": [np.nan]}, "shares must be one or more numbers above 0 and at most 1"),
            ({"shares": [1.5]}, "shares must be one or more numbers above 0 and at most 1"),
            ({"mu_factors": [1]}, "^mu_factors are for the sparse rendering, .*; pass shares, or rendering="),
        ],
    )
    def test_settings(self, pairs, settings, message):
        with pytest.raises(ValueError, match=message):
            model_path(joint(1), *pairs, **settings)

    def test_a_path_over_penalties_has_no_shares(self, pairs):
        with pytest.raises(ValueError, match="^shares are for the joint rendering, .*; pass mu_factors, or rendering="):
            model_path(SparseCCA(2), *pairs, shares=[0.5])

    def test_an_error_names_the_fold_and_the_share(self, pairs):
        train, test = np.arange(4), np.arange(4, 60)
        with pytest.raises(ValueError, match="^fold 0 with n_features=1.0: `n_components` upper bound is .*3"):
            model_path(joint(4), *pairs, shares=[1, 0.5], cv=[(train, test)])


class Decided:
    """A cost that decided on a share."""

    kept, interval, shares, precisions = 1.0, (1.0, 1.0), (1.0,), (1.0,)

    def __init__(self, share):
        self.share = share


class TestRefusals:
    @pytest.mark.parametrize("model", [None, "auto", SparseCCACV(2), AnchoredCCA(2), scca.KernelCCA(2)])
    def test_no_sparse_cca(self, pairs, model):
        with pytest.raises(ValueError, match="^model must be a SparseCCA; got .*: pass for example SparseCCA\\(20\\)"):
            model_path(model, *pairs)

    @pytest.mark.parametrize("settings", [{"rendering": "dense"}, {"rendering": ("dense", "joint")}, {"kernel": "rbf"}])
    def test_models_without_a_path(self, pairs, settings):
        with pytest.raises(
            ValueError, match="^model_path needs features of both views that it can leave out; leave rendering at"
        ):
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
    """Of the features that are shown to a reader: those with a weight, or with the joint rendering some of them."""
    values = []
    for j in range(model.n_components_):
        sides = []
        for weights, loadings, shown in zip(model.weights_, model.loadings_, model.shown_, strict=True):
            is_shown = weights[:, j] != 0 if shown is None else shown.toarray()[:, j]
            strength = np.abs(loadings[:, j]) * is_shown
            sides.append([(i, np.sign(loadings[i, j])) for i in np.argsort(-strength)[:8] if strength[i] > 0])
        values.append(np.mean([s * t * np.corrcoef(X[:, a], Y[:, b])[0, 1] for a, s in sides[0] for b, t in sides[1]]))
    return np.mean(values)
