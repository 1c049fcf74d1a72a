"""Error of mate retrieval against the words that are read: projections that are sparse in both languages.

Every method is reduced to two matrices of weights on words. A word without a weight can be deleted from the model
without changing a score, so the words read are the rows with a weight, of both languages together.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import cca_zoo.sparse
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso

from scca import PAPER, SparseCCA

from .._sparse_projections import Words, eliminate, largest, mutual_gain, refit
from ._settings import TEXT_PEERS
from ._splits import Split, error, inner_splits

__all__ = [
    # what is compared
    "ALL_WORDS",
    "BUDGETS",
    "KINDS",
    "OURS",
    "SELECTIONS",
    # results
    "Point",
    "Views",
    "component_curves",
    "refitted_curves",
    "tuned_refits",
]

BUDGETS = (100, 200, 400, 800)  # words of both languages
ALL_WORDS = "all words"
OURS = "scca, n_features"  # how it is called on the page

_PEER_COMPONENTS = 40
_REGULARIZATIONS = (0.1, 0.3, 0.6)
KINDS = {"plain": (0.0,), "weighted": (0.0, 0.25, 0.5)}  # powers of the words' reliability to choose from
_ROUNDING = 1e-9  # beside a component's largest weight


@dataclass(frozen=True)
class Point:
    """What one setting of a method read, and the error it made."""

    words: int
    error: float


@dataclass(frozen=True)
class Views:
    """A split as dense views: training X, Y and test U, V; and in how many training documents each word is."""

    X: np.ndarray
    Y: np.ndarray
    U: np.ndarray
    V: np.ndarray
    frequencies: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, split: Split) -> "Views":
        first, second = split.documents()
        (X, U), (Y, V) = first.dense, second.dense
        return cls(X, Y, U, V, (first.document_frequency, second.document_frequency))

    def point(self, x_weights: np.ndarray, y_weights: np.ndarray) -> Point:
        read = sum(int(weights.any(axis=1).sum()) for weights in (x_weights, y_weights))
        return Point(read, error(self.U @ x_weights, self.V @ y_weights))


# --- words are selected, then kernel CCA is fitted to them alone ----------------------------------------------------


def document_frequency(views: Views, sizes):
    """A control that learns nothing: the commonest words."""
    return _ranked(views.frequencies, sizes)


def variance(views: Views, sizes):
    """A control that sees one language at a time: the largest sums of squared TF-IDF."""
    return _ranked([(Z**2).sum(axis=0) for Z in (views.X, views.Y)], sizes)


def direction_energy(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared norms of the rows of kernel CCA's directions, scaled by the canonical values."""
    x_weights, y_weights = refit(X, Y, np.arange(X.shape[1]), np.arange(Y.shape[1]), 0.6)
    return (x_weights**2).sum(axis=1), (y_weights**2).sum(axis=1)


def sparse_cca_words(views: Views, sizes):
    """The words most components of the paper's method use: of X from SparseCCA(X, Y), of Y from SparseCCA(Y, X)."""
    weights = [_sparse_cca(*pair).x_weights_ for pair in ((views.X, views.Y), (views.Y, views.X))]
    return _ranked([(w != 0).sum(axis=1) for w in weights], sizes)


def span_words(views: Views, sizes):
    """The words with the largest part in the scores of an alternation with 3 words a component (cca-zoo's SpanCCA)."""
    weights = _peer_weights("SpanCCA", {"span": 3}, views)
    return _ranked(
        [(w**2).sum(axis=1) * (Z**2).sum(axis=0) for w, Z in zip(weights, (views.X, views.Y), strict=True)], sizes
    )


def group_lasso_words(views: Views, sizes):
    """Rows of a group lasso that predicts the other language's kernel CCA scores, all components at once."""
    x_weights, y_weights = refit(views.X, views.Y, np.arange(views.X.shape[1]), np.arange(views.Y.shape[1]), 0.3)
    energies = [_group_lasso(views.X, views.Y @ y_weights), _group_lasso(views.Y, views.X @ x_weights)]
    return _ranked(energies, sizes)


