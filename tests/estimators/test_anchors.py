"""Anchor strategies against brute force on dense matrices."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import deflate_features, deflate_kernel, prepare

import scca
from scca import solve_component
from scca.datasets import make_planted
from scca.estimators._anchors import CrossEnergy, Energy, FixedOrder, Medoids, anchor_strategy
from scca.estimators._components import Settings, extract_components
from scca.solver import Penalty
from scca.views import DeflatedView, LinearKernelView, Preparation, StoredKernelView

N = 25
NAMES = ["sequential", "random", "energy", "cross-energy", "medoids", "best", "best-of-4"]
PREPARED = {"center": True, "normalize": True}


@pytest.fixture
def pairs():
    return make_planted(N, 30, 20, n_active=5, random_state=0).views


@pytest.fixture
def often_empty():
    """Few features: many anchors have an empty component at the automatic mu."""
    rng = np.random.default_rng(2)
    return rng.standard_normal((N, 5)), rng.standard_normal((N, 6))


def SparseCCA(n_components, **settings):
    """With the paper's settings, which the oracles follow."""
    return scca.SparseCCA(n_components, **{**scca.PAPER, **settings})


def walk(model, X, Y):
    """The dense views before each component, the anchors used until then, and the anchor taken."""
    X, K = prepare(X), prepare(Y) @ prepare(Y).T
    for j, anchor in enumerate(model.anchors_.tolist()):
        yield X, K, model.anchors_[:j].tolist(), anchor
        X, K = deflate_features(X, model.x_weights_[:, j]), deflate_kernel(K, model.y_weights_[:, j])


def energy(X, K):
    return np.sum(K**2, axis=0)


def cross_energy(X, K):
    return np.sum((X.T @ K) ** 2, axis=0)


def unused_first(values, used):
    return [k for k in np.argsort(-values).tolist() if k not in used]


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def correlations(X, K, anchors, *, drop):
    """Of every anchor with a component, by a solver call of its own; without the anchor's row if `drop`."""
    out = {}
    for k in anchors:
        answer = solve_component(X, K, k, tol=1e-9)
        if answer.w.any():
            rows = [i for i in range(len(K)) if not (drop and i == k)]
            out[k] = cosine((X @ answer.w)[rows], (K @ answer.e)[rows])
    return out


def views(X, Y, kind="stored"):
    left, right = (Preparation.fit(view, **PREPARED).transform(view) for view in (X, Y))
    kinds = {"stored": StoredKernelView.of_linear, "implicit": LinearKernelView, "features": lambda view: view}
    return left, kinds[kind](right)


class Counting:
    """A view that counts products with the whole of it, and has nothing else to offer."""

    def __init__(self, view):
        self._view, self.calls = view, 0
        self.shape, self.passes_per_column = view.shape, view.passes_per_column

    def matvec(self, weights):
        self.calls += 1
        return self._view.matvec(weights)

    def rmatvec(self, r):
        self.calls += 1
        return self._view.rmatvec(r)


class TestEnergies:
    @pytest.mark.parametrize(("name", "measure"), [("energy", energy), ("cross-energy", cross_energy)])
    def test_the_largest_of_the_deflated_views(self, pairs, name, measure):
        model = SparseCCA(8, anchors=name, tol=1e-8).fit(*pairs)
        for X, K, used, anchor in walk(model, *pairs):
            assert anchor == unused_first(measure(X, K), used)[0]

    @pytest.mark.parametrize("kind", ["stored", "implicit", "features"])
    def test_exact_where_affordable(self, pairs, rng, kind):
        left, right = views(*pairs, kind)
        X, M = prepare(pairs[0]), prepare(pairs[1])
        M = M if kind == "features" else M @ M.T
        np.testing.assert_allclose(Energy().energies(left, right), energy(X, M), rtol=1e-10)
        np.testing.assert_allclose(CrossEnergy().energies(left, right), cross_energy(X, M), rtol=1e-10)

    @pytest.mark.parametrize("kind", ["implicit", "features"])
    def test_estimates_are_unbiased(self, pairs, rng, kind):
        """2,000 probes leave a relative standard error of 3 %."""
        left, right = views(*pairs, kind)
        for strategy in (Energy, CrossEnergy):
            exact = strategy().energies(left, right)
            estimate = strategy(affordable=0, probes=2000).energies(left, right)
            np.testing.assert_allclose(estimate, exact, rtol=0.15)

    def test_a_clear_winner_is_found_by_few_products(self, rng):
        X, Y = rng.standard_normal((60, 40)), rng.standard_normal((60, 30))
        X[17] *= 8
        Y[17] *= 8
        left, right = (Preparation.fit(A, normalize=False).transform(A) for A in (X, Y))
        right = LinearKernelView(right)
        for strategy, products in ((Energy, 1), (CrossEnergy, 2)):
            counted = Counting(left), Counting(right)
            order = strategy(affordable=59).ranked(*counted)
            assert order[0] == strategy().ranked(left, right)[0] == 17
            assert sum(view.calls for view in counted) == 16 * products
            exact, estimate = (strategy(affordable=a).energies(left, right) for a in (60, 0))
            assert np.corrcoef(np.log(exact), np.log(estimate))[0, 1] > 0.7

    def test_all_components_share_the_probes(self, pairs, rng):
        left, right = views(*pairs, "implicit")
        strategy = CrossEnergy(affordable=0)
        before = strategy.energies(left, right)
        np.testing.assert_array_equal(strategy.energies(left, right), before)
        left = DeflatedView(left)
        left = left.deflated(left.direction(left.matvec(np.ones(30))))
        assert not np.allclose(strategy.energies(left, right), before, rtol=1e-3)


