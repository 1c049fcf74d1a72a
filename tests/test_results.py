"""What was learnt as plain values: complete, in the order it says, the same in JSON and model files, safe to show."""

import hashlib
import json
import zipfile
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from subprocesses import run_program

import scca
from scca.datasets import load_trilingual, make_planted
from scca.kinds import TableKind, register
from scca.kinds._kind import _KINDS
from scca.readers import PairedText, read_pairs
from scca.results import Result, ResultError, what_is_read, what_is_shown
from scca.text import BilingualModel

pytestmark = pytest.mark.filterwarnings("ignore::scca.DataWarning", "ignore::scca.EvidenceWarning")

RBF = scca.Kernel("rbf", gamma=0.05)
N = 60  # documents


def planted():
    return make_planted(40, 12, 10, n_factors=2, n_active=4, random_state=0).views


def texts():
    corpus = load_trilingual()
    return [side[: 4 * N : 4] for side in (corpus.en, corpus.fr)]


def table():
    """A column for each of two subjects that documents are about, and noise."""
    rng = np.random.default_rng(0)
    subjects = load_trilingual().subjects[: 4 * N : 4]
    about = np.column_stack([[subject == known for subject in subjects] for known in sorted(set(subjects))[:4]])
    return np.column_stack([about + 0.1 * rng.standard_normal(about.shape), rng.standard_normal((N, 3))])


def pairs():
    return PairedText.of(*texts(), ("en", "fr"))


def three_views(**settings):
    en, fr = texts()
    return scca.Model(2, **{"held_out": 0, **settings}).fit({"en": en, "fr": fr, "table": table()})


def of_vectors():
    X, Y = planted()
    return scca.Model(2, held_out=0, kinds={"vectors": "vectors"}).fit({"vectors": X, "table": Y})


MADE = {
    "SparseCCA": lambda: scca.SparseCCA(3, held_out=3).fit(*planted()),
    "SparseCCA, dense": lambda: scca.SparseCCA(2, rendering="dense", held_out=0).fit(*planted()),
    "SparseCCA, kernel": lambda: scca.SparseCCA(2, kernel=(RBF, "linear"), held_out=0).fit(*planted()),
    "SparseCCA, low rank": lambda: scca.SparseCCA(2, kernel=scca.LowRankKernel(RBF, 20), held_out=0).fit(*planted()),
    "SparseCCACV": lambda: scca.SparseCCACV(1, mu_factors=(0.5, 1), ridge_factors=(1,), cv=2).fit(*planted()),
    "MultiSparseCCA": lambda: scca.MultiSparseCCA(2, held_out=3).fit(
        {"a": planted()[0], "b": planted()[1], "c": planted()[0][:, :5]}
    ),
    "KernelCCA": lambda: scca.KernelCCA(2).fit(*planted()),
    "AnchoredCCA": lambda: scca.AnchoredCCA(3).fit(*planted()),
    "AnchoredCCA, features": lambda: scca.AnchoredCCA(2, representation="primal-primal", anchors="cross-energy").fit(
        *planted()
    ),
    "BilingualModel": lambda: BilingualModel(2, held_out=3, random_state=0).fit(pairs()),
    "BilingualModel, anchored": lambda: BilingualModel(2, anchors="cross-energy").fit(pairs()),
    "three views": three_views,
    "vectors": of_vectors,
}
each_model = pytest.mark.parametrize("name", MADE)


@pytest.fixture(scope="module")
def models():
    """The models by name, each fitted once."""
    made = {}

    def model(name):
        if name not in made:
            made[name] = MADE[name]()
        return made[name]

    return model


def values_in(part):
    """All values of a result, at any depth."""
    if is_dataclass(part):
        part = [getattr(part, field.name) for field in fields(part)]
    if isinstance(part, dict):
        part = [*part.keys(), *part.values()]
    if isinstance(part, list | tuple):
        for each in part:
            yield from values_in(each)
    else:
        yield part


