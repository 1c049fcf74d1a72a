"""Penalties: chosen by cross-validation, and a whole model at many of them."""

from ._cross_validation import SparseCCACV
from ._model_path import ModelPath, model_path

__all__ = [
    "SparseCCACV",
    "ModelPath",
    "model_path",
]
