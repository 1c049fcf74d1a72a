"""The built-in corpus, and generated data with known answers."""

from ._bilingual import BilingualCounts, make_bilingual
from ._planted import PlantedViews, make_planted
from ._trilingual import TrilingualCorpus, load_trilingual

__all__ = [
    # real text
    "load_trilingual",
    "TrilingualCorpus",
    # text-like
    "make_bilingual",
    "BilingualCounts",
    # Gaussian
    "make_planted",
    "PlantedViews",
]
