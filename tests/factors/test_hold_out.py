"""What pairs left out tell: correlations without a leak, their intervals, folds and groups."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from independent import alone, near_copies, noise, quietly, random_state, views_of
from repeats import few_or_many
from scipy.stats import binom

from scca import EvidenceWarning, SparseCCA, SparseCCACV
from scca.factors import choose, fit
from scca.factors.hold_out import _error, _fisher, _repeats, held_out_correlations
from scca.samples import Groups, Views


def _correlations(A, B, fold_of, groups):
    z, influence = _fisher(A, B)
    return z, _error(influence, fold_of, groups)


class TestCorrelations:
    def test_pooled_over_folds(self):
        rng = np.random.default_rng(0)
        A, B = rng.standard_normal((2, 50, 3))
        z, _ = _correlations(A, B, np.repeat([0, 1], 25), alone(50))
        np.testing.assert_allclose(np.tanh(z), [np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(3)], atol=1e-12)

    def test_error_of_a_single_fold_is_a_multiple_of_the_jackknife_s(self):
        """Of scores with tails, where 1 / sqrt(n - 3) is too small; the two are asymptotically equal."""
        rng = np.random.default_rng(1)
        A = rng.laplace(size=(400, 1))
        B = A * rng.choice([0.2, 2.0], (400, 1)) + rng.standard_normal((400, 1))
        _, error = _correlations(A, B, np.zeros(400, dtype=int), alone(400))

        def z_without(i):
            return np.arctanh(np.corrcoef(np.delete(A[:, 0], i), np.delete(B[:, 0], i))[0, 1])

        without = np.array([z_without(i) for i in range(400)])
        jackknife = np.sqrt(399 / 400 * np.sum((without - without.mean()) ** 2))
        assert jackknife > 1.2 / np.sqrt(397)
        assert error[0] == pytest.approx(2.2 * jackknife, rel=0.03)

    def test_error_of_copies_is_that_of_their_number_of_groups(self):
        """Of scores with tails, whose error is larger than that of normal ones."""
        rng = np.random.default_rng(2)
        A = rng.laplace(size=(40, 2))
        B = A * rng.choice([0.2, 2.0], (40, 2)) + rng.standard_normal((40, 2))
        _, single = _correlations(A, B, np.zeros(40, dtype=int), alone(40))
        A, B = A.repeat(5, axis=0), B.repeat(5, axis=0)
        groups = Groups.of(np.repeat(np.arange(40), 5), 200)
        _, of_groups = _correlations(A, B, np.zeros(200, dtype=int), groups)
        np.testing.assert_allclose(of_groups, single, rtol=1e-10)
        _, careless = _correlations(A, B, np.zeros(200, dtype=int), alone(200))
        assert (careless < 0.6 * single).all()

    def test_folds_that_disagree_widen_the_interval(self):
        rng = np.random.default_rng(3)
        A = rng.standard_normal((400, 1))
        noise_ = rng.standard_normal((400, 1))
        agreeing, disagreeing = A + noise_, np.where(np.arange(400)[:, None] < 200, 2 * A, noise_ * 2)
        fold_of = np.repeat([0, 1], 200)
        errors = [_correlations(A, B, fold_of, alone(400))[1][0] for B in (agreeing, disagreeing)]
        assert errors[1] > 2 * errors[0]

    def test_error_of_a_mean_over_pairs_of_views(self):
        """That of copies of a pair is the pair's; that of others is the jackknife's, and at most the largest."""
        rng = np.random.default_rng(4)
        shared = rng.standard_normal((300, 1))
        views = [shared + size * rng.laplace(size=(300, 1)) for size in (0.5, 1.0, 2.0)]
        influences = [_fisher(A, B)[1] for A, B in combinations(views, 2)]
        fold_of, groups = np.zeros(300, dtype=int), alone(300)
        errors = [_error(influence, fold_of, groups)[0] for influence in influences]
        mean = _error(np.mean(influences, axis=0), fold_of, groups)[0]
        assert mean <= max(errors)
        assert _error(np.mean([influences[0]] * 3, axis=0), fold_of, groups)[0] == pytest.approx(errors[0], rel=1e-12)

        def z_without(i):
            left = [np.delete(view[:, 0], i) for view in views]
            return np.mean([np.arctanh(np.corrcoef(A, B)[0, 1]) for A, B in combinations(left, 2)])

        without = np.array([z_without(i) for i in range(300)])
        jackknife = np.sqrt(299 / 300 * np.sum((without - without.mean()) ** 2))
        assert mean == pytest.approx(2.2 * max(jackknife, 1 / np.sqrt(297)), rel=0.05)

    def test_scores_that_do_not_vary_have_no_correlation(self):
        z, error = _correlations(np.zeros((20, 1)), np.arange(20.0)[:, None], np.zeros(20, dtype=int), alone(20))
        assert z[0] == 0
        assert error[0] == pytest.approx(2.2 / np.sqrt(17))


class TestFolds:
    @pytest.mark.parametrize(
        ("n", "n_folds", "sizes"),
        [
            (50, None, [5, 5]),
            (99, None, [5, 5]),
            (100, None, [8]),
            (1000, None, [8]),
            (1001, None, [5]),
            (60, 3, [3]),
            (7, 5, [2]),
            (19_999, 5, [5]),
            (20_000, 5, [1]),
        ],
    )
    def test_as_many_as_asked_or_as_time_allows(self, n, n_folds, sizes):
        repeats = _repeats(alone(n), n_folds, np.random.default_rng(0))
        assert [len(folds) for folds in repeats] == sizes
        for folds in repeats if n < 20_000 else []:
            assert sorted(np.concatenate([test for _, test in folds])) == list(range(n))
            assert all(len(train) + len(test) == n for train, test in folds)

    def test_of_many_pairs_one_of_them_and_at_most_as_many_as_make_many(self):
        (((train, test),),) = _repeats(alone(200_000), 5, np.random.default_rng(0))
        assert len(test) == 20_000 == len(np.unique(test))
        assert len(train) == 180_000

    @pytest.mark.parametrize("n_folds", [None, 3])
    def test_no_group_is_on_both_sides(self, n_folds):
        labels = np.random.default_rng(0).integers(0, 12, 90)
        groups = Groups.of(labels, 90)
        for folds in _repeats(groups, n_folds, np.random.default_rng(1)):
            for train, test in folds:
                assert not set(labels[np.asarray(train)]) & set(labels[test])

    def test_few_large_groups_have_ten_folds(self):
        groups = Groups.of(np.repeat(np.arange(12), 10), 120)
        assert [len(folds) for folds in _repeats(groups, None, np.random.default_rng(0))] == [10]

    def test_as_many_folds_as_groups_are_drawn_once(self):
        groups = Groups.of(np.repeat(np.arange(4), 10), 40)
        assert [len(folds) for folds in _repeats(groups, None, np.random.default_rng(0))] == [4]


def leading_pair(views, train, test):
    """Scores by the leading singular vectors of X'Y, learnt from the pairs `train`."""
    train = np.asarray(train)
    X, Y = (view - view[train].mean(axis=0) for view in views.data)
    left, _, right = np.linalg.svd(X[train].T @ Y[train])
    return X[test] @ left[:, :1], Y[test] @ right[:1].T


