"""Readers of paired documents: whole files, or ranges of them that other processes read."""

from ._files import PairError, Piped, optional_module
from ._paired import BlankCount, PairedText, RemotePairs, two_names, warn_of_blank
from ._ranges import LineRange, Range, document_ranges, even_bounds, ranges_of
from ._read import read_documents, read_pairs, source_of, stream_documents

__all__ = [
    # reading
    "read_pairs",
    "read_documents",
    "stream_documents",
    "PairedText",
    "PairError",
    "Piped",
    # reading by other processes
    "RemotePairs",
    "source_of",
    "Range",
    "ranges_of",
    "LineRange",
    "document_ranges",
    "even_bounds",
    # checks
    "optional_module",
    "two_names",
    "BlankCount",
    "warn_of_blank",
]

TextViews, RemoteTexts, read_texts = PairedText, RemotePairs, read_pairs  # TEMPORARY SHIM, replaced by h_readers
