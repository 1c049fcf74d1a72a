"""Data with known answers."""

from ._planted import PlantedViews, make_planted

__all__ = ["make_planted", "PlantedViews"]
