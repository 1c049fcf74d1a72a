"""From new samples to scores: what a fitted model stores for each view."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._types import MatrixLike

__all__ = ["Projector", "SamplePreparation"]


class SamplePreparation(Protocol):
    """How samples of a view are prepared, in training and later."""

    def project(self, samples: MatrixLike, directions: np.ndarray, diagonal: np.ndarray | None = None) -> np.ndarray:
        """The prepared samples times `directions`, in float64.

        `diagonal` is k(x, x) of each new sample, which only a precomputed kernel cannot compute. Without it the rows of
        a precomputed block are not scaled to unit norm, which does not affect rankings by cosine.
        """


@dataclass(frozen=True, eq=False)
class Projector:
    """Scores of new samples of one view: prepared as in training, times the directions."""

    preparation: SamplePreparation
    directions: np.ndarray

    def __call__(self, samples: MatrixLike, diagonal: np.ndarray | None = None) -> np.ndarray:
        """Scores (n_new, c) in float64; `diagonal` as for `SamplePreparation.project`."""
        return self.preparation.project(samples, self.directions, diagonal)