class TestJson:
    @each_model
    def test_both_ways_without_loss(self, models, name):
        result = models(name).result()
        assert Result.from_json(result.to_json()) == result
        assert Result.from_json(result.to_json(indent=1)) == result
        assert Result.from_json(result.to_json()).to_json() == result.to_json()

    @each_model
    def test_plain_finite_values(self, models, name):
        for value in values_in(models(name).result()):
            assert value is None or type(value) in (bool, int, float, str)
            assert not isinstance(value, float) or np.isfinite(value)

    def test_what_is_not_known_is_null(self, models):
        """Infinite penalties, intervals of nothing, certificates of nothing: never NaN."""
        model = scca.SparseCCA(2, held_out=3).fit(*planted())
        model.held_out_correlations_[1] = np.nan
        model.held_out_pair_intervals_[0, 0, 1] = np.nan
        model.held_out_intervals_[0] = np.inf
        model.mu_[0, 0] = np.inf
        model.dual_gap_[1, 1] = np.nan
        model.p_value_ = np.nan
        result = model.result()
        assert "NaN" not in result.to_json()
        assert "Infinity" not in result.to_json()
        first, second = result.components
        assert (first.held_out_interval, first.held_out_pair_intervals, first.penalties[0]) == (None, (), None)
        assert (second.held_out_correlation, second.dual_gap) == (None, None)
        assert first.held_out_pair_correlations == (model.held_out_correlations_[0],)
        assert result.evidence.p_value is None
        infinite = scca.AnchoredCCA(1, gamma=np.inf).fit(*planted()).result()
        assert infinite.components[0].penalties[1] is None
        assert Result.from_json(infinite.to_json()) == infinite

    @pytest.fixture
    def content(self, models):
        return json.loads(models("three views").result().to_json())

    def refused(self, text, match):
        with pytest.raises(ResultError, match=match) as caught:
            Result.from_json(text)
        told = str(caught.value)
        assert "\n" not in told
        assert told.endswith(".")
        assert len(told) < 600

    def changed(self, content, path, value):
        *holders, last = path
        holder = content
        for key in holders:
            holder = holder[key]
        holder[last] = value
        return json.dumps(content)

    @pytest.mark.parametrize("text", ["", "{", "[1", "nothing", '{"a": NaN}', "[Infinity]", "-Infinity", "1e999", None])
    def test_no_json(self, text):
        self.refused(text, "^this is no JSON .*; pass what to_json wrote")

    def test_too_deep(self):
        self.refused("[" * 10**6, "levels|no JSON")

    @pytest.mark.parametrize(
        "text", ["[]", "1", '"scca-result/1"', "null", "{}", '{"schema": 1}', '{"schema": "scca-result/99"}']
    )
    def test_another_schema(self, text):
        self.refused(text, "^a result must have the schema scca-result/1; got .*: read it with its version")

    @pytest.mark.parametrize(
        "place", [(), ("views", 1), ("components", 0), ("components", 0, "views", 2), ("evidence",)]
    )
    def test_other_fields(self, content, place):
        holder = content
        for key in place:
            holder = holder[key]
        holder["more"] = 1
        self.refused(json.dumps(content), "must have the fields .*; 'more' is amiss")
        del holder["more"]
        missing = next(name for name in holder if name != "schema")
        del holder[missing]
        self.refused(json.dumps(content), f"must have the fields .*; '{missing}' is amiss")

    @pytest.mark.parametrize(
        ("path", "value", "match"),
        [
            (("method",), 1, "^method of the result must be of type str; got 1"),
            (("n_samples",), "5", "^n_samples of the result must be of type int; got '5'"),
            (("n_samples",), True, "must be of type int; got True"),
            (("n_samples",), 5.0, "must be of type int; got 5.0"),
            (("withheld",), 0, "must be of type bool; got 0"),
            (("provenance",), [], "must be of type dict"),
            (("views",), {}, "^views of the result must be a list"),
            (("views", 0), None, "^views of the result must be an object; got None"),
            (("views", 0, "used", 1), "x", "^used of views of the result must be of type int"),
            (("pairs", 0), [0, 1, 2], "^pairs of the result must have 2 values; got 3"),
            (("pairs", 0), [0, 3], "^pairs must be of 3 views; got .0, 3"),
            (("components", 0, "correlation"), None, "^correlation of components of the result must be of type float"),
            (("components", 0, "correlation"), "0.5", "must be of type float; got '0.5'"),
            (("components", 0, "penalties"), [0.1], "^the penalties of a component must be 3; got 1"),
            (("components", 0, "views"), [], "^the views of a component must be 3; got 0"),
            (("components", 0, "pair_correlations"), [0.1], "^the pair_correlations of a component must be 3; got 1"),
            (("components",), [], "^the used features of a view must be 0; got 2"),
            (("components", 0, "held_out_interval"), [0.1], "held_out_interval .* must have 2 values; got 1"),
            (
                ("components", 0, "views", 0, "features", 0, "index"),
                1.5,
                "index of features of views of components .* int",
            ),
            (("components", 0, "views", 0, "features", 0, "drawing"), 1, "must be of type str; got 1"),
        ],
    )
    def test_wrong_types(self, content, path, value, match):
        self.refused(self.changed(content, path, value), match)

    def test_whole_numbers_are_numbers(self, content):
        """Other writers drop the point of 1.0."""
        found = Result.from_json(self.changed(content, ("components", 0, "correlation"), 1))
        assert type(found.components[0].correlation) is float


