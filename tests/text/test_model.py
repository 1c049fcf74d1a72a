"""The bilingual model against a few lines of dense NumPy, and its answers to odd questions."""

import builtins

import numpy as np
import pytest
from oracles import prepare

import scca
from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.retrieval import average_precision
from scca.text import BilingualModel, TextVectorizer


@pytest.fixture(scope="module")
def corpus():
    return load_trilingual()


@pytest.fixture(scope="module")
def model(corpus):
    """Anchored: what its vectors are, and what it generates, is told by a few lines of NumPy."""
    pairs = PairedText.of(list(corpus.en[:60]), list(corpus.fr[:60]), ("en", "fr"))
    return BilingualModel(20, anchors="cross-energy").fit(pairs)


def test_is_anchored_cca_of_the_tfidf_vectors(model, corpus):
    X = TextVectorizer().fit_transform(corpus.en[:60])
    Y = TextVectorizer().fit_transform(corpus.fr[:60])
    reference = scca.AnchoredCCA(20, anchors="cross-energy", feature_weights="shared", scale="auto").fit(X, Y)
    np.testing.assert_allclose(model.scca_.x_rotations_, reference.x_rotations_, atol=1e-12)
    assert model.languages_ == ("en", "fr")


def test_is_shared_factors_of_the_vectors_by_default(corpus):
    first, second = list(corpus.en[:60]), list(corpus.fr[:60])
    settings = {"rendering": "dense", "ridge": 0.5, "feature_weights": None, "held_out": 2, "random_state": 3}
    for given in ({"held_out": 0}, settings):
        model = BilingualModel(5, **given).fit(PairedText.of(first, second, ("en", "fr")))
        reference = scca.SparseCCA(5, **given).fit(model.vectorize(first, "en"), model.vectorize(second, "fr"))
        np.testing.assert_allclose(model.scca_.x_weights_, reference.x_weights_, atol=1e-12)
        np.testing.assert_allclose(model.scca_.y_weights_, reference.y_weights_, atol=1e-12)
        assert hasattr(model.scca_, "p_value_") == (given["held_out"] > 0)
        for vectors in model.training_:  # words of a single document share nothing
            assert np.diff(vectors.tocsc().indptr).min() == 2


def test_paper_settings_are_the_papers_method(corpus):
    first, second = corpus.en[:40], corpus.fr[:40]
    model = BilingualModel(4, anchors="sequential", feature_weights=None)
    model.fit(PairedText.of(list(first), list(second), ("en", "fr")))
    X, Y = (TextVectorizer().fit_transform(texts) for texts in (first, second))
    reference = scca.AnchoredCCA(4).fit(X, Y)
    np.testing.assert_array_equal(model.scca_.anchors_, reference.anchors_)
    np.testing.assert_allclose(model.scca_.x_weights_, reference.x_weights_, atol=1e-12)
    np.testing.assert_allclose(model.scca_.y_rotations_, reference.y_rotations_, atol=1e-12)


def test_projection_uses_training_statistics_only(model, corpus):
    new = list(corpus.en[60:70])
    weights = model.scca_.x_feature_weights_
    vectors = TextVectorizer().fit(corpus.en[:60]).transform(new).toarray() * weights
    train = TextVectorizer().fit_transform(corpus.en[:60]).toarray() * weights
    centred = vectors - train.mean(axis=0)
    expected = centred / np.linalg.norm(centred, axis=1, keepdims=True) @ model.scca_.x_rotations_
    np.testing.assert_allclose(model.project(new, "en"), expected, atol=1e-10)


def test_mates_are_the_largest_cosines(model, corpus):
    queries, candidates = list(corpus.fr[60:75]), list(corpus.en[60:90])
    found = model.mates(queries, candidates, top=4)
    assert (found.source, found.target) == ("fr", "en")
    A, B = model.project(queries, "fr"), model.project(candidates, "en")
    cosines = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    order = np.argsort(-cosines, axis=1)[:, :4]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_allclose(found.similarities, np.take_along_axis(cosines, order, axis=1), atol=1e-12)


