"""Cholesky factorisation of a large symmetric matrix in place, by threads that share fixed tiles."""

from collections.abc import Callable

import numpy as np

from ..parallel import map_threads, parts

__all__ = ["Triangle"]

_TILE = 512  # number of rows and columns that are factorised at a time
_ROWS_PER_TASK = 2048  # number of rows below a tile that a task of a thread divides
_LEAST_COLUMNS_PER_TASK = 32  # minimum number of columns of a right side per task of a thread
_MOST_TASKS = 16  # maximum number of tasks that share the columns of a right side


class Triangle:
    """L with L L' = C for a positive definite C; L overwrites the lower half of C."""

    def __init__(self, matrix: np.ndarray):
        self._lower = matrix
        self._tiles = parts(0, len(matrix), _TILE)
        self._inverses: list[np.ndarray] = []  # inverses of the tiles on the diagonal
        for tile in self._tiles:
            self._factorise(tile)

    def _factorise(self, tile: slice) -> None:
        """Compute the columns of a tile: C less the part of earlier columns, divided by the tile on the diagonal."""
        L, before = self._lower, slice(0, tile.start)
        L[tile, tile] -= L[tile, before] @ L[tile, before].T
        L[tile, tile] = np.linalg.cholesky(L[tile, tile])
        inverse = np.linalg.inv(L[tile, tile])
        self._inverses.append(inverse)

        def divide(rows: slice) -> None:
            L[rows, tile] = (L[rows, tile] - L[rows, before] @ L[tile, before].T) @ inverse.T

        map_threads(divide, parts(tile.stop, len(L), _ROWS_PER_TASK))

    def solve(self, R: np.ndarray) -> np.ndarray:
        """C^-1 R, in double precision but no more exact than L."""
        return self._apply_to_columns(lambda X: self._backward(self._forward(X)), R).astype(np.float64)

    def forward(self, R: np.ndarray) -> np.ndarray:
        """L^-1 R."""
        return self._apply_to_columns(self._forward, R)

    def backward(self, R: np.ndarray) -> np.ndarray:
        """L'^-1 R."""
        return self._apply_to_columns(self._backward, R)

    def _apply_to_columns(self, substitute: Callable[[np.ndarray], np.ndarray], R: np.ndarray) -> np.ndarray:
        """Apply `substitute` to the columns of a right side, which threads share."""
        out = np.empty(R.shape, dtype=self._lower.dtype)

        def part(columns: slice) -> None:
            out[:, columns] = substitute(R[:, columns].astype(self._lower.dtype, order="C"))

        map_threads(part, parts(0, R.shape[1], max(_LEAST_COLUMNS_PER_TASK, R.shape[1] // _MOST_TASKS)))
        return out

    def _forward(self, X: np.ndarray) -> np.ndarray:
        L = self._lower
        for tile, inverse in zip(self._tiles, self._inverses, strict=True):
            X[tile] = inverse @ (X[tile] - L[tile, : tile.start] @ X[: tile.start])
        return X

    def _backward(self, X: np.ndarray) -> np.ndarray:
        L = self._lower
        for tile, inverse in zip(reversed(self._tiles), reversed(self._inverses), strict=True):
            X[tile] = inverse.T @ (X[tile] - L[tile.stop :, tile].T @ X[tile.stop :])
        return X
