"""A lasso of the paper's Section 5.1: the words of one language that find the documents like a query in another.

The target is the kernel of the query with all documents in its own language, the columns are the words of the other
one, some 29,000 documents x 9,700 words with a dozen words per document; all solvers start from the same CSC matrix.
"""

from pathlib import Path

from scca import solve_component

from ._contest import contest
from ._corpus import made_up_pair, read_pair
from ._problem import Problem
from ._solvers import PEERS

__all__ = ["run"]

_QUERY = 1  # of the made-up documents, one that takes as many words as real ones do


def run(repeats: int, corpus: tuple[Path, Path] | None = None) -> None:
    X, Y = made_up_pair() if corpus is None else read_pair(*corpus)
    y = (Y @ Y[[_QUERY]].T).toarray()[:, 0]
    result = solve_component(X, y=y, fit_dual=False)
    documents = "made-up documents" if corpus is None else "documents"
    title = f"A lasso on {X.shape[0]:,} {documents} x {X.shape[1]:,} words, {(result.w != 0).sum():,} of them chosen"
    peers = [PEERS[name] for name in ("celer", "skglm", "scikit-learn")]
    contest(title, Problem(X, y, result.mu), peers, repeats)
