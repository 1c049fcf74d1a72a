"""Words of any script, and TF-IDF as it is defined."""

import unicodedata
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone

from scca.text import TextVectorizer, tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rain, rain: go away!", ["Rain", "rain", "go", "away"]),
        ("l'eau n'est qu'à 20 °C", ["eau", "est", "qu"]),
        ("naïve café", ["naïve", "café"]),
        ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),  # vowel signs are marks, not letters
        ("Ёлка и снег", ["Ёлка", "снег"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("snake_case and x2y", ["snake", "case", "and"]),
        ("a b c", []),
        ("", []),
    ],
)
def test_tokens(text, words):
    assert tokenize(text) == words


def test_weights_are_tf_times_log_n_over_df():
    documents = ["red red blue", "blue green", "green sun", "sun sun sun"]
    vectorizer = TextVectorizer()
    X = vectorizer.fit_transform(documents).toarray()
    assert vectorizer.words_.tolist() == ["blue", "green", "red", "sun"]
    np.testing.assert_allclose(X[0], [np.log(2), 0, 2 * np.log(4), 0])
    np.testing.assert_allclose(X[3], [0, 0, 0, 3 * np.log(2)])
    np.testing.assert_allclose(vectorizer.transform(["red unknown"]).toarray(), [[0, 0, np.log(4), 0]])


def test_composed_and_decomposed_spellings_are_one_word():
    texts = ["café noir", unicodedata.normalize("NFD", "café blanc"), "thé"]
    vectorizer = TextVectorizer().fit(texts)
    assert "café" in vectorizer.words_
    assert len(vectorizer.words_) == 4
    assert vectorizer.transform([unicodedata.normalize("NFD", "CAFÉ")]).nnz == 1


def test_a_word_of_every_document_is_left_out():
    assert TextVectorizer().fit(["the cat", "the dog"]).words_.tolist() == ["cat", "dog"]


def test_options():
    documents = ["The old house", "the old dog", "A new house"]
    assert TextVectorizer(lowercase=False).fit(documents).words_.tolist() == [
        "The",
        "dog",
        "house",
        "new",
        "old",
        "the",
    ]
    assert TextVectorizer(min_df=2).fit(documents).words_.tolist() == ["house", "old", "the"]
    assert "old house" in TextVectorizer(ngram_range=(1, 2)).fit(documents).words_
    assert "old" not in TextVectorizer(stop_words=["old"]).fit(documents).words_
    assert "家" in TextVectorizer(analyzer="char").fit(["家中", "中文"]).words_


def test_reads_a_stream_once():
    reads = []

    def stream():
        for text in ("one two", "two three", "three"):
            reads.append(text)
            yield text

    assert TextVectorizer().fit_transform(stream()).shape == (3, 3)
    assert len(reads) == 3


def test_clone_keeps_options():
    assert clone(TextVectorizer(min_df=3)).min_df == 3


def test_bad_input():
    with pytest.raises(ValueError, match="stop_words must be a list of words; got the text 'english'"):
        TextVectorizer(stop_words="english").fit(["cat", "dog"])
    with pytest.raises(ValueError, match="analyzer must be 'word', 'char' or 'char_wb'; got 'chars'"):
        TextVectorizer(analyzer="chars").fit(["cat", "dog"])
    with pytest.raises(ValueError, match="contain no word"):
        TextVectorizer().fit(["123", "!!"])
    with pytest.raises(ValueError, match="of 2 words none is in at least min_df=5 .* lower min_df"):
        TextVectorizer(min_df=5).fit(["cat", "dog"])
    with pytest.raises(ValueError, match="got one text: put it in a list"):
        TextVectorizer().fit("cat dog")
    with pytest.raises(ValueError, match="document 1 is a NoneType"):
        TextVectorizer().fit(["cat", None])
    with pytest.raises(ValueError, match="min_df must be an integer of at least 1; got 0"):
        TextVectorizer(min_df=0).fit(["cat", "dog"])


def test_vectors_are_sparse_whatever_frames_are_asked_for():
    with sklearn.config_context(transform_output="pandas"):
        vectors = TextVectorizer().fit(["one two", "two three"]).transform(["one three"])
    assert sp.issparse(vectors)
    assert vectors.nnz == 2


class TestCountsOfBlocks:
    """Words counted block by block, chosen together and weighed block by block: the vectors of all at once."""

    @pytest.mark.parametrize(
        "settings",
        [
            {},
            {"log_counts": True, "min_df": 2},
            {"stop_words": ["the", "of"]},
            {"analyzer": "char", "ngram_range": (1, 2)},
        ],
    )
    def test_give_the_vectors_of_all_documents(self, settings):
        documents = ["the cat of the house", "a dog", "", "the dog and the cat", "of mice and men", "mice"]
        whole = TextVectorizer(**settings)
        vectors, absent = whole.learn(documents)
        blocks = [documents[:2], documents[2:3], documents[3:]]
        learnt = TextVectorizer(**settings)
        counted = [learnt.count_words(block) for block in blocks]
        frequency = sum((Counter(found.frequencies()) for found in counted), Counter())
        words = sorted(frequency)
        learnt.choose_words(np.array(words, dtype=object), np.array([frequency[w] for w in words]), len(documents))
        assert list(learnt.words_) == list(whole.words_)
        np.testing.assert_array_equal(learnt.idf_, whole.idf_)
        found = sp.vstack([learnt.weigh_counts(c, len(block)) for c, block in zip(counted, blocks, strict=True)])
        np.testing.assert_array_equal(found.toarray(), vectors.toarray())
        assert learnt.absent(set().union(*(c.seen for c in counted))) == absent

    def test_no_word_at_all_is_refused_as_by_learning(self):
        vectorizer = TextVectorizer()
        with pytest.raises(ValueError, match="no word of two letters") as plain:
            vectorizer.learn(["1 2", "3"])
        with pytest.raises(ValueError, match="no word of two letters") as chosen:
            vectorizer.choose_words(np.empty(0, dtype=object), np.empty(0, dtype=int), 2)
        assert str(chosen.value) == str(plain.value)
