"""Mistakes in tables that would silently decide the result are told, each in one sentence, and nothing else is."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from scca import DataWarning, KernelCCA, SparseCCA
from scca.datasets import make_planted
from scca.factors import constants


@pytest.fixture
def frames():
    X, Y = make_planted(60, 8, 6, n_active=3, random_state=0).views
    return pd.DataFrame(X).add_prefix("gene"), pd.DataFrame(Y).add_prefix("lipid")


def told(X, Y):
    """The warnings of a fit, and which came more than once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SparseCCA(1, held_out=2).fit(X, Y)
    return [str(each.message) for each in caught if each.category is DataWarning]


def test_nothing_is_told_of_sound_tables(frames):
    assert told(*frames) == []


class TestEqualColumns:
    def test_of_the_same_name(self, frames):
        X, Y = frames
        Y["age"] = X["age"] = np.random.default_rng(0).integers(20, 80, 60).astype(float)
        assert told(X, Y) == [
            "column 'age' of X and column 'age' of Y have the same values, and a component of them alone correlates "
            "perfectly; drop it from one of the views."
        ]

    def test_of_the_same_name_with_other_values(self, frames):
        X, Y = frames
        rng = np.random.default_rng(0)
        X["size"], Y["size"] = rng.standard_normal((2, 60))
        assert told(X, Y) == []

    def test_without_names(self, frames):
        X, Y = (frame.to_numpy() for frame in frames)
        (message,) = told(X, np.hstack([Y, X[:, 3:4]]))
        assert message.startswith("column 3 of X and column 6 of Y have the same values")

    def test_few_values_may_agree_by_chance(self, frames):
        X, Y = (np.hstack([frame.to_numpy(), np.arange(60)[:, None] % 2 * 1.0]) for frame in frames)
        assert told(X, Y) == []


class TestEqualViews:
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_array, pd.DataFrame])
    def test_are_told(self, frames, store):
        X = frames[0].to_numpy()
        (message,) = [m for m in told(store(X), store(X.copy())) if "equal" in m]
        assert message == (
            "X and Y are equal, so that every correlation is perfect and says nothing; pass different views of the "
            "samples."
        )

    def test_equal_but_for_one_value_are_not(self, frames):
        X = frames[0].to_numpy()
        other = X.copy()
        other[-1, -1] += 1.0
        assert not any("are equal" in message for message in told(X, other))


class TestIds:
    def test_that_rise_with_the_rows(self, frames):
        X, Y = frames
        X.insert(0, "who", np.arange(100.0, 160.0))
        assert told(X, Y) == [
            "column 'who' of X seems to number the samples, and what changes from the first sample to the last would "
            "look shared; drop it, or make it the index of the frame."
        ]
        (message,) = told(X.to_numpy(), Y.to_numpy())
        assert message.startswith("column 0 of X seems to number the samples")

    @pytest.mark.parametrize("name", ["id", "ID", "patient_id", "subjectID", "Sample ID", "participant", "index"])
    def test_by_their_name(self, frames, name):
        X, Y = frames
        Y[name] = np.random.default_rng(0).permutation(5000)[:60]
        (message,) = told(X, Y)
        assert message.startswith(f"column {name!r} of Y seems to number the samples")

    @pytest.mark.parametrize("name", ["acid", "lipid", "fluid", "rapid", "age", "indexed", "ranks"])
    def test_not_by_names_that_end_alike(self, frames, name):
        X, Y = frames
        Y[name] = np.random.default_rng(0).permutation(60)
        assert told(X, Y) == []

    def test_not_labels_that_repeat(self, frames):
        X, Y = frames
        X["batch id"] = np.random.default_rng(0).integers(4, size=60)
        assert told(X, Y) == []


class TestExtremeCells:
    def test_one_is_told_with_its_place(self, frames):
        X, Y = frames
        X.iloc[17, 2] = 1e6
        assert told(X, Y) == [
            "one value of X is more than 100 standard deviations of its column away from all others: 1e+06 in row 17, "
            "column 'gene2'; correct it, or drop the pair, if it is a mistake."
        ]

    def test_it_decides_no_longer(self, frames):
        """A value of 1e6 turned all samples of that view into its own direction; now it has one column alone."""
        made = make_planted(300, 8, 6, n_factors=1, n_active=4, strength=2, random_state=0)
        X, Y = (view[:100].copy() for view in made.views)
        new = [view[100:] for view in made.views]
        correlations = []
        for value in (X[17, 2], 1e6):
            X[17, 2] = value
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                A, B = KernelCCA(1).fit(X, Y).transform_pair(*new)
            correlations.append(np.corrcoef(A[:, 0], B[:, 0])[0, 1])
        assert correlations[0] > 0.85
        assert correlations[1] > correlations[0] - 0.05

    def test_heavy_tails_rare_events_and_offsets_are_none(self):
        rng = np.random.default_rng(0)
        columns = [
            rng.lognormal(sigma=2, size=80),
            rng.standard_t(3, size=80),
            (np.arange(80) == 5) * 1.0,
            np.where(np.arange(80) == 5, 0.3, 0.1),
            rng.poisson(0.1, size=80),
            1e9 + rng.standard_normal(80),
            rng.integers(0, 2, 80),
        ]
        assert told(np.column_stack(columns), rng.standard_normal((80, 4))) == []


def test_the_most_components_of_auto_are_told(monkeypatch):
    monkeypatch.setattr(constants, "MOST_COMPONENTS", 3)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 5))
    X, Y = (Z + 0.2 * rng.standard_normal((120, 5)) for _ in range(2))
    with pytest.warns(DataWarning, match="n_components='auto' stopped at 3, the most that it looks for"):
        model = SparseCCA("auto", held_out=0).fit(X, Y)
    assert model.n_components_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseCCA(3, held_out=0).fit(X, Y)
