"""Data with known answers."""

from ._bilingual import BilingualCounts, make_bilingual
from ._planted import PlantedViews, make_planted

__all__ = [
    # text-like
    "make_bilingual",
    "BilingualCounts",
    # Gaussian
    "make_planted",
    "PlantedViews",
]
