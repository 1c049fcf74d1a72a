"""Kernels of many samples: stored, and approximated at several ranks; time, memory and mates found."""

import numpy as np

from scca import Kernel, KernelCCA, LowRankKernel

from ._processes import in_new_process
from ._table import print_table

__all__ = ["run"]

_COMPONENTS = 5
_FEATURES = 20
_TEST = 500
_METHODS = ("cholesky", "nystroem", "random")
_RANKS = (30, 100, 1000)
_REGULARIZATION = 0.1
_RBF = Kernel("rbf", gamma=0.02)
_HEADER = ["pairs", "kernel", "seconds", "extra MB", "kernel error", "error of mates"]


def run() -> None:
    """Kernel CCA of the same made-up pairs with the rbf kernel in both views, each fit in a new process."""
    rows = []
    for n in (1_000, 2_000, 4_000):
        rows.append(_row(n, "stored", _RBF))
        rows += [_row(n, f"{method} 300", LowRankKernel(_RBF, 300, method=method)) for method in _METHODS]
    print_table("Stored and approximated kernels", _HEADER, rows)
    ranks = [_row(4_000, f"{m} {rank}", LowRankKernel(_RBF, rank, method=m)) for rank in _RANKS for m in _METHODS]
    print_table("Error by rank", _HEADER, ranks)
    large = [_row(50_000, f"{m} 300", LowRankKernel(_RBF, 300, method=m)) for m in _METHODS]
    print_table("Many pairs", _HEADER, large)


def made_up(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that share five numbers, of which Y has squares and waves: no linear function finds them."""
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((n, 5))
    X = np.hstack([shared, rng.standard_normal((n, _FEATURES - 5))])
    Y = np.hstack([shared**2 - 1, 2 * np.sin(2 * shared), rng.standard_normal((n, _FEATURES - 10))])
    return X + 0.2 * rng.standard_normal(X.shape), Y + 0.2 * rng.standard_normal(Y.shape)


def _row(n: int, name: str, kernel: Kernel | LowRankKernel) -> list[str]:
    X, Y = made_up(n + _TEST)
    model = KernelCCA(_COMPONENTS, regularization=_REGULARIZATION, kernel=kernel)
    [found] = in_new_process("_memory_child", (model, (X[:n], Y[:n]), (X[n:], Y[n:])), "fit-kernel")
    measured = f"{found['seconds']:.1f}", f"{found['bytes'] / 1e6:,.0f}", f"{found['left_out']:.3f}"
    return [f"{n:,}", name, *measured, f"{found['error']:.3f}"]
