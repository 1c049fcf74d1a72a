"""Each experiment's numbers against a few lines that know nothing of how they were made."""

import numpy as np
import pytest
from oracles import prepare
from sklearn.linear_model import Lasso
from sklearn.model_selection import KFold

from scca import AnchoredCCA, KernelCCA, SparseCCA
from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.reproduce import Settings, Size, count_corpus
from scca.reproduce._experiments import METHODS
from scca.reproduce._generated_words import VARIATIONS, generate_path, generate_varied, generate_words, left_out
from scca.reproduce._retrieval import random_split, retrieve
from scca.text import TextVectorizer


def tfidf(texts, train, test):
    """Dense vectors from scratch: term frequency times log(n / df), words and frequencies of the training texts."""
    words = sorted({word for i in train for word in texts[i].split()})
    count = np.array([[text.split().count(word) for word in words] for text in texts], dtype=float)
    df = (count[train] > 0).sum(axis=0)
    count = count[:, df < len(train)] * np.log(len(train) / df[df < len(train)])
    return count[train], count[test]


def left_out_problem(texts, document, side):
    """X, k and the mate's number of words, with one pair left out."""
    train = [i for i in range(len(texts[0])) if i != document]
    target, _ = tfidf(texts[side], train, [document])
    source, query = tfidf(texts[1 - side], train, [document])
    q = query[0] - source.mean(axis=0)
    k = prepare(source) @ (q / np.linalg.norm(q))
    return prepare(target), k, len(set(texts[side][document].split()))


def lasso_words(X, k, mu):
    w = Lasso(alpha=mu / (2 * len(k)), fit_intercept=False, tol=1e-13, max_iter=1_000_000).fit(X, k).coef_
    return int(np.sum(np.abs(w) > 1e-7))


def precision(A, B):
    """Mean of 1 / rank from A to B, equals sharing their ranks."""
    cosines = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    ahead = cosines - np.diag(cosines)[:, None]
    return np.mean(1 / ((ahead > 1e-12).sum(axis=1) + (1 + (np.abs(ahead) <= 1e-12).sum(axis=1)) / 2))


def errors(A, B):
    return 1 - precision(A, B), 1 - precision(B, A)


def test_vectors_are_those_of_the_text_vectorizer_on_training_documents(texts, corpus):
    train, test = [4, 0, 9, 17, 21, 3], [1, 2]
    for side in (0, 1):
        vectorizer = TextVectorizer().fit([texts[side][i] for i in train])
        for found, documents in zip(corpus.vectors(side, train, test), (train, test), strict=True):
            expected = vectorizer.transform([texts[side][i] for i in documents])
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-13)


def test_vectors_with_the_whole_corpus_frequencies(texts, corpus):
    everything = list(range(len(corpus)))
    expected, _ = tfidf(texts[0], everything, everything)
    found = corpus.vectors(0, [2, 5, 7], [1], "corpus")[0]
    np.testing.assert_allclose(found.toarray(), expected[[2, 5, 7]], rtol=1e-13)


@pytest.mark.parametrize("side", [0, 1])
def test_figure1_counts_the_words_of_a_lasso_at_every_mu(texts, corpus, settings, side):
    found = generate_path(corpus, settings, side)
    X, k, mate_words = left_out_problem(texts, settings.query, side)
    assert found["mate_words"] == mate_words
    assert found["mu"] == pytest.approx(np.arange(1, 26) / 25)
    assert found["selected"] == [lasso_words(X, k, mu) for mu in found["mu"]]
    assert len(set(found["selected"])) > 3
    assert found["automatic_mu"] == pytest.approx(np.mean(np.abs(2 * X.T @ k)))
    assert found["automatic_selected"] == lasso_words(X, k, found["automatic_mu"])


@pytest.mark.parametrize("side", [0, 1])
def test_table1_counts_the_words_of_every_left_out_pair(texts, corpus, settings, side):
    found = generate_words(corpus, settings, side, left_out(corpus, None))["rows"]
    assert [row["document"] for row in found] == list(range(len(corpus)))
    for row in found:
        X, k, mate_words = left_out_problem(texts, row["document"], side)
        least_squares = np.linalg.lstsq(X, k, rcond=1e-10)[0]
        assert row["mate_words"] == mate_words
        assert row["selected"] == lasso_words(X, k, np.mean(np.abs(2 * X.T @ k)))
        assert row["least_squares"] == np.sum(np.abs(least_squares) > 1e-9 * np.abs(least_squares).max())


