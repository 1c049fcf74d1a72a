"""Which sample each component is anchored at."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..views import View

__all__ = ["AnchorStrategy", "FixedOrder", "anchor_strategy"]


class AnchorStrategy(ABC):
    """Names the anchors to try for the next component; one object serves one fit."""

    @abstractmethod
    def candidates(self, left: View, right: View) -> Sequence[int]:
        """Columns of `right`, the first to be tried first, given both views as deflated so far."""

    @abstractmethod
    def take(self, anchor: int) -> None:
        """Be told which of the candidates the component came from; those before it gave an empty one."""


class FixedOrder(AnchorStrategy):
    """The anchors in the order given; one that gave an empty component waits until all others had their turn."""

    def __init__(self, order: Sequence[int]):
        self._queue = list(order)

    def candidates(self, left, right):
        return list(self._queue)

    def take(self, anchor):
        position = self._queue.index(anchor)
        self._queue = self._queue[position + 1 :] + self._queue[:position]


def anchor_strategy(anchors, n_anchors: int, n_components: int) -> AnchorStrategy:
    """The strategy for a user's `anchors`: "sequential" (the paper's order) or a sequence of indices."""
    if isinstance(anchors, str):
        if anchors != "sequential":
            raise ValueError(f'anchors must be "sequential" or a sequence of indices; got {anchors!r}.')
        return FixedOrder(range(n_anchors))
    order = np.asarray(anchors)
    if order.ndim != 1 or not np.issubdtype(order.dtype, np.integer):
        raise ValueError(f'anchors must be "sequential" or a sequence of indices; got {anchors!r}.')
    outside = order[(order < 0) | (order >= n_anchors)]
    if len(outside):
        raise ValueError(f"anchors must lie between 0 and {n_anchors - 1}, the samples' indices; got {outside[0]}.")
    if len(order) < n_components:
        raise ValueError(
            f"anchors must name at least n_components={n_components} indices; got {len(order)}: give more anchors or "
            "reduce n_components."
        )
    return FixedOrder([int(k) for k in order])
