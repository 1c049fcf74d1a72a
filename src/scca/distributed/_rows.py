"""Views in blocks on a cluster: sent from memory, read from files by the workers, or made of data that they have."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._checks import check_count, shown
from .._data import check_same_samples, read_view
from .._wording import joined
from ..readers import even_bounds
from ..samples import Block, view_names
from ..views import BlockRows
from ._blocks import DaskBlocks
from ._cluster import attempted, explained, results, scattered, workers_of

__all__ = ["at_worker", "block_count", "block_views", "read_rows", "rows_of", "scatter"]

_MOST_BYTES_OF_BLOCK = 1 << 29  # unless the user asks for fewer blocks


def scatter(client: Any, *views: Any, n_blocks: int | None = None) -> Any:
    """Send views in memory to the workers, in blocks of rows.

    The views stay in memory here, too, so that blocks whose workers are lost can be sent again.

    Parameters
    ----------
    client : distributed.Client
    *views : array, sparse matrix or data frame
        Two or more views of the same samples, as for `SparseCCA.fit`; or one mapping from name to view.
    n_blocks : int, optional
        By default one per worker, or more if they would be large.

    Returns
    -------
    tuple of BlockRows, or dict of BlockRows by name
        `SparseCCA(...).fit(X, Y)` takes two, `MultiSparseCCA(...).fit` the tuple or dict.
    """
    given, are_named = _by_name(views)
    read = {name: read_view(view, name) for name, view in given.items()}
    matrices = {name: _by_rows(matrix) for name, (matrix, _) in read.items()}
    _check_all_same_samples(matrices)
    n_bytes = sum(map(_n_bytes, matrices.values()))
    n = next(iter(matrices.values())).shape[0]
    bounds = even_bounds(0, n, block_count(client, n_blocks, n_bytes))
    kept: list[Any] = [None] * len(bounds)

    def make() -> list[Any]:
        for i, (start, stop) in enumerate(bounds):
            if kept[i] is None or kept[i].cancelled():
                block = Block(start, {name: matrix[start:stop] for name, matrix in matrices.items()})
                kept[i] = scattered(client, block, at_worker(client, i, len(bounds)))
        return list(kept)

    feature_names = {name: features.names for name, (_, features) in read.items()}
    return _as_given(block_views(client, make, feature_names), are_named)


def read_rows(client: Any, *files: Any, n_blocks: int | None = None) -> Any:
    """Views in files that all workers can read; each worker reads its own rows.

    Parameters
    ----------
    client : distributed.Client
    *files : path or list of paths
        For each view a `.npy` array, which is read by ranges of rows; or for each view equally many files, in the same
        order, one block each: `.npy`, `.npz` (scipy.sparse), `.parquet` or `.csv` (needs pandas). Or one mapping from
        the name of each view to these.
    n_blocks : int, optional
        Of a single `.npy` file per view: by default one per worker, or more if they would be large.

    Returns
    -------
    tuple of BlockRows, or dict of BlockRows by name
        `SparseCCA(...).fit(X, Y)` takes two, `MultiSparseCCA(...).fit` the tuple or dict.
    """
    given, are_named = _by_name(files)
    of_views = {name: _files(paths) for name, paths in given.items()}
    counts = [len(paths) for paths in of_views.values()]
    if len(set(counts)) > 1:
        raise ValueError(
            f"{joined(list(of_views))} must have as many files; got {joined([*map(str, counts)])}: list the files of "
            "all views in the same order."
        )
    if counts[0] > 1 or any(not path.endswith(".npy") for paths in of_views.values() for path in paths):
        jobs: list[tuple[Any, ...]] = [
            (dict(zip(of_views, paths, strict=True)), None, None) for paths in zip(*of_views.values(), strict=True)
        ]
    else:
        alone = {name: paths[0] for name, paths in of_views.items()}
        arrays = {name: np.load(path, mmap_mode="r") for name, path in alone.items()}
        _check_all_same_samples(arrays)
        n, n_bytes = next(iter(arrays.values())).shape[0], sum(array.nbytes for array in arrays.values())
        jobs = [(alone, *bound) for bound in even_bounds(0, n, block_count(client, n_blocks, n_bytes))]
    found = _views_of_blocks(client, lambda: [client.submit(_load, *job, pure=False) for job in jobs])
    return _as_given(found, are_named)


def rows_of(client: Any, blocks: Sequence[Any]) -> Any:
    """Views that the workers already have, or can compute.

    Parameters
    ----------
    client : distributed.Client
    blocks : sequence of futures or delayed objects
        Each a tuple (X, Y, ...) of two or more arrays, sparse matrices or data frames of the same samples, or a mapping
        from name to these.

    Returns
    -------
    tuple of BlockRows, or dict of BlockRows by name
        `SparseCCA(...).fit(X, Y)` takes two, `MultiSparseCCA(...).fit` the tuple or dict.
    """
    found = _views_of_blocks(client, lambda: client.compute(list(blocks)))
    return _as_given(found, tuple(found) != view_names(len(found)))


def _by_name(given: Sequence[Any]) -> tuple[dict[str, Any], bool]:
    """Views by name, and whether the user has named them: one mapping, or all views in order."""
    are_named = len(given) == 1 and isinstance(given[0], Mapping)
    views = dict(given[0]) if are_named else dict(zip(view_names(len(given)), given, strict=True))
    if not all(isinstance(name, str) and name for name in views):
        raise ValueError(f"the names of views must be texts; got {shown(list(views))}.")
    if len(views) < 2:
        raise ValueError(f"at least 2 views of the same samples are needed; got {len(views)}: pass all of them.")
    number = next((view for view in views.values() if isinstance(view, int)), None)
    if number is not None:
        raise TypeError(f"a view must be a matrix or its files; got {number}: pass n_blocks={number} by its name.")
    return views, are_named


def _as_given(views: dict[str, BlockRows], are_named: bool) -> Any:
    """The views by name if the user has named them, otherwise in order."""
    return views if are_named else tuple(views.values())


def _check_all_same_samples(views: Mapping[str, Any]) -> None:
    (first_name, first), *others = views.items()
    for name, view in others:
        check_same_samples(first, view, (first_name, name))


def _views_of_blocks(client: Any, submit: Callable[[], list[Any]]) -> dict[str, BlockRows]:
    """The views by name, given a function that returns futures of tuples of matrices, or of matrices by name."""

    def make() -> list[Any]:
        with explained(client):
            checked = [client.submit(_checked, views, i, pure=False) for i, views in enumerate(submit())]
            counting = [client.submit(_n_rows, views, pure=False) for views in checked]
        starts = np.cumsum([0, *results(client, counting, before=checked)])[:-1].tolist()
        with explained(client):
            return [
                client.submit(Block, start, views, pure=False) for start, views in zip(starts, checked, strict=True)
            ]

    return block_views(client, make)


def block_views(
    client: Any, make: Callable[[], list[Any]], feature_names: Mapping[str, Any] | None = None
) -> dict[str, BlockRows]:
    """The views by name, given a function that returns the futures of blocks, and the names of their features."""

    def begin() -> tuple[list[Any], list[Any]]:
        futures = make()
        with explained(client):
            described = [client.submit(_description, block, pure=False) for block in futures]
        return futures, results(client, described)

    futures, found = attempted(begin, lambda: None)
    blocks = DaskBlocks(client, make, sum(n for n, _ in found), futures)
    names = list(found[0][1])
    for number, (_, of_block) in enumerate(found):
        if list(of_block) != names:
            raise ValueError(
                f"all blocks must have the same views; block 0 has {joined(names)}, and block {number} has "
                f"{joined(list(of_block))}: make them alike."
            )
    views = {}
    for name in names:
        widths, dtypes, sparse, stored = zip(*(of_view[name] for _, of_view in found), strict=True)
        if len(set(widths)) > 1 or len(set(sparse)) > 1:
            raise ValueError(
                f"all blocks of {name} must have the same features, dense or sparse; got blocks of "
                f"{' and '.join(map(str, sorted(set(widths))))} features: make them alike."
            )
        described = {
            "is_sparse": sparse[0],
            "n_stored": sum(stored),
            "feature_names": (feature_names or {}).get(name),
        }
        views[name] = BlockRows(blocks, name, widths[0], np.result_type(*dtypes), **described)
    return views


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


def _load(files: Mapping[str, str], start: int | None, stop: int | None) -> dict[str, Any]:
    return {name: _matrix(file, start, stop) for name, file in files.items()}


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


def _checked(views: Any, number: int) -> dict[str, Any]:
    """The views of a block by name."""
    try:
        given, _ = _by_name((views,) if isinstance(views, Mapping) else views)
        read = {name: _by_rows(read_view(view, name)[0]) for name, view in given.items()}
        _check_all_same_samples(read)
    except ValueError as error:
        raise ValueError(f"block {number}: {error}") from error
    return read


def _n_rows(views: Mapping[str, Any]) -> int:
    return int(next(iter(views.values())).shape[0])


def _description(block: Block) -> tuple[int, dict[str, tuple[int, Any, bool, int]]]:
    return block.n, {
        name: (view.shape[1], view.dtype, sp.issparse(view), int(view.nnz if sp.issparse(view) else view.size))
        for name, view in block.data.items()
    }
