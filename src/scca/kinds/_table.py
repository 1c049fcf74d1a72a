"""Tables: samples in rows, columns of numbers with names."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, shown
from .._data import read_view
from ._kind import Kind, register

__all__ = ["TableKind"]

_MOST_LISTED = 5  # maximum number of columns in a message


@register
class TableKind(Kind):
    """A data frame, an array or a sparse matrix: a row for each sample, a column for each measured thing.

    Columns of a frame are known by their names: new samples may have them in another order, and further columns, which
    are ignored.

    Attributes
    ----------
    columns_ : ndarray of str
        Names of the columns; "column 1" etc. if they have none.
    is_named_ : bool
        Whether the columns have names of their own.
    """

    kind = "table"
    unit, units = "column", "columns"

    @classmethod
    def suits(cls, samples: Any) -> bool:
        return hasattr(samples, "columns") or (hasattr(samples, "shape") and len(samples.shape) == 2)

    def fit_transform(self, samples: Any, y: Any = None) -> Any:
        """Learn the columns; the table as a matrix."""
        matrix, features = read_view(samples, "the table")
        self.is_named_ = features.names is not None
        names = [f"column {i + 1}" for i in range(features.count)] if features.names is None else features.names
        self.columns_ = np.array([str(name) for name in names], dtype=object)
        return matrix

    def transform(self, samples: Any) -> Any:
        """The matrix of new samples, with the columns in the order of the first table."""
        check_is_fitted(self)
        matrix, features = read_view(samples, "the table")
        if self.is_named_ and features.names is not None:
            places = {name: i for i, name in enumerate(features.names)}
            missing = [name for name in self.columns_ if name not in places]
            if missing:
                more = ", ..." if len(missing) > _MOST_LISTED else ""
                raise ValueError(
                    f"the table lacks {len(missing)} of the {len(self.columns_)} columns that the model was fitted "
                    f"with ({', '.join(map(shown, missing[:_MOST_LISTED]))}{more}): add them."
                )
            order = [places[name] for name in self.columns_]
            return matrix if order == list(range(matrix.shape[1])) else matrix[:, order]
        if matrix.shape[1] != len(self.columns_):
            raise ValueError(
                f"the table has {matrix.shape[1]} columns, and the model was fitted with {len(self.columns_)}: pass "
                "the same columns."
            )
        return matrix

    @property
    def feature_names_(self) -> np.ndarray:
        return self.columns_

    def check_loaded(self, n_features: int) -> None:
        """Raise ValueError if the names are not those of `n_features` columns."""
        if not (isinstance(self.columns_, np.ndarray) and self.columns_.ndim == 1):
            raise ValueError("columns_ is no list of names")
        check_flag(self.is_named_, "is_named_")
        super().check_loaded(n_features)

    def labels(self, samples: Any) -> list[str] | None:
        """The row labels of a frame, unless they are the numbers that pandas gives."""
        index = getattr(samples, "index", None)
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return None
        return [str(label) for label in index]

    def read(self, path: Path) -> Any:
        """A `.npy` array, a sparse `.npz`, or a `.csv` or `.tsv` with a header (needs pandas)."""
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r")
        if path.suffix == ".npz":
            return sp.load_npz(path)
        if path.suffix not in (".csv", ".tsv"):
            raise ValueError(f"{path} is no table; name a .csv, .tsv, .npy or .npz file.")
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("tables in files need pandas: pip install 'scca[frames]'.") from error
        frame = pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")
        is_label = len(frame.columns) > 1 and not pd.api.types.is_numeric_dtype(frame.iloc[:, 0])
        return frame.set_index(frame.columns[0]) if is_label else frame
