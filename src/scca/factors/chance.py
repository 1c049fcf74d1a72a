"""Tests against chance: whether the views share anything, how many factors hold, whether samples are near copies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import exp, isnan

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._wording import counted
from ..parallel import map_threads, one_blas_thread, parts
from ..progress import from_checkpoint, report
from ..samples import Groups
from ..views import PreparedView, View
from . import constants
from .constants import LEADING
from .find import Spectrum, spectrum_of

__all__ = [
    "Sharing",
    "WhitenedPair",
    "associations",
    "can_refit",
    "count_from",
    "is_doubtful",
    "near_copies",
    "p_values",
    "refitted_test",
    "standardized",
    "strongest_features",
    "verdict",
    "window_strengths",
]

_ROUNDING = 1e-9  # statistics that differ by less are equal
_STEPS = 2  # number of steps of the iteration that finds leading factors
_MOST_ENTRIES = 1 << 22  # maximum number of scores that a thread has in memory at a time
_FEW_ENTRIES = 1 << 17  # maximum number of scores that are not worth several threads
_MOST_ORDERS = 50  # maximum number of orders that a thread treats at a time
_MOST_PRODUCTS = 1e9  # maximum number of products of values of two features, over all orders
_DEPENDENT = 1e-5  # share of a column's length that is rounding error
_SEED = 0
_N_LOOKED_AT = 500  # maximum number of samples that tell whether many have a near copy
_ROWS = 512  # number of samples whose cosines are in memory at a time
_FEW_GROUPS = 100  # number of independent samples below which a test may well miss what is shared


# --- the test ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sharing:
    """The test whether the views share anything.

    Attributes
    ----------
    p_value : float
    null : ndarray
        `window_strengths` of the leading factors on samples left out, in all orders but the given one.
    partitions : sequence of sequences of ndarray of int
        Each partition has the parts of the samples that are left out in turn.
    """

    p_value: float
    null: np.ndarray
    partitions: Sequence[Sequence[np.ndarray]]


def refitted_test(
    views: Sequence[PreparedView], ridges: Sequence[float], groups: Groups, random_state: np.random.RandomState
) -> Sharing | None:
    """The test whether the views are related; None if there are too many samples, or too few.

    Three statistics of how the views go together are compared with those of 199 orders in which the samples of all
    views but the first are permuted, whole groups at a time:

    - how well the leading factors of some samples hold on the others, with the ridge of the fit: this finds what is
      shared even if one view alone varies more;
    - the same statistic with nearly no whitening: this finds strong shared directions among many features;
    - the strongest association of a feature of one view with a feature of another: this finds single features.

    With more than two views, each statistic is the mean over all pairs of views. Every order has a rank by each
    statistic; the p-value is the share of orders, the given one included, whose best rank is at least as good as that
    of the given one. It is exact for independent views, since permuted samples are treated like the given ones. Factors
    have dense weights without selection, so that finding them again is fast.
    """
    effort = _effort(groups, [min(view.shape) for view in views])
    if effort is None:
        return None
    rng = np.random.default_rng(random_state.randint(2**31 - 1))
    n_folds, n_partitions = effort
    partitions = [groups.parts(n_folds, rng) for _ in range(n_partitions)]
    given = np.arange(groups.n)
    orders = [np.broadcast_to(given, (1 + constants.PERMUTATIONS, groups.n))]
    orders += [np.array([given, *groups.orders(constants.PERMUTATIONS, rng)]) for _ in views[1:]]
    pairs = list(combinations(range(len(views)), 2))
    # every pair leaves out parts of its own: common ones would coincide in the given order alone
    of_pairs = [partitions, *([groups.parts(n_folds, rng) for _ in partitions] for _ in pairs[1:])]

    def statistics() -> np.ndarray:
        report("permuted pairs", 0, 1)
        large = [constants.LARGE_RIDGE * groups.n * view.unit for view in views]
        relative = [_relative_orders(orders[v], orders[u]) for v, u in pairs]
        found = []
        for at in (ridges, large):
            whitened = list(map(_whitened, views, at))
            held = [
                WhitenedPair(whitened[v], whitened[u], groups).associations(here, left_out)
                for (v, u), here, left_out in zip(pairs, relative, of_pairs, strict=True)
            ]
            found.append(window_strengths(_mean_over_pairs(held))[:, 0])
        share = 1.0 / (len(views) - 1)  # of the time for a pair of two views
        features = [
            strongest_features([views[v], views[u]], here, share) for (v, u), here in zip(pairs, relative, strict=True)
        ]
        return np.array([*found, _mean_over_pairs(features)])

    values = from_checkpoint("permuted pairs", statistics, lambda values: {"statistics": values}, _stored_statistics)
    return Sharing(_combined_p_value(values), values[0, 1:], partitions)


def _relative_orders(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """For every order, the row of the second view that row i of the first is paired with."""
    relative = np.empty_like(second)
    np.put_along_axis(relative, np.ascontiguousarray(first), second, axis=1)
    return relative


def _mean_over_pairs(found: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over pairs of views; factors that some pair lacks are left out."""
    fewest = min(each.shape[-1] for each in found) if found[0].ndim > 1 else None
    return np.mean([each if fewest is None else each[:, :fewest] for each in found], axis=0)


