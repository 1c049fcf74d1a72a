"""Anchor strategies against brute force on dense matrices."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import deflate_features, deflate_kernel, prepare

from scca import AnchoredCCA, solve_component
from scca._checks import Penalty
from scca.anchored import (
    AnchoredSettings,
    CrossEnergy,
    DeflatedView,
    FixedOrder,
    anchor_strategy,
    extract_components,
)
from scca.datasets import make_planted
from scca.views import LinearKernelView, Preparation, StoredKernelView

N = 25
NAMES = ["sequential", "cross-energy", "best-objective", list(range(N - 1, -1, -1))]
PREPARED = {"center": True, "scale": "rows"}


@pytest.fixture
def pairs():
    return make_planted(N, 30, 20, n_active=5, random_state=0).views


@pytest.fixture
def often_empty():
    """Few features: many anchors have an empty component at the automatic mu."""
    rng = np.random.default_rng(2)
    return rng.standard_normal((N, 5)), rng.standard_normal((N, 6))


def walk(model, X, Y):
    """The dense views before each component, the anchors used until then, and the anchor taken."""
    X, K = prepare(X), prepare(Y) @ prepare(Y).T
    for j, anchor in enumerate(model.anchors_.tolist()):
        yield X, K, model.anchors_[:j].tolist(), anchor
        X, K = deflate_features(X, model.x_weights_[:, j]), deflate_kernel(K, model.y_weights_[:, j])


def cross_energy(X, K):
    return np.sum((X.T @ K) ** 2, axis=0)


def unused_first(values, used):
    return [k for k in np.argsort(-values).tolist() if k not in used]


def best(X, K, anchors, **settings):
    """The anchor whose component has the smallest objective, of those that have one."""
    solved = {k: solve_component(X, K, k, **settings) for k in anchors}
    return min((k for k in solved if solved[k].w.any()), key=lambda k: solved[k].objective)


def views(X, Y, kind="stored"):
    left, right = (Preparation.fit(view, **PREPARED).transform(view) for view in (X, Y))
    kinds = {"stored": StoredKernelView.of_linear, "implicit": LinearKernelView, "features": lambda view: view}
    return left, kinds[kind](right)


class Counting:
    """A view that counts products with the whole of it, and has nothing else to offer."""

    def __init__(self, view):
        self._view, self.calls = view, 0
        self.shape, self.passes_for_columns = view.shape, view.passes_for_columns

    def matvec(self, weights):
        self.calls += 1
        return self._view.matvec(weights)

    def rmatvec(self, r):
        self.calls += 1
        return self._view.rmatvec(r)


class TestCrossEnergy:
    def test_the_largest_of_the_deflated_views(self, pairs):
        model = AnchoredCCA(8, anchors="cross-energy", tol=1e-8).fit(*pairs)
        for X, K, used, anchor in walk(model, *pairs):
            assert anchor == unused_first(cross_energy(X, K), used)[0]

    @pytest.mark.parametrize("kind", ["stored", "implicit", "features"])
    def test_exact_where_affordable(self, pairs, kind):
        left, right = views(*pairs, kind)
        X, M = prepare(pairs[0]), prepare(pairs[1])
        M = M if kind == "features" else M @ M.T
        np.testing.assert_allclose(CrossEnergy().energies(left, right), cross_energy(X, M), rtol=1e-10)

    @pytest.mark.parametrize("kind", ["implicit", "features"])
    def test_estimates_are_unbiased(self, pairs, kind):
        """2,000 probes leave a relative standard error of 3 %."""
        left, right = views(*pairs, kind)
        exact = CrossEnergy().energies(left, right)
        estimate = CrossEnergy(affordable=0, probes=2000).energies(left, right)
        np.testing.assert_allclose(estimate, exact, rtol=0.15)

    def test_a_clear_winner_is_found_by_few_products(self, rng):
        X, Y = rng.standard_normal((60, 40)), rng.standard_normal((60, 30))
        X[17] *= 8
        Y[17] *= 8
        left, right = (Preparation.fit(A, scale=None).transform(A) for A in (X, Y))
        right = LinearKernelView(right)
        counted = Counting(left), Counting(right)
        order = CrossEnergy(affordable=59).ranked(*counted)
        assert order[0] == CrossEnergy().ranked(left, right)[0] == 17
        assert sum(view.calls for view in counted) == 16 * 2
        exact, estimate = (CrossEnergy(affordable=a).energies(left, right) for a in (60, 0))
        assert np.corrcoef(np.log(exact), np.log(estimate))[0, 1] > 0.7

    def test_all_components_share_the_probes(self, pairs):
        left, right = views(*pairs, "implicit")
        strategy = CrossEnergy(affordable=0)
        before = strategy.energies(left, right)
        np.testing.assert_array_equal(strategy.energies(left, right), before)
        left = DeflatedView(left)
        left = left.deflated(left.direction(left.matvec(np.ones(30))))
        assert not np.allclose(strategy.energies(left, right), before, rtol=1e-3)


class TestBestObjective:
    @pytest.mark.parametrize("penalties", [{}, {"mu": "auto*0.3", "gamma": "auto*0.5"}])
    def test_the_smallest_of_all_problems(self, pairs, penalties):
        settings = {**penalties, "tol": 1e-8}
        model = AnchoredCCA(3, anchors="best-objective", **settings).fit(*pairs)
        for X, K, used, anchor in walk(model, *pairs):
            assert anchor == best(X, K, set(range(N)) - set(used), **settings)

    def test_the_objective_is_no_larger_than_that_of_any_other_strategy(self, pairs):
        first, *others = (AnchoredCCA(1, anchors=name).fit(*pairs).objective_[0] for name in NAMES[2::-1])
        assert first < min(others)

    @pytest.mark.parametrize("n_candidates", [1, 4])
    def test_the_best_of_those_with_the_largest_cross_energy(self, pairs, n_candidates):
        model = AnchoredCCA(3, anchors="best-objective", n_candidates=n_candidates, tol=1e-8).fit(*pairs)
        for X, K, used, anchor in walk(model, *pairs):
            assert anchor == best(X, K, unused_first(cross_energy(X, K), used)[:n_candidates], tol=1e-8)

    def test_one_candidate_is_cross_energy_and_enough_are_all(self, pairs):
        for n_candidates, same in ((1, {"anchors": "cross-energy"}), (N, {"anchors": "best-objective"})):
            model = AnchoredCCA(3, anchors="best-objective", n_candidates=n_candidates).fit(*pairs)
            assert model.anchors_.tolist() == AnchoredCCA(3, **same).fit(*pairs).anchors_.tolist()

    def test_empty_components_are_no_candidates(self, often_empty):
        settings = {"mu": "auto*1.3", "tol": 1e-8}
        X, Y = map(prepare, often_empty)
        model = AnchoredCCA(1, anchors="best-objective", **settings).fit(*often_empty)
        assert model.anchors_[0] == best(X, Y @ Y.T, range(N), **settings)

    @pytest.mark.parametrize("anchors", ["sequential", "cross-energy", [3, 1]])
    def test_candidates_of_another_strategy_are_refused(self, pairs, anchors):
        with pytest.raises(ValueError, match='^n_candidates is for anchors="best-objective"; got it with .*: leave it'):
            AnchoredCCA(1, anchors=anchors, n_candidates=3).fit(*pairs)

    @pytest.mark.parametrize("n_candidates", [0, -1, 2.5, "all"])
    def test_a_number_that_is_none(self, pairs, n_candidates):
        with pytest.raises(ValueError, match="^n_candidates must be an integer of at least 1; got"):
            AnchoredCCA(1, anchors="best-objective", n_candidates=n_candidates).fit(*pairs)


class TestEmptyComponents:
    def test_wait_until_the_others_had_their_turn(self):
        strategy = FixedOrder([4, 2, 0, 1, 3])

        def order():
            return list(strategy.candidates(None, None))

        strategy.take(0, [4, 2])
        assert order() == [1, 3, 4, 2]
        strategy.take(3, [1])
        assert order() == [4, 2, 1]
        strategy.take(2, [4])
        assert order() == [1, 4]

    @pytest.mark.parametrize(
        ("anchors", "measure"), [("sequential", lambda X, K: -np.arange(N)), ("cross-energy", cross_energy)]
    )
    def test_whatever_the_strategy(self, often_empty, anchors, measure):
        """Follow the rule on dense matrices: ranked anchors that never failed, then those that wait."""
        settings = {"mu": "auto*1.3", "tol": 1e-8}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = AnchoredCCA(4, anchors=anchors, **settings).fit(*often_empty)
        waiting, passed_over = [], 0

        def is_empty(k):
            return not solve_component(X, K, k, **settings).w.any()

        for X, K, used, anchor in walk(model, *often_empty):
            ranked = unused_first(measure(X, K), used)
            order = [k for k in ranked if k not in waiting] + [k for k in waiting if k in ranked]
            empty = list(itertools.takewhile(is_empty, order))
            assert anchor == order[len(empty)]
            waiting = [k for k in waiting if k not in [*empty, anchor]] + empty
            passed_over += len(empty)
        assert passed_over

    def test_ranking_is_done_once_a_component(self, often_empty, monkeypatch):
        """However many of the ranked anchors turn out empty."""
        used = []
        rank = CrossEnergy.ranked
        monkeypatch.setattr(CrossEnergy, "ranked", lambda self, *pair: used.append([*self.used]) or rank(self, *pair))
        model = AnchoredCCA(3, anchors="cross-energy").fit(*often_empty)
        assert used == [model.anchors_[:j].tolist() for j in range(3)]


@pytest.mark.parametrize("name", NAMES, ids=["sequential", "cross-energy", "best-objective", "given"])
class TestEveryStrategy:
    def test_same_bytes_for_any_number_of_threads(self, pairs, name):
        one, many = (AnchoredCCA(4, anchors=name, n_jobs=n).fit(*pairs) for n in (None, 3))
        assert one.anchors_.tolist() == many.anchors_.tolist()
        assert one.x_rotations_.tobytes() == many.x_rotations_.tobytes()
        assert one.y_weights_.tobytes() == many.y_weights_.tobytes()

    def test_never_the_same_twice_and_any_storage(self, pairs, name):
        model = AnchoredCCA(12, anchors=name).fit(*pairs)
        assert len(set(model.anchors_)) == 12
        sparse = AnchoredCCA(12, anchors=name).fit(*map(sp.csr_array, pairs))
        assert sparse.anchors_.tolist() == model.anchors_.tolist()

    def test_anchors_may_be_features(self, pairs, name):
        """The right view's columns are features."""
        settings = AnchoredSettings(
            Penalty.parse("auto", "mu", zero_allowed=False), Penalty(value=np.inf), 1e-8, 100, "greedy"
        )
        strategy = anchor_strategy(name if isinstance(name, str) else [19, 4, 11], 20, 3)
        left, right = views(*pairs, "features")
        found = [component.anchor for component in extract_components(left, right, 3, strategy, settings).components]
        X, M = map(prepare, pairs)
        first = {
            "sequential": 0,
            "cross-energy": int(np.argmax(cross_energy(X, M))),
            "best-objective": min(range(20), key=lambda k: solve_component(X, y=M[:, k], fit_dual=False).objective),
        }
        assert found[0] == first.get(str(name), 19)
        assert len(set(found)) == 3


@pytest.mark.parametrize(
    "gone", ["random", "energy", "medoids", "best", "best-of-4", None, lambda left, right, used: [0]]
)
def test_strategies_that_are_no_more(pairs, gone):
    with pytest.raises(ValueError, match='anchors must be "sequential", .*"best-objective" or a sequence of indices'):
        AnchoredCCA(1, anchors=gone).fit(*pairs)
