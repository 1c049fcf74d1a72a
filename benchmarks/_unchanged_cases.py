"""What two versions are compared on: settings, storages and sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from scca import SparseCCACV
from scca.datasets import load_trilingual, make_bilingual, make_planted

from ._corpus import read_texts, tf_idf_of
from ._unchanged_answers import (
    Answers,
    Texts,
    Views,
    fitted,
    generated,
    one_component,
    path_of_component,
    path_of_model,
    permuted,
    read_again,
    said_of_texts,
    searched,
    stable,
)
from ._unchanged_spelling import Kernel, anchored, anchored_cv, bilingual, kernel_cca, sparse_cca

__all__ = ["Case", "Cases", "all_cases"]

_NEW = 100  # samples, at most
_CORPUS = 4000  # pairs that are learnt from: enough for sample weights
_RBF, _WIDER = Kernel("rbf", {"gamma": 0.05}), Kernel("rbf", {"gamma": 0.01})
_LOW_RANK = Kernel("rbf", {"gamma": 0.01}, 60)
_PRECOMPUTED = Kernel("precomputed")
_GROUPS = 4  # samples in each group


@dataclass(frozen=True)
class Case:
    """A row of the table: data, which are made before the time is taken, and what is computed from them."""

    data: Callable[[], Any]
    answers: Callable[[Any], Answers]
    large: bool = False


Cases = dict[str, Case]
Makers = Mapping[str, Callable[[], Any]]  # of estimators that are not fitted


def all_cases(corpus: tuple[Path, Path] | None = None) -> Cases:
    """Small ones first, so that what large ones need is compiled before their time is taken."""
    parts = [_factors(), _storages(), _kernels(), _representations(), _anchored(), _searches(), _paths(), _inference()]
    parts += [_single_components(), _built_in_corpus(), _sizes(), {} if corpus is None else _of_corpus(corpus)]
    return {name: case for part in parts for name, case in part.items()}


# --- data -------------------------------------------------------------------------------------------------------------


def _table(n: int, x_features: int, y_features: int) -> Views:
    """Dense samples that share three factors."""
    sizes = n + min(n, _NEW), x_features, y_features
    return _split(make_planted(*sizes, n_factors=3, n_active=4, strength=1.5, random_state=0).views, n)


def _words(n: int, vocabulary: int, length: int = 20) -> Views:
    """Sparse counts of words."""
    settings = {"vocabulary": vocabulary, "length": length, "random_state": 0}
    return _split(make_bilingual(n + min(n, _NEW), **settings).views, n)


def _thin(n: int, x_features: int, y_features: int) -> Views:
    """Sparse samples whose features all vary alike."""
    sizes = n + min(n, _NEW), x_features, y_features
    settings = {"n_factors": 3, "n_active": 15, "strength": 3.0, "density": 0.003, "random_state": 0}
    return _split(make_planted(*sizes, **settings).views, n)


def _split(views: tuple[Any, Any], n: int) -> Views:
    return Views(tuple(view[:n] for view in views), tuple(view[n:] for view in views))


def _stored_words(store: Callable[[sp.csr_array], Any]) -> Views:
    views = _words(120, 200)
    return Views(tuple(map(store, views.train)), tuple(map(store, views.new)))


def _frame(view: sp.csr_array) -> pd.DataFrame:
    return pd.DataFrame(view.toarray(), columns=[f"word{j}" for j in range(view.shape[1])])


def _near_copies() -> Views:
    views = _table(40, 30, 20)
    return replace(views, train=tuple(np.concatenate([view, view + 1e-3]) for view in views.train))


def _kernel_matrices(names: str) -> Views:
    """A table with kernel matrices instead of the features of the views with these names."""
    views = _table(100, 15, 12)
    train, new, diagonals = list(views.train), list(views.new), [None, None]
    for i in map("XY".index, names):
        train[i], new[i] = (rbf_kernel(samples, views.train[i], gamma=0.02) for samples in (train[i], new[i]))
        diagonals[i] = np.ones(len(new[i]))
    return Views(tuple(train), tuple(new), tuple(diagonals))


def _groups(n: int) -> np.ndarray:
    return np.arange(n) // _GROUPS


# --- shared factors and kernel CCA ------------------------------------------------------------------------------------


def _fits(title: str, data: Callable[[], Views], makers: Makers, *, large: bool = False, **more: Any) -> Cases:
    return {f"{title}, {name}": Case(data, partial(fitted, make, **more), large) for name, make in makers.items()}


def _factors() -> Cases:
    """Every setting of shared factors, on few samples."""
    changed: dict[str, dict[str, Any]] = {
        "5 components": {"n_components": 5},
        "dense": {"rendering": "dense"},
        "dense X": {"rendering": ("dense", "sparse")},
        "dense Y": {"rendering": ("sparse", "dense")},
        "columns": {"scale": "columns"},
        "rows": {"scale": "rows"},
        "both": {"scale": "both"},
        "no scaling": {"scale": None},
        "rows and columns": {"scale": ("rows", "columns")},
        "not centred": {"center": False},
        "no feature weights": {"feature_weights": None},
        "all features": {"n_features": None},
        "20 features": {"n_features": 20},
        "half of the features": {"n_features": 0.5},
        "twice mu": {"mu": "auto*2"},
        "mu=0.3": {"mu": 0.3},
        "4 times the ridge": {"ridge": "auto*4"},
        "ridge=1": {"ridge": 1.0},
        "3 folds": {"held_out": 3},
        "no folds": {"held_out": 0},
        "another seed": {"random_state": 1},
        "loose": {"tol": 1e-3, "held_out": 0},
        "2 jobs": {"n_jobs": 2},
    }
    makers = {name: partial(sparse_cca, **{"n_components": 3} | settings) for name, settings in changed.items()}
    usual = {"defaults": partial(sparse_cca, 3), "components counted": partial(sparse_cca, "auto")}
    hundred = partial(_table, 100, 60, 40)
    cases = _fits("table of 30", partial(_table, 30, 20, 15), usual) | _fits("table of 100", hundred, usual | makers)
    cases |= _fits("table of 100, groups", hundred, usual, groups=_groups(100))
    return cases | _fits("near copies", _near_copies, usual)


def _storages() -> Cases:
    """The same words in every storage."""
    stores: dict[str, Callable[[sp.csr_array], Any]] = {
        "csr": sp.csr_array,
        "csc": sp.csc_array,
        "dense": lambda view: view.toarray(),
        "columns in a row": lambda view: np.asfortranarray(view.toarray()),
        "frame": _frame,
        "float32": lambda view: view.toarray().astype(np.float32),
        "sparse float32": lambda view: view.astype(np.float32),
    }
    makers = {"factors": partial(sparse_cca, 5), "anchored": partial(anchored, 5), "KernelCCA": partial(kernel_cca, 5)}
    tables = [_fits(f"words, {name}", partial(_stored_words, store), makers) for name, store in stores.items()]
    return {name: case for table in tables for name, case in table.items()}


def _kernels() -> Cases:
    """Kernels that are stored, precomputed and approximated, of either view."""
    kernels = {
        "rbf": _RBF,
        "polynomial": Kernel("polynomial", {"degree": 2, "coef0": 1.0}),
        "function": Kernel(_squared),
        "low rank": _LOW_RANK,
        "nystroem": replace(_LOW_RANK, method="nystroem"),
        "random": Kernel("rbf", {"gamma": 0.001}, 200, "random"),
    }
    makers = {f"{name} of Y": partial(sparse_cca, 3, kernel, held_out=3) for name, kernel in kernels.items()}
    makers |= {f"{name}, KernelCCA": partial(kernel_cca, 3, kernel) for name, kernel in kernels.items()}
    makers |= {
        "rbf of X": partial(sparse_cca, 3, _WIDER, "X", held_out=0),
        "rbf of both": partial(sparse_cca, 3, _WIDER, "XY", held_out=0),
        "rbf of Y, dense": partial(sparse_cca, 3, _WIDER, rendering="dense", held_out=0),
        "rbf of Y, columns": partial(sparse_cca, 3, _WIDER, scale="columns", held_out=0),
        "linear, KernelCCA": partial(kernel_cca, 3),
        "columns, KernelCCA": partial(kernel_cca, 3, regularization=0.5, scale="columns"),
        "feature weights, KernelCCA": partial(kernel_cca, 3, feature_weights="shared", n_features=10),
    }
    precomputed = {"precomputed of Y": partial(sparse_cca, 3, _PRECOMPUTED)}
    both = {"precomputed, KernelCCA": partial(kernel_cca, 3, _PRECOMPUTED)}
    cases = _fits("kernels", partial(_table, 100, 15, 12), makers)
    cases |= _fits("kernels", partial(_kernel_matrices, "Y"), precomputed)
    return cases | _fits("kernels", partial(_kernel_matrices, "XY"), both)


def _squared(a: np.ndarray, b: np.ndarray) -> float:
    return float((a @ b / len(a) + 1.0) ** 2)


def _sizes() -> Cases:
    """Sizes at which other code runs, from few samples to many, and to many features."""
    factors, counted = {"defaults": partial(sparse_cca, 3)}, {"components counted": partial(sparse_cca, "auto")}
    sparse = {"no folds": partial(sparse_cca, 5, held_out=0)}
    dense = {"dense, no folds": partial(sparse_cca, 5, held_out=0, rendering="dense")}
    kernels = {"KernelCCA": partial(kernel_cca, 5)}
    paper = {"anchored": partial(anchored, 5), "anchored by energy": partial(anchored, 5, anchors="cross-energy")}
    tables: list[tuple[str, Callable[[], Views], Makers]] = [
        ("table of 400", partial(_table, 400, 80, 60), factors | counted | paper | kernels),
        ("table of 60 x 5,000", partial(_table, 60, 5000, 3000), factors | dense | paper),
        ("words of 400", partial(_words, 400, 600), factors | dense | paper),
        ("table of 2,500", partial(_table, 2500, 20, 15), factors),
        ("table of 3,500", partial(_table, 3500, 20, 15), factors | counted),
        ("words of 2,500", partial(_words, 2500, 800), sparse | paper),
        ("words of 3,500", partial(_words, 3500, 800), sparse),
        # of more than 3,000 samples and features, factors are found by covariances; if no 6,000 features have most of
        # the variance, by block Lanczos
        ("words of 3,100 x 3,100", partial(_words, 3100, 3100), sparse | dense),
        ("sparse of 3,100 x 9,000", partial(_thin, 3100, 9000, 60), sparse),
        ("words of 20,500", partial(_words, 20_500, 600, 8), factors),
    ]
    return {name: case for table in tables for name, case in _fits(*table, large=True).items()}


# --- the paper's method -----------------------------------------------------------------------------------------------


def _representations() -> Cases:
    """Every representation, algorithm and choice of anchors, and precomputed kernels of each dual view."""
    anchors = {"in order": "sequential", "by energy": "cross-energy", "given": [5, 3, 8, 1, 11]}
    duals = {"primal-dual": "Y", "dual-primal": "X", "primal-primal": "", "dual-dual": "XY"}
    cases: Cases = {}
    for name, views in duals.items():
        makers = {
            f"{algorithm}, {order}": partial(anchored, 5, representation=name, algorithm=algorithm, anchors=chosen)
            for algorithm, (order, chosen) in product(("working-set", "greedy"), anchors.items())
        }
        cases |= _fits(f"anchored, {name}", partial(_table, 100, 60, 40), makers)
        if views:
            makers = {"precomputed": partial(anchored, 3, kernel=_PRECOMPUTED, representation=name)}
            cases |= _fits(f"anchored, {name}", partial(_kernel_matrices, views), makers)
    return cases


def _anchored() -> Cases:
    """Every other setting of the paper's method."""
    changed: dict[str, dict[str, Any]] = {
        "twice mu, half gamma": {"mu": "auto*2", "gamma": "auto*0.5"},
        "mu=0.5, gamma=0": {"mu": 0.5, "gamma": 0.0},
        "feature weights": {"feature_weights": "shared"},
        "20 features": {"feature_weights": "shared", "n_features": 20},
        "both": {"scale": "both"},
        "columns and rows": {"scale": ("columns", "rows")},
        "no scaling": {"scale": None},
        "automatic scaling": {"scale": "auto"},
        "not centred": {"center": False},
        "rbf": {"kernel": _RBF},
        "rbf, greedy": {"kernel": _RBF, "algorithm": "greedy"},
        "rbf, dual-primal": {"kernel": _WIDER, "representation": "dual-primal"},
        "rbf, dual-dual": {"kernel": _WIDER, "representation": "dual-dual"},
        "low rank": {"kernel": _LOW_RANK},
        "low rank, dual-dual": {"kernel": _LOW_RANK, "representation": "dual-dual"},
        "loose": {"tol": 1e-2},
    }
    makers = {name: partial(anchored, 5, **settings) for name, settings in changed.items()}
    cases = _fits("anchored, table of 30", partial(_table, 30, 20, 15), {"defaults": partial(anchored, 5)})
    return cases | _fits("anchored", partial(_table, 100, 60, 40), makers)


