"""What `scca fit` says of the words that it reads, and which rendering it gives them."""

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
    """Aligned files, vectors of the same documents, and a model of 40 words of each of two languages."""
    folder, corpus = tmp_path_factory.mktemp("corpus"), load_trilingual()
    for language in LANGUAGES:
        write_lines(folder / f"a.{language}", corpus.texts(language)[:60])
        write_lines(folder / f"few.{language}", corpus.texts(language)[:12])
    about = np.array([[subject == known for known in sorted(set(corpus.subjects))] for subject in corpus.subjects[:60]])
    np.save(folder / "v.npy", about + 0.1 * np.random.default_rng(0).standard_normal(about.shape))
    fit(folder, "m", "--words", 40)
    return folder


def fit(folder, output, *options, files=("a.en", "a.fr")):
    command = ("fit", *files, "-o", output, "--components", 3, "--quiet", *options)
    return run(*command, cwd=folder).stdout, scca.load(folder / output)


def said_of_reading(said):
    (found,) = (line for line in said.splitlines() if line.startswith("the model reads "))
    return found


def test_it_says_what_the_words_that_were_asked_for_cost(folder):
    said, model = fit(folder, "m1", "--words", 40)
    estimator = model.estimator_
    assert max(estimator.n_read_) <= 40
    (first, second), (n, m) = estimator.n_read_, estimator.n_features_
    low, high = estimator.mates_kept_interval_
    assert said_of_reading(said) == (
        f"the model reads {first} of {n:,} en words and {second} of {m:,} fr words, which find the mates of pairs left "
        f"out with {estimator.mates_kept_:.2f} ({low:.2f} to {high:.2f}) times the average precision of all words."
    )


def test_machines_are_told_the_same(folder):
    said, model = fit(folder, "m2", "--words", 40, "--json")
    told, estimator = json.loads(said), model.estimator_
    assert [view["read"] for view in told["views"]] == told["words_read"] == estimator.n_read_
    assert told["mates_kept"] == estimator.mates_kept_
    assert told["mates_kept_interval"] == estimator.mates_kept_interval_.tolist()


def test_the_default_is_that_of_python(folder):
    said, model = fit(folder, "m3")
    assert model.rendering == "auto"
    assert model.estimator_.rendering_ == ["joint", "joint"]
    told = re.findall(r"(?:all|([\d,]+) of) ([\d,]+) \w\w words", said_of_reading(said))
    assert [int((some or all_).replace(",", "")) for some, all_ in told] == model.estimator_.n_read_


def test_few_words_for_each_component(folder):
    said, model = fit(folder, "m4", "--words", 40, "--sparse")
    estimator, joint = model.estimator_, scca.load(folder / "m").estimator_
    assert estimator.rendering_ == ["sparse", "sparse"]
    for weights, all_read in zip(estimator.weights_, joint.weights_, strict=True):
        assert (np.count_nonzero(weights, axis=0) < np.count_nonzero(all_read, axis=0)).all()
    # what was measured is not what these few words find
    assert said_of_reading(said).endswith("fr words; what the other words would add is not known.")
    assert model.result().evidence.mates_kept is None


def test_all_words(folder):
    said, model = fit(folder, "m5", "--dense")
    n, m = model.estimator_.n_features_
    assert said_of_reading(said) == f"the model reads all {n:,} en words and all {m:,} fr words."
    assert json.loads(fit(folder, "m6", "--dense", "--json")[0])["words_read"] == [n, m]


def test_too_few_pairs(folder):
    said, model = fit(folder, "m7", files=("few.en", "few.fr"))
    n, m = model.estimator_.n_read_
    assert said_of_reading(said) == (
        f"the model reads all {n} en words and all {m} fr words; there are too few pairs to tell whether fewer words "
        "would do."
    )
    assert said_of_reading(fit(folder, "m8", "--words", 9, files=("few.en", "few.fr"))[0]).endswith(
        "; what the other words would add is not known."
    )