class TestWhatItSays:
    @each_model
    def test_views_and_components(self, models, name):
        model = models(name)
        estimator, result = getattr(model, "estimator_", model), model.result()
        n_views = len(estimator.view_names_)
        assert result.method == type(estimator).__name__
        assert [view.name for view in result.views] == list(model.view_names_)
        assert [view.n_features for view in result.views] == estimator.n_features_
        assert result.n_samples == (N if hasattr(model, "kinds_") and name != "vectors" else 40)
        assert result.pairs == tuple((v, u) for v in range(n_views) for u in range(v + 1, n_views))
        assert [component.number for component in result.components] == list(range(estimator.n_components_))
        assert [component.correlation for component in result.components] == estimator.correlations_.tolist()
        assert result.has_factors == ("nchored" not in name)

    @each_model
    def test_the_weights_are_those_of_the_fit(self, models, name):
        model = models(name)
        estimator, result = getattr(model, "estimator_", model), model.result()
        for v, weights in enumerate(estimator.weights_):
            for component in result.components:
                found, column = component.views[v], weights[:, component.number]
                is_shown = column != 0
                if (chosen := getattr(estimator, "shown_", [None] * len(result.views))[v]) is not None:
                    is_shown &= chosen.toarray()[:, component.number]
                assert found.n_weights == np.count_nonzero(column)
                assert found.n_shown == np.count_nonzero(is_shown)
                on = result.views[v].weights_on
                if on == "features" and found.features:
                    assert {each.index: each.weight for each in found.features} == {
                        int(i): float(column[i]) for i in np.flatnonzero(is_shown)
                    }
                if on == "samples":
                    assert {each.index: each.score for each in found.samples} == {
                        int(i): float(column[i]) for i in np.flatnonzero(column)
                    }
                if on == "coordinates":
                    assert not found.features
                    assert not found.samples

    def test_what_has_weights(self, models):
        on = {name: [view.weights_on for view in models(name).result().views] for name in MADE}
        assert on["SparseCCA"] == on["BilingualModel"] == ["features", "features"]
        assert on["SparseCCA, kernel"] == ["samples", "features"]
        assert on["SparseCCA, low rank"] == ["features", "coordinates"]
        assert on["KernelCCA"] == ["samples", "samples"]
        assert on["AnchoredCCA"] == on["BilingualModel, anchored"] == ["features", "samples"]
        assert on["AnchoredCCA, features"] == ["features", "features"]
        assert on["three views"] == ["features"] * 3

    @each_model
    def test_only_joint_views_show_fewer_features_than_they_weigh(self, models, name):
        result = models(name).result()
        fewer = [
            any(component.views[v].n_shown < component.views[v].n_weights for component in result.components)
            for v in range(len(result.views))
        ]
        assert fewer == [view.rendering == "joint" for view in result.views]

    @each_model
    def test_used_is_the_running_union(self, models, name):
        model = models(name)
        estimator, result = getattr(model, "estimator_", model), model.result()
        for view, weights in zip(result.views, estimator.weights_, strict=True):
            used = set()
            for j, count in enumerate(view.used):
                used |= set(np.flatnonzero(weights[:, j]))
                assert count == len(used)
            assert len(view.used) == estimator.n_components_

    def test_correlations_of_pairs_and_their_mean(self, models):
        model = models("MultiSparseCCA")
        for component in model.result().components:
            assert len(component.pair_correlations) == len(component.held_out_pair_intervals) == 3
            assert np.mean(component.pair_correlations) == pytest.approx(component.correlation)
            low, high = component.held_out_interval
            assert low < component.held_out_correlation < high
        assert model.result().evidence.p_value == model.p_value_
        assert model.result().evidence.verdict == model.verdict_
        assert model.result().evidence.n_folds == model.n_folds_

    @each_model
    def test_certificates(self, models, name):
        result = models(name).result()
        gaps = [component.dual_gap for component in result.components]
        assert result.largest_gap == (None if name == "KernelCCA" else max(gaps))
        assert all(gap is None or gap >= 0 for gap in gaps)

    def test_names_of_columns(self):
        pd = pytest.importorskip("pandas")
        X, Y = planted()
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)], index=[f"row {i}" for i in range(40)])
        result = scca.SparseCCA(1, held_out=0).fit(frame, Y).result()
        assert all(each.name == f"x{each.index}" for each in result.components[0].views[0].features)
        assert all(each.name == f"feature {each.index + 1}" for each in result.components[0].views[1].features)
        assert [view.kind for view in result.views] == ["table", "matrix"]
        model = scca.Model(1, held_out=0).fit({"first": frame, "second": Y})
        first, second = model.result().components[0].views
        assert all(each.name == f"row {each.index}" for each in first.samples)
        assert [each.name for each in second.samples] == [None] * len(first.samples)

    def test_not_fitted(self):
        for model in (scca.SparseCCA(), scca.Model(), BilingualModel()):
            with pytest.raises(ValueError, match="not fitted"):
                model.result()