def _single_components() -> Cases:
    """One component, its path, and generated samples."""
    data = partial(_table, 100, 300, 40)
    return {
        "one component, working-set": Case(data, partial(one_component, "working-set")),
        "one component, greedy": Case(data, partial(one_component, "greedy")),
        "path of a component": Case(data, partial(path_of_component, True)),
        "path of a lasso": Case(data, partial(path_of_component, False)),
        "generated, table": Case(data, generated),
        "generated, words": Case(partial(_words, 400, 600), generated),
    }


# --- many fits --------------------------------------------------------------------------------------------------------


def _searches() -> Cases:
    """Penalties chosen by cross-validation."""
    few = {"mu_factors": (0.5, 1, 2), "cv": 3}
    quick = {"held_out": 0, **few}
    makers = {
        "defaults": partial(SparseCCACV, 3, held_out=0),
        "sparsest": partial(SparseCCACV, 3, rule="one-standard-error", **quick),
        "correlation": partial(SparseCCACV, 3, scoring="correlation", ridge_factors=(1, 4), **quick),
        "components counted": partial(SparseCCACV, "auto", held_out=3, **few),
        "dense": partial(SparseCCACV, 3, rendering="dense", held_out=0, cv=KFold(3)),
        "anchored": partial(anchored_cv, 3, gamma_factors=(0.5, 1), **few),
        "anchored, given": partial(anchored_cv, 3, anchors=[5, 40, 70, 3, 45, 75, 8], **few),
        "anchored, by energy": partial(anchored_cv, 3, anchors="cross-energy", scoring="correlation", **few),
        "anchored, rbf": partial(anchored_cv, 3, kernel=_RBF, **few),
    }
    data = partial(_table, 100, 60, 40)
    cases = {f"search, {name}": Case(data, partial(searched, make)) for name, make in makers.items()}
    grouped = partial(searched, partial(SparseCCACV, 3, **quick), groups=_groups(100))
    return cases | {"search, groups": Case(data, grouped)}


