"""A new kind is one file and one line: models, results, pages, model files and commands know it from then on."""

import json

import numpy as np
import pytest
from commands import refused, run, write_lines
from letters import LetterKind

import scca
from scca.kinds import registered
from scca.report import render
from scca.results import Result


@pytest.fixture(scope="module")
def words():
    """Made-up words, of which a letter says which vowel stands in the mate; and a sentence about each vowel."""
    rng = np.random.default_rng(0)
    subjects = {"a": "apples on the tree", "e": "eels in the river", "o": "oranges from the south"}
    fillers = ["today", "again", "perhaps", "always", "never", "often", "soon"]
    first, second, sentences = [], [], []
    for _ in range(60):
        vowel = rng.choice(list(subjects))
        consonants = rng.choice(list("bdfgklm"), size=6)
        first.append("".join(consonants[:3]) + {"a": "xx", "e": "yy", "o": "zz"}[vowel])
        second.append(vowel * 2 + "".join(consonants[3:]))
        sentences.append(f"{subjects[vowel]} {rng.choice(fillers)} {rng.choice(fillers)}")
    return {"coded": first, "plain": second, "said": sentences}


@pytest.fixture(scope="module")
def alone(words):
    views = {name: words[name] for name in ("coded", "plain")}
    return scca.Model(2, kinds="letters", held_out=0).fit(views)


@pytest.fixture(scope="module")
def with_text(words):
    views = {name: words[name] for name in ("coded", "said")}
    return scca.Model(2, kinds={"coded": LetterKind()}, held_out=0).fit(views)


def _names(model, component, view):
    return [feature.name for feature in model.result().components[component].views[view].features]


def test_it_is_registered():
    assert registered()["letters"] is LetterKind


def test_what_is_planted_is_found_alone_and_against_text(alone, with_text):
    pairs = {"x": "a", "y": "e", "z": "o"}
    for j in range(2):
        first, second = _names(alone, j, 0)[0], _names(alone, j, 1)[0]
        assert pairs[first] == second
    subjects = {"x": {"apples", "tree", "on"}, "y": {"eels", "river", "in"}, "z": {"oranges", "south", "from"}}
    for j in range(2):
        assert _names(with_text, j, 1)[0] in subjects[_names(with_text, j, 0)[0]]


def test_mates_and_scores(alone, with_text):
    assert alone.mates(["bdfxx"], ["eeklm", "aabdf"], source="coded", target="plain", top=1).indices.tolist() == [[1]]
    found = with_text.mates(["bdfyy"], ["apples on the tree", "eels in the river"], source="coded", top=1)
    assert found.indices.tolist() == [[1]]
    scores, known = alone.project_known(["qqq", "bdfxx"], "coded")
    assert known.tolist() == [False, True]
    assert not scores[0].any()


def test_model_files_hold_it(alone, with_text, tmp_path):
    for model in (alone, with_text):
        scca.save(model, tmp_path / "m.scca")
        again = scca.load(tmp_path / "m.scca")
        assert again.result() == model.result()
        assert isinstance(again.kinds_[0], LetterKind)
        assert np.array_equal(again.project(["bdfxx"], "coded"), model.project(["bdfxx"], "coded"))


def test_the_file_of_a_kind_that_is_not_there_is_refused(alone, tmp_path, monkeypatch):
    scca.save(alone, tmp_path / "m.scca")
    monkeypatch.delitem(scca.kinds._kind._KINDS, "letters")
    with pytest.raises(ValueError, match="a view of the kind 'letters', which is not known here; import the package"):
        scca.load(tmp_path / "m.scca")


def test_results_and_pages_show_it(alone):
    result = alone.result()
    assert [view.units for view in result.views] == ["letters", "letters"]
    assert Result.from_json(result.to_json()) == result
    page = render(result)
    assert "letters" in page
    assert 'src="data:image/svg+xml;base64,' in page  # drawings are images, in which no script runs
    assert "<text>" not in page.partition("<h2>")[2]


def test_commands_know_it(words, tmp_path):
    for name, texts in words.items():
        write_lines(tmp_path / f"{name}.txt", texts)
    run("fit", "coded.txt", "plain.txt", "-o", "m", "--kind", "letters", "--components", 2, cwd=tmp_path)
    shown = run("explain", "m", cwd=tmp_path).stdout
    assert "coded letters, loading (weight): " in shown
    command = ("mates", "m", "--queries", "coded.txt", "--candidates", "plain.txt", "--from", "coded", "--json")
    best = [found["candidates"][0]["index"] for found in json.loads(run(*command, cwd=tmp_path).stdout)["mates"]]
    assert [words["plain"][i][0] for i in best] == [word[0] for word in words["plain"]]
    run("report", "m", "-o", "r.html", cwd=tmp_path)
    mixed = ("fit", "coded.txt", "said.txt", "-o", "m2", "--kind", "letters", "text", "--components", 2, "--json")
    told = json.loads(run(*mixed, cwd=tmp_path).stdout)
    assert [(view["name"], view["kind"]) for view in told["views"]] == [("coded", "letters"), ("said", "text")]
    assert "--from must name the view of the queries" in refused(
        "mates", "m2", "--queries", "coded.txt", "--candidates", "said.txt", cwd=tmp_path
    )
    assert "--kind must be one of letters, table, text, vectors; got 'numbers'" in refused(
        "fit", "coded.txt", "said.txt", "--kind", "numbers", cwd=tmp_path
    )