class TestNoLeak:
    """Means over data sets of independent views, through the whole pipeline: within 4 standard errors of 0, and .03.

    Aligned to the fit to all pairs, the three were +.25, .02 and -.16, in `TestNoLeak.test_is_seen` +.3 and -.3.
    """

    @quietly
    @pytest.mark.parametrize(
        ("n", "p", "n_components", "n_sets"),
        [
            *((40, 10, 3, 25), (100, 20, 3, 15), (40, 120, 2, 20)),
            pytest.param(40, 10, 3, 100, marks=pytest.mark.slow),
            pytest.param(100, 20, 3, 60, marks=pytest.mark.slow),
            pytest.param(40, 120, 2, 40, marks=pytest.mark.slow),
        ],
    )
    def test_of_independent_views(self, n, p, n_components, n_sets):
        models = [SparseCCA(n_components).fit(*noise(seed, n, p, p)) for seed in range(n_sets)]
        claims = np.array([model.held_out_correlations_ for model in models])
        error = claims.std(axis=0) / np.sqrt(n_sets)
        assert (np.abs(claims.mean(axis=0)) < np.minimum(4 * error, 0.03 + 2 * error)).all()
        # intervals have the truth, 0, in at least 95 %: fewer than the binomial's .1 % point would be too few
        inside = [(m.held_out_intervals_[:, 0] < 0) & (m.held_out_intervals_[:, 1] > 0) for m in models]
        assert (np.sum(inside, axis=0) >= binom.ppf(0.001, n_sets, 0.95)).all()
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= sum(model.p_value_ <= 0.05 for model in models) <= high

    @quietly
    @few_or_many(15, 60)
    def test_of_planted_factors(self, n_sets):
        """Claims beside 4,000 new samples: too low by no more than .08 on average, and hardly too high."""
        errors, inside = [], []
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            X, Y = rng.standard_normal((2, 4080, 12))
            for j, r in enumerate((0.85, 0.6)):
                Y[:, j] = r * X[:, j] + np.sqrt(1 - r * r) * Y[:, j]
            model = SparseCCA(2).fit(X[:80], Y[:80])
            A, B = model.transform_pair(X[80:], Y[80:])
            truth = np.array([np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(2)])
            errors.append(model.held_out_correlations_ - truth)
            inside.append((model.held_out_intervals_[:, 0] <= truth) & (truth <= model.held_out_intervals_[:, 1]))
        error, spread = np.mean(errors, axis=0), np.std(errors, axis=0) / np.sqrt(n_sets)
        assert (error > -0.08 - 2 * spread).all()
        assert (error < 0.02 + 2 * spread).all()
        assert (np.sum(inside, axis=0) >= binom.ppf(0.001, n_sets, 0.95)).all()

    def test_folds_know_nothing_of_the_pairs_left_out(self):
        """Of pairs with changed rows, folds that leave these out have the same components: the same scores of others.

        A fold's fit to the pairs `train` is asked to score other pairs, which only its training can have changed.
        """
        X, Y = noise(1, 50, 8, 8)
        model = SparseCCA(3, n_features=None)
        scores = partial(fit.held_out_scores, model._settings(), 3, True, True)
        test = np.arange(10)
        train, seen = np.arange(10, 50), []
        for change in (1.0, -3.0):
            A, B = X.copy(), Y.copy()
            A[test[:5]] *= change
            B[test[:5]] += change
            seen.append(np.array(scores(views_of(A, B), train, test))[:, 5:])
        np.testing.assert_array_equal(seen[0], seen[1])


