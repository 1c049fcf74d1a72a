"""Penalties: chosen by cross-validation, and a whole model at many of them."""

from ._cross_validation import AnchoredCCACV, SparseCCACV
from ._model_path import ModelPath, model_path

__all__ = [
    "SparseCCACV",
    "AnchoredCCACV",
    "ModelPath",
    "model_path",
]
