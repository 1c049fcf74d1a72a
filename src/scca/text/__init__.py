"""Text in two or more languages: readers of documents, their TF-IDF vectors, models, and what models say of words."""

from ..kinds import TextVectorizer, WordCounts, inverse_frequencies, tokenize
from ..model import Mates, MateSearch
from ..readers import (
    PairedText,
    PairError,
    Piped,
    TextViews,
    read_documents,
    read_pairs,
    read_texts,
    stream_documents,
)
from ._bilingual import BilingualModel
from ._expected_words import ExpectedWords
from ._generating import generate, generate_path
from ._results import Component, GeneratedText, Translation, Weighted, WordPair
from ._translating import UnknownWordError, lexicon, linked_languages, translate

__all__ = [
    # reading
    "read_texts",
    "read_pairs",
    "read_documents",
    "stream_documents",
    "TextViews",
    "PairedText",
    "PairError",
    "Piped",
    # vectors
    "TextVectorizer",
    "WordCounts",
    "tokenize",
    "inverse_frequencies",
    # models and their results
    "BilingualModel",
    "translate",
    "lexicon",
    "linked_languages",
    "generate",
    "generate_path",
    "UnknownWordError",
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
