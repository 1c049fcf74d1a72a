"""Samples that belong together: left out together, and permuted as whole blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import Any

import numpy as np

from .._wording import counted, setting

__all__ = ["Groups"]


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
        """All samples in `count` random parts of about equal size, no group in two of them; fewer for few groups.

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
        return np.add.reduceat(values[self._by_group], self._starts, axis=0)

    def orders(self, count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """`count` random orders of the samples in which whole groups change places with groups of the same size."""
        for _ in range(count):
            yield self._order(rng)

    def _order(self, rng: np.random.Generator) -> np.ndarray:
        if self.labels is None:
            return rng.permutation(self.n)
        order = np.arange(self.n)
        for members in self._blocks:  # groups of one size, one a row
            order[members] = members[rng.permutation(len(members))]
        return order

    @property
    def log_orders(self) -> float:
        """The logarithm of how many such orders there are."""
        return sum(lgamma(len(members) + 1) for members in self._blocks) if self._blocks else lgamma(self.n + 1)

    @cached_property
    def _by_group(self) -> np.ndarray:
        assert self.labels is not None
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def _starts(self) -> np.ndarray:
        assert self.labels is not None
        sizes = np.bincount(self.labels)
        return np.cumsum(sizes) - sizes

    @cached_property
    def _blocks(self) -> list[np.ndarray]:
        """For every size, the samples of the groups of that size, one group a row; empty without groups."""
        if self.labels is None:
            return []
        sizes = np.bincount(self.labels)
        members = np.split(self._by_group, self._starts[1:])
        return [np.array([members[g] for g in np.flatnonzero(sizes == size)]) for size in np.unique(sizes)]
