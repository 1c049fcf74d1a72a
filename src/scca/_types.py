"""Type aliases that many signatures share."""

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Frame", "MatrixLike", "PenaltyLike", "SeedLike", "Splitter"]

# Most of these libraries are untyped: the names are for readers.
MatrixLike: TypeAlias = Any  # a dense or scipy.sparse array, a list of rows, a pandas, polars or pyarrow table
Frame: TypeAlias = Any  # a pandas DataFrame; pandas is an extra
Splitter: TypeAlias = Any  # a number of folds, a scikit-learn splitter, or pairs of training and test indices
SeedLike: TypeAlias = int | np.random.RandomState | None
PenaltyLike: TypeAlias = str | float  # "auto", "auto*0.5" or a number
