"""The joint rendering: every component weighs all features that are read, and shows those of an elastic net."""

import numpy as np
import pytest
import scipy.sparse as sp
from made_words import made_words
from oracles import prepare as by_hand
from sklearn.linear_model import ElasticNet

from scca import Kernel, MultiSparseCCA, SparseCCA
from scca.factors import fit
from scca.factors.refit import Regression, dense_weights, joint_regression, joint_ridge, joint_weights, weigh_all
from scca.samples import Groups, Views
from scca.views import Preparation

STORES = {"dense": np.asarray, "sparse": sp.csr_array}
stored = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


def joint(n_components=2, **settings):
    return SparseCCA(
        n_components, **{"rendering": "joint", "scale": "rows", "held_out": 0, "n_features": None, **settings}
    )


def factors_of(model, data):
    """T of a fit to these views, its prepared views and settings."""
    settings = model._settings(len(data))
    prepared = fit.prepare_chosen(Views(tuple(data), Groups.of(None, data[0].shape[0])), settings)
    settings = fit._adapted(settings, prepared)
    return fit.rotate(prepared, fit.find(prepared, model.n_components, settings), settings), prepared, settings


def ridge_regression(A, targets, ridge):
    return np.linalg.solve(A.T @ A + ridge * np.eye(A.shape[1]), A.T @ targets)


def with_norms_of(scores, T):
    return scores / np.linalg.norm(scores, axis=0) * np.linalg.norm(T, axis=0)


@pytest.fixture
def few(rng):
    """Five samples of four and three features: small enough to look at."""
    return rng.standard_normal((5, 4)), rng.standard_normal((5, 3))


@pytest.fixture(scope="module")
def data():
    return made_words(80, sizes=(40, 30), n_subjects=4, length=200.0, seed=2)


@pytest.fixture(scope="module")
def new():
    return made_words(30, sizes=(40, 30), n_subjects=4, length=200.0, seed=3)


class TestWeights:
    @stored
    def test_solve_both_ridge_equations(self, few, store):
        """The factor first, then what this gives as the score of the other view."""
        model = joint(feature_weights=None).fit(*map(store, few))
        T = np.asarray(factors_of(joint(feature_weights=None), few)[0].scores)
        A, B = (by_hand(view) for view in few)  # samples have the norm 1: the ridge is 0.25, of few samples
        first = [ridge_regression(view, T, 0.25) for view in (A, B)]
        expected = (
            ridge_regression(A, with_norms_of(B @ first[1], T), 0.25),
            ridge_regression(B, with_norms_of(A @ first[0], T), 0.25),
        )
        for weights, oracle in zip(model.weights_, expected, strict=True):
            np.testing.assert_allclose(weights, oracle, atol=1e-9)
        assert np.abs(expected[0] - first[0]).max() > 1e-3  # the second step does something

    @stored
    def test_solve_them_on_the_features_that_are_read_alone(self, rng, store):
        X, Y = (rng.standard_normal((50, m)) + 2 * rng.standard_normal((50, 1)) for m in (12, 9))
        settings = {"feature_weights": None, "n_features": 5, "ridge": 0.3}
        model = joint(**settings).fit(store(X), store(Y))
        T = np.asarray(factors_of(joint(**settings), (X, Y))[0].scores)
        read = [np.flatnonzero(weights) for weights in model.feature_weights_]
        assert [len(each) for each in read] == [5, 5]
        A, B = (by_hand(view[:, features]) for view, features in zip((X, Y), read, strict=True))
        ridge = 0.3 * 0.25 * np.sqrt(50)
        targets = with_norms_of(B @ ridge_regression(B, T, ridge), T)
        np.testing.assert_allclose(model.x_weights_[read[0]], ridge_regression(A, targets, ridge), atol=1e-9)

    def test_of_few_samples_are_not_more_regularised_than_factors(self):
        assert [joint_ridge(0.3, n) for n in (5, 16, 64, 10_000, 10**6)] == pytest.approx([0.3, 0.3, 0.6, 7.5, 7.5])

    def test_are_those_that_the_budget_is_judged_by(self, data):
        model = joint(feature_weights=None).fit(*data)
        factors, prepared, settings = factors_of(joint(feature_weights=None), data)
        ridges = [fit.ridge_of(settings, view) for view in prepared.views]
        regressions = list(map(joint_regression, prepared.views, ridges))
        for weights, found in zip(joint_weights(regressions, factors.scores), model.weights_, strict=True):
            np.testing.assert_allclose(weights, found, atol=1e-9)

    def test_turn_with_the_factors(self, data, rng):
        """Of the first step, which solves linear equations; the second makes every score as long as its factor."""
        view = Preparation.fit(data[0]).transform(data[0])
        T = rng.standard_normal((80, 3))
        Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        turned, plain = (weigh_all(Regression(view, 0.7), scores) for scores in (T @ Q, T))
        np.testing.assert_allclose(turned.weights, plain.weights @ Q, atol=1e-10)

    @pytest.mark.parametrize("n_features", [None, 12])
    def test_do_not_depend_on_storage_order_or_the_unit_of_a_view(self, data, rng, n_features):
        X, Y = data
        rows, columns = rng.permutation(80), rng.permutation(40)
        plain = joint(n_features=n_features).fit(X, Y).weights_
        others = {
            "dense": joint(n_features=n_features).fit(X.toarray(), Y.toarray()).weights_,
            "rows": joint(n_features=n_features).fit(X[rows], Y[rows]).weights_,
            "columns": joint(n_features=n_features).fit(X[:, columns], Y).weights_,
            "unit": joint(n_features=n_features).fit(1e3 * X, Y).weights_,
        }
        others["columns"][0] = others["columns"][0][np.argsort(columns)]
        for name, found in others.items():
            for one, other in zip(found, plain, strict=True):  # as precise as the rotation
                np.testing.assert_allclose(one, other, atol=1e-5 * np.abs(other).max(), err_msg=name)

    @stored
    def test_are_all_that_is_read(self, data, new, store):
        model = joint(n_features=12).fit(*map(store, (view.toarray() for view in data)))
        for weights, of_features in zip(model.weights_, model.feature_weights_, strict=True):
            assert weights[of_features != 0].all()  # of every component
            assert not weights[of_features == 0].any()
        unread = (model.x_feature_weights_ == 0).astype(float)
        samples = new[0].toarray()
        expected = model.transform(store(samples))
        assert expected.any(axis=1).sum() > 20
        np.testing.assert_allclose(model.transform(store(samples + unread * 50.0)), expected, atol=1e-12)
        first = np.flatnonzero(unread == 0)[0]
        changed = samples.copy()
        changed[:, first] += 5.0
        assert np.abs(model.transform(store(changed)) - expected).max() > 1e-3


