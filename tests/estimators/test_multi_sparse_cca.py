"""MultiSparseCCA: two views are those of SparseCCA; many have no order, certified weights and honest claims."""

import pickle
import re
import warnings
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from oracles import lasso_dual_bound
from repeats import few_or_many
from scipy.stats import binom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from scca import DataWarning, EvidenceWarning, Kernel, LowRankKernel, MultiSparseCCA, SparseCCA
from scca.datasets import make_planted
from scca.factors import constants, fit
from scca.retrieval import average_precision
from scca.samples import Groups, Views

SIZES = (30, 24, 20)
PAIRS = [(0, 1), (0, 2), (1, 2)]
quietly = pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")


def planted(n, seed=0, sizes=SIZES, strength=1.5):
    """Three views that share two factors; each factor is carried by five features of each view."""
    return list(make_planted(n, *sizes, n_active=5, strength=strength, random_state=seed).views)


def noise(n, seed, sizes=(8, 7, 6)):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, m)) for m in sizes]


def subjects_with_copies(seed, n_subjects=15, n_copies=4):
    """Independent views of subjects, each measured several times, and the subject of every sample."""
    subjects = np.repeat(np.arange(n_subjects), n_copies)
    rng = np.random.default_rng(100 + seed)
    data = noise(n_subjects, seed, (12, 10, 9))
    return [view[subjects] + 0.05 * rng.standard_normal((len(subjects), view.shape[1])) for view in data], subjects


def words(X):
    """A table made sparse and without negative values."""
    return sp.csr_array(np.maximum(X - 0.5, 0))


def quick(n_components=2, **settings):
    return MultiSparseCCA(n_components, **{"held_out": 0, **settings})


def correlations_of(scores):
    """Of every pair of views (rows), for every component."""
    return np.array(
        [[np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(A.shape[1])] for A, B in combinations(scores, 2)]
    )


def fitted_values(model):
    """What a fit stores, but for the objects that project new samples."""
    return {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and not name.startswith("_") and name not in ("preparations_", "provenance_")
    }


def assert_same_values(one, other, rtol=1e-10):
    found, expected = fitted_values(one), fitted_values(other)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        pairs = zip(value, expected[name], strict=True) if isinstance(value, list) else [(value, expected[name])]
        for mine, theirs in pairs:
            if sp.issparse(mine):
                mine, theirs = mine.toarray(), theirs.toarray()
            if isinstance(mine, np.ndarray) and mine.dtype != object:
                assert mine.dtype == theirs.dtype
                size = np.abs(theirs).max(initial=0.0)
                np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * size, err_msg=name)
            else:
                np.testing.assert_equal(mine, theirs)


class TestTwoViews:
    """Two views of many are the X and Y of SparseCCA."""

    @pytest.mark.parametrize("store", [np.asarray, words, np.float32], ids=["dense", "sparse", "float32"])
    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"rendering": "dense"},
            {"rendering": ("dense", "sparse")},
            {"kernel": ("linear", Kernel("rbf", gamma=0.02))},
            {"kernel": [Kernel("polynomial", degree=2), "linear"], "scale": ["both", "columns"]},
            {"kernel": ("linear", LowRankKernel(Kernel("rbf", gamma=0.02), 20))},
            {"scale": ["columns", "rows"]},
            {"scale": None, "center": False, "feature_weights": None, "n_features": None},
            {"n_components": "auto"},
            {"mu": "auto*2", "ridge": 1.0, "n_features": 0.5, "random_state": 3},
        ],
        ids=lambda settings: "-".join(settings) or "defaults",
    )
    @pytest.mark.filterwarnings("ignore::scca.DataWarning")  # of approximated kernels
    def test_are_those_of_sparse_cca(self, store, settings):
        X, Y = (view.astype(np.float32) if store is np.float32 else store(view) for view in planted(48)[:2])
        one, other = MultiSparseCCA(**settings).fit([X, Y]), SparseCCA(**settings).fit(X, Y)
        assert_same_values(one, other)
        for mine, theirs in zip(one.transform([X, Y]), other.transform_pair(X, Y), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10 * np.abs(theirs).max())
        assert one.score([X, Y]) == other.score(X, Y)
        assert one.provenance_ == other.provenance_

    @pytest.mark.parametrize("scale", ["rows", None])
    def test_precomputed_kernels_too(self, scale):
        """`fit_transform` knows k(x, x) of every sample, as that of SparseCCA does."""
        X, Y = planted(40)[:2]
        settings = {"kernel": ("precomputed", "precomputed"), "scale": scale, "held_out": 0}
        one, other = MultiSparseCCA(**settings), SparseCCA(**settings)
        scores = one.fit_transform([X @ X.T, Y @ Y.T])
        expected = other.fit_transform(X @ X.T, Y @ Y.T)
        np.testing.assert_allclose(scores[0], expected, rtol=1e-10, atol=1e-12)
        assert_same_values(one, other)

    def test_one_kernel_is_that_of_every_view(self):
        X, Y = planted(40)[:2]
        kernel = Kernel("rbf", gamma=0.02)
        assert_same_values(quick(kernel=kernel).fit([X, Y]), SparseCCA(held_out=0, kernel=(kernel, kernel)).fit(X, Y))

    @quietly
    def test_groups_too(self):
        (X, Y, _), subjects = subjects_with_copies(0)
        assert_same_values(MultiSparseCCA().fit([X, Y], groups=subjects), SparseCCA().fit(X, Y, groups=subjects))


