"""The built-in corpus is what its data card says."""

import re
from collections import Counter

import numpy as np
import pytest

from scca.datasets import load_trilingual
from scca.readers import PairedText
from scca.text import BilingualModel

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
    assert len(subjects) == 15
    assert set(subjects.values()) == {20}


@pytest.mark.parametrize("language", LANGUAGES)
class TestEachLanguage:
    def test_lengths(self, corpus, language):
        lengths = [len(text.split()) for text in corpus.texts(language)]
        assert min(lengths) >= 60
        assert max(lengths) <= 100

    def test_is_that_language(self, corpus, language):
        for text in corpus.texts(language):
            counts = {
                name: sum(word in known.split() for word in words(text)) for name, known in FUNCTION_WORDS.items()
            }
            assert max(counts, key=counts.get) == language, text

    def test_no_run_of_five_words_occurs_twice(self, corpus, language):
        runs = Counter()
        for text in corpus.texts(language):
            tokens = words(text)
            runs.update(tuple(tokens[start : start + 5]) for start in range(len(tokens) - 4))
        assert [run for run, count in runs.items() if count > 1] == []

    def test_no_sentence_occurs_twice(self, corpus, language):
        sentences = [s.strip().lower() for t in corpus.texts(language) for s in re.split(r"(?<=[.!?])\s+", t)]
        assert [s for s, count in Counter(sentences).items() if count > 1 and len(s.split()) > 2] == []

    def test_clean_text(self, corpus, language):
        for text in corpus.texts(language):
            assert text == " ".join(text.split())
            assert text.rstrip('"')[-1] in ".!?"


def test_vocabulary(corpus):
    assert len({word for text in corpus.en for word in words(text)}) >= 2500


def test_names_are_no_clue(corpus):
    """A capitalised word inside a sentence that mates share, such as an invented name, stands in few documents."""
    inside = re.compile(r"(?<=[a-zà-ÿ] )[A-Z][^\W\d_]+")
    for other in ("fr", "es"):
        shared = Counter(
            name
            for a, b in zip(corpus.en, corpus.texts(other), strict=True)
            for name in set(inside.findall(a)) & set(inside.findall(b))
        )
        assert max(shared.values()) <= 5


@pytest.mark.parametrize("other", ["fr", "es"])
def test_pairs_are_in_order(corpus, other):
    """A model of the first 200 pairs finds the mates of the rest: a shifted line would not."""
    en, second = list(corpus.en), list(corpus.texts(other))
    model = BilingualModel(100, held_out=0).fit(PairedText.of(en[:200], second[:200], ("en", other)))
    A, B = model.project(en[200:], "en"), model.project(second[200:], other)
    cosines = (A / np.linalg.norm(A, axis=1)[:, None]) @ (B / np.linalg.norm(B, axis=1)[:, None]).T
    mates = np.diag(cosines)
    assert np.median((cosines > mates[:, None]).sum(axis=1)) == 0
    assert model.average_precision(en[200:], second[200:]).average_precision > 0.75


def test_unknown_language(corpus):
    with pytest.raises(ValueError, match="language must be one of en, fr, es; got 'de'"):
        corpus.texts("de")


def test_components_are_subjects(corpus):
    """Documents of one subject, in nearly every component of 15."""
    model = BilingualModel(15, held_out=0).fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))
    pure = 0
    for component in model.components():
        subjects = Counter(corpus.subjects[document.index] for document in component.documents[:8])
        pure += subjects.most_common(1)[0][1] >= 6
    assert pure >= 13