class TestBest:
    def test_is_the_best_without_the_anchors_sample(self, pairs):
        model = SparseCCA(4, anchors="best", tol=1e-9).fit(*pairs)
        other_with_the_sample = 0
        for X, K, used, anchor in walk(model, *pairs):
            unused = [k for k in range(N) if k not in used]
            without, whole = (correlations(X, K, unused, drop=drop) for drop in (True, False))
            assert without[anchor] == pytest.approx(max(without.values()), abs=1e-6)
            other_with_the_sample += max(whole, key=whole.get) != anchor
        assert other_with_the_sample  # the two rules differ here

    def test_empty_ones_are_compared_again(self, often_empty):
        model = SparseCCA(3, anchors="best", tol=1e-9).fit(*often_empty)
        for X, K, used, anchor in walk(model, *often_empty):
            found = correlations(X, K, [k for k in range(N) if k not in used], drop=True)
            assert len(found) < N - len(used)
            assert found[anchor] == pytest.approx(max(found.values()), abs=1e-6)

    @pytest.mark.parametrize("seed", range(3))
    def test_best_of_some_beats_as_many(self, pairs, seed):
        model = SparseCCA(3, anchors="best-of-10", tol=1e-9, random_state=seed).fit(*pairs)
        for X, K, used, anchor in walk(model, *pairs):
            found = correlations(X, K, [k for k in range(N) if k not in used], drop=True)
            assert sum(value <= found[anchor] + 1e-6 for value in found.values()) >= 10

    def test_limits(self, pairs):
        def anchors(name):
            return SparseCCA(5, anchors=name, random_state=3).fit(*pairs).anchors_.tolist()

        assert anchors("best-of-100") == anchors("best")
        assert anchors("best-of-1") == anchors("random")
        assert anchors("best-of-3") not in (anchors("best"), anchors("random"))

    def test_a_sample_without_information_never_wins(self, pairs):
        X, Y = (A.copy() for A in pairs)
        Y[3] = Y.mean(axis=0) * N / (N - 1) - Y[3] / (N - 1)  # equal to the mean: what is left of it is rounding error
        model = SparseCCA(5, anchors="best").fit(X, Y)
        assert 3 not in model.anchors_


