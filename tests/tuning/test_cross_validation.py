"""SparseCCACV and AnchoredCCACV: the table against a plain loop, the choice, and every kind of view."""

import warnings
from inspect import Parameter, signature

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, ShuffleSplit

from scca import AnchoredCCA, AnchoredCCACV, DataWarning, EmptyComponentWarning, Kernel, SparseCCA, SparseCCACV
from scca.datasets import make_planted
from scca.parallel import run_tasks
from scca.progress import long_work
from scca.retrieval import mate_ranks

pytestmark = pytest.mark.filterwarnings("ignore::scca.EmptyComponentWarning")
MU, GAMMA = (0.3, 1, 2.5), (0.5, 1)
ANCHORED = {"anchors": "cross-energy", "feature_weights": "shared", "scale": "auto"}
LINEAR = Kernel("polynomial", degree=1, gamma=1, coef0=0)  # of samples; "linear" is read by features


@pytest.fixture(scope="module")
def pairs():
    return make_planted(36, 30, 20, n_active=5, random_state=0).views


def small(n_components=2, **settings):
    """A search among anchored components, whose first are the same however many there are."""
    return AnchoredCCACV(n_components, **{"mu_factors": (0.5, 2), "cv": 3, **ANCHORED, **settings})


def small_factors(n_components=2, **settings):
    fast = {"mu_factors": (0.5, 2), "ridge_factors": (1,), "cv": 3, "held_out": 0}
    return SparseCCACV(n_components, **{**fast, **settings})


both = pytest.mark.parametrize("make", [small_factors, small])


def split_scores(model):
    return np.array([model.cv_results_[f"split{fold}_test_score"] for fold in range(model.n_splits_)]).T


def retrieval(A, B):
    return np.mean([np.mean(1 / ranks) for ranks in mate_ranks(A, B)])


def correlation(A, B):
    return np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])