def _stored_statistics(stored: Mapping[str, np.ndarray]) -> np.ndarray:
    return stored["statistics"]


def _combined_p_value(statistics: np.ndarray) -> float:
    """The p-value of the first order, given several statistics (rows) of all orders (columns)."""
    ranks = np.sum(statistics[:, None, :] >= statistics[:, :, None] * (1 - _ROUNDING), axis=2)
    best = ranks.min(axis=0)
    return float(np.mean(best <= best[0]))


def can_refit(groups: Groups, shapes: Sequence[tuple[int, int]]) -> bool:
    """Whether views of these shapes are small enough for `refitted_test`."""
    return _effort(groups, [min(shape) for shape in shapes]) is not None


def _effort(groups: Groups, ranks: Sequence[int]) -> tuple[int, int] | None:
    """The number of folds of a partition, and of partitions, so that the test takes little time compared with a fit.

    Every view is whitened once, and is one of the two views of a pair as often as there are other views.
    """
    work = float(groups.n * sum(ranks) * (len(ranks) - 1))
    has_many = groups.n >= constants.MANY_SAMPLES
    if groups.n < constants.FEWEST_HELD_OUT or has_many or work > constants.MOST_WORK:
        return None
    n_folds = min(int(np.clip(round(constants.MEDIUM_WORK / work), *constants.TEST_FOLDS)), groups.n_groups)
    leaves_each_out = n_folds == groups.n_groups  # then all partitions are the same
    return n_folds, 1 if leaves_each_out else int(np.clip(constants.SMALL_WORK / work, 1, constants.TEST_PARTITIONS))


def count_from(found: np.ndarray, sharing: Sharing) -> int:
    """The number of factors, strongest first, before five in a row that are no better than chance.

    `found` are the associations of all factors on samples left out. Factors after the last shared one are assumed to
    hold as well, by chance, as the first factors of permuted samples.
    """
    strengths = window_strengths(found)
    n_better = np.array([np.count_nonzero(sharing.null >= strength) for strength in strengths])
    return count_before_chance((1 + n_better) / (1 + len(sharing.null)))


def count_before_chance(p_values: np.ndarray) -> int:
    """The number of factors before the first whose p-value is no better than chance; at least one."""
    chance = np.flatnonzero(p_values > constants.CHANCE)
    return max(1, int(chance[0])) if len(chance) else len(p_values)


def p_values(scores: Sequence[np.ndarray], groups: Groups, rng: np.random.Generator) -> np.ndarray:
    """The p-value of the strength of each factor and the next four, on samples that were left out of a single fit.

    Permuting these samples needs no further fit and is exact. Samples left out of several fits must not be permuted
    this way: each fit has learnt from samples that the other fits leave out.
    """
    first, *others = [standardized(each) for each in scores]
    found = window_strengths(mean_associations([first, *others], groups))
    orders = [groups.orders(constants.PERMUTATIONS, rng) for _ in others]
    null = []
    for drawn in zip(*orders, strict=True):
        permuted = [each[order] for each, order in zip(others, drawn, strict=True)]
        null.append(window_strengths(mean_associations([first, *permuted], groups)))
    return (1 + np.count_nonzero(np.array(null) >= found, axis=0)) / (1 + constants.PERMUTATIONS)


def mean_associations(scores: Sequence[np.ndarray], groups: Groups) -> np.ndarray:
    """`associations` of every factor, mean over all pairs of views."""
    return np.mean([associations(A, B, groups) for A, B in combinations(scores, 2)], axis=0)


