"""Readers: files of paired documents, as they come or a part at a time."""

from ._files import PairError, Piped
from ._paired import PairedText, RemotePairs, two_names
from ._ranges import Range, document_ranges, ranges_of
from ._read import read_documents, read_pairs, source_of, stream_documents

__all__ = [
    # reading
    "read_pairs",
    "read_documents",
    "stream_documents",
    "PairedText",
    "PairError",
    "Piped",
    # reading in parts
    "RemotePairs",
    "source_of",
    "two_names",
    "Range",
    "ranges_of",
    "document_ranges",
]