class TestCertificate:
    def test_is_the_gap_of_the_dual_problem(self, data, rng, monkeypatch):
        """For any weights: at least the distance to the optimum, and the formula for r = t - A w."""
        view = Preparation.fit(data[0]).transform(data[0])
        A, T, ridge = view.columns(np.arange(40)), rng.standard_normal((80, 3)), 0.7
        W = ridge_regression(A, T, ridge)

        def objective(weights):
            return np.sum((T - A @ weights) ** 2, axis=0) + ridge * np.sum(weights**2, axis=0)

        exact = weigh_all(Regression(view, ridge), T)
        np.testing.assert_allclose(exact.weights, W, atol=1e-10)
        np.testing.assert_allclose(exact.objective, objective(W), rtol=1e-10)
        assert exact.dual_gap.max() < 1e-10
        for size in (1e-6, 1e-3, 1.0):
            wrong = W + size * rng.standard_normal(W.shape)
            solved = dense_weights(view, T, ridge)
            monkeypatch.setattr(
                Regression, "weights_of", lambda *given, w=wrong, s=solved: type(s)(w, s.residuals, 0.0)
            )
            found = weigh_all(Regression(view, ridge), T)
            monkeypatch.undo()
            np.testing.assert_allclose(found.objective, objective(wrong), rtol=1e-10)
            distance = objective(wrong) - objective(W)
            assert (distance <= found.dual_gap * (1 + 1e-6) + 1e-12).all()
            assert (found.dual_gap < 1e4 * size**2).all()
            r = T - A @ wrong
            dual = 2 * np.sum(T * r, axis=0) - np.sum(r**2, axis=0) - np.sum((A.T @ r) ** 2, axis=0) / ridge
            np.testing.assert_allclose(found.dual_gap, objective(wrong) - dual, rtol=1e-5, atol=1e-11)

    def test_of_a_fit_adds_those_of_the_nets_and_of_the_weights(self, data):
        model = joint(tol=1e-8).fit(*data)
        assert model.dual_gap_.shape == (2, 2)
        assert (model.dual_gap_ >= -1e-12).all()
        assert model.dual_gap_.max() <= 1e-7
        assert model.converged_.all()


