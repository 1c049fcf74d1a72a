"""Tuning mu and the ridge of shared factors: warm paths against cold fits, what is chosen, what no fold sees.

Views are rendered sparsely here, since mu changes no score of a view that is rendered jointly.
"""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from scca import AnchoredCCACV, Kernel, SparseCCA, SparseCCACV
from scca._checks import Penalty
from scca.datasets import make_planted
from scca.factors import fit
from scca.tuning._search import as_params

pytestmark = pytest.mark.filterwarnings("ignore::scca.EmptyComponentWarning")
MU, RIDGE = (4, 1, 0.25), (0.25, 4)
LINEAR = Kernel("polynomial", degree=1, gamma=1, coef0=0)  # of samples; "linear" is read by features


@pytest.fixture(scope="module")
def pairs():
    return make_planted(60, 80, 50, n_active=8, random_state=0).views


def search(n_components=2, **settings):
    usual = {"mu_factors": MU, "ridge_factors": RIDGE, "cv": 3, "held_out": 0, "rendering": "sparse"}
    return SparseCCACV(n_components, **{**usual, **settings})


def thresholded(view):
    return sp.csr_array(np.where(np.abs(view) > 1, view, 0.0))


def prepared(model, X, Y):
    return model.prepare_views(model._training({"X": X, "Y": Y}, None, model._settings())[0])


def warm_and_cold(views, **settings):
    """Models of the penalties of a search, made as it makes them and one by one."""
    for ridge in RIDGE:
        tried = [as_params({"mu": mu, "ridge": ridge}) for mu in MU]
        models = [SparseCCA(3, held_out=0, rendering="sparse", **settings, **params) for params in tried]
        warm = models[0].fit_many(models, prepared(models[0], *views))
        yield from zip(warm, [clone(model).fit(*views) for model in models], strict=True)


class TestWarmIsCold:
    @pytest.mark.parametrize("store", [np.asarray, thresholded])
    @pytest.mark.parametrize("kernel", ["linear", LINEAR])
    def test_the_same_weights_at_every_penalty(self, pairs, store, kernel):
        """Solved to 1e-11, weights agree to 1e-5 of scores of unit norm."""
        for warm, cold in warm_and_cold([store(view) for view in pairs], kernel=kernel, tol=1e-11):
            np.testing.assert_allclose(warm.mu_, cold.mu_, rtol=1e-9)
            np.testing.assert_allclose(warm.x_weights_, cold.x_weights_, atol=1e-5)
            np.testing.assert_allclose(warm.y_weights_, cold.y_weights_, atol=1e-5)

    def test_the_same_optimum_at_the_usual_tolerance(self, pairs):
        """Two certified answers to one problem are no farther apart than their gaps; weights on samples are those."""
        for warm, cold in warm_and_cold(pairs, kernel=(LINEAR, LINEAR)):
            assert warm.converged_.all()
            assert np.all(np.abs(warm.objective_ - cold.objective_) <= warm.dual_gap_ + cold.dual_gap_ + 1e-12)

    def test_the_table_is_a_plain_loop(self, pairs):
        X, Y = pairs
        model = search(tol=1e-10, scoring="correlation", cv=3).fit(X, Y)
        splits = [(np.setdiff1d(np.arange(60), test), test) for test in np.arange(60).reshape(3, 20)]
        for row, params in enumerate(model.cv_results_["params"]):
            for fold, (train, test) in enumerate(splits):
                fitted = SparseCCA(2, held_out=0, tol=1e-10, **params).fit(X[train], Y[train])
                A, B = fitted.transform_pair(X[test], Y[test])
                expected = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])
                assert model.cv_results_[f"split{fold}_test_score"][row] == pytest.approx(expected, abs=1e-7)

    def test_factors_are_found_once_a_fold_and_ridge(self, pairs, monkeypatch):
        found = []
        find = fit.find
        monkeypatch.setattr(fit, "find", lambda *given: found.append(given[2].ridge) or find(*given))
        model = search(n_features=None).fit(*pairs)
        *in_folds, in_all = found
        assert in_folds == [0.0625, 1.0] * 3
        assert in_all == 0.25 * Penalty.parse(model.best_params_["ridge"], "ridge", zero_allowed=False).factor

    @pytest.mark.parametrize(("n_features", "per_fold"), [("auto", 2), (0.3, 2), (None, 1)])
    def test_features_are_chosen_once_a_fold_and_ridge(self, pairs, monkeypatch, n_features, per_fold):
        """They are chosen by factors, which depend on the ridge and not on mu; all features are those of any ridge."""
        chosen = []
        prepare = SparseCCA.prepare_views
        monkeypatch.setattr(
            SparseCCA, "prepare_views", lambda model, views: chosen.append(model) or prepare(model, views)
        )
        search(n_features=n_features).fit(*pairs)
        assert len(chosen) == 3 * per_fold
        assert len({model.ridge for model in chosen}) == per_fold

    def test_a_search_does_not_depend_on_the_other_ridges(self, pairs):
        """What the rows of a ridge say is what a search of this ridge alone says."""
        both, alone = (search(n_features=0.3, ridge_factors=ridges).fit(*pairs) for ridges in (RIDGE, RIDGE[1:]))
        of_ridge = both.cv_results_["ridge_factor"] == RIDGE[1]
        for name in ("mean_test_score", "mean_x_features"):
            np.testing.assert_allclose(both.cv_results_[name][of_ridge], alone.cv_results_[name], atol=1e-9)