class TestOrder:
    """Words by loading, columns by its size, everything without loadings by the size of its weight."""

    @each_model
    def test_features(self, models, name):
        result = models(name).result()
        n_compared = 0
        for component in result.components:
            for view, found in zip(result.views, component.views, strict=True):
                keys = [
                    abs(each.weight) if each.loading is None else each.loading if view.is_text else abs(each.loading)
                    for each in found.features
                ]
                assert all(one >= other - 1e-9 for one, other in pairwise(keys))
                n_compared += len(keys) > 1
        assert n_compared or not any(view.weights_on == "features" for view in result.views) or name == "vectors"

    def test_loadings_are_those_of_the_fit(self, models):
        model = models("three views")
        for component in model.result().components:
            for v, found in enumerate(component.views):
                for each in found.features:
                    assert each.loading == model.estimator_.loadings_[v][each.index, component.number]
                    assert each.name == model.kinds_[v].feature_names_[each.index]

    @pytest.mark.parametrize("name", ["BilingualModel", "three views", "vectors"])
    def test_samples_of_a_shared_factor(self, models, name):
        """The same in every view: those with the largest mean score of all views, above 0."""
        model = models(name)
        given = [*texts(), table()] if name == "three views" else texts() if name == "BilingualModel" else planted()
        names = model.view_names_
        scores = [model.project(samples, view) for samples, view in zip(given, names, strict=False)]
        total = np.mean(scores, axis=0)
        for component in model.result().components:
            j = component.number
            first, *others = [[each.index for each in found.samples] for found in component.views]
            assert all(other == first for other in others)
            chosen, rest = total[first, j], np.delete(total[:, j], first)
            assert len(first) == min(10, np.sum(total[:, j] > 0))
            assert np.all(np.diff(chosen) <= 1e-12)
            assert chosen.min() >= rest.max() - 1e-12
            assert chosen.min() > 0
            for v, found in enumerate(component.views):
                np.testing.assert_allclose([each.score for each in found.samples], scores[v][first, j], atol=1e-12)

    def test_samples_are_shown_as_they_were_given(self, models):
        en, fr = texts()
        for component in models("three views").result().components:
            first, second, third = component.views
            assert [each.name for each in first.samples] == [en[each.index] for each in first.samples]
            assert [each.name for each in second.samples] == [fr[each.index] for each in second.samples]
            assert {each.name for each in third.samples} == {None}

    def test_anchored_samples_are_those_with_a_weight(self, models):
        model = models("BilingualModel, anchored")
        for component in model.result().components:
            first, second = component.views
            weights = [each.score for each in second.samples]
            assert not first.samples
            assert component.anchor in [each.index for each in second.samples]
            assert sorted(weights, key=abs, reverse=True) == weights
            assert all(each.loading is None for found in component.views for each in found.features)


