"""The command for three languages, for other kinds, and for models that Python saved."""

import json
import re

import numpy as np
import pytest
from commands import refused, run, write_lines

import scca
from scca.datasets import load_trilingual

LANGUAGES = ("en", "fr", "es")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three aligned files to learn from, three to try, and a fitted model."""
    folder = tmp_path_factory.mktemp("trilingual")
    corpus = load_trilingual()
    for language in LANGUAGES:
        write_lines(folder / f"train.{language}", corpus.texts(language)[:100])
        write_lines(folder / f"test.{language}", corpus.texts(language)[100:130])
    run("fit", "train.en", "train.fr", "train.es", "-o", "m.scca", "--components", 15, cwd=folder)
    return folder


def _lines(folder, name):
    return (folder / name).read_text(encoding="utf-8").splitlines()


class TestFit:
    def test_the_model_is_that_of_python(self, folder):
        model = scca.load(folder / "m.scca")
        assert model.view_names_ == LANGUAGES
        views = {language: _lines(folder, f"train.{language}") for language in LANGUAGES}
        expected = scca.Model(15, random_state=0).fit(views)
        for mine, its in zip(model.estimator_.weights_, expected.estimator_.weights_, strict=True):
            assert np.array_equal(mine, its)

    def test_the_same_fit_gives_the_same_bytes_anywhere(self, folder, tmp_path):
        for language in LANGUAGES:  # other names of files and folders, another time
            (tmp_path / f"t.{language}").write_bytes((folder / f"train.{language}").read_bytes())
        run("fit", "t.en", "t.fr", "t.es", "-o", "other.scca", "--components", 15, "--quiet", cwd=tmp_path)
        assert (tmp_path / "other.scca").read_bytes() == (folder / "m.scca").read_bytes()

    def test_says_what_it_read(self, folder, tmp_path):
        files = [folder / f"train.{language}" for language in LANGUAGES]
        command = ("fit", *files, "-o", tmp_path / "m", "--components", 3, "--names", "a", "b", "c")
        told = run(*command)
        assert told.stdout.startswith(f"3 components from a, b and c: {tmp_path / 'm'}\nthe model reads ")
        assert re.search(r" a words, .* b words and .* c words", told.stdout)
        assert "samples left out" in told.stdout
        summary = json.loads(run(*command, "--json").stdout)
        assert summary["languages"] == ["a", "b", "c"]
        assert [view["kind"] for view in summary["views"]] == ["text"] * 3
        assert summary["samples"] == 100
        assert len(summary["held_out_correlations"]) == 3

    def test_a_table_of_three_columns(self, folder, tmp_path):
        rows = zip(*(_lines(folder, f"train.{language}") for language in LANGUAGES), strict=True)
        write_lines(tmp_path / "t.tsv", ["id\ten\tfr\tes", *(f"{i}\t" + "\t".join(row) for i, row in enumerate(rows))])
        run("fit", "t.tsv", "--columns", "en", "fr", "es", "-o", "m", "--components", 2, cwd=tmp_path)
        assert scca.load(tmp_path / "m").view_names_ == LANGUAGES

    @pytest.mark.parametrize(
        ("more", "complaint"),
        [
            (("--paper",), "--paper is for two languages; got 3 views: leave out --paper, or name two texts."),
            (("--languages", "a", "b"), "must be"),
            (("--languages", "a", "b", "a"), "--languages must be 3 different names; got a b a."),
            (("--kind", "text", "table"), "--kind must be one kind for all files, or 3, one for each file; got 2"),
            (("--kind", "table", "--case"), "--case is for texts, and no file has them; leave it out."),
        ],
    )
    def test_refused(self, folder, tmp_path, more, complaint):
        files = [folder / f"train.{language}" for language in LANGUAGES]
        assert complaint in refused("fit", *files, "-o", tmp_path / "m", *more)
        assert not (tmp_path / "m").exists()

    def test_uneven_files(self, folder, tmp_path):
        write_lines(tmp_path / "short.es", ["uno", "dos"])
        message = refused("fit", folder / "train.en", folder / "train.fr", tmp_path / "short.es", "-o", tmp_path / "m")
        assert "short.es" in message
        assert "100" in message

    def test_values_of_options_are_told_from_files(self, folder, tmp_path):
        files = [folder / f"train.{language}" for language in LANGUAGES]
        run("fit", "--languages", "x", "y", "z", *files, "-o", tmp_path / "m", "--components", 2)
        assert scca.load(tmp_path / "m").view_names_ == ("x", "y", "z")
        run("fit", "--languages=x", *files[:2], "--languages=y", "-o", tmp_path / "m", "--components", 2)
        assert scca.load(tmp_path / "m").view_names_ == ("x", "y")

    def test_tables_of_numbers_get_lines_that_fit_them(self, tmp_path):
        rng = np.random.default_rng(0)
        for name in "abc":
            rows = [",".join(f"{value:.3f}" for value in row) for row in rng.normal(size=(30, 3))]
            write_lines(tmp_path / f"{name}.csv", ["p,q,r", *rows])
        done = run("fit", "a.csv", "b.csv", "c.csv", "-o", "m", cwd=tmp_path, check=False)
        assert done.stderr.startswith("scca: a.csv, b.csv and c.csv are tables of numbers")
        assert 'model = scca.MultiSparseCCA("auto").fit([X1, X2, X3])' in done.stderr
        run("fit", "a.csv", "b.csv", "c.csv", "-o", "m", "--kind", "table", "--components", 2, cwd=tmp_path)
        shown = run("explain", "m", cwd=tmp_path).stdout
        assert "  a columns, loading (weight): " in shown


class TestAnswers:
    def test_mates(self, folder):
        command = ("mates", "m.scca", "--queries", "test.en", "--candidates", "test.es", "--json")
        told = json.loads(run(*command, "--from", "en", "--to", "es", cwd=folder).stdout)
        model = scca.load(folder / "m.scca")
        texts = {language: _lines(folder, f"test.{language}") for language in ("en", "es")}
        assert told["average_precision"] == pytest.approx(model.score(texts))
        detected = run(*command, cwd=folder)
        assert json.loads(detected.stdout) == told
        assert "queries taken to be en, by their words" in detected.stderr

    def test_mates_of_a_language_that_is_not_there(self, folder):
        command = ("mates", "m.scca", "--queries", "test.en", "--candidates", "test.es", "--from", "en")
        assert "--to must be 'en', 'fr' or 'es'; got 'de'" in refused(*command, "--to", "de", cwd=folder)
        assert "--to must be another view than en" in refused(*command, "--to", "en", cwd=folder)

    def test_words(self, folder):
        told = json.loads(run("translate", "m.scca", "judge", "--to", "es", "--json", cwd=folder).stdout)
        assert (told[0]["from"], told[0]["to"]) == ("en", "es")
        assert "judge (en to es, in " in run("translate", "m.scca", "judge", "--to", "es", cwd=folder).stdout
        assert "--to must be one of" in refused("translate", "m.scca", "judge", cwd=folder)
        words = json.loads(run("lexicon", "m.scca", "--from", "es", "--to", "fr", "--json", cwd=folder).stdout)
        assert (words["from"], words["to"]) == ("es", "fr")
        made = json.loads(run("generate", "m.scca", "test.fr", "--to", "en", "--json", cwd=folder).stdout)
        assert made[0]["language"] == "en"
        assert "--to must be one of" in refused("generate", "m.scca", "test.fr", "--from", "fr", cwd=folder)


class TestShown:
    def test_explain(self, folder):
        shown = run("explain", "m.scca", "--components", 2, "--top", 2, cwd=folder).stdout
        for language in LANGUAGES:
            assert f"\n  {language} words, loading (weight): " in shown
            assert f"\n    {language}: " in shown  # a document
        assert "\n  on samples left out: en and fr " in shown
        told = json.loads(run("explain", "m.scca", "--json", "--top", 2, cwd=folder).stdout)
        assert [view["name"] for view in told["components"][0]["views"]] == [*LANGUAGES]
        assert len(told["components"][0]["views"][2]["features"]) == 2
        assert told["pairs"] == [[0, 1], [0, 2], [1, 2]]

    def test_a_result_is_enough(self, folder, tmp_path):
        run("result", folder / "m.scca", "-o", tmp_path / "r.json")
        assert run("explain", tmp_path / "r.json").stdout == run("explain", folder / "m.scca").stdout
        for source, page in ((tmp_path / "r.json", "a.html"), (folder / "m.scca", "b.html")):
            run("report", source, "-o", tmp_path / page)
        assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
        result = scca.Result.from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert result == scca.load(folder / "m.scca").result()
        assert "must have the schema scca-result/1" in refused("explain", write_lines(tmp_path / "x.json", ["{}"]))

    def test_documents_of_all_languages_are_withheld(self, folder, tmp_path):
        files = [folder / f"train.{language}" for language in LANGUAGES]
        run("fit", *files, "-o", tmp_path / "m", "--components", 5, "--no-texts")
        run("report", tmp_path / "m", "-o", tmp_path / "own.html")
        run("report", folder / "m.scca", "-o", tmp_path / "asked.html", "--no-texts")
        run("result", folder / "m.scca", "-o", tmp_path / "asked.json", "--no-texts")
        for name in ("m", "own.html", "asked.html", "asked.json"):
            content = (tmp_path / name).read_bytes()
            for language in LANGUAGES:
                assert not any(text[:50].encode() in content for text in _lines(folder, f"train.{language}"))

    def test_models_that_python_saved(self, tmp_path):
        X, Y, Z = scca.datasets.make_planted(40, 9, 8, 7, n_active=3, random_state=0).views
        scca.save(scca.SparseCCA(2).fit(X, Y), tmp_path / "two")
        scca.save(scca.MultiSparseCCA(2).fit({"a": X, "b": Y, "c": Z}), tmp_path / "three")
        scca.save(scca.SparseCCA(2, kernel=scca.Kernel("rbf", gamma=0.1), held_out=0).fit(X, Y), tmp_path / "kernel")
        shown = run("explain", tmp_path / "two").stdout
        assert "X features, loading (weight): feature " in shown
        assert "on pairs left out" in shown
        assert "a features, loading (weight): feature " in run("explain", tmp_path / "three").stdout
        assert "sample " in run("explain", tmp_path / "kernel").stdout
        for name in ("two", "three", "kernel"):
            assert "views" in json.loads(run("explain", tmp_path / name, "--json").stdout)["components"][0]
            run("report", tmp_path / name, "-o", tmp_path / "r.html")


@pytest.mark.slow
def test_demo_of_three_languages(tmp_path):
    command = ("demo", "--json", "--components", 20, "--languages", "en", "fr", "es")
    told = json.loads(run(*command, cwd=tmp_path).stdout)
    assert told["languages"] == [*LANGUAGES]
    assert told["chance_average_precision"] < 0.15 < 0.8 < told["average_precision"]