def test_least_squares_uses_every_word_when_words_outnumber_documents(texts):
    few = count_corpus(PairedText.of(texts[0][:9], texts[1][:9]), "few")
    for row in generate_words(few, Settings(), 0, [0, 4])["rows"]:
        train = [text for i, text in enumerate(texts[0][:9]) if i != row["document"]]
        assert row["least_squares"] == len(TextVectorizer().fit(train).words_)


def test_variations_change_one_thing(texts, corpus, settings):
    found = {v.name: generate_varied(corpus, settings, 0, v) for v in VARIATIONS}
    documents = left_out(corpus, settings.varied)
    X, k, _ = left_out_problem(texts, documents[0], 0)
    automatic = np.mean(np.abs(2 * X.T @ k))
    assert found["as-is"]["rows"][0]["selected"] == lasso_words(X, k, automatic)
    assert found["mu-3"]["rows"][0]["selected"] == lasso_words(X, k, 3 * automatic)
    assert found["training-half"]["n_training"] == round((len(corpus) - 1) / 2)
    assert found["joined-2"]["n_training"] == len(corpus) // 2 - 1
    joined = [[" ".join(side[i : i + 2]) for i in range(0, len(side), 2)] for side in texts]
    X, k, mate_words = left_out_problem(joined, 0, 0)
    row = found["joined-2"]["rows"][0]
    assert row["mate_words"] == mate_words
    assert row["selected"] == lasso_words(X, k, np.mean(np.abs(2 * X.T @ k)))
    length = {name: np.mean([row["mate_words"] for row in result["rows"]]) for name, result in found.items()}
    assert length["length-quarter"] < length["length-half"] < length["as-is"] == length["words-2"] < length["joined-2"]


def test_thinning_keeps_its_share(corpus):
    thinned = corpus.thinned(0.5, seed=1)
    for counts, before in zip(thinned.counts, corpus.counts, strict=True):
        assert (before - counts).min() >= 0
        assert counts.sum() == pytest.approx(0.5 * before.sum(), rel=0.15)


def test_retrieval_is_that_of_models_with_as_many_components(texts, corpus, settings):
    size = Size(9, 11)
    found = retrieve(corpus, settings, size, 1)
    train, test = random_split(len(corpus), size, settings.seed, 1)
    assert len({*train, *test}) == 20
    (X, X_new), (Y, Y_new) = (tfidf(side, train, test) for side in texts)
    assert found["methods"].keys() == METHODS.keys()
    for j in (1, 2, 5, 8):
        model = AnchoredCCA(j).fit(X, Y)
        ours = [found["methods"]["scca"][way][j - 1] for way in ("a_to_b", "b_to_a")]
        np.testing.assert_allclose(ours, errors(*model.transform_pair(X_new, Y_new)), atol=1e-12)
        assert found["words"]["scca"][j - 1] == np.count_nonzero(model.x_weights_.any(axis=1))
        assert found["documents"]["scca"][j - 1] == np.count_nonzero(model.y_weights_.any(axis=1))
        for method, r in (("kcca", 0.03), ("kcca-tuned", found["regularization"][j - 1])):
            scores = KernelCCA(j, regularization=r, scale="rows").fit(X, Y).transform_pair(X_new, Y_new)
            theirs = [found["methods"][method][way][j - 1] for way in ("a_to_b", "b_to_a")]
            np.testing.assert_allclose(theirs, errors(*scores), atol=1e-12)
    assert found["vocabulary"] == [X.shape[1], Y.shape[1]]
    similar = []
    for learnt, new in ((X, X_new), (Y, Y_new)):
        centred = new - learnt.mean(axis=0)
        similar.append(centred / np.linalg.norm(centred, axis=1)[:, None] @ prepare(learnt).T)
    unlearnt = [found["no-learning"][way][0] for way in ("a_to_b", "b_to_a")]
    np.testing.assert_allclose(unlearnt, errors(*similar), atol=1e-12)


