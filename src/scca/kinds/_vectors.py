"""Vectors of an encoder: numbers whose single columns mean nothing."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._data import read_view
from ._kind import Kind, register

__all__ = ["VectorKind"]


@register
class VectorKind(Kind):
    """Vectors that an encoder of texts, images or sounds made, one for each sample.

    A single column of them means nothing, so that all columns get weights; samples are shown by their numbers.

    Attributes
    ----------
    n_columns_ : int
    """

    kind = "vectors"
    unit, units = "dimension", "dimensions"
    scale = "rows"
    dense = True

    def fit_transform(self, samples: Any, y: Any = None) -> Any:
        """Learn the number of dimensions; the vectors as a matrix."""
        matrix, _ = read_view(samples, "the array of vectors")
        self.n_columns_ = int(matrix.shape[1])
        return matrix

    def transform(self, samples: Any) -> Any:
        """The matrix of new vectors, which must have as many dimensions."""
        check_is_fitted(self)
        matrix, _ = read_view(samples, "the array of vectors")
        if matrix.shape[1] != self.n_columns_:
            raise ValueError(
                f"the vectors have {matrix.shape[1]} dimensions, and the model was fitted with {self.n_columns_}: use "
                "the same encoder."
            )
        return matrix

    @property
    def feature_names_(self) -> np.ndarray:
        return np.array([f"dimension {i + 1}" for i in range(self.n_columns_)], dtype=object)

    def check_loaded(self, n_features: int) -> None:
        """Raise ValueError if there are not `n_features` dimensions."""
        if type(self.n_columns_) is not int or self.n_columns_ != n_features:  # names of them could fill the memory
            raise ValueError(f"n_columns_ is not {n_features}")

    def read(self, path: Path) -> Any:
        """A `.npy` array."""
        if path.suffix != ".npy":
            raise ValueError(f"{path} holds no vectors; name a .npy file with one row for each sample.")
        return np.load(path, mmap_mode="r")
