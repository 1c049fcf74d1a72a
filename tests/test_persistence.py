"""Model files: what goes in comes out; what is damaged, foreign or newer is refused; the old file survives."""

import errno
import json
import os
import pickle
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import scca
from scca.datasets import load_trilingual, make_planted
from scca.kinds import TextVectorizer
from scca.persistence import VERSION, ModelFileError
from scca.readers import PairedText
from scca.text import BilingualModel

DATA = Path(__file__).parent / "data"
RBF = scca.Kernel("rbf", gamma=0.1)
ENGLISH = ["the cat sleeps", "a dog barks loudly", "the cat and the dog play", "rain falls on the roof", "a red roof"]
FRENCH = [
    "le chat dort",
    "un chien aboie fort",
    "le chat et le chien jouent",
    "la pluie tombe sur le toit",
    "un toit rouge",
]


def bilingual(**settings):
    return BilingualModel(2, min_df=1, random_state=0, **settings).fit(PairedText.of(ENGLISH, FRENCH, ("en", "fr")))


def views():
    return make_planted(30, 12, 10, n_active=3, random_state=0).views


@pytest.mark.parametrize(
    "model",
    [
        scca.AnchoredCCA(3, mu="auto*0.5", anchors=[4, 2, 0], feature_weights="shared", scale="auto"),
        scca.AnchoredCCA(2, anchors="cross-energy", representation="dual-primal", center=False),
        scca.AnchoredCCA(2, anchors="best-objective", n_candidates=3, kernel=RBF),
        scca.AnchoredCCA(2, anchors="cross-energy", gamma=np.inf),
        scca.AnchoredCCA(2),
        scca.AnchoredCCACV(2, anchors="cross-energy", mu_factors=(0.5, 2), gamma_factors=[1], cv=2, kernel="rbf"),
        scca.SparseCCA(3, mu="auto*0.5", held_out=3, random_state=1),
        scca.SparseCCA("auto", held_out=0),
        scca.SparseCCA(2, rendering="dense", ridge=0.5, held_out=0),
        scca.SparseCCA(2, kernel=(RBF, "linear"), mu="auto*2", held_out=0),
        scca.SparseCCA(2, kernel=RBF, held_out=0),
        scca.SparseCCA(2, kernel=(scca.LowRankKernel(RBF, rank=28), "polynomial"), held_out=0),
        scca.SparseCCACV(2, mu_factors=(0.5, 2), ridge_factors=[1], cv=2, kernel="rbf", held_out=0),
        scca.KernelCCA(3, regularization=0.2),
        scca.KernelCCA(3, kernel="polynomial"),
        scca.KernelCCA(3, kernel=(RBF, "linear")),
    ],
)
def test_round_trip(model, tmp_path):
    X, Y = views()
    model.fit(X, Y)
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert clone(again).fit(X, Y).correlations_.tolist() == model.correlations_.tolist()
    for mine, other in zip(again.transform_pair(X, Y), model.transform_pair(X, Y), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert vars(again).keys() == vars(model).keys()
    n_arrays = 0
    for name, value in vars(model).items():
        of_views = zip(value, getattr(again, name), strict=True) if isinstance(value, list) else []
        for mine, other in [(value, getattr(again, name)), *of_views]:
            if isinstance(mine, np.ndarray):
                np.testing.assert_array_equal(other, mine)
                assert other.dtype == mine.dtype
                n_arrays += 1
    assert n_arrays > 4


@pytest.mark.parametrize(
    ("search", "other"), [(scca.SparseCCACV, "ridge_factor_"), (scca.AnchoredCCACV, "gamma_factor_")]
)
def test_cross_validation_is_kept(tmp_path, search, other):
    X, Y = views()
    model = search(2, mu_factors=(0.5, 2), cv=2, rule="one-standard-error").fit(X, Y)
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    assert again.cv_results_.keys() == model.cv_results_.keys()
    for name, column in model.cv_results_.items():
        np.testing.assert_array_equal(again.cv_results_[name], column)
    for name in ("best_index_", "best_score_", "best_params_", "mu_factor_", other, "n_splits_"):
        assert getattr(again, name) == getattr(model, name)


@pytest.mark.parametrize("anchors", [None, "cross-energy"])
def test_bilingual_round_trip(tmp_path, anchors):
    model = bilingual(anchors=anchors)
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    assert again.components() == model.components()
    assert again.generate(["chat"], source="fr") == model.generate(["chat"], source="fr")
    np.testing.assert_array_equal(again.project(["the cat"], "en"), model.project(["the cat"], "en"))
    assert again.texts_ == FRENCH


def test_texts_can_be_left_out(tmp_path):
    scca.save(bilingual(), tmp_path / "m.scca", texts=False)
    again = scca.load(tmp_path / "m.scca")
    assert again.texts_ is None
    assert again.components()[0].documents[0].name.startswith("document ")
    assert b"aboie fort" not in (tmp_path / "m.scca").read_bytes()
    assert again.generate(["chat"], source="fr")[0].known


def test_same_model_same_bytes(tmp_path):
    for name in ("a", "b"):
        scca.save(bilingual(), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_of_0_1_0_scores_as_it_did_there():
    """The numbers are those of the version that wrote the file."""
    model = scca.load(DATA / "bilingual-format-2.scca")
    assert model.languages_ == ("en", "fr")
    english = [[0.4833127924513585, -0.04649061204173906], [-0.45705678275118344, 0.1873751682780892]]
    np.testing.assert_allclose(model.project(["the cat sleeps", "a red roof"], "en"), english, rtol=1e-12)
    french = [[-0.2657056115042489, -0.37617843807521023]]
    np.testing.assert_allclose(model.project(["la pluie tombe"], "fr"), french, rtol=1e-12)
    found = model.mates(["the cat sleeps"], ["un toit rouge", "le chat dort"], top=2)
    np.testing.assert_array_equal(found.indices, [[1, 0]])
    np.testing.assert_allclose(found.similarities, [[0.9979527741527731, -0.9563466815828389]], rtol=1e-12)
    assert model.generate(["pluie"], source="fr")[0].known
    assert len(model.components()) == 2
    assert model.translate("cat").words[0].name == "chat"


FORMAT_3 = DATA / "format-3"
CLASSES = {
    "anchored-cv": scca.AnchoredCCACV,
    "anchored": scca.AnchoredCCA,
    "factors-cv": scca.SparseCCACV,
    "factors": scca.SparseCCA,
    "kernel-cca": scca.KernelCCA,
    "bilingual": BilingualModel,
}


def scores_of(model, given):
    """Of a model of format 3, as `data/format-3/written_by.txt` computed them."""
    if isinstance(model, BilingualModel):
        corpus = load_trilingual()
        generated = model.generate([corpus.en[1]], source="en")[0]
        return {
            "x": model.project(corpus.en[1:4], "en"),
            "y": model.project(corpus.fr[1:4], "fr"),
            "generated": np.array([word.weight for word in generated.words[:10]]),
        }
    is_kernel = getattr(model, "kernel", None) == "precomputed"
    return {"x": model.transform(given["X"]), "y": model.transform_y(given["K"] if is_kernel else given["Y"])}


@pytest.mark.parametrize("name", sorted(path.stem for path in FORMAT_3.glob("*.scca")))
def test_files_of_format_3_score_as_they_did_there(name, tmp_path):
    model, known = scca.load(FORMAT_3 / f"{name}.scca"), np.load(FORMAT_3 / "scores.npz")
    assert type(model) is next(kind for start, kind in CLASSES.items() if name.startswith(start))
    if name.startswith("bilingual"):
        assert type(model.scca_) is (scca.AnchoredCCA if name == "bilingual-paper" else scca.SparseCCA)
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    assert repr(again) == repr(model)
    before, after = (scores_of(each, known) for each in (model, again))
    assert {f"{name}/{what}" for what in before} == {key for key in known if key.startswith(f"{name}/")}
    for what, scores in before.items():
        np.testing.assert_allclose(scores, known[f"{name}/{what}"], rtol=0, atol=1e-6)
        np.testing.assert_array_equal(after[what], scores)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("factors-kernel", scca.SparseCCA(2, rendering="sparse", kernel=scca.Kernel("rbf", gamma=0.05))),
        (
            "factors-low-rank",
            scca.SparseCCA(
                2, rendering="sparse", kernel=(scca.LowRankKernel(scca.Kernel("rbf", gamma=0.05), rank=20),) * 2
            ),
        ),
        ("factors-dense", scca.SparseCCA(2, rendering=("dense", "sparse"))),
        ("factors-cv", scca.SparseCCACV(2, mu_factors=(0.5, 1), ridge_factors=(1, 4), cv=3, rendering="sparse")),
        ("kernel-cca-rbf", scca.KernelCCA(2, kernel=scca.Kernel("rbf", gamma=0.05))),
        ("anchored-cv", scca.AnchoredCCACV(2, mu_factors=(0.5, 1), cv=3, scale="auto")),
    ],
)
def test_settings_of_format_3_are_those_that_mean_the_same_now(name, expected):
    assert repr(scca.load(FORMAT_3 / f"{name}.scca")) == repr(expected)


