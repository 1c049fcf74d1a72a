"""How many products with a whole view the paper's components of text take: one product with X or K is a pass.

The words of one language have the weights w, the documents of the other, by their linear kernel, the weights e. Kernel
columns that join the working set together are computed together, by one pass.
"""

import warnings
from pathlib import Path

import numpy as np

from scca import AnchoredCCA

from ._corpus import made_up_pair, read_pair
from ._table import print_table

__all__ = ["run"]

_COMPONENTS = 10
_TOLERANCES = (1e-2, 1e-4, 1e-6)


def run(corpus: tuple[Path, Path] | None, pairs: int | None) -> None:
    X, Y = (view.tocsr()[:pairs] for view in (made_up_pair() if corpus is None else read_pair(*corpus)))
    rows = []
    for tol in _TOLERANCES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of documents that have none of the words
            model = AnchoredCCA(_COMPONENTS, tol=tol).fit(X, Y)
        supports = [np.median(np.count_nonzero(weights, axis=0)) for weights in (model.x_weights_, model.y_weights_)]
        counts = [np.median(model.n_passes_), model.n_passes_.max(), np.median(model.n_iter_), *supports]
        rows.append([f"{tol:.0e}", *(f"{count:g}" for count in counts)])
    title = f"Passes per component, {_COMPONENTS} components of {X.shape[0]:,} documents"
    print_table(title, ["tolerance", "median passes", "most passes", "rounds", "words", "documents"], rows)
