"""Which column of the right view (sample, with a kernel) each component is anchored at: the paper's question of k."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from sklearn.utils import check_random_state

from ..views import View

__all__ = [
    # the contract
    "AnchorStrategy",
    # strategies
    "FixedOrder",
    "Shuffled",
    "Energy",
    "CrossEnergy",
    "Medoids",
    "Chosen",
    # from a user's words to a strategy
    "anchor_strategy",
]

_AFFORDABLE = 256  # anchors whose exact energies may be computed one by one
_PROBES = 16  # random vectors otherwise: each energy then has a relative standard error of sqrt(2 / 16)
_PROBE_SEED = 0
_CLUSTERING_ROUNDS = 100
_TIED = 1e-10  # difference of two distances, relative to the largest square, that is rounding error


class AnchorStrategy(ABC):
    """Names the anchors to try for the next component; one object serves one fit.

    Anchors are columns of the right view. Whatever the strategy, one that gave an empty component is tried again only
    after the others.

    Parameters
    ----------
    compared : int
        How many candidates are solved and compared, to keep the best, where one would do.
    """

    def __init__(self, compared: int = 1):
        self.compared = compared
        self.used: list[int] = []
        self._waiting: list[int] = []  # gave an empty component, the longest ago first

    @abstractmethod
    def ranked(self, left: View, right: View) -> Sequence[int]:
        """The anchors that may be taken next, the first choice first, given both views as deflated so far."""

    def candidates(self, left: View, right: View) -> Iterator[int]:
        """The ranked anchors, with those that wait at the end; ranked when the first is asked for."""
        order, waiting = self.ranked(left, right), set(self._waiting)
        yield from (k for k in order if k not in waiting)
        eligible = set(order)
        yield from (k for k in self._waiting if k in eligible)

    def take(self, anchor: int, empty: Sequence[int]) -> None:
        """Be told which candidate the component came from, and which gave an empty one."""
        self.used.append(anchor)
        again = set(empty)
        waiting = [k for k in self._waiting if k not in again] + list(empty)
        self._waiting = [k for k in waiting if k != anchor]

    def _unused(self, order: Iterable[int]) -> list[int]:
        used = set(self.used)
        return [int(k) for k in order if k not in used]


class FixedOrder(AnchorStrategy):
    """The anchors in the order given, an index as often as it is named."""

    def __init__(self, order: Iterable[int], compared: int = 1):
        super().__init__(compared)
        self._queue = list(order)

    def ranked(self, left, right):
        return self._queue

    def take(self, anchor, empty):
        super().take(anchor, empty)
        self._queue.remove(anchor)


class Shuffled(AnchorStrategy):
    """The unused anchors, shuffled anew for each component."""

    def __init__(self, rng: np.random.Generator, compared: int = 1):
        super().__init__(compared)
        self._rng = rng

    def ranked(self, left, right):
        return self._unused(self._rng.permutation(right.shape[1]))


class Energy(AnchorStrategy):
    """The unused anchor k with the largest ||K_j e_k||^2, the squared norm of its deflated column: what is left of it.

    Exact where a column costs no product with the whole view, or where there are at most `affordable` anchors.
    Otherwise n columns would cost n products, and the energies are estimated from `probes` of them: for a standard
    Gaussian g, (K_j'g)_k has the variance ||K_j e_k||^2, so its mean square over a few g is an unbiased estimate. All
    components share the same g, so that what changes from one to the next is the views and not the noise.
    """

    def __init__(self, affordable: int = _AFFORDABLE, probes: int = _PROBES):
        super().__init__()
        self._affordable = affordable
        self._probes = probes

    def ranked(self, left, right):
        return self._unused(np.argsort(-self.energies(left, right), kind="stable"))

    def energies(self, left: View, right: View) -> np.ndarray:
        """The energy of every column of `right`."""
        if right.passes_per_column == 0 or right.shape[1] <= self._affordable:
            return right.square_norms()
        return self._estimate(right.rmatvec, right.shape[0])

    def _estimate(self, transposed: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
        """Squared column norms of a matrix of `size` rows, given products with its transpose."""
        rng = np.random.default_rng(_PROBE_SEED)  # the same in every fit: what is estimated is not random
        return np.mean([transposed(rng.standard_normal(size)) ** 2 for _ in range(self._probes)], axis=0)


class CrossEnergy(Energy):
    """The unused anchor k with the largest ||X_j'K_j e_k||^2: how much of its target the left view sees.

    Exact for at most `affordable` anchors, one product with X_j each. Otherwise estimated as in `Energy` from products
    of K_j'X_j with Gaussian vectors, two passes each, however many anchors there are.
    """

    def energies(self, left, right):
        n_anchors = right.shape[1]
        if n_anchors <= self._affordable:
            seen = (left.rmatvec(right.columns(np.array([k]))[:, 0]) for k in range(n_anchors))
            return np.array([pull @ pull for pull in seen])
        return self._estimate(lambda g: right.rmatvec(left.matvec(g)), left.shape[1])


class Medoids(FixedOrder):
    """The medoids of a clustering of the anchors, the one of the largest group first; then the others by distance.

    Distances are those of the samples in the kernel's space (of a primal view: of its features), before deflation. The
    others are ordered by the distance from their medoid, the nearest first.
    """

    def __init__(self, n_groups: int, rng: np.random.Generator):
        super().__init__([])
        self._n_groups = n_groups
        self._rng = rng

    def ranked(self, left, right):
        if not self.used:
            self._queue = _Clustering(right, self._n_groups, self._rng).order()
        return self._queue


class _Clustering:
    """k-medoids with squared distances d_ik = S_ii + S_kk - 2 S_ik, by products with S alone.

    The inner products S are K itself or, between features, M'M. Squares make the total distance from i to a group C
    linear in S, |C| S_ii - 2 (S 1_C)_i + constant, so that no matrix of all distances is needed: a round takes two
    products a group. The groups are begun as in k-means++, each from an anchor drawn by its distance to those before.
    """

    def __init__(self, view: View, n_groups: int, rng: np.random.Generator):
        self._view = view
        self._size = view.shape[1]
        self._squares = view.coordinate_squares()
        self._medoids = self._first(min(n_groups, self._size), rng)
        for _ in range(_CLUSTERING_ROUNDS):
            self._assign()
            centres = [self._centre(group) for group in range(len(self._medoids))]
            if centres == self._medoids:
                break
            self._medoids = centres

    def order(self) -> list[int]:
        """The medoids by the size of their groups, then the others by the distance from theirs."""
        sizes = np.bincount(self._groups)
        medoids = [self._medoids[group] for group in np.argsort(-sizes, kind="stable")]
        others = np.argsort(self._distances, kind="stable")
        return medoids + [int(k) for k in others if k not in medoids]

    def _first(self, n_groups: int, rng: np.random.Generator) -> list[int]:
        medoids = [int(rng.integers(self._size))]
        nearest = self._distances_to(medoids[0])
        while len(medoids) < n_groups and nearest.any():
            medoids.append(int(rng.choice(self._size, p=nearest / nearest.sum())))
            nearest = np.minimum(nearest, self._distances_to(medoids[-1]))
        return medoids

    def _assign(self) -> None:
        """Every anchor joins the group of the nearest medoid, and a medoid its own even if it has a twin."""
        distances = np.array([self._distances_to(k) for k in self._medoids])
        self._groups = distances.argmin(axis=0)
        self._groups[self._medoids] = np.arange(len(self._medoids))
        self._distances = distances.min(axis=0)

    def _centre(self, group: int) -> int:
        """The member with the least total distance from the others, the first of those that tie, as any two do."""
        inside = self._groups == group
        members = np.flatnonzero(inside)
        total = len(members) * self._squares - 2.0 * self._view.coordinate_products(inside.astype(np.float64))
        rounding = _TIED * len(members) * self._squares.max()
        return int(members[total[members] <= total[members].min() + rounding][0])

    def _distances_to(self, k: int) -> np.ndarray:
        unit = np.zeros(self._size)
        unit[k] = 1.0
        distances = np.maximum(self._squares + self._squares[k] - 2.0 * self._view.coordinate_products(unit), 0.0)
        distances[k] = 0.0
        return distances


class Chosen(AnchorStrategy):
    """The candidates that a user's function names, given the two deflated views and the anchors used so far."""

    def __init__(self, function: Callable[[View, View, list[int]], Sequence[int]]):
        super().__init__()
        self._function = function

    def ranked(self, left, right):
        answer = self._function(left, right, list(self.used))
        order = _check_indices(answer, right.shape[1], "the answer of the function given as anchors")
        if not order:
            raise ValueError("the answer of the function given as anchors must hold at least one index; got none.")
        return order


def anchor_strategy(anchors, n_anchors: int, n_components: int, random_state) -> AnchorStrategy:
    """The strategy for a user's `anchors`: a name, a sequence of indices, or a function that names candidates."""
    if callable(anchors):
        return Chosen(anchors)
    if isinstance(anchors, str):
        return _named_strategy(anchors, n_anchors, n_components, check_random_state(random_state))
    order = _check_indices(anchors, n_anchors, "anchors")
    if len(order) < n_components:
        raise ValueError(
            f"anchors must name at least n_components={n_components} indices; got {len(order)}: give more anchors or "
            "reduce n_components."
        )
    return FixedOrder(order)


def _named_strategy(name: str, n_anchors: int, n_components: int, state: np.random.RandomState) -> AnchorStrategy:
    def rng() -> np.random.Generator:  # only strategies that draw use the state up
        return np.random.default_rng(state.randint(2**32, dtype=np.int64))

    strategies: dict[str, Callable[[], AnchorStrategy]] = {
        "sequential": lambda: FixedOrder(range(n_anchors)),
        "random": lambda: Shuffled(rng()),
        "energy": Energy,
        "cross-energy": CrossEnergy,
        "medoids": lambda: Medoids(n_components, rng()),
        "best": lambda: FixedOrder(range(n_anchors), compared=n_anchors),
    }
    if name in strategies:
        return strategies[name]()
    drawn = re.fullmatch(r"best-of-([1-9][0-9]*)", name)
    if drawn is None:
        names = ", ".join(f'"{known}"' for known in strategies)
        raise ValueError(
            f'anchors must be {names}, "best-of-N" with N at least 1, a sequence of indices or a function; '
            f"got {name!r}."
        )
    return Shuffled(rng(), compared=int(drawn[1]))


def _check_indices(indices, n_anchors: int, name: str) -> list[int]:
    order = np.asarray(indices)
    if order.ndim != 1 or (len(order) and not np.issubdtype(order.dtype, np.integer)):
        raise ValueError(f"{name} must be a sequence of indices, integers from 0 to {n_anchors - 1}; got {indices!r}.")
    outside = order[(order < 0) | (order >= n_anchors)]
    if len(outside):
        raise ValueError(f"{name} must lie between 0 and {n_anchors - 1}, the anchors' indices; got {outside[0]}.")
    return [int(k) for k in order]
