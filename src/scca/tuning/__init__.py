"""Penalties chosen by cross-validation, and a whole model at many penalties or with ever fewer features."""

from ._cross_validation import AnchoredCCACV, SparseCCACV
from ._model_path import ModelPath, model_path

__all__ = [
    "SparseCCACV",
    "AnchoredCCACV",
    "ModelPath",
    "model_path",
]
