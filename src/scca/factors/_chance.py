"""What pairs left out show of the leading factors, and what they would show if nothing were paired."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..parallel import map_threads, one_blas_thread, parts
from ..samples import Groups
from ..views import View
from ._spectrum import spectrum_of

__all__ = ["LEADING", "WhitenedPair", "associations", "strongest_features", "window_strengths"]

LEADING = 5  # factors that a test looks at together
_STEPS = 2  # of the iteration that finds leading factors
_MOST_ENTRIES = 1 << 22  # of the scores that a thread has in memory at a time
_FEW_ENTRIES = 1 << 17  # of scores that are not worth several threads
_MOST_ORDERS = 50  # that a thread treats at a time, of more
_MOST_PRODUCTS = 1e9  # of values of two features, for all orders
_DEPENDENT = 1e-5  # share of a column's length that is rounding error
_SEED = 0


@dataclass(frozen=True, eq=False)
class WhitenedPair:
    """Two views, whitened with a ridge: G_v = A_v (A_v'A_v + ridge)^-1/2, centred, in coordinates of few columns.

    The factors of paired rows are the singular vectors of G_x'G_y. Whitening does not depend on which rows are paired,
    so that permuted pairs need no new one.

    Attributes
    ----------
    x, y : ndarray of shape (n, rank)
    groups : Groups
    """

    x: np.ndarray
    y: np.ndarray
    groups: Groups

    @classmethod
    def of(cls, views: Sequence[View], ridges: Sequence[float], groups: Groups) -> "WhitenedPair":
        x, y = map(_whitened, views, ridges)
        return cls(x, y, groups)

    @property
    def n_factors(self) -> int:
        return min(self.x.shape[1], self.y.shape[1])

    def associations(
        self, orders: np.ndarray, partitions: Sequence[Sequence[np.ndarray]], n_factors: int = LEADING
    ) -> np.ndarray:
        """How strongly each leading factor holds on pairs left out, for every order of the samples of y.

        The factors of all parts of the samples but one are found, strongest first, and the part left out is scored,
        for each part of a partition in turn; then `associations` of the scores of all samples.

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
        at_once = _at_once(len(self.x) * n_factors, len(orders))
        chunks = [orders[part] for part in parts(0, len(orders), at_once)]
        with one_blas_thread():  # the same order of sums for any number of threads
            found = map_threads(partial(self._of_orders, partitions=partitions, n_factors=n_factors), chunks)
        return np.concatenate(found)

    def _of_orders(self, orders: np.ndarray, partitions: Sequence[Sequence[np.ndarray]], n_factors: int) -> np.ndarray:
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
        """The two views' scores of the samples left out, multiplied, for every order and factor.

        Factors by subspace iteration from the same random start: with M = G_x'G_y over the other pairs, two steps of
        V = orthonormal(M'M V), then the singular vectors of M V.
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
        x_scores = _times(self.x[left_out], U)  # of the length of their singular value, which is divided out later
        return (
            _turned(x_scores, R)
            * _turned(y_scores, R)
            / np.sqrt(np.maximum(squares[:, ::-1], np.finfo(np.float32).tiny))
        )


def associations(A: np.ndarray, B: np.ndarray, groups: Groups) -> np.ndarray:
    """How strongly scores of both views, of mean 0, go together: sum(a b) / sqrt(sum((a b)^2)) for each column.

    With sums over groups in place of single products. It is not the correlation: samples that have much of a strong
    factor vary little in both views, and a common scale makes correlations larger by chance than those of permuted
    pairs.
    """
    return _studentised(A * B, groups)


def _studentised(products: np.ndarray, groups: Groups) -> np.ndarray:
    sums = groups.sums(products)
    spread = np.sqrt(np.sum(sums * sums, axis=0))
    return sums.sum(axis=0) / np.where(spread > 0, spread, 1.0)


def strongest_features(views: Sequence[View], orders: np.ndarray) -> np.ndarray:
    """The largest |association| of a feature of one view with a feature of the other, for every order of the second.

    Of many features, those that vary most. A kernel has no features: its samples take their place.
    """
    n = len(orders[0])
    features = [_leading_features(view, _MOST_PRODUCTS / (n * len(orders))) for view in views]
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


def _at_once(n_entries: int, n_orders: int) -> int:
    """How many orders, with so many entries each, are treated at a time."""
    if n_entries * n_orders <= _FEW_ENTRIES:
        return n_orders
    return int(np.clip(_MOST_ENTRIES // n_entries, 1, _MOST_ORDERS))


def _leading_features(view: View, n_pairs: float) -> np.ndarray:
    """The columns of a view that vary most, so few that both views have no more than `n_pairs` pairs of them."""
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
    """Where the row of every order is found among the rows of all orders; shape (n, n_orders)."""
    return orders.T * len(orders) + np.arange(len(orders))


def _reordered(scores: np.ndarray, places: np.ndarray) -> np.ndarray:
    return scores.reshape(-1, scores.shape[2]).take(places, axis=0)


def _inner(V: np.ndarray) -> np.ndarray:
    by_order = V.transpose(1, 2, 0)
    return by_order @ by_order.transpose(0, 2, 1)


def _orthonormal(V: np.ndarray) -> np.ndarray:
    """The columns of every order orthonormalised, by Gram and Schmidt; those that depend on others become 0."""
    columns: list[np.ndarray] = []
    for column in np.ascontiguousarray(V.transpose(2, 0, 1)):
        length = np.linalg.norm(column, axis=0)
        for before in columns:
            column = column - before * np.einsum("ij,ij->j", before, column)
        rest = np.linalg.norm(column, axis=0)
        columns.append(column * np.where(rest > _DEPENDENT * length, 1.0 / np.where(rest > 0, rest, 1.0), 0.0))
    return np.stack(columns, axis=2)


def _turned(V: np.ndarray, R: np.ndarray) -> np.ndarray:
    """V R for every order."""
    return np.matmul(V.transpose(1, 0, 2), R).transpose(1, 0, 2)
