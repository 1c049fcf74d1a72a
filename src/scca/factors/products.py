"""Products with views: scores, correlations and covariances, a block of rows at a time, wherever the samples are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._compile import compiled
from ..parallel import map_threads, one_blas_thread, parts
from ..samples import each, remote_blocks_of, summed
from ..views import FeatureView, PrimalView, SparseStorage, View

__all__ = [
    "PooledScores",
    "RidgeSolution",
    "Scores",
    "Wanted",
    "column_products",
    "correlations",
    "covariance",
    "grams",
    "images",
    "inner_products",
    "regularised",
    "row_squares",
    "scores_of",
]

_ROWS = 512  # whose scores are in memory at a time
_LANE_BYTES = 1 << 28  # for all lanes: each has its own sums over all features
_LANES = (2, 16)  # blocks of rows that threads share, at least and at most
_MOST_STORED = 1 << 25  # scores that are stored: 256 MB
_POOLED_ROWS = 4096  # whose pooled scores are in memory at a time
_PER_LANE = 16  # such blocks; each lane has sums of its own
_FEATURES_PER_TASK = 512
_DENSE_ENTRIES = 1 << 24  # of dense columns held at a time by a thread
_AT_ONCE = 2048  # coordinates whose inner products with all others are in memory

Wanted = tuple[np.ndarray, np.ndarray]  # the rows and columns of a part of M'M


# --- scores of samples ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PooledScores:
    """T = sum over v of M_v W_v, for sparse views M_v or remote samples; of all samples, or those in `rows`.

    Like an array it can be multiplied by a matrix or by a number per column, added to another, and restricted to some
    samples. None of these computes a score.
    """

    views: Sequence[Any]  # PrimalView
    weights: Sequence[np.ndarray]
    rows: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        n = self.views[0].shape[0] if self.rows is None else len(self.rows)
        return n, self.weights[0].shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, matrix: np.ndarray) -> "PooledScores":
        return replace(self, weights=[W @ matrix for W in self.weights])

    def __mul__(self, factors: np.ndarray) -> "PooledScores":
        return replace(self, weights=[W * factors for W in self.weights])

    def __add__(self, other: "PooledScores") -> "PooledScores":
        return replace(self, views=[*self.views, *other.views], weights=[*self.weights, *other.weights])

    def __getitem__(self, rows: Any) -> "PooledScores":
        if remote_blocks_of(self.views):
            return replace(self, views=[view.chosen(rows) for view in self.views])
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        out = np.empty(self.shape)
        block = self.blocks()

        def fill(part: slice) -> None:
            out[part] = block(np.arange(part.start, part.stop))

        map_threads(fill, parts(0, len(self), _POOLED_ROWS))
        return out

    def blocks(self) -> Callable[[np.ndarray], np.ndarray]:
        """A function from some rows, their numbers, to their scores."""
        sides = [score_rows(view, W) for view, W in zip(self.views, self.weights, strict=True)]

        def block(rows: np.ndarray) -> np.ndarray:
            rows = rows if self.rows is None else self.rows[rows]
            first, *others = (side(rows) for side in sides)
            for scores in others:
                first += scores
            return first

        return block


Scores = np.ndarray | PooledScores


def scores_of(views: Sequence[View], weights: Sequence[np.ndarray]) -> Scores:
    """sum over v of M_v W_v: stored, or pooled if that takes much memory and all views are sparse."""
    large = views[0].shape[0] * weights[0].shape[1] > _MOST_STORED
    if remote_blocks_of(views) or (large and _all_sparse(views)):
        return PooledScores(views, weights)
    return sum(view.matmat(W) for view, W in zip(views, weights, strict=True))  # type: ignore[return-value]


def correlations(views: Sequence[View], T: Scores) -> list[np.ndarray]:
    """M_v'T for every view, computing each score of T once."""
    if isinstance(T, PooledScores) and (remote_blocks_of(views) or _all_sparse(views)):
        return summed(_correlations, [*views, *T.views], len(views), list(T.weights))
    T = np.asarray(T)
    return [view.rmatmat(T) for view in views]