def _paths() -> Cases:
    """Models at many penalties."""
    data, path = partial(_table, 100, 60, 40), partial(path_of_model, partial(sparse_cca, 3), cv=3)
    of_words = partial(path_of_model, partial(sparse_cca, 8), cv=3)
    return {
        "path, automatic": Case(data, partial(path, n_mus=6)),
        "path, given": Case(data, partial(path, mu_factors=(4, 1, 0.25), n_jobs=2)),
        "path, groups": Case(data, partial(path, mu_factors=(2, 1), groups=_groups(100))),
        "path, words": Case(partial(_words, 300, 400), partial(of_words, mu_factors=(2, 1, 0.5))),
    }


def _inference() -> Cases:
    """Tests of components, stable features, and models from files."""
    factors, paper = partial(sparse_cca, 2, held_out=0, n_features=None), partial(anchored, 2)
    kernels, groups = partial(kernel_cca, 2, _RBF), _groups(60)
    answers = {
        "test, factors": partial(permuted, factors),
        "test, groups": partial(permuted, factors, groups=groups),
        "test, training correlation": partial(permuted, factors, cv=None),
        "test, anchored": partial(permuted, paper, cv=3),
        "test, KernelCCA": partial(permuted, kernels, cv=3),
        "stability, factors": partial(stable, factors),
        "stability, groups": partial(stable, factors, groups=groups),
        "stability, anchored": partial(stable, paper),
        "file, factors": partial(read_again, partial(sparse_cca, 2)),
        "file, anchored": partial(read_again, paper),
        "file, KernelCCA": partial(read_again, kernels),
    }
    return {name: Case(partial(_table, 60, 30, 20), compute) for name, compute in answers.items()}


