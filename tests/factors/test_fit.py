"""The whole method at the level of factors: three views, two as `SparseCCA` has them, and steps that change nothing."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import shared_problem
from repeats import few_or_many
from scipy.stats import binom

from scca import EvidenceWarning, Kernel, SparseCCA
from scca._checks import NothingSharedError, Penalty
from scca.factors import constants
from scca.factors import find as finding
from scca.factors.chance import p_values
from scca.factors.fit import (
    _sharing,
    count_components,
    find,
    fit,
    fit_path,
    fit_prepared,
    prepare_chosen,
    render,
    rotate,
)
from scca.factors.prepare import Reading
from scca.factors.settings import Settings
from scca.samples import Groups, Views

SIZES = (30, 24, 20)
N_FACTORS, N_ACTIVE = 2, 5


def planted(n, seed=0, sizes=SIZES, strength=1.0):
    """Views of n samples and the factors of all: each has five features of its own in every view."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, N_FACTORS))
    data = [rng.standard_normal((n, m)) for m in sizes]
    for view in data:
        for j in range(N_FACTORS):
            view[:, j * N_ACTIVE : (j + 1) * N_ACTIVE] += strength * shared[:, [j]]
    return data, shared


def noise(n, seed, sizes=(6, 5, 4)):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, m)) for m in sizes]


def words(X):
    """A table made sparse and without negative values."""
    return sp.csr_array(np.maximum(X - 1, 0))


def views_of(data, groups=None, precomputed=None):
    count = len(data)
    return Views(
        tuple(data),
        Groups.of(groups, data[0].shape[0]),
        names=("X", "Y", "Z", "U")[:count],
        precomputed=precomputed or (False,) * count,
        orders=(None,) * count,
    )


def settings_of(count=3, kernels=None, scales=None, weighted=True, mu="auto", **changed):
    """Those of `SparseCCA`, for any number of views."""
    reading = Reading(
        kernels=kernels or (None,) * count,
        scales=scales or ("auto",) * count,
        weighted=weighted,
        meaningless=(False,) * count,
        low_rank=(None,) * count,
    )
    given = {
        "renderings": ("sparse",) * count,
        "n_components": N_FACTORS,
        "is_counted": False,
        "n_features": "auto",
        "ridge": constants.RIDGE,
        "ridge_is_automatic": True,
        "mu": Penalty.parse(mu, "mu", zero_allowed=False),
        "effort": {"tol": 1e-6, "max_iter": 1000},
    }
    return Settings(reading=reading, **(given | changed))


def prepared_of(data, settings, **given):
    return prepare_chosen(views_of(data, **given), settings)


def scores_of(fitted, data):
    return [projector(view) for projector, view in zip(fitted.projectors, data, strict=True)]


def correlations_of(scores):
    """Of every pair of views (rows), for every component."""
    pairs = combinations(scores, 2)
    return np.array([[np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(A.shape[1])] for A, B in pairs])


def assert_same(one, other):
    """Two fits have the same bytes."""
    for mine, theirs in zip(
        [*one.weights, *one.loadings, one.correlations, *one.certificates.values()],
        [*other.weights, *other.loadings, other.correlations, *other.certificates.values()],
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)
    assert (one.held_out is None) == (other.held_out is None)
    if one.held_out is not None:
        np.testing.assert_array_equal(one.held_out.correlations, other.held_out.correlations)
        np.testing.assert_array_equal(one.held_out.intervals, other.held_out.intervals)
        assert one.held_out.p_value == other.held_out.p_value


