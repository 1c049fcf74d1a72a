"""Projections that read few words of either language, chosen by one measure or another, and kernel CCA on these words.

A word is worth keeping if the *kept* words of the other language tell, for a document left out, how much of it the
document has. Words are dropped a tenth at a time, the worst first, and what is left is judged anew each time: a word
whose only company in the other language was dropped goes as well, so that words end up in groups that translate each
other. Kernel CCA on the words kept, each weighted by a power of its held-out R^2, then gives the projections.

Views are n x m arrays, centred, with rows of unit norm.
"""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from scca import KernelCCA
from scca.estimators._feature_weights import held_out_gain
from scca.views import FeatureView, storage_of

__all__ = ["Words", "eliminate", "largest", "mutual_gain", "refit", "reliability"]

Words = tuple[np.ndarray, np.ndarray]
Worth = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

_KEPT = 0.9  # of a view's words in each round
_LEAST_R2 = 0.02  # a word that is not predicted keeps a little weight


def predicted(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each column of X gains from Y over its mean, for samples left out, and what the mean leaves of it."""
    return held_out_gain(FeatureView(storage_of(X)), Y @ Y.T)


def reliability(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The held-out R^2 of each column of X given Y, at least 0.02; 1 would be perfect."""
    gain, deviation = predicted(X, Y)
    return np.maximum(gain / np.where(deviation > 0, deviation, 1.0), _LEAST_R2)


def mutual_gain(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each view's words gain, held out, from the other view's."""
    return predicted(X, Y)[0], predicted(Y, X)[0]


def eliminate(X: np.ndarray, Y: np.ndarray, sizes: Sequence[int], worth: Worth = mutual_gain) -> list[Words]:
    """Words of both views for each of `sizes`, words a view, in the same order.

    The tenth of a view's words with the least `worth` beside the words left in both views is dropped in each round.
    """
    words, found = [np.arange(X.shape[1]), np.arange(Y.shape[1])], {}
    for size in sorted(sizes, reverse=True):
        while max(map(len, words)) > size:
            values = worth(X[:, words[0]], Y[:, words[1]])
            words = [w[largest(v, max(size, int(_KEPT * len(v))))] for w, v in zip(words, values, strict=True)]
        found[size] = words[0], words[1]
    return [found[size] for size in sizes]


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Places of the `count` largest values, in increasing order of place."""
    return np.sort(np.argsort(-values, kind="stable")[:count])


def refit(X: np.ndarray, Y: np.ndarray, x_words, y_words, regularization: float, power: float = 0.0) -> tuple:
    """Kernel CCA on chosen words alone, column i scaled by R_i^(2 power): weights on all words, zero elsewhere.

    Scores are scaled by the canonical values, so that components that generalise less count less. `power=0` leaves the
    words as they are.
    """
    A, B = X[:, x_words], Y[:, y_words]
    x_scale, y_scale = np.ones(A.shape[1]), np.ones(B.shape[1])
    if power > 0:
        x_scale, y_scale = reliability(A, B) ** power, reliability(B, A) ** power
    x_scale *= np.sqrt(len(A) / ((A * x_scale) ** 2).sum())  # a mean diagonal of 1, as the regularisation expects
    y_scale *= np.sqrt(len(B) / ((B * y_scale) ** 2).sum())
    A, B = A * x_scale, B * y_scale
    n_components = min(len(A) - 1, A.shape[1], B.shape[1])
    model = KernelCCA(n_components, regularization=regularization, kernel="precomputed", center=False, normalize=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # few words can have a smaller rank
        model.fit(A @ A.T, B @ B.T)
    weights = []
    for view, words, part, scale, dual in (
        (X, x_words, A, x_scale, model.x_weights_),
        (Y, y_words, B, y_scale, model.y_weights_),
    ):
        full = np.zeros((view.shape[1], model.n_components_))
        full[words] = scale[:, None] * (part.T @ dual) * model.canonical_values_
        weights.append(full)
    return weights[0], weights[1]
