"""Whether views share anything: the test against permuted pairs, near copies, the verdict, the count."""

from itertools import permutations

import numpy as np
import pytest
from independent import PLANTED, alone, near_copies, noise, random_state, views_of
from repeats import few_or_many
from scipy.stats import binom

from scca import DataWarning, EvidenceWarning, Kernel, SparseCCA
from scca.datasets import make_planted
from scca.factors import chance, constants, fit, prepare
from scca.factors.chance import Sharing, associations, p_values, refitted_test, verdict, window_strengths
from scca.samples import Groups


class Drawn(Groups):
    """Groups whose orders are given."""

    def orders(self, count, rng):
        return iter(self.given)


def drawn(orders):
    groups = Drawn(None, len(orders[0]))
    object.__setattr__(groups, "given", orders)
    return groups


def association(a, b):
    """A sum of products over its spread where signs are a matter of chance."""
    products = (a - a.mean()) * (b - b.mean())
    return products.sum() / np.sqrt(np.sum(products**2))


def strength(A, B, first, width=5):
    """The sum of squares of the positive associations of so many columns."""
    last = min(first + width, A.shape[1])
    return sum(max(association(A[:, j], B[:, j]), 0.0) ** 2 for j in range(first, last))


class TestPValues:
    @pytest.mark.parametrize("n_components", [1, 3, 8])
    def test_are_counted_by_brute_force(self, n_components):
        rng = np.random.default_rng(n_components)
        A = rng.standard_normal((15, n_components))
        B = 0.5 * A + rng.standard_normal((15, n_components))
        orders = [rng.permutation(15) for _ in range(199)]
        found = p_values([A, B], drawn(orders), rng)
        for j in range(n_components):
            as_large = sum(strength(A, B[order], j) >= strength(A, B, j) - 1e-12 for order in orders)
            assert found[j] == (1 + as_large) / 200

    def test_are_those_of_all_permutations(self):
        """Six pairs have 720 of them; 199 drawn ones leave a standard error of at most .036, 4 of which are allowed."""
        rng = np.random.default_rng(6)
        A, B = rng.standard_normal((2, 6, 2))
        found = p_values([A, B], alone(6), np.random.default_rng(0))
        for j in range(2):
            everything = [strength(A, B[list(order)], j) for order in permutations(range(6))]
            exact = np.mean(np.array(everything) >= strength(A, B, j) - 1e-12)
            assert 0.01 < exact < 0.99
            assert abs(found[j] - exact) <= 1 / 200 + 4 * np.sqrt(exact * (1 - exact) / 199)

    def test_a_component_is_tested_with_the_next_four(self):
        """One that means nothing before one that does: neither is chance; after it, and long before it, all is."""
        rng = np.random.default_rng(1)
        A, B = rng.standard_normal((2, 40, 9))
        B[:, 6] = A[:, 6]
        p = p_values([A, B], alone(40), np.random.default_rng(0))
        assert (p[2:7] <= 2 / 200).all()
        assert min(p[0], p[1], p[7], p[8]) > 0.05

    def test_a_score_that_does_not_vary_is_chance(self):
        p = p_values([np.ones((8, 2)), np.arange(16.0).reshape(8, 2)], alone(8), np.random.default_rng(0))
        assert (p == 1).all()

    @few_or_many(100, 400)
    def test_have_their_level_under_independence(self, n_sets):
        """p-values are at most .05 with probability .05 each; the number lies in the central 99.9 % of binomials."""
        small = 0
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            A, B = rng.standard_normal((2, 10, 2))
            small += p_values([A, B], alone(10), rng)[0] <= 0.05
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= small <= high


class Rows:
    """A view whose features are whitened already; enough of one for the test."""

    def __init__(self, data):
        self.data, self.shape, self.unit = data, data.shape, 1.0

    def square_norms(self):
        return np.sum(self.data**2, axis=0)

    def columns(self, chosen):
        return self.data[:, chosen]


def whitened_test(monkeypatch, X, Y, groups, seed=0):
    monkeypatch.setattr(chance, "_whitened", lambda view, ridge: view.data - view.data.mean(axis=0))
    return refitted_test([Rows(X), Rows(Y)], [0.25, 0.25], groups, np.random.RandomState(seed))