class TestJointly:
    """Views in which every factor weighs all features that are read."""

    def test_there_is_no_mu_to_choose(self):
        """Words are rendered jointly unless a rendering is asked for; columns of tables are not."""
        X, Y = (np.maximum(view, 0.0) for view in make_planted(60, 80, 50, n_active=8, random_state=0).views)
        words = [sp.csr_array(np.where(view > 1, view, 0.0)) for view in (X, Y)]
        plain, forced = (SparseCCACV(2, cv=2, held_out=0, **asked) for asked in ({}, {"rendering": "sparse"}))
        assert plain.fit(*words).rendering_ == ["joint", "joint"]
        assert set(plain.cv_results_["mu_factor"]) == {1}
        assert forced.fit(*words).rendering_ == ["sparse", "sparse"]
        assert len(set(forced.cv_results_["mu_factor"])) == 5

    def test_the_table_is_a_plain_loop(self, pairs):
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        settings = {"rendering": "joint", "n_features": 0.4, "held_out": 0}
        model = SparseCCACV(2, ridge_factors=RIDGE, cv=[(train, test)], scoring=first_correlation, **settings).fit(X, Y)
        for row, params in enumerate(model.cv_results_["params"]):
            fitted = SparseCCA(2, **settings, **params).fit(X[train], Y[train])
            expected = first_correlation(*fitted.transform_pair(X[test], Y[test]))
            assert model.cv_results_["mean_test_score"][row] == pytest.approx(expected, abs=1e-9)
            assert model.cv_results_["mean_x_features"][row] == np.count_nonzero(fitted.x_weights_.any(axis=1))
        assert model.shown_[0].shape == model.x_weights_.shape

    def test_a_joint_view_beside_a_sparse_one_has_a_mu(self, pairs):
        model = SparseCCACV(2, rendering=("joint", "sparse"), ridge_factors=(1,), cv=2, held_out=0).fit(*pairs)
        assert len(set(model.cv_results_["mean_y_features"])) > 1 == len(set(model.cv_results_["mean_x_features"]))


def first_correlation(A, B):
    return np.corrcoef(A[:, 0], B[:, 0])[0, 1]


