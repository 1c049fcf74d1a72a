"""Words expected of a mate, against ridge regression in dense NumPy; and what a model of shared factors lists."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import prepare

import scca
from scca.datasets import load_trilingual, make_bilingual
from scca.readers import PairedText
from scca.text import BilingualModel, ExpectedWords
from scca.views import Preparation

RIDGE = 2.0


def documents(shape, seed):
    return sp.random_array(shape, density=0.3, random_state=np.random.default_rng(seed), format="csr")


def unit(matrix):
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(norms > 0, norms, 1.0)


def slopes_one_by_one(Z, deviations):
    """Every document left out in turn and expected from the others."""
    expected = np.empty_like(deviations)
    for i in range(len(Z)):
        others = np.delete(Z, i, axis=0)
        normal = others.T @ others + RIDGE * np.eye(Z.shape[1])
        expected[i] = Z[i] @ np.linalg.solve(normal, others.T @ np.delete(deviations, i, axis=0))
    return np.clip(np.sum(expected * deviations, axis=0) / np.sum(expected**2, axis=0), 0, 1)


@pytest.mark.parametrize("shape", [(30, 12), (15, 40)])
def test_is_ridge_regression_with_slopes_of_documents_left_out(shape):
    n, m = shape
    X, Y, queries = documents((n, m), 0), documents((n, 20), 1), documents((5, m), 2)
    weights = np.random.default_rng(3).random(m) * (np.arange(m) % 4 > 0)
    made = ExpectedWords(X, Y, preparation=Preparation.fit(X).weighted(weights, X))
    Z = prepare(X.toarray() * weights)
    asked = unit(queries.toarray() * weights - (X.toarray() * weights).mean(axis=0))
    mates = unit(Y.toarray())
    mean = mates.mean(axis=0)
    slopes = slopes_one_by_one(Z, mates - mean)
    B = np.linalg.solve(Z.T @ Z + RIDGE * np.eye(m), Z.T @ (mates - mean))
    np.testing.assert_allclose(made.slopes, slopes, atol=1e-10)
    assert np.count_nonzero(slopes) > 0
    np.testing.assert_allclose(np.array([*made.weights(queries)]), mean + slopes * (asked @ B), atol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    X, Y, queries = documents((40, 15), 0), documents((40, 20), 1), documents((7, 15), 2)

    def weights():
        return np.array([*ExpectedWords(X, Y, preparation=Preparation.fit(X)).weights(queries)])

    whole = weights()
    monkeypatch.setattr("scca.text._expected_words._BLOCK_ENTRIES", 120)
    np.testing.assert_allclose(weights(), whole, atol=1e-13)


def test_unrelated_words_stay_at_their_mean_and_copied_ones_follow_the_query():
    """Half of the other language copies the first, the other half is noise."""
    X, noise = documents((300, 10), 0), documents((300, 10), 1)
    made = ExpectedWords(X, sp.csr_array(sp.hstack([X, noise])), preparation=Preparation.fit(X))
    assert made.slopes[:10].min() > 0.9
    assert made.slopes[10:].mean() < 0.5


def test_lengths_of_documents_do_not_matter():
    """Mates are scaled to unit norm."""
    X, Y, queries = documents((30, 12), 0), documents((30, 20), 1), documents((5, 12), 2)
    preparation = Preparation.fit(X)
    longer = Y.multiply(np.linspace(1, 9, 30)[:, None]).tocsr()
    first, second = (
        np.array([*ExpectedWords(X, target, preparation=preparation).weights(queries)]) for target in (Y, longer)
    )
    np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.fixture(scope="module")
def corpus():
    return load_trilingual()


@pytest.fixture(scope="module")
def model(corpus):
    pairs = PairedText.of(corpus.en[:150], corpus.fr[:150], ("en", "fr"))
    return BilingualModel(20, held_out=0, n_words=None).fit(pairs)


@pytest.mark.parametrize("side", [0, 1])
def test_a_model_lists_the_largest_expected_weights(model, corpus, side):
    queries = list((corpus.en, corpus.fr)[side][150:155])
    source = model.languages_[side]
    made = model.generate(queries, source=source, top=7)
    preparation = (model.scca_.x_preparation_, model.scca_.y_preparation_)[side]
    expected = ExpectedWords(model.training_[side], model.training_[1 - side], preparation=preparation)
    for text, weights in zip(made, expected.weights(model.vectorize(queries, source)), strict=True):
        order = np.argsort(-weights, kind="stable")[:7]
        assert [word.index for word in text.words] == order.tolist()
        assert [word.name for word in text.words] == model.vectorizers_[1 - side].words_[order].tolist()
        np.testing.assert_allclose([word.weight for word in text.words], weights[order])
        assert (text.language, text.mu, text.dual_gap, text.known) == (model.languages_[1 - side], None, None, True)


def test_lists_more_of_the_mate_than_the_most_similar_documents_have(model, corpus):
    """Beside the sum of the training documents' mates by their similarity; all words and those of few documents.

    With all words, since a model that reads half of them expects fewer of the frequent ones.
    """
    queries, mates = list(corpus.en[150:250]), list(corpus.fr[150:250])
    asked = unit(model.vectorize(queries, "en").toarray())
    similar = asked @ unit(model.training_[0].toarray()).T
    summed = similar**2 @ unit(model.training_[1].toarray())
    expected = np.zeros_like(summed)
    for row, text in zip(expected, model.generate(queries, source="en", top=expected.shape[1]), strict=True):
        row[[word.index for word in text.words]] = [word.weight for word in text.words]
    actual = model.vectorize(mates, "fr").toarray() > 0
    rare = (model.training_[1] != 0).mean(axis=0) <= 0.25
    for words, more in ((np.ones_like(rare), 0.02), (rare, 0.06)):
        first = (np.argsort(-np.where(words, weights, -1), axis=1)[:, :12] for weights in (expected, summed))
        shares = [np.take_along_axis(actual, order, axis=1).mean() for order in first]
        assert shares[0] > shares[1] + more


def test_words_of_a_known_dictionary_are_found():
    made = make_bilingual(400, vocabulary=150, n_topics=8, fidelity=0.95, random_state=0)
    texts = [list(side) for side in zip(*made.texts(), strict=True)]
    model = BilingualModel(20, held_out=0, n_words=None).fit(PairedText.of(*texts, ("x", "y")))
    meant = dict(zip(made.x_words, made.y_words[made.dictionary], strict=True))
    for word in made.x_words[np.argsort(-made.X.sum(axis=0))[20:40]]:
        assert meant[word] in {item.name for item in model.generate([word], source="x")[0].words}


def test_words_that_the_model_does_not_read_change_nothing(model, corpus):
    unread = model.vectorizers_[0].words_[model.scca_.x_feature_weights_ == 0][:40]
    query = corpus.en[160]
    plain, changed = (model.generate([text], source="en")[0] for text in (query, f"{query} {' '.join(unread)} zzyzx"))
    assert [word.index for word in plain.words] == [word.index for word in changed.words]
    np.testing.assert_allclose([w.weight for w in plain.words], [w.weight for w in changed.words], atol=1e-12)
    nothing = model.generate([" ".join(unread), "zzyzx", ""], source="en")
    assert [(text.known, text.words) for text in nothing] == [(False, ())] * 3


def test_twelve_words_unless_told_otherwise(model, corpus):
    assert len(model.generate([corpus.en[160]])[0].words) == 12
    assert model.generate([], source="en") == []
    everything = model.generate([corpus.en[160]], top=10**6)[0].words
    assert all(word.weight > 0 for word in everything)
    assert everything[:12] == model.generate([corpus.en[160]])[0].words


def test_a_new_fit_is_used(corpus):
    model = BilingualModel(3, held_out=0)
    texts = []
    for rows in (slice(0, 60), slice(60, 120)):
        model.fit(PairedText.of(corpus.en[rows], corpus.fr[rows], ("en", "fr")))
        texts.append(model.generate([corpus.en[130]], source="en"))
    again = BilingualModel(3, held_out=0).fit(PairedText.of(corpus.en[60:120], corpus.fr[60:120], ("en", "fr")))
    assert texts[0] != texts[1] == again.generate([corpus.en[130]], source="en")


def test_what_was_prepared_is_no_part_of_a_file(model, corpus, tmp_path):
    before, after = tmp_path / "before.scca", tmp_path / "after.scca"
    fresh = BilingualModel(3, held_out=0).fit(PairedText.of(corpus.en[:40], corpus.fr[:40], ("en", "fr")))
    scca.save(fresh, before)
    fresh.generate([corpus.en[50]], source="en")
    scca.save(fresh, after)
    assert before.stat().st_size == after.stat().st_size


def test_a_penalty_is_refused(model, corpus):
    for mu in (0.1, "auto*2"):
        with pytest.raises(ValueError, match=r"mu is for models with anchors; got mu=.*: set top"):
            model.generate([corpus.en[160]], mu=mu)
    with pytest.raises(ValueError, match="generate_path is for models with anchors"):
        model.generate_path(corpus.en[160], [0.1])
    with pytest.raises(ValueError, match="top must be"):
        model.generate([corpus.en[160]], top=0)


def test_anchored_models_list_the_strongest_that_the_lasso_selects(corpus):
    anchored = BilingualModel(5, anchors="cross-energy").fit(PairedText.of(corpus.en[:40], corpus.fr[:40]))
    every, few = (anchored.generate([corpus.en[50]], source="first", top=top)[0] for top in (None, 3))
    assert len(every.words) > 3
    assert few.words == every.words[:3]
    assert few.mu == every.mu > 0
