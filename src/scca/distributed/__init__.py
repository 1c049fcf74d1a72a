"""The same models from samples that the workers of a Dask cluster keep (extra `[dask]`)."""

from ._blocks import DaskBlocks, Traffic
from ._cluster import ClusterError, connect, local_cluster
from ._rows import read_rows, rows_of, scatter
from ._tasks import tasks_on

__all__ = [
    # the cluster
    "connect",
    "local_cluster",
    "ClusterError",
    # many fits
    "tasks_on",
    # views in blocks
    "scatter",
    "read_rows",
    "rows_of",
    "DaskBlocks",
    "Traffic",
]