class TestGroups:
    def test_copies_of_subjects_are_not_evidence(self):
        X, Y, subjects = near_copies(0)
        with pytest.warns(EvidenceWarning, match="100% of the 100 samples have a near copy .* pass groups"):
            careless = SparseCCA(2).fit(X, Y)
        assert careless.held_out_correlations_.min() > 0.8
        assert careless.p_value_ <= 0.05
        with pytest.warns(EvidenceWarning, match="these 100 pairs in 20 groups cannot tell"):
            model = SparseCCA(2).fit(X, Y, groups=subjects)
        assert model.p_value_ > 0.05

    @quietly
    def test_copies_of_subjects_left_out_together_correlate_by_chance(self):
        """The mean of six is within 3 standard errors of 0: a single value of 20 subjects has about 0.35."""
        found = []
        for seed in range(6):
            X, Y, subjects = near_copies(seed)
            found.append(SparseCCA(2).fit(X, Y, groups=subjects).held_out_correlations_)
        np.testing.assert_array_less(np.abs(np.mean(found, axis=0)), 0.43)

    @quietly
    def test_are_labels_of_any_kind(self):
        X, Y, subjects = near_copies(1)
        found = [
            SparseCCA(2).fit(X, Y, groups=labels).held_out_correlations_
            for labels in (subjects, 7 - subjects, [f"subject {s}" for s in subjects], tuple(subjects))
        ]
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)

    @quietly
    def test_groups_of_one_are_none(self):
        X, Y = noise(0)
        one, other = (SparseCCA(2).fit(X, Y, groups=groups) for groups in (None, np.arange(60)[::-1]))
        np.testing.assert_array_equal(one.held_out_correlations_, other.held_out_correlations_)
        assert one.p_value_ == other.p_value_

    @pytest.mark.parametrize(
        ("groups", "message"),
        [
            ([0, 1], "groups must be one label for each of n_samples=60; got 2 labels"),
            (np.zeros((60, 2)), r"got an array of shape \(60, 2\)"),
            (np.zeros(60), "groups must name at least 2 groups, so that one can be left out; got 1"),
            ([None] * 30 + [1] * 30, "some are missing"),
            ([np.nan] * 30 + [1.0] * 30, "some are missing"),
            ([[1]] * 30 + [[2]] * 30, "groups must be"),
        ],
    )
    def test_refused(self, groups, message):
        with pytest.raises(ValueError, match=message):
            SparseCCA(1).fit(*noise(0), groups=groups)

    @quietly
    def test_fifths_of_the_feature_budget_have_whole_groups(self, monkeypatch):
        X, Y, subjects = near_copies(2, p=40)
        fifths = {}
        ranks_of = choose._ranks_of_mates

        def noted(now, given, train, test):
            fifths[tuple(test)] = np.asarray(train)
            return ranks_of(now, given, train, test)

        monkeypatch.setattr(choose, "_ranks_of_mates", noted)
        SparseCCA(2, held_out=0).fit(X, Y, groups=subjects)
        assert sorted(i for test in fifths for i in test) == list(range(100))
        assert [len(test) for test in fifths] == [20] * 5
        for test, train in fifths.items():
            assert len(train) == 80
            assert not set(subjects[train]) & set(subjects[list(test)])

    @quietly
    def test_feature_weights_leave_whole_groups_out(self):
        """Copies predict each other's noise; by groups, most of it has the least weight there is."""
        X, Y, subjects = near_copies(3, 20, 5, 30)
        careless, careful = (
            SparseCCA(1, n_features=None)
            .prepare_views(Views((X, Y), Groups.of(groups, len(X))))
            .views[0]
            .preparation.feature_weights
            for groups in (None, subjects)
        )
        least = 0.02**0.25
        assert np.mean(careful <= least + 1e-12) > 0.5
        assert np.mean(careless <= least + 1e-12) < 0.1

    @quietly
    def test_cross_validation_leaves_whole_groups_out(self, monkeypatch):
        import scca.tuning._cross_validation as module

        X, Y, subjects = near_copies(4)
        seen = []
        kept = module.fits_of_a_fold
        monkeypatch.setattr(
            module,
            "fits_of_a_fold",
            lambda views, measure, task: seen.append(task[0][1]) or kept(views, measure, task),
        )
        SparseCCACV(1, mu_factors=(1,), ridge_factors=(1,), cv=4, held_out=0).fit(X, Y, groups=subjects)
        assert len(seen) == 4
        for trial in seen:
            assert not set(subjects[trial.train]) & set(subjects[trial.test])

    def test_more_folds_than_groups_are_refused(self):
        X, Y, subjects = near_copies(5, 4, 10)
        with pytest.raises(ValueError, match="cv must be at most the number of groups, 4; got 5"):
            SparseCCACV(1, cv=5).fit(X, Y, groups=subjects)


