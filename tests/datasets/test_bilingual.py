import numpy as np
import pytest

from scca.datasets import make_bilingual


def test_perfect_fidelity_is_the_dictionary():
    made = make_bilingual(50, vocabulary=200, fidelity=1.0, random_state=0)
    np.testing.assert_array_equal(made.Y.toarray()[:, made.dictionary], made.X.toarray())


def test_fidelity_is_the_share_of_tokens_translated():
    made = make_bilingual(2000, vocabulary=5000, fidelity=0.7, focus=0.0, exponent=0.0, random_state=0)
    shared = np.minimum(made.X.toarray(), made.Y.toarray()[:, made.dictionary]).sum() / made.X.sum()
    # with 5,000 equally likely words, 50 a document, chance adds at most one in a hundred of the rest
    assert shared == pytest.approx(0.7, abs=0.01)


def test_zipf():
    made = make_bilingual(3000, vocabulary=1000, n_topics=2, focus=0.0, exponent=1.0, random_state=0)
    frequency = np.asarray(made.X.sum(axis=0)).ravel()
    expected = 1 / np.arange(1, 1001)
    # 2,000 tokens or more each: 0.08 is three and a half standard errors
    np.testing.assert_allclose(frequency[:10] / frequency.sum(), (expected / expected.sum())[:10], rtol=0.08)


def test_topics_share_words():
    made = make_bilingual(200, n_topics=4, focus=0.9, random_state=0)
    unit = made.X.toarray() / np.linalg.norm(made.X.toarray(), axis=1, keepdims=True)
    cosines = unit @ unit.T
    same = made.topics[:, None] == made.topics
    assert cosines[same].mean() > 3 * cosines[~same].mean()


def test_lengths_names_and_texts():
    made = make_bilingual(30, vocabulary=3000, length=10, random_state=1)
    assert len(set(made.x_words)) == len(set(made.y_words)) == 3000
    assert not set(made.x_words) & set(made.y_words)
    left, right = next(made.texts())
    assert len(left.split()) == len(right.split()) == made.X[[0]].sum()
    assert set(left.split()) == set(made.x_words[made.X[[0]].indices])
    again = make_bilingual(30, vocabulary=3000, length=10, random_state=1)
    assert (again.X != made.X).nnz == 0


def test_bad_input():
    with pytest.raises(ValueError, match="fidelity must be a number from 0 to 1; got 1.5"):
        make_bilingual(fidelity=1.5)
    with pytest.raises(ValueError, match="vocabulary must be an integer of at least 40; got 10"):
        make_bilingual(vocabulary=10)