@pytest.mark.parametrize(("name", "other"), [("factors-cv", "ridge"), ("anchored-cv", "gamma")])
def test_a_search_of_format_3_has_the_penalties_there_are_now(name, other):
    model = scca.load(FORMAT_3 / f"{name}.scca")
    assert [key for key in model.cv_results_ if "factor" in key] == ["mu_factor", f"{other}_factor"]
    assert all(params.keys() == {"mu", other} for params in (model.best_params_, *model.cv_results_["params"]))


FORMAT_4 = DATA / "format-4"


@pytest.mark.parametrize("name", sorted(path.stem for path in FORMAT_4.glob("*.scca")))
def test_files_of_format_4_score_as_they_did_there(name, tmp_path):
    """Also once they are saved as files of the current format."""
    model, known = scca.load(FORMAT_4 / f"{name}.scca"), np.load(FORMAT_4 / "scores.npz")
    assert type(model) is next(kind for start, kind in CLASSES.items() if name.startswith(start))
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    assert repr(again) == repr(model)
    assert again.result() == model.result()
    before, after = (scores_of_format_4(each, name, known) for each in (model, again))
    assert {f"{name}/{what}" for what in before} == {key for key in known if key.startswith(f"{name}/")}
    for what, scores in before.items():
        np.testing.assert_allclose(scores, known[f"{name}/{what}"], rtol=0, atol=1e-6)
        np.testing.assert_array_equal(after[what], scores)