def standardized(scores: np.ndarray) -> np.ndarray:
    """Centred columns of unit norm; constant ones become 0."""
    centred = scores - scores.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    return centred / np.where(norms > 0, norms, 1.0)


# --- the verdict ------------------------------------------------------------------------------------------------------


def is_doubtful(p_value: float) -> bool:
    """Whether the test did not show that the pairs share anything."""
    return p_value > constants.CHANCE


def verdict(p_value: float, groups: Groups, n_views: int = 2) -> str:
    """The result of the test, and what follows from it, in a sentence."""
    pair = "pair" if n_views == 2 else "sample"
    views = f"the {'two' if n_views == 2 else n_views} views of a {pair}"
    both = "both sides of each pair" if n_views == 2 else "all views of each sample"
    if isnan(p_value):
        return f"nothing is known about new {pair}s: at least {constants.FEWEST_HELD_OUT} are needed to leave any out."
    if not is_doubtful(p_value):
        return (
            f"the {pair}s share more than chance: {views} go together better than those of permuted {pair}s "
            f"(p = {p_value:.2g})."
        )
    n = groups.n_groups
    independent = counted(n, pair) if groups.labels is None else f"{counted(groups.n, pair)} in {counted(n, 'group')}"
    n_orders = exp(min(groups.log_orders, 700.0))
    if n_orders < 1 / constants.CHANCE:
        return (
            f"these {independent} cannot tell whether they share more than chance: groups change places with groups of "
            f"the same size, in {n_orders:.0f} orders, and a p-value of {constants.CHANCE:g} needs "
            f"{1 / constants.CHANCE:.0f}; add groups, or make them equally large."
        )
    found = f"{views} do not go together clearly better than those of permuted {pair}s (p = {p_value:.2g})"
    if n < _FEW_GROUPS:
        return f"these {independent} cannot tell whether they share more than chance: {found}; add {pair}s."
    return (
        f"the {pair}s share no more than chance, as far as {independent} can tell: {found}; check that {both} belong "
        "together."
    )


# --- near copies ------------------------------------------------------------------------------------------------------


def near_copies(views: Sequence[View]) -> tuple[Groups, float] | None:
    """Near copies as groups, and the share of the samples that have one; None if there are few.

    Cosines cost little, since the test has computed the views' spectra.
    """
    spectra = [spectrum_of(view) for view in views]
    n = views[0].shape[0]
    tiny = np.finfo(np.float64).tiny  # for a view that does not vary
    if max(s.values.sum() ** 2 / max(np.sum(s.values**2), tiny) for s in spectra) < constants.LEAST_DIMENSION:
        return None
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(n)[:_N_LOOKED_AT])
    if len(np.unique(_alike_pairs(spectra, some)[0])) < constants.MANY_COPIES * len(some):
        return None
    first, second = _alike_pairs(spectra, np.arange(n))
    share = len(np.unique(first)) / n
    n_groups, labels = connected_components(coo_array((np.ones(len(first)), (first, second)), shape=(n, n)))
    if n_groups < 2 or share < constants.MANY_COPIES:
        return None
    return Groups.of(labels, n), share


