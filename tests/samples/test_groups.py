"""Samples that belong together: parts, orders and sums that keep them together."""

from math import exp, factorial

import numpy as np
import pytest

from scca.samples import Groups, consecutive_folds, random_folds


def rng():
    return np.random.default_rng(0)


LABELS = np.array([3, 3, 1, 1, 1, 0, 0, 0, 2, 2, 4, 5])
GROUPS = Groups.of(LABELS, len(LABELS))


def test_labels_are_counted_from_zero():
    assert GROUPS.n_groups == 6
    assert (GROUPS.labels == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5]).all()


def test_samples_of_groups():
    assert GROUPS.samples(np.array([0, 3])).tolist() == [0, 1, 8, 9]
    assert Groups.of(None, 5).samples(np.array([4, 2])).tolist() == [2, 4]


@pytest.mark.parametrize("groups", [GROUPS, Groups.of(None, 12)])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_parts_are_all_samples_with_whole_groups_and_about_equal(groups, count):
    parts = groups.parts(count, rng())
    assert len(parts) == count
    assert sorted(np.concatenate(parts)) == list(range(12))
    if groups.labels is not None:
        owners = [set(groups.labels[part]) for part in parts]
        assert sum(map(len, owners)) == 6
    largest = 3 if groups.labels is not None else 1  # parts differ by no more than a group
    assert max(map(len, parts)) - min(map(len, parts)) <= largest


def test_no_more_parts_than_groups():
    assert len(GROUPS.parts(20, rng())) == 6


def test_orders_move_whole_groups_of_the_same_size():
    seen = set()
    for order in GROUPS.orders(300, rng()):
        assert sorted(order) == list(range(12))
        labels = GROUPS.labels[order]
        sizes = np.bincount(GROUPS.labels)
        for group in range(6):
            there = set(labels[GROUPS.labels == group])
            assert len(there) == 1  # one group takes the place of one
            assert sizes[there.pop()] == sizes[group]
        seen.add(tuple(order))
    assert len(seen) == 8  # 2! of size 3, 2! of size 2, 2! of size 1
    assert exp(GROUPS.log_orders) == pytest.approx(8)


def test_single_samples_have_all_orders():
    assert exp(Groups.of(None, 6).log_orders) == pytest.approx(factorial(6))
    (order,) = Groups.of(None, 50).orders(1, rng())
    assert sorted(order) == list(range(50))


def test_sums():
    values = rng().standard_normal((12, 2, 3))
    expected = [values[GROUPS.labels == group].sum(axis=0) for group in range(6)]
    np.testing.assert_allclose(GROUPS.sums(values), expected)
    assert Groups.of(None, 12).sums(values) is values


def test_chosen_samples():
    few = GROUPS.chosen(np.array([1, 2, 4, 11]))
    assert (few.labels == [0, 1, 1, 2]).all()
    assert GROUPS.chosen(np.array([0, 2, 5])).labels is None  # one of each
    assert Groups.of(None, 12).chosen(range(7)).n == 7


@pytest.mark.parametrize(
    "folds",
    [
        lambda cv: consecutive_folds(cv, 12, groups=GROUPS, least=1),
        lambda cv: random_folds(cv, 12, np.random.RandomState(0), groups=GROUPS),
    ],
)
def test_folds_leave_whole_groups_out(folds):
    splits = folds(3)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(12))
    for train, test in splits:
        assert not set(LABELS[train]) & set(LABELS[test])
    with pytest.raises(ValueError, match="cv must be at most the number of groups, 6; got 7"):
        folds(7)


def test_a_splitter_is_given_the_groups():
    from sklearn.model_selection import LeaveOneGroupOut

    assert len(consecutive_folds(LeaveOneGroupOut(), 12, groups=GROUPS, least=1)) == 6