class TestOrder:
    @pytest.mark.parametrize("store", [np.asarray, words], ids=["dense", "sparse"])
    @pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
    def test_of_the_views_is_that_of_the_results_alone(self, store, order):
        """Values agree as far as `tol` has them agree; the p-value draws other orders, and need only be as clear."""
        data = [store(view) for view in planted(60)]
        one = MultiSparseCCA(tol=1e-10, held_out=3).fit(data)
        other = MultiSparseCCA(tol=1e-10, held_out=3).fit([data[v] for v in order])
        for name in ("weights_", "loadings_"):
            for place, v in enumerate(order):
                np.testing.assert_allclose(getattr(other, name)[place], getattr(one, name)[v], atol=1e-5)
        for name in ("mu_", "objective_"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name)[list(order)], rtol=1e-5)
        assert [other.scales_[place] for place in range(3)] == [one.scales_[v] for v in order]
        pairs = [one.view_pairs_.index(tuple(sorted((order[v], order[u])))) for v, u in other.view_pairs_]
        for name in ("pair_correlations_", "held_out_pair_correlations_", "held_out_pair_intervals_"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name)[pairs], atol=1e-4)
        for name in ("correlations_", "held_out_correlations_", "held_out_intervals_"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), atol=1e-4)
        assert max(one.p_value_, other.p_value_) <= 0.05

    def test_of_the_samples_changes_nothing(self):
        data, order = planted(60), np.random.default_rng(0).permutation(60)
        one, other = (quick(tol=1e-10, n_features=None).fit(each) for each in (data, [view[order] for view in data]))
        for mine, theirs in zip(one.weights_, other.weights_, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)


class TestPlanted:
    def test_features_of_a_factor_have_its_weights_in_every_view(self):
        found = make_planted(150, *SIZES, n_active=5, strength=1.5, random_state=1)
        model = quick().fit(found.views)
        which = []
        for weights, loadings in zip(model.weights_, found.loadings, strict=True):
            shares = (weights**2).T @ (loadings != 0) / np.sum(weights**2, axis=0)[:, None]
            assert shares.max(axis=1).min() > 0.8
            which.append(list(shares.argmax(axis=1)))
        assert sorted(which[0]) == [0, 1]
        assert which[0] == which[1] == which[2]

    def test_a_third_view_that_shares_the_factors_helps(self):
        """The scores of X follow the factors of new samples at least as closely, mean over ten data sets."""
        cosines = []
        for seed in range(10):
            found = make_planted(1050, 40, 40, 40, n_active=5, strength=0.8, random_state=seed)
            train, new = [view[:50] for view in found.views], [view[50:] for view in found.views]
            of_set = []
            for count in (2, 3):
                scores = quick().fit(train[:count]).transform(new[:count])[0]
                among = np.abs(np.corrcoef(scores.T, found.factors[50:].T)[:2, 2:])
                of_set.append(max(among[0, 0] + among[1, 1], among[0, 1] + among[1, 0]) / 2)
            cosines.append(of_set)
        two, three = np.mean(cosines, axis=0)
        assert three > two

    def test_columns_times_powers_of_ten_change_nothing(self):
        """The units of the columns are the user's choice; those of words, scaled by rows, are counts."""
        data = planted(60)
        units = [10.0 ** np.random.default_rng(v).integers(-6, 7, view.shape[1]) for v, view in enumerate(data)]
        one = quick(tol=1e-10).fit(data)
        other = quick(tol=1e-10).fit([view * unit for view, unit in zip(data, units, strict=True)])
        assert one.scales_ == other.scales_ == ["both"] * 3
        new = planted(20, seed=1)
        scores = one.transform(new)
        for mine, theirs in zip(
            scores, other.transform([view * unit for view, unit in zip(new, units, strict=True)]), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, atol=1e-5 * np.abs(mine).max())

    def test_a_view_times_a_number_changes_nothing_without_scaling(self):
        data = planted(60)
        one, other = (
            quick(tol=1e-10, scale=None).fit(given) for given in (data, [data[0], 1e4 * data[1], 1e-3 * data[2]])
        )
        np.testing.assert_allclose(other.correlations_, one.correlations_, atol=1e-6)
        for mine, theirs in zip(one.loadings_, other.loadings_, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)


