"""A bilingual model of shared factors: few words of both languages, read and used alike."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import scca
from scca.cli._app import app
from scca.datasets import make_bilingual
from scca.readers import PairedText
from scca.text import BilingualModel, TextVectorizer


@pytest.fixture(scope="module")
def corpus():
    """Documents on six topics, each with words of its own in both languages."""
    rng = np.random.default_rng(0)
    topics = rng.integers(6, size=(2, 240))
    texts = []
    for language in ("a", "b"):
        own = [[f"{language}{chr(97 + topic)}{chr(97 + i)}" for i in range(8)] for topic in range(6)]
        common = [f"{language}zz{chr(97 + i)}" for i in range(20)]
        texts.append(
            [
                " ".join([*rng.choice(own[first], 6), *rng.choice(own[second], 3), *rng.choice(common, 12)])
                for first, second in topics.T
            ]
        )
    return texts


@pytest.fixture(scope="module")
def model(corpus):
    pairs = PairedText.of(corpus[0][:160], corpus[1][:160], ("aa", "bb"))
    return BilingualModel(5).fit(pairs)


def test_components_read_as_topics_in_both_languages(model):
    """Six topics, of which every document has at least one, are five contrasts; the first words are of one topic."""
    topics = set()
    for component in model.components():
        first, second = ([word.name[1] for word in words[:4]] for words in (component.words, component.mate_words))
        assert len(set(first)) == len(set(second)) == 1
        assert first[0] == second[0] != "z"
        topics.add(first[0])
        assert component.held_out_correlation > 0.5
        assert component.anchor is None
    assert len(topics) == 5


def test_first_results_are_those_of_the_model_and_come_before_the_others(corpus, model):
    pairs, seen = PairedText.of(corpus[0][:160], corpus[1][:160], ("aa", "bb")), []
    BilingualModel(5).fit(pairs, preview=seen.append, progress=lambda what, *_: seen.append(what))
    (at,) = (i for i, each in enumerate(seen) if not isinstance(each, str))
    assert "features" in seen[at:]
    assert "folds left out" in seen[at:]
    assert {"features", "folds left out"}.isdisjoint(seen[:at])
    assert seen[at] == [
        tuple([word.name for word in words[:4]] for words in (component.words, component.mate_words))
        for component in model.components()[:3]
    ]


def test_words_stand_in_the_order_of_their_loadings(model):
    for component in model.components():
        for words in (component.words, component.mate_words):
            loadings = [word.loading for word in words]
            assert loadings == sorted(loadings, reverse=True)
            assert loadings[0] > 0
            assert all(word.weight != 0 for word in words)
        assert all(document.weight > 0 for document in component.documents)


def test_mates_are_found_by_the_words_that_are_read(model, corpus):
    new = [texts[160:] for texts in corpus]
    assert model.average_precision(*new).average_precision > 0.3  # chance is .06; documents of one topic look alike
    pairs = PairedText.of(corpus[0][:160], corpus[1][:160], ("aa", "bb"))
    model = BilingualModel(5, held_out=0, n_words=0.5).fit(pairs)
    assert model.average_precision(*new).average_precision > 0.3
    unread = " ".join(model.vectorizers_[0].words_[model.scca_.x_feature_weights_ == 0])
    assert unread
    changed = [f"{text} {unread}" for text in new[0]]
    np.testing.assert_allclose(model.project(changed, "aa"), model.project(new[0], "aa"), atol=1e-12)
    assert not model.project([unread], "aa").any()


def test_counts_are_taken_by_their_logarithm(model):
    assert all(vectorizer.log_counts for vectorizer in model.vectorizers_)
    documents = ["one one one two", "two three", "three"]
    vectorizer = TextVectorizer(log_counts=True)
    found = vectorizer.fit_transform(documents).toarray()
    idf = np.log(4 / (1 + np.array([1, 2, 2]))) + 1  # of "one", "three", "two"
    np.testing.assert_allclose(vectorizer.idf_, idf)
    np.testing.assert_allclose(found, np.array([[1 + np.log(3), 0, 1], [0, 1, 1], [0, 1, 0]]) * idf)


def test_is_kept_in_a_file(model, corpus, tmp_path):
    scca.save(model, tmp_path / "m.scca")
    again = scca.load(tmp_path / "m.scca")
    np.testing.assert_array_equal(again.project(corpus[0][160:], "aa"), model.project(corpus[0][160:], "aa"))
    assert again.components() == model.components()


def test_words_of_a_known_dictionary_go_together():
    made = make_bilingual(400, random_state=0)
    model = scca.SparseCCA(4).fit(*made.views)
    assert model.p_value_ <= 0.05
    assert (model.held_out_correlations_ > 0.3).all()


class TestShell:
    @pytest.fixture
    def files(self, corpus, tmp_path):
        rng = np.random.default_rng(0)  # one of twenty shuffles passes for pairs, as a level of .05 has it
        for name, texts in (("x.aa", corpus[0]), ("x.bb", corpus[1]), ("shuffled.bb", rng.permutation(corpus[1]))):
            (tmp_path / name).write_text("\n".join(texts) + "\n")
        return tmp_path

    def run(self, *arguments):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return done.exit_code, done.stdout, done.stderr

    def test_fit_explain_and_report(self, files):
        model, page = files / "m.scca", files / "r.html"
        code, said, noted = self.run("fit", files / "x.aa", files / "x.bb", "-o", model, "--components", 5)
        assert code == 0
        assert "aa words and" in said
        assert f"5 components from aa and bb: {model}\nthe model reads " in said
        assert "chance" not in noted
        code, said, _ = self.run("explain", model, "--json", "--top", "3")
        components = json.loads(said)["components"]
        assert code == 0
        assert len(components) == 5
        for component in components:
            assert component["held_out_correlation"] > 0.4
            for words in (component["words"], component["mate_words"]):
                assert {"word", "weight", "loading"} <= words[0].keys()
        assert "on pairs left out" in self.run("explain", model)[1]
        assert self.run("report", model, "-o", page)[0] == 0
        html = page.read_text()
        assert "bb words used" in html
        assert "with the highest scores" in html
        assert components[0]["words"][0]["word"] in html

    def test_shuffled_lines_share_no_more_than_chance(self, files):
        where = (files / "x.aa", files / "shuffled.bb", "-o", files / "m.scca", "--components", "5")
        code, _, noted = self.run("fit", *where, "--languages", "aa", "bb")
        assert code == 0
        assert "no more than chance" in noted
        # the verdict is kept: in silence, by `explain`, by the report and for machines
        code, _, noted = self.run("fit", *where, "--languages", "aa", "bb", "--quiet")
        assert code == 0
        assert noted.count("\n") == 1
        assert "no more than chance" in noted
        assert "no more than chance" in self.run("explain", files / "m.scca")[1]
        assert "no more than chance" in json.loads(self.run("explain", files / "m.scca", "--json")[1])["verdict"]
        self.run("report", files / "m.scca", "-o", files / "m.html")
        assert "no more than chance" in (files / "m.html").read_text()

    def test_true_lines_share_more(self, files):
        where = (files / "x.aa", files / "x.bb", "-o", files / "m.scca", "--components", "3")
        code, said, noted = self.run("fit", *where, "--quiet")
        assert code == 0
        assert noted == ""
        assert "the pairs share more than chance" in said
        shown = json.loads(self.run("explain", files / "m.scca", "--json")[1])
        assert shown["p_value"] <= 0.05
        for component in shown["components"]:
            low, high = component["held_out_interval"]
            assert low < component["held_out_correlation"] < high

    def test_groups(self, files, corpus):
        """Sentences of a document are left out together: the same as in Python."""
        labels = [f"document {i // 4}" for i in range(len(corpus[0]))]
        (files / "groups.txt").write_text("\n".join(labels) + "\n")
        model = self.fit(files, "--groups", files / "groups.txt")
        expected = BilingualModel(3, random_state=0).fit(PairedText.of(*corpus, ("aa", "bb")), groups=labels)
        alone = BilingualModel(3, random_state=0).fit(PairedText.of(*corpus, ("aa", "bb")))
        found = model.scca_.held_out_correlations_.tolist()
        assert found == expected.scca_.held_out_correlations_.tolist()
        assert found != alone.scca_.held_out_correlations_.tolist()

    @pytest.mark.parametrize(
        ("lines", "complaint"),
        [
            (["a", "b"], "--groups must be one label for each of 240 documents; got 2 labels"),
            (["a", "", "b"], "line 2 is empty; give every pair the label of its group"),
        ],
    )
    def test_wrong_groups(self, files, lines, complaint):
        (files / "groups.txt").write_text("\n".join(lines) + "\n")
        where = (files / "x.aa", files / "x.bb", "-o", files / "new.scca", "--components", "3")
        code, _, said = self.run("fit", *where, "--groups", files / "groups.txt")
        assert code == 1
        assert re.search(complaint, said)
        assert not (files / "new.scca").exists()

    def test_labels_of_dropped_pairs_are_dropped(self, corpus):
        first, second = (list(side) for side in corpus)
        labels = [i // 4 for i in range(len(first))]
        first[5] = ""
        pairs = PairedText.of(first, second, ("aa", "bb"), drop_empty=True)
        model, expected = (BilingualModel(2).fit(pairs, groups=given) for given in (labels, [*labels[:5], *labels[6:]]))
        assert model.scca_.held_out_correlations_.tolist() == expected.scca_.held_out_correlations_.tolist()

    def fit(self, files, *options):
        model = files / "m.scca"
        code, _, said = self.run("fit", files / "x.aa", files / "x.bb", "-o", model, "--components", 3, *options)
        assert code == 0, said
        return scca.load(model)

    @staticmethod
    def assert_same(model, corpus, **settings):
        expected = BilingualModel(3, **settings).fit(PairedText.of(*corpus, ("aa", "bb")))
        params = {name: expected.get_params()[name] for name in ("anchors", "rendering", "feature_weights", "gamma")}
        assert {name: model.get_params()[name] for name in params} == params
        np.testing.assert_array_equal(model.scca_.x_weights_, expected.scca_.x_weights_)
        np.testing.assert_array_equal(model.project(corpus[1], "bb"), expected.project(corpus[1], "bb"))
        return expected

    def test_without_options_is_the_default_model(self, files, corpus):
        self.assert_same(self.fit(files), corpus)

    def test_paper_is_the_papers_method(self, files, corpus):
        model = self.fit(files, "--paper")
        expected = self.assert_same(model, corpus, anchors="sequential", feature_weights=None)
        np.testing.assert_array_equal(model.scca_.anchors_, expected.scca_.anchors_)
        assert model.components() == expected.components()
        lighter = self.fit(files, "--paper", "--gamma", "auto*0.5")
        self.assert_same(lighter, corpus, anchors="sequential", feature_weights=None, gamma="auto*0.5")

    def test_dense_reads_all_words(self, files, corpus):
        model = self.fit(files, "--dense")
        self.assert_same(model, corpus, rendering="dense")
        assert model.scca_.x_weights_.all()

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--dense", "--paper"], "--dense is not for the paper's method; leave out --dense or --paper"),
            (["--gamma", "1"], "--gamma is for the paper's method; got --gamma 1: add --paper or leave it out"),
        ],
    )
    def test_what_has_no_meaning_is_refused(self, files, options, sentence):
        code, out, said = self.run("fit", files / "x.aa", files / "x.bb", "-o", files / "m.scca", *options)
        assert code == 2
        assert out == ""
        assert said.count("\n") == 1
        assert sentence in said
        assert not (files / "m.scca").exists()

    @pytest.mark.parametrize("gone", ["--factors", "--anchors"])
    def test_options_that_are_no_more(self, files, gone):
        code, _, said = self.run("fit", files / "x.aa", files / "x.bb", "-o", files / "m.scca", gone)
        assert code == 2
        assert "No such option" in said