class TestTop:
    @each_model
    def test_at_most_so_many(self, models, name):
        model = models(name)
        everything = model.result()
        for top in (0, 1, 3, 10**6):
            result = model.result(top)
            assert result.views == everything.views
            for mine, whole in zip(result.components, everything.components, strict=True):
                for few, many in zip(mine.views, whole.views, strict=True):
                    assert few.features == many.features[:top]
                    assert few.samples == many.samples[:top]
                    assert few.n_weights == many.n_weights

    @pytest.mark.parametrize("top", [-1, 1.5, "2", True])
    def test_what_is_no_number(self, models, top):
        for name in ("SparseCCA", "three views"):
            with pytest.raises(ValueError, match="^top must be an integer of at least 0; got"):
                models(name).result(top)


class TestWithheld:
    def test_by_the_settings_of_a_model(self, models):
        assert not models("three views").result().withheld
        for model in (three_views(keep_samples=False), BilingualModel(1, held_out=0, keep_texts=False).fit(pairs())):
            result = model.result()
            assert result.withheld
            samples = [each for found in result.components[0].views for each in found.samples]
            assert samples
            assert all(each.name is None for each in samples)

    def test_by_the_way_it_is_saved(self, models, tmp_path):
        for name in ("three views", "BilingualModel"):
            model = models(name)
            scca.save(model, tmp_path / "m.scca", texts=False)
            again = scca.load(tmp_path / "m.scca")
            assert again.result().withheld
            written = json.dumps(texts()[1][again.result().components[0].views[1].samples[0].index], ensure_ascii=False)
            assert written in model.result().to_json()
            assert written not in again.result().to_json()
            with zipfile.ZipFile(tmp_path / "m.scca") as archive:
                assert written.encode() not in archive.read("manifest.json")

    def test_only_names_are(self, models, tmp_path):
        model = models("three views")
        scca.save(model, tmp_path / "m.scca", texts=False)
        bare, whole = scca.load(tmp_path / "m.scca").result(), model.result()
        for few, many in zip(bare.components, whole.components, strict=True):
            for mine, other in zip(few.views, many.views, strict=True):
                assert mine.features == other.features
                assert [(each.index, each.score) for each in mine.samples] == [
                    (each.index, each.score) for each in other.samples
                ]

    def test_without_samples_nothing_is(self, models):
        assert not models("SparseCCA").result().withheld


