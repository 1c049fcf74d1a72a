"""Bilingual text: readers of paired documents, their TF-IDF vectors, and the bilingual model."""

from ..readers import PairedText, PairError, Piped, read_documents, read_pairs, stream_documents
from ._expected_words import ExpectedWords
from ._mate_search import MateSearch
from ._model import BilingualModel
from ._results import Component, GeneratedText, Mates, Translation, Weighted, WordPair
from ._vectorizer import TextVectorizer, WordCounts, inverse_frequencies, tokenize

__all__ = [
    # reading
    "read_pairs",
    "read_documents",
    "stream_documents",
    "PairedText",
    "PairError",
    "Piped",
    # vectors
    "TextVectorizer",
    "WordCounts",
    "tokenize",
    "inverse_frequencies",
    # the model and its results
    "BilingualModel",
    "Component",
    "Mates",
    "MateSearch",
    "GeneratedText",
    "Translation",
    "WordPair",
    "Weighted",
    # all words of a mate
    "ExpectedWords",
]