def test_shared_factors_learn_from_the_same_vectors_for_each_number_of_projections(texts, corpus, settings):
    size = Size(9, 11)
    found = retrieve(corpus, settings, size, 1)
    shared, words = found["methods"]["shared"], found["words"]["shared"]
    assert shared["projections"] == [2, 5, 8]  # those of the settings that 9 documents allow, and the most
    train, test = random_split(len(corpus), size, settings.seed, 1)
    (X, X_new), (Y, Y_new) = (tfidf(side, train, test) for side in texts)
    for j, *curves, n_words in zip(shared["projections"], shared["a_to_b"], shared["b_to_a"], words, strict=True):
        model = SparseCCA(j, scale="rows", held_out=0).fit(X, Y)
        np.testing.assert_allclose(curves, errors(*model.transform_pair(X_new, Y_new)), atol=1e-12)
        assert n_words == np.count_nonzero(model.x_weights_.any(axis=1))
    assert found["documents"].keys() == {"scca"}  # both views are read by words


def test_shared_factors_are_what_the_package_does_by_default():
    trilingual = load_trilingual()
    built_in = count_corpus(PairedText.of(trilingual.en, trilingual.fr, ("en", "fr")), "built-in")
    settings, size = Settings(projections=(3,), regularizations=(0.03,), folds=2), Size(30, 20)
    found = retrieve(built_in, settings, size, 0)
    train, test = random_split(len(built_in), size, settings.seed, 0)
    (X, X_new), (Y, Y_new) = (built_in.vectors(side, train, test) for side in (0, 1))
    shared = found["methods"]["shared"]
    assert shared["projections"] == [3, 29]
    for i, j in enumerate(shared["projections"]):
        model = SparseCCA(j, held_out=0).fit(X, Y)
        x_scores, y_scores = model.transform_pair(X_new, Y_new)
        np.testing.assert_allclose([shared["a_to_b"][i], shared["b_to_a"][i]], errors(x_scores, y_scores), atol=1e-12)
        # words without a weight are not read: without them the scores are the same
        read = model.x_weights_.any(axis=1)
        assert found["words"]["shared"][i] == np.count_nonzero(read)
        np.testing.assert_array_equal(model.transform(X_new.multiply(read).tocsr()), x_scores)


def test_regularization_is_chosen_on_held_out_training_pairs_alone(texts, corpus, settings):
    size = Size(9, 11)
    train, _ = random_split(len(corpus), size, settings.seed, 0)
    chosen = retrieve(corpus, settings, size, 0)["regularization"]
    folds = list(KFold(3, shuffle=True, random_state=settings.seed).split(train))
    for j in (1, 3, 5):
        totals = []
        for r in settings.regularizations:
            total = 0.0
            for learnt, held_out in folds:
                (X, X_new), (Y, Y_new) = (tfidf(side, train[learnt], train[held_out]) for side in texts)
                model = KernelCCA(j, regularization=r, scale="rows").fit(X, Y)
                total += sum(errors(*model.transform_pair(X_new, Y_new)))
            totals.append(total)
        assert totals[settings.regularizations.index(chosen[j - 1])] == pytest.approx(min(totals), abs=1e-12)


def test_nothing_of_test_documents_reaches_training(texts, settings):
    """Other test documents change errors, and nothing that was learnt or chosen."""
    size = Size(9, 11)
    _, test = random_split(26, size, settings.seed, 0)
    changed = [list(side) for side in texts]
    for side, letter in zip(changed, "ab", strict=True):
        for i in test:
            side[i] = f"{letter}zz {letter}aa unheard of"
    before, after = (
        retrieve(count_corpus(PairedText.of(*sides), "any"), settings, size, 0) for sides in (texts, changed)
    )
    for name in ("words", "documents", "vocabulary", "regularization"):
        assert before[name] == after[name]
    assert before["methods"] != after["methods"]


def test_documents_without_a_known_word_tie_with_everything(texts, settings):
    size = Size(9, 11)
    _, test = random_split(26, size, settings.seed, 0)
    changed = [list(side) for side in texts]
    for side in changed:
        for i in test:
            side[i] = f"unheard{i * 'x'} of"
    found = retrieve(count_corpus(PairedText.of(*changed), "any"), settings, size, 0)
    middle = 1 - 1 / ((11 + 1) / 2)
    for curve in (*found["methods"].values(), found["no-learning"]):
        assert curve["a_to_b"] == pytest.approx([middle] * len(curve["a_to_b"]))