class TestFiles:
    @each_model
    def test_a_loaded_model_has_the_same_result(self, models, name, tmp_path):
        model = models(name)
        scca.save(model, tmp_path / "m.scca")
        again = scca.load(tmp_path / "m.scca")
        assert again.result() == model.result()
        assert again.result().to_json() == model.result().to_json()

    @each_model
    def test_two_fits_give_the_same_bytes(self, models, name, tmp_path):
        for model, file in ((models(name), "a.scca"), (MADE[name](), "b.scca")):
            scca.save(model, tmp_path / file)
        assert (tmp_path / "a.scca").read_bytes() == (tmp_path / "b.scca").read_bytes()

    @pytest.mark.slow
    def test_in_another_process_too(self, tmp_path):
        """Sets of texts have another order in every process."""
        program = """
import sys
sys.path.insert(0, sys.argv[2])
import scca, test_results
scca.save(test_results.three_views(), sys.argv[1])
"""
        for seed in "12":
            run_program(program, tmp_path / seed, Path(__file__).parent, PYTHONHASHSEED=seed)
        assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


class TestProvenance:
    def test_digests_of_texts_are_those_of_their_files(self, tmp_path):
        digests = []
        for name, documents in zip(("en", "fr"), texts(), strict=True):
            content = "".join(f"{document}\n" for document in documents).encode()
            (tmp_path / f"docs.{name}").write_bytes(content)
            digests.append(f"sha256:{hashlib.sha256(content).hexdigest()}")
        read = BilingualModel(1, held_out=0).fit(read_pairs(tmp_path / "docs.en", tmp_path / "docs.fr"))
        given = three_views()
        for model in (read, given):
            found = model.result().provenance["inputs"][:2]
            assert [each["digest"] for each in found] == digests
            assert [each["view"] for each in found] == ["en", "fr"]
            assert [each["shape"][0] for each in found] == [N, N]

    def test_digests_of_matrices_tell_them_apart(self):
        X, Y = planted()

        def digests(X):
            model = scca.KernelCCA(1).fit(X, Y)
            return [each["digest"] for each in model.provenance_["inputs"]]

        other = X.copy()
        other[3, 4] += 1e-12
        first = digests(X)
        assert first == digests(X.copy()) == digests(np.asfortranarray(X))
        assert first[0] != digests(other)[0]
        assert first[1] == digests(other)[1]
        assert first[0] != digests(X.astype(np.float32))[0]
        sparse = np.where(np.abs(X) > 1, X, 0.0)
        assert digests(sp.csr_array(sparse)) == digests(sp.csr_array(sparse))

    @each_model
    def test_versions_seed_and_settings(self, models, name):
        model = models(name)
        provenance = model.result().provenance
        assert provenance["versions"].keys() == {"scca", "python", "numpy", "scipy", "scikit-learn"}
        assert provenance["versions"]["scca"] == scca.__version__
        assert provenance["versions"]["numpy"] == np.__version__
        assert provenance["settings"].keys() == model.get_params(deep=False).keys() - {"n_jobs", "random_state"}
        assert provenance["settings"]["n_components"] == model.n_components
        assert provenance["seed"] == model.get_params().get("random_state")
        assert not {"n_jobs", "time", "date", "host", "user"} & {str(value) for value in values_in(provenance)}

    def test_settings_are_written_plainly(self):
        settings = {
            **{"kernel": ("linear", scca.Kernel("rbf", gamma=0.1)), "random_state": np.random.RandomState(0)},
            **{"tol": np.float64(1e-5), "held_out": np.int64(0)},
        }
        provenance = scca.SparseCCA(1, **settings).fit(*planted()).provenance_
        assert provenance["settings"]["kernel"] == ["linear", "Kernel('rbf', gamma=0.1)"]
        assert provenance["seed"] == "RandomState"
        assert type(provenance["settings"]["tol"]) is float
        assert type(provenance["settings"]["held_out"]) is int
        function = scca.KernelCCA(1, kernel=lambda a, b: float(a @ b)).fit(*planted()).provenance_
        anchors = scca.AnchoredCCA(1, anchors=np.array([3, 4])).fit(*planted()).provenance_
        assert anchors["settings"]["anchors"] == [3, 4]
        assert " at 0x" not in json.dumps([function, provenance])

    def test_n_jobs_changes_nothing(self):
        one, two = (scca.KernelCCA(2, kernel=RBF, n_jobs=n).fit(*planted()).result() for n in (None, 2))
        assert one.to_json() == two.to_json()


