"""Whether tuning mu and the ridge beats the automatic values on pairs never seen, and what sharing saves."""

import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.model_selection import KFold

from scca import SparseCCA, SparseCCACV
from scca.samples import Groups, Views

from ._table import print_table
from ._texts import Texts, Vectors, split_vectors, texts_of

__all__ = ["run"]

_TRAIN, _COMPONENTS, _SPLITS, _FOLDS = 150, 20, 4, 5
_MU, _RIDGE = (0.25, 0.5, 1.0, 2.0, 4.0), (0.25, 1.0, 4.0)


def run(corpus_paths: tuple[Path, Path] | None = None, join: int = 1) -> None:
    """Print errors of pairs that neither the fits nor the choice of penalties saw, and times of the search."""
    texts = texts_of(corpus_paths, join)
    rows = [row for seed in range(_SPLITS) for row in _rows(texts, seed)]
    print_table(
        f"error of mates and words read, {_TRAIN} pairs to learn and tune from, {_COMPONENTS} factors",
        ["split", "settings", "mu", "ridge", "error", "words read"],
        rows,
    )
    learnt, _ = split_vectors(texts, _TRAIN, 0)
    searched, prepared, cold = (_seconds(way, learnt) for way in (_search, _prepared, _cold))
    print(
        f"\nthe search {searched:.1f} s; its fits one by one {prepared / searched:.1f} times that, from pairs prepared "
        f"once a fold, and {cold / searched:.1f} times with nothing shared"
    )


def _rows(texts: Texts, seed: int) -> list[list[str]]:
    learnt, new = split_vectors(texts, _TRAIN, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        automatic = SparseCCA(_COMPONENTS, held_out=0).fit(*learnt)
        tuned = {
            "mu tuned": SparseCCACV(_COMPONENTS, mu_factors=_MU, ridge_factors=(1,), cv=_FOLDS, held_out=0),
            "both tuned": _search_model(),
            "both, one standard error": _search_model().set_params(rule="one-standard-error"),
        }
        models = {"automatic": automatic, **{name: model.fit(*learnt) for name, model in tuned.items()}}
    return [[str(seed), name, *_cells(model, new)] for name, model in models.items()]


def _cells(model: SparseCCA, new: Vectors) -> list[str]:
    factors = [getattr(model, name, 1.0) for name in ("mu_factor_", "ridge_factor_")]
    used = np.mean([np.count_nonzero(weights.any(axis=1)) for weights in (model.x_weights_, model.y_weights_)])
    return [*(f"{factor:g}" for factor in factors), f"{1 - model.score(*new):.4f}", f"{used:.0f}"]


def _search_model() -> SparseCCACV:
    return SparseCCACV(_COMPONENTS, mu_factors=_MU, ridge_factors=_RIDGE, cv=_FOLDS, held_out=0)


def _seconds(function, learnt: Vectors) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = perf_counter()
        function(*learnt)
        return perf_counter() - started


def _search(X, Y) -> None:
    _search_model().fit(X, Y)


def _prepared(X, Y) -> None:
    """The fits of the search one by one, to pairs that are prepared once per fold; and the last fit."""
    for train, test in KFold(_FOLDS).split(np.arange(X.shape[0])):
        models = _models()
        views = Views((X[train], Y[train]), Groups.of(None, len(train)))
        prepared = models[0].prepare_views(views)
        for model in models:
            next(model.fit_many([model], prepared)).score(X[test], Y[test])
    _models()[0].fit(X, Y)


def _cold(X, Y) -> None:
    """The fits of the search one by one, and the last fit."""
    for train, test in KFold(_FOLDS).split(np.arange(X.shape[0])):
        for model in _models():
            model.fit(X[train], Y[train]).score(X[test], Y[test])
    _models()[0].fit(X, Y)


def _models() -> list[SparseCCA]:
    tried = product(_MU, _RIDGE)
    return [SparseCCA(_COMPONENTS, mu=f"auto*{mu}", ridge=f"auto*{ridge}", held_out=0) for mu, ridge in tried]
