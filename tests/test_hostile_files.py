"""Model files made to do harm, checksums right: each is refused in a sentence, or opens and scores as a model does."""

import io
import json
import os
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import mutated_files
import numpy as np
import pytest
from subprocesses import run_program

import scca
from scca import persistence
from scca.kinds import VectorKind
from scca.persistence import ModelFileError

MANY = int(os.environ.get("SCCA_MUTATED_FILES", "400"))  # thousands take minutes
GIB = 2**30


@pytest.mark.parametrize("count", [100, pytest.param(MANY, marks=pytest.mark.slow)])
def test_mutated_files_open_or_are_refused(count):
    program = Path(mutated_files.__file__)
    done = subprocess.run([sys.executable, program, str(count), "0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr  # a crash is -11
    report = json.loads(done.stdout)
    assert report["failures"] == []
    assert sum(report["outcomes"].values()) == count
    assert report["outcomes"]["used"] > 0.05 * count  # else nothing but the container was tested
    assert report["peak"] < GIB
    assert report["slowest"] < 10


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A bilingual model file, unpacked."""
    path = tmp_path_factory.mktemp("whole") / "m.scca"
    scca.save(mutated_files.models()[0], path)
    return mutated_files.unpacked(path.read_bytes())


def refused(path, content, match):
    """The sentence, or the cause that developers see, says what `match` says."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        scca.load(path)
    assert re.search(match, f"{caught.value} {caught.value.__cause__}")
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    if caught.value.__cause__ is not None:
        assert str(caught.value) == f"{path} is damaged, incomplete or altered; write it again."


@pytest.mark.parametrize("index", [10**9, -1, 2**31 - 1])
def test_sparse_indices_outside_of_the_vocabulary(whole, tmp_path, index):
    manifest, members = whole
    name = manifest["model"]["state"]["training_"]["$tuple"][0]["$sparse"][1]["$array"]
    indices = np.load(io.BytesIO(members[name]))
    indices[0] = index
    content = mutated_files.packed(manifest, {**members, name: mutated_files.npy(indices)})
    refused(tmp_path / "m.scca", content, "is a broken sparse matrix .* indices outside of its shape")


@pytest.mark.parametrize(
    ("part", "complaint"),
    [
        (("kinds_", "$tuple", 0, "state", "idf_"), "idf_ is no array"),
        (("estimator_", "state", "weights_", 0), "weights_ has shape"),
        (("estimator_", "state", "loadings_", 1), "loadings_ has shape"),
        (("estimator_", "state", "_projectors", 0, "state", "directions"), "directions has shape"),
        (("estimator_", "state", "preparations_", 1, "state", "mean"), "mean has shape"),
        (("estimator_", "state", "correlations_"), "correlations_ has shape"),
        (("estimator_", "state", "pair_correlations_"), "pair_correlations_ has shape"),
        (("estimator_", "state", "mu_"), "mu_ has shape"),
        (("estimator_", "state", "dual_gap_"), "dual_gap_ has shape"),
    ],
)
def test_shapes_that_do_not_fit(whole, tmp_path, part, complaint):
    manifest, members = json.loads(json.dumps(whole[0])), dict(whole[1])
    holder = manifest["model"]["state"]
    for key in part[:-1]:
        holder = holder[key]
    array = np.load(io.BytesIO(members[holder[part[-1]]["$array"]]))
    holder[part[-1]] = {"$array": "new.npy"}
    members["new.npy"] = mutated_files.npy(array[:-1])
    refused(tmp_path / "m.scca", mutated_files.packed(manifest, members), complaint)
    members["new.npy"] = mutated_files.npy(np.full_like(array, np.nan))
    if part[-1] not in ("mu_", "dual_gap_"):  # which may be infinite
        refused(tmp_path / "m.scca", mutated_files.packed(manifest, members), "not finite|contains NaN")


def test_a_vocabulary_of_another_size(whole, tmp_path):
    manifest = json.loads(json.dumps(whole[0]))
    manifest["model"]["state"]["kinds_"]["$tuple"][1]["state"]["words_"]["$strings"].append("mot")
    refused(tmp_path / "m.scca", mutated_files.packed(manifest, whole[1]), r"names of the features are not \d+ texts")


@pytest.fixture(scope="module")
def of_each_kind(tmp_path_factory):
    """A file of a model with a view of each kind, unpacked."""
    path = tmp_path_factory.mktemp("kinds") / "m.scca"
    vectors = np.random.default_rng(0).standard_normal((5, 4))
    given = {"en": mutated_files.ENGLISH, "fr": mutated_files.FRENCH, "table": vectors, "vectors": vectors[:, ::-1]}
    scca.save(scca.Model(1, held_out=0, kinds={"vectors": "vectors"}).fit(given), path)
    return mutated_files.unpacked(path.read_bytes())


class TestKinds:
    """The state of a view's kind is plain values that fit the view; it names no class but a registered kind."""

    @pytest.mark.parametrize(
        ("view", "state", "complaint"),
        [
            (0, {"words_": ["cat"]}, "words_ is no list of words"),
            (0, {"words_": {"$strings": ["a"] * 8}}, "names of the features are not"),
            (0, {"min_df": "x"}, "min_df must be an integer"),
            (0, {"analyzer": {"$array": "0.npy"}}, "ambiguous|analyzer must be"),
            (0, {"stop_words": [1]}, "stop_words must be None or a list of words"),
            (0, {"ngram_range": {"$tuple": [1]}}, "not enough values"),
            (1, {"_counter": "x"}, "_counter would hide a method"),
            (1, {"unit": "x"}, "unit would hide a method"),
            (2, {"columns_": {"$strings": ["a"]}}, "names of the features are not 4 texts"),
            (2, {"columns_": ["a", "b", "c", "d"]}, "columns_ is no list of names"),
            (2, {"is_named_": "x"}, "is_named_ must be True or False"),
            (3, {"n_columns_": 10**9}, "n_columns_ is not 4"),
            (3, {"n_columns_": 4.0}, "n_columns_ is not 4"),
        ],
    )
    def test_state_that_does_not_fit(self, of_each_kind, tmp_path, view, state, complaint):
        manifest = json.loads(json.dumps(of_each_kind[0]))
        manifest["model"]["state"]["kinds_"]["$tuple"][view]["state"].update(state)
        refused(tmp_path / "m.scca", mutated_files.packed(manifest, of_each_kind[1]), complaint)

    @pytest.mark.parametrize(("name", "said"), [("molecule", "'molecule'"), ("os.system", "'os.system'"), ("", "''")])
    def test_an_unknown_one_is_named(self, of_each_kind, tmp_path, name, said):
        manifest = json.loads(json.dumps(of_each_kind[0]))
        manifest["model"]["state"]["kinds_"]["$tuple"][3]["$kind"] = name
        said = f"has a view of the kind {said}, which is not known here; import the package that defines it"
        refused(tmp_path / "m.scca", mutated_files.packed(manifest, of_each_kind[1]), said)

    def test_one_of_another_view(self, of_each_kind, tmp_path):
        for one, other in ((0, 1), (0, 2), (2, 3), (3, 0)):
            manifest = json.loads(json.dumps(of_each_kind[0]))
            kinds = manifest["model"]["state"]["kinds_"]["$tuple"]
            kinds[one]["$kind"] = kinds[other]["$kind"]
            if one != 0 or other != 1:
                refused(tmp_path / "m.scca", mutated_files.packed(manifest, of_each_kind[1]), "")
            kinds[one] = kinds[other]
            if (one, other) != (2, 3):  # as many columns, and dimensions have no names
                refused(tmp_path / "m.scca", mutated_files.packed(manifest, of_each_kind[1]), "")

    def test_vectors_of_many_dimensions_take_no_memory(self):
        """Without any component, arrays over a thousand million dimensions are empty; nothing lists their names."""
        kind = VectorKind()
        kind.n_columns_ = 10**9
        tracemalloc.start()
        kind.check_loaded(10**9)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**20


@pytest.mark.parametrize(
    "provenance",
    [
        {"inputs": [{"$dict": {"shape": [5]}}]},
        {"inputs": [{"$dict": {"view": "en"}}]},
        {"inputs": "x"},
        {"inputs": [{"$dict": {"shape": [-1, 2]}}]},
        {"more": {"$array": "0.npy"}},
        {"more": {"$float": "nan"}},
    ],
)
def test_an_origin_that_is_no_json(whole, tmp_path, provenance):
    manifest = json.loads(json.dumps(whole[0]))
    manifest["model"]["state"]["provenance_"] = {"$dict": provenance}
    refused(tmp_path / "m.scca", mutated_files.packed(manifest, whole[1]), "provenance_ has")


def test_an_attribute_in_the_place_of_a_method(whole, tmp_path):
    manifest = json.loads(json.dumps(whole[0]))
    manifest["model"]["state"]["project"] = 1
    refused(tmp_path / "m.scca", mutated_files.packed(manifest, whole[1]), "project would hide a method")


class TestSize:
    """What a small file asks for is refused before it is given."""

    def bombs(self, whole):
        """Small files that ask for much, and what is said of them."""

        def changed(state=(), **arrays):
            manifest = json.loads(json.dumps(whole[0]))
            manifest["model"]["state"].update(state)
            return mutated_files.packed(manifest, {**whole[1], **arrays})

        zeros = mutated_files.npy(np.zeros(2**25))
        bomb = changed(**{"0.npy": zeros})
        yield bomb, r"unpacks to \d+ bytes, where a file of its size may hold 268435456; name one"
        lie = bomb.replace(struct.pack("<L", len(zeros)), struct.pack("<L", len(whole[1]["0.npy"])))
        yield lie, "is damaged"  # for no more is unpacked than is declared
        thousand = {"more": [{"$array": "big.npy"}] * 1000, "view_names_": None}
        yield changed(thousand, **{"big.npy": mutated_files.npy(np.zeros(2**20))}), "view_names_ is no tuple of str"
        yield changed({"more": [[]] * 2_000_000}), "more than 100000 lists and dictionaries"
        yield changed({"more": "x" * 2**24}), r"unpacks to \d+ bytes, where .* may hold 8388608"

    def test_bombs_do_not_go_off(self, whole, tmp_path):
        paths = []
        for number, (content, match) in enumerate(self.bombs(whole)):
            paths.append(tmp_path / f"{number}.scca")
            refused(paths[-1], content, match)
            assert paths[-1].stat().st_size < 2**20
        program = """
import resource, sys, scca
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for path in sys.argv[1:]:
    try:
        scca.load(path)
    except scca.persistence.ModelFileError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
        grown = run_program(program, *paths).stdout.split()
        assert len(grown) == len(paths)
        assert int(grown[-1]) * 1024 < 2**26

    def test_depth_of_the_manifest(self, whole, tmp_path):
        name = '"samples_": '
        text = json.dumps(whole[0]).replace(name, name + "[" * 50_000 + "]" * 50_000 + ', "more": ')
        assert len(text) > 100_000
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", text)
        refused(tmp_path / "m.scca", file.getvalue(), "is damaged")

    def test_other_ways_of_packing(self, whole, tmp_path):
        for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            content = mutated_files.packed(json.loads(json.dumps(whole[0])), whole[1], compression)
            refused(tmp_path / "m.scca", content, "is compressed in a way that scca does not use")

    def test_brackets_in_texts_are_no_parts(self, tmp_path):
        model = mutated_files.models()[0]
        model.samples_ = (None, ['[{"\\' * 100_000, *model.texts_[1:]])
        scca.save(model, tmp_path / "m.scca")
        assert scca.load(tmp_path / "m.scca").texts_ == model.texts_

    def test_whatever_is_saved_can_be_loaded(self, tmp_path, monkeypatch):
        """Where packing would make a file look like a bomb, it is not packed."""
        model = mutated_files.models()[2]
        model.zeros_ = np.zeros(10_000)
        scca.save(model, tmp_path / "packed.scca")
        monkeypatch.setattr(persistence, "most_unpacked", lambda size: max(2**14, 5 * size))
        with pytest.raises(ModelFileError, match="may hold"):
            scca.load(tmp_path / "packed.scca")
        scca.save(model, tmp_path / "m.scca")
        assert not scca.load(tmp_path / "m.scca").zeros_.any()


def test_scores_that_are_no_numbers_are_refused():
    model = mutated_files.models()[2]
    with pytest.raises(ValueError, match="the scores of X overflow float32: rescale X"):
        model._projectors[0].directions[:] = 1e60
        model.project(np.ones((2, 6), dtype=np.float32), "X")
