"""Which column of the e view (sample, with a kernel) each component is anchored at: the paper's question of k."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._checks import shown
from ..views import View

__all__ = ["AnchorStrategy", "BestObjective", "CrossEnergy", "FixedOrder", "anchor_strategy"]

_AFFORDABLE = 256  # anchors whose exact energies may be computed one by one
_PROBES = 16  # random vectors otherwise: each energy then has a relative standard error of sqrt(2 / 16)
_PROBE_SEED = 0


class AnchorStrategy(ABC):
    """Proposes the anchors to try for the next component; one object per fit.

    Anchors are columns of the e view. Whatever the strategy, an anchor that gave an empty component is tried again only
    after all others.

    Attributes
    ----------
    compared : int or None
        Of how many components, each from an anchor of its own, the one with the best objective is taken; None for all.
    """

    compared: int | None = 1

    def __init__(self) -> None:
        self.used: list[int] = []
        self._waiting: list[int] = []  # gave an empty component, oldest first

    @abstractmethod
    def ranked(self, w_view: View, e_view: View) -> Sequence[int]:
        """The anchors that may be used next, best first, given both views as deflated so far."""

    def candidates(self, w_view: View, e_view: View) -> Iterator[int]:
        """The ranked anchors, those waiting last; ranked when the first one is requested."""
        order, waiting = self.ranked(w_view, e_view), set(self._waiting)
        yield from (k for k in order if k not in waiting)
        eligible = set(order)
        yield from (k for k in self._waiting if k in eligible)

    def take(self, anchor: int, empty: Sequence[int]) -> None:
        """Record which candidate the component came from, and which gave an empty one."""
        self.used.append(anchor)
        again = set(empty)
        waiting = [k for k in self._waiting if k not in again] + list(empty)
        self._waiting = [k for k in waiting if k != anchor]

    def _unused(self, order: Iterable[int]) -> list[int]:
        used = set(self.used)
        return [int(k) for k in order if k not in used]


class FixedOrder(AnchorStrategy):
    """The anchors in the given order, each index as often as it is listed."""

    def __init__(self, order: Iterable[int]):
        super().__init__()
        self._queue = list(order)

    def ranked(self, w_view: View, e_view: View) -> Sequence[int]:
        return self._queue

    def take(self, anchor: int, empty: Sequence[int]) -> None:
        super().take(anchor, empty)
        self._queue.remove(anchor)


class CrossEnergy(AnchorStrategy):
    """The unused anchor k with the largest ||X_j'K_j e_k||^2: how much of its target the w view can explain.

    Exact for at most `affordable` anchors, one product with X_j each. For more anchors the energies are estimated from
    `probes` products: for a standard Gaussian g, (K_j'X_j g)_k has the variance ||X_j'K_j e_k||^2, so its mean square
    over a few g is an unbiased estimate. All components share the same g, so that only the views change from one to the
    next, not the noise.
    """

    def __init__(self, affordable: int = _AFFORDABLE, probes: int = _PROBES):
        super().__init__()
        self._affordable = affordable
        self._probes = probes

    def ranked(self, w_view: View, e_view: View) -> Sequence[int]:
        return self._unused(np.argsort(-self.energies(w_view, e_view), kind="stable"))

    def energies(self, w_view: View, e_view: View) -> np.ndarray:
        """The energy of every column of `e_view`."""
        n_anchors = e_view.shape[1]
        if n_anchors <= self._affordable:
            seen = (w_view.rmatvec(e_view.columns(np.array([k]))[:, 0]) for k in range(n_anchors))
            return np.array([image @ image for image in seen])
        rng = np.random.default_rng(_PROBE_SEED)  # fixed: the result of a fit is not random
        probes = (rng.standard_normal(w_view.shape[1]) for _ in range(self._probes))
        return np.mean([e_view.rmatvec(w_view.matvec(g)) ** 2 for g in probes], axis=0)


class BestObjective(CrossEnergy):
    """The unused anchor whose component has the smallest objective: what the paper says the optimal choice would be.

    Every anchor's problem is solved or, as the paper suggests for many samples, that of a small subset: the `compared`
    anchors with the largest cross-energy.
    """

    def __init__(self, compared: int | None = None):
        super().__init__()
        self.compared = compared


_STRATEGIES = '"sequential", "cross-energy", "best-objective" or a sequence of indices'


def anchor_strategy(anchors: Any, n_anchors: int, n_components: int, n_candidates: int | None = None) -> AnchorStrategy:
    """The strategy for a user's `anchors`: a name, or a sequence of indices."""
    best = isinstance(anchors, str) and anchors == "best-objective"
    if n_candidates is not None and not best:
        raise ValueError(f'n_candidates is for anchors="best-objective"; got it with {shown(anchors)}: leave it out.')
    if best:
        return BestObjective(n_candidates)
    if isinstance(anchors, str):
        if anchors == "sequential":
            return FixedOrder(range(n_anchors))
        if anchors == "cross-energy":
            return CrossEnergy()
        raise ValueError(f"anchors must be {_STRATEGIES}; got {anchors!r}.")
    order = _check_indices(anchors, n_anchors)
    if len(order) < n_components:
        raise ValueError(
            f"anchors must name at least n_components={n_components} indices; got {len(order)}: give more anchors or "
            "reduce n_components."
        )
    return FixedOrder(order)


def _check_indices(indices: Any, n_anchors: int) -> list[int]:
    order = np.asarray(indices)
    if order.ndim != 1 or (len(order) and not np.issubdtype(order.dtype, np.integer)):
        raise ValueError(f"anchors must be {_STRATEGIES}, integers from 0 to {n_anchors - 1}; got {shown(indices)}.")
    outside = order[(order < 0) | (order >= n_anchors)]
    if len(outside):
        raise ValueError(f"anchors must lie between 0 and {n_anchors - 1}, the anchors' indices; got {outside[0]}.")
    return [int(k) for k in order]
