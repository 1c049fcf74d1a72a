"""Bilingual text: readers of paired documents, their TF-IDF vectors, and the bilingual model."""

from ._answers import Component, GeneratedText, Mates, Translation, Weighted, WordPair
from ._expected_words import ExpectedWords
from ._files import Piped
from ._mate_search import MateSearch
from ._model import BilingualModel
from ._paired import PairsElsewhere, two_names
from ._ranges import Range, document_ranges, ranges_of
from ._readers import PairedText, PairError, read_documents, read_pairs, source_of, stream_documents
from ._translator import Translated, Translator
from ._vectorizer import TextVectorizer, WordCounts, inverse_frequencies, tokenize

__all__ = [
    # reading
    "read_pairs",
    "read_documents",
    "stream_documents",
    "PairedText",
    "PairError",
    "Piped",
    # reading in parts
    "PairsElsewhere",
    "source_of",
    "two_names",
    "Range",
    "ranges_of",
    "document_ranges",
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
    # one word
    "Translator",
    "Translated",
    # all words of a mate
    "ExpectedWords",
]
