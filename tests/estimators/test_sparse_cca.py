"""SparseCCA and AnchoredCCA: the scores of new samples, and scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scca
from scca import AnchoredCCA, Kernel, LowRankKernel, SparseCCA
from scca.datasets import make_planted


@pytest.fixture
def pairs():
    return make_planted(30, 40, 25, n_active=5, random_state=0).views


@pytest.fixture
def new_pairs():
    return make_planted(11, 40, 25, n_active=5, random_state=1).views


def anchored(n_components, **settings):
    return AnchoredCCA(
        n_components, **{"anchors": "cross-energy", "feature_weights": "shared", "scale": "auto", **settings}
    )


def factors(n_components, **settings):
    return SparseCCA(n_components, **{"held_out": 0, **settings})


LINEAR = Kernel("polynomial", degree=1, gamma=1.0, coef0=0.0)  # the linear kernel, with weights on samples
both = pytest.mark.parametrize("make", [factors, anchored])


class TestNewSamples:
    @pytest.mark.parametrize(("make", "kernel"), [(factors, LINEAR), (anchored, "linear")])
    def test_precomputed_with_and_without_diagonal(self, pairs, new_pairs, make, kernel):
        """A kernel matrix is the linear kernel of the same features; a sample's own k(y, y) only scales its score."""
        (X, Y), (X_new, Y_new) = pairs, new_pairs
        settings = {"feature_weights": None, "tol": 1e-10, "scale": "rows"}
        linear = make(4, kernel=kernel, **settings).fit(X, Y)
        model = make(4, kernel="precomputed", **settings).fit(X, Y @ Y.T)
        expected = linear.transform_y(Y_new)
        scores = model.transform_y(Y_new @ Y.T, diagonal=np.sum(Y_new**2, axis=1))
        np.testing.assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())  # sqrt(tol), relative
        unscaled = model.transform_y(Y_new @ Y.T)
        unit_scores, unit_expected = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (unscaled, expected))
        np.testing.assert_allclose(unit_scores, unit_expected, atol=1e-6)
        # a sample's own scale changes no ranking
        assert model.score(X_new, Y_new @ Y.T) == pytest.approx(linear.score(X_new, Y_new), abs=1e-12)

    @both
    def test_sparse_and_dense_agree(self, pairs, new_pairs, make):
        dense = make(4).fit(*pairs)
        sparse = make(4).fit(*map(sp.csr_matrix, pairs))
        found = sparse.transform_pair(*map(sp.csr_array, new_pairs))
        for mine, other in zip(dense.transform_pair(*new_pairs), found, strict=True):
            assert isinstance(other, np.ndarray)
            np.testing.assert_allclose(mine, other, atol=1e-9)

    @both
    def test_float32_stays_float32(self, pairs, new_pairs, make):
        X, Y = (A.astype(np.float32) for A in pairs)
        model = make(3).fit(X, Y)
        assert model.x_weights_.dtype == model.y_weights_.dtype == np.float32
        assert model.dual_gap_.dtype == np.float64
        scores = model.transform_pair(*(A.astype(np.float32) for A in new_pairs))
        reference = make(3).fit(*pairs).transform_pair(*new_pairs)
        for mine, exact in zip(scores, reference, strict=True):
            assert mine.dtype == np.float32
            # the working set may stop at another point within tol = 1e-6, so sqrt(tol) apart
            np.testing.assert_allclose(mine, exact, atol=2e-3)

    @both
    def test_score_is_average_precision(self, pairs, new_pairs, make):
        model = make(5).fit(*pairs)
        A, B = model.transform_pair(*new_pairs)
        assert model.score(*new_pairs) == scca.retrieval.average_precision(A, B).average_precision

    def test_swapped_views_have_swapped_factors(self, pairs, new_pairs):
        """Neither view is the first of two; the sign and order of factors do not depend on it either."""
        one = factors(3, tol=1e-10).fit(*pairs)
        other = factors(3, tol=1e-10).fit(*reversed(pairs))
        for mine, swapped in zip(one.transform_pair(*new_pairs), other.transform_pair(*new_pairs[::-1])[::-1],
                                 strict=True):  # fmt: skip
            np.testing.assert_allclose(mine, swapped, atol=1e-6 * np.abs(mine).max())


class TestScikitLearn:
    @both
    def test_clone_and_pickle(self, pairs, new_pairs, make):
        model = make(3, mu="auto*0.5").fit(*pairs)
        assert clone(model).get_params() == model.get_params()
        again = pickle.loads(pickle.dumps(model))
        for mine, other in zip(again.transform_pair(*new_pairs), model.transform_pair(*new_pairs), strict=True):
            np.testing.assert_array_equal(mine, other)

    @both
    def test_pickle_does_not_carry_the_training_data_of_a_linear_kernel(self, make):
        X, Y = make_planted(300, 20, 20, n_active=5, random_state=0).views
        model = make(1).fit(X, Y)
        assert len(pickle.dumps(model)) < X.nbytes / 2

    @both
    def test_grid_search_and_pipeline(self, make):
        X, Y = make_planted(60, 30, 30, n_active=5, strength=3, random_state=0).views
        search = GridSearchCV(make(2), {"mu": ["auto", "auto*0.3"], "n_components": [1, 4]}, cv=3).fit(X, Y)
        assert search.best_params_["n_components"] == 4
        piped = make_pipeline(StandardScaler(), make(2)).fit(X, Y)
        expected = make(2).fit(StandardScaler().fit_transform(X), Y).transform(StandardScaler().fit_transform(X))
        np.testing.assert_allclose(piped.transform(X), expected, atol=1e-12)
        assert 0 < piped.score(X, Y) <= 1

    @both
    def test_data_frames(self, pairs, make):
        X = pd.DataFrame(pairs[0]).rename(columns=lambda c: f"x{c}")
        Y = pd.DataFrame(pairs[1]).rename(columns=lambda c: f"y{c}")
        model = make(2).set_output(transform="pandas").fit(X, Y)
        assert list(model.feature_names_in_) == list(X.columns)
        assert list(model.feature_names_y_) == list(Y.columns)
        frame = model.transform(X)
        prefix = type(model).__name__.lower()
        assert list(frame.columns) == list(model.get_feature_names_out()) == [f"{prefix}0", f"{prefix}1"]
        np.testing.assert_allclose(model.transform_y(Y), make(2).fit(*pairs).transform_y(pairs[1]), atol=1e-12)
        with pytest.raises(ValueError, match="feature names of Y should match"):
            model.transform_y(Y[Y.columns[::-1]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(X[X.columns[::-1]])

    def test_other_settings_leave_nothing_of_the_fit_before(self, pairs):
        kernel = LowRankKernel("rbf", 30)
        model = SparseCCA(2, held_out=3, kernel=kernel).fit(*pairs)
        model.set_params(held_out=0, kernel="linear").fit(*pairs)
        fresh = factors(2).fit(*pairs)
        assert {n for n in vars(model) if n.endswith("_")} == {n for n in vars(fresh) if n.endswith("_")}

    @both
    def test_every_component_is_logged(self, pairs, make, caplog):
        with caplog.at_level("INFO", logger="scca"):
            make(2).fit(*pairs)
        assert [r.message.split(":")[0] for r in caplog.records] == ["component 1", "component 2"]