class TestRefittedTest:
    def test_is_that_of_factors_found_by_singular_value_decompositions(self, monkeypatch):
        """With as many features as factors, the iteration is exact: fold by fold, order by order."""
        monkeypatch.setattr(chance, "_DEPENDENT", 1e-12)  # here in double precision
        rng = np.random.default_rng(0)
        X, Y = rng.standard_normal((2, 30, 3))
        Y[:, 0] += X[:, 0]
        found = whitened_test(monkeypatch, X, Y, alone(30))
        draws = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
        partitions = [alone(30).parts(5, draws) for _ in found.partitions]
        for one, other in zip(found.partitions, partitions, strict=True):
            assert all(np.array_equal(*parts) for parts in zip(one, other, strict=True))
        orders = [np.arange(30), *alone(30).orders(199, draws)]
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)

        def strength_of(order):
            return window_strengths(np.mean([self.associations(X, Y[order], parts) for parts in partitions], axis=0))[0]

        strengths = np.array([strength_of(order) for order in orders])
        np.testing.assert_allclose(found.null, strengths[1:], rtol=1e-4)
        pairs_of_features = np.array([self.largest_of_features(X, Y[order]) for order in orders])
        assert found.p_value == self.best_rank(strengths, strengths, pairs_of_features)

    @staticmethod
    def associations(X, Y, parts):
        A, B = np.empty((2, *X.shape))
        for left_out in parts:
            train = np.setdiff1d(np.arange(len(X)), left_out)
            U, _, V = np.linalg.svd(X[train].T @ Y[train])
            A[left_out], B[left_out] = X[left_out] @ U, Y[left_out] @ V.T
        return associations(A, B, alone(len(X)))

    @staticmethod
    def largest_of_features(X, Y):
        return max(abs(association(x, y)) for x in X.T for y in Y.T)

    @staticmethod
    def best_rank(*statistics):
        """How many orders have, by one of the statistics, a rank as good as the best of the first order's."""
        ranks = np.min([[np.sum(values >= value) for value in values] for values in statistics], axis=0)
        return np.mean(ranks <= ranks[0])

    @few_or_many(50, 200)
    def test_has_its_level_under_independence(self, monkeypatch, n_sets):
        """Within the central 99.9 %."""
        p = [whitened_test(monkeypatch, *noise(seed, 20, 4, 4), alone(20), seed).p_value for seed in range(n_sets)]
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= np.sum(np.array(p) <= 0.05) <= high

    @few_or_many(20, 60)
    def test_whole_groups_change_places(self, monkeypatch, n_sets):
        """Independent subjects, whose copies alone agree: at level by groups, and never without."""
        p, p_alone = [], []
        for seed in range(n_sets):
            X, Y, subjects = near_copies(seed, 12, 3, 4)
            p.append(whitened_test(monkeypatch, X, Y, Groups.of(subjects, len(X)), seed).p_value)
            p_alone.append(whitened_test(monkeypatch, X, Y, alone(len(X)), seed).p_value)
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= np.sum(np.array(p) <= 0.05) <= high
        assert np.sum(np.array(p_alone) <= 0.05) > n_sets / 2

    def test_does_not_depend_on_the_units_of_a_view(self, monkeypatch):
        """In single precision."""
        X, Y = noise(3, 40, 6, 5)
        one, other = (whitened_test(monkeypatch, X * f, Y / f, alone(40)) for f in (1.0, 1e3))
        np.testing.assert_allclose(one.null, other.null, rtol=1e-2, atol=1e-3)
        assert one.p_value == other.p_value

    def test_a_kernel_that_does_not_vary_shares_nothing(self):
        X = np.random.default_rng(0).standard_normal((20, 5))
        with pytest.raises(ValueError, match="nothing in common"):
            SparseCCA(1, kernel="precomputed").fit(X, np.zeros((20, 20)))

    @pytest.mark.parametrize(("n", "rank"), [(5, 2), (20_000, 2), (4000, 3000)])
    def test_is_left_to_the_folds_for_too_few_or_too_many_pairs(self, n, rank):
        assert refitted_test([Rows(np.empty((n, rank)))] * 2, [0.25] * 2, alone(n), random_state()) is None

    @pytest.mark.parametrize(
        ("n", "rank", "folds", "partitions"), [(60, 15, 5, 2), (300, 300, 5, 1), (1000, 1000, 2, 1), (2000, 2000, 2, 1)]
    )
    def test_takes_fewer_fits_where_each_takes_longer(self, n, rank, folds, partitions):
        assert chance._effort(alone(n), [rank, rank]) == (folds, partitions)

    def test_groups_that_are_left_out_one_by_one_have_one_partition(self):
        assert chance._effort(Groups.of(np.repeat([0, 1, 2, 3], 10), 40), [5, 5]) == (4, 1)