def test_queries_in_blocks(model, corpus):
    queries, candidates = list(corpus.en[60:90]), list(corpus.fr[60:90])
    whole = model.mates(queries, candidates, source="en", top=4)
    search = model.mate_search(iter(candidates), source="en")
    blocks = [search.mates(queries[i : i + 7], top=4) for i in range(0, 30, 7)]
    np.testing.assert_array_equal(np.concatenate([found.indices for found in blocks]), whole.indices)
    np.testing.assert_array_equal(np.concatenate([found.similarities for found in blocks]), whole.similarities)
    np.testing.assert_array_equal(search.candidate_scores, whole.candidate_scores)
    assert search.recall(whole.query_scores, 4) == 1
    assert model.mate_search([], source="en").mates(queries).indices.shape == (30, 0)
    with pytest.raises(ValueError, match="must be texts; got one text"):
        model.mate_search("one text", source="en")


def test_finds_mates_far_better_than_chance(model, corpus):
    first, second = list(corpus.en[60:120]), list(corpus.fr[60:120])
    result = model.average_precision(first, second)
    assert result.average_precision > 0.3  # guessing gives 0.08
    assert model.score(PairedText.of(first, second)) == result.average_precision
    assert result == average_precision(model.project(first, "en"), model.project(second, "fr"))
    assert np.mean(1 / model.ranks(first, second)[0]) == pytest.approx(result.a_to_b)


def test_pairs_in_the_other_order_are_turned_round(model, corpus):
    first, second = list(corpus.en[60:90]), list(corpus.fr[60:90])
    turned = model.score(PairedText.of(second, first, ("fr", "en")))
    assert turned == model.score(PairedText.of(first, second, ("en", "fr")))
    with pytest.raises(ValueError, match="score takes a PairedText; got a list"):
        model.score(first)


def test_mate_words_are_of_the_vectors_the_model_sees(model, corpus):
    vectorizer = TextVectorizer()
    Y = prepare(vectorizer.fit_transform(corpus.fr[:60]).toarray() * model.scca_.y_feature_weights_)
    for component in model.components()[:5]:
        e = model.scca_.y_weights_[:, component.number]
        expected = Y.T @ e
        for word in component.mate_words:
            assert word.weight == pytest.approx(expected[word.index], rel=1e-9)
        assert abs(component.mate_words[0].weight) == pytest.approx(np.abs(expected).max(), rel=1e-9)


class TestUnknownWords:
    def test_a_query_without_a_known_word_ties_with_everything(self, model, corpus):
        found = model.mates(["zzyzx qwrt", corpus.en[61]], list(corpus.fr[60:70]), source="en", top=3)
        assert found.known.tolist() == [False, True]
        assert (found.similarities[0] == 0).all()
        assert found.indices[0].tolist() == [0, 1, 2]
        assert not model.project(["zzyzx", "", "123"], "en").any()

    def test_its_rank_is_the_middle(self, model, corpus):
        first = ["zzyzx", *corpus.en[61:66]]
        A, B = model.project(first, "en"), model.project(list(corpus.fr[60:66]), "fr")
        assert scca.retrieval.mate_ranks(A, B)[0][0] == 3.5

    def test_nothing_is_generated_for_it(self, model):
        made = model.generate(["zzyzx qwrt"], source="en")[0]
        assert not made.known
        assert made.words == ()

    def test_its_language_cannot_be_told(self, model):
        with pytest.raises(ValueError, match=r"cannot be detected: equally many of their words \(0\) .* name it"):
            model.detect_language(["zzyzx"])


