"""The paper's problem for one component, 200 samples of 2,000 features per view, dense and sparse.

Lasso solvers get it as a split design, made before the clock starts; scca gets X and K, as a user would pass them.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from scca import solve_component
from scca.datasets import make_planted

from ._contest import contest
from ._problem import Problem
from ._solvers import PEERS

__all__ = ["planted_problem", "run"]


def planted_problem(density: float = 1.0, *, n: int = 200, m: int = 2000) -> Problem:
    """Two planted factors, columns standardised (sparse ones scaled alone), anchor 0, the paper's penalties."""
    planted = make_planted(n, m, m, n_factors=2, n_active=10, density=density, random_state=0)
    X, Y = (StandardScaler(with_mean=not sp.issparse(view)).fit_transform(view) for view in planted.views)
    K = Y @ Y.T
    if sp.issparse(X):
        X, K = sp.csc_array(X), K.toarray()
    result = solve_component(X, K, 0)
    assert np.delete(result.e, 0).max() < 1.0, "the box e <= 1 has to be inactive: lasso solvers have none"
    return Problem(X, K[:, 0].copy(), result.mu, K, 0, result.gamma)


def run(repeats: int) -> None:
    peers = list(PEERS.values())
    contest("One component, 200 x 2,000, dense", planted_problem(), peers, repeats)
    contest("One component, 200 x 2,000, 5% of X stored", planted_problem(density=0.05), peers, repeats)
