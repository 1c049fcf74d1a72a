"""Which scaling serves which data: few columns beside the lasso, columns in other units, and real tables."""

import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

import scca
from scca import KernelCCA, SparseCCA
from scca.text import TextVectorizer

from ._table import print_table

__all__ = ["correlations_of", "run", "tables_of"]

_SCALES = ("auto", "both", "columns", "rows", None)
_STANDARDISED = "standardised, rows"  # columns standardised beforehand, then samples of exactly unit norm
_SETS, _FEW_SETS = 20, 4
_FEW_SPLITS = 2
_COMPONENTS = 5
_LEFT_OUT = 0.2
_JOBS = 2
_MODELS = {
    "sparse": lambda c, scale: SparseCCA(c, scale=scale, held_out=0),
    "dense": lambda c, scale: SparseCCA(c, scale=scale, held_out=0, rendering="dense"),
    "kernel CCA": lambda c, scale: KernelCCA(c, scale=scale),
}


def run(quick: bool = False, tables: list[Path] | None = None, splits: int = 5) -> None:
    """Print correlations and precision on samples left out, for every scaling.

    Of made-up data and of the built-in corpus; with `tables`, .npz files, of all pairs of the matrices in each.
    """
    warnings.simplefilter("ignore")
    if tables:
        for path in tables:
            _print_of_file(path, _FEW_SPLITS if quick else splits)
        return
    n_sets = _FEW_SETS if quick else _SETS
    _print_few_columns(n_sets)
    _print_units(n_sets)
    _print_words(n_sets)


# --- few columns ------------------------------------------------------------------------------------------------------


def _print_few_columns(n_sets: int) -> None:
    """One and two columns of Y, each a sum of four of 60 columns of X; 150 samples, 2,000 new ones."""
    rows = []
    for n_columns in (1, 2, 5):
        for noise in (0.2, 1.0):
            found = Parallel(n_jobs=_JOBS)(delayed(_few_columns)(seed, n_columns, noise) for seed in range(n_sets))
            lasso, *ours = zip(*found, strict=True)
            rows.append([f"{n_columns}, noise {noise:g}", f"{np.mean(lasso):.3f}", *map(_mean_and_error, ours)])
    header = ["columns of Y", "lasso", *map(_called, _SCALES)]
    print_table(f"Mean correlation on new samples, {n_sets} data sets", header, rows)


def _few_columns(seed: int, n_columns: int, noise: float) -> list[float]:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2150, 60))
    signal = np.column_stack([X[:, rng.choice(60, 4, replace=False)].sum(axis=1) for _ in range(n_columns)])
    Y = signal + noise * 2.0 * rng.standard_normal(signal.shape)
    train, new = slice(150), slice(150, None)
    predicted = np.column_stack([LassoCV(cv=5).fit(X[train], y[train]).predict(X[new]) for y in Y.T])
    found = [float(np.mean(correlations_of(predicted, Y[new])))]
    for scale in _SCALES:
        model = SparseCCA(n_columns, scale=scale, held_out=0).fit(X[train], Y[train])
        found.append(float(np.mean(correlations_of(*model.transform_pair(X[new], Y[new])))))
    return found


# --- units ------------------------------------------------------------------------------------------------------------


def _print_units(n_sets: int) -> None:
    """The first component of planted factors, with columns as they are and in other units."""
    rows = []
    for what, units in (
        ("as they are", np.ones),
        ("one column times 1,000", lambda m: np.append(1e3, np.ones(m - 1))),
        ("from 1e-6 to 1e6", lambda m: np.logspace(-6, 6, m)),
    ):
        found = [_in_units(seed, units) for seed in range(n_sets)]
        rows.append([what, *map(_mean_and_error, zip(*found, strict=True))])
    header = ["columns", *map(_called, _SCALES)]
    print_table(f"First correlation on new samples, {n_sets} data sets of 80 x 30 and 80 x 20", header, rows)


def _in_units(seed: int, units: Any) -> list[float]:
    made = scca.datasets.make_planted(580, 30, 20, n_factors=2, n_active=5, strength=1.5, random_state=seed)
    X, Y = (view * units(view.shape[1]) for view in made.views)
    found = []
    for scale in _SCALES:
        model = SparseCCA(1, scale=scale, held_out=0).fit(X[:80], Y[:80])
        found.append(float(correlations_of(*model.transform_pair(X[80:], Y[80:]))[0]))
    return found


