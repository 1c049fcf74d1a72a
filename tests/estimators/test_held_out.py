"""What pairs left out tell: p-values against brute force, their level, and the number of factors."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom

from scca import DataWarning, SparseCCA
from scca.datasets import make_planted
from scca.engine import Pairs
from scca.estimators._held_out import _p_values, count_shared, held_out_correlations

# the factors' strength is that of each separately: below, one of three may be lost in half of the pairs
PLANTED = {"n_active": 8, "strength": 2.0}


def noise(seed, n=60, p=12, q=10):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)), rng.standard_normal((n, q))


def random_state():
    return np.random.RandomState(0)


class Drawn:
    """A generator whose permutations are given."""

    def __init__(self, orders):
        self._orders = iter(orders)

    def permutation(self, n):
        return np.array(next(self._orders))


def association(a, b):
    """A sum of products over its spread where signs are a matter of chance."""
    products = (a - a.mean()) * (b - b.mean())
    return products.sum() / np.sqrt(np.sum(products**2))


def largest_association(A, B, first):
    return max(association(A[:, j], B[:, j]) for j in range(first, A.shape[1]))


class TestPValues:
    @pytest.mark.parametrize("n_components", [1, 3])
    def test_are_counted_by_brute_force(self, n_components):
        rng = np.random.default_rng(n_components)
        A = rng.standard_normal((15, n_components))
        B = 0.5 * A + rng.standard_normal((15, n_components))
        orders = [rng.permutation(15) for _ in range(199)]
        found = _p_values(A, B, Drawn(orders))
        for j in range(n_components):
            statistic = largest_association(A, B, j)
            as_large = sum(largest_association(A, B[order], j) >= statistic for order in orders)
            assert found[j] == (1 + as_large) / 200

    def test_are_those_of_all_permutations(self):
        """Six pairs have 720 of them; 199 drawn ones leave a standard error of at most .036, 4 of which are allowed."""
        rng = np.random.default_rng(6)
        A = rng.standard_normal((6, 2))
        B = rng.standard_normal((6, 2))
        found = _p_values(A, B, np.random.default_rng(0))
        for j in range(2):
            statistic = largest_association(A, B, j)
            everything = [largest_association(A, B[list(order)], j) for order in permutations(range(6))]
            exact = np.mean(np.array(everything) >= statistic - 1e-12)
            assert 0.01 < exact < 0.9
            assert abs(found[j] - exact) <= 1 / 200 + 4 * np.sqrt(exact * (1 - exact) / 199)

    def test_a_component_is_tested_with_those_after_it(self):
        """One that means nothing before one that does: neither is chance; after it, all is."""
        rng = np.random.default_rng(1)
        A, B = rng.standard_normal((2, 40, 3))
        B[:, 1] = A[:, 1]
        p = _p_values(A, B, np.random.default_rng(0))
        assert p[0] == p[1] == 1 / 200
        assert p[2] > 0.05

    def test_no_more_columns_are_looked_at_than_asked(self):
        rng = np.random.default_rng(2)
        A, B = rng.standard_normal((2, 40, 5))
        B[:, 3] = A[:, 3]
        p = _p_values(A, B, np.random.default_rng(0), 2)
        assert p[2] == p[3] == 1 / 200
        assert min(p[0], p[1], p[4]) > 0.05

    def test_a_score_that_does_not_vary_is_chance(self):
        p = _p_values(np.ones((8, 2)), np.arange(16.0).reshape(8, 2), np.random.default_rng(0))
        assert (p == 1).all()

    def test_have_their_level_under_independence(self):
        """Of 400 p-values at most .05 with probability .05 each; the number lies in the central 99.9 % of binomials."""
        small = 0
        for seed in range(400):
            rng = np.random.default_rng(seed)
            A, B = rng.standard_normal((2, 10, 2))
            small += _p_values(A, B, rng)[0] <= 0.05
        low, high = binom.interval(0.999, 400, 0.05)
        assert low <= small <= high

    def test_of_a_fit_have_their_level_under_independence(self):
        """Everything that is learnt is learnt from the other half; again within the central 99.9 %."""

        def p_value(seed):
            pairs = Pairs(*noise(seed, n=16, p=3, q=3), ())
            return held_out_correlations(leading_pair, pairs, 1, 2, None, np.random.RandomState(seed)).p_value

        low, high = binom.interval(0.999, 200, 0.05)
        assert low <= sum(p_value(seed) <= 0.05 for seed in range(200)) <= high


def leading_pair(pairs, train, test):
    """Scores by the leading singular vectors of X'Y, learnt from the pairs `train`."""
    X, Y = (view - view[train].mean(axis=0) for view in (pairs.X, pairs.Y))
    left, _, right = np.linalg.svd(X[train].T @ Y[train])
    return X[test] @ left[:, :1], Y[test] @ right[:1].T


