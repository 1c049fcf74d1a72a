"""Kernel functions by name, as a callable or precomputed, as in scikit-learn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._types import MatrixLike

__all__ = ["Kernel", "check_symmetric"]

_BLOCK = 512  # rows per task: fixed, so that results do not depend on the number of workers
_DIAGONAL_BLOCK = 16
_ASYMMETRY = 1e-6  # of the largest entry; allowed for rounding


@dataclass(frozen=True)
class Kernel:
    """k(x, y): one of scikit-learn's pairwise kernels, a function of two rows, or "precomputed"."""

    function: str | Callable[..., Any] = "linear"
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # imported late: only kernels need it

        names = [*sorted(PAIRWISE_KERNEL_FUNCTIONS), "precomputed"]
        if not callable(self.function) and self.function not in names:
            raise ValueError(f"kernel must be a callable or one of {', '.join(names)}; got {self.function!r}.")
        if self.params and (self.linear or self.precomputed):
            raise ValueError(f"the {self.function} kernel takes no kernel_params; got {dict(self.params)}.")

    @property
    def precomputed(self) -> bool:
        return self.function == "precomputed"

    @property
    def linear(self) -> bool:
        return self.function == "linear"

    def matrix(self, A: MatrixLike, B: MatrixLike = None, n_jobs: int | None = None) -> np.ndarray:
        """k of every row of A with every row of B (by default A itself), in float64."""
        from joblib import Parallel, delayed

        A, B = self._near_zero(A, A if B is None else B)
        blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._block)(A[start : start + _BLOCK], B) for start in range(0, A.shape[0], _BLOCK)
        )
        return np.vstack(blocks)

    def column(self, samples: MatrixLike, index: int) -> np.ndarray:
        """k of every row with one of them."""
        return self._block(*self._near_zero(samples, samples[[index]])).ravel()

    def _near_zero(self, A: MatrixLike, B: MatrixLike) -> Any:
        """Both less the mean of B, which changes no distance and saves precision.

        scikit-learn computes distances as x'x - 2 x'y + y'y, in which a large offset cancels digits.
        """
        if self.function != "rbf" or sp.issparse(A) or sp.issparse(B):
            return A, B
        mean = B.mean(axis=0, dtype=np.float64)
        return A - mean, B - mean

    def diagonal(self, samples: MatrixLike) -> np.ndarray:
        """k(x, x) of every row."""
        step = 1 if callable(self.function) else _DIAGONAL_BLOCK
        starts = range(0, samples.shape[0], step)
        return np.concatenate([np.diag(self._block(s, s)) for s in (samples[i : i + step] for i in starts)])

    def _block(self, A: MatrixLike, B: MatrixLike) -> np.ndarray:
        from sklearn.metrics.pairwise import pairwise_kernels

        try:
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                values = pairwise_kernels(A, B, metric=self.function, **self.params)
        except (TypeError, ValueError) as error:
            reason = _first_line(error)
            raise ValueError(f"the kernel {self.name} failed with {dict(self.params)}: {reason}") from error
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel {self.name} gives {values[~np.isfinite(values)][0]} for some samples with "
                f"{dict(self.params)}: scale the data or choose other parameters."
            )
        return values

    @property
    def name(self) -> str:
        """As messages call it."""
        return self.function if isinstance(self.function, str) else "function, which is given two rows,"


def check_symmetric(matrix: np.ndarray) -> None:
    """Refuse the matrix of a kernel function that depends on the order of its arguments."""
    asymmetry, largest = float(np.abs(matrix - matrix.T).max()), float(np.abs(matrix).max())
    if asymmetry > _ASYMMETRY * largest:
        raise ValueError(
            f"a kernel function must be symmetric, k(a, b) = k(b, a); two samples differ by {asymmetry:.3g}, where "
            f"{_ASYMMETRY * largest:.1g} is allowed: return (k(a, b) + k(b, a)) / 2."
        )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
