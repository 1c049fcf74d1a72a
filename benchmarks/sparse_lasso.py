"""A lasso of the paper's Section 5.1: the words of one language that find the documents like a query in another.

The target is the kernel of the query with all documents in its own language, the columns are the words of the other
one, some 29,000 documents x 9,700 words with a dozen words per document; all solvers start from the same CSC matrix.
"""

from pathlib import Path

import scipy.sparse as sp

from scca import solve_component

from ._contest import contest
from ._corpus import made_up_pair, read_pair
from ._problem import Problem
from ._solvers import PEERS

__all__ = ["query_problem", "run"]

_QUERY = 1  # of the made-up documents, one that takes as many words as real ones do


def run(repeats: int, corpus: tuple[Path, Path] | None = None) -> None:
    X, Y = made_up_pair() if corpus is None else read_pair(*corpus)
    title = f"A lasso on {X.shape[0]:,} {'made-up ' if corpus is None else ''}documents x {X.shape[1]:,} words"
    contest(title, query_problem(X, Y), [PEERS[name] for name in ("celer", "skglm", "scikit-learn")], repeats)


def query_problem(X: sp.csc_array, Y: sp.csc_array, query: int = _QUERY) -> Problem:
    """The lasso of one query, a row of Y, with the paper's penalty."""
    y = (Y @ Y[[query]].T).toarray()[:, 0]
    return Problem(X, y, solve_component(X, y=y, fit_dual=False).mu)
