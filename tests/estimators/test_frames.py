"""Views come in any container, are read in one way, and scores go out in the container asked for."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn

from scca import AnchoredCCA, DataWarning, Kernel, KernelCCA, SparseCCA, SparseCCACV
from scca.datasets import make_planted
from scca.readers import PairedText
from scca.retrieval import average_precision
from scca.text import BilingualModel

ESTIMATORS = [SparseCCA, KernelCCA]


def named(array, prefix):
    return pd.DataFrame(array, columns=[f"{prefix}{i}" for i in range(array.shape[1])])


def arrow(array, prefix):
    return pa.Table.from_pandas(named(array, prefix), preserve_index=False)


def names(frame):
    return frame.column_names if hasattr(frame, "column_names") else frame.columns


FRAMES = {
    "pandas": named,
    "polars": lambda array, prefix: pl.from_pandas(named(array, prefix)),
    "pyarrow": arrow,
    "pyarrow batch": lambda array, prefix: arrow(array, prefix).to_batches()[0],
}
UNNAMED = {
    "list": lambda array, prefix: array.tolist(),
    "csr matrix": lambda array, prefix: sp.csr_matrix(array),
    "coo array": lambda array, prefix: sp.coo_array(array),
    "numbered frame": lambda array, prefix: pd.DataFrame(array),
    "sparse frame": lambda array, prefix: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(array)),
    "masked, nothing masked": lambda array, prefix: np.ma.array(array),
}


@pytest.fixture
def pair():
    return make_planted(40, 8, 6, n_active=3, strength=2, random_state=0).views


@pytest.fixture
def frames(pair):
    """Both views with the same labels, in no order."""
    labels = [f"sample {i}" for i in np.random.default_rng(0).permutation(40)]
    return tuple(named(view, prefix).set_axis(labels) for view, prefix in zip(pair, "xy", strict=True))


@pytest.mark.parametrize("estimator", ESTIMATORS)
class TestReading:
    @pytest.mark.parametrize("container", [*FRAMES, *UNNAMED])
    def test_the_container_does_not_matter(self, estimator, pair, container):
        X, Y = ((FRAMES | UNNAMED)[container](view, prefix) for view, prefix in zip(pair, "xy", strict=True))
        expected = estimator().fit(*pair).transform_pair(*pair)
        model = estimator().fit(X, Y)
        for mine, other in zip(model.transform_pair(X, Y), expected, strict=True):
            assert isinstance(mine, np.ndarray)
            np.testing.assert_allclose(mine, other, atol=1e-8)

    @pytest.mark.parametrize("container", FRAMES)
    def test_names_are_remembered_and_checked(self, estimator, pair, container):
        frame = FRAMES[container]
        X, Y = frame(pair[0], "x"), frame(pair[1], "y")
        model = estimator().fit(X, Y)
        assert model.feature_names_in_.tolist() == [f"x{i}" for i in range(8)]
        assert model.feature_names_y_.tolist() == [f"y{i}" for i in range(6)]
        for method, view, prefix, said in ((model.transform, pair[0], "x", "names"),
                                           (model.transform_y, pair[1], "y", "names of Y")):  # fmt: skip
            with pytest.raises(ValueError, match=rf"The feature {said} should match those .*\nFeature names unseen"):
                method(frame(view, "z"))
            given = frame(view, prefix)
            turned = given[given.columns[::-1]] if container == "pandas" else given.select(names(given)[::-1])
            with pytest.raises(ValueError, match=rf"The feature {said} should match .*\nFeature names must be in the"):
                method(turned)
            with pytest.raises(
                ValueError, match=rf"The feature {said} should match .*\n.* yet now missing:\n- {prefix}1"
            ):
                method(frame(view[:, :1], prefix))

    def test_names_that_come_or_go_are_said(self, estimator, pair):
        X, Y = named(pair[0], "x"), named(pair[1], "y")
        for name, method, frame in (("X", "transform", X), ("Y", "transform_y", Y)):
            with pytest.warns(
                UserWarning, match=f"{name} has feature names, but {estimator.__name__} was fitted without"
            ):
                getattr(estimator().fit(*pair), method)(frame)
            with pytest.warns(UserWarning, match=f"{name} does not have valid feature names, but .* fitted with"):
                getattr(estimator().fit(X, Y), method)(frame.to_numpy())

    @pytest.mark.parametrize(
        "vector",
        [
            np.asarray,
            list,
            np.ma.array,
            pd.Series,
            lambda y: pd.Series(y, dtype="Float64", name="y"),
            pl.Series,
            pa.array,
            lambda y: pa.chunked_array([y[:7], y[7:]]),
        ],
    )
    def test_a_vector_is_one_column_of_y(self, estimator, pair, vector):
        X, column = pair[0], pair[1][:, :1]
        model = estimator(1).fit(X, vector(column[:, 0]))
        assert model.n_features_y_ == 1
        assert not hasattr(model, "feature_names_y_")
        expected = estimator(1).fit(X, column).transform_y(column)
        np.testing.assert_allclose(model.transform_y(vector(column[:, 0])), expected, atol=1e-12)

    @pytest.mark.parametrize("container", FRAMES)
    def test_float32_stays_float32(self, estimator, pair, container):
        X, Y = (FRAMES[container](view.astype(np.float32), "v") for view in pair)
        model = estimator(1).fit(X, Y)
        assert model.x_weights_.dtype == model.y_weights_.dtype == np.float32
        assert model.transform_y(Y).dtype == np.float32

    @pytest.mark.parametrize("container", FRAMES)
    def test_missing_values_are_named(self, estimator, pair, container):
        X, Y = pair
        Y[4, 2] = np.nan
        missing = FRAMES[container](Y, "y")
        with pytest.raises(ValueError, match=r"Input Y contains NaN \(first at row 4, column 2\)"):
            estimator(1).fit(X, missing)
        with pytest.raises(ValueError, match=r"Input X contains NaN \(first at row 4, column 2\)"):
            estimator(1).fit(missing, X)

    def test_nullable_columns(self, estimator, pair):
        X, Y = pair
        frame = named(Y, "y").astype("Float64")
        frame.iloc[4, 2] = pd.NA
        with pytest.raises(ValueError, match=r"Input Y contains NaN \(first at row 4, column 2\)"):
            estimator(1).fit(X, frame)
        with pytest.raises(ValueError, match=r"Input Y contains NaN \(first at row 4, column 0\)"):
            estimator(1).fit(X, frame["y2"])

    @pytest.mark.parametrize("name", ["X", "Y"])
    @pytest.mark.parametrize("columns", [list("abca"), [0, 1, 2, 0]])
    def test_repeated_columns(self, estimator, pair, name, columns):
        repeated = pd.DataFrame(pair[0][:, :4], columns=columns)
        views = {"X": pair[0], "Y": pair[1], name: repeated}
        said = rf"^{name} must have unique column names; {columns[0]!r} names 2 columns \(.* 0 and 3\): rename"
        with pytest.raises(ValueError, match=said):
            estimator(1).fit(*views.values())

    def test_repeated_columns_of_arrow(self, estimator, pair):
        repeated = pa.Table.from_arrays([pa.array(column) for column in pair[1][:, :3].T], names=["a", "b", "b"])
        with pytest.raises(ValueError, match=r"^Y must have .*; 'b' names 2 columns \(the first two at 1 and 2\)"):
            estimator(1).fit(pair[0], repeated)

    @pytest.mark.parametrize("name", ["X", "Y"])
    def test_strings_beside_other_names(self, estimator, pair, name):
        mixed = pd.DataFrame(pair[0][:, :3], columns=["a", 1, "c"])
        views = {"X": pair[0], "Y": pair[1], name: mixed}
        with pytest.raises(
            TypeError, match=f"string names, but {name} has the column name 1 beside 'a': make all of them"
        ):
            estimator(1).fit(*views.values())

    @pytest.mark.parametrize("name", ["X", "Y"])
    def test_masked_entries(self, estimator, pair, name):
        mask = np.zeros((40, 6), dtype=bool)
        mask[7, 3] = mask[9, 0] = True
        masked = np.ma.array(pair[1], mask=mask)
        views = {"X": pair[0], "Y": pair[1], name: masked}
        said = rf"^{name} has 2 masked entries \(first at row 7, column 3\), .*; fill .* with {name}\.filled\(0\)"
        with pytest.raises(ValueError, match=said):
            estimator(1).fit(*views.values())
        with pytest.raises(ValueError, match=said):
            estimator(1).fit(*{**views, name: list(masked)}.values())
        model = estimator(1).fit(pair[1], pair[1])
        with pytest.raises(ValueError, match=said):
            (model.transform if name == "X" else model.transform_y)(masked)

    def test_masked_vector(self, estimator, pair):
        with pytest.raises(ValueError, match=r"^Y has 1 masked entry \(first at row 5\)"):
            estimator(1).fit(pair[0], np.ma.masked_equal(np.arange(40), 5))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("asked", ["estimator", "everywhere"])
class TestOutput:
    @pytest.fixture
    def model(self, estimator, asked, frames, request):
        """A factory of fitted models whose output is as asked for."""

        def fitted(container, *views, n_components=2):
            model = estimator(n_components)
            if asked == "estimator":
                model.set_output(transform=container)
            else:
                before = sklearn.get_config()["transform_output"]
                request.addfinalizer(lambda: sklearn.set_config(transform_output=before))
                sklearn.set_config(transform_output=container)
            return model.fit(*(views or frames))

        return fitted

    def test_pandas_keeps_the_labels(self, model, estimator, pair, frames):
        X, Y = frames
        expected = estimator(2).fit(*pair).project(pair[0], "X"), estimator(2).fit(*pair).project(pair[1], "Y")
        x_columns, y_columns = ([f"{estimator.__name__.lower()}{of}{i}" for i in range(2)] for of in ("", "_y"))
        fitted = model("pandas")
        answers = [
            (fitted.transform(X), expected[0], x_columns),
            (fitted.transform_y(Y), expected[1], y_columns),
            *zip(fitted.transform_pair(X, Y), expected, (x_columns, y_columns), strict=True),
            (fitted.fit_transform(X, Y), expected[0], x_columns),
        ]
        for scores, values, columns in answers:
            assert isinstance(scores, pd.DataFrame)
            assert scores.index.equals(X.index)
            assert scores.columns.tolist() == columns
            np.testing.assert_allclose(scores.to_numpy(), values, atol=1e-10)
        assert list(fitted.get_feature_names_out()) == x_columns

    def test_scores_of_both_views_go_into_one_frame(self, model, frames):
        for container, beside in (
            ("pandas", lambda *scores: pd.concat(scores, axis=1)),
            ("polars", lambda *scores: pl.concat(scores, how="horizontal")),  # refuses columns of the same name
        ):
            both = beside(*model(container).transform_pair(*frames))
            assert len(set(both.columns)) == 4

    @pytest.mark.filterwarnings("ignore::UserWarning")  # a series has no columns
    def test_labels_of_a_series(self, model, frames):
        fitted = model("pandas", frames[0], frames[1][["y0"]], n_components=1)
        for series in (frames[1]["y0"], frames[1]["y0"].to_numpy()):
            scores = fitted.transform_y(series)
            assert scores.index.equals(getattr(series, "index", pd.RangeIndex(len(series))))

    def test_polars(self, model, frames):
        X, Y = (pl.from_pandas(frame) for frame in frames)
        fitted = model("polars", X, Y)
        for scores in (
            fitted.transform(X),
            fitted.transform_y(Y),
            *fitted.transform_pair(X, Y),
            fitted.fit_transform(X, Y),
        ):
            assert isinstance(scores, pl.DataFrame)
            assert scores.shape == (40, 2)

    def test_the_score_is_that_of_arrays(self, model, estimator, pair, frames):
        fitted = model("pandas")
        scores = fitted.project(frames[0], "X"), fitted.project(frames[1], "Y")
        assert all(isinstance(array, np.ndarray) for array in scores)
        assert fitted.score(*frames) == average_precision(*scores).average_precision

    def test_transform_y_changes_nothing(self, model, frames):
        fitted = model("pandas")
        before, scores = dict(vars(fitted)), fitted.transform(frames[0])
        fitted.transform_y(frames[1])
        assert vars(fitted) == before
        assert fitted.transform(frames[0]).equals(scores)


def test_arrays_again(frames):
    model = SparseCCA(1).set_output(transform="pandas").fit(*frames).set_output(transform="default")
    assert all(isinstance(scores, np.ndarray) for scores in model.transform_pair(*frames))


def test_inner_users_get_arrays():
    english = ["the cat and the dog", "a dog ran to the cow", "the cow and the hen", "a hen and a cat"]
    french = ["le chat et le chien", "un chien courait vers la vache", "la vache et la poule", "une poule et un chat"]
    model = BilingualModel(1).fit(PairedText.of(english, french, ("en", "fr")))
    vectors, expected = model.vectorize(french, "fr"), model.project(french, "fr")
    with sklearn.config_context(transform_output="pandas"):
        np.testing.assert_array_equal(model.scores_of(vectors, 1)[0], expected)


def test_cross_validation_gets_arrays(pair):
    expected = SparseCCACV(2, mu_factors=(0.5, 1), cv=3).fit(*pair)
    with sklearn.config_context(transform_output="pandas"):
        model = SparseCCACV(2, mu_factors=(0.5, 1), cv=3, scoring="correlation").fit(*pair)
        assert isinstance(model.transform_y(pair[1]), pd.DataFrame)
    assert model.component_scores_.shape == expected.component_scores_.shape


@pytest.mark.parametrize("estimator", ESTIMATORS)
class TestRowLabels:
    SAME = "X and Y have the same row labels in another order, first at row"

    @pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")  # in another order they do not
    @pytest.mark.parametrize("method", ["fit", "transform_pair", "score"])
    def test_another_order_is_refused(self, estimator, frames, method):
        X, Y = frames
        model = estimator(1).fit(X, Y)
        other = pd.concat([Y[:3], Y[:2:-1]])
        rows = f"3, which is '{X.index[3]}' in X and '{Y.index[-1]}' in Y"
        with pytest.raises(ValueError, match=rf"^{self.SAME} {rows}: pass Y\.loc\[X\.index\], or reset_index"):
            getattr(model, method)(X, other)
        getattr(model, method)(X, other.loc[X.index])
        getattr(model, method)(X.reset_index(drop=True), other.reset_index(drop=True))

    def test_series(self, estimator, frames):
        X, y = frames[0], frames[1]["y0"]
        with pytest.raises(ValueError, match=self.SAME):
            estimator(1).fit(X, y[::-1])

    def test_shuffled_row_numbers(self, estimator, frames):
        X, Y = (frame.reset_index(drop=True) for frame in frames)
        with pytest.raises(ValueError, match=f"{self.SAME} 0, which is 0 in X and 39 in Y"):
            estimator(1).fit(X, Y[::-1])

    def test_repeated_labels(self, estimator, frames):
        X, Y = (frame.set_axis(list("abac") * 10) for frame in frames)
        estimator(1).fit(X, Y)
        with pytest.raises(ValueError, match=f"{self.SAME} 1, which is 'b' in X and 'a' in Y: pass both in one order"):
            estimator(1).fit(X, Y.iloc[[0, 2, 1, *range(3, 40)]])

    def test_as_many_labels_repeated_otherwise(self, estimator, frames):
        """The sets are the same, the multisets are not: some rows cannot have their mates."""
        X, Y = frames[0].set_axis(list("aab") + list("c" * 37)), frames[1].set_axis(list("abb") + list("c" * 37))
        with pytest.warns(
            DataWarning, match="^1 row labels of X are at other rows of Y, first 'a' at row 1, where Y has 'b'"
        ):
            estimator(1).fit(X, Y)

    def test_shared_labels_at_other_rows_warn(self, estimator, frames):
        X, Y = frames
        shifted = Y.set_axis([*Y.index[1:], "another"])
        with pytest.warns(
            DataWarning, match=rf"^39 row labels of X are at other rows of Y, first '{X.index[1]}' at row 1"
        ):
            model = estimator(1).fit(X, shifted)
        with pytest.warns(DataWarning, match="39 row labels of X"):
            model.score(X, shifted)

    @pytest.mark.parametrize(
        "labels",
        [
            lambda index: index,
            lambda index: pd.RangeIndex(40),
            lambda index: pd.RangeIndex(100, 140),
            lambda index: pd.Index([f"{label} of Y" for label in index]),
            lambda index: pd.Index([*index[:30], *(f"more {i}" for i in range(10))]),  # in their places
            lambda index: pd.date_range("2020-01-01", periods=40),
            lambda index: pd.MultiIndex.from_product([range(20), ["a", "b"]]),
        ],
    )
    def test_otherwise_by_position(self, estimator, frames, labels):
        X, Y = frames
        expected = estimator(1).fit(X.to_numpy(), Y.to_numpy()).x_weights_
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            np.testing.assert_array_equal(estimator(1).fit(X, Y.set_axis(labels(X.index))).x_weights_, expected)

    def test_row_numbers_that_pandas_made_up_say_nothing(self, estimator, frames):
        """A step of a pipeline may have made a frame of its array; the labels left in Y are not those numbers."""
        X, Y = frames[0].reset_index(drop=True), frames[1].set_axis(np.random.default_rng(0).permutation(60)[:40])
        with warnings.catch_warnings():
            warnings.simplefilter("error", DataWarning)
            estimator(1).fit(X, Y)

    @pytest.mark.parametrize(
        "labels",
        [
            pd.MultiIndex.from_product([range(20), ["a", "b"]]),
            pd.date_range("2020-01-01", periods=40, tz="UTC"),
            pd.CategoricalIndex([f"c{i}" for i in range(40)]),
            pd.Index([None, 1.5, "a", *range(37)], dtype=object),
            pd.Index([np.nan, *range(39)]),
        ],
    )
    def test_labels_of_any_kind(self, estimator, frames, labels):
        X, Y = (frame.set_axis(labels) for frame in frames)
        estimator(1).fit(X, Y)
        with pytest.raises(ValueError, match=f"{self.SAME} 0"):
            estimator(1).fit(X, Y[::-1])

    @pytest.mark.filterwarnings("ignore::scca.EvidenceWarning")  # in this order they do not
    def test_a_frame_beside_an_array_has_no_labels_to_compare(self, estimator, frames):
        estimator(1).fit(frames[0], frames[1].to_numpy()[::-1])


def anchored(n_components):
    return AnchoredCCA(n_components, anchors="cross-energy")


def searching(n_components):
    return SparseCCACV(n_components, mu_factors=(0.25, 0.5), cv=3)


@pytest.mark.filterwarnings("ignore::UserWarning")  # few samples: some components are empty
@pytest.mark.parametrize("estimator", [*ESTIMATORS, anchored, searching])
class TestRefit:
    def failing(self, estimator, X, Y):
        """Fits that fail: what is changed of the settings, and the data."""
        broken = Y.to_numpy().copy()
        broken[0, 0] = np.nan
        yield {}, (X, broken)
        yield {}, (X[:5], Y)
        yield {"center": "x"}, (X, Y)
        yield {"kernel": Kernel("rbf", gama=1)}, (X, Y)
        yield {"n_components": 5}, (X.iloc[:5, :2], Y.iloc[:5, :3])  # other features, fewer than components
        if estimator in (SparseCCA, anchored):
            halves = np.zeros((40, 1)), np.zeros((40, 1))
            halves[0][:2, 0] = halves[1][2:4, 0] = 1, -1
            yield {"scale": None}, halves  # nothing in common

    def test_a_failed_one_leaves_the_model_as_it_was(self, estimator, frames):
        X, Y = frames
        model = estimator(2).fit(X, Y)
        settings = model.get_params()
        before, scores = dict(vars(model)), model.transform_pair(X, Y)
        for changed, data in self.failing(estimator, X, Y):
            with pytest.raises(ValueError):  # noqa: PT011  (each in its own words, which other tests hold)
                model.set_params(**changed).fit(*data)
            model.set_params(**settings)
            assert vars(model).keys() == before.keys()
            assert all(vars(model)[name] is value for name, value in before.items())
            for mine, other in zip(model.transform_pair(X, Y), scores, strict=True):
                np.testing.assert_array_equal(mine, other)

    def test_no_names_are_left_of_frames(self, estimator, frames):
        X, Y = (frame.to_numpy() for frame in frames)
        model = estimator(1).fit(*frames).fit(X[:, :5], Y[:, :4])
        assert (model.n_features_in_, model.n_features_y_) == (5, 4)
        assert not hasattr(model, "feature_names_in_")
        assert not hasattr(model, "feature_names_y_")

    def test_nothing_else_is_left(self, estimator, frames):
        model = estimator(1).fit(*frames)
        model.of_another_version_ = 1
        assert vars(model.fit(*frames)).keys() == vars(estimator(1).fit(*frames)).keys()