class TestThreeViews:
    @pytest.mark.parametrize("store", [np.asarray, words])
    def test_planted_factors_are_found(self, store):
        data, shared = planted(2150, strength=1.5)
        # counts keep so little of the factors that some features lose nothing that 150 samples could show
        fitted = fit(views_of([store(view[:150]) for view in data]), settings_of(n_features=None))
        scores = scores_of(fitted, [store(view[150:]) for view in data])
        found = correlations_of(scores)
        assert found.shape == (3, N_FACTORS)
        assert found.min() > 0.7
        # what samples left out tell of new ones, the mean over pairs of views, is true
        held_out = fitted.held_out
        assert held_out.p_value <= 0.05
        np.testing.assert_allclose(held_out.correlations, found.mean(axis=0), atol=0.1)
        assert (held_out.intervals[:, 0] <= found.mean(axis=0)).all()
        assert (found.mean(axis=0) <= held_out.intervals[:, 1]).all()
        assert fitted.converged.all()
        which = []
        for j in range(N_FACTORS):
            cosines = np.abs([np.corrcoef(A[:, j], shared[150:].T)[0, 1:] for A in scores])
            (factor,) = set(cosines.argmax(axis=1))  # all views have the same one
            assert cosines.max(axis=1).min() > (0.8 if store is np.asarray else 0.6)
            which.append(factor)
        assert sorted(which) == list(range(N_FACTORS))

    def test_features_of_a_factor_are_selected_in_every_view(self):
        fitted = fit(views_of(planted(150, strength=1.5)[0]), settings_of(n_folds=0))
        for weights in fitted.weights:
            by_factor = np.add.reduceat(weights**2, [0, N_ACTIVE, 2 * N_ACTIVE], axis=0) / np.sum(weights**2, axis=0)
            assert by_factor.max(axis=0).min() > 0.8
            assert sorted(by_factor.argmax(axis=0)) == list(range(N_FACTORS))

    @pytest.mark.parametrize("few", [3000, 0])  # by spectra, by covariances
    def test_factors_solve_the_symmetric_eigenproblem(self, few, monkeypatch):
        monkeypatch.setattr(finding, "_FEW", few)
        settings = settings_of()
        prepared = prepared_of(planted(80)[0], settings)
        found = find(prepared, 4, settings)
        matrices = [view.columns(np.arange(view.shape[1])) for view in prepared.views]
        ridges = [constants.RIDGE * view.unit for view in prepared.views]
        values, pooled = shared_problem(matrices, ridges, 4)
        np.testing.assert_allclose(found.values, values, rtol=1e-9)
        np.testing.assert_allclose(found.scores.T @ found.scores, np.diag(values**2), atol=1e-10)
        for j in range(4):  # one after the other: the first j span the same space
            basis = np.linalg.qr(pooled[:, : j + 1])[0]
            assert np.linalg.norm(basis.T @ found.scores[:, j]) == pytest.approx(values[j], rel=1e-8)

    def test_every_view_selects_by_a_certified_elastic_net(self):
        settings = settings_of()
        prepared = prepared_of(planted(80)[0], settings)
        factors = rotate(prepared, find(prepared, N_FACTORS, settings), settings)
        renderings = render(prepared, factors, settings, {})
        assert len(renderings) == 3
        for view, rendering in zip(prepared.views, renderings, strict=True):
            A, ridge = view.columns(np.arange(view.shape[1])), constants.RIDGE * view.unit
            for j, (t, net) in enumerate(zip(factors.scores.T, rendering.selected, strict=True)):
                objective = np.sum((A @ net.w - t) ** 2) + net.mu * np.abs(net.w).sum() + ridge * net.w @ net.w
                assert net.objective == pytest.approx(objective, rel=1e-9)
                assert 0 < np.count_nonzero(net.w) < len(net.w)
                assert net.dual_gap <= 1e-6 * (t @ t)
                assert rendering.dual_gap[j] <= 2e-6 * (t @ t)  # of the selection and of the weights
                r = np.concatenate([t - A @ net.w, -np.sqrt(ridge) * net.w])  # with the ridge as further rows
                correlations = 2 * (A.T @ r[: len(t)] + np.sqrt(ridge) * r[len(t) :])
                v = 2 * r * min(1.0, net.mu / np.abs(correlations).max())
                bound = v[: len(t)] @ t - v @ v / 4
                assert net.objective - bound <= 1.01e-6 * (t @ t)

    def test_weights_are_fitted_to_the_other_views_scores(self):
        """The factor as they predict it, and as long as it is, by ridge regression on the selected features."""
        settings = settings_of(n_features=None, weighted=False, ridge=0.5, ridge_is_automatic=False)
        prepared = prepared_of(planted(80)[0], settings)
        factors = rotate(prepared, find(prepared, N_FACTORS, settings), settings)
        renderings = render(prepared, factors, settings, {})
        matrices = [r.view.columns(np.arange(r.view.shape[1])) for r in renderings]
        for j, t in enumerate(factors.scores.T):
            chosen = [np.flatnonzero(r.weights[:, j]) for r in renderings]

            def regressed(v, target, chosen=chosen):
                A = matrices[v][:, chosen[v]]
                return np.linalg.solve(A.T @ A + 2.0 * np.eye(A.shape[1]), A.T @ target)

            first = [matrices[v][:, chosen[v]] @ regressed(v, t) for v in range(3)]
            for v in range(3):
                of_others = np.column_stack([first[u] for u in range(3) if u != v])
                others = of_others @ np.linalg.lstsq(of_others, t, rcond=None)[0]
                target = others * np.linalg.norm(t) / np.linalg.norm(others)
                np.testing.assert_allclose(renderings[v].weights[chosen[v], j], regressed(v, target), atol=1e-9)

    @few_or_many(30, 150)
    def test_independent_views_have_small_p_values_as_often_as_they_should(self, n_sets):
        """Within the central 99.9 %."""
        settings, p = settings_of(n_features=None), []
        for seed in range(n_sets):
            each = replace(settings, random_state=seed)
            p.append(_sharing(prepared_of(noise(30, seed), each), each).p_value)
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= np.sum(np.array(p) <= 0.05) <= high

    @few_or_many(50, 400)
    def test_scores_of_independent_views_too(self, n_sets):
        small = 0
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            small += p_values(list(rng.standard_normal((3, 12, 2))), Groups.of(None, 12), rng)[0] <= 0.05
        low, high = binom.interval(0.999, n_sets, 0.05)
        assert low <= small <= high

    @pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")
    def test_samples_left_out_of_independent_views_do_not_correlate(self):
        """The mean of eight is within 4 standard errors of 0."""
        found = np.array([fit(views_of(noise(40, seed)), settings_of()).held_out.correlations for seed in range(8)])
        np.testing.assert_array_less(np.abs(found.mean(axis=0)), 4 * found.std(axis=0) / np.sqrt(8))

    def test_what_two_of_three_views_share_is_seen(self):
        data, _ = planted(80)
        data[2] = noise(80, 1)[0]
        settings = settings_of()
        assert _sharing(prepared_of(data, settings), settings).p_value <= 0.05

    @pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
    def test_the_order_of_the_views_does_not_matter(self, order):
        data, settings = planted(90)[0], settings_of()
        one, other = fit(views_of(data), settings), fit(views_of([data[v] for v in order]), settings)
        for place, v in enumerate(order):
            np.testing.assert_allclose(other.weights[place], one.weights[v], atol=1e-6)
            np.testing.assert_allclose(other.loadings[place], one.loadings[v], atol=1e-6)
            for name in ("mu", "objective"):
                np.testing.assert_allclose(other.certificates[name][place], one.certificates[name][v], rtol=1e-5)
        np.testing.assert_allclose(other.correlations, one.correlations, atol=1e-6)
        np.testing.assert_allclose(other.held_out.correlations, one.held_out.correlations, atol=1e-4)

    def test_copies_of_both_views_have_the_factors_of_two(self):
        """C w_x + 2 C_xy w_y = sigma (C + ridge) w_x: two views whose ridge is sigma / (sigma - 1) times as large."""
        (X, Y, _), settings = planted(80)[0], settings_of(4, n_features=None, weighted=False)
        copies = find(prepared_of([X, Y, X, Y], settings), 1, settings)
        sigma = copies.values[0]
        two = settings_of(2, n_features=None, weighted=False, ridge=settings.ridge * sigma / (sigma - 1))
        plain = find(prepared_of([X, Y], two), 1, two)
        assert 2 * plain.values[0] == pytest.approx(sigma - 1, rel=1e-9)
        cosine = plain.scores[:, 0] @ copies.scores[:, 0] / plain.values[0] / sigma
        assert abs(cosine) == pytest.approx(1, abs=1e-9)

    def test_a_copy_of_a_view_has_its_weights(self):
        data, _ = planted(80)
        fitted = fit(views_of([data[0], data[1], data[1]]), settings_of(n_folds=0))
        np.testing.assert_allclose(fitted.weights[1], fitted.weights[2], atol=1e-9)
        two = fit(views_of(data[:2]), settings_of(2, n_folds=0))
        new, _ = planted(1000, seed=1)
        for mine, theirs in zip(scores_of(fitted, [new[0], new[1], new[1]]), scores_of(two, new[:2]), strict=False):
            cosines = np.abs(np.corrcoef(mine.T, theirs.T)[:N_FACTORS, N_FACTORS:])
            assert cosines.max(axis=1).min() > 0.9  # the same factors, whatever their order

    @pytest.mark.parametrize("n", [60, 200])
    def test_the_planted_number_is_counted(self, n):
        counts = []
        for seed in range(5):
            settings = settings_of(n_components=10, is_counted=True, n_features=None)
            counts.append(count_components(prepared_of(planted(n, seed, strength=1.5)[0], settings), settings))
        assert min(counts) == N_FACTORS
        assert np.sum(np.array(counts) > N_FACTORS) <= binom.ppf(0.999, 5, 1 / 12)

    def test_groups_are_left_out_and_permuted_as_a_whole(self):
        """Independent subjects, whose copies alone agree."""
        subjects, rng = np.repeat(np.arange(15), 4), np.random.default_rng(9)
        data = [view[subjects] + 0.05 * rng.standard_normal((60, view.shape[1])) for view in noise(15, 0, (12, 10, 9))]
        settings = settings_of(n_features=None)
        assert _sharing(prepared_of(data, settings, groups=subjects), settings).p_value > 0.05
        with pytest.warns(EvidenceWarning, match="near copy"):
            assert _sharing(prepared_of(data, settings), settings).p_value <= 0.05

    @pytest.mark.parametrize("kind", ["dense", "kernel", "precomputed"])
    def test_a_view_of_another_kind(self, kind):
        """Weights on all features, on the samples of a kernel, or of a kernel matrix."""
        data, _ = planted(150)
        train, new = [view[:100] for view in data], [view[100:] for view in data]
        changed, precomputed = {}, None
        if kind == "dense":
            changed["renderings"] = ("sparse", "dense", "sparse")
        else:
            changed["kernels"] = (None, Kernel("rbf", gamma=0.02) if kind == "kernel" else Kernel("precomputed"), None)
        if kind == "precomputed":
            train[1], new[1] = train[1] @ train[1].T, new[1] @ train[1].T
            precomputed = (False, True, False)
        fitted = fit(views_of(train, precomputed=precomputed), settings_of(**changed))
        assert correlations_of(scores_of(fitted, new)).min() > 0.5
        assert [len(weights) for weights in fitted.weights] == [30, 24 if kind == "dense" else 100, 20]
        assert fitted.held_out.p_value <= 0.05

    def test_a_path_is_one_fit_after_another(self):
        prepared = prepared_of(planted(80)[0], settings_of())
        path = [settings_of(n_folds=0, mu=mu) for mu in ("auto*3", "auto", "auto*0.5")]
        for settings, found in zip(path, fit_path(prepared, path), strict=True):
            alone = fit_prepared(prepared, settings)
            for mine, theirs in zip(found.weights, alone.weights, strict=True):
                np.testing.assert_allclose(mine, theirs, atol=1e-3 * np.abs(theirs).max())

    def test_many_samples_are_the_same_to_tolerance(self, monkeypatch):
        """By covariances of features, with scores that are not stored, as for few samples by spectra."""
        data = [words(view) for view in planted(200, strength=2.0)[0]]
        settings = settings_of(n_features=None, n_folds=0)
        few = fit(views_of(data), settings)
        monkeypatch.setattr(finding, "_FEW", 0)
        monkeypatch.setattr("scca.factors.products._MOST_STORED", 0)
        many = fit(views_of(data), settings)
        for mine, theirs in zip(many.weights, few.weights, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-6)
        np.testing.assert_allclose(many.correlations, few.correlations, atol=1e-9)
        monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 0)  # with weights of samples, the same factors
        monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 1)
        weighted = fit(views_of(data), settings)
        for mine, theirs in zip(scores_of(weighted, data), scores_of(few, data), strict=True):
            assert np.abs(np.corrcoef(mine.T, theirs.T)[:N_FACTORS, N_FACTORS:]).max(axis=1).min() > 0.9

    def test_a_view_that_does_not_vary_leaves_nothing_in_common(self):
        data = [*planted(40)[0][:2], np.ones((40, 3))]
        with pytest.raises(NothingSharedError, match="X, Y and Z have nothing in common"):
            fit(views_of(data), settings_of(weighted=False, n_features=None))


