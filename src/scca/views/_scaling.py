"""Scaling of views: which scaling suits the data, and norms of samples that are shrunk where columns are few."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from .._arrays import read_tile, tiles
from .._types import MatrixLike
from ..samples import summed
from ._storage import Compressed

__all__ = [
    "SCALES",
    "UNIT",
    "Norm",
    "Scale",
    "divided",
    "inverse_or_zero",
    "norm_of",
    "scales_columns",
    "shrunken",
    "suitable_scale",
]

Scale = Literal["columns", "rows", "both"] | None
SCALES: tuple[Scale, ...] = ("columns", "rows", "both", None)
_MOSTLY_ZERO = 0.5  # of the values


@dataclass(frozen=True)
class Norm:
    """Samples x are divided by sqrt(b s^2 + (1 - b) ||x||^2): their own norm, shrunk towards that of all samples.

    Attributes
    ----------
    shrinkage : float
        b; 0 for samples of exactly unit norm, 1 for the same divisor for all.
    size : float
        s^2, the mean of ||x||^2 over the training samples.
    """

    shrinkage: float
    size: float

    def inverse(self, squares: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """1 / divisor of samples with these squared norms; 1 where the divisor is zero up to rounding error."""
        squares = np.where(squares > noise, squares, 0.0)
        divisors = self.shrinkage * self.size + (1.0 - self.shrinkage) * squares
        return np.where(divisors > 0, 1.0 / np.sqrt(np.where(divisors > 0, divisors, 1.0)), 1.0)


UNIT = Norm(0.0, 1.0)


def norm_of(scale: Scale, kernel: np.ndarray) -> Norm | None:
    """The norm by which a scaling divides samples with these inner products; None if it does not."""
    if scale == "both":
        squares = np.diag(kernel)
        return shrunken(float(squares.mean()), float(squares.var()), kernel)
    return UNIT if scale == "rows" else None


def shrunken(size: float, spread: float, kernel: np.ndarray) -> Norm:
    """The norm to divide by, from the mean and the variance of q = ||x||^2, and inner products of some samples.

    The norm of a sample says how much there is of it (a long document, a drug that was studied often), which is to be
    divided out, unless it is only the sum of a few values that are what the sample says. Of Gaussian samples that vary
    in about m directions, var(q) / mean(q)^2 is 2 / m, and the direction has m - 1 of the m numbers. So b is the share
    of var(q) that m directions explain, and at least 1 / m. With a single column b is 1: all samples have the same
    divisor. m is estimated by 1 / m = E (x'z)^2 / E ||x||^2 ||z||^2 over pairs of different samples.
    """
    squares = np.diag(kernel)
    pairs = squares.sum() ** 2 - squares @ squares  # sums over pairs of different samples
    if not (size > 0 and pairs > 0):
        return Norm(1.0, size)
    one_of_m = min(1.0, float((np.einsum("ij,ij->", kernel, kernel) - squares @ squares) / pairs))
    by_chance = 2.0 * one_of_m * size**2
    return Norm(max(one_of_m, by_chance / max(spread, by_chance)), size)


def suitable_scale(data: MatrixLike | Compressed | Any) -> Scale:
    """The scaling of data about which nothing else is known: "rows" if they look like words, otherwise "both".

    Words look like this: no value is negative, half of the values or more are zero, and more than one in a sample is
    not (on average). Their columns must not be scaled: rare words would get the weight of frequent ones. Other data are
    tables of measurements in units of their own. It is values that decide, not how a matrix is stored.
    """
    n_negative, n_nonzero = summed(_counts, [data])
    n, m = data.shape
    like_words = not n_negative and n_nonzero <= (1.0 - _MOSTLY_ZERO) * n * m and n_nonzero > n
    return "rows" if like_words else "both"


def scales_columns(scale: Scale) -> bool:
    return scale in ("columns", "both")


def divided(samples: MatrixLike, spread: np.ndarray | None) -> Any:
    """Columns divided by their spread; those that are constant become zero."""
    if spread is None:
        return samples
    factors = inverse_or_zero(spread)
    if sp.issparse(samples):
        return sp.csr_array(sp.csr_array(samples) @ sp.diags_array(factors)).astype(samples.dtype)
    return (np.asarray(samples) * factors).astype(samples.dtype)


def inverse_or_zero(values: np.ndarray) -> np.ndarray:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def _counts(items: Sequence[Any]) -> list[int]:
    """How many values are negative, and how many are not zero."""
    data = items[0].columns if isinstance(items[0], Compressed) else items[0]
    if sp.issparse(data):
        return _counts_of(data.data)
    found = np.zeros(2, dtype=np.int64)
    for rows, columns in tiles(*data.shape):
        found += _counts_of(read_tile(data, rows, columns))
    return found.tolist()


def _counts_of(values: np.ndarray) -> list[int]:
    return [int(np.count_nonzero(values < 0)), int(np.count_nonzero(values))]
