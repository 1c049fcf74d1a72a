"""Sparse CCA compared with the sparse methods of cca-zoo: planted factors, and mates found with as few words."""

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import clone

from scca import AnchoredCCA, SparseCCA
from scca.datasets import make_planted
from scca.retrieval import average_precision
from scca.views import Preparation

from ._table import print_table
from ._texts import split_vectors, texts_of

__all__ = ["run"]

# classes of cca_zoo.sparse and their settings: what suits planted factors of 10 features, and the defaults
_PLANTED_PEERS: dict[str, tuple[str, dict]] = {
    "PMDCCA(l1_bound=0.08)": ("PMDCCA", {"l1_bound": 0.08}),
    "SpanCCA(span=10)": ("SpanCCA", {"span": 10}),
    "ParkhomenkoCCA(alpha=0.5)": ("ParkhomenkoCCA", {"alpha": 0.5}),
    "IPLSCCA(alpha=0.3)": ("IPLSCCA", {"alpha": 0.3}),
    **{f"{name}()": (name, {}) for name in ("PMDCCA", "SpanCCA", "ParkhomenkoCCA", "IPLSCCA")},
}
# the same on text, from few words per component to many
_TEXT_PEERS: dict[str, list[dict]] = {
    "PMDCCA": [{"l1_bound": bound} for bound in (0.03, 0.06)],
    "SpanCCA": [{"span": span} for span in (3, 10)],
    "ParkhomenkoCCA": [{"alpha": alpha} for alpha in (0.4, 0.6)],
    "IPLSCCA": [{"alpha": alpha} for alpha in (0.003, 0.01)],
}
_OURS = {
    "scca": SparseCCA(2, held_out=0),
    "scca, dense": SparseCCA(2, rendering="dense", held_out=0),
    "scca, the paper's method": AnchoredCCA(2),
}
_SEEDS = 3
_PLANTED = 200  # samples to learn from, and as many new ones
_PAIRS, _FACTORS = 100, 20
_COUNTS = (5, 10, 20, 40)  # components of a peer
_ROUNDING = 1e-9  # beside a component's largest weight


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1) -> None:
    """Print both tables."""
    _print_planted()
    _print_text(texts_of(corpus_paths, join))


# --- planted factors --------------------------------------------------------------------------------------------------


def _print_planted() -> None:
    found: dict[str, list[list[float]]] = {}
    for seed in range(_SEEDS):
        data = make_planted(2 * _PLANTED, random_state=seed)
        train, test = ([view[rows] for view in data.views] for rows in (slice(_PLANTED), slice(_PLANTED, None)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, ours in _OURS.items():
                model = clone(ours).fit(*train)
                found.setdefault(name, []).append(_correlations(*model.transform_pair(*test)))
            for name, (peer, settings) in _PLANTED_PEERS.items():
                model = _peer(peer)(n_components=2, random_state=0, **settings).fit(train)
                found.setdefault(name, []).append(_correlations(*model.transform(test)))
    rows = [[name, *(f"{value:.3f}" for value in np.mean(values, axis=0))] for name, values in found.items()]
    print_table(
        "two planted factors of 10 features among 2,000 a view, 200 samples: correlation of new samples",
        ["method", "component 1", "component 2"],
        rows,
    )


def _correlations(A: np.ndarray, B: np.ndarray) -> list[float]:
    """Of each pair of columns; 0 for a component that was not found."""
    values = [np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)]
    return np.nan_to_num(values + [0.0] * (2 - len(values))).tolist()


# --- text -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """The words that one setting of a method reads, and its error."""

    share: float
    error: float


def _print_text(texts: tuple[list[str], list[str]]) -> None:
    found: dict[str, list[list[float]]] = {}
    for seed in range(_SEEDS):
        learnt, new = split_vectors(texts, min(_PAIRS, len(texts[0]) // 2), seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = SparseCCA(_FACTORS, held_out=0).fit(*learnt)
            share = _share(ours.x_weights_, ours.y_weights_)
            found.setdefault("scca", []).append([share, 1 - ours.score(*new), np.nan])
            preparations = [Preparation.fit(view) for view in learnt]
            prepared = [
                [
                    p.transform(view).columns(np.arange(view.shape[1]))
                    for p, view in zip(preparations, views, strict=True)
                ]
                for views in (learnt, new)
            ]
            for peer, settings in _TEXT_PEERS.items():
                points = [point for given in settings for point in _points(peer, given, *prepared)]
                within = min((point for point in points if point.share <= share), key=_error, default=_Point(0, 1))
                best = min(points, key=_error)
                found.setdefault(peer, []).append([within.share, within.error, best.error])
    rows = []
    for name, values in found.items():
        share, within, best = np.mean(values, axis=0)
        rows.append([name, f"{100 * share:.0f} %", f"{within:.3f}", "" if np.isnan(best) else f"{best:.3f}"])
    print_table(
        f"error of mates from {_PAIRS} pairs: scca with {_FACTORS} factors as it comes; peers at the setting, number "
        "of components and scale of scores that are best on the test",
        ["method", "words read", "error from no more words than scca", "error, any number of words"],
        rows,
    )


def _points(peer: str, settings: dict, train: list[np.ndarray], test: list[np.ndarray]) -> list[_Point]:
    n_components = min(max(_COUNTS), len(train[0]) - 1)
    model = _peer(peer)(n_components=n_components, center=False, random_state=0, **settings)
    weights = [np.nan_to_num(w) for w in model.fit(train).weights_]
    # its inverse of a triangular matrix leaves rounding errors where there are no weights
    weights = [np.where(np.abs(w) > _ROUNDING * np.abs(w).max(axis=0, initial=0.0), w, 0.0) for w in weights]
    scores = [view @ w for view, w in zip(train, weights, strict=True)]
    norms = [np.where(s.any(axis=0), np.linalg.norm(s, axis=0), 1.0) for s in scores]
    correlations = np.einsum("ij,ij->j", *scores) / (norms[0] * norms[1])
    points = []
    for scales in ((1.0, 1.0), (1 / norms[0], 1 / norms[1]), (correlations / norms[0], correlations / norms[1])):
        new = [view @ (w * scale) for view, w, scale in zip(test, weights, scales, strict=True)]
        for count in (c for c in _COUNTS if c <= n_components):
            precision = average_precision(new[0][:, :count], new[1][:, :count]).average_precision
            points.append(_Point(_share(*(w[:, :count] for w in weights)), 1 - precision))
    return points


def _peer(name: str) -> type:
    import cca_zoo.sparse  # here, since the other benchmarks do without

    return getattr(cca_zoo.sparse, name)


def _error(point: _Point) -> float:
    return point.error


def _share(*weights: np.ndarray) -> float:
    return float(sum(w.any(axis=1).sum() for w in weights) / sum(len(w) for w in weights))