def test_drawings_of_a_kind():
    """A kind of one's own draws its features: the result has the drawings, where features are listed."""

    class Shapes(TableKind):
        kind = "shapes"
        unit, units = "shape", "shapes"

        def drawing(self, feature):
            return f"<svg>{feature}</svg>"

    register(Shapes)
    try:
        X, Y = planted()
        result = scca.Model(1, held_out=0, kinds={"shapes": "shapes"}).fit({"shapes": X, "table": Y}).result()
    finally:
        del _KINDS["shapes"]
    drawn, plain = result.components[0].views
    assert drawn.features
    assert all(each.drawing == f"<svg>{each.index}</svg>" for each in drawn.features)
    assert all(each.drawing is None for each in plain.features)
    assert (result.views[0].kind, result.views[0].units) == ("shapes", "shapes")
    assert Result.from_json(result.to_json()) == result


# --- sentences about what is read -------------------------------------------------------------------------------------


class TestWhatIsRead:
    """Of results whose numbers are changed, so that a fit need not come to them."""

    @pytest.fixture
    def told(self, models):
        def told(read, cost=(1.024, (0.97, 1.07)), renderings=("joint",) * 2, asked="auto", units=("word",) * 2):
            result = models("BilingualModel").result(1)
            views = tuple(
                replace(view, n_features=2714, used=(1, n), rendering=rendering, unit=unit, units=f"{unit}s")
                for view, n, rendering, unit in zip(result.views, read, renderings, units, strict=True)
            )
            evidence = replace(result.evidence, mates_kept=cost and cost[0], mates_kept_interval=cost and cost[1])
            return what_is_read(
                replace(result, views=views, evidence=evidence, provenance={"settings": {"n_words": asked}})
            )

        return told

    def test_fewer_than_all(self, told):
        assert told((412, 1480)) == (
            "the model reads 412 of 2,714 en words and 1,480 of 2,714 fr words, which find the mates of pairs left out "
            "with 1.02 (0.97 to 1.07) times the average precision of all words."
        )

    def test_not_known_what_that_costs(self, told):
        assert told((412, 2714), cost=None) == (
            "the model reads 412 of 2,714 en words and all 2,714 fr words; what the other words would add is not known."
        )

    def test_all(self, told):
        """The fit tried fewer, could not try them, or was not asked to."""
        start = "the model reads all 2,714 en words and all 2,714 fr words"
        both = (2714, 2714)
        assert told(both) == f"{start}; fewer words find the mates of pairs left out less well."
        assert told(both, cost=None) == f"{start}; there are too few pairs to tell whether fewer words would do."
        assert told(both, asked=5000) == told(both, cost=None, asked=None) == f"{start}."
        assert told(both, cost=None, renderings=("dense", "dense")) == f"{start}."

    def test_features_of_several_kinds(self, told):
        assert told((412, 2714), units=("word", "column")).endswith(" the average precision of all features.")

    def test_nothing_where_samples_have_weights(self, models):
        assert not what_is_read(models("KernelCCA").result())
        assert not what_is_read(models("BilingualModel, anchored").result())
        assert "X" not in what_is_read(models("SparseCCA, kernel").result())

    def test_only_features_of_joint_views_are_selected(self, models):
        assert what_is_shown(models("three views").result()) == (
            "each component weighs all en and fr words that are read; those shown are selected to say what it is about."
        )
        assert not what_is_shown(models("SparseCCA").result())
        assert what_is_shown(models("BilingualModel").result(0)) == what_is_shown(models("BilingualModel").result())

    def test_a_cost_is_that_of_all_words_that_are_read(self, models):
        """Components with few words each find less than what was measured."""
        joint = models("BilingualModel")
        assert joint.result().evidence.mates_kept == joint.scca_.mates_kept_
        assert joint.result().evidence.mates_kept_interval == tuple(joint.scca_.mates_kept_interval_)
        for name in ("SparseCCA", "three views"):
            assert models(name).result().evidence.mates_kept is None

    @each_model
    def test_notebooks_say_it(self, models, name):
        result, text = models(name).result(), Tags(models(name)._repr_html_()).text
        for sentence in (what_is_read(result), what_is_shown(result)):
            assert sentence[1:] in text