class TestTable:
    @pytest.mark.parametrize(("scoring", "oracle"), [("retrieval", retrieval), ("correlation", correlation)])
    @pytest.mark.parametrize("representation", ["primal-dual", "dual-primal"])
    def test_is_a_plain_loop(self, pairs, scoring, oracle, representation):
        X, Y = pairs
        shared = {"representation": representation, "tol": 1e-7, **ANCHORED}
        model = AnchoredCCACV(3, mu_factors=MU, gamma_factors=GAMMA, cv=KFold(4), scoring=scoring, **shared).fit(X, Y)
        table = pd.DataFrame(model.cv_results_)
        assert len(table) == 6
        for row in table.itertuples():
            expected = np.empty((4, 3))
            for fold, (train, test) in enumerate(KFold(4).split(X)):
                for c in (1, 2, 3):
                    fitted = AnchoredCCA(c, mu=f"auto*{row.mu_factor}", gamma=f"auto*{row.gamma_factor}", **shared)
                    A, B = fitted.fit(X[train], Y[train]).transform_pair(X[test], Y[test])
                    expected[fold, c - 1] = oracle(A, B)
                assert getattr(row, f"split{fold}_test_score") == pytest.approx(expected[fold, 2], abs=1e-9)
            np.testing.assert_allclose(model.component_scores_[row.Index], expected.mean(axis=0), atol=1e-9)
            assert row.mean_test_score == pytest.approx(expected[:, 2].mean(), abs=1e-9)
            assert row.std_test_score == pytest.approx(expected[:, 2].std(), abs=1e-9)
            assert row.rank_test_score == 1 + np.sum(table["mean_test_score"] > row.mean_test_score)
        assert model.best_score_ == table["mean_test_score"].max() == table["mean_test_score"][model.best_index_]

    @pytest.mark.parametrize(("scoring", "oracle"), [("retrieval", retrieval), ("correlation", correlation)])
    def test_is_a_plain_loop_of_shared_factors(self, pairs, scoring, oracle):
        """They are turned together: the first c of three are not those of a fit to c."""
        X, Y = pairs
        model = small_factors(3, cv=KFold(4), scoring=scoring).fit(X, Y)
        for row, mu in enumerate(("auto*0.5", "auto*2.0")):
            expected = np.empty((4, 3))
            for fold, (train, test) in enumerate(KFold(4).split(X)):
                A, B = SparseCCA(3, mu=mu, held_out=0).fit(X[train], Y[train]).transform_pair(X[test], Y[test])
                expected[fold] = [oracle(A[:, :c], B[:, :c]) for c in (1, 2, 3)]
            np.testing.assert_allclose(split_scores(model)[row], expected[:, 2], atol=1e-9)
            np.testing.assert_allclose(model.component_scores_[row], expected.mean(axis=0), atol=1e-9)

    def test_folds_may_be_a_number_a_splitter_or_indices(self, pairs):
        tables = [split_scores(small(cv=cv).fit(*pairs)) for cv in (3, KFold(3), list(KFold(3).split(pairs[0])))]
        np.testing.assert_array_equal(tables[0], tables[1])
        np.testing.assert_array_equal(tables[0], tables[2])
        halves = small(cv=ShuffleSplit(2, test_size=0.5, random_state=0)).fit(*pairs)
        assert halves.n_splits_ == 2

    @pytest.mark.parametrize("cv", [ShuffleSplit(2), (split for split in KFold(2).split(np.zeros(36)))])
    def test_all_factors_see_the_same_folds(self, pairs, cv):
        """Also where a splitter draws anew each time, or can only be asked once."""
        scores = split_scores(small(mu_factors=(1, 1), cv=cv).fit(*pairs))
        assert scores.shape == (2, 2)
        np.testing.assert_array_equal(scores[0], scores[1])

    def test_scoring_by_a_function(self, pairs):
        seen = []

        def one_way(A, B):
            seen.append((A.shape, B.shape))
            return np.mean(1 / mate_ranks(A, B)[0])

        model = small(scoring=one_way).fit(*pairs)
        assert seen[:2] == [((12, 1), (12, 1)), ((12, 2), (12, 2))]
        assert not np.array_equal(split_scores(model), split_scores(small().fit(*pairs)))

    def test_given_anchors_are_those_of_all_pairs(self, pairs):
        """A fold counts its training pairs from 0; the anchors it holds out are left out."""
        X, Y = pairs
        anchors = [30, 3, 20, 14]
        model = small(cv=KFold(3), anchors=anchors).fit(X, Y)
        for fold, (train, test) in enumerate(KFold(3).split(X)):
            inside = [int(np.flatnonzero(train == anchor)[0]) for anchor in anchors if anchor in train]
            fitted = AnchoredCCA(2, **{**ANCHORED, "anchors": inside}, mu="auto*2.0").fit(X[train], Y[train])
            expected = retrieval(*fitted.transform_pair(X[test], Y[test]))
            assert split_scores(model)[1, fold] == pytest.approx(expected, abs=1e-12)
        whole = AnchoredCCA(2, **{**ANCHORED, "anchors": anchors}, **model.best_params_).fit(X, Y)
        assert list(model.anchors_) == list(whole.anchors_)


