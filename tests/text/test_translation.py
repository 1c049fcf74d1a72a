"""Words translated by links between all words: what a person would expect."""

import pytest

from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.text import BilingualModel


@pytest.fixture(scope="module")
def model():
    corpus = load_trilingual()
    return BilingualModel(3, anchors="cross-energy").fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))


@pytest.mark.parametrize(
    ("word", "mate"), [("school", "école"), ("flour", "farine"), ("birds", "oiseaux"), ("harbour", "port")]
)
def test_plain_words_are_translated_both_ways(model, word, mate):
    there, back = model.translate(word, source="en"), model.translate(mate, source="fr")
    assert mate in [w.name for w in there.words[:3]]
    assert word in [w.name for w in back.words[:5]]
    assert (there.source, there.target, back.target) == ("en", "fr", "en")
    assert there.words[0].name == mate
    assert there.trust > 0.5
    assert there.documents >= 2


def test_the_language_is_found_or_asked_for(model):
    assert model.translate("BREAD ").word == "bread"
    assert model.translate("farine").source == "fr"
    shared = next(w for w in model.vectorizers_[0].words_ if model.vectorizers_[1].position(w) is not None)
    with pytest.raises(ValueError, match="is a word of both en and fr; name its language"):
        model.translate(shared)
    with pytest.raises(ValueError, match="'breadd' is none of the .* words the model knows; did you mean bread"):
        model.translate("breadd")
    with pytest.raises(ValueError, match="language must be 'en' or 'fr'; got 'de'"):
        model.translate("bread", source="de")


def test_one_unknown_word_loses_no_other(model):
    found = model.translate(["flour", "breadd", "farine", "nouvelles"])
    assert [item.known for item in found] == [True, False, True, True]
    assert found[0] == model.translate("flour")
    assert found[2].source == "fr"
    assert (found[1].word, found[1].words) == ("breadd", ())
    assert "did you mean bread" in found[1].note
    assert model.translate([]) == []
    with pytest.raises(ValueError, match="language must be 'en' or 'fr'; got 'de'"):
        model.translate(["bread"], source="de")


def test_what_is_no_word_and_no_trust(model):
    with pytest.raises(ValueError, match="a word to translate must be a string; got None"):
        model.translate([None])
    for trust in (None, "a", 2, float("nan")):
        with pytest.raises(ValueError, match="trust must be a number from 0 to 1; got"):
            model.lexicon(trust=trust)
