"""The largest eigenvalues of a symmetric matrix from products with it: block Lanczos with full orthogonalisation."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from ..parallel import inner, times

__all__ = ["leading_eigenvectors"]

_BLOCK = 16  # directions added at a time: of more, more are needed; of fewer, products are slower
_TOLERANCE = 1e-8  # residual of an eigenvector, relative to its eigenvalue
_FIRST_LOOK, _LATER_LOOKS = 8.0, 1.15  # directions per wanted vector before the first check, and times as many for more
_MOST = 1 / 3  # of all directions: with more, a direct solution is as fast
_SEED = 0


def leading_eigenvectors(
    multiply: Callable[[np.ndarray], np.ndarray], size: int, count: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The `count` largest eigenvalues of a positive semi-definite C, largest first, and their vectors.

    `multiply` returns C V for a block V. The basis V of a Krylov space has C V = V T + Q R e', with the last block of
    directions Q; of an eigenvector s of T, V s then has the residual ||R s_last||, known without a product. None if the
    residuals are too large in a third of all directions: eigenvalues that are close take many.
    """
    most = int(_MOST * size) - _BLOCK
    basis, T = np.empty((size, most), order="F"), np.zeros((most, most))
    block, _ = np.linalg.qr(np.random.default_rng(_SEED).standard_normal((size, _BLOCK)))
    width, look = 0, _FIRST_LOOK * count
    while width + _BLOCK <= most:
        new = slice(width, width + _BLOCK)
        basis[:, new] = block
        width = new.stop
        V, image = basis[:, :width], multiply(block)
        T[:width, new] = inner(V, image)
        T[new, :width] = T[:width, new].T
        image -= times(V, T[:width, new])
        image -= times(V, inner(V, image))  # once is not enough: rounding errors would grow
        block, R = np.linalg.qr(image)
        block, _ = np.linalg.qr(block - times(V, inner(V, block)))  # directions of images near zero are rounding error
        if width >= look:
            values, mixtures = eigh(T[:width, :width], subset_by_index=(width - count, width - 1))
            residuals = np.linalg.norm(R @ mixtures[-_BLOCK:], axis=0)
            if (residuals <= _TOLERANCE * values).all():
                return values[::-1], times(V, np.ascontiguousarray(mixtures[:, ::-1]))
            look = _LATER_LOOKS * width
    return None