class TestChoice:
    @pytest.mark.parametrize(
        ("model", "plain", "fitted"),
        [
            (
                AnchoredCCACV(2, mu_factors=MU, gamma_factors=GAMMA, cv=3, **ANCHORED),
                AnchoredCCA(2, **ANCHORED),
                {"rotations_", "anchors_"},
            ),
            (
                SparseCCACV(2, mu_factors=MU, cv=3, held_out=3),
                SparseCCA(2, held_out=3),
                {"loadings_", "held_out_correlations_", "p_value_"},
            ),
        ],
        ids=["anchored", "factors"],
    )
    def test_last_fit_is_that_of_the_best(self, pairs, model, plain, fitted):
        model.fit(*pairs)
        plain.set_params(**model.best_params_)
        found = {name: value for name, value in vars(plain.fit(*pairs)).items() if name.endswith("_")}
        assert {"weights_", "dual_gap_", "n_features_", *fitted} <= found.keys()
        for name, value in found.items():
            if isinstance(value, np.ndarray | int | float):
                np.testing.assert_array_equal(getattr(model, name), value)
            elif isinstance(value, list) and isinstance(value[0], np.ndarray | int):
                for mine, other in zip(getattr(model, name), value, strict=True):
                    np.testing.assert_array_equal(mine, other)
        for mine, other in zip(model.transform_pair(*pairs), plain.transform_pair(*pairs), strict=True):
            np.testing.assert_array_equal(mine, other)
        assert model.score(*pairs) == plain.score(*pairs)

    def test_parameters_of_a_row(self, pairs):
        model = small(mu_factors=[0.5, 1], gamma_factors=[1, 4]).fit(*pairs)
        assert model.cv_results_["params"] == [
            {"mu": "auto*0.5", "gamma": "auto"},
            {"mu": "auto*0.5", "gamma": "auto*4.0"},
            {"mu": "auto", "gamma": "auto"},
            {"mu": "auto", "gamma": "auto*4.0"},
        ]
        assert model.best_params_ == model.cv_results_["params"][model.best_index_]
        assert model.mu_factor_ == model.cv_results_["mu_factor"][model.best_index_]
        assert model.gamma_factor_ == model.cv_results_["gamma_factor"][model.best_index_]

    @pytest.mark.parametrize(
        ("model", "plain"),
        [
            (SparseCCACV(3, ridge_factors=[1], mu_factors=[1], cv=2, held_out=0), SparseCCA(3, held_out=0)),
            (AnchoredCCACV(3, mu_factors=[1], cv=2), AnchoredCCA(3)),
        ],
        ids=["factors", "anchored"],
    )
    def test_one_factor_is_a_plain_fit(self, pairs, model, plain):
        np.testing.assert_array_equal(model.fit(*pairs).x_weights_, plain.fit(*pairs).x_weights_)

    def test_pairs_are_left_out_of_the_last_fit_alone(self, pairs, monkeypatch):
        """The search leaves its own pairs out: in its folds nobody asks for more."""
        import scca.factors.fit as module

        asked = []
        found = module.held_out_correlations
        monkeypatch.setattr(
            module, "held_out_correlations", lambda *given, **more: asked.append(given) or found(*given, **more)
        )
        assert hasattr(small_factors(held_out=2).fit(*pairs), "p_value_")
        assert len(asked) == 1

    def test_mu_is_the_penalty_of_samples_too(self, pairs):
        # of all features: the few that a choice leaves have a weight at either penalty
        model = small_factors(kernel=LINEAR, n_features=None).fit(*pairs)
        assert len(model.cv_results_["params"]) == 2
        assert len(set(model.cv_results_["mean_x_features"])) == 2
        assert len(set(model.cv_results_["mean_y_features"])) == 2

    def test_columns_are_those_of_the_penalties_there_are(self, pairs):
        factors, anchored = small_factors().fit(*pairs), small().fit(*pairs)
        assert "gamma_factor" not in factors.cv_results_
        assert "ridge_factor" not in anchored.cv_results_
        assert not hasattr(factors, "gamma_factor_")
        assert not hasattr(anchored, "ridge_factor_")

    def test_equally_good_factors_go_to_the_largest_penalties(self, pairs):
        model = small(mu_factors=(1, 2, 0.5), gamma_factors=(3, 1), scoring=lambda A, B: 1.0).fit(*pairs)
        assert (model.mu_factor_, model.gamma_factor_) == (2, 3)

    def test_one_standard_error(self, pairs):
        best = AnchoredCCACV(3, mu_factors=np.geomspace(0.1, 3, 6), cv=4, **ANCHORED).fit(*pairs)
        sparse = clone(best).set_params(rule="one-standard-error").fit(*pairs)
        scores = split_scores(best)
        top = scores.mean(axis=1).argmax()
        within = scores.mean(axis=1) >= scores[top].mean() - scores[top].std(ddof=1) / 2
        assert sparse.mu_factor_ == best.cv_results_["mu_factor"][within].max() > best.mu_factor_
        assert sparse.best_score_ <= best.best_score_

    def test_one_standard_error_of_a_single_split_is_none(self, pairs):
        split = [(np.arange(20), np.arange(20, 36))]
        model = small(cv=split, rule="one-standard-error").fit(*pairs)
        assert model.best_score_ == model.cv_results_["mean_test_score"].max()