# --- notebooks --------------------------------------------------------------------------------------------------------

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "<a href='http://evil'>", "&amp;", "</table>"]


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.text, self.open = set(), [], "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


class TestNotebook:
    def assert_safe(self, html):
        """Plain elements without any attribute: nothing to follow, to run or to load."""
        found = Tags(html)
        assert found.tags <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}
        assert found.attributes == []
        assert found.open == []
        return found

    @each_model
    def test_nothing_to_load(self, models, name):
        model = models(name)
        assert all(view.name in self.assert_safe(model._repr_html_()).text for view in model.result().views)
        bundle = model._repr_mimebundle_()
        assert bundle == {"text/plain": repr(model), "text/html": model._repr_html_()}

    def test_names_are_escaped(self):
        pd = pytest.importorskip("pandas")
        X, Y = planted()
        frame = pd.DataFrame(X[:, :5], columns=HOSTILE, index=[f"<b>{i}" for i in range(40)])
        model = scca.Model(2, held_out=0, rendering="dense").fit({HOSTILE[0]: frame, HOSTILE[1]: Y})
        html = model._repr_html_()
        found = self.assert_safe(html)
        assert all(name in found.text for name in HOSTILE)
        assert self.assert_safe(scca.SparseCCA(1, rendering="dense", held_out=0).fit(frame, Y)._repr_html_())

    def test_what_it_shows(self, models):
        model = models("BilingualModel")
        result, text = model.result(), self.assert_safe(model._repr_html_()).text
        assert "2 components of en and fr from 60 documents." in text
        assert result.evidence.verdict[1:] in text
        for component in result.components:
            assert f"{component.held_out_correlation:.2f}" in text
            assert component.views[0].features[0].name in text
            assert component.views[1].features[0].name in text
        assert "Nothing was left out to test this." in Tags(models("KernelCCA")._repr_html_()).text
        assert "and 2 more" in Tags(scca.KernelCCA(10).fit(*planted())._repr_html_()).text

    def test_signs_are_those_of_columns(self, models):
        """A word that speaks against a component needs no sign; a column that falls with it does."""
        model = models("SparseCCA, dense")
        text = Tags(model._repr_html_()).text
        for component in model.result(6).components:
            for each in component.views[0].features:
                assert (f"\N{MINUS SIGN}{each.name}" in text) or each.loading > 0

    def test_before_it_is_fitted(self):
        for model in (scca.SparseCCA(), scca.Model(), BilingualModel(lowercase=False)):
            assert model._repr_mimebundle_()["text/plain"] == repr(model)
            assert Tags(model._repr_html_()).tags == {"pre"}
        assert "<x>" not in scca.Model(kinds="<x>")._repr_html_()
