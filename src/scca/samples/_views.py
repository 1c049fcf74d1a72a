"""Views of the same samples, their rows and groups, and sums over samples in memory or in remote blocks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._types import MatrixLike
from .._wording import counted, setting

__all__ = [
    "AllBut",
    "ChosenRows",
    "Groups",
    "Samples",
    "Views",
    "chosen_rows",
    "column_blocks",
    "each",
    "read_tile",
    "remote_blocks_of",
    "summed",
    "tiles",
    "view_names",
]

_TILE_ENTRIES = 1 << 20  # number of entries that are converted to float64 at a time
_MOST_COPIED = 1 << 24  # maximum number of entries of an array whose chosen rows are copied
_READ_WHOLE_RANGE = 0.25  # smallest share of a range of columns for which the whole range is read


def view_names(count: int) -> tuple[str, ...]:
    """The names of views that nobody named: X and Y or, if there are more, view 1, view 2 etc."""
    return ("X", "Y") if count == 2 else tuple(f"view {v + 1}" for v in range(count))


class Samples(NamedTuple):
    """Samples of a view that a model was not fitted to.

    `diagonal` is k(x, x) of every sample where the view is a precomputed kernel, and None otherwise.
    """

    data: Any
    diagonal: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Views:
    """Two or more views of the same samples, checked, to be split and permuted.

    Attributes
    ----------
    data : tuple of ndarray, sparse matrix or BlockRows
        Row i of every view is the same sample, unless `orders` says otherwise.
    groups : Groups
        Which samples belong together.
    names : tuple of str
        Names of the views, for messages.
    precomputed : tuple of bool
        Which views are kernel matrices, whose samples are both rows and columns.
    orders : tuple of ndarray of int or None
        Sample i is row `orders[v][i]` of view v; None for row i.
    """

    data: tuple[Any, ...]
    groups: "Groups"
    names: tuple[str, ...] = ()
    precomputed: tuple[bool, ...] = ()
    orders: tuple[np.ndarray | None, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.data)
        usual = {"names": view_names(count), "precomputed": (False,) * count, "orders": (None,) * count}
        for name, value in usual.items():
            object.__setattr__(self, name, getattr(self, name) or value)

    def __len__(self) -> int:
        return self.data[0].shape[0]

    def permuted(self, *orders: np.ndarray | None) -> "Views":
        """The same views with other rows paired: sample i is row orders[v][i] of view v."""
        return replace(self, orders=orders)

    def rows(self, rows: "np.ndarray | AllBut") -> "Views":
        """Some of the samples, in all views, to learn from."""
        rows = rows if remote_blocks_of(self.data) else np.asarray(rows)
        data = tuple(samples.data for samples in self.held_out(rows, rows))
        return replace(self, data=data, groups=self.groups.chosen(rows), orders=(None,) * len(data))

    def held_out(self, rows: Any, training_rows: Any) -> list[Samples]:
        """The samples `rows` of every view, as input for a model fitted to the samples `training_rows`."""
        found = []
        for data, is_kernel, order in zip(self.data, self.precomputed, self.orders, strict=True):
            here, there = (rows, training_rows) if order is None else (order[rows], order[training_rows])
            found.append(
                Samples(data[here][:, there], data.diagonal()[here])
                if is_kernel
                else Samples(chosen_rows(data, here), None)
            )
        return found


@dataclass(frozen=True, eq=False)
class Groups:
    """Which samples belong together, such as repeated measures of a person or neighbouring sentences of a document.

    Attributes
    ----------
    labels : ndarray of int of shape (n,), or None
        The number of each sample's group, from 0 to n_groups - 1; None if every sample is a group of its own.
    n : int
        Number of samples.
    """

    labels: np.ndarray | None
    n: int

    @classmethod
    def of(cls, labels: Any, n: int) -> "Groups":
        """Groups by one label for each sample, checked; None makes every sample a group of its own."""
        if labels is None:
            return cls(None, n)
        array = np.asarray(labels, dtype=object if isinstance(labels, list | tuple) else None)
        if array.shape != (n,):
            got = counted(len(array), "label") if array.ndim == 1 else f"an array of shape {array.shape}"
            raise ValueError(
                f"{setting('groups')} must be one label for each of {setting('n_samples', n)}; got {got}: label "
                "all of them."
            )
        if any(label is None or label != label for label in array.tolist()):
            raise ValueError(f"{setting('groups')} must be one label for each sample; some are missing: add them.")
        numbers: dict[Any, int] = {}
        try:
            found = np.array([numbers.setdefault(label, len(numbers)) for label in array.tolist()], dtype=np.intp)
        except TypeError as error:
            raise ValueError(f"{setting('groups')} must be numbers or words, one for each sample ({error}).") from error
        if len(numbers) < 2:
            raise ValueError(
                f"{setting('groups')} must name at least 2 groups, so that one can be left out; got {len(numbers)}: "
                f"leave {setting('groups')} away, or name what belongs together."
            )
        return cls(None if len(numbers) == n else found, n)

    @property
    def n_groups(self) -> int:
        return self.n if self.labels is None else int(self.labels.max(initial=-1)) + 1

    def chosen(self, rows: Any) -> "Groups":
        """The groups of some samples."""
        if self.labels is None:
            return Groups(None, len(rows))
        labels = np.unique(self.labels[np.asarray(rows)], return_inverse=True)[1]
        return Groups(None if labels.max(initial=-1) + 1 == len(rows) else labels, len(rows))

    def samples(self, groups: np.ndarray) -> np.ndarray:
        """The samples of these groups, in order."""
        return np.sort(groups) if self.labels is None else np.flatnonzero(np.isin(self.labels, groups))

    def parts(self, count: int, rng: np.random.Generator) -> list[np.ndarray]:
        """All samples in `count` random parts of about equal size; groups stay together. Few groups make fewer.

        The largest groups are dealt first, each to the part that has the fewest samples.
        """
        order = rng.permutation(self.n_groups)
        count = min(count, len(order))
        if self.labels is None:
            return [np.sort(order[part::count]) for part in range(count)]
        sizes = np.bincount(self.labels)
        order = order[np.argsort(-sizes[order], kind="stable")]
        totals, part_of = np.zeros(count), np.empty(len(sizes), dtype=np.intp)
        for group in order:
            part_of[group] = np.argmin(totals)
            totals[part_of[group]] += sizes[group]
        of_samples = part_of[self.labels]
        return [np.flatnonzero(of_samples == part) for part in range(count)]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """`values`, one row for each sample, added up over groups."""
        if self.labels is None:
            return values
        return np.add.reduceat(values[self._samples_by_group], self._group_starts, axis=0)

    def orders(self, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """`count` random orders of the samples in which whole groups change places with groups of the same size."""
        for _ in range(count):
            yield self._order(rng)

    def _order(self, rng: np.random.Generator) -> np.ndarray:
        if self.labels is None:
            return rng.permutation(self.n)
        order = np.arange(self.n)
        for members in self._by_size:  # groups of the same size, one per row
            order[members] = members[rng.permutation(len(members))]
        return order

    @property
    def log_orders(self) -> float:
        """The logarithm of the number of such orders."""
        return sum(lgamma(len(members) + 1) for members in self._by_size) if self._by_size else lgamma(self.n + 1)

    @cached_property
    def _samples_by_group(self) -> np.ndarray:
        assert self.labels is not None
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def _group_starts(self) -> np.ndarray:
        assert self.labels is not None
        sizes = np.bincount(self.labels)
        return np.cumsum(sizes) - sizes

    @cached_property
    def _by_size(self) -> list[np.ndarray]:
        """For every size, the samples of the groups of that size, one group per row; empty without groups."""
        if self.labels is None:
            return []
        sizes = np.bincount(self.labels)
        members = np.split(self._samples_by_group, self._group_starts[1:])
        return [np.array([members[g] for g in np.flatnonzero(sizes == size)]) for size in np.unique(sizes)]


class AllBut:
    """The numbers 0 to n - 1 except the sorted ones in `left_out`; NumPy makes an array of them on request."""

    def __init__(self, n: int, left_out: np.ndarray):
        self.n, self.left_out = n, left_out

    def __len__(self) -> int:
        return self.n - len(self.left_out)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.delete(np.arange(self.n), self.left_out)


# --- sums over samples ------------------------------------------------------------------------------------------------


def remote_blocks_of(items: Sequence[Any]) -> Any:
    """The blocks, `RemoteBlocks`, that hold the samples of these items; None if the samples are in memory."""
    found = (getattr(item, "remote", None) for item in items)
    return next((blocks for blocks in found if blocks is not None), None)


def summed(function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
    """`function(items, *arguments)`, which sums over samples; remote samples are summed block by block.

    The function stands at the top of a module, and returns arrays or numbers, or lists of them.
    """
    blocks = remote_blocks_of(items)
    return function(items, *arguments) if blocks is None else blocks.summed(function, items, arguments)


def each(function: Callable[..., Any], items: Sequence[Any], *arguments: Any) -> Any:
    """`function(items, *arguments)`, which returns one value per sample; values of remote samples stay in the blocks.

    The result has a `mean()`, and can be one of the items of another function.
    """
    blocks = remote_blocks_of(items)
    return function(items, *arguments) if blocks is None else blocks.values(function, items, arguments)


# --- large dense arrays, a tile at a time, never copied as a whole ----------------------------------------------------


class ChosenRows:
    """Some rows of a dense array, read where they are needed."""

    ndim = 2
    _array: np.ndarray
    _rows: np.ndarray

    def __init__(self, array: Any, rows: np.ndarray):
        if isinstance(array, ChosenRows):
            array, rows = array._array, array._rows[rows]
        self._array, self._rows = array, rows
        self.shape, self.dtype = (len(rows), array.shape[1]), array.dtype
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        chosen = self._rows[rows]
        return self._array[chosen, columns] if isinstance(columns, slice) else self._array[np.ix_(chosen, columns)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)


def chosen_rows(data: MatrixLike, rows: Any) -> Any:
    """`data[rows]`; a large dense array is not copied, and remote samples choose their rows themselves."""
    if getattr(data, "remote", None) is not None:
        return data.chosen(rows)
    return data[rows] if sp.issparse(data) or data.size <= _MOST_COPIED else ChosenRows(data, rows)


def tiles(n: int, m: int) -> Iterator[tuple[slice, slice]]:
    """Tiles of an n x m matrix: blocks of columns if it is wide, of rows if it is tall.

    Both read long parts of a file, whether it is stored by rows or by columns.
    """
    if m > n:
        return ((slice(0, n), columns) for columns in column_blocks(n, m))
    return ((rows, slice(0, m)) for rows in column_blocks(m, n))


def column_blocks(n: int, m: int) -> Iterator[slice]:
    """Blocks of columns of an n x m matrix, with as many entries as a tile."""
    step = max(1, _TILE_ENTRIES // max(1, n))
    return (slice(start, min(m, start + step)) for start in range(0, m, step))


def read_tile(array: Any, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
    """`array[rows, columns]`, for a slice of columns or their indices."""
    if isinstance(columns, np.ndarray) and len(columns):
        first, last = columns.min(), columns.max() + 1
        if len(columns) >= _READ_WHOLE_RANGE * (last - first):  # much faster than reading one entry after another
            return np.take(array[rows, first:last], columns - first, axis=1)
    return array[rows, columns]