class TestViews:
    @pytest.mark.parametrize("store", [sp.csr_array, sp.csc_matrix, pd.DataFrame])
    @both
    def test_storage_does_not_matter(self, pairs, store, make):
        X, Y = (np.where(np.abs(view) > 0.5, view, 0.0) for view in pairs)
        dense, stored = (make(3, scoring="correlation", tol=1e-9) for _ in range(2))
        dense.fit(X, Y)
        stored.fit(store(X), store(Y))
        np.testing.assert_allclose(split_scores(stored), split_scores(dense), atol=1e-8)
        assert stored.best_params_ == dense.best_params_

    @pytest.mark.parametrize("scoring", ["correlation", "retrieval"])
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("scale", ["rows", None])
    @pytest.mark.parametrize(
        ("make", "first_kernel"),
        [
            (small_factors, {"kernel": ("precomputed", "linear")}),
            (small, {"kernel": "precomputed", "representation": "dual-primal"}),
        ],
    )
    def test_precomputed_kernel_is_split_on_both_axes(self, pairs, scoring, store, scale, make, first_kernel):
        X, Y = pairs
        settings = {"scoring": scoring, "scale": scale, "tol": 1e-9, "feature_weights": None}
        linear = make(3, kernel=LINEAR, **settings).fit(X, Y)
        second = make(3, kernel="precomputed", **settings).fit(X, store(Y @ Y.T))
        np.testing.assert_allclose(split_scores(second), split_scores(linear), atol=1e-6)
        first = make(3, **first_kernel, **settings).fit(store(Y @ Y.T), X)
        np.testing.assert_allclose(split_scores(first), split_scores(linear), atol=1e-6)

    def test_names_of_features(self, pairs):
        X, Y = (pd.DataFrame(view).add_prefix(name) for view, name in zip(pairs, "xy", strict=True))
        model = small().fit(X, Y)
        assert list(model.feature_names_in_) == list(X.columns)
        assert list(model.feature_names_y_) == list(Y.columns)
        with pytest.raises(ValueError, match="feature names of Y should match"):
            model.transform_y(Y[Y.columns[::-1]])

    def test_fewer_components_than_asked_are_scored(self):
        """Y has two directions, so two components exist; the score of two counts for the third and fourth."""
        rng = np.random.default_rng(0)
        shared = rng.standard_normal((24, 2))
        X = shared @ rng.standard_normal((2, 6)) + 0.1 * rng.standard_normal((24, 6))
        Y = shared @ rng.standard_normal((2, 5))
        with pytest.warns(ConvergenceWarning) as caught:
            model = small(4, mu_factors=(0.1, 0.2), scale=None).fit(X, Y)
        assert model.n_components_ == 2
        np.testing.assert_array_equal(model.component_scores_[:, 2], model.component_scores_[:, 1])
        np.testing.assert_array_equal(model.component_scores_[:, 3], model.component_scores_[:, 1])
        searching, refitting = (str(warning.message) for warning in caught)
        assert searching.startswith("in 6 of 6 fits of the cross-validation, the first time: fold 0 with mu=auto*0.1")
        assert refitting.startswith("the views are exhausted after 2 of n_components=4")