class TestNearCopies:
    def test_few_of_them_are_not_named(self, recwarn):
        X, Y = make_planted(80, 20, 20, random_state=0, **PLANTED).views
        X[40:44], Y[40:44] = X[:4], Y[:4]
        assert SparseCCA(2).fit(X, Y).p_value_ <= 0.05
        assert not [w for w in recwarn if "near copy" in str(w.message)]

    def test_some_of_them_that_change_nothing_are_not_named(self, recwarn):
        """As sentences that are repeated in a corpus of true pairs."""
        X, Y = make_planted(80, 20, 20, random_state=0, **PLANTED).views
        X[60:], Y[60:] = X[:20], Y[:20]
        assert SparseCCA(2).fit(X, Y).p_value_ <= 0.05
        assert not [w for w in recwarn if "near copy" in str(w.message)]

    def test_some_of_them_that_are_all_there_is_are_named(self):
        X, Y = noise(0, 80, 15, 15)
        X[60:], Y[60:] = X[:20], Y[:20]
        X[40:60], Y[40:60] = X[:20], Y[:20]
        with pytest.warns(EvidenceWarning, match="near copy .* no longer share more than chance"):
            SparseCCA(2).fit(X, Y)

    def test_samples_of_few_features_are_alike_without_being_copies(self, recwarn):
        X = np.random.default_rng(0).standard_normal((80, 2))
        SparseCCA(1, scale=None).fit(X, X + 0.1 * np.random.default_rng(1).standard_normal((80, 2)))
        assert not [w for w in recwarn if "near copy" in str(w.message)]


class TestVerdict:
    def test_what_follows_from_the_p_value(self):
        assert "more than chance" in verdict(0.005, alone(30))
        assert "no more" not in verdict(0.005, alone(30))
        few, many = (verdict(0.4, alone(n)) for n in (60, 300))
        assert few.startswith("these 60 pairs cannot tell whether they share more than chance")
        assert "(p = 0.4)" in few
        assert "check" not in few
        assert many.startswith("the pairs share no more than chance, as far as 300 pairs can tell")
        assert "check that both sides of each pair belong together" in many
        assert "at least 6" in verdict(np.nan, alone(4))

    def test_groups_of_unequal_size_may_leave_too_few_orders(self):
        groups = Groups.of(np.repeat(np.arange(4), [10, 10, 20, 30]), 70)
        said = verdict(0.5, groups)
        assert "in 2 orders, and a p-value of 0.05 needs 20" in said

    @pytest.mark.parametrize("seed", [0, 1])
    def test_independent_views_have_one_component_and_a_warning(self, seed):
        with pytest.warns(DataWarning, match="these 60 pairs cannot tell"):
            model = SparseCCA("auto").fit(*noise(seed))
        assert model.n_components_ == 1
        assert model.p_value_ > 0.05
        assert "these 60 pairs" in model.verdict_

    def test_shuffled_pairs_share_no_more_than_chance(self):
        X, Y = make_planted(150, 40, 30, n_factors=3, random_state=0, **PLANTED).views
        assert SparseCCA(2).fit(X, Y).verdict_.startswith("the pairs share more than chance")
        with pytest.warns(DataWarning, match="the pairs share no more than chance"):
            SparseCCA(2).fit(X, np.random.default_rng(0).permutation(Y))

    def test_true_pairs_have_the_same_verdict_for_every_seed(self):
        X, Y = make_planted(24, 40, 30, n_factors=2, random_state=0, **PLANTED).views
        assert all(SparseCCA(1, random_state=seed).fit(X, Y).p_value_ <= 0.05 for seed in range(10))


class TestCount:
    @staticmethod
    def count(monkeypatch, scores, views, sharing=None):
        """How many factors have these scores, a function of the views and of which samples are left out of them."""
        monkeypatch.setattr(fit, "held_out_scores", lambda settings, n, rotated, in_units, *given: scores(*given))
        monkeypatch.setattr(constants, "MOST_WORK", 0)  # no test of its own
        settings = SparseCCA("auto")._settings()
        return fit._count(prepare(views, settings.reading), settings, sharing)

    def scores(self, correlated):
        """Components of which these, by number, agree in both views, whatever is left out."""
        rng = np.random.default_rng(5)
        A, B = rng.standard_normal((2, 60, 8))
        B *= -np.sign(associations(A, B, alone(60)))  # no others hold, not even by chance
        B[:, correlated] = A[:, correlated] + 0.3 * rng.standard_normal((60, len(correlated)))
        return lambda views, train, test: [A[test], B[test]]

    @pytest.mark.parametrize("refitted", [True, False])
    @pytest.mark.parametrize(
        ("correlated", "count"), [([0], 1), ([0, 1, 2], 3), ([0, 2], 3), ([0, 1, 2, 3, 4], 5), ([3], 4), ([], 1)]
    )
    def test_those_before_the_first_after_which_all_is_chance(self, monkeypatch, correlated, count, refitted):
        # what five independent associations of chance have, each with a variance of 1
        null = window_strengths(np.random.default_rng(0).standard_normal((199, 5)))[:, 0]
        sharing = Sharing(0.005, null, [alone(60).parts(5, np.random.default_rng(0))]) if refitted else None
        assert self.count(monkeypatch, self.scores(correlated), views_of(*noise(0)), sharing) == count

    def test_without_refits_learns_from_one_half_and_counts_on_the_other(self, monkeypatch):
        halves = []

        def scores(views, train, test):
            halves.append((train, test))
            return [data[test][:, :2] for data in views.data]

        self.count(monkeypatch, scores, views_of(*noise(0)))
        ((train, test),) = halves
        assert len(train) == len(test) == 30
        assert sorted([*np.asarray(train), *test]) == list(range(60))

    @pytest.mark.parametrize("n", [2, 5])
    def test_too_few_pairs_to_leave_any_out_have_one(self, monkeypatch, n):
        # scores, which is no function, is not asked
        assert self.count(monkeypatch, None, views_of(*(view[:n] for view in noise(0)))) == 1