def _correlations(views: Sequence[FeatureView], n_correlated: int, weights: Sequence[np.ndarray]) -> list[np.ndarray]:
    T = PooledScores(views[n_correlated:], weights)
    with one_blas_thread():
        return correlate(views[:n_correlated], T.blocks(), T.shape[1])


def inner_products(T: Scores, U: Scores) -> np.ndarray:
    """T'U."""
    return _over_samples(_all_products, T, U)


def column_products(T: Scores, U: Scores) -> np.ndarray:
    """The diagonal of T'U."""
    return _over_samples(_own_products, T, U)


def row_squares(T: Scores) -> Any:
    """The squared norm of every sample's scores."""
    if not isinstance(T, PooledScores):
        return np.sum(T**2, axis=1)
    return each(_row_squares, T.views, list(T.weights))


def _row_squares(views: Sequence[FeatureView], weights: Sequence[np.ndarray]) -> np.ndarray:
    T = PooledScores(views, weights)
    block = T.blocks()
    blocks = map_threads(
        lambda part: np.sum(block(np.arange(part.start, part.stop)) ** 2, axis=1), parts(0, len(T), _POOLED_ROWS)
    )
    return np.concatenate(blocks)


def _all_sparse(views: Sequence[View]) -> bool:
    return all(isinstance(view, PrimalView) and view.is_sparse for view in views)


def _all_products(t: np.ndarray, u: np.ndarray) -> np.ndarray:
    return t.T @ u


