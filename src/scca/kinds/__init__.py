"""Kinds of views: what samples are made of, how they become matrices, and how they are shown."""

from ._kind import Kind, kind_named, kind_of, register, registered
from ._table import TableKind
from ._text import TextVectorizer, WordCounts, inverse_frequencies, tokenize
from ._vectors import VectorKind

__all__ = [
    # the contract, and the registry
    "Kind",
    "register",
    "registered",
    "kind_named",
    "kind_of",
    # the kinds
    "TextVectorizer",
    "TableKind",
    "VectorKind",
    # words
    "WordCounts",
    "tokenize",
    "inverse_frequencies",
]