class TestGenerate:
    def test_is_the_lasso_of_section_5_1_on_the_words_as_the_model_weighs_them(self, model, corpus):
        query = corpus.fr[64]
        made = model.generate([query], source="fr")[0]
        X = prepare(TextVectorizer().fit_transform(corpus.en[:60]).toarray() * model.scca_.x_feature_weights_)
        vectorizer = TextVectorizer()
        Y = vectorizer.fit_transform(corpus.fr[:60]).toarray() * model.scca_.y_feature_weights_
        q = vectorizer.transform([query]).toarray()[0] * model.scca_.y_feature_weights_ - Y.mean(axis=0)
        k = prepare(Y) @ q / np.linalg.norm(q)
        mu = np.abs(2 * X.T @ k).mean()
        assert made.mu == pytest.approx(mu, rel=1e-9)
        w = np.zeros(X.shape[1])
        for word in made.words:
            w[word.index] = word.weight
        doubled = 2 * X.T @ (k - X @ w)
        assert np.abs(doubled).max() <= mu * (1 + 1e-3)
        np.testing.assert_allclose(doubled[w != 0], mu * np.sign(w[w != 0]), rtol=1e-3)
        assert made.language == "en"

    def test_words_of_a_training_document_are_its_mates(self, model, corpus):
        made = model.generate([corpus.fr[5]], source="fr")[0]
        positive = {word.name for word in made.words if word.weight > 0}
        actual = set(TextVectorizer().fit(corpus.en[:60]).transform([corpus.en[5]]).indices)
        selected = {word.index for word in made.words if word.weight > 0}
        assert len(positive) > 5
        assert len(selected & actual) / len(selected) > 0.8

    def test_path(self, model, corpus):
        X = prepare(TextVectorizer().fit_transform(corpus.fr[:60]).toarray() * model.scca_.y_feature_weights_)

        def fitted(words):  # the same for all solutions; words in the same documents can have each other's weight
            return sum(word.weight * X[:, word.index] for word in words)

        mus = [0.02, 0.5, 0.1, 1.0]
        path = model.generate_path(corpus.en[70], mus, source="en")
        assert [item.mu for item in path] == mus
        for item in path:
            alone = model.generate([corpus.en[70]], source="en", mu=item.mu)[0]
            assert max(item.dual_gap, alone.dual_gap) <= 1e-6
            apart = np.linalg.norm(fitted(item.words) - fitted(alone.words))
            assert apart <= 2 * np.sqrt(1e-6) * np.sqrt(len(X))  # a gap g of ||k||^2 leaves fits within sqrt(g) ||k||
        by_mu = sorted(path, key=lambda item: item.mu)
        assert len(by_mu[0].words) > len(by_mu[-1].words)


class TestReading:
    def test_components(self, model, corpus):
        components = model.components()
        assert len(components) == 20
        first = components[0]
        weights = model.scca_.x_weights_[:, 0]
        assert len(first.words) == np.count_nonzero(weights)
        assert abs(first.words[0].weight) == np.abs(weights).max()
        assert first.documents[0].name == corpus.fr[first.documents[0].index]
        assert first.dual_gap <= 1e-6
        mate_words = {word.name for word in first.mate_words}
        assert mate_words <= set(model.vectorizers_[1].words_)

    def test_frames(self, model):
        components, words, documents = model.components_frame(), model.words_frame(), model.documents_frame()
        assert components["n_words"].tolist() == np.count_nonzero(model.scca_.x_weights_, axis=0).tolist()
        assert len(words) == components["n_words"].sum()
        assert len(documents) == components["n_documents"].sum()
        np.testing.assert_allclose(components["correlation"], model.scca_.correlations_)

    def test_words_of_factors_are_ordered_by_a_loading_that_their_frame_has(self):
        corpus = load_trilingual()
        pairs = PairedText.of(corpus.en[:40], corpus.fr[:40], ("en", "fr"))
        words = BilingualModel(2, held_out=0).fit(pairs).words_frame()
        for _, of_component in words.groupby("component"):
            assert of_component["loading"].is_monotonic_decreasing

    def test_without_pandas(self, model, monkeypatch):
        real = builtins.__import__

        def missing(name, *args, **kwargs):
            if name == "pandas":
                raise ImportError("No module named 'pandas'", name="pandas")
            return real(name, *args, **kwargs)

        monkeypatch.setattr(builtins, "__import__", missing)
        with pytest.raises(ImportError, match=r"need pandas: pip install 'scca\[frames\]'"):
            model.words_frame()


