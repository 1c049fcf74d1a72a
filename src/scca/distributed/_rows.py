"""Views in blocks on a cluster: sent from memory, read from files by the workers, or made of data that they have."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._checks import check_count
from .._data import check_same_samples, read_view
from ..readers import even_bounds
from ..samples import Block
from ..views import BlockRows
from ._blocks import DaskBlocks
from ._cluster import attempted, explained, results, scattered, workers_of

__all__ = ["at_worker", "block_count", "block_views", "read_rows", "rows_of", "scatter"]

_MOST_BYTES_OF_BLOCK = 1 << 29  # unless the user asks for fewer blocks


def scatter(client: Any, X: Any, Y: Any, n_blocks: int | None = None) -> tuple[BlockRows, BlockRows]:
    """Send two views in memory to the workers, in blocks of rows.

    The views stay in memory here, too, so that blocks whose workers are lost can be sent again.

    Parameters
    ----------
    client : distributed.Client
    X, Y : array, sparse matrix or data frame
        As for `SparseCCA.fit`.
    n_blocks : int, optional
        By default one per worker, or more if they would be large.

    Returns
    -------
    X, Y : BlockRows
        For `SparseCCA(...).fit(X, Y)`.
    """
    (x, x_features), (y, y_features) = read_view(X, "X"), read_view(Y, "Y")
    check_same_samples(x, y)
    x, y = _by_rows(x), _by_rows(y)
    bounds = even_bounds(0, x.shape[0], block_count(client, n_blocks, _n_bytes(x) + _n_bytes(y)))
    kept: list[Any] = [None] * len(bounds)

    def make() -> list[Any]:
        for i, (start, stop) in enumerate(bounds):
            if kept[i] is None or kept[i].cancelled():
                block = Block(start, {"X": x[start:stop], "Y": y[start:stop]})
                kept[i] = scattered(client, block, at_worker(client, i, len(bounds)))
        return list(kept)

    return block_views(client, make, {"X": x_features.names, "Y": y_features.names})


def read_rows(client: Any, X: Any, Y: Any, n_blocks: int | None = None) -> tuple[BlockRows, BlockRows]:
    """Two views in files that all workers can read; each worker reads its own rows.

    Parameters
    ----------
    client : distributed.Client
    X, Y : path or list of paths
        `.npy` arrays, which are read by ranges of rows; or equally many files of each view, paired in order, one block
        each: `.npy`, `.npz` (scipy.sparse), `.parquet` or `.csv` (needs pandas).
    n_blocks : int, optional
        Of a single `.npy` file: by default one per worker, or more if they would be large.

    Returns
    -------
    X, Y : BlockRows
        For `SparseCCA(...).fit(X, Y)`.
    """
    x_files, y_files = _files(X), _files(Y)
    if len(x_files) != len(y_files):
        raise ValueError(f"X and Y must have as many files; got {len(x_files)} and {len(y_files)}: pair them in order.")
    if len(x_files) > 1 or any(not name.endswith(".npy") for name in (*x_files, *y_files)):
        jobs: list[tuple[Any, ...]] = [(x, y, None, None) for x, y in zip(x_files, y_files, strict=True)]
    else:
        x, y = (np.load(files[0], mmap_mode="r") for files in (x_files, y_files))
        check_same_samples(x, y)
        bounds = even_bounds(0, x.shape[0], block_count(client, n_blocks, x.nbytes + y.nbytes))
        jobs = [(x_files[0], y_files[0], *bound) for bound in bounds]
    return _views_of_pairs(client, lambda: [client.submit(_load, *job, pure=False) for job in jobs])


def rows_of(client: Any, blocks: Sequence[Any]) -> tuple[BlockRows, BlockRows]:
    """Two views that the workers already have, or can compute.

    Parameters
    ----------
    client : distributed.Client
    blocks : sequence of futures or delayed objects
        Each a pair (X, Y) of arrays, sparse matrices or data frames of the same samples.

    Returns
    -------
    X, Y : BlockRows
        For `SparseCCA(...).fit(X, Y)`.
    """
    return _views_of_pairs(client, lambda: client.compute(list(blocks)))


def _views_of_pairs(client: Any, submit: Callable[[], list[Any]]) -> tuple[BlockRows, BlockRows]:
    """The views X and Y, given a function that returns futures of pairs of matrices."""

    def make() -> list[Any]:
        with explained(client):
            checked = [client.submit(_checked, pair, i, pure=False) for i, pair in enumerate(submit())]
            counting = [client.submit(_n_rows, pair, pure=False) for pair in checked]
        starts = np.cumsum([0, *results(client, counting, before=checked)])[:-1].tolist()
        with explained(client):
            return [client.submit(_block, start, pair, pure=False) for start, pair in zip(starts, checked, strict=True)]

    return block_views(client, make)


def block_views(
    client: Any, make: Callable[[], list[Any]], names: Mapping[str, Any] | None = None
) -> tuple[BlockRows, BlockRows]:
    """The views X and Y, given a function that returns the futures of blocks; `names` are those of the features."""

    def begin() -> tuple[list[Any], list[Any]]:
        futures = make()
        with explained(client):
            described = [client.submit(_description, block, pure=False) for block in futures]
        return futures, results(client, described)

    futures, found = attempted(begin, lambda: None)
    blocks = DaskBlocks(client, make, sum(n for n, _ in found), futures)
    views = []
    for name in "XY":
        widths, dtypes, sparse, stored = zip(*(of_view[name] for _, of_view in found), strict=True)
        if len(set(widths)) > 1 or len(set(sparse)) > 1:
            raise ValueError(
                f"all blocks of {name} must have the same features, dense or sparse; got blocks of "
                f"{' and '.join(map(str, sorted(set(widths))))} features: make them alike."
            )
        dtype, feature_names = np.result_type(*dtypes), (names or {}).get(name)
        described = {"is_sparse": sparse[0], "n_stored": sum(stored), "feature_names": feature_names}
        views.append(BlockRows(blocks, name, widths[0], dtype, **described))
    return views[0], views[1]


def block_count(client: Any, n_blocks: int | None, n_bytes: int = 0) -> int:
    """The number of blocks that the user asks for; by default one per worker, or more for many bytes."""
    if n_blocks is not None:
        return check_count(n_blocks, "n_blocks")
    return max(1, len(workers_of(client)), -(-n_bytes // _MOST_BYTES_OF_BLOCK))


def at_worker(client: Any, i: int, n: int) -> str | None:
    """The worker that block i of n is sent to: the workers share the blocks evenly, in order.

    This is not for tasks: Dask cannot run a task again that prefers a worker which is gone.
    """
    workers = list(workers_of(client))
    return workers[i * len(workers) // n] if workers else None


def _files(given: Any) -> list[str]:
    return [str(path) for path in ([given] if isinstance(given, str | PathLike) else given)]


def _by_rows(view: Any) -> Any:
    """The view in a storage whose rows can be sliced."""
    return view.tocsr() if sp.issparse(view) else view


def _n_bytes(view: Any) -> int:
    return int(view.data.nbytes + view.indices.nbytes if sp.issparse(view) else view.nbytes)


# --- on the workers ---------------------------------------------------------------------------------------------------


def _load(x_file: str, y_file: str, start: int | None, stop: int | None) -> tuple[Any, Any]:
    return _matrix(x_file, start, stop), _matrix(y_file, start, stop)


def _matrix(file: str, start: int | None, stop: int | None) -> Any:
    suffix = Path(file).suffix
    if suffix == ".npy":
        return np.array(np.load(file, mmap_mode="r")[start:stop])
    if suffix == ".npz":
        return sp.load_npz(file)
    if suffix in (".csv", ".parquet"):
        import pandas as pd

        return pd.read_csv(file) if suffix == ".csv" else pd.read_parquet(file)
    raise ValueError(f"{file} must be a .npy, .npz, .parquet or .csv file: convert it.")


def _checked(pair: Sequence[Any], number: int) -> tuple[Any, Any]:
    try:
        x, y = (read_view(data, name)[0] for data, name in zip(pair, "XY", strict=True))
        check_same_samples(x, y)
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error
    return _by_rows(x), _by_rows(y)


def _n_rows(pair: Sequence[Any]) -> int:
    return int(pair[0].shape[0])


def _block(start: int, pair: Sequence[Any]) -> Block:
    return Block(start, dict(zip("XY", pair, strict=True)))


def _description(block: Block) -> tuple[int, dict[str, tuple[int, Any, bool, int]]]:
    return block.n, {
        name: (view.shape[1], view.dtype, sp.issparse(view), int(view.nnz if sp.issparse(view) else view.size))
        for name, view in block.data.items()
    }
