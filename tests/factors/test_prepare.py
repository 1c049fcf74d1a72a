"""Feature weights against regressions that really leave samples out, and what they do to a model."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare
from sklearn.kernel_ridge import KernelRidge

from scca import AnchoredCCA, KernelCCA, SparseCCA
from scca.datasets import load_trilingual, make_planted
from scca.factors import constants
from scca.factors.prepare import held_out_gain, shared_weights, weights_of
from scca.text import TextVectorizer
from scca.views import Preparation


def prepared(X, **preparation):
    return Preparation.fit(X, **preparation).transform(X)


anchored = partial(AnchoredCCA, anchors="cross-energy", feature_weights="shared", scale="auto")
modes = pytest.mark.parametrize("model", [partial(SparseCCA, held_out=0), anchored], ids=["factors", "anchored"])


@pytest.fixture
def views(rng):
    shared = rng.standard_normal((14, 2))
    X = np.hstack([shared @ rng.standard_normal((2, 4)), rng.standard_normal((14, 5))])
    Y = np.hstack([shared @ rng.standard_normal((2, 3)), rng.standard_normal((14, 3))])
    return X + 0.2 * rng.standard_normal(X.shape), Y + 0.2 * rng.standard_normal(Y.shape)


def unit_kernel(Y):
    centred = Y - Y.mean(axis=0)
    K = centred @ centred.T
    return K * len(K) / np.trace(K)


def left_out_r2(x, K):
    """Ridge regression with a mean, fitted anew without each sample; K is centred over all samples, as in the hat."""
    n = len(x)
    residuals, deviations = np.empty(n), np.empty(n)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        # the mean is unpenalised: a kernel with a large constant added has the same fit
        wide = KernelRidge(alpha=1.0, kernel="precomputed").fit(K[np.ix_(others, others)] + 1e7, x[others])
        residuals[i] = x[i] - wide.predict(K[i, others][None] + 1e7)[0]
        deviations[i] = x[i] - x[others].mean()
    return 1 - np.sum(residuals**2) / np.sum(deviations**2)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_held_out_r2_is_that_of_regressions_without_the_sample(views, store):
    X, Y = views
    A, K = prepare(X), unit_kernel(prepare(Y))
    gain, deviation = held_out_gain(prepared(store(X)), prepare(Y) @ prepare(Y).T)
    expected = [left_out_r2(A[:, i], K) for i in range(A.shape[1])]
    np.testing.assert_allclose(gain / deviation, expected, atol=1e-5)
    assert (gain / deviation)[:4].mean() > 0.3 > 0.1 > (gain / deviation)[4:].mean()  # the first four are shared


def test_a_feature_that_one_of_two_other_views_predicts_gains_half(views):
    """The mean over the other views; a view of noise predicts nothing, and costs a little."""
    X, Y = views
    noise = np.random.default_rng(5).normal(size=Y.shape)
    A, kernels = prepared(X), [prepare(each) @ prepare(each).T for each in (Y, noise)]
    (of_both, deviation), (of_one, _), (of_noise, _) = (
        held_out_gain(A, *chosen) for chosen in (kernels, kernels[:1], kernels[1:])
    )
    np.testing.assert_allclose(of_both, (of_one + of_noise) / 2, rtol=1e-10)
    assert (of_both / deviation)[:4].mean() < 0.6 * (of_one / deviation)[:4].mean()
    weights = shared_weights([A, prepared(Y), prepared(noise)])[0]
    np.testing.assert_allclose(weights, np.maximum(of_both / deviation, 0.02) ** 0.25, rtol=1e-10)


def test_a_constant_feature_keeps_the_least_weight(views):
    X, Y = views
    X[:, 8] = 3.0
    x_weights, y_weights = shared_weights([prepared(X, scale=None), prepared(Y, scale=None)])
    assert x_weights[8] == pytest.approx(0.02**0.25)
    assert np.isfinite(x_weights).all()
    assert np.isfinite(y_weights).all()
    assert shared_weights([prepared(X), Y @ Y.T])[1] is None


@pytest.mark.parametrize("representation", ["primal-dual", "dual-primal", "primal-primal", "dual-dual"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_a_weighted_model_is_that_of_weighted_data(views, store, representation):
    """Anchored; factors read chosen features only, whose weights test_factors.py multiplies by hand."""
    X, Y = views
    settings = {"representation": representation, "tol": 1e-9, "scale": "rows"}
    model = anchored(3, **settings).fit(store(X), store(Y))
    weighted = X * model.x_feature_weights_, Y * model.y_feature_weights_
    plain = anchored(3, feature_weights=None, **settings).fit(*weighted)
    np.testing.assert_allclose(model.x_weights_, plain.x_weights_, atol=1e-7)
    new = np.random.default_rng(0).standard_normal(X.shape), np.random.default_rng(1).standard_normal(Y.shape)
    found = model.transform_pair(*map(store, new))
    expected = plain.transform_pair(new[0] * model.x_feature_weights_, new[1] * model.y_feature_weights_)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)


@modes
def test_swapping_the_views_swaps_the_weights(views, model):
    X, Y = views
    one, other = model(1).fit(X, Y), model(1).fit(Y, X)
    np.testing.assert_allclose(one.x_feature_weights_, other.y_feature_weights_, rtol=1e-12)


@modes
def test_chosen_features_are_all_that_is_read(views, model):
    X, Y = views
    fitted = model(2, n_features=3, mu="auto*0.1").fit(X, Y)
    for weights in (fitted.x_feature_weights_, fitted.y_feature_weights_):
        assert np.count_nonzero(weights) == 3
    unread = fitted.x_feature_weights_ == 0
    np.testing.assert_allclose(fitted.transform(X + unread * 50.0), fitted.transform(X), atol=1e-12)


def test_features_are_chosen_without_being_weighted(views):
    model = SparseCCA(1, feature_weights=None, n_features=3, held_out=0, rendering="joint").fit(*views)
    assert [sorted(weights) for weights in model.feature_weights_] == [[0.0] * 6 + [1.0] * 3, [0.0] * 3 + [1.0] * 3]


@modes
def test_planted_features_are_chosen(model):
    made = make_planted(120, 150, 100, n_factors=1, n_active=6, strength=1.5, random_state=1)
    fitted = model(1, n_features=6).fit(*made.views)
    for weights, loadings in (
        (fitted.x_feature_weights_, made.x_loadings),
        (fitted.y_feature_weights_, made.y_loadings),
    ):
        planted = np.flatnonzero(loadings.any(axis=1))
        assert np.isin(np.flatnonzero(weights), planted).all()
        assert np.count_nonzero(weights) >= 5  # of the six; a factor may leave one without a weight


@pytest.mark.parametrize("scale", ["rows", "both"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_features_left_are_judged_as_if_there_were_no_others(rng, store, scale):
    """Dropping features is the same as never having had them: norms are those over the features left."""
    X, Y = rng.standard_normal((30, 80)), rng.standard_normal((30, 70))
    left = [np.sort(rng.choice(m, 25, replace=False)) for m in (80, 70)]
    found = shared_weights([prepared(store(V), scale=scale) for V in (X, Y)], left)
    again = shared_weights([prepared(store(V[:, kept]), scale=scale) for V, kept in zip((X, Y), left, strict=True)])
    for weights, alone, kept in zip(found, again, left, strict=True):
        np.testing.assert_allclose(weights[kept], alone, rtol=1e-9)
        assert not np.delete(weights, kept).any()
        assert alone.min() < alone.max()  # some are above the least weight


def test_many_pairs_are_judged_by_some_of_them_evenly_spaced(monkeypatch, rng):
    """The power is that of all 60 pairs: R^2 to the power of a quarter, as for any number up to 100."""
    X, Y = rng.standard_normal((60, 5)), rng.standard_normal((60, 4))
    Y[:, :2] += X[:, :2]
    monkeypatch.setattr(constants, "MOST_JUDGED", 20)
    rows = np.unique(np.linspace(0, 59, 20).astype(int))
    few = shared_weights([prepared(X[rows]), prepared(Y[rows])])
    np.testing.assert_array_equal(anchored(1, scale="rows").fit(X, Y).x_feature_weights_, few[0])
    assert len(set(few[0])) > 1


@pytest.mark.parametrize(("n", "power"), [(4, 0.25), (100, 0.25), (101, 25 / 101), (400, 1 / 16), (100_000, 0.00025)])
def test_feature_weights_fade_with_more_samples(n, power):
    explained = np.array([-np.inf, -0.3, 0.0, 0.02, 0.3, 1.0])
    expected = np.array([0.02, 0.02, 0.02, 0.3, 1.0]) ** power
    np.testing.assert_allclose(weights_of(explained, n), [0.0, *expected], rtol=1e-12)


@pytest.mark.parametrize("n_components", [10, 40])
def test_more_mates_of_real_texts_are_found_than_without(n_components):
    corpus = load_trilingual()
    vectorizers = TextVectorizer(log_counts=True, min_df=2), TextVectorizer(log_counts=True, min_df=2)
    X, Y = (v.fit_transform(texts[:100]) for v, texts in zip(vectorizers, (corpus.en, corpus.fr), strict=True))
    new = [v.transform(texts[100:]) for v, texts in zip(vectorizers, (corpus.en, corpus.fr), strict=True)]
    for model in (KernelCCA(n_components), SparseCCA(n_components, rendering="dense", held_out=0)):
        weighted, plain = (
            model.set_params(feature_weights=weights).fit(X, Y).score(*new) for weights in ("shared", None)
        )
        assert weighted > plain


def test_bad_settings_are_refused(views):
    with pytest.raises(ValueError, match="feature_weights must be 'shared' or None; got 'idf'"):
        SparseCCA(1, feature_weights="idf").fit(*views)
    for value in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="n_features must be"):
            SparseCCA(1, n_features=value).fit(*views)
    for model in (KernelCCA, AnchoredCCA):
        with pytest.raises(ValueError, match="n_features must be"):
            model(1, feature_weights="shared", n_features="auto").fit(*views)
