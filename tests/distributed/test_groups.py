"""Which worker computes with which blocks in a pass."""

from types import SimpleNamespace

import pytest

from scca.distributed._blocks import in_groups


class Cluster:
    """A client of workers that have blocks, as far as `in_groups` asks."""

    def __init__(self, statuses, places):
        self._statuses, self._places = statuses, places
        self.futures = [SimpleNamespace(key=f"block {i}") for i in range(len(places))]

    def who_has(self, futures):
        return {future.key: place for future, place in zip(self.futures, self._places, strict=True)}

    def scheduler_info(self, n_workers):
        return {"workers": {name: {"nthreads": 1, "status": status} for name, status in self._statuses.items()}}

    def groups(self):
        found = in_groups(self, self.futures)
        for _, numbers, futures in found:
            assert futures == [self.futures[i] for i in numbers]
        return {where["workers"][0] if where else None: sorted(numbers) for where, numbers, _ in found}


def running(names):
    return dict.fromkeys(names, "running")


def test_blocks_stay_where_they_are():
    assert Cluster(running("ab"), ["a", "b", "a", "b"]).groups() == {"a": [0, 2], "b": [1, 3]}


def test_a_block_with_copies_goes_to_the_worker_with_fewer():
    assert Cluster(running("ab"), ["a", "ab", "ab", "b"]).groups() == {"a": [0, 2], "b": [1, 3]}


def test_a_block_that_nobody_has_goes_to_a_worker_without_one():
    assert Cluster(running("abc"), ["a", "", "c"]).groups() == {"a": [0], "b": [1], "c": [2]}


def test_a_worker_that_is_paused_or_gone_computes_nothing():
    assert Cluster({"a": "paused", "b": "running"}, ["a", "b", "gone"]).groups() == {"b": [0, 1, 2]}


def test_a_worker_that_has_joined_takes_blocks_over():
    found = Cluster(running("abc"), ["a", "a", "a", "b", "b", "b"]).groups()
    assert {name: len(numbers) for name, numbers in found.items()} == {"a": 2, "b": 2, "c": 2}
    assert set(found["a"]) < {0, 1, 2}
    assert set(found["b"]) < {3, 4, 5}


@pytest.mark.parametrize("n_workers", range(1, 6))
@pytest.mark.parametrize("n_blocks", [1, 4, 7])
def test_every_block_is_computed_once_and_all_have_about_as_many(n_workers, n_blocks, rng):
    names = "abcde"[:n_workers]
    places = ["".join(name for name in "abcdef" if rng.random() < 0.4) for _ in range(n_blocks)]
    found = Cluster(running(names), places).groups()
    assert sorted(i for numbers in found.values() for i in numbers) == list(range(n_blocks))
    sizes = [len(found.get(name, ())) for name in names]
    assert max(sizes) - min(sizes) <= 1


def test_without_workers_a_single_task_waits_for_any():
    assert Cluster({"a": "paused"}, ["a", ""]).groups() == {None: [0, 1]}
