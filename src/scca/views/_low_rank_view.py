"""A dual view for many samples, whose kernel is Z Z' with few columns in Z."""

from dataclasses import dataclass

import numpy as np

from .._types import MatrixLike, SeedLike
from ..parallel import one_blas_thread
from ._chosen_columns import ChosenColumns
from ._features import FeatureView
from ._kernel_views import LinearKernelView
from ._kernels import Kernel
from ._low_rank import SampleMap, factorised
from ._preparation import Preparation, Projector, Scale, divided
from ._storage import DenseStorage

__all__ = ["LowRankKernelView", "LowRankPreparation"]

_ROWS_AT_ONCE = 2048  # number of rows of Z for new samples that are in memory at a time
_CONSTANT = 1e-14  # share of the mean squared norm: a smaller variance is rounding error


@dataclass(frozen=True, eq=False)
class LowRankPreparation:
    """Maps y to z(y), its row of Z in K ~ Z Z', centred and scaled like features; `error` is that of Z Z' in training.

    Before that, columns of the samples are divided by their `spread`, if any.
    """

    map: SampleMap
    preparation: Preparation
    error: float
    spread: np.ndarray | None = None

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        scores = np.empty((samples.shape[0], directions.shape[1]))
        for start in range(0, len(scores), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            scores[rows] = self.preparation.project(self.map.rows(divided(samples[rows], self.spread)), directions)
        return scores


class LowRankKernelView(LinearKernelView):
    """M = F F', where F (n x rank) has the centred and scaled rows of Z in K ~ Z Z'.

    F is dense and has few columns, so inner products of columns of M need only F'F.
    """

    passes_for_columns = 0

    def __init__(self, F: np.ndarray, preparation: LowRankPreparation):
        super().__init__(FeatureView(DenseStorage(F), squares=np.einsum("ij,ij->i", F, F)))
        self.unit = preparation.preparation.unit
        self.F, self.preparation = F, preparation
        with one_blas_thread():  # the same order of sums for any number of threads
            self.covariance = F.T @ F

    @classmethod
    def of(
        cls,
        samples: MatrixLike,
        kernel: Kernel,
        rank: int,
        method: str,
        *,
        center: bool,
        scale: Scale,
        spread: np.ndarray | None = None,
        random_state: SeedLike = None,
        n_jobs: int | None = None,
        name: str = "the kernel matrix",
    ) -> "LowRankKernelView":
        """The view of checked samples, centred and scaled on request in the approximated space; see `factorised`.

        The columns have been divided by `spread`, and those of new samples will be.
        """
        found = factorised(samples, kernel, rank, method, random_state, n_jobs)
        F = found.Z
        preparation = Preparation.fit(F, center=center, scale=None).with_norms(scale, F)
        scales = preparation.transform(F).scale
        size = np.einsum("ij,ij->", F, F)
        if preparation.mean is not None:
            F -= preparation.mean  # in place, since no array is larger than F
        if np.einsum("ij,ij->", F, F) <= _CONSTANT * size:
            raise ValueError(f"{name} does not show how samples differ: choose another kernel, or other parameters.")
        if scales is not None:
            F *= scales[:, None]
        return cls(F, LowRankPreparation(found.map, preparation, found.error, spread))

    def matmat(self, weights: np.ndarray) -> np.ndarray:
        return self.F @ (self.F.T @ weights)

    def rmatmat(self, R: np.ndarray) -> np.ndarray:
        return self.matmat(R)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        return self.F @ self.F[indices].T

    def among(self, rows: np.ndarray) -> np.ndarray:
        """The kernel of some samples."""
        return self.F[rows] @ self.F[rows].T

    def square_norms(self) -> np.ndarray:
        return np.maximum(np.einsum("ij,ij->i", self.F @ self.covariance, self.F), 0.0)

    def selection(self) -> ChosenColumns:
        return _LowRankColumns(self)

    def projector(self, rotations: np.ndarray) -> Projector:
        directions = self.F.T @ rotations.astype(np.float64)
        return Projector(self.preparation, directions.astype(rotations.dtype, order="C"))


class _LowRankColumns(ChosenColumns):
    """Columns F f_i of M, stored as the rows f_i of F."""

    def __init__(self, view: LowRankKernelView):
        self._view = view
        self._rows = np.empty((0, view.F.shape[1]))

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, indices: np.ndarray) -> None:
        self._rows = np.vstack([self._rows, self._view.F[indices]])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self._view.F @ (self._rows.T @ weights)

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return self._rows[start:] @ (self._view.F.T @ r)

    def gram(self, start: int) -> np.ndarray:
        return self._rows @ (self._view.covariance @ self._rows[start:].T)
