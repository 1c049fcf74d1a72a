"""Sums over samples and values per sample, wherever the samples are: in memory, or in blocks elsewhere."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Samplewise", "added", "each", "samples_elsewhere", "summed"]


class Samplewise(ABC):
    """Samples in blocks elsewhere, where functions of a block are called.

    Whatever belongs to such samples (their data, a view of them, a value per sample) has an attribute `elsewhere`, one
    of these, and `of_block(block)`, the part of it that belongs to a block, as it would be in memory.
    """

    @abstractmethod
    def summed(self, function: Callable[..., Any], items: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        """The sum over the blocks of `function(parts of the items, *arguments)`."""

    @abstractmethod
    def each(self, function: Callable[..., Any], items: Sequence[Any], arguments: tuple[Any, ...]) -> Any:
        """What `function` gives for every sample, left where the samples are."""


def samples_elsewhere(items: Sequence[Any]) -> Samplewise | None:
    """Where the samples of these are; None if they are in memory."""
    found = (getattr(item, "elsewhere", None) for item in items)
    return next((where for where in found if where is not None), None)


def summed(function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
    """`function(items, *arguments)`, a sum over samples: of samples elsewhere, added up over their blocks.

    It returns arrays or numbers, or lists of them, and is defined at the top of a module.
    """
    where = samples_elsewhere(items)
    return function(items, *arguments) if where is None else where.summed(function, items, arguments)


def each(function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
    """`function(items, *arguments)`, a value per sample; those of samples elsewhere stay there.

    Either way the result has a `mean()`, and can be one of the items of another function.
    """
    where = samples_elsewhere(items)
    return function(items, *arguments) if where is None else where.each(function, items, arguments)


def added(one: Any, other: Any) -> Any:
    """The sum of two results of a function for `summed`; arrays of the first are overwritten."""
    if isinstance(one, list | tuple):
        return [added(*parts) for parts in zip(one, other, strict=True)]
    one += other
    return one
