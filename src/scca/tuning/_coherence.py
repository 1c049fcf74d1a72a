"""Coherence: how well the strongest features of a component correlate on held-out pairs."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from .._types import MatrixLike
from ..estimators import SparseCCA
from ..results import shown_weights
from ..samples import Samples

__all__ = ["coherence"]

_N_STRONGEST = 8  # number of features per view and component


def coherence(model: SparseCCA, held_out: Sequence[Samples]) -> float:
    """Mean over components, and over all pairs of one of the 8 strongest features of X and one of Y, of

        sign(l_a) sign(l_b) correlation(x_a, y_b)    on the pairs held out.

    The strongest features are those that are shown to a reader and have the largest loadings |l|. A feature that is
    constant on these pairs has correlation 0; so has a component without weights in one of the views.
    """
    x, y = (
        _signed_means(samples.data, _signs_of_strongest(shown_weights(model, v), model.loadings_[v]))
        for v, samples in enumerate(held_out)
    )
    # the mean over all pairs (a, b) of products is the product of the means over a and over b
    return float(np.mean(np.einsum("ij,ij->j", x, y)))


def _signs_of_strongest(weights: np.ndarray, loadings: np.ndarray) -> sp.csc_array:
    """One column per component: the signs of its strongest features, divided by their number."""
    strength = np.where(weights != 0, np.abs(loadings), 0.0)
    strongest = np.argsort(-strength, axis=0, kind="stable")[:_N_STRONGEST]
    signs = np.take_along_axis(np.where(strength > 0, np.sign(loadings), 0.0), strongest, axis=0)
    shares = signs / np.maximum(np.count_nonzero(signs, axis=0), 1)
    columns = np.broadcast_to(np.arange(weights.shape[1]), strongest.shape)
    return sp.csc_array((shares.ravel(), (strongest.ravel(), columns.ravel())), shape=weights.shape)


def _signed_means(samples: MatrixLike, signs: sp.csc_array) -> np.ndarray:
    """Weighted sums, by `signs`, of the features centred and scaled to unit norm on these samples."""
    used = np.unique(signs.nonzero()[0])
    columns = samples[:, used]
    columns = columns.toarray() if sp.issparse(columns) else np.asarray(columns)
    columns = columns - columns.mean(axis=0, dtype=np.float64)
    norms = np.linalg.norm(columns, axis=0)
    return (columns / np.where(norms > 0, norms, 1.0)) @ signs.tocsr()[used].toarray()