class TestSearch:
    @both
    def test_number_of_jobs_does_not_matter(self, pairs, make):
        alone, together = (make(3, n_jobs=n_jobs).fit(*pairs) for n_jobs in (1, 2))
        np.testing.assert_array_equal(alone.component_scores_, together.component_scores_)
        np.testing.assert_array_equal(split_scores(alone), split_scores(together))
        np.testing.assert_array_equal(alone.x_weights_, together.x_weights_)

    def test_random_state_is_not_used_up(self, pairs):
        """Every fit gets a copy of its own."""
        state = np.random.RandomState(3)
        before = state.get_state()[1].copy()
        small_factors(random_state=state, held_out=2).fit(*pairs)
        np.testing.assert_array_equal(state.get_state()[1], before)

    def test_progress(self, pairs):
        calls = []
        with long_work(lambda *call: calls.append(call)):
            small().fit(*pairs)
        assert [call for call in calls if call[0] == "fits"] == [("fits", 2 * fold, 6) for fold in (1, 2, 3)]

    def test_one_task_is_one_fold_with_all_factors(self, pairs, monkeypatch):
        tasks = []

        def recording(compute, given, *counts, **settings):
            tasks.extend(given)
            return run_tasks(compute, tasks, *counts, **settings)

        monkeypatch.setattr("scca.tuning._cross_validation.run_tasks", recording)
        small().fit(*pairs)
        assert [[trial.fold for _, trial in task] for task in tasks] == [[0, 0], [1, 1], [2, 2]]
        assert all([model.mu for model, _ in task] == ["auto*0.5", "auto*2.0"] for task in tasks)

    def test_number_of_jobs_that_is_none(self, pairs):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0; got 0"):
            small(n_jobs=0).fit(*pairs)

    @pytest.mark.filterwarnings("error::scca.EmptyComponentWarning")
    def test_warnings_are_said_once(self, pairs):
        with pytest.warns(EmptyComponentWarning) as caught:
            small(mu_factors=(1, 50), anchors="sequential").fit(*pairs)
        assert len(caught) == 1
        assert str(caught[0].message).startswith(
            "in 3 of 6 fits of the cross-validation, the first time: fold 0 with mu=auto*50.0, gamma=auto: every"
        )

    def test_features_that_are_constant_in_a_fold_do_not_warn(self, pairs):
        X = pairs[0].copy()
        X[:, 4] = np.arange(36) < 5
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            small().fit(X, pairs[1])
        X[:, 4] = 1
        with pytest.warns(DataWarning, match="X has 1 constant feature ") as caught:
            small().fit(X, pairs[1])
        assert len(caught) == 1

    def test_error_names_the_fold_and_the_setting(self, pairs):
        X, Y = pairs
        with pytest.raises(ValueError, match=r"^fold 0 with mu=auto\*0\.5, gamma=auto: `n_components` upper .*23"):
            small(30).fit(np.hstack([X, X]), Y)
        with pytest.raises(ValueError, match=r"^fold 0 with mu=auto\*0\.5, ridge=auto: `n_comp.*23"):
            small_factors(30).fit(np.hstack([X, X]), np.hstack([Y, Y]))
        with pytest.raises(ValueError, match=r"^fold 0 with mu=auto\*2\.0, gamma=auto: scoring must .*; got nan"):
            small(scoring=lambda A, B: np.nan).fit(X, Y)
        with pytest.raises(ValueError, match=r"^fold 0 .*: anchors must name at least n_components=2 indices; got 1"):
            small(anchors=[3, 20]).fit(X, Y)


kinds = pytest.mark.parametrize(
    ("search", "plain", "penalties"),
    [(SparseCCACV, SparseCCA, ("mu", "ridge")), (AnchoredCCACV, AnchoredCCA, ("mu", "gamma"))],
)


class TestScikitLearn:
    @kinds
    def test_parameters_are_those_of_a_plain_fit_but_for_the_penalties(self, search, plain, penalties):
        mine, others = search().get_params(), plain().get_params()
        assert others.keys() - mine.keys() == set(penalties)
        assert mine.keys() - others.keys() == {*(f"{name}_factors" for name in penalties), "cv", "scoring", "rule"}
        assert all(mine[name] == others[name] for name in mine.keys() & others.keys())

    @kinds
    def test_signature_spells_out_every_parameter(self, search, plain, penalties):
        """What help() shows is what is there: no `**`, and the same defaults, kinds and order as a plain fit has."""
        mine, others = (dict(signature(kind.__init__).parameters) for kind in (search, plain))
        assert "__signature__" not in vars(search.__init__)
        shared = [name for name in others if name not in penalties]
        assert [name for name in mine if name in others] == shared
        assert all(
            (mine[name].default, mine[name].kind) == (others[name].default, others[name].kind) for name in shared
        )
        assert {parameter.kind for name, parameter in mine.items() if name not in others} == {Parameter.KEYWORD_ONLY}
        assert set(mine) - {"self"} == set(search().get_params())

    def test_clone_and_set_params(self, pairs):
        model = SparseCCACV(4, mu_factors=[1, 2], kernel=Kernel("rbf", gamma=0.1), held_out=0, n_jobs=2)
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        copy.set_params(n_components=2, cv=2, tol=1e-4, n_jobs=None).fit(*pairs)
        assert copy.n_splits_ == 2
        assert copy.get_params() == {**model.get_params(), "n_components": 2, "cv": 2, "tol": 1e-4, "n_jobs": None}
        assert "tol=0.0001" in repr(copy)

    @pytest.mark.parametrize(
        ("search", "name"),
        [
            *((SparseCCACV, name) for name in ("mu", "gamma_factors", "anchors", "folds")),
            *((AnchoredCCACV, name) for name in ("gamma", "ridge_factors", "held_out", "rendering")),
        ],
    )
    def test_no_other_parameters(self, search, name):
        with pytest.raises(TypeError, match=f"'{name}'"):
            search(2, **{name: 1})


