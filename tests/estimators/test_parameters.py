"""Every parameter changes what it says it changes, and nothing else is a parameter."""

import warnings
from dataclasses import dataclass, fields, is_dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from scca import AnchoredCCA, Kernel, KernelCCA, SparseCCA
from scca.datasets import make_planted
from scca.factors import selection


@pytest.fixture(scope="module")
def pairs():
    return make_planted(40, 30, 24, n_active=6, strength=1.5, random_state=0).views


@pytest.fixture(scope="module")
def new_pairs():
    return make_planted(9, 30, 24, n_active=6, strength=1.5, random_state=1).views


def outcome(model, new_pairs):
    """All that a fitted model tells, one by one: its attributes, and the scores of new samples."""
    told = {}
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            told |= told_of(name, value)
    assert any(name.startswith("y_preparations_.mean") for name in told)
    return {**told, "transform": model.transform(new_pairs[0]), "transform_y": model.transform_y(new_pairs[1])}


def told_of(name, value) -> dict:
    """Values by name: `x_weights_` and `y_weights_` of a list by view, and the fields of an object one by one."""
    if isinstance(value, list) and len(value) == 2:
        parts = {f"{view}_{name}": part for view, part in zip("xy", value, strict=True)}
    elif is_dataclass(value):
        parts = {f"{name}.{field.name}": getattr(value, field.name) for field in fields(value)}
    else:
        return {name: value}
    return {key: one for part, inner in parts.items() for key, one in told_of(part, inner).items()}


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
        else:
            assert value == other[name], name


@dataclass(frozen=True)
class Case:
    """A parameter, from one value to another, beside settings where it counts."""

    before: object
    after: object
    changes: tuple[str, ...]  # attributes, or "transform", "transform_y"; empty: not a byte
    beside: dict | None = None
    unchanged: tuple[str, ...] = ()

    def settings(self, name, value) -> dict:
        return {**(self.beside or {}), name: value}


ANCHORED = {"anchors": "cross-energy"}
WEIGHTED = ANCHORED | {"feature_weights": "shared"}
GREEDY = ANCHORED | {"algorithm": "greedy"}
# enough features and weights for the solver to need several rounds
MANY = {"held_out": 0, "mu": 0.05, "n_components": 3, "n_features": None}
NARROW, WIDE, WIDEST = (Kernel("rbf", gamma=gamma) for gamma in (0.5, 0.05, 0.02))
SCORES = ("transform", "transform_y")
WEIGHTS = ("x_weights_", "y_weights_")
READ = ("x_feature_weights_", "y_feature_weights_")

