"""p-values by permutation and stability selection: against plain loops, on noise and planted data, and invariances."""

import warnings
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from repeats import few_or_many
from scipy.stats import binom, spearmanr
from sklearn.exceptions import ConvergenceWarning

from scca import AnchoredCCA, AnchoredCCACV, DataWarning, EvidenceWarning, Kernel, KernelCCA, SparseCCA, SparseCCACV
from scca.datasets import make_planted
from scca.inference import PermutationTest, permutation_test, stability_selection

N = 30
FOLDS = [(np.flatnonzero(np.arange(N) % 3 != k), np.flatnonzero(np.arange(N) % 3 == k)) for k in range(3)]

SETTINGS = {"n_permutations": 4, "random_state": 3}
ANCHORED = {"anchors": "cross-energy", "feature_weights": "shared", "scale": "auto"}
LINEAR = Kernel("polynomial", degree=1, gamma=1, coef0=0)  # of samples; "linear" is read by features


def anchored(n_components, **settings):
    return AnchoredCCA(n_components, **{**ANCHORED, **settings})


def factors(n_components, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


both = pytest.mark.parametrize("make", [factors, anchored])


@pytest.fixture
def views():
    return make_planted(N, 12, 10, n_factors=1, n_active=4, random_state=1).views


def held_out_correlations(model, X, Y, folds):
    """Straight from the definition, one component and one fold after the other."""
    values = []
    for j in range(model.n_components):
        a, b = [], []
        for train, test in folds:
            fitted = model.fit(X[train], Y[train])
            a += fitted.transform(X[test])[:, j].tolist()
            b += fitted.transform_y(Y[test])[:, j].tolist()
        values.append(np.corrcoef(a, b)[0, 1])
    return values


class TestPermutationTest:
    @pytest.mark.parametrize(
        "model", [factors(2), anchored(2), KernelCCA(2), factors(2, kernel="rbf"), anchored(2, kernel="rbf")]
    )
    def test_statistic_is_the_correlation_of_held_out_scores(self, model, views):
        test = permutation_test(model, *views, n_permutations=1, cv=FOLDS, random_state=0)
        np.testing.assert_allclose(test.statistics, held_out_correlations(model, *views, FOLDS), atol=1e-10)

    def test_without_folds_the_anchor_does_not_count(self, views):
        X, Y = views
        test = permutation_test(anchored(3), X, Y, n_permutations=1, cv=None, random_state=0)
        model = anchored(3).fit(X, Y)
        x_scores, y_scores = model.transform_pair(X, Y)
        for j, anchor in enumerate(model.anchors_):
            others = np.arange(N) != anchor
            assert test.statistics[j] == pytest.approx(np.corrcoef(x_scores[others, j], y_scores[others, j])[0, 1])

    def test_without_folds_and_anchors_every_sample_counts(self, views):
        test = permutation_test(factors(2), *views, n_permutations=1, cv=None, random_state=0)
        scores = factors(2).fit(*views).transform_pair(*views)
        expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(*(score.T for score in scores), strict=True)]
        np.testing.assert_allclose(test.statistics, expected, atol=1e-12)

    def test_null_is_drawn_from_all_permutations(self, rng):
        """Five pairs can be permuted in 120 ways: the exact p-value is known, and no other value can occur."""
        X, Y = rng.standard_normal((2, 5, 3))
        model = KernelCCA(1, regularization=0.5)
        everything = np.array(
            [np.corrcoef(*self.scores(model, X, Y[list(order)]))[0, 1] for order in permutations(range(5))]
        )
        test = permutation_test(model, X, Y, n_permutations=400, cv=None, random_state=0)
        assert np.abs(test.null - everything).min(axis=1).max() < 1e-10
        assert test.statistics[0] == pytest.approx(everything[0])  # the first of all orders is the one given
        exact = np.mean(everything >= everything[0] - 1e-10)
        assert abs(test.p_values[0] - exact) < 4 * np.sqrt(exact * (1 - exact) / 400) + 1 / 400

    @staticmethod
    def scores(model, X, Y):
        return [scores[:, 0] for scores in model.fit(X, Y).transform_pair(X, Y)]

    def test_is_shown_as_its_p_values_and_statistics(self):
        null = np.linspace(-0.5, 0.6, 199)[:, None] * [1.0, 0.5, 0.7]
        test = PermutationTest(np.array([0.86431157, 0.21, 0.3]), null)
        expected = (
            "PermutationTest(p_values=[0.005, 0.17, 0.16], adjusted_p_values=[0.005, 0.17, 0.17], "
            "statistics=[0.864, 0.21, 0.3], n_permutations=199)"
        )
        assert repr(test) == str(test) == expected

    def test_p_values_count_the_null(self):
        null = np.array([[0.5, 0.1, 0.4], [0.2, 0.9, 0.0], [0.6, 0.2, 0.1]])
        test = PermutationTest(statistics=np.array([0.6, 0.2, 0.7]), null=null)
        assert test.n_permutations == 3
        assert test.p_values.tolist() == [2 / 4, 3 / 4, 1 / 4]  # equal counts as at least
        assert test.adjusted_p_values.tolist() == [2 / 4, 3 / 4, 3 / 4]
        assert [test.n_significant(level) for level in (0.4, 0.5, 0.75)] == [0, 1, 3]

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize(("model", "cv"), [(factors(1), 2), (anchored(1), 2), (KernelCCA(1), None)])
    @few_or_many(25, 100)
    def test_noise_is_significant_as_often_as_said(self, model, cv, n_sets):
        """With 4 permutations p <= 0.2 means: the largest of 5 exchangeable values, which has probability 0.2.

        Of independent data sets the number is binomial; outside its central 99.9 % the test is wrong.
        """
        rng = np.random.default_rng(7)
        n_small = 0
        for seed in range(n_sets):
            X, Y = rng.standard_normal((12, 4)), rng.standard_normal((12, 3))
            test = permutation_test(model, X, Y, n_permutations=4, cv=cv, random_state=seed)
            n_small += test.p_values[0] <= 0.2
        low, high = binom.interval(0.999, n_sets, 0.2)
        assert low <= n_small <= high

    @pytest.mark.parametrize("model", [anchored(2), KernelCCA(2, regularization=0.5)])
    def test_planted_component_is_found_and_no_more(self, model):
        """In each of five data sets the planted component has the smallest p-value there is, 1/20.

        The one after it has that p-value by chance in 1 of 20: more than the binomial's 99.9 % point would be wrong.
        A fold has 45 training samples; with 20, the factor is sometimes in another component of another fold.
        """
        n_significant = []
        for seed in range(5):
            X, Y = make_planted(60, 15, 12, n_factors=1, n_active=5, strength=2, random_state=seed).views
            test = permutation_test(model, X, Y, n_permutations=19, cv=4, random_state=seed)
            assert test.p_values[0] == 1 / 20
            n_significant.append(test.n_significant(0.05))
        assert n_significant.count(2) <= binom.ppf(0.999, 5, 0.05)

    def test_more_features_than_samples(self):
        """Training scores of kernel CCA then agree for noise as for the planted; held-out ones tell them apart.

        Those of noise have a correlation of about 0 with a standard deviation of 1 / sqrt(40), 4 of which are allowed.
        """
        planted, noise = (make_planted(40, 200, 200, n_factors=1, strength=s, random_state=0).views for s in (1.5, 0))
        model = KernelCCA(1, regularization=0.1)
        for data in (planted, noise):
            assert permutation_test(model, *data, n_permutations=1, cv=None).statistics[0] > 0.98
        assert abs(permutation_test(model, *noise, n_permutations=1, random_state=0).statistics[0]) < 4 / np.sqrt(40)
        found = permutation_test(model, *planted, n_permutations=19, random_state=0)
        assert found.statistics[0] > 4 / np.sqrt(40)
        assert found.p_values[0] == 1 / 20

    def test_own_statistic(self, views):
        def rank_correlation(a, b):
            return spearmanr(a, b).statistic

        linear, ranks = (
            permutation_test(KernelCCA(1), *views, n_permutations=5, statistic=statistic, cv=FOLDS, random_state=0)
            for statistic in ("correlation", rank_correlation)
        )
        fitted = [KernelCCA(1).fit(views[0][train], views[1][train]) for train, _ in FOLDS]
        a, b = (
            np.concatenate([getattr(model, name)(view[test]) for model, (_, test) in zip(fitted, FOLDS, strict=True)])
            for name, view in (("transform", views[0]), ("transform_y", views[1]))
        )
        assert ranks.statistics[0] == pytest.approx(spearmanr(a, b).statistic)
        assert not np.allclose(ranks.null, linear.null)

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @both
    def test_nothing_in_common_is_zero(self, make):
        """Two balanced binary columns: a third of all permutations leave them exactly uncorrelated."""
        x = np.repeat([0.0, 1.0], 6)[:, None]
        test = permutation_test(make(1, mu=1e-3), x, x, n_permutations=60, cv=None, random_state=0)
        assert np.any(test.null == 0)
        assert np.isfinite(test.null).all()

    def test_components_that_do_not_exist_are_zero_in_the_null(self, rng):
        """Every fold has fewer components than all data where a feature varies in a single sample only."""
        X = np.column_stack([rng.standard_normal(12), np.eye(12)[0]])
        Y = np.column_stack([X[:, 0] + rng.standard_normal(12), rng.standard_normal(12)])
        folds = [(np.arange(1, 12), np.array([0])), (np.arange(1, 12), np.arange(12))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test = permutation_test(KernelCCA(2, scale=None), X, Y, n_permutations=3, cv=folds, random_state=0)
        assert test.statistics[0] != 0
        assert test.statistics[1] == 0
        assert not test.null[:, 1].any()


def close(test, other):
    np.testing.assert_allclose(test.statistics, other.statistics, atol=1e-5)
    np.testing.assert_allclose(test.null, other.null, atol=1e-5)


class TestWhatMustNotMatter:
    """For the solver the answers agree to about the square root of its tolerance."""

    @pytest.mark.parametrize("model", [factors(2, tol=1e-11), anchored(2, tol=1e-11), KernelCCA(2)])
    @pytest.mark.parametrize("cv", [3, None])
    @pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, pd.DataFrame, np.asfortranarray])
    def test_storage(self, model, cv, form, views):
        X, Y = (np.where(view > 0, view, 0) for view in views)
        plain = permutation_test(model, X, Y, cv=cv, **SETTINGS)
        close(permutation_test(model, form(X), form(Y), cv=cv, **SETTINGS), plain)

    @pytest.mark.parametrize("cv", [3, None])
    @both
    def test_precomputed_linear_kernel(self, cv, views, make):
        X, Y = views
        settings = {"tol": 1e-11, "feature_weights": None, "scale": "rows"}
        linear = permutation_test(make(2, kernel=LINEAR, **settings), X, Y, cv=cv, **SETTINGS)
        given = make(2, kernel="precomputed", **settings)
        for K in (Y @ Y.T, sp.csr_array(Y @ Y.T)):
            close(permutation_test(given, X, K, cv=cv, **SETTINGS), linear)
        both = permutation_test(KernelCCA(2, kernel="precomputed"), X @ X.T, Y @ Y.T, cv=cv, **SETTINGS)
        close(both, permutation_test(KernelCCA(2, scale="rows"), X, Y, cv=cv, **SETTINGS))

    @pytest.mark.parametrize(
        "model",
        [make(2, tol=1e-11, scale=scale) for make in (factors, anchored) for scale in ("auto", None)],
    )
    def test_scale_of_a_view(self, model, views):
        X, Y = views
        close(
            permutation_test(model, 8 * X, Y / 4, **SETTINGS),
            permutation_test(model, X, Y, **SETTINGS),
        )

    def test_order_of_the_pairs(self, rng, views):
        """Pairs and folds in another order: the statistics are the same, and only the permutations differ."""
        order = rng.permutation(N)
        place = np.argsort(order)
        folds = [(place[train], place[test]) for train, test in FOLDS]
        base = permutation_test(KernelCCA(2), *views, cv=FOLDS, **SETTINGS)
        moved = permutation_test(KernelCCA(2), *(view[order] for view in views), cv=folds, **SETTINGS)
        np.testing.assert_allclose(moved.statistics, base.statistics, atol=1e-8)
        assert not np.allclose(moved.null, base.null)

    def test_form_of_the_splits(self, views):
        base = permutation_test(KernelCCA(1), *views, cv=FOLDS, **SETTINGS)
        lists = [(train.tolist(), test.tolist()) for train, test in FOLDS]
        masks = [(np.arange(N) % 3 != k, np.arange(N) % 3 == k) for k in range(3)]
        for splits in (lists, masks, iter(FOLDS)):
            close(permutation_test(KernelCCA(1), *views, cv=splits, **SETTINGS), base)

    @both
    def test_number_of_jobs(self, views, make):
        model = make(2)
        one, two = (permutation_test(model, *views, n_jobs=n_jobs, **SETTINGS) for n_jobs in (1, 2))
        assert one.statistics.tobytes() == two.statistics.tobytes()
        assert one.null.tobytes() == two.null.tobytes()
        other = permutation_test(model, *views, n_permutations=4, random_state=4)
        assert one.null.tobytes() != other.null.tobytes()
        first, second = (stability_selection(model, *views, n_subsamples=6, n_jobs=j, random_state=0) for j in (1, 2))
        assert first.x_probabilities.tobytes() == second.x_probabilities.tobytes()
        assert first.y_probabilities.tobytes() == second.y_probabilities.tobytes()

    @pytest.mark.parametrize("form", [sp.csr_array, pd.DataFrame])
    @both
    def test_storage_for_stability(self, form, views, make):
        X, Y = (np.where(view > 0, view, 0) for view in views)
        base, other = (
            stability_selection(make(2), A, B, n_subsamples=10, random_state=0) for A, B in ((X, Y), (form(X), form(Y)))
        )
        np.testing.assert_array_equal(other.x_probabilities, base.x_probabilities)
        np.testing.assert_array_equal(other.y_probabilities, base.y_probabilities)

    @both
    def test_precomputed_and_scale_for_stability(self, views, make):
        X, Y = views
        base, *others = (
            stability_selection(
                make(2, scale="rows", feature_weights=None, kernel=kernel), A, B, n_subsamples=10, random_state=0
            )
            for kernel, A, B in ((LINEAR, X, Y), ("precomputed", X, Y @ Y.T), (LINEAR, 4 * X, Y / 2))
        )
        for other in others:
            np.testing.assert_array_equal(other.x_probabilities, base.x_probabilities)
            np.testing.assert_array_equal(other.y_probabilities, base.y_probabilities)

    def test_which_view_comes_first(self, views):
        X, Y = views
        base = stability_selection(anchored(2), X, Y, n_subsamples=10, random_state=0)
        swapped = anchored(2, representation="dual-primal")
        other = stability_selection(swapped, Y, X, n_subsamples=10, random_state=0)
        np.testing.assert_array_equal(other.y_probabilities, base.x_probabilities)
        np.testing.assert_array_equal(other.x_probabilities, base.y_probabilities)
        assert other.expected_false_y == base.expected_false_x
        assert np.isnan([other.expected_false_x, base.expected_false_y]).all()

    def test_which_view_of_factors_comes_first(self, views):
        """Both have weights on features, so both have a bound."""
        X, Y = views
        base = stability_selection(factors(2), X, Y, n_subsamples=10, random_state=0)
        other = stability_selection(factors(2), Y, X, n_subsamples=10, random_state=0)
        np.testing.assert_array_equal(other.y_probabilities, base.x_probabilities)
        np.testing.assert_array_equal(other.x_probabilities, base.y_probabilities)
        assert other.expected_false_y == base.expected_false_x > 0
        assert other.expected_false_x == base.expected_false_y > 0


