"""Every parameter changes what it says it changes, and nothing else is a parameter."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from scca import KernelCCA, SparseCCA
from scca.datasets import make_planted
from scca.views import Kernel


@pytest.fixture(scope="module")
def pairs():
    return make_planted(40, 30, 24, n_active=6, strength=1.5, random_state=0).views


@pytest.fixture(scope="module")
def new_pairs():
    return make_planted(9, 30, 24, n_active=6, strength=1.5, random_state=1).views


def outcome(model, new_pairs):
    """All that a fitted model tells: its attributes, and the scores of new samples."""
    told = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    for view in "xy":  # an object, whose means and weights are told one by one
        told |= {f"{view}_preparation_.{name}": value for name, value in vars(told.pop(f"{view}_preparation_")).items()}
    return {**told, "transform": model.transform(new_pairs[0]), "transform_y": model.transform_y(new_pairs[1])}


def differs(one, other) -> bool:
    """By more than 1e-6 of its size."""
    if one is None or other is None:
        return one is not other
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return one.shape != other.shape or bool(np.abs(one - other).max() > 1e-6 * np.abs(one).max())


def assert_same_bytes(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert value.tobytes() == other[name].tobytes(), name
        elif not isinstance(value, Kernel):
            assert value == other[name], name


@dataclass(frozen=True)
class Case:
    """A parameter, from one value to another, beside settings where it counts."""

    before: object
    after: object
    changes: tuple[str, ...]  # attributes, or "transform", "transform_y"; empty: not a byte
    beside: dict | None = None

    def settings(self, name, value) -> dict:
        return {**(self.beside or {}), name: value}


DRAWN = {"anchors": "random", "n_components": 3}
PRIMAL = {"representation": "primal-primal"}  # where an anchor, a feature among many alike, is soon let go of
FACTORS = {"anchors": None}
RBF = {"kernel": "rbf", "kernel_params": {"gamma": 0.02}}
SCORES = ("transform", "transform_y")

SPARSE_CCA = {
    "n_components": Case(2, 3, ("n_components_", "x_weights_", "y_rotations_", *SCORES)),
    "representation": Case("primal-dual", "primal-primal", ("y_weights_", "y_rotations_", "anchors_", *SCORES)),
    "mu": Case("auto", "auto*0.5", ("mu_", "x_weights_", "objective_")),
    "gamma": Case("auto", "auto*0.5", ("gamma_", "y_weights_", "objective_")),
    "anchors": Case("cross-energy", [5, 7], ("anchors_", "x_weights_", "y_weights_", "mu_")),
    "refine": Case(False, True, ("x_weights_", "y_weights_", "objective_", "correlations_"), PRIMAL),
    "directions": Case("shared", "smooth", ("x_rotations_", "y_rotations_", *SCORES)),
    "rendering": Case("sparse", "dense", ("x_weights_", *SCORES), FACTORS),
    "ridge": Case("auto", 2.0, ("x_weights_", "correlations_", *SCORES), FACTORS),
    "held_out": Case(5, 3, ("held_out_correlations_",), FACTORS),
    "feature_weights": Case("shared", None, ("x_feature_weights_", "y_feature_weights_", "x_rotations_", *SCORES)),
    "n_features": Case(None, 10, ("x_feature_weights_", "y_feature_weights_", "x_rotations_", *SCORES)),
    "kernel": Case("linear", "rbf", ("y_weights_", "y_rotations_", "gamma_", "transform_y")),
    "kernel_params": Case({"gamma": 0.02}, {"gamma": 0.05}, ("y_rotations_", "transform_y"), {"kernel": "rbf"}),
    "center": Case(True, False, ("mu_", "x_rotations_", "y_rotations_", *SCORES)),
    "normalize": Case(True, False, ("mu_", "x_rotations_", "y_rotations_", *SCORES)),
    "algorithm": Case("working-set", "greedy", ("n_iter_", "n_passes_")),
    "tol": Case(1e-9, 1e-2, ("dual_gap_", "n_iter_", "n_passes_"), {"algorithm": "greedy"}),
    "max_iter": Case(1000, 1, ("dual_gap_", "n_iter_", "n_passes_"), {"algorithm": "greedy"}),
    "n_jobs": Case(None, 2, (), {"anchors": "best", **RBF}),
    "random_state": Case(0, 1, ("anchors_", "x_weights_", *SCORES), DRAWN),
    "verbose": Case(0, 1, ()),
}
KERNEL_CCA = {
    "n_components": Case(2, 3, ("n_components_", "x_weights_", "canonical_values_", *SCORES)),
    "regularization": Case(0.03, 0.5, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "kernel": Case("linear", "rbf", ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "kernel_params": Case({"gamma": 0.02}, {"gamma": 0.05}, ("x_weights_", "y_weights_", *SCORES), {"kernel": "rbf"}),
    "center": Case(True, False, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "normalize": Case(True, False, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "feature_weights": Case(None, "shared", ("x_feature_weights_", "y_feature_weights_", "x_weights_", *SCORES)),
    "n_features": Case(None, 10, ("x_feature_weights_", *SCORES), {"feature_weights": "shared"}),
    "n_jobs": Case(None, 2, (), RBF),
}
CASES = {SparseCCA: SPARSE_CCA, KernelCCA: KERNEL_CCA}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("estimator", "name"), [(e, name) for e in CASES for name in e().get_params()])
def test_changes_what_it_says(pairs, new_pairs, estimator, name):
    assert name in CASES[estimator], f"say here what {name}, a parameter of {estimator.__name__}, changes"
    case = CASES[estimator][name]
    before, after = (
        outcome(estimator(**case.settings(name, value)).fit(*pairs), new_pairs) for value in (case.before, case.after)
    )
    for changed in case.changes:
        assert differs(before[changed], after[changed]), f"{changed} is as it was"
    if not case.changes:
        assert_same_bytes(before, after)


@pytest.mark.parametrize("estimator", CASES)
def test_no_case_is_left_of_a_parameter_that_is_gone(estimator):
    assert CASES[estimator].keys() == estimator().get_params().keys()


class TestWhatItSays:
    """More than that something changes: what."""

    @pytest.mark.parametrize("estimator", CASES)
    def test_more_components_leave_the_first_as_they_are(self, pairs, new_pairs, estimator):
        few, many = (outcome(estimator(n).fit(*pairs), new_pairs) for n in (2, 4))
        for name in ("x_weights_", "y_weights_", "x_rotations_", "y_rotations_", *SCORES):
            assert not differs(few[name], many[name][:, :2])

    @pytest.mark.parametrize("name", ["mu", "gamma"])
    def test_penalties_are_those_asked_for(self, pairs, name):
        settings = {"anchors": [3], "feature_weights": None}

        def used(value):
            return getattr(SparseCCA(1, **{name: value}, **settings).fit(*pairs), f"{name}_")[0]

        auto = used("auto")
        assert used("auto*0.8") == pytest.approx(0.8 * auto, rel=1e-12)
        assert used(float(0.9 * auto)) == 0.9 * auto

    def test_n_features_are_kept(self, pairs):
        model = SparseCCA(2, n_features=10).fit(*pairs)
        assert np.count_nonzero(model.x_feature_weights_) == np.count_nonzero(model.y_feature_weights_) == 10
        assert not model.x_rotations_[model.x_feature_weights_ == 0].any()

    def test_directions_do_not_touch_the_first_weights(self, pairs):
        models = [SparseCCA(2, directions=name).fit(*pairs) for name in ("smooth", "sparse", "shared")]
        for model in models[1:]:
            np.testing.assert_array_equal(model.x_weights_[:, 0], models[0].x_weights_[:, 0])
            np.testing.assert_array_equal(model.y_weights_[:, 0], models[0].y_weights_[:, 0])

    def test_centring_makes_a_shift_of_the_data_nothing(self, pairs, new_pairs):
        shifted, shifted_new = ([view + 3.0 for view in views] for views in (pairs, new_pairs))
        for center in (True, False):
            model = SparseCCA(2, center=center, tol=1e-10).fit(*pairs)
            other = SparseCCA(2, center=center, tol=1e-10).fit(*shifted)
            assert differs(model.transform(new_pairs[0]), other.transform(shifted_new[0])) != center

    def test_normalizing_makes_the_length_of_a_new_sample_nothing(self, pairs, new_pairs):
        for normalize in (True, False):
            model = SparseCCA(2, center=False, normalize=normalize).fit(*pairs)
            assert differs(model.transform(new_pairs[0]), model.transform(5 * new_pairs[0])) != normalize

    def test_algorithms_find_the_same_optimum(self, pairs):
        fast, greedy = (
            SparseCCA(1, algorithm=name, tol=1e-10).fit(*pairs).objective_ for name in ("working-set", "greedy")
        )
        np.testing.assert_allclose(greedy, fast, rtol=1e-8)


@pytest.fixture(scope="module")
def hard_pairs():
    """So many features that no solver is done after a round."""
    return make_planted(60, 400, 300, random_state=0).views


@pytest.mark.parametrize("algorithm", ["working-set", "greedy"])
class TestEffort:
    def gap(self, pairs, **settings):
        """Relative to the target's squared norm, as tol is."""
        model = SparseCCA(1, anchors=[0], feature_weights=None, mu="auto*0.1", gamma="auto*0.1", **settings).fit(*pairs)
        Y = pairs[1] - pairs[1].mean(axis=0)
        Y /= np.linalg.norm(Y, axis=1, keepdims=True)
        return model.dual_gap_[0] / np.sum((Y @ Y[0]) ** 2)

    def test_tol_is_the_gap_allowed(self, hard_pairs, algorithm):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tight, loose = (self.gap(hard_pairs, algorithm=algorithm, tol=tol) for tol in (1e-8, 0.1))
        assert tight <= 1e-8 < loose <= 0.1

    def test_max_iter_ends_the_search_and_says_so(self, hard_pairs, algorithm):
        with pytest.warns(ConvergenceWarning, match="after 1 iterations .* raise max_iter"):
            short = self.gap(hard_pairs, algorithm=algorithm, max_iter=1)
        assert short > 1e-6 >= self.gap(hard_pairs, algorithm=algorithm)


