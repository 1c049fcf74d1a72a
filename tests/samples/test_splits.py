"""What `cv` may be, for both who read it."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from scca.samples import consecutive_folds, random_folds

N = 12
FOLDS = list(KFold(3).split(np.zeros(N)))


def same(found, expected):
    assert len(found) == len(expected)
    for mine, other in zip(found, expected, strict=True):
        for part, wanted in zip(mine, other, strict=True):
            np.testing.assert_array_equal(part, wanted)


def masks():
    return [(np.isin(np.arange(N), train), np.isin(np.arange(N), test)) for train, test in FOLDS]


@pytest.mark.parametrize(
    "cv",
    [KFold(3), FOLDS, iter(FOLDS), [(train.tolist(), test.tolist()) for train, test in FOLDS], masks()],
)
@pytest.mark.parametrize("read", [consecutive_folds, lambda cv, n: random_folds(cv, n, None)])
def test_splitters_and_splits(cv, read):
    same(read(list(FOLDS) if hasattr(cv, "__next__") else cv, N), FOLDS)


def test_an_iterator_is_read_once():
    same(consecutive_folds(iter(FOLDS), N), FOLDS)
    same(random_folds(iter(FOLDS), N, None), FOLDS)


def test_a_number_is_of_consecutive_or_of_random_folds():
    same(consecutive_folds(3, N), FOLDS)
    found = random_folds(3, N, np.random.RandomState(0))
    same(found, list(KFold(3, shuffle=True, random_state=np.random.RandomState(0)).split(np.zeros(N))))
    assert sorted(np.concatenate([test for _, test in found])) == list(range(N))
    with pytest.raises(AssertionError):
        same(found, FOLDS)


def test_none_is_everything():
    same(random_folds(None, N, None), [(np.arange(N), np.arange(N))])


@pytest.mark.parametrize("cv", [0, 1, 13, -2, True])
def test_numbers_of_random_folds_that_cannot_be(cv):
    with pytest.raises(ValueError, match=rf"^cv must be from 2 to n_samples=12 folds; got {cv}: None uses no folds"):
        random_folds(cv, N, None)


@pytest.mark.parametrize("cv", [1, 13, "five", [([0, 1], [2, 99])], 2.5])
def test_what_cannot_split_is_refused_in_one_sentence(cv):
    with pytest.raises(ValueError, match=r"cannot split n_samples=12 pairs \(.*\); pass 2 to 12 folds") as caught:
        consecutive_folds(cv, N)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cv", [12, [], ShuffleSplit(2, test_size=1)])
def test_folds_too_small_to_tell_mates(cv):
    with pytest.raises(ValueError, match="must hold out at least 2 pairs; .* n_samples=12: lower cv"):
        consecutive_folds(cv, N)