class TestBadInput:
    def test_not_pairs(self):
        with pytest.raises(ValueError, match="fit takes a PairedText; got a list"):
            BilingualModel().fit(["a"])

    def test_one_pair(self):
        with pytest.raises(ValueError, match="at least 2 pairs .* got 1"):
            BilingualModel().fit(PairedText.of(["a cat"], ["un chat"]))

    def test_no_words_names_the_language(self):
        with pytest.raises(ValueError, match="fr: the documents contain no word"):
            BilingualModel().fit(PairedText.of(["a cat", "a dog"], ["1", "2"], ("en", "fr")))

    def test_foreign_language(self, model):
        with pytest.raises(ValueError, match="language must be 'en' or 'fr'; got 'de'"):
            model.project(["Hund"], "de")

    def test_too_many_components(self):
        pairs = PairedText.of(["a cat", "a dog", "the sun"], ["un chat", "un chien", "le soleil"])
        with pytest.raises(ValueError, match=r"upper bound is n_samples - 1=2\. Got 7"):
            BilingualModel(7).fit(pairs)


class TestFewWords:
    """A model of 40 words per language reads no other."""

    @pytest.fixture(scope="class", params=[None, "cross-energy"])
    @classmethod
    def few(cls, corpus, request):
        pairs = PairedText.of(list(corpus.en[:120]), list(corpus.fr[:120]), ("en", "fr"))
        return BilingualModel(5, n_words=40, anchors=request.param, held_out=0).fit(pairs)

    @staticmethod
    def words(few, side):
        weights = (few.scca_.x_feature_weights_, few.scca_.y_feature_weights_)[side]
        names = few.vectorizers_[side].words_
        return {str(name) for name in names[weights != 0]}, {str(name) for name in names[weights == 0]}

    def test_a_document_of_other_words_has_no_score(self, few):
        for side, language in enumerate(("en", "fr")):
            read, unread = self.words(few, side)
            assert 20 < len(read) <= 40
            assert len(read) == 40 or few.anchors is None  # of those chosen, factors read the ones with a weight
            scores = few.project([" ".join(sorted(unread)[:30]), sorted(read)[0]], language)
            assert not scores[0].any()
            assert scores[1].any()

    def test_other_words_change_nothing(self, few, corpus):
        unread = " ".join(sorted(self.words(few, 0)[1])[:50])
        documents = list(corpus.en[120:140])
        changed = [f"{document} {unread}" for document in documents]
        np.testing.assert_allclose(few.project(changed, "en"), few.project(documents, "en"), atol=1e-12)

    def test_mates_of_other_words_are_marked(self, few, corpus):
        unread = " ".join(sorted(self.words(few, 0)[1])[:5])
        found = few.mates([unread, corpus.en[0]], list(corpus.fr[:5]), source="en")
        assert found.known.tolist() == [False, True]

    def test_only_read_words_are_generated_and_translated(self, few, corpus):
        read, unread = self.words(few, 1)
        made = few.generate(list(corpus.en[120:140]), source="en")
        assert {word.name for text in made for word in text.words} <= read
        assert any(text.words for text in made)
        for word in sorted(self.words(few, 0)[0])[:10]:
            answer = few.translate(word, source="en")
            assert {item.name for item in answer.words} <= read
        with pytest.raises(ValueError, match=f"is none of the {len(read)} words the model knows; "):
            few.translate(sorted(unread)[0], source="fr")
