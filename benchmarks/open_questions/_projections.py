"""Error of mate retrieval against the number of projections, all words read."""

import warnings
from collections.abc import Callable

import numpy as np

from scca import KernelCCA, SparseCCA
from scca.reproduce import Settings
from scca.reproduce._retrieval import PAPER_REGULARIZATION, choose_regularization

from ._settings import SPARSE_CCA
from ._splits import Split, error, inner_splits
from ._words import Views, tuned_refits

__all__ = ["REFERENCE", "projection_curves", "projection_counts"]

REFERENCE = "kernel CCA, tuned"

_REFITTED = {
    "plain": "kernel CCA, tuned once, scores times canonical values",
    "weighted": "kernel CCA, tuned once, words weighted by held-out prediction",
}
_SETTINGS = Settings(folds=3, regularizations=(0.03, 0.1, 0.3, 0.6, 1.0))


def projection_counts(n: int) -> list[int]:
    """Numbers of projections that `n` training documents allow."""
    return [count for count in (5, 10, 20, 35, 50, 75) if count < n - 1] + [n - 1]


def projection_curves(split: Split, seed: int) -> dict[str, list[float]]:
    """By method: errors with the first projections, as many as `projection_counts` says."""
    counts = projection_counts(len(split.train))
    first, second = split.documents()
    known = [np.diff(documents.test.indptr) > 0 for documents in (first, second)]

    def errors(model_of: Callable[[int], SparseCCA | KernelCCA]) -> list[float]:
        found = []
        for count in counts:
            scores = model_of(count).transform_pair(first.test, second.test)
            # a document without a known word says nothing; centring would turn it into minus the mean of all
            found.append(error(*(s[:, :count] * here[:, None] for s, here in zip(scores, known, strict=True))))
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components, words no training document has: normal here
        curves = {}
        for name, settings in SPARSE_CCA.items():
            model = SparseCCA(min(counts[-1], first.train.shape[1]), **settings).fit(first.train, second.train)
            curves[name] = errors(lambda count, model=model: model)

        regularizations = choose_regularization(split.corpus, _SETTINGS, split.train)
        models = {
            r: KernelCCA(counts[-1], regularization=r).fit(first.train, second.train)
            for r in {PAPER_REGULARIZATION, *regularizations}
        }
        curves[f"kernel CCA, regularisation {PAPER_REGULARIZATION}"] = errors(
            lambda count: models[PAPER_REGULARIZATION]
        )
        curves[REFERENCE] = errors(lambda count: models[regularizations[min(count, len(regularizations)) - 1]])

    every = [(views := Views.of(split)), *(Views.of(part) for part in inner_splits(split, seed))]
    for kind, (x_weights, y_weights) in tuned_refits(every).items():
        scores = views.U @ x_weights, views.V @ y_weights
        curves[_REFITTED[kind]] = [error(*(s[:, :count] for s in scores)) for count in counts]
    return curves
