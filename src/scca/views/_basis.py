"""What deflation has to remember: scores in sample space that grow by one a component."""

import numpy as np

__all__ = ["GrowingRows", "SampleBasis"]

_EXHAUSTED = 1e-10  # a new score this much smaller than before its projection is rounding error


class GrowingRows:
    """A matrix that rows are added to, without copying it each time."""

    def __init__(self, n_columns: int):
        self._buffer = np.empty((0, n_columns))
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def array(self) -> np.ndarray:
        return self._buffer[: self._size]

    def extend(self, rows: np.ndarray) -> None:
        size = self._size + len(rows)
        if size > len(self._buffer):
            grown = np.empty((max(8, 2 * size), self._buffer.shape[1]))
            grown[: self._size] = self.array
            self._buffer = grown
        self._buffer[self._size : size] = rows
        self._size = size


class SampleBasis:
    """The deflated directions T (n x j, orthonormal columns) and the projection I - T T'."""

    def __init__(self, n_samples: int):
        self._rows = GrowingRows(n_samples)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def vectors(self) -> np.ndarray:
        """T."""
        return self._rows.array.T

    def project(self, r: np.ndarray) -> np.ndarray:
        """(I - T T') r for one vector or the columns of a matrix."""
        if not len(self):
            return r
        T = self.vectors
        return r - T @ (T.T @ r)

    def append(self, score: np.ndarray) -> np.ndarray | None:
        """Orthonormalise `score` against T and add it.

        Returns the column of C in `score = T C`, or None, with T unchanged, when `score` already lies in the span of T
        to rounding error.
        """
        T = self.vectors
        coefficients = T.T @ score
        rest = score - T @ coefficients
        again = T.T @ rest  # a second Gram-Schmidt step keeps T orthonormal to machine precision
        rest -= T @ again
        norm = np.linalg.norm(rest)
        if not norm > _EXHAUSTED * np.linalg.norm(score):
            return None
        self._rows.extend(rest[None] / norm)
        return np.append(coefficients + again, norm)
