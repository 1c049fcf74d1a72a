"""Readers of documents in two or more languages: whole files, or ranges of them that other processes read."""

from ._files import PairError, Piped, optional_module
from ._ranges import LineRange, Range, document_ranges, even_bounds, ranges_of
from ._read import default_language, read_documents, read_pairs, read_texts, source_of, stream_documents
from ._texts import BlankCount, PairedText, RemoteTexts, Row, TextViews, checked_names, row_word, warn_of_blank

__all__ = [
    # reading
    "read_texts",
    "read_pairs",
    "read_documents",
    "stream_documents",
    "default_language",
    "TextViews",
    "PairedText",
    "PairError",
    "Piped",
    # reading by other processes
    "RemoteTexts",
    "Row",
    "source_of",
    "Range",
    "ranges_of",
    "LineRange",
    "document_ranges",
    "even_bounds",
    # checks
    "optional_module",
    "checked_names",
    "row_word",
    "BlankCount",
    "warn_of_blank",
]