def test_views_of_several_kinds(folder):
    files = ("a.en", "a.fr", "v.npy")
    said, model = fit(folder, "m9", "--kind", "text", "text", "vectors", "--words", 40, files=files)
    assert model.estimator_.rendering_ == ["joint", "joint", "dense"]
    assert re.search(
        r" en words, \d+ of \d+ fr words and .* v dimensions, which find the mates of samples left out", said
    )
    assert said_of_reading(said).endswith(" times the average precision of all features.")
    sparse = fit(folder, "m10", "--kind", "text", "text", "vectors", "--words", 40, "--sparse", files=files)[1]
    assert sparse.estimator_.rendering_ == ["sparse", "sparse", "dense"]  # single dimensions mean nothing
    told = json.loads(fit(folder, "m9", "--kind", "text", "text", "vectors", "--json", files=files)[0])
    assert "words_read" not in told
    assert [view["read"] for view in told["views"]][2] == told["views"][2]["features"]


def test_the_papers_method_reads_no_chosen_words(folder):
    said, model = fit(folder, "m11", "--paper")
    assert "the model reads" not in said
    assert f"of {model.estimator_.n_features_[0]} en words and " in said
    assert json.loads(fit(folder, "m11", "--paper", "--json")[0])["views"][1]["read"] is None


def test_mu_selects_what_is_shown(folder):
    """The weights of a joint component do not depend on it; those of a sparse component are those that it selects."""
    few, many = (fit(folder, f"mu{mu}", "--words", 40, "--mu", mu)[1].estimator_ for mu in ("auto*2", "auto*0.5"))
    for v in range(2):
        np.testing.assert_array_equal(few.weights_[v], many.weights_[v])
        assert few.shown_[v].nnz < many.shown_[v].nnz
    few, many = (
        fit(folder, f"s{mu}", "--words", 40, "--sparse", "--mu", mu)[1].estimator_ for mu in ("auto*2", "auto*0.5")
    )
    assert all(np.count_nonzero(few.weights_[v]) < np.count_nonzero(many.weights_[v]) for v in range(2))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--sparse", "--dense"), "--sparse gives weights to few words, and --dense to all; leave out one of the two."),
        (("--sparse", "--paper"), "--sparse is not for the paper's method; leave out --sparse or --paper."),
        (("--dense", "--mu", "2"), "--mu is not for --dense, which selects no words; got --mu 2"),
    ],
)
def test_what_excludes_each_other_is_refused(folder, options, sentence):
    assert sentence in refused("fit", "a.en", "a.fr", "-o", "none", *options, cwd=folder)
    assert not (folder / "none").exists()


def test_explain_says_how_many_words_are_selected(folder):
    model = scca.load(folder / "m")
    shown, parts = run("explain", "m", cwd=folder).stdout, model.result().components[0].views
    counts = [(part.n_weights, part.n_shown) for part in parts]
    assert all(part.n_shown == len(part.features) < part.n_weights for part in parts)
    (n, few), (m, some) = counts
    assert f", {n} and {m} words ({few} and {some} selected), duality gap" in shown
    assert "selected: each component weighs all en and fr words that are read" in shown
    assert said_of_reading(shown)
    told = json.loads(run("explain", "m", "--json", "--top", 2, cwd=folder).stdout)["components"][0]["views"]
    assert [(view["n_weights"], view["n_shown"]) for view in told] == counts
    assert [len(view["features"]) for view in told] == [2, 2]


def test_the_page_says_it_too(folder):
    run("report", "m", "-o", "m.html", cwd=folder)
    page = (folder / "m.html").read_text(encoding="utf-8")
    first = scca.load(folder / "m").result().components[0].views[0]
    assert f"{first.n_weights} en words, {first.n_shown} of them selected, the strongest" in page
    assert "Each component weighs all en and fr words that are read; those shown are selected" in page
    assert "<p>The model reads " in page
    fit(folder, "m12", "--words", 40, "--sparse")
    run("report", "m12", "-o", "m.html", cwd=folder)
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert "selected" not in page
    assert "new documents are scored by these words alone" in page