class TestNothingChanges:
    @pytest.mark.parametrize("anchors", ["sequential", "energy", "cross-energy", "best", [4, 2]])
    def test_random_state_where_nothing_is_drawn(self, pairs, new_pairs, anchors):
        models = (SparseCCA(2, anchors=anchors, random_state=seed).fit(*pairs) for seed in (0, 1, None))
        first, *others = (outcome(model, new_pairs) for model in models)
        for other in others:
            assert_same_bytes(first, other)

    @pytest.mark.parametrize("anchors", ["energy", "cross-energy"])
    def test_random_state_where_energies_are_estimated(self, anchors):
        """Their probes are the same in every fit."""
        X, Y = make_planted(300, 12, 10, n_active=3, random_state=0).views
        settings = {"anchors": anchors, "feature_weights": None}
        first, second = (outcome(SparseCCA(2, random_state=s, **settings).fit(X, Y), (X, Y)) for s in (0, 1))
        assert_same_bytes(first, second)

    @pytest.mark.parametrize("anchors", ["random", "best-of-3", "medoids"])
    def test_the_same_random_state(self, pairs, new_pairs, anchors):
        models = (SparseCCA(3, anchors=anchors, random_state=7).fit(*pairs) for _ in range(2))
        assert_same_bytes(*(outcome(model, new_pairs) for model in models))

    @pytest.mark.parametrize("settings", [{}, {"anchors": "best"}, {"anchors": "best-of-5", "random_state": 0}, RBF])
    def test_n_jobs(self, pairs, new_pairs, settings):
        models = (SparseCCA(2, n_jobs=n_jobs, **settings).fit(*pairs) for n_jobs in (None, 2, -1))
        first, *others = (outcome(model, new_pairs) for model in models)
        for other in others:
            assert_same_bytes(first, other)


@pytest.mark.parametrize("anchors", ["random", "best-of-3", "medoids"])
def test_random_state_where_anchors_are_drawn(pairs, anchors):
    drawn = {tuple(SparseCCA(3, anchors=anchors, random_state=seed).fit(*pairs).anchors_) for seed in range(5)}
    assert len(drawn) > 1