# shared factors; what else there is after a fit may change, `unchanged` may not
FACTORS = {
    "n_components": Case(2, 3, ("n_components_", *WEIGHTS, "held_out_correlations_", *SCORES)),
    "rendering": Case("sparse", "dense", (*WEIGHTS, *SCORES)),
    "mu": Case("auto", "auto*3", ("mu_", *WEIGHTS, "objective_", *SCORES), unchanged=("x_loadings_", "y_loadings_")),
    "ridge": Case("auto", 2.0, (*WEIGHTS, "correlations_", "x_loadings_", *SCORES)),
    "held_out": Case(5, 3, ("held_out_correlations_",), unchanged=(*WEIGHTS, *SCORES, "p_value_")),
    "feature_weights": Case("shared", None, (*READ, *WEIGHTS, *SCORES)),
    "n_features": Case(None, 10, (*READ, *WEIGHTS, *SCORES)),
    "kernel": Case("linear", "rbf", ("y_weights_", "transform_y"), {"held_out": 0}),
    "kernel of X": Case("rbf", ("rbf", "rbf"), ("x_weights_", "transform"), {"held_out": 0}),
    "kernel's gamma": Case(WIDEST, NARROW, ("y_weights_", "transform_y"), {"held_out": 0}),
    "center": Case(True, False, (*WEIGHTS, *SCORES)),
    "scale": Case("rows", None, (*WEIGHTS, *SCORES)),
    "tol": Case(1e-9, 0.9, ("dual_gap_", "n_iter_", "n_passes_"), MANY),
    "max_iter": Case(1000, 1, ("dual_gap_", "n_iter_", "n_passes_"), MANY),
    "n_jobs": Case(None, 2, (), {"kernel": WIDEST}),
    "random_state": Case(0, 1, ("held_out_correlations_",), unchanged=(*WEIGHTS, *SCORES)),
}
ANCHORED_CASES = {
    "n_components": Case(2, 3, ("n_components_", "x_weights_", "y_rotations_", *SCORES), ANCHORED),
    "anchors": Case("cross-energy", [5, 7], ("anchors_", "x_weights_", "y_weights_", "mu_")),
    "n_candidates": Case(None, 1, ("anchors_", "objective_", *SCORES), {"anchors": "best-objective"}),
    "representation": Case(
        "primal-dual", "primal-primal", ("y_weights_", "y_rotations_", "anchors_", *SCORES), ANCHORED
    ),
    "mu": Case("auto", "auto*0.5", ("mu_", "x_weights_", "objective_"), ANCHORED),
    "gamma": Case("auto", "auto*0.5", ("gamma_", "y_weights_", "objective_"), ANCHORED),
    "feature_weights": Case("shared", None, (*READ, "x_rotations_", *SCORES), ANCHORED),
    "n_features": Case(None, 10, (*READ, "x_rotations_", *SCORES), WEIGHTED),
    "kernel": Case("linear", "rbf", ("y_weights_", "y_rotations_", "gamma_", "transform_y"), ANCHORED),
    "kernel's gamma": Case(WIDEST, WIDE, ("y_rotations_", "transform_y"), ANCHORED),
    "center": Case(True, False, ("mu_", "x_rotations_", "y_rotations_", *SCORES), ANCHORED),
    "scale": Case("rows", None, ("mu_", "x_rotations_", "y_rotations_", *SCORES), ANCHORED),
    "algorithm": Case("working-set", "greedy", ("n_iter_", "n_passes_"), ANCHORED),
    "tol": Case(1e-9, 1e-2, ("dual_gap_", "n_iter_", "n_passes_"), GREEDY),
    "max_iter": Case(1000, 1, ("dual_gap_", "n_iter_", "n_passes_"), GREEDY),
    "n_jobs": Case(None, 2, (), ANCHORED | {"kernel": WIDEST}),
}
KERNEL_CCA = {
    "n_components": Case(2, 3, ("n_components_", "x_weights_", "canonical_values_", *SCORES)),
    "regularization": Case(0.03, 0.5, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "kernel": Case("linear", "rbf", ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "kernel of X": Case("rbf", ("linear", "rbf"), ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "kernel's gamma": Case(WIDEST, WIDE, ("x_weights_", "y_weights_", *SCORES)),
    "center": Case(True, False, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "scale": Case("rows", None, ("canonical_values_", "x_weights_", "y_weights_", *SCORES)),
    "feature_weights": Case(None, "shared", ("x_feature_weights_", "y_feature_weights_", "x_weights_", *SCORES)),
    "n_features": Case(None, 10, ("x_feature_weights_", *SCORES), {"feature_weights": "shared"}),
    "n_jobs": Case(None, 2, (), {"kernel": WIDEST}),
}
CASES = {"factors": (SparseCCA, FACTORS), "anchored": (AnchoredCCA, ANCHORED_CASES), "kernel": (KernelCCA, KERNEL_CCA)}


def parameter_of(name):
    """A kernel has several cases."""
    return "kernel" if name.startswith("kernel") else name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode, (_, cases) in CASES.items() for name in cases])
def test_changes_what_it_says(pairs, new_pairs, mode, name, monkeypatch):
    if name in ("tol", "max_iter"):
        monkeypatch.setattr(selection, "_LEAST_ADDED", 2)  # so that the nets take more than a round
    estimator, cases = CASES[mode]
    case = cases[name]
    given = (case.settings(parameter_of(name), value) for value in (case.before, case.after))
    before, after = (outcome(estimator(**settings).fit(*pairs), new_pairs) for settings in given)
    for changed in case.changes:
        assert differs(before[changed], after[changed]), f"{changed} is as it was"
    for same in case.unchanged:
        assert not differs(before[same], after[same]), f"{same} has changed"
    if not case.changes:
        assert_same_bytes(before, after)


@pytest.mark.parametrize("mode", CASES)
def test_every_parameter_has_a_case_and_nothing_else_has(mode):
    estimator, cases = CASES[mode]
    assert set(map(parameter_of, cases)) == estimator().get_params().keys()


def factors(n_components=2, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


def anchored(n_components=2, **settings):
    return AnchoredCCA(n_components, **{**WEIGHTED, "scale": "auto", **settings})


modes = pytest.mark.parametrize("make", [factors, anchored])


class TestWhatItSays:
    """More than that something changes: what."""

    @pytest.mark.parametrize("make", [anchored, KernelCCA])
    def test_more_components_leave_the_first_as_they_are(self, pairs, new_pairs, make):
        few, many = (outcome(make(n).fit(*pairs), new_pairs) for n in (2, 4))
        for name in ("x_weights_", "y_weights_", "x_rotations_", "y_rotations_", *SCORES):
            assert not differs(few[name], many[name][:, :2])

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (anchored(1, anchors=[3]), "mu"),
            (anchored(1, anchors=[3]), "gamma"),
            (factors(1), "mu"),
            (factors(1, kernel=("rbf", "linear")), "mu"),  # of a view with a kernel
        ],
        ids=str,
    )
    def test_penalties_are_those_asked_for(self, pairs, model, name):
        def used(value):
            fitted = clone(model).set_params(feature_weights=None, **{name: value}).fit(*pairs)
            return np.ravel(getattr(fitted, f"{name}_"))[0]

        auto = used("auto")
        assert used("auto*0.8") == pytest.approx(0.8 * auto, rel=1e-12)
        assert used(float(0.9 * auto)) == 0.9 * auto

    @pytest.mark.parametrize("kernel", ["linear", "rbf", ("rbf", "linear"), ("rbf", "rbf")])
    def test_mu_is_the_penalty_of_every_view(self, pairs, kernel):
        model = factors(2, kernel=kernel, mu=0.3).fit(*pairs)
        np.testing.assert_array_equal(model.mu_, np.full((2, 2), 0.3))
        assert not hasattr(model, "gamma_")

    def test_n_features_are_kept(self, pairs):
        model = anchored(2, n_features=10).fit(*pairs)
        assert np.count_nonzero(model.x_feature_weights_) == np.count_nonzero(model.y_feature_weights_) == 10
        assert not model.x_rotations_[model.x_feature_weights_ == 0].any()

    def test_factors_read_no_more_than_n_features(self, pairs):
        kept = anchored(2, n_features=10).fit(*pairs)
        model = factors(2, n_features=10, mu="auto*1e-6").fit(*pairs)
        for name in READ:
            np.testing.assert_array_equal(getattr(model, name) != 0, getattr(kept, name) != 0)

    @modes
    def test_centring_makes_a_shift_of_the_data_nothing(self, pairs, new_pairs, make):
        shifted, shifted_new = ([view + 3.0 for view in views] for views in (pairs, new_pairs))
        for center in (True, False):
            model, other = (make(2, center=center, tol=1e-10).fit(*views) for views in (pairs, shifted))
            assert differs(model.transform(new_pairs[0]), other.transform(shifted_new[0])) != center

    @modes
    def test_normalizing_makes_the_length_of_a_new_sample_nothing(self, pairs, new_pairs, make):
        for scale in ("rows", None):
            model = make(2, center=False, scale=scale).fit(*pairs)
            assert differs(model.transform(new_pairs[0]), model.transform(5 * new_pairs[0])) != (scale == "rows")

    def test_algorithms_find_the_same_optimum(self, pairs):
        fast, greedy = (
            anchored(1, algorithm=name, tol=1e-10).fit(*pairs).objective_ for name in ("working-set", "greedy")
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
        model = AnchoredCCA(1, mu="auto*0.1", gamma="auto*0.1", **settings).fit(*pairs)
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
    def test_another_fit_where_energies_are_estimated(self):
        """Their probes are the same in every fit."""
        X, Y = make_planted(300, 12, 10, n_active=3, random_state=0).views
        first, second = (outcome(AnchoredCCA(2, **ANCHORED).fit(X, Y), (X, Y)) for _ in range(2))
        assert_same_bytes(first, second)

    @pytest.mark.parametrize("seed", [None, 7])
    def test_the_same_random_state(self, pairs, new_pairs, seed):
        """Without one the pairs left out are the same as well."""
        models = (SparseCCA(2, random_state=seed).fit(*pairs) for _ in range(2))
        assert_same_bytes(*(outcome(model, new_pairs) for model in models))

    @pytest.mark.parametrize("model", [SparseCCA(2), anchored(2), SparseCCA(2, kernel=WIDEST)], ids=str)
    def test_n_jobs(self, pairs, new_pairs, model):
        models = (clone(model).set_params(n_jobs=n_jobs).fit(*pairs) for n_jobs in (None, 2, -1))
        first, *others = (outcome(model, new_pairs) for model in models)
        for other in others:
            assert_same_bytes(first, other)


def test_a_random_state_is_used_up(pairs):
    """As scikit-learn has it: an instance draws anew in every fit, and an equal one the same."""
    state = np.random.RandomState(3)
    first, second = (SparseCCA(1, random_state=state).fit(*pairs).held_out_correlations_ for _ in range(2))
    again = SparseCCA(1, random_state=np.random.RandomState(3)).fit(*pairs).held_out_correlations_
    assert first.tobytes() == again.tobytes() != second.tobytes()
