"""Sums over samples and values per sample are the same in memory and in blocks; left-out samples count nothing."""

import pickle
from collections import Counter

import numpy as np
import pytest
from blocks import LocalBlocks

from scca.samples import AllBut, Block, added, each, remote_blocks_of, summed
from scca.views import BlockRows

SIZES = [[12], [5, 7], [1] * 12, [1, 10, 1]]
LEFT_OUT = [[], [0], [3, 4, 11], [0, 1, 2, 3, 4]]


@pytest.fixture
def numbers(rng):
    return rng.standard_normal((12, 3))


def blocks_of(data, sizes):
    ends = np.cumsum(sizes)
    parts = zip([0, *ends[:-1]], ends, strict=True)
    return LocalBlocks([Block(int(first), {"X": data[first:last]}) for first, last in parts])


def rows_in(where, data):
    return BlockRows(where, "X", data.shape[1], data.dtype, is_sparse=False, n_stored=data.size)


def column_sums(items, factor):
    return [factor * items[0].sum(axis=0), len(items[0])]


def counted_sums(items):
    data, counted = items
    return (data if counted is None else data * counted[:, None]).sum(axis=0)


def first_column(items):
    return items[0][:, 0]


def inverse(items):
    return 1.0 / items[0]


def scaled(items, factor):
    return factor * items[0]


def same(items):
    return items[0]


def total(items):
    return items[0].sum()


class TestSums:
    @pytest.mark.parametrize("sizes", SIZES)
    def test_are_those_in_memory(self, numbers, sizes):
        found, n = summed(column_sums, [rows_in(blocks_of(numbers, sizes), numbers)], 2.0)
        expected, _ = summed(column_sums, [numbers], 2.0)
        np.testing.assert_allclose(found, expected, atol=1e-13)
        assert n == 12

    @pytest.mark.parametrize("left_out", LEFT_OUT)
    @pytest.mark.parametrize("sizes", SIZES)
    def test_count_no_sample_that_is_left_out(self, numbers, sizes, left_out):
        where = blocks_of(numbers, sizes).without(np.array(left_out, dtype=np.intp))
        data = rows_in(where, numbers)
        np.testing.assert_allclose(
            summed(counted_sums, [data, data.counted]), np.delete(numbers, left_out, axis=0).sum(axis=0), atol=1e-13
        )
        assert len(where) == data.shape[0] == 12 - len(left_out)

    def test_a_block_without_left_out_samples_needs_no_mask(self, numbers):
        where = blocks_of(numbers, [5, 7]).without(np.array([2]))
        masks = where.collected(same, [rows_in(where, numbers).counted], ())
        np.testing.assert_array_equal(masks[0], [1, 1, 0, 1, 1])
        assert masks[1] is None

    def test_of_other_sums_may_be_lists_of_lists_and_numbers(self):
        assert added([1, [2.0, (3,)]], [10, [20.0, (30,)]]) == [11, [22.0, [33]]]

    def test_read_only_arrays_are_not_overwritten(self):
        """As those that arrive over a network are."""
        one = np.ones(3)
        one.flags.writeable = False
        np.testing.assert_array_equal(added(one, np.ones(3)), 2 * np.ones(3))
        np.testing.assert_array_equal(one, np.ones(3))

    def test_the_second_part_is_never_overwritten(self):
        one, other = np.zeros(3), np.ones(3)
        added(one, other)
        np.testing.assert_array_equal(other, np.ones(3))

    @pytest.mark.parametrize("types", [(np.float32, np.float64), (np.int64, np.float64)])
    def test_parts_of_different_types_keep_the_finer_one(self, types):
        """Blocks may be stored in different types."""
        parts = [np.array([1], dtype=types[0]), np.array([1e-9 + 1], dtype=types[1])]
        assert float(added(*parts)[0]) == float(added(*parts[::-1])[0]) == 2 + 1e-9


class TestValuesPerSample:
    @pytest.mark.parametrize("left_out", LEFT_OUT)
    @pytest.mark.parametrize("sizes", SIZES)
    def test_have_the_mean_of_those_that_count(self, numbers, sizes, left_out):
        where = blocks_of(numbers, sizes).without(np.array(left_out, dtype=np.intp))
        first = each(first_column, [rows_in(where, numbers)])
        doubled = each(scaled, [first], 2.0)
        kept = np.delete(numbers[:, 0], left_out)
        assert first.mean() == pytest.approx(kept.mean(), abs=1e-14)
        assert doubled.mean() == pytest.approx(2 * kept.mean(), abs=1e-14)
        assert summed(total, [doubled]) == pytest.approx(2 * kept.sum(), abs=1e-13)

    def test_are_arrays_in_memory(self, numbers):
        np.testing.assert_array_equal(each(first_column, [numbers]), numbers[:, 0])

    def test_a_left_out_sample_is_zero_whatever_its_value_would_be(self, numbers, recwarn):
        numbers[3] = 0.0  # whose inverse is infinite
        where = blocks_of(numbers, [5, 7]).without(np.array([3]))
        inverted = each(inverse, [each(first_column, [rows_in(where, numbers)])])
        assert inverted.mean() == pytest.approx(np.mean(1 / np.delete(numbers[:, 0], 3)))
        assert not len(recwarn)


class TestBlock:
    def test_computes_once_what_is_derived(self, numbers):
        block, calls = Block(0, {"X": numbers}), Counter()
        for _ in range(3):
            assert block.derived("name", lambda: calls.update(["computed"]) or 7) == 7
        assert calls["computed"] == 1

    def test_keeps_the_most_recently_used(self, numbers):
        block, calls = Block(0, {"X": numbers}), Counter()

        def use(name):
            block.derived(name, lambda: calls.update([name]))

        use("used often")
        for i in range(100):
            use(i)
            use("used often")
        assert calls["used often"] == 1
        use(0)
        assert calls[0] == 2  # it had to make room
        assert len(block._derived) < 50

    def test_a_copy_has_the_data_alone(self, numbers):
        block = Block(5, {"X": numbers})
        block.derived("name", lambda: 7)
        copy = pickle.loads(pickle.dumps(block))
        assert (copy.first, copy.n) == (5, 12)
        np.testing.assert_array_equal(copy.data["X"], numbers)
        assert copy.derived("name", lambda: 8) == 8

    def test_what_is_derived_may_be_derived_from_more(self, numbers):
        block = Block(0, {"X": numbers})
        assert block.derived("sum", lambda: 1 + block.derived("part", lambda: 2)) == 3


class TestNumbers:
    @pytest.mark.parametrize("left_out", LEFT_OUT)
    def test_of_samples_that_count_are_their_numbers_among_all(self, numbers, left_out):
        where = blocks_of(numbers, [12]).without(np.array(left_out, dtype=np.intp))
        expected = np.delete(np.arange(12), left_out)
        np.testing.assert_array_equal(where.numbers(np.arange(len(expected))), expected)

    def test_all_but_some(self):
        some = AllBut(5, np.array([0, 3]))
        assert len(some) == 3
        np.testing.assert_array_equal(np.asarray(some), [1, 2, 4])

    def test_what_is_in_memory_is_not_elsewhere(self, numbers):
        where = blocks_of(numbers, [12])
        assert remote_blocks_of([numbers, None]) is None
        assert remote_blocks_of([None, rows_in(where, numbers)]) is where
