"""The setting that approximates a kernel, instead of storing its matrix."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from .._checks import check_choice, check_count, check_seed, shown
from .._types import SeedLike

__all__ = ["LowRankKernel"]

_METHODS = ("cholesky", "nystroem", "random")


class LowRankKernel(BaseEstimator):
    """A kernel approximated as K ~ Z Z', Z of few columns, for more samples than an n x n matrix can be stored of.

    Passed as `kernel` of `SparseCCA`, `SparseCCACV` or `KernelCCA`, whose `kernel_params` are those of the kernel. Time
    and memory are proportional to the number of samples. Rows of Z are centred and scaled to unit norm (a stored kernel
    scales a new sample by k(x, x) instead, which changes no ranking by cosine), and certificates hold for the problem
    with Z Z'. A search can choose the rank by the name `kernel__rank`.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As `kernel` of `SparseCCA`, but not "precomputed".
    rank : int, default=300
        Maximum number of columns of Z; fewer are used if they give the whole kernel.
    method : {"cholesky", "nystroem", "random"}, default="cholesky"
        How Z is found:

        - "cholesky": randomly pivoted Cholesky factorisation: landmarks are drawn one after another, each in proportion
          to what the earlier ones leave of a sample, so that small groups are not missed. Needs `rank` columns of K;
        - "nystroem": landmarks are drawn from all samples alike, as by scikit-learn's `Nystroem`; faster;
        - "random": random features of the rbf kernel (scikit-learn's `RBFSampler`), which need no landmarks but a far
          higher rank.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks or features; None draws the same ones every time.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(200, 20, 20, random_state=0).views
    >>> kernel = scca.LowRankKernel("rbf", rank=150)
    >>> model = scca.KernelCCA(2, kernel=kernel, kernel_params={"gamma": 0.01}).fit(X, Y)
    >>> bool(model.x_kernel_error_ < 0.1)
    True
    """

    def __init__(
        self,
        kernel: str | Callable[..., float] = "rbf",
        rank: int = 300,
        *,
        method: str = "cholesky",
        random_state: SeedLike = None,
    ):
        self.kernel = kernel
        self.rank = rank
        self.method = method
        self.random_state = random_state

    def settings(self) -> dict[str, Any]:
        """The checked keyword arguments of `LowRankKernelView.of`; raises ValueError for an invalid parameter."""
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                'kernel of LowRankKernel may not be "precomputed", which is stored anyway: pass a function of two rows.'
            )
        check_count(self.rank, "rank")
        check_choice(self.method, "method", _METHODS)
        check_seed(self.random_state)
        if self.method == "random" and not (isinstance(self.kernel, str) and self.kernel == "rbf"):
            raise ValueError(
                f'method="random" has features of the rbf kernel only; got kernel={shown(self.kernel)}: choose '
                '"cholesky" or "nystroem".'
            )
        return {"rank": self.rank, "method": self.method, "random_state": self.random_state}
