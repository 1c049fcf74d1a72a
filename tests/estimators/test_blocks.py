"""Models of samples in blocks are those of the same samples in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import in_blocks, many_pairs
from numpy.testing import assert_array_equal

from scca import AnchoredCCA, KernelCCA, SparseCCA
from scca._checks import AllZeroWarning
from scca.datasets import make_planted
from scca.factors import constants, find, large
from scca.factors._iteration import leading_solutions
from scca.progress import previewed

N = 240


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    many_pairs(monkeypatch, N // 4)


def planted(store, n=N, **settings):
    made = make_planted(n, 50, 40, **{"n_factors": 3, "n_active": 6, "strength": 1.5, "random_state": 3, **settings})
    return tuple(store(view) for view in made.views)


def words(store, seed=0):
    """Sparse, with features of very different variances and samples without any."""
    rng = np.random.default_rng(seed)
    made = make_planted(N, 50, 40, n_factors=3, n_active=6, strength=1.5, random_state=seed)
    views = []
    for view in made.views:
        view = np.maximum(view - 0.5, 0.0) * rng.gamma(1.0, size=view.shape[1])
        view[[5, 100]] = 0.0
        views.append(store(view))
    return tuple(views)


def both_ways(views, sizes=(50, 1, 100, 89), **settings):
    settings = {"n_components": 3, "n_features": None, "held_out": 3, **settings}
    here, there = SparseCCA(**settings).fit(*views), SparseCCA(**settings).fit(*in_blocks(views, sizes))
    return here, there


def assert_same_model(there, here, new, rtol=1e-7):
    assert there.n_components_ == here.n_components_
    for name in ("x_weights_", "y_weights_", "x_loadings_", "y_loadings_"):
        found, expected = getattr(there, name), getattr(here, name)
        np.testing.assert_allclose(found, expected, atol=rtol * np.abs(expected).max())
        cosines = np.sum(found * expected, axis=0) / np.linalg.norm(found, axis=0) / np.linalg.norm(expected, axis=0)
        assert cosines.min() > 1 - 1e-6
    for name in ("correlations_", "held_out_correlations_", "mu_"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), atol=rtol, rtol=rtol)
    assert there.p_value_ == here.p_value_
    assert there.converged_.all()
    for found, expected in zip(there.transform_pair(*new), here.transform_pair(*new), strict=True):
        np.testing.assert_allclose(found, expected, atol=rtol)


@pytest.fixture
def by_features(monkeypatch):
    """In memory, too, so that both solve the same problem by the same route."""
    monkeypatch.setattr(find, "_FEW", 0)


STORES = {"dense": np.asarray, "sparse": sp.csr_array}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.usefixtures("by_features")
@pytest.mark.filterwarnings("ignore::scca.DataWarning")
class TestTheModelOfBlocks:
    @pytest.mark.parametrize("views", [planted, words])
    def test_has_the_weights_certificates_and_held_out_correlations_of_the_one_in_memory(self, store, views):
        views = views(store)
        here, there = both_ways(views)
        assert_same_model(there, here, views)
        for name, tol in (("dual_gap_", there.tol), ("objective_", np.inf)):
            assert getattr(there, name).shape == getattr(here, name).shape
            assert np.all(getattr(there, name) <= tol)
        np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-6)

    def test_with_dense_rendering(self, store):
        views = planted(store)
        here, there = both_ways(views, rendering="dense")
        assert_same_model(there, here, views)

    def test_with_one_view_dense_and_the_other_sparse(self, store):
        views = planted(store)
        here, there = both_ways(views, rendering=("dense", "sparse"))
        assert_same_model(there, here, views)

    def test_with_as_many_components_as_hold(self, store):
        views = planted(store)
        here, there = both_ways(views, n_components="auto")
        assert 1 <= there.n_components_ < 20
        assert_same_model(there, here, views)

    @pytest.mark.parametrize("n_components", [2, 5])
    def test_with_first_results(self, store, n_components):
        """Loadings of the three strongest factors; the model itself is as without."""
        views, seen = planted(store, n_factors=5), []
        settings = {"n_components": n_components, "n_features": None, "held_out": 0}
        with previewed(lambda *results: seen.append(results)):
            here, there = (SparseCCA(**settings).fit(*data) for data in (views, in_blocks(views, (50, 1, 100, 89))))
        for found, expected in zip(seen[1], seen[0], strict=True):
            assert found.shape[1] == min(n_components, 3)
            np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())
        for loadings, whole in zip(seen[0], (here.x_loadings_, here.y_loadings_), strict=True):
            np.testing.assert_allclose(loadings, whole[:, :3], atol=1e-12)
        assert_array_equal(here.x_weights_, SparseCCA(**settings).fit(*views).x_weights_)
        np.testing.assert_allclose(there.x_weights_, here.x_weights_, atol=1e-7 * np.abs(here.x_weights_).max())

    def test_without_feature_weights_centring_and_scaling(self, store):
        views = planted(store)
        here, there = both_ways(views, feature_weights=None, center=False, scale=None)
        assert_same_model(there, here, views)

    def test_with_some_features(self, store):
        views = planted(store)
        here, there = both_ways(views, n_features=25)
        assert_same_model(there, here, views)

    def test_with_weighted_samples(self, store, monkeypatch):
        monkeypatch.setattr(constants, "WEIGHTED_SAMPLES", 100)
        monkeypatch.setattr(constants, "FULLY_WEIGHTED_SAMPLES", 101)
        views = words(store)
        here, there = both_ways(views)
        assert_same_model(there, here, views)

    def test_with_more_features_than_are_factorised(self, store, monkeypatch):
        """Then factors are found by an iteration."""
        monkeypatch.setattr(constants, "MOST_FEATURES", 10)
        for module in (find, large):
            monkeypatch.setattr(module, "_TOLERANCE", 1e-9)
        iterated = []
        monkeypatch.setattr(
            large,
            "leading_solutions",
            lambda *given, **settings: iterated.append(1) or leading_solutions(*given, **settings),
        )
        views = planted(store)
        here, there = both_ways(views)
        assert len(iterated) >= 4  # in memory and in blocks, all pairs and those without the pairs left out
        assert_same_model(there, here, views, rtol=1e-6)

    def test_does_not_depend_on_the_blocks(self, store):
        views = words(store)
        one, *others = (both_ways(views, sizes)[1] for sizes in ([N], [120, 120], [1] * 20 + [N - 20]))
        for other in others:
            assert_same_model(other, one, views)


def test_single_precision_stays(by_features):
    views = planted(lambda view: view.astype(np.float32))
    here, there = both_ways(views)
    assert there.x_weights_.dtype == np.float32
    assert_same_model(there, here, views, rtol=1e-4)


def test_by_default_the_features_are_reduced_only_for_few_pairs():
    """Blocks below 20,000 pairs are fitted in memory, with all that this implies."""
    views = planted(np.asarray, n=50)
    here, there = both_ways(views, sizes=(20, 30), n_features="auto")
    assert_array_equal(there.x_weights_, here.x_weights_)


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
class TestWarnings:
    def test_of_samples_that_are_zero(self, store):
        views = words(store)
        with pytest.warns(AllZeroWarning, match="X has 2 all-zero samples"):
            SparseCCA(2, n_features=None, held_out=0).fit(*in_blocks(views, [100, 140]))

    def test_of_constant_features(self, store):
        X, Y = planted(np.asarray)
        X[:, 3] = 2.0
        with pytest.warns(UserWarning, match="constant"):
            SparseCCA(2, n_features=None, held_out=0).fit(*in_blocks((store(X), store(Y)), [100, 140]))

    def test_a_view_without_any_other_feature_is_refused(self, store):
        X, Y = planted(np.asarray)
        X = np.ones_like(X)
        for views in ((X, Y), in_blocks((store(X), store(Y)), [100, 140])):
            with pytest.raises(ValueError, match="X .*constant"):
                SparseCCA(2, held_out=0).fit(*views)


class TestRefusals:
    @pytest.mark.parametrize(
        "model", [AnchoredCCA(2), SparseCCA(2, kernel="rbf"), SparseCCA(2, kernel=("rbf", "linear")), KernelCCA(2)]
    )
    def test_models_that_need_all_samples_at_once(self, model):
        with pytest.raises(ValueError, match="blocks are for SparseCCA with a linear kernel; got n_samples=240 and a"):
            model.fit(*in_blocks(planted(np.asarray), [100, 140]))

    def test_one_view_in_memory_and_the_other_in_blocks(self):
        views = planted(np.asarray)
        blocks = in_blocks(views, [100, 140])
        for name, pair in (("X", (views[0], blocks[1])), ("Y", (blocks[0], views[1]))):
            with pytest.raises(ValueError, match=f"all views must be in blocks, or none; got a ndarray as {name}"):
                SparseCCA(2).fit(*pair)

    def test_views_of_different_samples(self):
        views = planted(np.asarray)
        X, _ = in_blocks(views, [100, 140])
        _, Y = in_blocks([view[:-1] for view in views], [100, 139])
        with pytest.raises(ValueError, match="240 .*239"):
            SparseCCA(2).fit(X, Y)
