"""Deflation in every representation, however the views are stored."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare

from scca import AnchoredCCA
from scca.datasets import make_planted

DUAL_VIEWS = {"primal-dual": "Y", "dual-primal": "X", "primal-primal": "", "dual-dual": "XY"}
STORES = {"dense": np.asarray, "sparse": sp.csr_array}
# So few features beside 450 samples that no one would store their kernel; beside 40 it is the cheaper way.
SIZES = {"stored": (40, 12, 9), "implicit": (450, 8, 6)}
NEW = 7  # samples more, that no model was fitted to
EXACT = 1e-10  # tol: another storage may lead to another point within the gap, sqrt(tol) apart


@cache
def made(size):
    """Two views that share three factors, with features of unequal size and many zeros: training and new samples."""
    n, *widths = SIZES[size]
    rng = np.random.default_rng(3)
    factors = rng.standard_normal((n + NEW, 3))
    views = [factors @ rng.standard_normal((3, m)) + 0.5 * rng.standard_normal((n + NEW, m)) for m in widths]
    for view in views:
        view *= np.linspace(0.5, 2, view.shape[1])
        view[:, :-1] *= rng.random((n + NEW, view.shape[1] - 1)) < 0.6  # the last stays: no sample is zero
    return [(view[:n], view[n:]) for view in views]


class Fitted:
    """A model of the views in one storage: "dense", "sparse", or with dual views as kernel matrices, precomputed."""

    def __init__(self, size, storage, representation, **settings):
        self.dual_views = DUAL_VIEWS[representation]
        kernels, self.store = storage.endswith("kernel"), STORES[storage.split()[0]]
        self.views = dict(zip("XY", made(size), strict=True))
        self.precomputed = self.dual_views if kernels else ""
        self.model = AnchoredCCA(
            3,
            representation=representation,
            kernel="precomputed" if kernels else "linear",
            **{"tol": EXACT, **settings},
        ).fit(*(self.store(self.as_given(name, self.views[name][0])) for name in "XY"))

    def as_given(self, name, samples):
        """Features, or the kernel with the training samples."""
        return samples @ self.views[name][0].T if name in self.precomputed else samples

    def scores(self, name, samples):
        transform = self.model.transform if name == "X" else self.model.transform_y
        diagonal = np.sum(samples**2, axis=1) if name in self.precomputed else None
        return transform(self.store(self.as_given(name, samples)), diagonal=diagonal)

    def training_scores(self, name):
        return self.scores(name, self.views[name][0])

    def new_scores(self, name):
        return self.scores(name, self.views[name][1])

    def prepared_times_rotations(self, name):
        """The training scores from the definition of rotations, in dense arithmetic."""
        weights = getattr(self.model, f"{name.lower()}_feature_weights_")
        training = self.views[name][0]
        view = prepare(training if weights is None else training * weights)
        view = view @ view.T if name in self.dual_views else view
        return view @ getattr(self.model, f"{name.lower()}_rotations_")


fitted = cache(Fitted)


def assert_orthonormal(scores):
    np.testing.assert_allclose(scores.T @ scores, np.eye(scores.shape[1]), atol=1e-6)


def storages(representation):
    """Kernel matrices only where a view is dual."""
    return ["dense", "sparse", *(["dense kernel", "sparse kernel"] if DUAL_VIEWS[representation] else [])]


@pytest.mark.parametrize("name", ["X", "Y"])
@pytest.mark.parametrize(("representation", "storage"), [(r, s) for r in DUAL_VIEWS for s in storages(r)])
@pytest.mark.parametrize("size", SIZES)
class TestTrainingScores:
    """M U = T C: what is deflated is what rotations give back, and it is orthonormal."""

    def test_are_orthonormal(self, size, representation, storage, name):
        found = fitted(size, storage, representation)
        assert found.model.n_components_ == 3
        assert_orthonormal(found.training_scores(name))

    def test_are_the_view_times_its_rotations(self, size, representation, storage, name):
        found = fitted(size, storage, representation)
        scores = found.prepared_times_rotations(name)
        assert_orthonormal(scores)
        np.testing.assert_allclose(found.training_scores(name), scores, atol=1e-6)


@pytest.mark.parametrize("name", ["X", "Y"])
@pytest.mark.parametrize("representation", DUAL_VIEWS)
@pytest.mark.parametrize("size", SIZES)
def test_weighted_features_leave_orthonormal_scores(size, representation, name):
    found = fitted(size, "sparse", representation, feature_weights="shared")
    assert_orthonormal(found.training_scores(name))
    assert_orthonormal(found.prepared_times_rotations(name))


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_many_samples(store):
    X, Y = (store(view) for view in make_planted(1500, 60, 50, random_state=0).views)
    for scores in (
        AnchoredCCA(5, anchors="cross-energy", feature_weights="shared", scale="auto").fit(X, Y).transform_pair(X, Y)
    ):
        assert_orthonormal(scores)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def assert_same(found, expected):
    """Two models in different storage; rotations of singular kernels are not unique, but what they give is."""
    assert found.model.anchors_.tolist() == expected.model.anchors_.tolist()
    for attribute in ("mu_", "gamma_", "objective_", "correlations_", "x_weights_", "y_weights_"):
        close(getattr(found.model, attribute), getattr(expected.model, attribute))
    for name in "XY":
        close(found.new_scores(name), expected.new_scores(name))
        close(found.training_scores(name), expected.training_scores(name))


@pytest.mark.parametrize("feature_weights", [None, "shared"])
@pytest.mark.parametrize("representation", DUAL_VIEWS)
@pytest.mark.parametrize("size", SIZES)
def test_sparse_storage_is_dense_storage(size, representation, feature_weights):
    dense, sparse = (
        fitted(size, storage, representation, feature_weights=feature_weights) for storage in ("dense", "sparse")
    )
    assert_same(sparse, dense)
    if feature_weights is not None:
        close(sparse.model.x_feature_weights_, dense.model.x_feature_weights_)
        close(sparse.model.y_feature_weights_, dense.model.y_feature_weights_)


@pytest.mark.parametrize("storage", ["dense kernel", "sparse kernel"])
@pytest.mark.parametrize("representation", [name for name, dual in DUAL_VIEWS.items() if dual])
@pytest.mark.parametrize("size", SIZES)
def test_a_precomputed_kernel_is_the_linear_kernel_of_the_same_features(size, representation, storage):
    assert_same(fitted(size, storage, representation), fitted(size, "dense", representation))