# --- words ------------------------------------------------------------------------------------------------------------


def _print_words(n_splits: int) -> None:
    """Mates found among 100 documents of the built-in corpus, by 20 components of the other 200."""
    rows = []
    for what, binary in (("TF-IDF", False), ("zeros and ones", True)):
        found = Parallel(n_jobs=_JOBS)(delayed(_of_words)(seed, binary) for seed in range(n_splits))
        rows.append([what, *map(_mean_and_error, zip(*found, strict=True))])
    print_table(f"Average precision of mates, {n_splits} splits", ["words", *map(_called, _SCALES)], rows)


def _of_words(seed: int, binary: bool) -> list[float]:
    warnings.simplefilter("ignore")
    corpus = scca.datasets.load_trilingual()
    train, test = np.split(np.random.default_rng(seed).permutation(len(corpus)), [200])
    learnt, new = [], []
    for texts in (corpus.en, corpus.fr):
        vectorizer = TextVectorizer(min_df=2).fit([texts[i] for i in train])
        for rows, views in ((train, learnt), (test, new)):
            vectors = vectorizer.transform([texts[i] for i in rows])
            views.append((vectors != 0).astype(np.float64) if binary else vectors)
    return [SparseCCA(20, scale=scale, held_out=0).fit(*learnt).score(*new) for scale in _SCALES]


# --- real tables ------------------------------------------------------------------------------------------------------


def tables_of(path: Path) -> dict[str, np.ndarray]:
    """The matrices of numbers in a .npz file, by name, without columns that have a missing value."""
    with np.load(path) as stored:
        views = {name: stored[name] for name in stored.files if stored[name].ndim == 2}
    return {
        name: view[:, np.isfinite(view).all(axis=0)].astype(np.float64)
        for name, view in views.items()
        if view.dtype.kind in "biuf"
    }


def _print_of_file(path: Path, n_splits: int) -> None:
    for (one, X), (other, Y) in combinations(tables_of(path).items(), 2):
        if len(X) != len(Y):
            continue
        found = Parallel(n_jobs=_JOBS)(delayed(_of_split)(X, Y, seed) for seed in range(n_splits))
        rows = []
        for name in _MODELS:
            for scale in (*_SCALES, _STANDARDISED):
                first, all_of_them, precision, chosen = zip(*(split[name, scale] for split in found), strict=True)
                cells = [_mean_and_error(values) for values in (first, all_of_them, precision)]
                rows.append([f"{name}, {_called(scale)}{chosen[0] if scale == 'auto' else ''}", *cells])
        header = ["model, scale", "first correlation", f"mean of {_COMPONENTS}", "precision of mates"]
        print_table(f"{path.stem}: {one} {X.shape}, {other} {Y.shape}, {n_splits} splits", header, rows)


def _of_split(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[tuple[str, Any], tuple[float, float, float, str]]:
    warnings.simplefilter("ignore")
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = np.split(order, [int(_LEFT_OUT * len(X))])
    n_components = min(_COMPONENTS, X.shape[1], Y.shape[1])
    found = {}
    scalers = [StandardScaler().fit(view[train]) for view in (X, Y)]
    standardised = [scaler.transform(view) for scaler, view in zip(scalers, (X, Y), strict=True)]
    for name, model_of in _MODELS.items():
        for scale in (*_SCALES, _STANDARDISED):
            A, B = standardised if scale == _STANDARDISED else (X, Y)
            model = model_of(n_components, "rows" if scale == _STANDARDISED else scale).fit(A[train], B[train])
            correlations = np.zeros(n_components)
            correlations[: model.n_components_] = correlations_of(*model.transform_pair(A[test], B[test]))
            chosen = f" ({model.x_scale_}, {model.y_scale_})"
            precision = model.score(A[test], B[test])
            found[name, scale] = float(correlations[0]), float(correlations.mean()), precision, chosen
    return found


def correlations_of(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = (scores - scores.mean(axis=0) for scores in (A, B))
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return np.sum(A * B, axis=0) / np.where(norms > 0, norms, 1.0)


def _mean_and_error(values: Any) -> str:
    return f"{np.mean(values):.3f} +- {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def _called(scale: Any) -> str:
    return "none" if scale is None else scale