class TestMedoids:
    @pytest.mark.parametrize("kind", ["stored", "implicit", "features"])
    @pytest.mark.parametrize("seed", range(3))
    def test_each_is_the_centre_of_its_group(self, pairs, kind, seed):
        left, right = views(*pairs, kind)
        points = prepare(pairs[1]).T if kind == "features" else prepare(pairs[1])
        order = Medoids(4, np.random.default_rng(seed)).ranked(left, right)
        assert sorted(order) == list(range(len(points)))
        distances = np.sum((points[:, None] - points) ** 2, axis=2)
        medoids, others = order[:4], order[4:]
        groups = np.argmin(distances[:, medoids], axis=1)
        for group, medoid in enumerate(medoids):
            members = np.flatnonzero(groups == group)
            total = distances[np.ix_(members, members)].sum(axis=0)
            assert medoid == members[total < total.min() + 1e-9][0]
        sizes = np.bincount(groups)
        assert (np.diff(sizes) <= 0).all()
        assert (np.diff(distances[others, np.array(medoids)[groups[others]]]) >= -1e-12).all()

    def test_planted_groups(self, rng):
        centres = 10 * np.eye(8)[:3]
        groups = rng.permutation(np.repeat([0, 1, 2], [5, 12, 8]))
        X, Y = (centres[groups] + rng.standard_normal((N, 8)) for _ in range(2))
        for seed in range(3):
            model = SparseCCA(3, anchors="medoids", mu="auto*0.1", random_state=seed).fit(X, Y)
            assert groups[model.anchors_].tolist() == [1, 2, 0]

    def test_twins_and_few_anchors(self, rng):
        Y = np.repeat(rng.standard_normal((3, 4)), 5, axis=0)
        left, right = views(rng.standard_normal((15, 6)), Y)
        for n_groups in (3, 5, 15, 40):
            order = Medoids(n_groups, np.random.default_rng(0)).ranked(left, right)
            assert sorted(order) == list(range(15))
            assert len({k // 5 for k in order[:3]}) == 3


class TestRandomOrder:
    def test_is_an_order(self, pairs):
        seen = {tuple(SparseCCA(N - 6, anchors="random", random_state=s).fit(*pairs).anchors_) for s in range(4)}
        assert len(seen) == 4
        assert all(len(set(anchors)) == len(anchors) for anchors in seen)

    def test_random_state_as_scikit_learn_has_it(self, pairs):
        same = [SparseCCA(5, anchors="random", random_state=np.random.RandomState(4)).fit(*pairs) for _ in range(2)]
        np.testing.assert_array_equal(same[0].anchors_, same[1].anchors_)
        free = {tuple(SparseCCA(5, anchors="random").fit(*pairs).anchors_) for _ in range(3)}
        assert len(free) > 1
        with pytest.raises(ValueError, match="random_state must be None, an integer .* got .seven."):
            SparseCCA(1, random_state="seven").fit(*pairs)


class TestFunction:
    def test_sees_the_deflated_views_and_the_used(self, pairs):
        seen = []

        def by_energy(left, right, used):
            seen.append((left.matvec(np.ones(30)), right.matvec(np.ones(N)), used))
            return unused_first(right.square_norms(), used)

        model = SparseCCA(5, anchors=by_energy).fit(*pairs)
        assert model.anchors_.tolist() == SparseCCA(5, anchors="energy").fit(*pairs).anchors_.tolist()
        assert len(seen) == 5
        for (x, k, given), (X, K, used, _) in zip(seen, walk(model, *pairs), strict=True):
            np.testing.assert_allclose(x, X.sum(axis=1), atol=1e-8)
            np.testing.assert_allclose(k, K.sum(axis=1), atol=1e-8)
            assert given == used

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            ([], "must hold at least one index; got none"),
            ([0, N], f"must lie between 0 and {N - 1}, .* got {N}"),
            (np.array([-1]), "got -1"),
            ([0.5], "must be a sequence of indices, integers from 0 to 24; got"),
            (None, "must be a sequence of indices"),
            ("best", "must be a sequence of indices"),
            (3, "must be a sequence of indices"),
        ],
    )
    def test_its_answer_is_checked(self, pairs, answer, message):
        with pytest.raises(ValueError, match=f"the answer of the function given as anchors .*{message}"):
            SparseCCA(1, anchors=lambda left, right, used: answer).fit(*pairs)


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

    @pytest.mark.parametrize("name", ["sequential", "energy", "cross-energy", "function"])
    def test_whatever_the_strategy(self, often_empty, name):
        """Follow the rule on dense matrices: ranked anchors that never failed, then those that wait."""
        measures = {"sequential": lambda X, K: -np.arange(N), "energy": energy, "cross-energy": cross_energy}
        measure = measures.get(name, measures["sequential"])
        settings = {"mu": "auto*1.3", "tol": 1e-8}
        anchors = (lambda left, right, used: range(N)) if name == "function" else name
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = SparseCCA(4, anchors=anchors, **settings).fit(*often_empty)
        waiting, passed_over = [], 0

        def is_empty(k):
            return not solve_component(X, K, k, **settings).w.any()

        for X, K, used, anchor in walk(model, *often_empty):
            ranked = unused_first(measure(X, K), [] if name == "function" else used)
            order = [k for k in ranked if k not in waiting] + [k for k in waiting if k in ranked]
            empty = list(itertools.takewhile(is_empty, order))
            assert anchor == order[len(empty)]
            waiting = [k for k in waiting if k not in [*empty, anchor]] + empty
            passed_over += len(empty)
        assert passed_over

    def test_ranking_is_done_once_a_component(self, often_empty):
        calls = []
        model = SparseCCA(3, anchors=lambda left, right, used: calls.append(used) or range(N)).fit(*often_empty)
        assert calls == [model.anchors_[:j].tolist() for j in range(3)]


@pytest.mark.parametrize("name", NAMES)
class TestEveryStrategy:
    def test_same_bytes_for_any_number_of_threads(self, pairs, name):
        one, many = (SparseCCA(4, anchors=name, random_state=5, n_jobs=jobs).fit(*pairs) for jobs in (None, 3))
        assert one.anchors_.tolist() == many.anchors_.tolist()
        assert one.x_rotations_.tobytes() == many.x_rotations_.tobytes()
        assert one.y_weights_.tobytes() == many.y_weights_.tobytes()

    def test_never_the_same_twice_and_any_storage(self, pairs, name):
        model = SparseCCA(12, anchors=name, random_state=5).fit(*pairs)
        assert len(set(model.anchors_)) == 12
        sparse = SparseCCA(12, anchors=name, random_state=5).fit(*map(sp.csr_array, pairs))
        assert sparse.anchors_.tolist() == model.anchors_.tolist()

    def test_anchors_may_be_features(self, pairs, name):
        """The right view's columns are features: there is no sample to leave out."""
        settings = Settings(Penalty.parse("auto", "mu", zero_allowed=False), Penalty(value=np.inf), 1e-8, 100, "greedy")

        def components(strategy, n_components):
            found = extract_components(*views(*pairs, "features"), n_components, strategy, settings)
            return [(component.anchor, component.correlation) for component in found.components]

        found = components(anchor_strategy(name, 20, 3, 0), 3)
        assert len({anchor for anchor, _ in found}) == 3
        if name == "best":
            alone = [components(FixedOrder([k]), 1)[0] for k in range(20)]
            assert found[0] == max(alone, key=lambda choice: choice[1])
