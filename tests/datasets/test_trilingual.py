"""The built-in corpus is what its data card says."""

import re
from collections import Counter

import numpy as np
import pytest

from scca.datasets import load_trilingual
from scca.text import BilingualModel, PairedText

LANGUAGES = ("en", "fr", "es")
FUNCTION_WORDS = {
    "en": "the of and to in is that it for with as was on are by at from not but an be which her his had they",
    "fr": "le la les de des du et un une est que il elle en dans pour qui ne pas sur ce se au aux avec par plus son",
    "es": "el la los las de del y un una es que en para por con no se su al lo más como pero cuando le sin hasta luego",
}


@pytest.fixture(scope="module")
def corpus():
    return load_trilingual()


def words(text):
    return re.findall(r"[^\W\d_]+", text.lower())


def test_size_subjects_and_order(corpus):
    assert len(corpus) == 300
    assert corpus.ids == tuple(f"{i:03d}" for i in range(1, 301))
    subjects = Counter(corpus.subjects)
    assert len(subjects) >= 30
    assert min(subjects.values()) >= 7


@pytest.mark.parametrize("language", LANGUAGES)
class TestEachLanguage:
    def test_lengths(self, corpus, language):
        lengths = [len(text.split()) for text in corpus.texts(language)]
        assert min(lengths) >= 40
        assert max(lengths) <= 90

    def test_is_that_language(self, corpus, language):
        for text in corpus.texts(language):
            counts = {
                name: sum(word in known.split() for word in words(text)) for name, known in FUNCTION_WORDS.items()
            }
            assert max(counts, key=counts.get) == language, text

    def test_no_run_of_seven_words_occurs_in_two_documents(self, corpus, language):
        seen = {}
        for i, text in enumerate(corpus.texts(language)):
            tokens = words(text)
            for start in range(len(tokens) - 6):
                run = tuple(tokens[start : start + 7])
                assert seen.setdefault(run, i) == i, run

    def test_no_sentence_occurs_twice(self, corpus, language):
        sentences = [s.strip().lower() for t in corpus.texts(language) for s in re.split(r"(?<=[.!?])\s+", t)]
        assert [s for s, count in Counter(sentences).items() if count > 1 and len(s.split()) > 2] == []

    def test_clean_text(self, corpus, language):
        for text in corpus.texts(language):
            assert text == " ".join(text.split())
            assert text[-1] in ".!?"


def test_vocabulary(corpus):
    assert len({word for text in corpus.en for word in words(text)}) >= 2500


def test_names_spelt_alike_are_rare(corpus):
    """Capitalised words inside a sentence that a mate shares: too few to find mates by."""
    inside = re.compile(r"(?<=[^\W\d_][, ] )?(?<=[a-zà-ÿ] )[A-Z][^\W\d_]+")
    for other in ("fr", "es"):
        shared = [
            bool(set(inside.findall(a)) & set(inside.findall(b)))
            for a, b in zip(corpus.en, corpus.texts(other), strict=True)
        ]
        assert np.mean(shared) < 0.05


@pytest.mark.parametrize("other", ["fr", "es"])
def test_pairs_are_in_order(corpus, other):
    """A model of the first 200 pairs finds the mates of the rest: a shifted line would not."""
    en, second = list(corpus.en), list(corpus.texts(other))
    model = BilingualModel(100).fit(PairedText.of(en[:200], second[:200], ("en", other)))
    A, B = model.project(en[200:], "en"), model.project(second[200:], other)
    cosines = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    mates = np.diag(cosines)
    assert np.median((cosines > mates[:, None]).sum(axis=1)) == 0
    assert model.average_precision(en[200:], second[200:]).average_precision > 0.75


def test_unknown_language(corpus):
    with pytest.raises(ValueError, match="language must be one of en, fr, es; got 'de'"):
        corpus.texts("de")
