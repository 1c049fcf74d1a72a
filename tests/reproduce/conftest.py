import numpy as np
import pytest

from scca.readers import PairedText
from scca.reproduce import Settings, Size, count_corpus


def make_texts(n, seed):
    """Documents of common words, so that no two words stand in exactly the same documents and optima are unique."""
    rng = np.random.default_rng(seed)
    themes = rng.dirichlet(np.full(4, 0.4), n)
    sides = []
    for letter in "ab":
        words = np.array([f"{letter}{chr(97 + i)}{chr(97 + j)}" for i in range(3) for j in range(8)])
        use = rng.dirichlet(np.full(len(words), 0.3), 4)
        sides.append([" ".join(rng.choice(words, 25, p=weights @ use)) for weights in themes])
    return sides


@pytest.fixture(scope="session")
def texts():
    return make_texts(26, 3)


@pytest.fixture(scope="session")
def corpus(texts):
    return count_corpus(PairedText.of(*texts, ("first", "second")), "tiny")


@pytest.fixture(scope="session")
def settings():
    return Settings(
        seed=5,
        splits=3,
        n_penalties=25,
        varied=4,
        regularizations=(0.03, 0.3, 1.0),
        folds=3,
        projections=(2, 5, 50),
        sizes=(Size(9, 11),),
    )
