"""Choosing features for all factors together, and what fewer of them cost on samples that the choice did not see."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import in_blocks
from made_words import made_words
from oracles import prepare as by_hand
from oracles import shared_problem

from scca import Kernel, SparseCCA
from scca.factors import choose, find
from scca.factors.choose import Choice, Round, features_left, fewer_features, n_rounds, nested_features
from scca.factors.prepare import Reading, prepare
from scca.samples import Groups, Views

RIDGE = 0.25
STORES = {"dense": np.asarray, "sparse": sp.csr_array}
stored = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


def ridge_of(view):
    return RIDGE * view.unit


def views_of(*data, groups=None):
    return Views(tuple(data), Groups.of(groups, data[0].shape[0]))


def prepared(*data, weighted=False, scale="rows", groups=None):
    count = len(data)
    reading = Reading((None,) * count, (scale,) * count, weighted=weighted, meaningless=(False,) * count)
    return prepare(views_of(*data, groups=groups), reading)


def choice_of(n_components=3, n_views=2):
    return Choice(n_components, ridge_of, (True,) * n_views)


def chosen(data, sizes, n_components=3, **reading):
    """The features that a round keeps of all."""
    now = Round(prepared(*data, **reading), choice_of(n_components, len(data)))
    return [features.tolist() for features in now.fewer(sizes).prepared.kept]


@pytest.fixture
def data(rng):
    """Two views of 40 samples with three factors; no two features have the same size."""
    shared = rng.standard_normal((40, 3))
    return [
        (shared @ rng.standard_normal((3, m)) + rng.standard_normal((40, m))) * rng.uniform(0.3, 3.0, m)
        for m in (20, 15)
    ]


class TestRound:
    @stored
    @pytest.mark.parametrize("scale", ["rows", None])
    def test_keeps_the_features_with_the_largest_part_in_the_scores(self, data, store, scale):
        """||W_i|| ||a_i||, with W of plain ridge regressions on factors of a generalised eigenproblem."""
        A = [by_hand(view, scale=scale) for view in data]
        units = [np.mean(np.sum(each**2, axis=1)) for each in A]
        values, pooled = shared_problem(A, [RIDGE * unit for unit in units], 3)
        Q, R = np.linalg.qr(pooled)
        T = Q * np.sign(np.diag(R)) * values
        found = chosen([store(view) for view in data], [7, 4], scale=scale)
        for view, unit, size, features in zip(A, units, (7, 4), found, strict=True):
            ridge = RIDGE * unit * 0.25 * np.sqrt(40)  # that of weights on all features that are read
            W = np.linalg.solve(view.T @ view + ridge * np.eye(view.shape[1]), view.T @ T)
            parts = np.linalg.norm(W, axis=1) * np.linalg.norm(view, axis=0)
            assert features == sorted(np.argsort(-parts)[:size])

    def test_multiplies_the_part_by_what_is_predicted_of_a_feature_of_few_samples(self, data):
        """By exp(300 R^2 / c^2 min(1, 100 / n)^2): of one factor R^2 alone decides, of twenty the parts do."""
        now = prepared(*data, weighted=True)
        for n_components, power in ((1, 300.0), (3, 300.0 / 9)):
            round_ = Round(now, choice_of(n_components))
            kept = round_.fewer([6, 6]).prepared.kept
            for view, explained, features in zip(now.views, now.explained, kept, strict=True):
                A = view.columns(np.arange(view.shape[1]))
                ridge = ridge_of(view) * 0.25 * np.sqrt(40)
                W = np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ round_.scores)
                parts = np.log(np.linalg.norm(W, axis=1) * np.linalg.norm(A, axis=0))
                assert features.tolist() == sorted(np.argsort(-(parts + power * explained))[:6])
                if n_components == 1:
                    assert features.tolist() == sorted(np.argsort(-explained)[:6])

    @pytest.mark.parametrize(("n", "n_components", "weakness"), [(40, 1, 1), (200, 1, 1 / 4), (40, 5, 1 / 25)])
    def test_weakness_decides_how_many_are_left_too(self, n, n_components, weakness):
        assert choose.weakness(n_components, n) == pytest.approx(weakness)
        assert features_left(n_components, n) == pytest.approx(0.6 + 0.2 * weakness)

    def test_does_not_depend_on_the_rotation_of_the_factors(self, data, rng, monkeypatch):
        expected = chosen(data, [7, 4])
        Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        scores = Round.scores.fget
        monkeypatch.setattr(Round, "scores", property(lambda now: scores(now) @ Q))
        assert chosen(data, [7, 4]) == expected
        monkeypatch.setattr(Round, "scores", property(lambda now: scores(now) * [1.0, 0.0, 0.0]))
        assert chosen(data, [7, 4]) != expected  # what is no rotation changes the choice

    @pytest.mark.parametrize("weighted", [False, True])
    def test_does_not_depend_on_storage_order_or_the_unit_of_a_view(self, data, rng, weighted):
        plain = chosen(data, [7, 4], weighted=weighted)
        assert chosen([sp.csr_array(view) for view in data], [7, 4], weighted=weighted) == plain
        order = rng.permutation(40)
        assert chosen([view[order] for view in data], [7, 4], weighted=weighted) == plain
        columns = [rng.permutation(view.shape[1]) for view in data]
        shuffled = chosen([view[:, c] for view, c in zip(data, columns, strict=True)], [7, 4], weighted=weighted)
        assert [sorted(c[features].tolist()) for c, features in zip(columns, shuffled, strict=True)] == plain
        for scale in ("rows", None):
            one, other = (
                chosen([data[0] * unit, data[1]], [7, 4], weighted=weighted, scale=scale) for unit in (1.0, 1e3)
            )
            assert one == other

    @stored
    def test_of_equal_features_the_first_are_kept(self, data, store):
        """Small whole numbers, of which sums are the same in any order: each column stands there three times."""
        tripled = [store(np.tile(np.round(2 * view), 3)) for view in data]
        for features, m in zip(chosen(tripled, [7, 4]), (20, 15), strict=True):
            for i in features:
                assert i < m or i - m in features

    def test_keeps_nothing_that_does_not_vary(self, data):
        """Where columns are scaled, constant ones are never counted; elsewhere they are the first to go."""
        data[0][:, [0, 5]] = 3.0
        others = sorted(set(range(20)) - {0, 5})
        assert choice_of().sizes(prepared(*data, scale="both"), 1.0) == [18, 15]
        for scale in ("both", "rows"):
            assert chosen(data, [18, 15], scale=scale) == [others, list(range(15))]

    def test_views_that_share_nothing_are_left_as_they_are(self):
        X = np.tile(np.eye(2), (5, 3))
        now = prepared(X, np.ones((10, 4)))
        assert fewer_features(now, 2, choice_of(1)) is now


class TestRounds:
    @pytest.mark.parametrize("n_features", [1, 4, 19, 0.1, 0.37, 0.97])
    @pytest.mark.parametrize("n_components", [1, 3])
    def test_end_at_the_number_asked_for(self, data, n_features, n_components):
        now, choice = prepared(*data), choice_of(n_components)
        if isinstance(n_features, int):
            expected = [min(n_features, m) for m in (20, 15)]
        else:  # a feature per component at least
            expected = [max(round(n_features * m), n_components) for m in (20, 15)]
        assert choice.sizes(now, n_features) == expected
        rounds = [[20, 15], *choice.rounds(now, n_features)]
        assert rounds[-1] == expected
        assert all(n <= m for before, after in pairwise(rounds) for m, n in zip(before, after, strict=True))
        assert [len(features) for features in fewer_features(now, n_features, choice).kept] == expected

    @pytest.mark.parametrize(("n_components", "left"), [(1, 0.8), (20, 0.6005)])
    def test_keep_about_the_same_share_each(self, n_components, left, rng):
        """Not a small last round after larger ones: all are a little smaller than `features_left` allows."""
        now = prepared(rng.standard_normal((30, 1000)), rng.standard_normal((30, 500)))
        rounds = [[1000, 500], *choice_of(n_components).rounds(now, 0.15)]
        shares = np.array([[n / m for m, n in zip(before, after, strict=True)] for before, after in pairwise(rounds)])
        assert len(shares) == n_rounds(0.15, n_components, 30)
        assert np.ptp(shares) < 0.01
        assert left - 0.01 < shares.mean() < left + 0.05

    def test_each_keeps_some_of_those_before(self, data):
        now = Round(prepared(*data), choice_of())
        for sizes in ([15, 11], [9, 9], [5, 3]):
            after = now.fewer(sizes)
            if now.prepared.kept[0] is not None:
                for few, many in zip(after.prepared.kept, now.prepared.kept, strict=True):
                    assert set(few) < set(many)
            now = after
        assert [len(features) for features in now.prepared.kept] == [5, 3]

    def test_a_view_that_is_not_chosen_from_is_read_whole(self, data):
        choice = Choice(3, ridge_of, (True, False))
        found = fewer_features(prepared(*data), 6, choice)
        assert (len(found.kept[0]), found.kept[1]) == (6, None)
        assert found.n_read == [6, 15]

    def test_nested_features_of_the_share_that_a_fit_reads_are_those_of_the_fit(self, data):
        now, choice, wanted = prepared(*data), choice_of(), 0.3
        count = n_rounds(wanted, 3, 40)
        shares = [*np.geomspace(1.0, wanted, count + 1).tolist(), 0.1]
        path = list(nested_features(now, shares, choice, through=wanted))
        for found, expected in zip(path[count].kept, fewer_features(now, wanted, choice).kept, strict=True):
            np.testing.assert_array_equal(found, expected)
        assert path[0].kept == (None, None)
        assert [len(features) for features in path[-1].kept] == choice.sizes(now, 0.1)

    @pytest.mark.parametrize("n_features", [990, 0.99])
    def test_there_is_one_for_a_few_features_less(self, rng, n_features):
        now = prepared(rng.standard_normal((30, 1000)), rng.standard_normal((30, 1000)))
        assert [len(features) for features in fewer_features(now, n_features, choice_of()).kept] == [990, 990]

    def test_there_is_none_for_all_features(self, data):
        assert choice_of().rounds(prepared(*data), 1.0) == []
        assert fewer_features(prepared(*data), 20, choice_of()).kept == (None, None)


class TestPartsLeftOut:
    @pytest.mark.parametrize("n", [16, 17, 99, 1000, 1245, 1250, 1700, 3000, 4995, 5001, 20_000])
    def test_are_disjoint_and_of_the_same_size(self, n):
        parts = choose._parts_left_out(Groups.of(None, n))
        everything = np.concatenate(parts)
        assert len(np.unique(everything)) == len(everything)
        assert np.ptp([len(part) for part in parts]) <= 1
        # all samples up to 1,000; beyond, fifths that are about 1,000 together: one more would be enough without
        if n <= 1000:
            assert len(everything) == n
        else:
            assert 1000 <= len(everything) < 1000 + n / 5 + 1
            assert len(everything) == 1000 or len(parts) > 1

    @pytest.mark.parametrize("n", [16, 100, 1000, 1001, 1249, 3000, 9999])
    def test_are_nearly_the_same_for_one_sample_more(self, n):
        """The samples that change their part are fewer than the four that the last run of five may change."""
        both = [choose._parts_left_out(Groups.of(None, each)) for each in (n, n + 1)]
        if len(both[0]) == len(both[1]) > 1:
            changed = [set(few) ^ set(many) for few, many in zip(*both, strict=True)]
            assert sum(map(len, changed)) <= 1
        else:  # a single part is evenly spaced samples of a fifth, of which all move a little
            assert min(map(len, both)) == 1

    @pytest.mark.parametrize("n_groups", [2, 4, 5, 13, 90])
    def test_keep_groups_whole(self, n_groups):
        labels = np.random.default_rng(0).integers(0, n_groups, 120)
        parts = choose._parts_left_out(Groups.of(labels, 120))
        assert len(parts) == min(5, len(set(labels)))
        assert sorted(np.concatenate(parts)) == list(range(120))
        for i, part in enumerate(parts):
            others = np.concatenate([other for j, other in enumerate(parts) if j != i])
            assert not set(labels[part]) & set(labels[others])

    def test_of_many_groups_are_whole_groups_of_about_1000_samples(self):
        labels = np.repeat(np.arange(600), 10)
        parts = choose._parts_left_out(Groups.of(labels, 6000))
        assert [len(part) for part in parts] == [1200, 1200]  # two, since halves of one would split groups
        for part in parts:
            assert all(np.sum(labels[part] == label) == 10 for label in set(labels[part]))

    def test_are_no_runs_of_neighbours(self):
        """Samples may come sorted: every part has some of every tenth of them."""
        for part in choose._parts_left_out(Groups.of(None, 500)):
            assert np.histogram(part, bins=10, range=(0, 500))[0].min() >= 8


def around(mean, error, n=100):
    """n values with this mean and this standard error of the mean, by the formula for independent samples."""
    return mean + error * np.sqrt(n - 1) * np.where(np.arange(n) % 2, 1.0, -1.0)


def smallest_share(*measures, shares, groups=None, errors=2.0, few=True):
    """The share that is decided on by what the shares lose, in one measure of nearness or several."""
    n = len(measures[0][0])
    nearness = [np.vstack([np.full(n, 5.0), *(5.0 - loss for loss in losses)]) for losses in measures]
    return choose._smallest_share(np.array(shares), np.array(nearness), Groups.of(groups, n), errors, few)


class TestSmallestShare:
    @pytest.mark.parametrize("errors", [1.0, 2.0])
    @pytest.mark.parametrize("loss", [0.04, 0.06, 0.2])
    def test_is_interpolated_to_where_the_loss_is_so_many_errors(self, loss, errors):
        """At a half the loss is half an error below, at a quarter above: in between in proportion to the logarithm."""
        losses = [around(0.0, 0.01), around(0.01 * errors - 0.005, 0.01), around(loss, 0.01)]
        above = loss - 0.01 * errors
        expected = 0.5 ** (1.0 + 0.005 / (0.005 + above))
        assert smallest_share(losses, shares=[1.0, 0.5, 0.25], errors=errors) == pytest.approx(expected, rel=1e-9)

    def test_loses_in_no_measure(self):
        """The one that loses more decides at every share, in units of its own spread."""
        mates = [around(0.0, 0.01), around(0.01, 0.01), around(0.015, 0.01)]
        together = [around(0.0, 0.01), around(0.0, 0.01), around(0.04, 0.01)]
        found = [smallest_share(*both, shares=[1.0, 0.5, 0.25]) for both in ((mates,), (together,), (mates, together))]
        assert found[0] == 0.25
        assert 0.25 < found[1] < 0.5
        assert found[2] == pytest.approx(0.5 ** (1 + 0.01 / 0.03))
        assert smallest_share(together, mates, shares=[1.0, 0.5, 0.25]) == found[2]

    def test_is_compared_with_the_best_where_few_are_not_wanted(self):
        """What half of the features gain beside all of them, a tenth must not lose again."""
        losses = [around(0.0, 0.01), around(-0.05, 0.01), around(-0.01, 0.011)]
        shares = [1.0, 0.5, 0.1]
        assert smallest_share(losses, shares=shares) == 0.1
        assert 0.1 < smallest_share(losses, shares=shares, few=False, errors=1.0) <= 0.5

    @pytest.mark.parametrize("few", [True, False])
    def test_does_not_jump_from_the_first_round_to_all_features(self, few):
        """Where all features are not weighted they are the ones alike, or the best share is itself; both lose 0."""
        losses = ([np.zeros(100), around(loss, 0.01)] for loss in (0.01999, 0.02001))
        found = [smallest_share(each, shares=[1.0, 0.6], few=few) for each in losses]
        assert abs(found[0] - found[1]) < 0.01

    def test_is_the_last_if_this_is_good_enough(self):
        assert smallest_share([around(0.0, 0.01), around(0.019, 0.01)], shares=[1.0, 0.15]) == 0.15
        assert smallest_share([around(0.0, 0.01), around(0.021, 0.01)], shares=[1.0, 0.15]) > 0.15

    def test_is_one_if_none_is_good_enough(self):
        """Not even all features, where these are weighted and the ones alike were better."""
        losses = [around(0.05, 0.01), around(0.06, 0.01), around(0.07, 0.01)]
        assert smallest_share(losses, shares=[1.0, 0.5, 0.25]) == 1.0

    def test_a_worse_share_before_one_that_is_good_enough_does_not_matter(self):
        losses = [around(0.0, 0.01), around(0.05, 0.01), around(0.01, 0.01)]
        assert smallest_share(losses, shares=[1.0, 0.5, 0.25]) == 0.25

    def test_compares_sample_by_sample(self):
        """Samples that differ a lot among themselves, and lose all the same, have a loss without an error."""
        best = np.random.default_rng(0).standard_normal(100)
        nearness = np.array([[best, best, best - 1e-3]])
        found = choose._smallest_share(np.array([1.0, 0.5]), nearness, Groups.of(None, 100), errors=2.0)
        assert found == pytest.approx(1.0, abs=1e-6)

    def test_the_error_is_that_of_independent_groups(self, rng):
        values = rng.standard_normal(60)
        alone = choose._error(values, Groups.of(None, 60))
        assert alone == pytest.approx(values.std(ddof=1) / np.sqrt(60), rel=1e-12)
        copies = choose._error(np.repeat(values, 3), Groups.of(np.repeat(np.arange(60), 3), 180))
        assert copies == pytest.approx(alone, rel=1e-12)
        labels = rng.integers(0, 12, 60)
        sums = np.array([np.sum((values - values.mean())[labels == label]) for label in range(12)])
        expected = np.sqrt(12 / 11 * np.sum(sums**2)) / 60
        assert choose._error(values, Groups.of(labels, 60)) == pytest.approx(expected, rel=1e-12)

    def test_groups_that_agree_lose_less_surely(self):
        """Ten groups of ten copies have an error of about three times that of a hundred samples."""
        labels = np.repeat(np.arange(10), 10)
        loss = np.where(labels % 2, 0.25, -0.15)
        losses = [np.zeros(100), loss]
        assert smallest_share(losses, shares=[1.0, 0.15], groups=labels) == 0.15
        assert smallest_share(losses, shares=[1.0, 0.15]) > 0.15

    @pytest.mark.parametrize(
        ("few", "n", "expected"),
        [(True, 5, 2.0), (True, 500, 1.0), (False, 100, 1.0), (True, 60, 5 / 3), (False, 50, 2.0)],
    )
    def test_is_decided_at_more_errors_where_there_are_many_features_per_sample(self, few, n, expected):
        """Of the widest view that is chosen from: 300 of its features, against three per sample."""
        given = views_of(np.ones((n, 300)), np.ones((n, 100)), np.ones((n, 9000)))
        choice = Choice(3, ridge_of, (True, True, False), few)
        assert choose._errors(given, choice) == pytest.approx(expected)

    def test_precisions_between_two_shares_are_interpolated(self):
        shares, precisions = np.array([1.0, 0.5, 0.125]), np.array([[8.0, 0.0], [4.0, 2.0], [2.0, 2.0]])
        for share, expected in ((1.0, [8, 0]), (0.5, [4, 2]), (0.25, [3, 2]), (0.125, [2, 2]), (0.5**0.5, [6, 1])):
            np.testing.assert_allclose(choose._at_share(shares, precisions, share), expected)

    def test_the_error_of_a_ratio_is_that_of_the_jackknife(self, rng):
        all_ = rng.uniform(0.5, 1.5, 500)
        some = 0.8 * all_ + 0.1 * rng.standard_normal(500)
        ratio, error = choose._ratio(some, all_, Groups.of(None, 500))
        assert ratio == pytest.approx(some.sum() / all_.sum(), rel=1e-12)
        without = (some.sum() - some) / (all_.sum() - all_)
        assert error == pytest.approx(np.sqrt(499 / 500 * np.sum((without - without.mean()) ** 2)), rel=0.01)


def cost_of(data, n_features=None, n_components=4, groups=None, **reading):
    count = len(data)
    settings = {"weighted": False, "meaningless": (False,) * count, **reading}
    given = views_of(*data, groups=groups)
    reading = Reading((None,) * count, ("rows",) * count, **settings)
    return choose.cost_of(given, reading, n_features, choice_of(n_components, count))


@pytest.fixture(scope="module")
def few_tell():
    """300 samples of 150 words in each view, of which 30 tell of five subjects."""
    return made_words(300, sizes=(150, 150), n_subjects=5, share=0.2, length=500.0, seed=1)


@pytest.fixture(scope="module")
def each_counts():
    """600 samples of sixty features in each view, each of which tells something else of all nine factors."""
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((600, 9))
    return [shared @ rng.standard_normal((9, 60)) + 3.0 * rng.standard_normal((600, 60)) for _ in range(2)]


class TestCost:
    def test_few_features_are_read_where_few_share_anything(self, few_tell):
        cost = cost_of(few_tell)
        assert cost.share == cost.shares[-1] == 0.15  # the least there is
        assert cost.kept > 0.9
        assert 0.75 < cost.interval[0] < cost.kept < cost.interval[1] < 1.25

    def test_nearly_all_are_read_where_each_counts(self, each_counts):
        cost = cost_of(each_counts, n_components=9)
        assert cost.share > 0.7
        assert cost.kept > 0.9
        assert cost_of(each_counts, 0.3, n_components=9).interval[1] < 0.6

    def test_precisions_are_those_of_the_shares_that_were_tried(self, few_tell):
        cost = cost_of(few_tell)
        assert cost.shares[0] == 1.0
        np.testing.assert_allclose(cost.shares[1:-1], features_left(4, 300) ** np.arange(1, len(cost.shares) - 1))
        assert len(cost.precisions) == len(cost.shares) == 1 + n_rounds(0.15, 4, 300)
        assert cost.precisions[0] == pytest.approx(cost.of_all, rel=1e-12)  # nothing is weighted
        assert cost.kept == pytest.approx(cost.precisions[-1] / cost.of_all, rel=1e-12)
        assert cost.n_samples == 300

    @pytest.mark.parametrize("n_features", [20, 0.4])
    def test_a_number_that_was_asked_for_has_its_cost(self, few_tell, n_features):
        cost = cost_of(few_tell, n_features)
        share = n_features / 150 if isinstance(n_features, int) else n_features
        assert (cost.shares, cost.share) == ((1.0, share), share)
        assert cost.kept == pytest.approx(cost.precisions[1] / cost.of_all, rel=1e-12)

    def test_more_than_enough_samples_decide_by_halves_of_a_part(self, few_tell, monkeypatch):
        """As with 5,000 samples or more; the share of each half is decided by the other."""
        monkeypatch.setattr(choose.constants, "BUDGET_SAMPLES", 50)
        cost = cost_of(few_tell)
        assert cost.n_samples == 50
        assert cost.share < 0.5
        assert cost.kept > 0.8

    def test_samples_left_out_are_known_to_nobody(self, few_tell):
        """Samples without mates are found no better than by chance, whatever was learnt from the others."""
        order = np.random.default_rng(0).permutation(300)
        assert cost_of([few_tell[0], few_tell[1][order]]).of_all < 0.04  # by chance: the mean of 1 / rank is 0.021
        assert cost_of(few_tell).of_all > 0.2

    def test_groups_stay_together(self, few_tell):
        """Copies of samples are found by their copies, unless these are left out too."""
        rng = np.random.default_rng(0)
        X, Y = (view[rng.permutation(300)[:60]] for view in few_tell)  # no pairs
        X, Y = (sp.vstack([view] * 4).tocsr() for view in (X, Y))
        labels = np.tile(np.arange(60), 4)
        alone, together = (cost_of([X, Y], groups=groups, n_components=10).of_all for groups in (None, labels))
        # four copies share a rank of about 2.5 where they are known; by chance it is that of 60 samples
        assert together < 0.08 < 0.15 < alone

    def test_few_groups_do_not_end_the_rounds(self, few_tell):
        """Of five groups each part is one: nobody could tell that the loss of one is more than chance."""
        assert cost_of(few_tell, groups=np.arange(300) % 10).shares[-1] == 0.15
        assert cost_of(few_tell, groups=np.arange(300) % 5).shares[-1] == 0.15

    def test_a_number_is_no_share_above_one(self, few_tell):
        narrow = [few_tell[0], few_tell[1][:, :20]]
        assert cost_of(narrow, 40).shares[-1] <= 1.0

    def test_shares_are_those_that_are_read(self, each_counts):
        """A feature per component at least: of sixty, thirty are a half."""
        cost = cost_of(each_counts, 0.2, n_components=30)
        assert cost.shares[-1] == 0.5

    @pytest.mark.parametrize("n", [15, 16])
    def test_fewer_than_16_samples_have_none(self, few_tell, n):
        assert (cost_of([view[:n] for view in few_tell], n_components=1) is None) == (n < 16)

    def test_views_that_share_nothing_have_none(self):
        X = np.tile(np.eye(2), (10, 3))
        assert cost_of([X, np.ones((20, 4))]) is None


def joint(n_components=4, **settings):
    return SparseCCA(n_components, **{"rendering": "joint", "scale": "rows", "held_out": 0, **settings})


class TestCostOfAFit:
    """What an estimator says of it."""

    def test_is_told_where_the_fit_decides(self, few_tell):
        model = joint().fit(*few_tell)
        assert model.mates_kept_interval_.shape == (2,)
        assert model.reading_path_.shape[1] == 2
        np.testing.assert_array_equal(model.reading_path_[[0, -1], 0], [1.0, 0.15])
        assert model.n_read_ == [22, 22]

    def test_is_told_of_a_number_unless_nothing_is_left_out(self, few_tell):
        told, silent = (joint(n_features=30, held_out=held_out).fit(*few_tell) for held_out in (2, 0))
        assert told.n_read_ == silent.n_read_ == [30, 30]
        np.testing.assert_array_equal(told.reading_path_[:, 0], [1.0, 0.2])
        for name in ("mates_kept_", "mates_kept_interval_", "reading_path_"):
            assert hasattr(told, name)
            assert not hasattr(silent, name)
        for one, other in zip(told.weights_, silent.weights_, strict=True):
            np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize(
        "settings",
        [
            {"n_features": None, "held_out": 2},
            {"rendering": "dense"},
            {"kernel": (Kernel("rbf"), Kernel("rbf")), "rendering": "auto"},
        ],
        ids=["all features", "dense", "kernels"],
    )
    def test_is_not_told_where_nothing_is_chosen(self, few_tell, settings):
        model = joint(**settings).fit(*few_tell)
        assert not hasattr(model, "mates_kept_")
        again = joint().fit(*few_tell).set_params(**settings).fit(*few_tell)
        assert not hasattr(again, "mates_kept_")  # of the fit before

    def test_is_the_same_for_any_seed_and_number_of_threads(self, few_tell):
        models = [joint(n_jobs=n_jobs, random_state=seed).fit(*few_tell) for n_jobs, seed in ((None, 0), (2, 1))]
        assert models[0].mates_kept_ == models[1].mates_kept_
        np.testing.assert_array_equal(models[0].reading_path_, models[1].reading_path_)
        np.testing.assert_array_equal(models[0].x_weights_, models[1].x_weights_)


@stored
def test_features_of_samples_in_blocks_are_those_of_samples_in_memory(few_tell, store, monkeypatch):
    monkeypatch.setattr(find, "_FEW", 0)  # the same route to the factors
    views = [store(view.toarray()) for view in few_tell]
    sizes = (100, 1, 199)
    for weighted in (False, True):
        here, there = (
            fewer_features(prepared(*data, weighted=weighted), 20, choice_of()).kept
            for data in (views, in_blocks(views, sizes))
        )
        for one, other in zip(here, there, strict=True):
            np.testing.assert_array_equal(one, other)
    one, other = map(partial(cost_of, n_components=2), (views, in_blocks(views, sizes)))
    assert one.share == pytest.approx(other.share, rel=1e-6)
    assert one.kept == pytest.approx(other.kept, rel=1e-6)
    np.testing.assert_allclose(one.precisions, other.precisions, rtol=1e-6)
