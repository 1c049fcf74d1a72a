"""Words for the types that many signatures share."""

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Frame", "MatrixLike", "PenaltyLike", "SeedLike", "Splitter"]

# Most libraries that these come from have no types of their own: the names are for readers.
MatrixLike: TypeAlias = Any  # an array, a scipy.sparse one, a list of rows, a table of pandas, polars or pyarrow
Frame: TypeAlias = Any  # a DataFrame of pandas, which is an extra
Splitter: TypeAlias = Any  # a number of folds, a splitter of scikit-learn or pairs of training and test indices
SeedLike: TypeAlias = int | np.random.RandomState | None
PenaltyLike: TypeAlias = str | float  # "auto", "auto*0.5" or a number