# --- texts ------------------------------------------------------------------------------------------------------------


def _built_in_corpus() -> Cases:
    makers = {
        "defaults": partial(bilingual, 15),
        "components counted": bilingual,
        "paper": partial(bilingual, 15, paper=True),
        "dense": partial(bilingual, 15, rendering="dense", held_out=0),
        "200 words": partial(bilingual, 15, n_words=200, held_out=0),
        "pairs of words": partial(bilingual, 10, ngram_range=(1, 2), held_out=3, random_state=1),
    }
    return {f"texts, {name}": Case(_trilingual, partial(said_of_texts, make)) for name, make in makers.items()}


def _trilingual() -> Texts:
    corpus = load_trilingual()
    return list(zip(corpus.en, corpus.fr, strict=True))


def _of_corpus(paths: tuple[Path, Path]) -> Cases:
    """Bilingual models of the first pairs of a corpus, and the factors of its TF-IDF vectors."""
    makers = {
        "defaults": partial(bilingual, 20, keep_texts=False),
        "paper": partial(bilingual, 10, paper=True),
        "dense": partial(bilingual, 20, rendering="dense", held_out=0),
    }
    read = partial(read_texts, *paths, _CORPUS + _NEW)
    cases = {f"corpus, {name}": Case(read, partial(said_of_texts, make), True) for name, make in makers.items()}
    return cases | _fits(
        "corpus", partial(_vectors, read), {"factors": partial(sparse_cca, 20, held_out=0)}, large=True
    )


def _vectors(read: Callable[[], Texts]) -> Views:
    return _split(tuple(map(sp.csr_array, tf_idf_of(read()))), _CORPUS)
