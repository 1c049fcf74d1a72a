"""The largest eigenvalues of a symmetric matrix from products with it: block Lanczos with full orthogonalisation."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from ..parallel import inner, times

__all__ = ["leading_eigenvectors"]

_BLOCK_SIZE = 16  # directions added at a time: larger blocks need more directions, smaller blocks slow products down
_TOLERANCE = 1e-8  # residual of an eigenvector, relative to its eigenvalue
_FIRST_CHECK = 8.0  # number of directions per wanted vector before convergence is first checked
_CHECK_GROWTH = 1.15  # growth of the number of directions between two checks
_MOST_DIRECTIONS = 1 / 3  # maximum share of all directions: with more, a direct solution is as fast
_SEED = 0


def leading_eigenvectors(
    multiply: Callable[[np.ndarray], np.ndarray], size: int, count: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The `count` largest eigenvalues of a positive semi-definite C, largest first, and their vectors.

    `multiply` returns C V for a block V. The basis V of a Krylov space has C V = V T + Q R e', with the last block of
    directions Q; so for an eigenvector s of T the residual of V s is ||R s_last||, known without a product. Returns
    None if a third of all directions is not enough: eigenvalues that are close take many.
    """
    most = int(_MOST_DIRECTIONS * size) - _BLOCK_SIZE
    basis, T = np.empty((size, most), order="F"), np.zeros((most, most))
    block, _ = np.linalg.qr(np.random.default_rng(_SEED).standard_normal((size, _BLOCK_SIZE)))
    width, look = 0, _FIRST_CHECK * count
    while width + _BLOCK_SIZE <= most:
        new = slice(width, width + _BLOCK_SIZE)
        basis[:, new] = block
        width = new.stop
        V, image = basis[:, :width], multiply(block)
        T[:width, new] = inner(V, image)
        T[new, :width] = T[:width, new].T
        image -= times(V, T[:width, new])
        image -= times(V, inner(V, image))  # a second time, since rounding errors would grow
        block, R = np.linalg.qr(image)
        block, _ = np.linalg.qr(block - times(V, inner(V, block)))  # images near zero are rounding error
        if width >= look:
            values, mixtures = eigh(T[:width, :width], subset_by_index=(width - count, width - 1))
            residuals = np.linalg.norm(R @ mixtures[-_BLOCK_SIZE:], axis=0)
            if (residuals <= _TOLERANCE * values).all():
                return values[::-1], times(V, np.ascontiguousarray(mixtures[:, ::-1]))
            look = _CHECK_GROWTH * width
    return None
