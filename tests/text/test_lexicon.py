"""Word lists: links of words that compete, and how far the trust in them holds."""

import numpy as np
import pytest
import scipy.sparse as sp

import scca
from scca.datasets import load_trilingual, make_bilingual
from scca.readers import PairedText
from scca.text import BilingualModel
from scca.text._lexicon import Lexicographer
from scca.text._links import link_words, two_best


@pytest.fixture(scope="module", params=[(300, 50, 1500), (1500, 12, 4000)], ids=["few long", "many short"])
def made(request):
    n_documents, length, vocabulary = request.param
    return make_bilingual(n_documents, vocabulary=vocabulary, length=length, random_state=0)


@pytest.fixture(scope="module")
def model():
    corpus = load_trilingual()
    return BilingualModel(3, anchors="cross-energy", min_df=2).fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))


def lexicographer(X, Y, progress=None):
    return Lexicographer((X, Y), [np.arange(view.shape[1]) for view in (X, Y)], progress)


def judged(made, least=1):
    """Trust in the mate of every word in `least` documents or more, and whether it is the dictionary's."""
    entries = [e for e in lexicographer(*made.views).entries(0) if e.documents >= least]
    right = [int(e.mate) == made.dictionary[int(e.word)] for e in entries]
    return np.array([e.trust for e in entries]), np.array(right)


def plain_links(X, Y, steps=10):
    """Expected links of X's words to Y's, written as products of dense matrices."""
    together = X.T @ Y
    chances = (together > 0) / np.maximum((together > 0).sum(axis=1, keepdims=True), 1)
    for _ in range(steps):
        claims = X @ chances
        links = chances * (X.T @ np.where((Y > 0) & (claims > 0), Y / np.where(claims > 0, claims, 1), 0))
        chances = links / np.maximum(links.sum(axis=1, keepdims=True), 1e-300)
    return links


class TestLinks:
    def test_are_the_expected_ones_of_both_directions(self, rng):
        X, Y = ((rng.random((20, size)) < 0.3).astype(float) for size in (12, 15))
        found = link_words(sp.csr_array(X), sp.csr_array(Y))
        links = np.sqrt(plain_links(X, Y) * plain_links(Y, X).T)
        np.testing.assert_allclose(
            found.shares.toarray(), 2 * links / (X.sum(axis=0)[:, None] + Y.sum(axis=0)), atol=1e-12
        )
        np.testing.assert_array_equal(found.together.toarray(), X.T @ Y)

    def test_every_occurrence_is_linked_once(self, rng):
        X, Y = ((rng.random((20, size)) < 0.3).astype(float) for size in (12, 15))
        np.testing.assert_allclose(plain_links(X, Y).sum(axis=0), Y[X.any(axis=1)].sum(axis=0))

    def test_either_way_round_and_in_any_order(self, made, rng):
        X, Y = (sp.csr_array((view > 0).astype(float)) for view in made.views)
        found = link_words(X, Y)
        back = link_words(Y, X)
        np.testing.assert_allclose(back.shares.toarray(), found.shares.T.toarray(), atol=1e-12)
        rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
        mixed = link_words(X[rows][:, columns], Y[rows])
        np.testing.assert_allclose(mixed.shares.toarray(), found.shares.toarray()[columns], atol=1e-9)

    def test_two_best(self):
        matrix = sp.csr_array(np.array([[0, 0, 0], [0, 2, 0], [3, 1, 3], [1, 2, 4]], dtype=float))
        rows, columns, best, second = two_best(matrix)
        assert (rows.tolist(), columns.tolist()) == ([1, 2, 3], [1, 0, 2])
        assert (best.tolist(), second.tolist()) == ([2, 3, 4], [0, 3, 2])


class TestTrust:
    def test_frequent_words_are_right(self, made):
        trust, right = judged(made, least=10)
        assert len(right) > 100
        assert right.mean() > 0.98
        assert trust.mean() > 0.98

    def test_is_higher_where_the_mate_is_right(self, made):
        trust, right = judged(made)
        assert 0.05 < np.mean(~right) < 0.5
        assert trust[right].mean() > trust[~right].mean() + 0.4
        above = trust[right][:, None] > trust[~right]
        assert above.mean() > 0.9  # the area under the curve

    def test_is_calibrated(self, made):
        trust, right = judged(made)
        assert trust.mean() == pytest.approx(right.mean(), abs=0.05)
        assert right[trust >= 0.9].mean() > 0.95
        assert right[trust < 0.5].mean() < 0.5
        assert np.mean((trust - right) ** 2) < 0.6 * right.mean() * (1 - right.mean())  # what the mean alone would do

    def test_shuffled_pairs_are_not_trusted(self, made, rng):
        entries = lexicographer(made.X, made.Y[rng.permutation(made.Y.shape[0])]).entries(0)
        trust = np.array([e.trust for e in entries])
        assert np.mean(trust >= 0.5) < 0.002
        assert trust.mean() < 0.1

    def test_of_mutual_pairs_is_the_same_both_ways(self, made):
        found = lexicographer(*made.views)
        there, back = ({e.word: e for e in found.entries(side) if e.mutual} for side in (0, 1))
        assert len(there) == len(back) > 100
        for entry in there.values():
            assert back[entry.mate].mate == entry.word
            assert back[entry.mate].trust == pytest.approx(entry.trust)
            assert back[entry.mate].together == entry.together