class Recording(AnchoredCCA):
    """Remembers what it was fitted to; the first column of X is the number of the sample."""

    fits: list = []  # noqa: RUF012  (shared by all clones on purpose)

    def fit(self, X, Y):
        super().fit(X, Y)
        self.fits.append((X[:, 0].astype(int), self.x_weights_ != 0, self.y_weights_ != 0))
        return self


class TestStabilitySelection:
    def test_counts(self, views):
        """Subsamples are disjoint halves in pairs; a sample's share is of the subsamples it was in."""
        X, Y = np.column_stack([np.arange(N), views[0]]), views[1]
        Recording.fits.clear()
        model = Recording(2, **ANCHORED)
        found = stability_selection(model, X, Y, n_subsamples=6, fraction=0.4, random_state=0)
        fits = Recording.fits[1:]  # after the one of everything
        assert [len(set(rows)) for rows, *_ in fits] == [12] * 6
        assert all(not set(fits[i][0]) & set(fits[i + 1][0]) for i in (0, 2, 4))
        for feature, probability in enumerate(found.x_probabilities):
            assert probability == sum(any(weights[feature]) for _, weights, _ in fits) / 6
        for sample, probability in enumerate(found.y_probabilities):
            there = [any(weights[list(rows).index(sample)]) for rows, _, weights in fits if sample in rows]
            assert probability == np.mean(there) if there else np.isnan(probability)
        assert found.x_mean_selected == np.mean([weights.any(axis=1).sum() for _, weights, _ in fits])

    @both
    def test_bound_and_threshold(self, views, make):
        found = stability_selection(make(1), *views, n_subsamples=10, threshold=0.75, random_state=0)
        q, p = found.x_probabilities.sum(), views[0].shape[1]  # the mean number selected is the sum of the shares
        assert found.expected_false_x == pytest.approx(q**2 / (0.5 * p))
        for threshold in (0.55, 0.75, 1.0):
            chosen = replace(found, threshold=threshold)
            assert chosen.selected_x.tolist() == np.flatnonzero(found.x_probabilities >= threshold).tolist()
            assert chosen.selected_y.tolist() == np.flatnonzero(found.y_probabilities >= threshold).tolist()

    def test_planted_features_are_stable(self):
        data = make_planted(200, 100, 40, n_factors=1, n_active=4, strength=2, random_state=0)
        found = stability_selection(anchored(1), *data.views, n_subsamples=40, random_state=0)
        assert found.selected_x.tolist() == np.flatnonzero(data.x_loadings[:, 0]).tolist()

    def test_noise_features_are_not(self):
        X, Y = np.random.default_rng(0).standard_normal((2, 100, 60))
        found = stability_selection(anchored(1, mu="auto*2"), X, Y, n_subsamples=40, random_state=0)
        assert len(found.selected_x) <= found.expected_false_x < 1

    @pytest.mark.parametrize(("mu", "threshold"), [("auto", 0.6), ("auto*4", 0.9)])
    def test_a_bound_above_half_of_what_is_selected_is_told_once(self, mu, threshold):
        X, Y = make_planted(100, 200, 60, n_active=4, strength=2, random_state=0).views
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = stability_selection(factors(2, mu=mu), X, Y, n_subsamples=20, threshold=threshold, random_state=0)
        told = [str(each.message) for each in caught if each.category is EvidenceWarning]
        bounds = found.expected_false_x, found.expected_false_y
        counts = len(found.selected_x), len(found.selected_y)
        doubtful = [bound > count / 2 for bound, count in zip(bounds, counts, strict=True)]
        if mu == "auto":
            assert all(doubtful)
            assert len(told) == 1
            said = (f"{bound:.2g} for the {count} selected of" for bound, count in zip(bounds, counts, strict=True))
            assert "the bound on false ones is {} X and {} Y, more than half of them; ".format(*said) in told[0]
            assert told[0].endswith("raise the model's mu, or the threshold above 0.6.")
        else:
            assert counts == (8, 8)
            assert not any(doubtful)
            assert not told

    @pytest.mark.filterwarnings("error::scca.EvidenceWarning")
    def test_nothing_selected_is_no_claim(self):
        X, Y = np.random.default_rng(0).standard_normal((2, 40, 30))
        found = stability_selection(factors(1), X, Y, n_subsamples=20, threshold=1.0, random_state=0)
        assert not len(found.selected_x)
        assert found.expected_false_x > 0

    def test_names(self, views):
        X, Y = (pd.DataFrame(view).add_prefix(letter) for view, letter in zip(views, "gp", strict=True))
        found = stability_selection(SparseCCA(1), X, Y, n_subsamples=4, random_state=0)
        assert found.x_names.tolist() == list(X.columns)
        assert found.y_names.tolist() == list(Y.columns)
        assert stability_selection(SparseCCA(1), *views, n_subsamples=4, random_state=0).x_names is None