class TestAuto:
    @staticmethod
    def counts(n_factors, n_seeds, n=300, **settings):
        made = (make_planted(n, 40, 30, n_factors=n_factors, random_state=s, **PLANTED) for s in range(n_seeds))
        return np.array([SparseCCA("auto", held_out=0, **settings).fit(*m.views).n_components_ for m in made])

    @few_or_many(5, 20)
    @pytest.mark.parametrize(("n_factors", "n"), [(1, 300), (3, 300), (3, 60)])
    def test_the_planted_number_is_found(self, n_factors, n, n_sets):
        """Never fewer; more in 1 of 12: no more than the binomial's 99.9 % point."""
        found = self.counts(n_factors, n_sets, n)
        assert found.min() == n_factors
        assert np.sum(found > n_factors) <= binom.ppf(0.999, n_sets, 1 / 12)

    @few_or_many(10, 40)
    def test_as_often_where_samples_are_not_scaled(self, n_sets):
        """The ridge is beside samples of a squared norm of about 100."""
        found = self.counts(3, n_sets, scale=None, ridge=30.0)
        assert found.min() == 3
        assert np.sum(found > 3) <= binom.ppf(0.999, n_sets, 1 / 12)

    def test_is_a_fit_to_that_number(self):
        X, Y = make_planted(200, 40, 30, n_factors=3, random_state=0, **PLANTED).views
        model = SparseCCA("auto", held_out=3).fit(X, Y)
        fixed = SparseCCA(model.n_components_, held_out=3).fit(X, Y)
        assert model.x_weights_.tobytes() == fixed.x_weights_.tobytes()
        assert model.held_out_correlations_.tobytes() == fixed.held_out_correlations_.tobytes()
        assert model.n_components == "auto"

    def test_how_weights_are_rendered_does_not_change_the_number(self):
        X, Y = make_planted(200, 40, 30, n_factors=3, random_state=1, **PLANTED).views
        on_samples = {"kernel": Kernel("polynomial", degree=1, coef0=0, gamma=1)}  # which is linear
        settings = ({}, {"rendering": "dense"}, {"mu": "auto*5"}, on_samples)
        assert {SparseCCA("auto", held_out=0, **given).fit(X, Y).n_components_ for given in settings} == {3}

    def test_a_kernel_that_is_not_linear(self):
        X, Y = make_planted(200, 30, 20, n_factors=1, random_state=0, **PLANTED).views
        K = Y @ Y.T
        found = SparseCCA("auto", kernel="precomputed", held_out=0, feature_weights=None).fit(X, K)
        assert found.n_components_ == 1
        assert found.transform_y(K).shape == (200, 1)

    def test_no_more_than_there_can_be(self):
        """Two views of two features that share both."""
        X = np.random.default_rng(0).standard_normal((100, 2))
        model = SparseCCA("auto", held_out=0, scale=None, ridge=1e-3).fit(X, X @ [[1, 1], [-1, 1]])
        assert model.n_components_ == 2

    @pytest.mark.parametrize("n", [2, 4])
    def test_few_pairs(self, n):
        X, Y = (view[:n] for view in noise(0))
        assert SparseCCA("auto").fit(X, Y).n_components_ == 1

    @pytest.mark.parametrize("value", ["all", "Auto", b"auto", ["auto"]])
    def test_no_other_word(self, value):
        with pytest.raises(ValueError, match="n_components must be an integer of at least 1; got"):
            SparseCCA(value).fit(*noise(0))