class TestLexicon:
    def test_lists_every_word_with_its_mate(self, model):
        pairs = model.lexicon()
        assert len(pairs) == len(model.vectorizers_[0].words_)
        assert [(-p.trust, -p.documents, p.word) for p in pairs] == sorted(
            (-p.trust, -p.documents, p.word) for p in pairs
        )
        mates = {p.word: p.mate for p in pairs}
        plain = {"school": "école", "flour": "farine", "birds": "oiseaux", "harbour": "port"}
        assert {word: mates[word] for word in plain} == plain
        for pair in pairs[:50]:
            assert 0 <= pair.trust <= 1
            assert pair.together <= min(pair.documents, pair.mate_documents)
            shares = [mate.weight for mate in pair.mates]
            assert shares == sorted(shares, reverse=True)
            assert 0 < shares[-1] <= shares[0] <= 1 + 1e-9

    def test_settings(self, model):
        everything = model.lexicon(source="fr")
        fewer = model.lexicon(source="fr", least=5, trust=0.9, top=1)
        assert 0 < len(fewer) < len(everything)
        assert all(p.documents >= 5 and p.trust >= 0.9 and len(p.mates) == 1 for p in fewer)
        assert {p.word for p in fewer} == {p.word for p in everything if p.documents >= 5 and p.trust >= 0.9}
        with pytest.raises(ValueError, match=r"trust must be a number from 0 to 1; got 2"):
            model.lexicon(trust=2)
        with pytest.raises(ValueError, match="language must be 'en' or 'fr'; got 'de'"):
            model.lexicon(source="de")

    def test_agrees_with_translate(self, model):
        for pair in model.lexicon(top=10)[:20]:
            one = model.translate(pair.word, source="en")
            assert (one.words, one.trust, one.documents) == (pair.mates, pair.trust, pair.documents)

    def test_follows_a_new_fit(self):
        corpus = load_trilingual()
        model = BilingualModel(2, anchors="cross-energy").fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))
        assert "farine" in [w.name for w in model.translate("flour").words]
        model.fit(PairedText.of(corpus.en, corpus.es, ("en", "es")))
        assert "harina" in [w.name for w in model.translate("flour").words]

    def test_leaves_the_model_as_it_was(self, tmp_path):
        corpus = load_trilingual()
        model = BilingualModel(2, anchors="cross-energy").fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))
        scca.save(model, tmp_path / "before.scca")
        there = model.lexicon()
        scca.save(model, tmp_path / "after.scca")
        assert (tmp_path / "before.scca").read_bytes() == (tmp_path / "after.scca").read_bytes()
        assert scca.load(tmp_path / "after.scca").lexicon() == there

    def test_only_words_that_the_model_may_know(self):
        corpus = load_trilingual()
        pairs = PairedText.of(corpus.en[:100], corpus.fr[:100], ("en", "fr"))
        few = BilingualModel(3, n_words=40, held_out=0).fit(pairs)
        listed = few.lexicon(least=1)
        assert 10 < len(listed) <= 40
        assert len({mate.name for pair in listed for mate in pair.mates}) <= 40

    def test_few_documents(self):
        texts = ["alpha beta", "gamma alpha", "beta gamma"], ["eins zwei", "drei eins", "zwei drei"]
        model = BilingualModel(1, anchors="cross-energy").fit(PairedText.of(*texts, ("a", "b")))
        assert {p.word: p.mate for p in model.lexicon()} == {"alpha": "eins", "beta": "zwei", "gamma": "drei"}

    def test_a_half_of_the_documents_without_any_word(self):
        X = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [0, 1, 0, 1.0]])
        Y = np.array([[1.0], [0], [0], [0]])
        entries = lexicographer(sp.csr_array(X), sp.csr_array(Y)).entries(0)
        assert [int(entry.word) for entry in entries] == [0, 1]
        assert all(0 < entry.trust < 0.5 for entry in entries)

    def test_progress(self, made):
        calls = []
        lexicographer(*made.views, progress=lambda done, total: calls.append((done, total)))
        assert [done for done, _ in calls] == list(range(1, calls[-1][1] + 1))