def test_warnings_come_once(views):
    model = SparseCCA(1, mu="auto*0.01", tol=1e-300, max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        permutation_test(model, *views, n_permutations=4, cv=3, random_state=0)
    messages = [str(warning.message) for warning in caught]
    many = [message for message in messages if message.startswith("in 5 of 5 permuted or subsampled data sets")]
    assert len(many) == 1
    assert messages[-1] is many[0]  # those before are of the fit to everything
    assert {warning.filename for warning in caught} == {__file__}


def test_parts_do_not_warn_of_what_is_constant_in_them(views):
    """A feature that varies in one sample only is constant wherever that sample is not, which is nobody's mistake."""
    X, Y = np.column_stack([views[0], np.eye(N)[0]]), views[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        permutation_test(SparseCCA(1), X, Y, n_permutations=4, cv=3, random_state=0)


def test_what_is_shared_between_permutations_changes_nothing(views):
    class Plain(SparseCCA):
        """Fits each data set from the beginning."""

    class PlainAnchored(AnchoredCCA):
        """The same."""

    cases = [
        *((SparseCCA, Plain, settings) for settings in ({}, {"feature_weights": None, "kernel": "rbf"})),
        (SparseCCA, Plain, {"kernel": ("rbf", "rbf")}),
        *(
            (AnchoredCCA, PlainAnchored, {**ANCHORED, **more})
            for more in ({}, {"feature_weights": None, "kernel": "rbf"})
        ),
        (AnchoredCCA, PlainAnchored, {**ANCHORED, "representation": "dual-dual", "kernel": "rbf"}),
    ]
    for *kinds, settings in cases:
        shared, plain = (
            permutation_test(kind(2, **settings), *views, n_permutations=3, cv=3, random_state=0) for kind in kinds
        )
        np.testing.assert_array_equal(shared.null, plain.null)
        np.testing.assert_array_equal(shared.statistics, plain.statistics)


@pytest.mark.parametrize(
    ("searching", "fixed"),
    [
        (SparseCCACV(1, mu_factors=[0.3], ridge_factors=[1], cv=2, held_out=0), factors(1, mu="auto*0.3")),
        (AnchoredCCACV(1, mu_factors=[0.3], cv=2, **ANCHORED), anchored(1, mu="auto*0.3")),
    ],
    ids=["factors", "anchored"],
)
def test_a_model_that_searches_searches_in_every_data_set(views, searching, fixed):
    """With one factor there is nothing to search: the search itself must have been made, and chosen it."""
    one, other = (permutation_test(m, *views, n_permutations=3, cv=3, random_state=0) for m in (searching, fixed))
    np.testing.assert_allclose(one.null, other.null, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [0, "all"])
def test_number_of_jobs_that_is_none(n_jobs, views):
    for call in (permutation_test, stability_selection):
        with pytest.raises(ValueError, match=f"n_jobs must be None or an integer other than 0; got {n_jobs!r}"):
            call(SparseCCA(1), *views, n_jobs=n_jobs)


def test_progress(views):
    done: list = []
    permutation_test(KernelCCA(1), *views, n_permutations=2, progress=lambda *counts: done.append(counts))
    stability_selection(SparseCCA(1), *views, n_subsamples=2, progress=lambda *counts: done.append(counts))
    assert done == [(1, 3), (2, 3), (3, 3), (1, 2), (2, 2)]


def test_model_is_left_alone(views):
    model = SparseCCA(1)
    permutation_test(model, *views, n_permutations=1)
    stability_selection(model, *views, n_subsamples=2)
    assert vars(model) == vars(SparseCCA(1))


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (SparseCCA, {}, "model must be an estimator of two views such as"),
        (SparseCCA(40), {}, "`n_components` upper bound is n_features=10 of Y. Got 40 instead."),
        (anchored(40), {}, "`n_components` upper bound is n_features=12 of X. Got 40 instead."),
        (SparseCCA(10), {"cv": [(np.arange(9), np.arange(9, N))]}, "the fit to 9 of the 30 pairs failed: `n_comp.*=8"),
        (anchored(1, anchors=[3]), {}, r"anchors must be the name of a strategy if .*; got \[3\]"),
        (anchored(1, anchors=np.array([3, 4])), {}, r"anchors must be the name of a strategy if .*; got array"),
        (SparseCCA(1), {"n_permutations": 0}, "n_permutations must be an integer of at least 1; got 0"),
        (SparseCCA(1), {"cv": 1}, "cv must be from 2 to n_samples=30 folds; got 1"),
        (SparseCCA(1), {"cv": 31}, "cv must be from 2 to n_samples=30 folds; got 31"),
        (SparseCCA(1), {"statistic": "covariance"}, "statistic must be .correlation. or a function .*'covariance'"),
        (SparseCCA(1), {"statistic": np.arange(2)}, r"statistic must be .* two score vectors; got array\(\[0, 1\]\)"),
        (SparseCCA(1), {"random_state": True}, "random_state must be None, an integer .*; got True"),
        (SparseCCA(1), {"random_state": "x"}, "random_state must be None, an integer .*; got 'x'"),
        (SparseCCA(1), {"statistic": lambda a, b: np.nan}, r"statistic must give a finite number .*; got \[nan\]"),
    ],
)
@pytest.mark.filterwarnings("ignore:the views are exhausted")
def test_bad_input_to_the_test(model, settings, message, views):
    with pytest.raises((TypeError, ValueError), match=message):
        permutation_test(model, *views, **{"n_permutations": 1, **settings})


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (KernelCCA(1), {}, "model must be sparse, but KernelCCA"),
        (anchored(1, anchors=[3]), {}, "anchors must be the name of a strategy"),
        (SparseCCA(1), {"n_subsamples": 5}, "n_subsamples must be even, .*; got 5"),
        (SparseCCA(1), {"fraction": 0.6}, "fraction must be a number above 0 and at most 0.5; got 0.6"),
        (SparseCCA(1), {"fraction": 0.05}, "fraction=0.05 of n_samples=30 must be at least 2 samples; got 1"),
        (SparseCCA(1), {"threshold": 0.5}, "threshold must be a number above 0.5 and at most 1; got 0.5"),
        (SparseCCA(1), {"threshold": "high"}, "threshold must be a number above 0.5 and at most 1; got 'high'"),
    ],
)
def test_bad_input_to_stability_selection(model, settings, message, views):
    with pytest.raises((TypeError, ValueError), match=message):
        stability_selection(model, *views, **{"n_subsamples": 2, **settings})


