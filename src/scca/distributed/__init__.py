"""The same models from samples that the workers of a Dask cluster keep (extra `[dask]`)."""

from ._answers import ClusterMates, find_mates, write_document_scores, write_mates, write_scores
from ._blocks import DaskBlocks, Traffic, seconds_computed
from ._cluster import ClusterError, connect, local_cluster
from ._rows import read_rows, rows_of, scatter
from ._tasks import tasks_on
from ._texts import ClusterTexts, read_documents, read_texts, scatter_texts, texts_of

# the names that these had when there were two languages; they go with the next version
ClusterPairs, read_pairs, pairs_of, scatter_pairs = ClusterTexts, read_texts, texts_of, scatter_texts

__all__ = [
    # the cluster
    "connect",
    "local_cluster",
    "ClusterError",
    # many fits
    "tasks_on",
    # documents in two or more languages
    "read_texts",
    "read_documents",
    "texts_of",
    "scatter_texts",
    "ClusterTexts",
    "read_pairs",
    "pairs_of",
    "scatter_pairs",
    "ClusterPairs",
    # scores and mates of many
    "write_scores",
    "write_document_scores",
    "find_mates",
    "write_mates",
    "ClusterMates",
    # views in blocks
    "scatter",
    "read_rows",
    "rows_of",
    "DaskBlocks",
    "Traffic",
    "seconds_computed",
]