class TestCountShared:
    def scores(self, correlated):
        """Components of which these, by number, agree in both views, whatever is left out."""
        rng = np.random.default_rng(5)
        A, B = rng.standard_normal((2, 60, 5))
        B[:, correlated] = A[:, correlated] + 0.3 * rng.standard_normal((60, len(correlated)))
        return lambda pairs, train, test: (A[test], B[test])

    @pytest.mark.parametrize(
        ("correlated", "count"), [([0], 1), ([0, 1, 2], 3), ([0, 2], 3), ([0, 1, 2, 3, 4], 5), ([3], 4), ([], 1)]
    )
    def test_those_before_the_first_after_which_all_is_chance(self, correlated, count):
        pairs = Pairs(*noise(0), ())
        assert count_shared(self.scores(correlated), pairs, random_state()) == count

    def test_learns_from_one_half_and_counts_on_the_other(self):
        halves = []

        def scores(pairs, train, test):
            halves.append((train, test))
            return pairs.X[test][:, :2], pairs.Y[test][:, :2]

        count_shared(scores, Pairs(*noise(0), ()), random_state())
        ((train, test),) = halves
        assert len(train) == len(test) == 30
        assert sorted([*np.asarray(train), *test]) == list(range(60))

    @pytest.mark.parametrize("n", [2, 5])
    def test_too_few_pairs_to_leave_any_out_have_one(self, n):
        pairs = Pairs(*(view[:n] for view in noise(0)), ())
        assert count_shared(None, pairs, random_state()) == 1  # scores, which is no function, is not asked


class TestAuto:
    @staticmethod
    def counts(n_factors, n_seeds, **settings):
        made = (make_planted(300, 40, 30, n_factors=n_factors, random_state=s, **PLANTED) for s in range(n_seeds))
        return np.array([SparseCCA("auto", held_out=0, **settings).fit(*m.views).n_components_ for m in made])

    @pytest.mark.parametrize("n_factors", [1, 3])
    def test_the_planted_number_is_found(self, n_factors):
        """Never fewer; more in 1 of 20, as the level has it: no more of 20 than the binomial's 99.9 % point.

        Of 700 other data sets with three factors 44 had more, and of 400 whose samples are not scaled 16.
        """
        found = self.counts(n_factors, 20)
        assert found.min() == n_factors
        assert np.sum(found > n_factors) <= binom.ppf(0.999, 20, 0.05)

    def test_as_often_where_samples_are_not_scaled(self):
        """The ridge is beside samples of a squared norm of about 100."""
        found = self.counts(3, 40, normalize=False, ridge=30.0)
        assert found.min() == 3
        assert np.sum(found > 3) <= binom.ppf(0.999, 40, 0.05)

    def test_is_a_fit_to_that_number(self):
        X, Y = make_planted(200, 40, 30, n_factors=3, random_state=0, **PLANTED).views
        model = SparseCCA("auto", held_out=3).fit(X, Y)
        fixed = SparseCCA(model.n_components_, held_out=3).fit(X, Y)
        assert model.x_weights_.tobytes() == fixed.x_weights_.tobytes()
        assert model.held_out_correlations_.tobytes() == fixed.held_out_correlations_.tobytes()
        assert model.n_components == "auto"

    def test_how_weights_are_rendered_does_not_change_the_number(self):
        X, Y = make_planted(200, 40, 30, n_factors=3, random_state=1, **PLANTED).views
        settings = ({}, {"rendering": "dense"}, {"mu": "auto*5"}, {"representation": "primal-dual"})
        assert {SparseCCA("auto", held_out=0, **given).fit(X, Y).n_components_ for given in settings} == {3}

    def test_a_kernel_that_is_not_linear(self):
        X, Y = make_planted(200, 30, 20, n_factors=1, random_state=0, **PLANTED).views
        K = Y @ Y.T
        found = SparseCCA("auto", kernel="precomputed", held_out=0, feature_weights=None).fit(X, K)
        assert found.n_components_ == 1
        assert found.transform_y(K).shape == (200, 1)

    @pytest.mark.parametrize("seed", [0, 1])
    def test_independent_views_have_one_and_a_warning(self, seed):
        with pytest.warns(DataWarning, match="the pairs share no more than chance: .* p-value of 0"):
            model = SparseCCA("auto").fit(*noise(seed))
        assert model.n_components_ == 1
        assert model.p_value_ > 0.05

    def test_no_more_than_there_can_be(self):
        """Two views of two features that share both."""
        X = np.random.default_rng(0).standard_normal((100, 2))
        model = SparseCCA("auto", held_out=0, normalize=False, ridge=1e-3).fit(X, X @ [[1, 1], [-1, 1]])
        assert model.n_components_ == 2

    @pytest.mark.parametrize("n", [2, 4])
    def test_few_pairs(self, n):
        X, Y = (view[:n] for view in noise(0))
        assert SparseCCA("auto").fit(X, Y).n_components_ == 1

    @pytest.mark.parametrize("value", ["all", "Auto", b"auto", ["auto"]])
    def test_no_other_word(self, value):
        with pytest.raises(ValueError, match="n_components must be an integer of at least 1; got"):
            SparseCCA(value).fit(*noise(0))