class TestSettings:
    @pytest.mark.parametrize("value", [1, np.int64(1), -1, 2.5, "all", None, True])
    def test_held_out_is_a_number_of_folds_or_auto(self, value):
        """One fold would leave nothing to learn from: it is refused, not taken for two."""
        sentence = r'^held_out must be "auto", 0 or an integer of at least 2; got .*: pass 2 or more folds, .* or 0'
        with pytest.raises(ValueError, match=sentence):
            SparseCCA(1, held_out=value).fit(*noise(0))

    def test_two_folds_are_enough(self):
        assert SparseCCA(1, held_out=2).fit(*noise(0)).n_folds_ == 2

    def test_too_few_pairs_to_leave_any_out_are_nan(self):
        found = held_out_correlations(leading_pair, views_of(*noise(0, n=5)), 2, None, None, random_state(), True)
        assert np.isnan(found.correlations).all()
        assert np.isnan(found.intervals).all()
        assert np.isnan(found.p_value)
        assert found.n_folds == 0

    def test_of_a_single_fold_have_their_level_under_independence(self):
        """Everything that is learnt is learnt from other pairs; within the central 99.9 %."""

        def p_value(seed):
            views = views_of(*noise(seed, n=16, p=3, q=3))
            return held_out_correlations(leading_pair, views, 1, 2, None, np.random.RandomState(seed), True).p_value

        low, high = binom.interval(0.999, 200, 0.05)
        assert low <= sum(p_value(seed) <= 0.05 for seed in range(200)) <= high