class TestCertificates:
    def test_weights_on_samples_solve_an_elastic_net(self):
        """Those of a view with a kernel are the certified solution: optimality conditions, and the bound of a dual."""
        data = planted(50)
        model = quick(kernel=["linear", Kernel("rbf", gamma=0.02), "linear"], tol=1e-9).fit(data)
        settings = model._settings(3)
        prepared = model.prepare_views(Views(tuple(data), Groups.of(None, 50)))
        factors = fit.rotate(prepared, fit.find(prepared, 2, settings), settings)
        A = prepared.views[1].columns(np.arange(50))
        ridge = constants.RIDGE * prepared.views[1].unit
        design = np.vstack([A, np.sqrt(ridge) * np.eye(50)])  # the ridge as further rows
        for j, t in enumerate(factors.scores.T):
            w, mu, target = model.weights_[1][:, j], model.mu_[1, j], np.concatenate([t, np.zeros(50)])
            doubled = 2 * design.T @ (target - design @ w)
            assert 0 < np.count_nonzero(w) < 50
            assert np.abs(doubled[w == 0]).max() <= mu * (1 + 1e-3)
            np.testing.assert_allclose(doubled[w != 0], mu * np.sign(w[w != 0]), rtol=1e-2)
            objective = np.sum((target - design @ w) ** 2) + mu * np.abs(w).sum()
            assert model.objective_[1, j] == pytest.approx(objective, rel=1e-9)
            assert objective - lasso_dual_bound(design, target, w, mu) <= 1.01e-9 * (t @ t)
            assert model.dual_gap_[1, j] <= 1e-9 * (t @ t)

    @pytest.mark.parametrize("tol", [1e-3, 1e-6])
    def test_gaps_of_all_views_are_within_the_tolerance(self, tol):
        """Of the selection and of the refitted weights: 2 tol, relative to a factor, which is at most as long as 2."""
        model = quick(tol=tol).fit(planted(60))
        assert model.dual_gap_.shape == model.mu_.shape == model.objective_.shape == (3, 2)
        assert (model.dual_gap_ <= 2 * tol * 4).all()
        assert (model.mu_ > 0).all()
        assert model.converged_.all()

    def test_a_score_is_the_prepared_view_times_the_weights(self):
        data, new = planted(60), planted(15, seed=1)
        model = quick(rendering=["sparse", "dense", "sparse"]).fit(data)
        for v, scores in enumerate(model.transform(new)):
            prepared = model.preparations_[v].transform(new[v])
            np.testing.assert_allclose(
                scores, prepared.columns(np.arange(new[v].shape[1])) @ model.weights_[v], atol=1e-12
            )
        counts = [np.count_nonzero(weights, axis=0).max() for weights in model.weights_]
        assert counts[0] < SIZES[0]
        assert counts[1] == SIZES[1]
        assert counts[2] < SIZES[2]

    def test_features_that_are_not_read_change_no_score(self):
        data, new = planted(60), planted(15, seed=1)
        model = quick().fit(data)
        for v, weights in enumerate(model.weights_):
            unread = ~weights.any(axis=1)
            assert unread.any()
            changed = new[v].copy()
            changed[:, unread] = 1e3
            np.testing.assert_array_equal(model.project(changed, v), model.project(new[v], v))


