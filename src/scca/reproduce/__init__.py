"""Section 5 of the paper on any paired corpus: compute, compare with what the paper reports, draw."""

from ._claims import compare
from ._corpus import Corpus, count_corpus
from ._experiments import NAMES
from ._run import Results, reproduce
from ._run_settings import Settings, Size, parse_size

__all__ = [
    # corpora
    "Corpus",
    "count_corpus",
    # what to do
    "NAMES",
    "Settings",
    "Size",
    "parse_size",
    # doing it
    "reproduce",
    "Results",
    "compare",
]
