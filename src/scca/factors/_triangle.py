"""Cholesky factorisation of a large symmetric matrix, in place and in single precision, for a preconditioner."""

import numpy as np

from ._together import parts, together

__all__ = ["Triangle"]

_TILE = 512  # rows and columns that are factorised at a time
_TALL = 2048  # rows below them per task of a thread
_COLUMNS = 32  # of a right side per task of a thread


class Triangle:
    """L with L L' = C for a positive definite C; L overwrites its lower half."""

    def __init__(self, matrix: np.ndarray):
        self._lower = matrix
        self._tiles = parts(0, len(matrix), _TILE)
        self._inverses: list[np.ndarray] = []  # of the tiles on the diagonal
        for tile in self._tiles:
            self._factorise(tile)

    def _factorise(self, tile: slice) -> None:
        """The columns of a tile: C less the contribution of earlier columns, divided by the tile on the diagonal."""
        L, before = self._lower, slice(0, tile.start)
        L[tile, tile] -= L[tile, before] @ L[tile, before].T
        L[tile, tile] = np.linalg.cholesky(L[tile, tile])
        inverse = np.linalg.inv(L[tile, tile])
        self._inverses.append(inverse)

        def divide(rows: slice) -> None:
            L[rows, tile] = (L[rows, tile] - L[rows, before] @ L[tile, before].T) @ inverse.T

        together(divide, parts(tile.stop, len(L), _TALL))

    def solve(self, R: np.ndarray) -> np.ndarray:
        """C^-1 R, to single precision."""
        out = np.empty(R.shape)

        def substitute(columns: slice) -> None:
            out[:, columns] = self._solve(R[:, columns].astype(self._lower.dtype))

        together(substitute, parts(0, R.shape[1], _COLUMNS))
        return out

    def _solve(self, X: np.ndarray) -> np.ndarray:
        L = self._lower
        for tile, inverse in zip(self._tiles, self._inverses, strict=True):
            X[tile] = inverse @ (X[tile] - L[tile, : tile.start] @ X[: tile.start])
        for tile, inverse in zip(reversed(self._tiles), reversed(self._inverses), strict=True):
            X[tile] = inverse.T @ (X[tile] - L[tile.stop :, tile].T @ X[tile.stop :])
        return X