def scores_of_format_4(model, name, given):
    """As `data/format-4/written_by.txt` computed them."""
    if not isinstance(model, BilingualModel):
        return {
            "x": model.project(frame_of(given["X"]) if name == "factors" else given["X"], "X"),
            "y": model.project(given["Y"], "Y"),
        }
    corpus = load_trilingual()
    generated = model.generate([corpus.en[1]], source="en")[0].words[:10]
    found = {
        "x": model.project(corpus.en[1:4], "en"),
        "y": model.project(corpus.fr[1:4], "fr"),
        "generated": np.array([word.weight for word in generated]),
    }
    if model.anchors is None:
        found["translated"] = np.array([word.weight for word in model.translate("the", source="en").words])
    return found


def frame_of(X):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=[f"column {i}" for i in range(X.shape[1])])


def test_what_files_of_format_4_hold_beside_scores():
    factors, model = scca.load(FORMAT_4 / "factors.scca"), scca.load(FORMAT_4 / "bilingual.scca")
    assert factors.feature_names_in_.tolist() == [f"column {i}" for i in range(10)]
    assert not hasattr(factors, "feature_names_y_")
    assert factors.result().components[0].held_out_interval == tuple(factors.held_out_intervals_[0])
    assert factors.result().evidence.p_value == factors.p_value_
    assert len(model.texts_) == model.n_documents_
    assert model.components()[0].documents[0].name in model.texts_
    assert not model.result().withheld
    bare = scca.load(FORMAT_4 / "bilingual-without-texts.scca")
    assert bare.texts_ is None
    assert bare.result().withheld
    assert scca.load(FORMAT_4 / "bilingual-anchored.scca").components()[0].anchor is not None


