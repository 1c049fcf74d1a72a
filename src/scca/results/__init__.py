"""What a fit learnt and how far to trust it, as plain values: the only input of whatever shows a model."""

from ._describe import Described, described_views, ordered_features, result_of, running_union, shown_weights
from ._notebook import ShowsResult, notebook_html
from ._reading import what_is_read, what_is_shown
from ._result import SCHEMA, ComponentView, Evidence, Feature, LearntComponent, LearntView, Result, ResultError, Sample

__all__ = [
    # plain values
    "SCHEMA",
    "Result",
    "LearntView",
    "Evidence",
    "LearntComponent",
    "ComponentView",
    "Feature",
    "Sample",
    "ResultError",
    # made from a fit
    "result_of",
    "Described",
    "described_views",
    "ordered_features",
    "running_union",
    "shown_weights",
    # in words
    "what_is_read",
    "what_is_shown",
    # in notebooks
    "ShowsResult",
    "notebook_html",
]