class TestSomethingToTune:
    def test_every_value_of_the_grid_changes_the_answer(self, pairs):
        totals = search(mu_factors=(0.25, 0.5, 1, 2, 4), scoring=lambda A, B: float(np.abs(A).sum())).fit(*pairs)
        assert len(set(totals.cv_results_["mean_test_score"].round(9))) == 10

    def test_the_automatic_penalty_is_raised_first_and_then_multiplied(self):
        """Where 100 weights are too many, half of the penalty still has more of them, and twice has fewer."""
        X, Y = make_planted(80, 600, 600, n_active=300, random_state=0).views
        model = search(1, mu_factors=(0.5, 1, 2), ridge_factors=(1,), feature_weights=None, n_features=None, cv=2)
        assert np.all(np.diff(model.fit(X, Y).cv_results_["mean_x_features"]) < 0)

    @pytest.mark.parametrize("seed", [0, 1, 2])
    def test_noise_wants_a_larger_ridge(self, seed):
        """Directions that the noise of both views has in common by chance must not count."""
        chosen = {}
        for noise in (0.1, 3.0):
            rng = np.random.default_rng(seed)
            z = rng.standard_normal((100, 2))
            X, Y = (z @ rng.standard_normal((2, 40)) + noise * rng.standard_normal((100, 40)) for _ in "XY")
            settings = {"feature_weights": None, "n_features": None, "rendering": "dense", "mu_factors": None}
            chosen[noise] = search(**settings, ridge_factors=(0.04, 0.2, 1, 5, 25), scoring="correlation", cv=4).fit(
                X, Y
            )
        assert chosen[0.1].ridge_factor_ < chosen[3.0].ridge_factor_
        by_ridge = chosen[3.0].cv_results_["mean_test_score"]
        assert by_ridge[0] < by_ridge[2] < by_ridge[4]

    def test_what_is_chosen_makes_the_model(self, pairs):
        model = search().fit(*pairs)
        plain = SparseCCA(2, held_out=0, **model.best_params_).fit(*pairs)
        np.testing.assert_array_equal(model.x_weights_, plain.x_weights_)
        assert model.best_params_["ridge"] == f"auto*{model.ridge_factor_}"
        assert sorted(set(model.cv_results_["ridge_factor"])) == [0.25, 4]

    def test_one_standard_error_reads_fewer_features(self, pairs):
        # all features are read, so that the penalty alone decides how many have a weight
        model = search(mu_factors=(0.1, 0.5, 2, 8), n_features=None, rule="one-standard-error").fit(*pairs)
        table = model.cv_results_
        best = table["mean_test_score"].argmax()
        slack = table["std_test_score"][best] / np.sqrt(2)
        good = table["mean_test_score"] >= table["mean_test_score"][best] - slack
        used = table["mean_x_features"] + table["mean_y_features"]
        assert used[model.best_index_] == used[good].min() < used[best]

    def test_features_of_a_row_are_those_with_a_weight(self, pairs):
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        model = search(cv=[(train, test)], tol=1e-10).fit(X, Y)
        for row, params in enumerate(model.cv_results_["params"]):
            fitted = SparseCCA(2, held_out=0, tol=1e-10, **params).fit(X[train], Y[train])
            assert model.cv_results_["mean_x_features"][row] == np.count_nonzero(fitted.x_weights_.any(axis=1))
            assert model.cv_results_["mean_y_features"][row] == np.count_nonzero(fitted.y_weights_.any(axis=1))

    def test_automatic_ridge_times_a_factor(self, pairs):
        """With a number nothing is left unexplained on purpose; with a factor of the automatic ridge there is."""
        tenfold, number = (SparseCCA(2, ridge=ridge, held_out=0).fit(*pairs) for ridge in ("auto*10", 2.5))
        assert tenfold.mu_ == pytest.approx(number.mu_)
        np.testing.assert_array_equal(
            SparseCCA(2, ridge="auto*1", held_out=0).fit(*pairs).x_weights_,
            SparseCCA(2, held_out=0).fit(*pairs).x_weights_,
        )


class TestHeldOutPairs:
    def test_no_fold_sees_the_pairs_it_is_scored_on(self, pairs):
        """Pairing those anew changes their scores alone: the scores of either view stay what they were."""
        X, Y = pairs
        train, test = np.arange(40), np.arange(40, 60)
        shuffled = Y.copy()
        shuffled[test] = Y[np.roll(test, 7)]
        seen = {}
        for name, second in (("paired", Y), ("shuffled", shuffled)):
            kept = seen[name] = []

            def keep(A, B, kept=kept):
                kept.append((A.copy(), B.copy()))
                return 0.0

            search(cv=[(train, test)], scoring=keep).fit(X, second)
        for (A, B), (A_too, B_too) in zip(seen["paired"], seen["shuffled"], strict=True):
            np.testing.assert_array_equal(A, A_too)
            np.testing.assert_array_equal(np.roll(B, 7, axis=0), B_too)


class TestJobs:
    def test_number_of_jobs_does_not_matter(self, pairs):
        alone, together = (search(n_jobs=n_jobs).fit(*pairs) for n_jobs in (1, 2))
        for name, values in alone.cv_results_.items():
            np.testing.assert_array_equal(values, together.cv_results_[name])
        np.testing.assert_array_equal(alone.x_weights_, together.x_weights_)


class TestRefusals:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (
                {"rendering": "dense"},
                "mu_factors must be \\(1,\\) with the dense rendering, which has no penalties; got",
            ),
            (
                {"rendering": "joint"},
                "mu_factors must be \\(1,\\) with the joint rendering, whose scores do not depend on mu .*; got",
            ),
            ({"ridge_factors": (0, 1)}, "ridge_factors must be one or more finite numbers greater than 0"),
            ({"ridge_factors": "auto"}, "ridge_factors must be one or more finite numbers greater than 0"),
        ],
    )
    def test_what_has_no_meaning(self, pairs, settings, message):
        with pytest.raises(ValueError, match=f"^{message}") as caught:
            search(**settings).fit(*pairs)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("settings", "rows"),
        [({"rendering": "dense"}, 3), ({"rendering": "joint"}, 3), ({"kernel": (LINEAR, LINEAR)}, 15), ({}, 15)],
    )
    def test_what_is_tried_by_default(self, pairs, settings, rows):
        model = SparseCCACV(1, cv=2, held_out=0, **settings).fit(*pairs)
        assert len(model.cv_results_["params"]) == rows

    def test_what_is_tried_by_default_with_anchors(self, pairs):
        assert len(AnchoredCCACV(1, cv=2).fit(*pairs).cv_results_["params"]) == 5