def _own_products(t: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", t, u)


Product = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _over_samples(compute: Product, T: Scores, U: Scores) -> np.ndarray:
    """The sum of `compute` over blocks of rows of both."""
    if isinstance(T, PooledScores) and isinstance(U, PooledScores) and remote_blocks_of(T.views):
        others = [] if U is T else list(U.views)
        return summed(_of_pooled, [*T.views, *others], compute, list(T.weights), list(U.weights))
    if not isinstance(T, PooledScores) and not isinstance(U, PooledScores):
        return compute(T, U)
    first, second = _blocks_of(T), _blocks_of(T) if U is T else _blocks_of(U)

    def of_lane(lane: slice) -> np.ndarray:
        total: np.ndarray | float = 0.0
        for part in parts(lane.start, lane.stop, _POOLED_ROWS):
            rows = np.arange(part.start, part.stop)
            t = first(rows)
            total = total + compute(t, t if U is T else second(rows))
        return np.asarray(total)

    with one_blas_thread():
        lanes = map_threads(of_lane, parts(0, len(T), _PER_LANE * _POOLED_ROWS))
    return sum(lanes[1:], start=lanes[0])


def _of_pooled(
    views: Sequence[FeatureView], compute: Product, first: Sequence[np.ndarray], second: Sequence[np.ndarray]
) -> np.ndarray:
    T = PooledScores(views[: len(first)], first)
    return _over_samples(compute, T, PooledScores(views[len(first) :], second) if len(views) > len(first) else T)


def _blocks_of(T: Scores) -> Callable[[np.ndarray], np.ndarray]:
    return T.blocks() if isinstance(T, PooledScores) else lambda rows: T[rows]


@dataclass(frozen=True, eq=False)
class RidgeSolution:
    """W with (M'M + ridge) W = R, one column each, and ||R - (M'M + ridge) W|| / ||R|| of each column.

    `converged` says whether this residual is at most `tol`.
    """

    weights: np.ndarray
    residuals: np.ndarray
    tol: float

    @property
    def converged(self) -> np.ndarray:
        return self.residuals <= self.tol


# --- a block of rows at a time ----------------------------------------------------------------------------------------


def regularised(view: PrimalView, ridge: float, W: np.ndarray) -> np.ndarray:
    """(M'M + ridge) W."""
    return images([view], [ridge], [W])[0][0]


def images(
    views: Sequence[PrimalView], ridges: Sequence[float], blocks: Sequence[np.ndarray]
) -> list[list[np.ndarray]]:
    """For directions W_v of every view: found[v][u] = A_u'A_v W_v for every view u, plus ridge W_v for u = v."""
    sums = summed(_images, list(views), list(blocks))
    ends = np.cumsum([block.shape[1] for block in blocks])
    found = [list(split) for split in zip(*(np.hsplit(side, ends[:-1]) for side in sums), strict=True)]
    for v, (ridge, block) in enumerate(zip(ridges, blocks, strict=True)):
        found[v][v] = found[v][v] + ridge * block
    return found


def _images(views: Sequence[FeatureView], blocks: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A_u'[A_1 W_1, A_2 W_2, ...] for every view u."""
    sides = [score_rows(view, block) for view, block in zip(views, blocks, strict=True)]

    def scores(rows: np.ndarray) -> np.ndarray:
        return np.hstack([side(rows) for side in sides])

    return correlate(views, scores, sum(block.shape[1] for block in blocks))


def score_rows(view: FeatureView, W: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from some rows, their numbers, to these rows of M W.

    Sparse features are read by rows: a row of scores is then read and written once, which is several times faster than
    by columns. Feature weights, centring and scaling are applied within the products.
    """
    storage = view.storage
    if not isinstance(storage, SparseStorage):
        scores = view.matmat(W)
        return lambda rows: scores[rows]
    stored, scale = storage.stored.rows, sample_scale(view)
    weighted = np.ascontiguousarray(storage.of_columns(W), dtype=np.float64)
    shift = np.zeros(W.shape[1]) if view.mean is None else view.mean @ W

    def of_rows(rows: np.ndarray) -> np.ndarray:
        out = np.empty((len(rows), len(shift)))
        _row_scores(stored.data, stored.indices, stored.indptr, rows, scale, weighted, shift, out)
        return out

    return of_rows


def correlate(
    views: Sequence[FeatureView], scores: Callable[[np.ndarray], np.ndarray], n_columns: int
) -> list[np.ndarray]:
    """M_u'T for every view u, T having `n_columns`; `scores` gives some rows of T, computed when they are needed.

    Threads share lanes of rows, which depend on the sizes alone, so that sums have the same order for any number of
    threads. If a view is dense, all rows at once.
    """
    everything = np.arange(views[0].shape[0])
    storages = [view.storage for view in views if isinstance(view.storage, SparseStorage)]
    if len(storages) < len(views):
        T = scores(everything)
        return [view.rmatmat(T) for view in views]
    stored, scales = [storage.stored.rows for storage in storages], [sample_scale(view) for view in views]

    def of_lane(lane: slice) -> list[tuple[np.ndarray, np.ndarray]]:
        sums = [(np.zeros((view.shape[1], n_columns)), np.zeros(n_columns)) for view in views]
        for part in parts(lane.start, lane.stop, _ROWS):
            rows = everything[part]
            T = np.ascontiguousarray(scores(rows), dtype=np.float64)
            for of_view, scale, (out, total) in zip(stored, scales, sums, strict=True):
                _row_correlations(of_view.data, of_view.indices, of_view.indptr, rows, scale, T, out, total)
        return sums

    first, *others = map_threads(of_lane, row_lanes(views, n_columns))
    for lane in others:
        for (out, total), (more, rest) in zip(first, lane, strict=True):
            out += more
            total += rest
    found = []
    for view, storage, (out, total) in zip(views, storages, first, strict=True):
        out = storage.of_columns(out)
        found.append(out if view.mean is None else out - np.outer(view.mean, total))
    return found


def row_lanes(views: Sequence[FeatureView], n_columns: int) -> list[slice]:
    """As many blocks of rows as have room for sums of their own."""
    n = views[0].shape[0]
    size = 8 * max(1, n_columns) * sum(view.shape[1] for view in views)
    n_lanes = int(np.clip(_LANE_BYTES // size, *_LANES))
    return parts(0, n, max(1, -(-n // n_lanes)))


# --- covariances of features ------------------------------------------------------------------------------------------


def sample_scale(view: FeatureView) -> np.ndarray:
    """d, by which a view scales its samples."""
    return np.ones(view.shape[0]) if view.scale is None else view.scale


def covariance(
    first: PrimalView,
    second: PrimalView,
    dtype: type = np.float64,
    rows: np.ndarray | None = None,
    columns: np.ndarray | None = None,
) -> np.ndarray:
    """M'N of two views of the same samples, summed in double precision: of all features, or of chosen ones of each."""
    rows = np.arange(first.shape[1]) if rows is None else rows
    columns = np.arange(second.shape[1]) if columns is None else columns
    if first is second and np.array_equal(rows, columns) and (np.diff(rows) > 0).all():
        return _whole(summed(_lower_half, [first], dtype, rows), dtype)
    return summed(_covariance, [first, second], dtype, rows, columns)


def _lower_half(views: Sequence[FeatureView], dtype: type, rows: np.ndarray) -> list[np.ndarray]:
    """Of M'M for chosen features, in blocks of rows up to the diagonal: fewer sums, and fewer bytes on a cluster."""
    covariances = _covariance([views[0], views[0]], dtype, rows, rows, lower=True)
    return [covariances[part, : part.stop].copy() for part in parts(0, len(rows), _FEATURES_PER_TASK)]


def _whole(blocks: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    """The symmetric matrix with this lower half."""
    n = sum(map(len, blocks))
    out: np.ndarray = np.empty((n, n), dtype=dtype)
    stop = 0
    for block in blocks:
        start, stop = stop, stop + len(block)
        out[start:stop, :start] = block[:, :start]
        out[:start, start:stop] = block[:, :start].T
        out[start:stop, start:stop] = np.tril(block[:, start:]) + np.tril(block[:, start:], -1).T
    return out


def _covariance(
    views: Sequence[FeatureView], dtype: type, rows: np.ndarray, columns: np.ndarray, lower: bool = False
) -> np.ndarray:
    """With `lower`, of the same features twice, what is above the diagonal may be missing."""
    first, second = views
    out: np.ndarray = np.zeros((len(rows), len(columns)), dtype=dtype)
    one, other = first.storage, second.storage
    if not (isinstance(one, SparseStorage) and isinstance(other, SparseStorage)):
        step = max(1, min(_FEATURES_PER_TASK, _DENSE_ENTRIES // first.shape[0]))
        part = second if len(columns) == second.shape[1] else second.restricted(columns)

        def compute(chosen: slice) -> None:
            out[chosen] = part.rmatmat(first.columns(rows[chosen])).T

    else:
        step = _FEATURES_PER_TASK
        by_column, by_row = one.stored.columns, other.stored.rows
        stored = (by_column.data, by_column.indices, by_column.indptr, by_row.data, by_row.indices, by_row.indptr)
        place = np.full(second.shape[1], -1)
        place[columns] = np.arange(len(columns))
        weights = sample_scale(first) * sample_scale(second)
        a, b = (
            np.zeros(len(kept)) if view.mean is None else view.mean[kept]
            for view, kept in ((first, rows), (second, columns))
        )
        factors = [
            np.ones(len(kept)) if side.weights is None else side.weights[kept]
            for side, kept in ((one, rows), (other, columns))
        ]
        of_means = a, one.rmatvec(weights, rows), b, other.rmatvec(weights, columns), weights.sum()
        lower = bool(lower and by_row.has_sorted_indices)

        def compute(chosen: slice) -> None:
            _covariances(*stored, rows, place, weights, *factors, *of_means, chosen.start, chosen.stop, lower, out)

    map_threads(compute, parts(0, len(rows), step))
    return out


def grams(view: View, wanted: Sequence[Wanted]) -> list[np.ndarray]:
    """The chosen parts of M'M; what several of them have is computed once."""
    if not wanted:
        return []
    found = [np.empty((len(rows), len(columns))) for rows, columns in wanted]
    n = view.shape[1]
    all_rows, all_columns = (np.flatnonzero(_any_of(side, n)) for side in zip(*wanted, strict=True))
    place = np.full(n, -1)
    place[all_rows] = np.arange(len(all_rows))
    for part in parts(0, len(all_columns), _AT_ONCE):
        chunk = all_columns[part]
        products = _inner(view, chunk, all_rows)
        position = np.full(n, -1)
        position[chunk] = np.arange(len(chunk))
        for out, (rows, columns) in zip(found, wanted, strict=True):
            here = position[columns] >= 0
            out[:, here] = products[np.ix_(position[columns[here]], place[rows])].T
    return found


def _any_of(choices: Sequence[np.ndarray], n: int) -> np.ndarray:
    is_wanted = np.zeros(n, dtype=bool)
    for chosen in choices:
        is_wanted[chosen] = True
    return is_wanted


def _inner(view: View, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if isinstance(view, PrimalView):
        return covariance(view, view, rows=first, columns=second)
    return view.columns(first).T @ view.columns(second)


# --- compiled loops ---------------------------------------------------------------------------------------------------


@compiled
def _row_scores(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    W: np.ndarray,
    shift: np.ndarray,
    out: np.ndarray,
) -> None:
    """out = D (A W - 1 shift') for the chosen rows of A."""
    for position in range(len(rows)):
        i, line = rows[position], out[position]
        for k in range(len(line)):
            line[k] = -shift[k]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, weights = data[p], W[np.uint64(indices[p])]
            for k in range(len(line)):
                line[k] += value * weights[k]
        for k in range(len(line)):
            line[k] *= scale[i]


@compiled
def _row_correlations(
    data: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    T: np.ndarray,
    out: np.ndarray,
    total: np.ndarray,
) -> None:
    """out += A'D T and total += 1'D T for the chosen rows of A, those that T has."""
    line = np.empty(T.shape[1])
    for position in range(len(rows)):
        i = rows[position]
        for k in range(len(line)):
            line[k] = scale[i] * T[position, k]
            total[k] += line[k]
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            value, sums = data[p], out[np.uint64(indices[p])]
            for k in range(len(line)):
                sums[k] += value * line[k]


@compiled
def _covariances(
    by_column: np.ndarray,
    samples: np.ndarray,
    starts: np.ndarray,
    by_row: np.ndarray,
    features: np.ndarray,
    row_starts: np.ndarray,
    chosen: np.ndarray,
    place: np.ndarray,
    weights: np.ndarray,
    a_factors: np.ndarray,
    b_factors: np.ndarray,
    a: np.ndarray,
    a_sums: np.ndarray,
    b: np.ndarray,
    b_sums: np.ndarray,
    weight: float,
    first: int,
    last: int,
    lower: bool,
    out: np.ndarray,
) -> None:
    """Rows first:last of (A F - 1 a')' W (B G - 1 b'), through the rows of B.

    For the chosen features of A, and for those of B that have a place, which is -1 for others. W has the weights of the
    samples, whose sum is `weight`, F and G the factors of the features; the sums are F A'W 1 and G B'W 1.
    With `lower`, no more than the columns up to the diagonal: features of samples, and their places, are in order.
    """
    line = np.empty(len(b))
    for j in range(first, last):
        line[:] = 0.0
        for p in range(np.uint64(starts[chosen[j]]), np.uint64(starts[chosen[j] + 1])):
            i = np.uint64(samples[p])
            value = by_column[p] * weights[i]
            for q in range(np.uint64(row_starts[i]), np.uint64(row_starts[i + np.uint64(1)])):
                k = place[np.uint64(features[q])]
                if lower and k > j:
                    break
                if k >= 0:
                    line[np.uint64(k)] += value * by_row[q]
        for k in range(j + 1 if lower else len(b)):
            of_means = (weight * a[j] - a_sums[j]) * b[k] - a[j] * b_sums[k]
            out[j, k] = a_factors[j] * b_factors[k] * line[k] + of_means