class TestHeldOut:
    @pytest.mark.parametrize("n", [60, 110])  # folds drawn twice, once
    def test_the_mean_over_pairs_is_on_fisher_s_scale(self, n):
        model = MultiSparseCCA().fit(planted(n))
        assert model.view_pairs_ == PAIRS
        of_pairs = model.held_out_pair_correlations_
        assert of_pairs.shape == (3, 2)
        np.testing.assert_allclose(model.held_out_correlations_, np.tanh(np.arctanh(of_pairs).mean(axis=0)))
        np.testing.assert_allclose(model.correlations_, model.pair_correlations_.mean(axis=0))
        for values, intervals in (
            (model.held_out_correlations_, model.held_out_intervals_),
            (of_pairs, model.held_out_pair_intervals_),
        ):
            assert (intervals[..., 0] < values).all()
            assert (values < intervals[..., 1]).all()
            # symmetric on Fisher's scale
            np.testing.assert_allclose(np.arctanh(intervals).mean(axis=-1), np.arctanh(values))

    def test_training_correlations_are_those_of_the_scores(self):
        data = planted(60)
        model = quick().fit(data)
        scores = model.transform(data)
        cosines = [
            np.sum(scores[v] * scores[u], axis=0)
            / np.linalg.norm(scores[v], axis=0)
            / np.linalg.norm(scores[u], axis=0)
            for v, u in PAIRS
        ]
        np.testing.assert_allclose(model.pair_correlations_, cosines, atol=1e-10)

    def test_a_factor_of_two_views_is_shown_by_their_pair(self):
        data = planted(200)
        data[2] = noise(200, 5)[0]
        model = MultiSparseCCA(1).fit(data)
        assert model.p_value_ <= 0.05
        low, high = model.held_out_pair_intervals_[:, 0].T
        assert low[0] > 0.6
        for pair in (1, 2):
            assert low[pair] < 0 < high[pair]
            assert model.held_out_pair_correlations_[pair, 0] < 0.3
        assert model.held_out_correlations_[0] < 0.6  # the mean hides it

    def test_a_view_that_does_not_share_a_factor_has_little_say_in_the_weights_of_the_others(self):
        """Correlations of the two on new samples, mean of ten data sets: equal shares had .84, a fit to two .92."""
        found = []
        for seed in range(10):
            data = planted(1200, seed)
            data[2] = noise(1200, seed)[0]
            model = quick().fit([view[:200] for view in data])
            found.append(correlations_of(model.transform([view[200:] for view in data]))[0].mean())
        assert np.mean(found) > 0.87

    @few_or_many(6, 40)
    def test_claims_are_those_of_new_samples(self, n_sets):
        """Too low by no more than .1 on average, and hardly too high; intervals have the truth, for every pair."""
        errors, inside = [], []
        for seed in range(n_sets):
            data = planted(3060, seed)
            model = MultiSparseCCA().fit([view[:60] for view in data])
            truths = correlations_of(model.transform([view[60:] for view in data]))
            truths = np.vstack([np.tanh(np.arctanh(truths).mean(axis=0)), truths])
            claims = np.vstack([model.held_out_correlations_, model.held_out_pair_correlations_])
            intervals = np.concatenate([model.held_out_intervals_[None], model.held_out_pair_intervals_])
            errors.append(claims - truths)
            inside.append((intervals[..., 0] <= truths) & (truths <= intervals[..., 1]))
        error, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(n_sets)
        assert (error > -0.1 - 2 * spread).all()
        assert (error < 0.02 + 2 * spread).all()
        assert (np.sum(inside, axis=0) >= binom.ppf(0.001, n_sets, 0.95)).all()

    @quietly
    @few_or_many(20, 150)
    def test_p_values_of_independent_views_have_their_level(self, n_sets):
        """Within the central 99.9 %."""
        found = [MultiSparseCCA(1, held_out=2, n_features=None).fit(noise(30, seed)).p_value_ for seed in range(n_sets)]
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= np.sum(np.array(found) <= 0.05) <= high

    @quietly
    def test_groups_are_left_out_together(self, monkeypatch):
        data, subjects = subjects_with_copies(1)
        splits, scores_of_fold = [], fit.held_out_scores

        def seen(*arguments):
            splits.append(arguments[-2:])
            return scores_of_fold(*arguments)

        monkeypatch.setattr(fit, "held_out_scores", seen)
        model = MultiSparseCCA(1, held_out=5).fit(data, groups=subjects)
        assert len(splits) == model.n_folds_ == 5
        for train, test in splits:
            assert not set(subjects[np.asarray(train)]) & set(subjects[test])
        assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(subjects)))

    def test_copies_are_no_evidence_if_groups_name_them(self):
        data, subjects = subjects_with_copies(2)
        with pytest.warns(EvidenceWarning, match="near copy among the others, in all views, .* the samples no longer"):
            careless = MultiSparseCCA(1).fit(data)
        assert careless.p_value_ <= 0.05
        assert careless.held_out_correlations_[0] > 0.7
        with pytest.warns(EvidenceWarning, match="these 60 samples in 15 groups cannot tell"):
            careful = MultiSparseCCA(1).fit(data, groups=subjects)
        assert careful.p_value_ > 0.05
        assert careful.held_out_correlations_[0] < 0.5

    @quietly
    def test_too_few_samples_to_leave_any_out(self):
        model = MultiSparseCCA(1).fit(noise(5, 0))
        assert np.isnan(model.held_out_pair_correlations_).all()
        assert model.held_out_pair_intervals_.shape == (3, 1, 2)
        assert "at least 6 are needed" in model.verdict_

    def test_does_not_depend_on_n_jobs(self):
        data = planted(60)
        one, other = (MultiSparseCCA(n_jobs=n_jobs).fit(data) for n_jobs in (None, 2))
        assert_same_values(one, other, rtol=0)
        assert one.provenance_ == other.provenance_