def test_a_file_of_the_first_format_is_refused_in_a_sentence():
    with pytest.raises(ModelFileError, match=r"has format 1, written by scca 0.1.0, .* fit the model again\.$"):
        scca.load(DATA / "bilingual-format-1.scca")


class TestRefused:
    @pytest.fixture
    def saved(self, tmp_path):
        scca.save(bilingual(), tmp_path / "m.scca")
        return tmp_path / "m.scca"

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_truncated(self, saved, share):
        content = saved.read_bytes()
        saved.write_bytes(content[: int(share * len(content))])
        with pytest.raises(ModelFileError, match="write it again"):
            scca.load(saved)

    def test_any_flipped_byte(self, saved):
        """Every byte is under a checksum: whatever byte is damaged, the load is refused or gives the same model."""
        content = saved.read_bytes()
        reference = scca.load(saved).components()
        refused = 0
        for position in range(0, len(content), 97):
            damaged = bytearray(content)
            damaged[position] ^= 0x55
            saved.write_bytes(damaged)
            try:
                again = scca.load(saved)
            except ModelFileError:
                refused += 1
            else:  # a byte of zip's own bookkeeping that carries nothing, a date for example
                assert again.components() == reference
        assert refused > 0.8 * len(range(0, len(content), 97))

    def test_changed_array_with_a_right_crc(self, saved):
        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
            comment = archive.comment
        members["0.npy"] = members["0.npy"][:-1] + bytes([members["0.npy"][-1] ^ 1])
        with zipfile.ZipFile(saved, "w") as archive:
            archive.comment = comment
            for name, content in members.items():
                archive.writestr(name, content)
        assert self.cause_of_damage(saved) == "0.npy fails its checksum"

    def cause_of_damage(self, path):
        """What developers see; users are told in plain words, without it."""
        with pytest.raises(ModelFileError) as refusal:
            scca.load(path)
        assert str(refusal.value) == f"{path} is damaged, incomplete or altered; write it again."
        return str(refusal.value.__cause__)

    @pytest.mark.parametrize("name", ["written_by", "model", "members"])
    def test_a_part_that_is_missing(self, saved, name):
        assert self.cause_of_damage(self.rewritten(saved, lambda manifest: manifest.pop(name)))

    def rewritten(self, saved, change):
        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        members["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(saved, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return saved

    def test_newer(self, saved):
        newer = self.rewritten(saved, lambda manifest: manifest.update(version=99, written_by="scca 9.0"))
        told = f"has format 99, written by scca 9.0, .* formats 2 to {VERSION}; update scca"
        with pytest.raises(ModelFileError, match=told):
            scca.load(newer)

    def test_edited_manifest(self, saved):
        edited = self.rewritten(saved, lambda manifest: manifest["model"]["state"].update(tol=0.5))
        assert self.cause_of_damage(edited) == "the manifest fails its checksum"

    def test_foreign(self, tmp_path):
        for name, content in (("text", b"hello"), ("pickle", pickle.dumps({"a": 1})), ("npy", b"\x93NUMPY")):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(ModelFileError, match=r"is not a model file of scca; name one that scca wrote\.$"):
                scca.load(tmp_path / name)
        with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
            archive.writestr("a.txt", "hello")
        with pytest.raises(ModelFileError, match="is not a model file of scca"):
            scca.load(tmp_path / "zip")

    def test_no_file(self, tmp_path):
        with pytest.raises(ModelFileError, match="does not exist; name a model file"):
            scca.load(tmp_path / "none.scca")
        with pytest.raises(ModelFileError, match="is not a file"):
            scca.load(tmp_path)

    def test_pickled_array_is_not_opened(self, saved):
        """An .npy member that asks for pickle is refused even when all checksums are right."""
        import hashlib
        import io

        with zipfile.ZipFile(saved) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        buffer = io.BytesIO()
        np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
        manifest = json.loads(members["manifest.json"])
        members["0.npy"] = buffer.getvalue()
        manifest["members"]["0.npy"] = hashlib.sha256(members["0.npy"]).hexdigest()
        members["manifest.json"] = json.dumps(manifest).encode()
        with zipfile.ZipFile(saved, "w") as archive:
            archive.comment = hashlib.sha256(members["manifest.json"]).hexdigest().encode()
            for name, content in members.items():
                archive.writestr(name, content)
        assert "0.npy of type object and shape (1,) is no array of numbers" in self.cause_of_damage(saved)


class TestSaving:
    def test_not_fitted(self, tmp_path):
        with pytest.raises(ValueError, match="not fitted"):
            scca.save(scca.SparseCCA(), tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_not_a_model(self, tmp_path):
        with pytest.raises(
            TypeError,
            match="takes one of SparseCCA, MultiSparseCCA, SparseCCACV, .*, KernelCCA, Model, BilingualModel; got a d",
        ):
            scca.save({}, tmp_path / "m")

    def test_code_is_not_saved(self, tmp_path):
        model = scca.SparseCCA(1, kernel=lambda a, b: float(a @ b)).fit(*views())
        with pytest.raises(TypeError, match="no code; choose kernels, anchors and scoring by name"):
            scca.save(model, tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_a_kind_that_no_file_could_name(self, tmp_path):
        """One that is not registered would open as another, or not at all."""

        class Louder(TextVectorizer):
            """Has the name of its base."""

        given = {"en": ENGLISH, "fr": FRENCH}
        model = scca.Model(1, held_out=0, kinds={"en": Louder(min_df=1)}).fit(given)
        with pytest.raises(TypeError, match="a view of Louder cannot be saved, .* scca.kinds.register"):
            scca.save(model, tmp_path / "m")
        assert not list(tmp_path.iterdir())

    def test_folder_and_missing_folder(self, tmp_path):
        with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
            scca.save(bilingual(), tmp_path)
        with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
            scca.save(bilingual(), tmp_path / "none" / "m.scca")

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes are for POSIX")
    def test_links_are_followed_and_devices_left_alone(self, tmp_path):
        (tmp_path / "link.scca").symlink_to(tmp_path / "real.scca")
        scca.save(bilingual(), tmp_path / "link.scca")
        assert (tmp_path / "link.scca").is_symlink()
        assert scca.load(tmp_path / "real.scca").languages_ == ("en", "fr")
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="is no ordinary file; name another"):
            scca.save(bilingual(), tmp_path / "pipe")

    def test_failure_half_way_keeps_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "m.scca"
        path.write_bytes(b"old")

        def fail(*args, **kwargs):
            raise KeyboardInterrupt

        monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
        with pytest.raises(KeyboardInterrupt):
            scca.save(bilingual(), path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_full_device(self, tmp_path, monkeypatch):
        """A disk that fills up half-way: the error says so, the old file is whole and no draft is left."""
        path = tmp_path / "m.scca"
        path.write_bytes(b"old")
        written = []

        def full(self, *args, **kwargs):
            written.append(args)
            if len(written) > 3:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
        with pytest.raises(OSError, match=r"m.scca cannot be written \(No space left on device\); make room"):
            scca.save(bilingual(), path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]

    def test_killed_half_way_keeps_the_old_file(self, tmp_path):
        """SIGKILL while the arrays are being written: what was there before is whole."""
        path = tmp_path / "m.scca"
        scca.save(bilingual(), path)
        before = path.read_bytes()
        program = (
            "import sys, time, zipfile, numpy as np, scca\n"
            "from scca.datasets import load_trilingual, make_planted\n"
            "model = scca.SparseCCA(2).fit(*make_planted(30, 12, 10, n_active=3, random_state=0).views)\n"
            "write = zipfile.ZipFile.writestr\n"
            "def slow(self, *a, **k):\n"
            "    write(self, *a, **k); print('writing', flush=True); time.sleep(5)\n"
            "zipfile.ZipFile.writestr = slow\n"
            "scca.save(model, sys.argv[1])\n"
        )
        process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "writing\n"
        time.sleep(0.1)
        process.kill()
        process.wait()
        assert path.read_bytes() == before
        assert scca.load(path).languages_ == ("en", "fr")
