"""Bad settings of AnchoredCCA alone; those of all estimators are in tests/estimators."""

from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from scca import AnchoredCCA, AnchoredCCACV

anchored = partial(AnchoredCCA, anchors="cross-energy")
CHOICES = {
    "representation": "one of 'primal-dual', 'dual-primal', 'primal-primal', 'dual-dual'",
    "algorithm": "'working-set' or 'greedy'",
    "n_candidates": "an integer of at least 1",
}


@pytest.fixture
def X(rng):
    return rng.standard_normal((10, 6))


@pytest.fixture
def Y(rng):
    return rng.standard_normal((10, 5))


def test_features_bound_the_components(X, Y):
    with pytest.raises(ValueError, match=r"upper bound is n_features=6 of X\. Got 7 instead"):
        anchored(7).fit(X, Y)
    with pytest.raises(ValueError, match=r"upper bound is n_features=5 of Y\. Got 6 instead"):
        anchored(6, representation="dual-primal").fit(X, Y)


@pytest.mark.parametrize("value", [None, True, [], np.array([0, 1]), "automatic", "auto*0", np.nan, -1.0])
@pytest.mark.parametrize("name", ["mu", "gamma"])
def test_odd_penalties(X, Y, name, value):
    with pytest.raises(ValueError, match=f'^{name} must be "auto", "auto\\*FACTOR".* or a number .*; got'):
        anchored(1, **{name: value}).fit(X, Y)


def test_gamma_may_be_nothing(X, Y):
    assert anchored(1, mu="auto*0.01", gamma=0, feature_weights="shared").fit(X, Y).gamma_[0] == 0


@pytest.mark.parametrize("value", ["x", "best", "random", {}, 3, True, b"best", np.array([[0]]), [0.5]])
def test_odd_anchors(X, Y, value):
    with pytest.raises(ValueError, match='^anchors must be "sequential", .*a sequence of indices.*; got'):
        AnchoredCCA(1, anchors=value).fit(X, Y)


def test_anchors(X, Y):
    with pytest.raises(ValueError, match=r"anchors must lie between 0 and 9, .* got 10"):
        AnchoredCCA(1, anchors=[10]).fit(X, Y)
    with pytest.raises(ValueError, match=r"at least n_components=3 indices; got 2: give more anchors or reduce"):
        AnchoredCCA(3, anchors=[0, 1]).fit(X, Y)


@pytest.mark.parametrize("value", ["x", [], {}, np.array([1]), np.array([1, 2]), object, 1.5, b"auto"])
@pytest.mark.parametrize("name", CHOICES)
def test_odd_types(X, Y, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be {CHOICES[name]}.*; got"):
        anchored(1, **{name: value}).fit(X, Y)
    with pytest.raises(ValueError, match=f"^{name} must be"):  # before the first fold
        AnchoredCCACV(1, cv=2, **{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", ["x", []])
def test_scikit_learn_may_ask_about_a_wrong_setting(X, Y, value):
    """Its searches read an estimator's tags before they fit it."""
    with pytest.raises(ValueError, match="representation must be"):
        cross_val_score(anchored(1, representation=value), X, Y, cv=2, error_score="raise")


@pytest.mark.parametrize("anchors", ["sequential", "cross-energy", [0, 1]])
def test_candidates_are_for_the_best_objective(X, Y, anchors):
    with pytest.raises(ValueError, match='^n_candidates is for anchors="best-objective"; got it with .*: leave it out'):
        AnchoredCCA(2, anchors=anchors, n_candidates=3).fit(X, Y)