class TestKinds:
    def test_one_view_has_a_kernel_with_its_parameters(self):
        """A polynomial kernel of degree 1 is the linear one of its features, without weights of these."""
        data, new = planted(50), planted(20, seed=1)
        settings = {"feature_weights": None, "n_features": None, "scale": "rows", "tol": 1e-10}
        linear = Kernel("polynomial", degree=1, gamma=1.0, coef0=0.0)
        model = quick(kernel=["linear", linear, "linear"], **settings).fit(data)
        assert [len(weights) for weights in model.weights_] == [SIZES[0], 50, SIZES[2]]
        given = [data[0], data[1] @ data[1].T, data[2]]
        other = quick(kernel=["linear", "precomputed", "linear"], **settings).fit(given)
        for v in range(3):
            np.testing.assert_allclose(other.weights_[v], model.weights_[v], atol=1e-5)
        diagonal = np.sum(new[1] ** 2, axis=1)
        expected = model.project(new[1], 1)
        found = other.project(new[1] @ data[1].T, 1, diagonal)
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())

    def test_parameters_of_a_kernel_count(self):
        data = planted(50)
        narrow, wide = (
            quick(kernel=["linear", Kernel("rbf", gamma=gamma), "linear"]).fit(data).loadings_[1]
            for gamma in (0.5, 0.01)
        )
        assert np.abs(narrow - wide).max() > 0.01

    def test_a_low_rank_kernel_of_full_rank_is_the_kernel(self):
        data, kernel = planted(40), Kernel("rbf", gamma=0.02)
        settings = {"feature_weights": None, "n_features": None, "tol": 1e-10}
        one = quick(kernel=["linear", "linear", kernel], **settings).fit(data)
        other = quick(kernel=["linear", "linear", LowRankKernel(kernel, 40)], **settings).fit(data)
        assert other.kernel_errors_[:2] == [None, None]
        assert other.kernel_errors_[2] < 1e-10
        np.testing.assert_allclose(other.correlations_, one.correlations_, atol=1e-6)
        new = planted(20, seed=1)[2]
        for mine, theirs in zip(one.project(new, 2).T, other.project(new, 2).T, strict=True):
            assert np.corrcoef(mine, theirs)[0, 1] > 1 - 1e-6

    @pytest.mark.filterwarnings("ignore::scca.DataWarning")  # of the approximated kernel
    def test_every_view_of_another_kind(self):
        train, new = planted(1100), None
        train, new = [view[:100] for view in train], [view[100:] for view in train]
        kernels = ["linear", Kernel("rbf", gamma=0.01), LowRankKernel(Kernel("rbf", gamma=0.01), 60)]
        model = quick(kernel=kernels, scale=["columns", "both", "auto"], rendering=["dense", "sparse", "sparse"]).fit(
            [train[0].astype(np.float32), train[1], train[2]]
        )
        assert model.scales_[:2] == ["columns", "both"]
        assert [weights.dtype for weights in model.weights_] == [np.float32, np.float64, np.float64]
        assert correlations_of(model.transform([new[0].astype(np.float32), *new[1:]])).min() > 0.5

    @pytest.mark.parametrize("store", [sp.csr_matrix, sp.csc_array, sp.coo_array])
    def test_storage_changes_nothing(self, store):
        data = [words(view).toarray() for view in planted(60)]
        one, other = quick(tol=1e-10).fit(data), quick(tol=1e-10).fit([store(view) for view in data])
        assert one.scales_ == other.scales_
        for mine, theirs in zip(one.weights_, other.weights_, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-7)

    def test_counted_components_are_the_planted_ones(self):
        assert quick("auto", n_features=None).fit(planted(80)).n_components_ == 2

    def test_more_views_than_three(self):
        data = planted(60, sizes=(20, 15, 12, 11, 10))
        model = MultiSparseCCA(held_out=3).fit(data)
        assert model.view_pairs_ == list(combinations(range(5), 2))
        assert model.held_out_pair_correlations_.shape == (10, 2)
        assert model.held_out_correlations_.min() > 0.7


