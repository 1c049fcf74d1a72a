"""Sums over samples and values per sample, wherever the samples are: in memory, or in remote blocks."""

import uuid
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import RLock
from typing import Any

import numpy as np

__all__ = [
    "Block",
    "RemoteBlocks",
    "Function",
    "SampleValues",
    "added",
    "parts_of",
    "unique",
]

_MOST_DERIVED = 8  # results that a block keeps per view at most: views, sample weights and scores in use at a time

Function = Callable[..., Any]  # takes parts of items, and arguments; defined at the top of a module


class Block:
    """Consecutive samples, from number `first` on: their data by the name of the view, and results computed from them.

    Results stay where the block is; a copy of the block computes them again.
    """

    def __init__(self, first: int, data: Mapping[str, Any]):
        self.first, self.data = first, data
        self.n = next(iter(data.values())).shape[0]
        self._clear()

    def _clear(self) -> None:
        self._lasting: dict[Hashable, Any] = {}
        self._derived: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Block, (self.first, self.data)

    def lasting(self, name: Hashable, compute: Callable[[], Any]) -> Any:
        """The result of `compute`, stored under this name for good: other results are derived from it."""
        with self._lock:
            if name not in self._lasting:
                self._lasting[name] = compute()
            return self._lasting[name]

    def derived(self, name: Hashable, compute: Callable[[], Any]) -> Any:
        """The result of `compute`, stored under this name; computed again if it has not been used for long."""
        with self._lock:
            if name not in self._derived:
                self._derived[name] = compute()
                while len(self._derived) > _MOST_DERIVED * len(self.data):
                    self._derived.popitem(last=False)
            self._derived.move_to_end(name)
            return self._derived[name]


class RemoteBlocks(ABC):
    """Remote samples in blocks, where functions of a block are called; some samples may be left out.

    Everything that belongs to such samples (their data, a view of them, a value per sample) has an attribute `remote`,
    which is such an object, and a method `of_block(block)`, which returns the part that belongs to a block, as it would
    be in memory. These things travel to the blocks; of this object, only the list of samples left out does.
    """

    def __init__(self, total: int, left_out: np.ndarray):
        self.total, self.left_out = total, left_out

    def __len__(self) -> int:
        """The number of samples that are not left out."""
        return self.total - len(self.left_out)

    def __reduce__(self) -> tuple[Any, ...]:
        return _BlocksDescription, (self.total, self.left_out)

    @abstractmethod
    def without(self, left_out: np.ndarray) -> "RemoteBlocks":
        """The same blocks without some samples, for blocks of which none is left out yet."""

    @abstractmethod
    def summed(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        """The sum over the blocks of `function(parts of the items, *arguments)`."""

    @abstractmethod
    def collected(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> list[Any]:
        """`function(parts of the items, *arguments)` of every block, in order."""

    def values(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> "SampleValues":
        """`function(parts of the items, *arguments)`, a value per sample, which stays where the block is."""
        return SampleValues(self, function, items, arguments)

    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of samples among all, given their numbers among those that are not left out."""
        before = self.left_out - np.arange(len(self.left_out))  # numbers of samples that precede those left out
        return rows + np.searchsorted(before, rows, side="right")

    def counted(self, block: Block) -> np.ndarray | None:
        """0 for the samples of a block that are left out, and 1 for the others; None if none is left out."""
        here = self.left_out - block.first
        here = here[(here >= 0) & (here < block.n)]
        if not len(here):
            return None
        mask = np.ones(block.n)
        mask[here] = 0.0
        return mask


class _BlocksDescription(RemoteBlocks):
    """The part of `RemoteBlocks` that travels to the blocks: which samples are left out."""

    def without(self, left_out: np.ndarray) -> "RemoteBlocks":
        raise NotImplementedError

    def summed(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def collected(self, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]) -> list[Any]:
        raise NotImplementedError


class SampleValues:
    """`function(parts of the items, *arguments)` of every block: one value per sample, 0 for samples left out."""

    def __init__(self, remote: RemoteBlocks, function: Function, items: Sequence[Any], arguments: tuple[Any, ...]):
        self.remote, self.items, self.arguments = remote, items, arguments
        self._function, self._name = function, unique()

    def of_block(self, block: Block) -> np.ndarray:
        return block.derived(self._name, lambda: self._of_block(block))

    def _of_block(self, block: Block) -> np.ndarray:
        parts, counted = parts_of(self.items, block), self.remote.counted(block)
        with np.errstate(all="ignore" if counted is not None else None):  # values of samples left out do not count
            values = self._function(parts, *self.arguments)
        return values if counted is None else np.where(counted > 0, values, 0.0)

    def mean(self) -> float:
        """The mean over the samples that are not left out."""
        return float(self.remote.summed(_total, [self], ())) / len(self.remote)


def _total(items: Sequence[np.ndarray]) -> float:
    return float(items[0].sum())


def unique() -> str:
    """A name that is unique among all processes."""
    return uuid.uuid4().hex


def parts_of(items: Sequence[Any], block: Block) -> list[Any]:
    """The parts of items that belong to a block; None stays None."""
    return [None if item is None else item.of_block(block) for item in items]


def added(one: Any, other: Any) -> Any:
    """The sum of two results of a function for `summed`; arrays of the first may be overwritten."""
    if isinstance(one, list | tuple):
        return [added(*parts) for parts in zip(one, other, strict=True)]
    if isinstance(one, np.ndarray) and one.flags.writeable and np.can_cast(other.dtype, one.dtype):
        one += other
        return one
    return one + other