class TestTwoViews:
    @pytest.mark.parametrize(
        ("changed", "parameters"),
        [
            ({}, {}),
            ({"renderings": ("dense", "dense")}, {"rendering": "dense"}),
            ({"kernels": (None, Kernel("rbf", gamma=0.02))}, {"kernel": Kernel("rbf", gamma=0.02)}),
            ({"mu": "auto*2", "ridge": 1.0, "ridge_is_automatic": False}, {"mu": "auto*2", "ridge": 1.0}),
            ({"is_counted": True, "n_components": 20}, {"n_components": "auto"}),
        ],
        ids=["sparse", "dense", "kernel", "penalties", "counted"],
    )
    def test_are_those_of_sparse_cca(self, changed, parameters):
        data = planted(80)[0][:2]
        found = fit(views_of(data), settings_of(2, **changed))
        model = SparseCCA(**({"n_components": N_FACTORS} | parameters)).fit(*data)
        for mine, theirs in [
            (found.weights, (model.x_weights_, model.y_weights_)),
            (found.loadings, (model.x_loadings_, model.y_loadings_)),
            (scores_of(found, data), model.transform_pair(*data)),
        ]:
            for one, other in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(one, other)
        for name, values in found.certificates.items():
            np.testing.assert_array_equal(values, getattr(model, f"{name}_"))
        np.testing.assert_array_equal(found.correlations, model.correlations_)
        np.testing.assert_array_equal(found.held_out.correlations, model.held_out_correlations_)
        np.testing.assert_array_equal(found.held_out.intervals, model.held_out_intervals_)
        assert found.held_out.p_value == model.p_value_

    @pytest.mark.filterwarnings("ignore::scca.DataWarning")
    @pytest.mark.parametrize("scale", ["both", "columns", "rows", None])
    def test_a_fold_may_leave_a_view_that_does_not_vary(self, scale):
        X, Y = np.zeros((40, 3)), noise(40, 0)[0]
        X[3, :2] = 1.0, 2.0
        model = SparseCCA(1, scale=scale, feature_weights=None, n_features=None).fit(X, Y)
        assert model.p_value_ > 0.05

    def test_a_linear_kernel_by_either_name_is_features(self):
        data = planted(40)[0][:2]
        by_name, by_kernel = (SparseCCA(2, kernel=kernel, held_out=0) for kernel in ("linear", Kernel("linear")))
        assert by_kernel._dual_views == ()
        np.testing.assert_array_equal(by_name.fit(*data).y_weights_, by_kernel.fit(*data).y_weights_)