class TestInput:
    @pytest.fixture
    def data(self):
        return planted(40)

    @pytest.fixture
    def model(self, data):
        return quick().fit(data)

    def test_a_list_a_tuple_or_a_mapping(self, data, model):
        assert model.view_names_ == ["view 1", "view 2", "view 3"]
        names = ("genes", "lipids", "images")
        named = quick().fit(dict(zip(names, data, strict=True)))
        assert named.view_names_ == list(names)
        for other in (quick().fit(tuple(data)), named):
            for mine, theirs in zip(model.weights_, other.weights_, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        expected = model.transform(data)
        in_another_order = {name: data[v] for v, name in reversed(list(enumerate(names)))}
        by_number = {np.int64(2): data[2], "genes": data[0], 1: data[1]}
        for given in (in_another_order, by_number, tuple(data)):
            for mine, theirs in zip(named.transform(given), expected, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(named.project(data[1], "lipids"), expected[1])

    @pytest.mark.parametrize("known", [(0,), (1,), (2,), (0, 2), ()])
    def test_views_that_are_not_known_have_no_scores(self, data, model, known):
        expected = model.transform(data)
        listed = [data[v] if v in known else None for v in range(3)]
        for given in (listed, {f"view {v + 1}": data[v] for v in known}, {"view 1": None} if not known else listed):
            for v, scores in enumerate(model.transform(given)):
                if v in known:
                    np.testing.assert_array_equal(scores, expected[v])
                else:
                    assert scores is None

    def test_views_of_new_samples_need_not_be_the_same_samples(self, data, model):
        scores = model.transform([data[0][:7], None, data[2][:3]])
        assert [None if each is None else each.shape for each in scores] == [(7, 2), None, (3, 2)]

    def test_frames_keep_their_names(self, data, model):
        frames = [
            pd.DataFrame(view).rename(columns=lambda column, v=v: f"{'abc'[v]}{column}") for v, view in enumerate(data)
        ]
        framed = quick().fit(frames)
        for v in range(3):
            np.testing.assert_allclose(framed.weights_[v], model.weights_[v], atol=1e-12)  # stored by columns
            assert list(framed.feature_names_[v]) == list(frames[v].columns)
        with pytest.raises(ValueError, match="feature names of view 3 should match"):
            framed.transform([None, None, frames[2][frames[2].columns[::-1]]])

    def test_given_data_are_left_alone(self, data):
        before = [view.copy() for view in data]
        quick().fit(data).transform(data)
        for mine, theirs in zip(data, before, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_samples_of_which_nothing_is_read_are_named(self):
        data = [words(view) for view in planted(60)]
        model = quick(n_features=None).fit(data)
        new = data[2].toarray()
        new[4] = 0
        with pytest.warns(DataWarning, match="view 3 has 1 sample without any feature that the model reads .first: 4."):
            scores = model.transform([None, None, sp.csr_array(new)])
        assert not scores[2][4].any()

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (lambda d: d[:1], "^at least 2 views of the same samples are needed; got 1: pass a list"),
            (lambda d: {"one": d[0]}, "^at least 2 views .*; got 1: pass"),
            (lambda d: [], "^at least 2 views .*; got 0: pass"),
            (lambda d: d[0], r"^the views must be a list or a mapping; got a ndarray: pass \[X1, X2, X3\]"),
            (lambda d: np.stack([d[0], d[0]]), "^the views must be a list or a mapping; got a ndarray"),
            (lambda d: [*d[:2], None], "^a fit needs the samples of every view; view 3 is None: pass them, or leave"),
            (lambda d: {1: d[0], 2: d[1]}, r"^the names of views must be texts; got \[1, 2\]: name them"),
            (lambda d: {"": d[0], "b": d[1]}, "^the names of views must be texts; got"),
            (
                lambda d: [d[0], d[1], d[2][:-1]],
                "^view 1 and view 3 must have the same number of samples; got 40 and 39: row i of each",
            ),
            (lambda d: [view[:1] for view in d], "^view 1, view 2 and view 3 must have at least 2 samples; got n_samp"),
            (lambda d: [*d[:2], np.ones((40, 3))], "^view 3 does not vary: all of its 3 features are constant"),
            (lambda d: [d[0], np.where(d[1] > 2, np.nan, d[1]), d[2]], "^Input view 2 contains NaN .first at row"),
            (lambda d: [*d[:2], d[2][:, 0]], "^view 3 must be a 2-d array"),
        ],
    )
    def test_bad_views(self, data, given, message):
        with pytest.raises(ValueError, match=message):
            quick().fit(given(data))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"n_components": 21}, r"^`n_components` upper bound is n_features=20 of view 3. Got 21 instead. Reduce"),
            (
                {"n_components": 40, "kernel": Kernel("rbf")},
                "^`n_components` upper bound is n_samples - 1=39. Got 40 instead. Reduce",
            ),
            ({"rendering": ["sparse", "dense"]}, "^rendering must be one value for all views, or a list of 3, one for"),
            (
                {"rendering": ["sparse", "dense", "few"]},
                "^rendering must be one of 'auto', 'sparse', 'joint', 'dense'; got 'few'",
            ),
            ({"kernel": ["linear", "rbf"]}, r"^kernel must be one value for all views, or a list of 3, .*; got \['lin"),
            (
                {"scale": ("rows",) * 4},
                "^scale must be one value for all views, or a list of 3, one for each view; got",
            ),
            ({"scale": ["rows", "rows", "unit"]}, "^scale must be .*; got 'unit'"),
            ({"mu": [1, 2, 3]}, r'^mu must be "auto", "auto\*FACTOR" or a number .*; got \[1, 2, 3\]'),
            (
                {"mu": 0.1, "rendering": ["dense"] * 3},
                '^mu is for a rendering that selects features; got 0.1 with "dense": drop it',
            ),
            ({"kernel": "precomputed"}, r"^view 1 must be a square kernel matrix .*; got shape \(40, 30\)"),
            (
                {"kernel": ["linear", "linear", "precomputed"], "scale": "columns"},
                '^scale="columns" needs columns, and view 3 is a kernel matrix',
            ),
            (
                {"kernel": ["precomputed", "linear", "linear"], "scale": "both"},
                '^scale="both" needs columns, and view 1 is a kernel matrix',
            ),
        ],
    )
    def test_bad_settings(self, data, settings, message):
        with pytest.raises(ValueError, match=message):
            quick(**settings).fit(data)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (lambda d: d[:2], "^the model has 3 views; got 2: pass all in order, None for one that is not there, or a"),
            (lambda d: [*d, d[0]], "^the model has 3 views; got 4: pass"),
            (lambda d: d[0], r"^the views must be a list or a mapping; got a ndarray: pass \[X1, X2, X3\]"),
            (lambda d: {"genes": d[0]}, "^a view must be one of view 1, view 2 and view 3, or 0 to 2; got 'genes'"),
            (lambda d: {3: d[0]}, "^a view must be one of .*, or 0 to 2; got 3"),
            (lambda d: {True: d[0]}, "^a view must be one of .*, or 0 to 2; got True"),
            (
                lambda d: {0: d[0], "view 1": d[0]},
                "^view 1 is given twice, by its name and by its number; pass it once",
            ),
            (lambda d: [d[1], None, None], "^view 1 has 24 features, but MultiSparseCCA is expecting 30 .*: pass the"),
        ],
    )
    def test_bad_new_samples(self, data, model, given, message):
        with pytest.raises(ValueError, match=message):
            model.transform(given(data))

    def test_rows_in_another_order_are_refused(self, data, model):
        labels = [f"sample {i}" for i in range(40)]
        frames = [pd.DataFrame(view, index=labels) for view in data]
        turned = [*frames[:2], frames[2].iloc[::-1]]
        sentence = "^view 1 and view 3 have the same row labels in another order, .* pass view 3 as its .loc"
        with pytest.raises(ValueError, match=sentence):
            quick().fit(turned)
        with pytest.raises(ValueError, match=sentence):
            model.score(turned)
        with pytest.raises(ValueError, match=r"pass images.loc\[genes.index\]"):
            quick().fit({"genes": frames[0], "images": turned[2]})

    def test_a_failed_fit_leaves_the_model(self, data):
        model = quick().fit(data)
        before = model.transform(data)
        with pytest.raises(ValueError, match="upper bound"):
            model.set_params(n_components=500).fit(data)
        for mine, theirs in zip(model.transform(data), before, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    @pytest.mark.parametrize("call", ["transform", "score"])
    def test_not_fitted(self, data, call):
        with pytest.raises(NotFittedError):
            getattr(quick(), call)(data)


class TestMessages:
    """What is said of three views speaks of all of them, and of samples, which are no pairs."""

    def messages(self, data, **settings):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = MultiSparseCCA(1, **settings).fit(data)
        return [str(each.message) for each in caught] + [model.verdict_]

    @pytest.mark.parametrize(
        "data",
        [noise(40, 0), noise(120, 0), noise(5, 0), planted(60), subjects_with_copies(3)[0]],
        ids=["few", "noise", "too few", "shared", "copies"],
    )
    def test_of_evidence(self, data):
        for message in self.messages(data):
            assert not re.search(r"\b(both|pairs?|two)\b", message), message

    def test_of_equal_views(self):
        data = planted(40)
        (message,) = (each for each in self.messages([*data[:2], data[1]]) if "equal" in each)
        assert message.startswith("view 2 and view 3 are equal, so that every correlation between them is perfect")

    def test_of_components_that_are_not_shared(self):
        """Two columns alone are in common."""
        rng = np.random.default_rng(0)
        shared = rng.standard_normal((30, 2))
        data = [shared @ rng.standard_normal((2, 5)) for _ in range(3)]
        with pytest.warns(Warning, match="the views share 2 of n_components=4 factors; set n_components=2"):
            quick(4).fit(data)


class TestMates:
    @pytest.fixture
    def model(self):
        return quick().fit(planted(80))

    @pytest.mark.parametrize(("source", "target"), list(permutations(range(3), 2)))
    def test_from_any_view_to_any_view(self, model, source, target):
        new = planted(25, seed=1)
        A, B = model.project(new[source][:6], source), model.project(new[target], target)
        cosines = (A / np.linalg.norm(A, axis=1, keepdims=True)) @ (B / np.linalg.norm(B, axis=1, keepdims=True)).T
        expected = np.argsort(-cosines, axis=1)[:, :4]
        for one, other in ((source, target), (f"view {source + 1}", f"view {target + 1}")):
            found, similarities = model.mates(new[source][:6], new[target], source=one, target=other, top=4)
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_allclose(similarities, np.take_along_axis(cosines, expected, axis=1), atol=1e-10)

    def test_score_is_the_mean_over_pairs_that_are_given(self, model):
        new = planted(25, seed=1)
        scores = model.transform(new)
        of_pairs = [average_precision(scores[v], scores[u]).average_precision for v, u in PAIRS]
        assert model.score(new) == pytest.approx(np.mean(of_pairs), abs=1e-12)
        assert model.score([new[0], None, new[2]]) == pytest.approx(of_pairs[1], abs=1e-12)
        assert model.score({"view 2": new[1], "view 3": new[2]}) == pytest.approx(of_pairs[2], abs=1e-12)
        assert np.mean(of_pairs) > 3 / 25  # finds mates

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda m, d: m.mates(d[0], d[1], source=3), "^a view must be one of view 1, .*, or 0 to 2; got 3"),
            (lambda m, d: m.mates(d[0], d[1], target="lipids"), "^a view must be one of .*; got 'lipids'"),
            (lambda m, d: m.mates(d[0], d[1], top=0), "^top must be an integer of at least 1; got 0"),
            (lambda m, d: m.mates(d[0], d[1], target=2), "^view 3 has 24 features, but .* expecting 20"),
            (lambda m, d: m.score([d[0], None, None]), "^score compares views .*; got 1: pass at least 2"),
            (
                lambda m, d: m.score([d[0], None, d[2][:5]]),
                "^view 1 and view 3 must have the same number of samples; got 25 and 5: row i of each",
            ),
        ],
    )
    def test_bad_input(self, model, call, message):
        with pytest.raises(ValueError, match=message):
            call(model, planted(25, seed=1))