def test_given_anchors_are_fine_without_folds(views):
    test = permutation_test(anchored(1, anchors=[3]), *views, n_permutations=1, cv=None)
    assert np.isfinite(test.statistics).all()


class TestGroups:
    """Independent subjects with near copies: evidence only if copies count as samples of their own."""

    @staticmethod
    def copies(seed, n_subjects=12, n_copies=4):
        rng = np.random.default_rng(seed)
        views = rng.standard_normal((2, n_subjects, 5)).repeat(n_copies, axis=1)
        views += 0.05 * rng.standard_normal(views.shape)
        return views[0], views[1], np.repeat(np.arange(n_subjects), n_copies)

    @pytest.mark.parametrize("model", [SparseCCA(1), KernelCCA(1)])
    def test_permutations_move_whole_groups(self, model):
        careless, careful = [], []
        for seed in range(12):
            X, Y, subjects = self.copies(seed)
            settings = {"n_permutations": 19, "cv": 3, "random_state": seed}
            careless.append(permutation_test(model, X, Y, **settings).p_values[0])
            careful.append(permutation_test(model, X, Y, groups=subjects, **settings).p_values[0])
        assert np.mean(np.array(careless) <= 0.05) > 0.5
        # 12 p-values, each .05 with probability .05: more than 4 with probability .0002
        assert np.sum(np.array(careful) <= 0.05) <= 4

    def test_too_few_orders_are_said(self):
        X, Y, _ = self.copies(0)
        labels = np.repeat([0, 1, 2], [10, 10, 28])
        with pytest.warns(DataWarning, match="groups of the same size change places in 2 orders only"):
            permutation_test(KernelCCA(1), X, Y, groups=labels, n_permutations=9, cv=3, random_state=0)

    def test_subsamples_have_whole_groups(self, monkeypatch):
        import scca.inference._stability as module

        X, Y, subjects = self.copies(1)
        seen = []
        kept = module._selected
        monkeypatch.setattr(module, "_selected", lambda fits, rows: seen.append(rows) or kept(fits, rows))
        stability_selection(SparseCCA(1), X, Y, groups=subjects, n_subsamples=4, random_state=0)
        for one, other in (seen[:2], seen[2:]):
            assert len(one) == len(other) == 24
            assert not set(subjects[one]) & set(subjects[other])
            assert (np.bincount(subjects[one], minlength=12) % 4 == 0).all()