class TestPure:
    @pytest.mark.parametrize("count", [2, 3])
    @pytest.mark.parametrize("store", [np.asarray, words])
    def test_the_same_prepared_views_have_the_same_fit_again(self, count, store):
        data, settings = [store(view) for view in planted(80)[0][:count]], settings_of(count)
        before = [view.copy() for view in data]
        prepared = prepared_of(data, settings)
        first = fit_prepared(prepared, settings)
        fit_prepared(prepared, settings_of(count, mu="auto*2", ridge=1.0, ridge_is_automatic=False, random_state=3))
        assert_same(fit_prepared(prepared, settings), first)
        assert_same(fit(views_of(data), settings), first)
        for mine, theirs in zip(data, before, strict=True):
            assert (mine != theirs).sum() == 0

    def test_a_step_leaves_what_it_is_given(self):
        settings = settings_of()
        prepared = prepared_of(planted(80)[0], settings)
        found = find(prepared, N_FACTORS, settings)
        scores = found.scores.copy()
        rotated = rotate(prepared, found, settings)
        turned, correlations = rotated.scores.copy(), [each.copy() for each in rotated.correlations]
        one, other = (render(prepared, rotated, settings, {}) for _ in range(2))
        np.testing.assert_array_equal(found.scores, scores)
        np.testing.assert_array_equal(rotated.scores, turned)
        for mine, theirs in zip(rotated.correlations, correlations, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine.weights, theirs.weights)