class TestBadInput:
    @pytest.mark.parametrize("name", ["mu_factors", "gamma_factors"])
    @pytest.mark.parametrize("factors", [(), 0.5, "auto", b"x", (1, 0), (-1,), (np.inf,), (np.nan, 1), (None,)])
    def test_factors(self, pairs, name, factors):
        with pytest.raises(ValueError, match=f"{name} must be .* finite numbers greater than 0.* got .*pass for"):
            small(**{name: factors}).fit(*pairs)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"scoring": "accuracy"}, "scoring must be 'retrieval', 'correlation' or a function .*; got 'accuracy'"),
            ({"rule": "sparsest"}, "rule must be 'best' or 'one-standard-error'; got 'sparsest'"),
            ({"cv": 37}, r"cv=37 cannot split n_samples=36 pairs \(.*\); pass"),
            ({"cv": 36}, "must hold out at least 2 pairs; got 1 of n_samples=36: lower cv"),
            ({"cv": []}, "must hold out at least 2 pairs"),
            ({"cv": 1}, "cv=1 cannot split"),
            ({"cv": "five"}, "cv='five' cannot split"),
            ({"cv": [([0, 1, 2], [3, 99])]}, "cannot split n_samples=36 pairs .index 99"),
            ({"n_components": 31}, "`n_components` upper bound is n_features=30 of X. Got 31"),
            ({"representation": "primal"}, "representation must be"),
            ({"anchors": [0, 36]}, "anchors must lie between 0 and 35"),
        ],
    )
    def test_settings(self, pairs, settings, message):
        with pytest.raises(ValueError, match=message) as caught:
            small(**settings).fit(*pairs)
        assert "\n" not in str(caught.value)

    def test_views(self, pairs):
        X, Y = pairs
        with pytest.raises(ValueError, match="same number of samples; got 36 and 35"):
            small().fit(X, Y[:35])
        with pytest.raises(ValueError, match=r"square kernel matrix .* got shape \(36, 20\)"):
            small(kernel="precomputed").fit(X, Y)


def test_components_are_counted_once_for_all_folds():
    X, Y = make_planted(90, 40, 30, n_factors=2, strength=2, random_state=0).views
    model = small_factors("auto").fit(X, Y)
    assert model.n_components_ == 2
    assert model.component_scores_.shape == (2, 2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_fold_that_leaves_a_view_constant(sparse, swapped):
    """A view that varies only in the pairs left out cannot be learnt from; the pairing is not blamed."""
    rng = np.random.default_rng(0)
    varied, rare = rng.normal(size=(12, 3)), np.zeros((12, 2))
    rare[:2] = [[1, 2], [3, 1]]
    views = [varied, sp.csr_array(rare) if sparse else rare][:: -1 if swapped else 1]
    name = "X" if swapped else "Y"
    expected = (
        f"{name} in the training pairs of fold 0 does not vary: all of its 2 features are constant over the 8 samples; "
        "pass other folds"
    )
    with pytest.raises(ValueError, match=expected):
        SparseCCACV(1, cv=3).fit(*views)