SELECTIONS: dict[str, Callable[[Views, Sequence[int]], list[Words]]] = {
    "mutual prediction, eliminated": lambda views, sizes: eliminate(views.X, views.Y, sizes),
    "mutual prediction, once": lambda views, sizes: _ranked(mutual_gain(views.X, views.Y), sizes),
    "directions of kernel CCA, once": lambda views, sizes: _ranked(direction_energy(views.X, views.Y), sizes),
    "directions of kernel CCA, eliminated": lambda views, sizes: eliminate(views.X, views.Y, sizes, direction_energy),
    "group lasso on kernel CCA scores": group_lasso_words,
    "words of sparse CCA, the paper's": sparse_cca_words,
    "words of SpanCCA": span_words,
    "document frequency": document_frequency,
    "sum of squares": variance,
}


def refitted_curves(split: Split, seed: int) -> dict[str, dict[str, list[Point]]]:
    """By selection: a point a budget, with words as they are ("plain") and weighted by reliability ("weighted").

    The regularisation and the power of the weights are those that find most mates of held-out training pairs, whose
    words were selected without them.
    """
    sizes = [budget // 2 for budget in BUDGETS]
    every = [(views := Views.of(split)), *(Views.of(part) for part in inner_splits(split, seed))]
    curves: dict[str, dict[str, list[Point]]] = {}
    for name, select in SELECTIONS.items():
        by_budget = zip(*(select(part, sizes) for part in every), strict=True)
        fits = [tuned_refits(every, words) for words in by_budget]
        curves[name] = {kind: [views.point(*fit[kind]) for fit in fits] for kind in KINDS}
    curves[ALL_WORDS] = {kind: [views.point(*weights)] for kind, weights in tuned_refits(every).items()}
    return curves


def tuned_refits(every: Sequence[Views], words: Sequence[Words] | None = None) -> dict[str, tuple]:
    """By kind of weighting: weights of kernel CCA on the words selected in a split, tuned inside its training pairs.

    `every` is the split followed by its inner ones, `words` what was selected in each; all words unless given.
    """
    words = words or [(np.arange(v.X.shape[1]), np.arange(v.Y.shape[1])) for v in every]

    @cache
    def held_out_error(choice: tuple[float, float]) -> float:
        inner = zip(every[1:], words[1:], strict=True)
        return sum(views.point(*refit(views.X, views.Y, *chosen, *choice)).error for views, chosen in inner)

    tuned = {}
    for kind, powers in KINDS.items():
        best = min(product(_REGULARIZATIONS, powers), key=held_out_error)
        tuned[kind] = refit(every[0].X, every[0].Y, *words[0], *best)
    return tuned


# --- components that are sparse themselves --------------------------------------------------------------------------


def component_curves(split: Split, seed: int) -> dict[str, list[Point]]:
    """By method: a point for every setting, number of components and weighting of them tried; nothing is tuned."""
    views = Views.of(split)
    curves = {OURS: chosen_features(split, seed), "scca, raw weights": _prefixes(views, *_paired_weights(views))}
    for peer, settings in TEXT_PEERS.items():
        fits = [_peer_weights(peer, s, views) for s in settings]
        curves[peer] = [point for weights in fits for point in _prefixes(views, *weights)]
    return curves


def chosen_features(split: Split, seed: int) -> list[Point]:
    """SparseCCA with `n_features`, a point a budget; the number of components is chosen inside the training pairs."""
    views, inner = Views.of(split), [Views.of(part) for part in inner_splits(split, seed)]
    points = []
    for budget in BUDGETS:
        held_out = [_prefix_errors(part, *_chosen_weights(part, budget // 2)) for part in inner]
        shortest = min(map(len, held_out))
        count = 1 + int(np.argmin(np.sum([errors[:shortest] for errors in held_out], axis=0)))
        x_weights, y_weights = _chosen_weights(views, budget // 2)
        points.append(views.point(x_weights[:, :count], y_weights[:, :count]))
    return points


def _chosen_weights(views: Views, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """What the model multiplies words with: rotations times feature weights, zero for words that are not read."""
    n_components = min(len(views.X) - 1, n_features - 1, _PEER_COMPONENTS)
    settings = {"representation": "primal-primal", "refine": False, "directions": "shared"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseCCA(n_components, n_features=n_features, center=False, normalize=False, **settings)
        model.fit(views.X, views.Y)
    x_scale, y_scale = model.x_feature_weights_[:, None], model.y_feature_weights_[:, None]
    return x_scale * model.x_rotations_, y_scale * model.y_rotations_


def _prefix_errors(views: Views, x_weights: np.ndarray, y_weights: np.ndarray) -> list[float]:
    counts = range(1, x_weights.shape[1] + 1)
    return [views.point(x_weights[:, :count], y_weights[:, :count]).error for count in counts]


def _prefixes(views: Views, x_weights: np.ndarray, y_weights: np.ndarray) -> list[Point]:
    """Points of the first components, with scores as they come, of unit norm, and of unit norm times correlation."""
    x_scores, y_scores = views.X @ x_weights, views.Y @ y_weights
    x_norm, y_norm = (np.where(s.any(axis=0), np.linalg.norm(s, axis=0), 1.0) for s in (x_scores, y_scores))
    correlation = np.einsum("ij,ij->j", x_scores, y_scores) / (x_norm * y_norm)
    counts = [j for j in (2, 5, 10, 15, 20, 30, 40, 60, 99) if j <= x_weights.shape[1]]
    points = []
    for x_scale, y_scale in ((1.0, 1.0), (1 / x_norm, 1 / y_norm), (correlation / x_norm, correlation / y_norm)):
        points += [views.point((x_weights * x_scale)[:, :j], (y_weights * y_scale)[:, :j]) for j in counts]
    return points


def _peer_weights(peer: str, settings: dict, views: Views) -> list[np.ndarray]:
    n_components = min(_PEER_COMPONENTS, len(views.X) - 1)
    model = getattr(cca_zoo.sparse, peer)(n_components=n_components, center=False, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = [np.nan_to_num(w) for w in model.fit([views.X, views.Y]).weights_]
    # its inverse of a triangular matrix leaves rounding errors where there are no weights
    return [np.where(np.abs(w) > _ROUNDING * np.abs(w).max(axis=0, initial=0.0), w, 0.0) for w in weights]


def _paired_weights(views: Views) -> tuple[np.ndarray, np.ndarray]:
    """Sparse weights of the paper's method on both languages, those of one anchor side by side."""
    first, second = _sparse_cca(views.X, views.Y), _sparse_cca(views.Y, views.X)
    _, i, j = np.intersect1d(first.anchors_, second.anchors_, return_indices=True)
    return first.x_weights_[:, i], second.x_weights_[:, j]


def _sparse_cca(X: np.ndarray, Y: np.ndarray) -> SparseCCA:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SparseCCA(min(len(X) - 1, X.shape[1]), **PAPER | {"center": False, "normalize": False}).fit(X, Y)


def _ranked(values, sizes: Sequence[int]) -> list[Words]:
    """The words with the largest values; none whose value is 0, which a method did not select."""
    return [tuple(largest(v, min(size, np.count_nonzero(v))) for v in values) for size in sizes]


def _group_lasso(X: np.ndarray, targets: np.ndarray) -> np.ndarray:
    targets = targets[:, :30]
    largest_penalty = np.sqrt(((X.T @ targets) ** 2).sum(axis=1)).max() / len(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MultiTaskLasso(alpha=0.05 * largest_penalty, fit_intercept=False, max_iter=50, tol=1e-2).fit(X, targets)
    return (model.coef_**2).sum(axis=0) * (X**2).sum(axis=0)
