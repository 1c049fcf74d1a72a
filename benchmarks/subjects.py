"""Whether components are subjects, on the built-in corpus of 15 subjects."""

import numpy as np

from scca.datasets import load_trilingual
from scca.text import TextVectorizer

from ._components import WORDS, Components, components_by
from ._table import print_table

__all__ = ["run"]

_TRAIN = 200
_COMPONENTS = 15
_SPLITS = 3
_LANGUAGES = ("en", "fr")
_MOST = 6  # of the words of a component: then it is of a subject


def run() -> None:
    """Print how many components have 6 of their first 8 words of one subject in both languages.

    A word is of a subject if at least half of the documents that have it are.
    """
    corpus = load_trilingual()
    texts = [list(corpus.texts(language)) for language in _LANGUAGES]
    subject_of = [_subjects(side, np.array(corpus.subjects)) for side in texts]
    found: dict[str, list[tuple[int, int]]] = {}
    for seed in range(_SPLITS):
        rows = np.random.default_rng(seed).permutation(len(corpus))[:_TRAIN]
        learnt = [[side[i] for i in rows] for side in texts]
        for method, components in components_by(learnt, _COMPONENTS):
            found.setdefault(method, []).append(_of_one_subject(components, subject_of))
    title = (
        f"components of {_COMPONENTS} with {_MOST} of {WORDS} words of one subject in both languages, and how many of "
        f"the {len(set(corpus.subjects))} subjects these are; {_TRAIN} pairs, {_SPLITS} splits"
    )
    rows = [
        [method, *(" ".join(str(split[i]) for split in splits) for i in (0, 1))] for method, splits in found.items()
    ]
    print_table(title, ["method", "components", "subjects"], rows)


def _subjects(texts: list[str], subjects: np.ndarray) -> dict[str, str]:
    """The subject of each word that has one."""
    vectorizer = TextVectorizer(min_df=2).fit(texts)
    present = vectorizer.transform(texts) != 0
    names = np.unique(subjects)
    counts = np.array([present[np.flatnonzero(subjects == name)].sum(axis=0) for name in names])
    shares = counts / counts.sum(axis=0)
    return {
        str(word): str(names[i])
        for word, i, share in zip(vectorizer.words_, shares.argmax(axis=0), shares.max(axis=0), strict=True)
        if share >= 0.5
    }


def _of_one_subject(components: Components, subject_of: list[dict[str, str]]) -> tuple[int, int]:
    """How many components are of a subject, and of how many different ones."""
    found = []
    for sides in components:
        subjects = ([known.get(word) for word in words] for words, known in zip(sides, subject_of, strict=True))
        enough = [{name for name in side if name and side.count(name) >= _MOST} for side in subjects]
        found += enough[0] & enough[1]
    return len(found), len(set(found))
