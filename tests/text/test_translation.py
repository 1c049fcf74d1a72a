"""Words anchored at a word: the problem, and what a person would expect of it."""

import cvxpy as cp
import numpy as np
import pytest
from oracles import prepare

from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.text import BilingualModel, Translator
from scca.views import Preparation


@pytest.fixture(scope="module")
def model():
    corpus = load_trilingual()
    return BilingualModel(3, anchors="cross-energy").fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))


def test_is_the_optimum_of_the_anchored_problem(rng):
    X, Y = rng.random((16, 7)), rng.random((16, 6))
    target, source = (Preparation.fit(view).transform(view) for view in (X, Y))
    found = Translator(target, source, tol=1e-9).translate(2, gamma="auto*0.1")
    A, B = prepare(X), prepare(Y)
    y = B[:, 2]
    turned = B * np.where(B.T @ y < 0, -1.0, 1.0)
    w, v = cp.Variable(7), cp.Variable(6)
    objective = cp.sum_squares(A @ w - turned @ v) + found.mu * cp.norm1(w) + found.gamma * (cp.sum(v) - 1)
    problem = cp.Problem(cp.Minimize(objective), [v >= 0, v <= 1, v[2] == 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert found.mu == pytest.approx(np.mean(np.abs(2 * A.T @ y)))
    mine = np.sum((A @ found.weights - B @ found.joined_by) ** 2) + found.mu * np.abs(found.weights).sum()
    mine += found.gamma * (np.abs(found.joined_by).sum() - 1)
    assert mine == pytest.approx(problem.value, abs=1e-7)


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
    anchored = model.translate(word, source="en", mu="auto*8")
    assert mate in [w.name for w in anchored.words[:3]]
    assert anchored.dual_gap <= 1e-6
    assert anchored.trust is None


def test_more_penalty_fewer_words(model):
    counts = [len(model.translate("bread", mu=mu).words) for mu in ("auto", "auto*4", "auto*8")]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] > 0


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