def _alike_pairs(spectra: Sequence[Spectrum], rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of different samples, the first of each among `rows`, that are alike in all views."""
    unit = []
    for spectrum in spectra:
        samples = spectrum.vectors * np.sqrt(spectrum.values)
        norms = np.linalg.norm(samples, axis=1, keepdims=True)
        small = norms <= 1e-6 * norms.max(initial=0.0)  # the likeness of empty samples means nothing
        unit.append(np.where(small, 0.0, samples) / np.where(small, 1.0, norms))
    first, second = [], []
    for part in parts(0, len(rows), _ROWS):
        some = rows[part]
        alike = np.logical_and.reduce([samples[some] @ samples.T >= constants.NEAR_COPY for samples in unit])
        alike[np.arange(len(some)), some] = False
        one, other = np.nonzero(alike)
        first.append(some[one])
        second.append(other)
    return np.concatenate(first), np.concatenate(second)


# --- leading factors of permuted samples ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WhitenedPair:
    """Two views, whitened with a ridge: G_v = A_v (A_v'A_v + ridge)^-1/2, centred, in coordinates of few columns.

    The factors of paired rows are the singular vectors of G_x'G_y. Whitening does not depend on which rows are paired,
    so that permuted pairs need no new whitening.

    Attributes
    ----------
    x, y : ndarray of shape (n, rank)
    groups : Groups
    """

    x: np.ndarray
    y: np.ndarray
    groups: Groups

    @property
    def n_factors(self) -> int:
        return min(self.x.shape[1], self.y.shape[1])

    def associations(
        self, orders: np.ndarray, partitions: Sequence[Sequence[np.ndarray]], n_factors: int = LEADING
    ) -> np.ndarray:
        """How strongly each leading factor holds on pairs left out, for every order of the samples of y.

        Each part of a partition is left out in turn: the factors of the other parts are found, strongest first, and
        give the scores of the part left out. The result is `associations` of the scores of all samples.

        Parameters
        ----------
        orders : ndarray of int of shape (n_orders, n)
            Row i of x is paired with row order[i] of y.
        partitions : sequence of sequences of ndarray of int
            Each divides the samples into parts. Associations are averaged over partitions.
        n_factors : int

        Returns
        -------
        ndarray of shape (n_orders, n_factors)
        """
        n_factors = min(n_factors, self.n_factors)
        if not n_factors:  # a view that does not vary
            return np.zeros((len(orders), 1))
        at_once = _orders_at_once(len(self.x) * n_factors, len(orders))
        chunks = [orders[part] for part in parts(0, len(orders), at_once)]
        with one_blas_thread():  # the same order of sums for any number of threads
            found = map_threads(partial(self._associate, partitions=partitions, n_factors=n_factors), chunks)
        return np.concatenate(found)

    def _associate(self, orders: np.ndarray, partitions: Sequence[Sequence[np.ndarray]], n_factors: int) -> np.ndarray:
        total = np.zeros((len(orders), n_factors))
        there, back = _places(orders), _places(np.argsort(orders, axis=1))
        for partition in partitions:
            products = np.empty((len(self.x), len(orders), n_factors))
            for left_out in partition:
                products[left_out] = self._products_left_out(there, back, left_out, n_factors)
            total += _studentised(products, self.groups)
        return total / len(partitions)

    def _products_left_out(
        self, there: np.ndarray, back: np.ndarray, left_out: np.ndarray, n_factors: int
    ) -> np.ndarray:
        """The products of the two views' scores of the samples left out, for every order and factor.

        Factors are found by subspace iteration from the same random start: with M = G_x'G_y over the other pairs, two
        steps of V = orthonormal(M'M V), then the singular vectors of M V.
        """
        training = self.x.copy()
        training[left_out] = 0.0

        def from_y(V: np.ndarray) -> np.ndarray:
            return _times(training.T, _reordered(_times(self.y, V), there))

        def from_x(U: np.ndarray) -> np.ndarray:
            return _times(self.y.T, _reordered(_times(training, U), back))

        start = np.random.default_rng(_SEED).standard_normal((self.y.shape[1], 1, n_factors)).astype(self.y.dtype)
        V = np.broadcast_to(start, (self.y.shape[1], there.shape[1], n_factors))
        for _ in range(_STEPS):
            V = _orthonormal(from_x(from_y(V)))
        U = from_y(V)
        squares, R = np.linalg.eigh(_inner(U))
        R = R[:, :, ::-1]  # the strongest first
        y_scores = _reordered(_times(self.y, V), there)[left_out]
        x_scores = _times(self.x[left_out], U)  # as long as their singular value, which is divided out below
        return (
            _rotated(x_scores, R)
            * _rotated(y_scores, R)
            / np.sqrt(np.maximum(squares[:, ::-1], np.finfo(np.float32).tiny))
        )


def associations(A: np.ndarray, B: np.ndarray, groups: Groups) -> np.ndarray:
    """How strongly scores of both views, of mean 0, go together: sum(a b) / sqrt(sum((a b)^2)) for each column.

    With groups, sums over groups replace single products. This is not the correlation: samples with much of a strong
    factor vary little in both views, and such a common scale raises correlations by chance, but not those of permuted
    pairs.
    """
    return _studentised(A * B, groups)


def _studentised(products: np.ndarray, groups: Groups) -> np.ndarray:
    sums = groups.sums(products)
    spread = np.sqrt(np.sum(sums * sums, axis=0))
    return sums.sum(axis=0) / np.where(spread > 0, spread, 1.0)


def strongest_features(views: Sequence[View], orders: np.ndarray, share: float = 1.0) -> np.ndarray:
    """The largest |association| of a feature of one view with a feature of the other, for every order of the second.

    Of many features, only those that vary most are compared, in a `share` of the usual time. The samples of a kernel
    take the place of features.
    """
    n = len(orders[0])
    features = [_leading_features(view, share * _MOST_PRODUCTS / (n * len(orders))) for view in views]
    x, y = (values - values.mean(axis=0) for values in features)
    if not x.shape[1] * y.shape[1]:  # a view that does not vary
        return np.zeros(len(orders))
    x_squares, y_squares = x * x, y * y

    def largest(some: np.ndarray) -> np.ndarray:
        squares = x_squares.T @ y_squares[some]
        found = (x.T @ y[some]) ** 2 / np.where(squares > 0, squares, 1.0)
        return np.sqrt(found.max(axis=(1, 2)))

    at_once = max(1, _FEW_ENTRIES // max(x.shape[1] * y.shape[1], n))
    with one_blas_thread():  # the same order of sums for any number of threads
        return np.concatenate(map_threads(largest, [orders[part] for part in parts(0, len(orders), at_once)]))


def _orders_at_once(n_entries: int, n_orders: int) -> int:
    """The number of orders, of `n_entries` scores each, that a thread treats at a time."""
    if n_entries * n_orders <= _FEW_ENTRIES:
        return n_orders
    return int(np.clip(_MOST_ENTRIES // n_entries, 1, _MOST_ORDERS))


def _leading_features(view: View, n_pairs: float) -> np.ndarray:
    """The columns of a view that vary most, few enough for at most `n_pairs` pairs of columns of both views."""
    squares = view.square_norms()
    count = int(min(np.count_nonzero(squares), max(1.0, np.sqrt(n_pairs))))
    return view.columns(np.sort(np.argsort(-squares, kind="stable")[:count]))


def window_strengths(associations: np.ndarray, width: int = LEADING) -> np.ndarray:
    """For each factor, the sum of squares of its association and of the next `width` - 1, negative ones left out."""
    squares = np.maximum(associations, 0.0) ** 2
    sums = np.cumsum(np.pad(squares, [(0, 0)] * (squares.ndim - 1) + [(1, width)]), axis=-1)
    sums[..., squares.shape[-1] + 1 :] = sums[..., squares.shape[-1], None]
    return sums[..., width : width + squares.shape[-1]] - sums[..., : squares.shape[-1]]


def _whitened(view: View, ridge: float) -> np.ndarray:
    spectrum = spectrum_of(view)
    G = spectrum.vectors * spectrum.gain(1.0, ridge)
    return (G - G.mean(axis=0)).astype(np.float32)  # precise enough for ranks, and twice as fast


def _times(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """A V for stacked V of shape (rows, n_orders, n_factors)."""
    return (A @ V.reshape(len(V), -1)).reshape(len(A), *V.shape[1:])


def _places(orders: np.ndarray) -> np.ndarray:
    """The place of the row of every order among the rows of all orders; shape (n, n_orders)."""
    return orders.T * len(orders) + np.arange(len(orders))


def _reordered(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    return scores.reshape(-1, scores.shape[2]).take(places, axis=0)


def _inner(V: np.ndarray) -> np.ndarray:
    by_order = V.transpose(1, 2, 0)
    return by_order @ by_order.transpose(0, 2, 1)


def _orthonormal(V: np.ndarray) -> np.ndarray:
    """The columns of every order orthonormalised, by Gram and Schmidt; columns that depend on others become 0."""
    columns: list[np.ndarray] = []
    for column in np.ascontiguousarray(V.transpose(2, 0, 1)):
        length = np.linalg.norm(column, axis=0)
        for before in columns:
            column = column - before * np.einsum("ij,ij->j", before, column)
        rest = np.linalg.norm(column, axis=0)
        columns.append(column * np.where(rest > _DEPENDENT * length, 1.0 / np.where(rest > 0, rest, 1.0), 0.0))
    return np.stack(columns, axis=2)


def _rotated(V: np.ndarray, R: np.ndarray) -> np.ndarray:
    """V R for every order."""
    return np.matmul(V.transpose(1, 0, 2), R).transpose(1, 0, 2)