class TestScikitLearn:
    def test_parameters(self):
        kernels = ["linear", Kernel("rbf", gamma=0.1), LowRankKernel("rbf", 20)]
        model = MultiSparseCCA(4, kernel=kernels, rendering=["dense", "sparse", "sparse"], mu="auto*0.5", held_out=0)
        again = clone(model)
        assert again is not model
        # a low-rank kernel is an estimator, of which `clone` makes another
        plain, other = ({**each.get_params(), "kernel": None} for each in (model, again))
        assert plain == other
        assert again.kernel[2].get_params() == kernels[2].get_params()
        assert again.kernel[:2] == kernels[:2]
        assert again.set_params(mu=0.5).mu == 0.5
        with pytest.raises(ValueError, match="Invalid parameter"):
            again.set_params(anchors="sequential")

    def test_fit_changes_no_parameter(self):
        model = quick(rendering=["dense", "sparse", "sparse"], scale=["rows", "columns", None])
        before = dict(model.get_params())
        model.fit(planted(40))
        assert model.get_params() == before

    def test_pickle(self):
        data = planted(300)
        model = quick().fit(data)
        stored = pickle.dumps(model)
        assert len(stored) < data[0].nbytes / 2  # without the training data
        for mine, theirs in zip(pickle.loads(stored).transform(data), model.transform(data), strict=True):
            np.testing.assert_array_equal(mine, theirs)

    def test_the_same_fit_again_is_the_same(self):
        data = planted(60)
        model = MultiSparseCCA(held_out=3).fit(data)
        first = fitted_values(model)
        assert_same_values(model.fit(data), clone(model).fit(data), rtol=0)
        np.testing.assert_array_equal(model.held_out_intervals_, first["held_out_intervals_"])

    def test_other_settings_leave_nothing_of_the_fit_before(self):
        data = planted(40)
        model = MultiSparseCCA(held_out=3).fit(data)
        model.set_params(held_out=0).fit(data[:2])
        assert fitted_values(model).keys() == fitted_values(quick().fit(data)).keys()
        assert model.view_names_ == ["X", "Y"]

    def test_provenance_names_all_views_and_no_number_of_jobs(self):
        data = planted(40)
        model = quick(n_jobs=2).fit({"genes": data[0], "lipids": data[1], "images": data[2]})
        inputs = model.provenance_["inputs"]
        assert [each["view"] for each in inputs] == ["genes", "lipids", "images"]
        assert [each["shape"] for each in inputs] == [[40, m] for m in SIZES]
        assert len({each["digest"] for each in inputs}) == 3
        changed = data[2].copy()
        changed[3, 3] += 1e-9
        others = quick().fit([*data[:2], changed]).provenance_["inputs"]
        assert [one["digest"] == other["digest"] for one, other in zip(inputs, others, strict=True)] == [
            True,
            True,
            False,
        ]
        assert "n_jobs" not in model.provenance_["settings"]

    def test_every_component_is_logged(self, caplog):
        with caplog.at_level("INFO", logger="scca"):
            quick().fit(planted(40))
        found = [record.message for record in caplog.records if record.message.startswith("component")]
        assert len(found) == 2
        assert all(re.match(r"component \d: \d+ and \d+ and \d+ weights", message) for message in found)
