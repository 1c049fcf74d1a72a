"""Warnings: where they point, who hears them, and how many are said."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scca
from scca import AnchoredCCA, DataWarning, KernelCCA, SparseCCA, SparseCCACV, solve_component
from scca._checks import collected, say_once, silenced, warn
from scca.datasets import make_planted

STOPS_SHORT = {"tol": 1e-300, "max_iter": 1}  # a gap that rounding does not allow


@pytest.fixture
def views():
    return make_planted(30, 12, 10, n_factors=1, n_active=4, random_state=1).views


class TestCollected:
    def test_counts_and_first_messages(self):
        with collected() as found:
            warn("one", DataWarning)
            warn("two", DataWarning)
            warn("three", ConvergenceWarning)
        assert found.times == {DataWarning: 2, ConvergenceWarning: 1}
        assert found.first == {DataWarning: "one", ConvergenceWarning: "three"}

    def test_nothing_reaches_the_user_and_afterwards_everything_does(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with collected():
                warn("inside", DataWarning)
            with pytest.raises(DataWarning, match="outside"):
                warn("outside", DataWarning)

    def test_an_error_inside_ends_it(self):
        with pytest.raises(KeyError), collected():
            raise KeyError
        with pytest.warns(DataWarning, match="outside"):
            warn("outside", DataWarning)

    def test_the_innermost_hears_it(self):
        with collected() as outer, collected("fold 3") as inner:
            warn("here", DataWarning)
        assert not outer.times
        assert inner.first == {DataWarning: "fold 3: here"}

    def test_silenced_categories_are_dropped_and_others_go_on(self):
        with collected() as found, silenced(DataWarning, ConvergenceWarning):
            warn("a", DataWarning)
            warn("b", ConvergenceWarning)
            warn("c", UserWarning)  # of which DataWarning is a kind, not the other way round
        assert found.first == {UserWarning: "c"}

    def test_each_thread_has_its_own(self):
        def work(number):
            with collected() as found:
                for _ in range(number):
                    warn(str(number), DataWarning)
            return found

        with ThreadPoolExecutor(4) as pool:
            for number, found in enumerate(pool.map(work, range(50))):
                assert found.times[DataWarning] == number
                assert found.first == ({DataWarning: str(number)} if number else {})

    def test_can_come_from_another_process(self):
        with collected("fold 1") as found:
            warn("here", DataWarning)
        copy = pickle.loads(pickle.dumps(found))
        assert (copy.times, copy.first) == (found.times, found.first)


class TestSaidOnce:
    @staticmethod
    def of(*messages):
        with collected() as found:
            for message, category in messages:
                warn(message, category)
        return found

    def test_each_category_once_with_the_number_of_fits(self):
        fits = [
            self.of(),
            self.of(("a", DataWarning), ("b", DataWarning)),
            self.of(("c", ConvergenceWarning), ("d", DataWarning)),
        ]
        with pytest.warns() as caught:
            say_once(fits, "fits")
        assert [(str(w.message), w.category) for w in caught] == [
            ("in 2 of 3 fits, the first time: a", DataWarning),
            ("in 1 of 3 fits, the first time: c", ConvergenceWarning),
        ]
        assert {w.filename for w in caught} == {__file__}

    def test_nothing_to_say(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            say_once([self.of()], "fits")

    def test_a_collector_around_hears_it(self):
        with collected() as found:
            say_once([self.of(("a", DataWarning))], "fits")
        assert found.first == {DataWarning: "in 1 of 1 fits, the first time: a"}


class TestUsersLine:
    """A warning names the line that the user wrote, however deep inside it was found."""

    @staticmethod
    def files(call):
        with pytest.warns() as caught:
            call()
        return {warning.filename for warning in caught if warning.category.__module__.split(".")[0] != "builtins"}

    def test_solver(self, views):
        X, Y = views
        assert self.files(lambda: solve_component(X, Y @ Y.T, 0, algorithm="greedy", **STOPS_SHORT)) == {__file__}
        X, Y = make_planted(60, 2000, 30, random_state=1).views  # more features than join in a round
        assert self.files(lambda: scca.component_path(X, Y @ Y.T, 0, mus=["auto*0.01"], max_iter=1)) == {__file__}

    @pytest.mark.parametrize("model", [SparseCCA(1), KernelCCA(1), SparseCCACV(1, mu_factors=[1], cv=2)])
    def test_data(self, model, views):
        X, Y = np.column_stack([views[0], np.ones(30)]), views[1]
        for call in (model.fit, model.fit_transform):
            assert self.files(lambda call=call: call(X, Y)) == {__file__}

    @pytest.mark.parametrize("model", [SparseCCA(3), KernelCCA(3)])
    def test_exhausted(self, model, rng):
        X = rng.standard_normal((12, 2)) @ rng.standard_normal((2, 5))
        model.set_params(scale=None)
        assert self.files(lambda: model.fit(X, rng.standard_normal((12, 4)))) == {__file__}

    def test_components_that_stop_short_or_are_empty(self, views):
        for make in (SparseCCA, partial(AnchoredCCA, anchors="cross-energy")):
            assert self.files(lambda make=make: make(2, mu="auto*0.1", **STOPS_SHORT).fit(*views)) == {__file__}
            assert self.files(lambda make=make: make(1, mu="auto*50").fit(*views)) == {__file__}

    def test_inside_a_pipeline_of_scikit_learn(self, views):
        pipeline = make_pipeline(StandardScaler(), SparseCCA(1, mu="auto*0.1", **STOPS_SHORT))
        assert self.files(lambda: pipeline.fit(*views)) == {__file__}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_left_out_by_workers_warn_the_collector(n_jobs, views):
    """However many work on them, a fit within a search gives its warnings to the search."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with collected() as found:
            SparseCCA(1, mu="auto*0.01", held_out=2, n_jobs=n_jobs, **STOPS_SHORT).fit(*views)
    assert found.times[ConvergenceWarning] > 1
