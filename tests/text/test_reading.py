import numpy as np
import pytest

from scca.text._reading import presence, presence_loadings, strongest_documents, words_in_order
from scca.views import Preparation


@pytest.fixture
def documents():
    return np.random.default_rng(0).standard_normal((12, 5))


def test_only_what_both_languages_find_present_adds_up():
    first, second = np.array([[1.0], [-5.0], [2.0]]), np.array([[0.5], [-1.0], [-3.0]])
    assert presence([first, second]).tolist() == [[1.5], [0.0], [2.0]]


def test_how_far_a_document_lacks_a_factor_changes_nothing(documents):
    scores = documents[:, :2]
    lacking = np.where(scores < 0, 10 * scores, scores)
    assert np.array_equal(presence([scores]), presence([lacking]))


def test_loadings_of_centred_words_are_correlations_with_presence(documents):
    view = Preparation.fit(documents, normalize=False).transform(documents)
    present = presence([documents[:, :2]])
    expected = np.corrcoef(documents.T, present.T)[:5, 5:]
    assert np.allclose(presence_loadings(view, present), expected)


def test_words_that_nobody_has_and_factors_that_nobody_has_load_nothing(documents):
    documents[:, 3] = 1.0
    view = Preparation.fit(documents, normalize=False).transform(documents)
    present = np.column_stack([presence([documents[:, :1]])[:, 0], np.zeros(12)])
    loadings = presence_loadings(view, present)
    assert np.isfinite(loadings).all()
    assert not loadings[3].any()
    assert not loadings[:, 1].any()


def test_words_with_a_weight_come_by_loading_and_equal_ones_as_they_stand():
    weights = np.array([1.0, 0.0, -1.0, 2.0, 1.0])
    loadings = np.array([0.2, 0.9, -0.5, 0.7, 0.2])
    assert words_in_order(weights, loadings).tolist() == [3, 0, 4, 2]


def test_documents_without_the_factor_are_not_shown():
    assert strongest_documents(np.array([0.0, 2.0, 1.0, 3.0]), 10).tolist() == [3, 1, 2]
    assert strongest_documents(np.array([0.0, 2.0, 1.0, 3.0]), 2).tolist() == [3, 1]
