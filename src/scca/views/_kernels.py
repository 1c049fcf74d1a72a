"""Kernel functions by name, by callable or precomputed, as scikit-learn understands them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._types import MatrixLike

__all__ = ["Kernel"]

_BLOCK = 512  # rows a task: fixed, so that the bytes do not depend on how many workers share them
_DIAGONAL_BLOCK = 16


@dataclass(frozen=True)
class Kernel:
    """k(x, y): one of scikit-learn's pairwise kernels, a function of two rows, or "precomputed"."""

    function: str | Callable[..., Any] = "linear"
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # here: views without a kernel need none of it

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

    def matrix(self, left: MatrixLike, right: MatrixLike = None, n_jobs: int | None = None) -> np.ndarray:
        """k of every row of `left` with every row of `right` (of `left` itself by default), in float64."""
        from joblib import Parallel, delayed

        right = left if right is None else right
        left, right = self._near_zero(left, right)
        blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._block)(left[start : start + _BLOCK], right) for start in range(0, left.shape[0], _BLOCK)
        )
        return np.vstack(blocks)

    def _near_zero(self, left: MatrixLike, right: MatrixLike) -> Any:
        """Both moved by the mean of `right`, which changes no distance and leaves them their digits.

        scikit-learn computes distances as x'x - 2 x'y + y'y, in which an offset takes the digits of what differs.
        """
        if self.function != "rbf" or sp.issparse(left) or sp.issparse(right):
            return left, right
        mean = right.mean(axis=0, dtype=np.float64)
        return left - mean, right - mean

    def diagonal(self, samples: MatrixLike) -> np.ndarray:
        """k(x, x) of every row."""
        step = 1 if callable(self.function) else _DIAGONAL_BLOCK
        starts = range(0, samples.shape[0], step)
        return np.concatenate([np.diag(self._block(s, s)) for s in (samples[i : i + step] for i in starts)])

    def _block(self, left: MatrixLike, right: MatrixLike) -> np.ndarray:
        from sklearn.metrics.pairwise import pairwise_kernels

        try:
            with np.errstate(over="ignore", invalid="ignore"):  # found, and said, below
                values = pairwise_kernels(left, right, metric=self.function, **self.params)
        except (TypeError, ValueError) as error:
            said = _first_line(error)
            raise ValueError(f"the kernel {self._name} failed with {dict(self.params)}: {said}") from error
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel {self._name} gives {values[~np.isfinite(values)][0]} for some samples with "
                f"{dict(self.params)}: scale the data or choose other parameters."
            )
        return values

    @property
    def _name(self) -> str:
        return self.function if isinstance(self.function, str) else "function, which is given two rows,"


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
