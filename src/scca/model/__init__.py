"""Models of named views of any kinds."""

from ._mates import Mates, MateSearch
from ._model import Model, Preview
from ._sources import Source, source_of

__all__ = [
    "Model",
    "Mates",
    "MateSearch",
    "Preview",
    # where samples come from
    "Source",
    "source_of",
]
