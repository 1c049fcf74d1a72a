"""Deflation: what Algorithm 4 has removed from a view, and the view that is left."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from ..views import ChosenColumns, CopiedColumns, View

__all__ = ["DeflatedView", "Deflation"]

_EXHAUSTED_SCORE = 1e-10  # a score that projection shrinks to less than this share is rounding error


@dataclass(frozen=True, eq=False)
class Deflation:
    """Directions U (m x j) removed from a view M, their orthonormal scores T (n x j), and the triangular C with

        M U = T C,    T'T = I,

    so that the rotations R = U C^-1 have the training scores M R = T. `images` is M'T (m x j).
    """

    T: np.ndarray
    U: np.ndarray
    C: np.ndarray
    images: np.ndarray

    @classmethod
    def none(cls, view: View) -> "Deflation":
        """Nothing removed yet."""
        n, m = view.shape
        return cls(np.empty((n, 0)), np.empty((m, 0)), np.empty((0, 0)), np.empty((m, 0)))

    def __len__(self) -> int:
        return self.T.shape[1]

    def project(self, r: np.ndarray) -> np.ndarray:
        """(I - T T') r for one vector or the columns of a matrix."""
        return r - self.T @ (self.T.T @ r) if len(self) else r

    def extended(self, view: View, direction: np.ndarray) -> "Deflation | None":
        """One more direction of the view M removed; None if its score lies in the span of T, up to rounding error."""
        score = view.matvec(direction)
        coefficients = self.T.T @ score
        rest = score - self.T @ coefficients
        again = self.T.T @ rest  # a second step of Gram-Schmidt keeps T orthonormal to machine precision
        rest -= self.T @ again
        norm = np.linalg.norm(rest)
        if not norm > _EXHAUSTED_SCORE * np.linalg.norm(score):
            return None
        t = rest / norm
        C = np.zeros((len(self) + 1, len(self) + 1))
        C[:-1, :-1] = self.C
        C[:, -1] = [*(coefficients + again), norm]
        return Deflation(
            _with_column(self.T, t), _with_column(self.U, direction), C, _with_column(self.images, view.rmatvec(t))
        )

    @cached_property
    def rotations(self) -> np.ndarray:
        """R = U C^-1."""
        return solve_triangular(self.C, self.U.T, trans="T").T


def _with_column(matrix: np.ndarray, column: np.ndarray) -> np.ndarray:
    return np.vstack([matrix.T, column]).T  # keeps columns contiguous


class DeflatedView(View):
    """What is left of a view M: P M for features, P M P for a kernel, with the projection P = I - T T'."""

    def __init__(self, view: View, deflation: Deflation | None = None):
        self.view = view
        self.deflation = Deflation.none(view) if deflation is None else deflation
        self.shape, self.n_stored = view.shape, view.n_stored
        self.passes_for_columns, self.columns_are_samples = view.passes_for_columns, view.columns_are_samples

    def deflated(self, direction: np.ndarray) -> "DeflatedView | None":
        """The view with the score of one more direction removed; None if nothing of that score is left."""
        deflation = self.deflation.extended(self.view, direction)
        return None if deflation is None else DeflatedView(self.view, deflation)

    def direction(self, score: np.ndarray) -> np.ndarray:
        """The direction of a score s on the coordinates: u = X_j's for features, b = (I - T T') s for samples."""
        return self.deflation.project(score) if self.columns_are_samples else self.rmatvec(score)

    @property
    def remaining(self) -> float:
        """The share of the samples' squared norms (the trace of the kernel) that is left."""
        taken = self.deflation
        whole = float(self.view.sample_squares().sum())
        seen = taken.T if self.columns_are_samples else taken.images  # t'M t for a kernel, ||M't||^2 for features
        return 1.0 - float(np.einsum("ij,ij->", seen, taken.images)) / whole if whole > 0 else 0.0

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        project = self.deflation.project
        return project(self.view.matvec(project(weights) if self.columns_are_samples else weights))

    def rmatvec(self, r: np.ndarray) -> np.ndarray:
        project = self.deflation.project
        products = self.view.rmatvec(project(r))
        return project(products) if self.columns_are_samples else products

    def columns(self, indices: np.ndarray) -> np.ndarray:
        taken, block = self.deflation, self.view.columns(indices)
        if self.columns_are_samples:
            block = block - taken.images @ taken.T[indices].T
        return taken.project(block)

    def sample_squares(self) -> np.ndarray:
        """Squared norms of the samples: the diagonal of P S P, S = M M' for features, S = M for a kernel."""
        taken, squares = self.deflation, self.view.sample_squares()
        if not len(taken):
            return squares
        images = taken.images  # S T
        if not self.columns_are_samples:
            images = np.column_stack([self.view.matvec(image) for image in taken.images.T])
        return squares - np.einsum("ij,ij->i", taken.T, 2.0 * images - taken.T @ (taken.T.T @ images))

    def square_norms(self) -> np.ndarray:
        if self.columns_are_samples:
            return super().square_norms()
        return np.maximum(self.view.square_norms() - np.sum(self.deflation.images**2, axis=1), 0.0)

    def selection(self) -> ChosenColumns:
        whole = self.view.selection()
        return CopiedColumns(self) if isinstance(whole, CopiedColumns) else _DeflatedSelection(whole, self)


class _DeflatedSelection(ChosenColumns):
    """Columns of a deflated feature view, multiplied where the whole view stores them."""

    def __init__(self, whole: ChosenColumns, view: DeflatedView):
        self._whole = whole
        self._project = view.deflation.project
        self._images = view.deflation.images
        self._indices = np.empty(0, dtype=np.intp)

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, indices: np.ndarray) -> None:
        self._whole.add(indices)
        self._indices = np.concatenate([self._indices, indices])

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        return self._project(self._whole.matvec(weights))

    def rmatvec(self, r: np.ndarray, start: int = 0) -> np.ndarray:
        return self._whole.rmatvec(self._project(r), start)

    def gram(self, start: int) -> np.ndarray:
        """M_S'P M_N = M_S'M_N - (M_S'T)(T'M_N)."""
        return self._whole.gram(start) - self._images[self._indices] @ self._images[self._indices[start:]].T