class TestShown:
    def test_are_the_features_of_an_elastic_net(self, data):
        settings = {"feature_weights": None, "n_features": 20, "tol": 1e-10}
        model = joint(**settings).fit(*data)
        factors, prepared, adapted = factors_of(joint(**settings), data)
        T = np.asarray(factors.scores)
        for v, view in enumerate(prepared.views):
            A, ridge = view.columns(np.arange(view.shape[1])), fit.ridge_of(adapted, view)
            for j in range(2):
                both = model.mu_[v, j] / 2 + ridge
                net = ElasticNet(alpha=both / 80, l1_ratio=model.mu_[v, j] / 2 / both, fit_intercept=False, tol=1e-12)
                expected = net.set_params(max_iter=100_000).fit(A, T[:, j]).coef_
                certain = (expected == 0) | (np.abs(expected) > 1e-7)
                np.testing.assert_array_equal(
                    model.shown_[v].toarray()[certain, j], (expected != 0)[certain], err_msg=f"view {v}, factor {j}"
                )
                assert certain.sum() >= view.shape[1] - 1
                assert 0 < np.count_nonzero(expected) < 20

    def test_are_fewer_with_a_larger_penalty_which_changes_no_weight(self, data):
        few, many = (joint(mu=f"auto*{factor}").fit(*data) for factor in (4, 1))
        for v in range(2):
            assert 0 < few.shown_[v].sum() < many.shown_[v].sum()
            np.testing.assert_array_equal(few.weights_[v], many.weights_[v])

    def test_agree_with_what_is_read(self, data):
        model = joint(n_features=12, mu="auto*3").fit(*data)
        assert model.rendering_ == ["joint", "joint"]
        for v, (shown, weights) in enumerate(zip(model.shown_, model.weights_, strict=True)):
            assert shown.shape == weights.shape
            assert shown.dtype == bool
            assert not (shown.toarray() & (weights == 0)).any()
            assert 0 < shown.sum() < np.count_nonzero(weights)
            assert model.n_read_[v] == np.count_nonzero(weights.any(axis=1)) == 12
            assert model.n_read_[v] == np.count_nonzero(model.feature_weights_[v])

    def test_are_those_with_weights_where_these_are_sparse_or_dense(self, data):
        for rendering in ("sparse", "dense"):
            model = joint(rendering=rendering).fit(*data)
            assert model.shown_ == [None, None]
            assert model.rendering_ == [rendering] * 2

    def test_are_not_looked_for_in_folds(self, data, monkeypatch):
        """Nobody sees them there, and their selection takes most of the time."""
        seen = []
        original = fit.Selection
        monkeypatch.setattr(fit, "Selection", lambda *given: seen.append(1) or original(*given))
        assert np.isfinite(joint(held_out=3).fit(*data).held_out_correlations_).all()
        assert len(seen) == 2


class TestOtherViews:
    def test_three_views(self):
        """Each other view counts by what it predicts; without shared subjects, nothing."""
        data = made_words(120, sizes=(40, 30, 35), n_subjects=4, length=300.0, seed=4)
        strange = made_words(120, sizes=(30,), n_subjects=4, length=300.0, seed=5)
        settings = {"rendering": "joint", "scale": "rows", "held_out": 0, "n_features": 15}
        model = MultiSparseCCA(2, **settings).fit(data)
        assert model.n_read_ == [15] * 3
        assert model.rendering_ == ["joint"] * 3
        assert (model.pair_correlations_ > 0.5).all()
        beside = MultiSparseCCA(2, **settings).fit([*data[:2], *strange])
        assert (beside.pair_correlations_[0] > beside.pair_correlations_[1:].max(axis=0) + 0.2).all()

    @pytest.mark.filterwarnings("ignore::scca.DataWarning")
    def test_three_views_of_which_two_are_copies(self, data):
        """Two equal views share everything; their weights are equal."""
        model = MultiSparseCCA(2, rendering="joint", scale="rows", held_out=0, n_features=10).fit(
            [data[0], data[1], data[0]]
        )
        np.testing.assert_allclose(model.weights_[0], model.weights_[2], atol=1e-8)

    @pytest.mark.parametrize("beside", ["sparse", "dense"])
    def test_joint_beside_sparse_or_dense(self, data, beside):
        model = joint(rendering=("joint", beside), n_features=12, mu="auto*2").fit(*data)
        assert model.rendering_ == ["joint", beside]
        assert model.shown_[0] is not None
        assert model.shown_[1] is None
        assert (model.x_weights_ != 0).sum() == 2 * 12
        if beside == "dense":
            assert (model.y_weights_ != 0).all()  # its features mean nothing one by one, and are not chosen among
        else:
            assert 0 < np.count_nonzero(model.y_weights_) < 2 * 12
        A, B = model.transform_pair(*data)
        assert min(np.corrcoef(A[:, j], B[:, j])[0, 1] for j in range(2)) > 0.6

    def test_joint_beside_a_kernel(self, data):
        kernel = Kernel("rbf", gamma=0.1)
        views = [data[0], data[1].toarray()]
        model = joint(rendering="auto", kernel=("linear", kernel), n_features=12).fit(*views)
        assert model.rendering_ == ["joint", "sparse"]
        assert model.n_read_[0] == 12
        assert model.y_weights_.shape == (80, 2)  # on samples
        A, B = model.transform_pair(data[0], views[1])
        assert np.corrcoef(A[:, 0], B[:, 0])[0, 1] > 0.6

    def test_automatically_joint_are_views_scaled_by_samples(self, data, rng):
        table = np.hstack([data[1].toarray(), 30.0 * rng.standard_normal((80, 1))])
        model = joint(rendering="auto", scale=("rows", "columns")).fit(data[0], table)
        assert model.rendering_ == ["joint", "sparse"]
