"""The setting that approximates a kernel, instead of storing its matrix."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator

from .._checks import check_choice, check_count, check_seed, shown
from .._types import SeedLike
from ..views import Kernel

__all__ = ["LowRankKernel", "parsed_kernel"]

_METHODS = ("cholesky", "nystroem", "random")


class LowRankKernel(BaseEstimator):
    """A kernel approximated as K ~ Z Z' with few columns in Z, for more samples than fit an n x n matrix.

    Pass it as the `kernel` of an estimator. Time and memory are proportional to the number of samples. Rows of Z are
    centred and scaled to unit norm (a stored kernel scales a new sample by k(x, x) instead, which changes no ranking by
    cosine), and certificates hold for the problem with Z Z'. A search can choose the rank by the name `kernel__rank`.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A kernel, with its parameters if it has any, but not "precomputed".
    rank : int, default=300
        Maximum number of columns of Z; fewer are used if they give the whole kernel.
    method : {"cholesky", "nystroem", "random"}, default="cholesky"
        How Z is found:

        - "cholesky": randomly pivoted Cholesky factorisation: landmarks are drawn one after another, each in proportion
          to the part of a sample that earlier landmarks do not explain, so that small groups are not missed;
        - "nystroem": landmarks are drawn with equal probability, as by scikit-learn's `Nystroem`; faster;
        - "random": random features of the rbf kernel (scikit-learn's `RBFSampler`), which need no landmarks but a far
          higher rank.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks or features; None draws the same ones every time.

    Examples
    --------
    >>> import scca
    >>> X, Y = scca.datasets.make_planted(200, 20, 20, random_state=0).views
    >>> kernel = scca.LowRankKernel(scca.Kernel("rbf", gamma=0.01), rank=150)
    >>> model = scca.KernelCCA(2, kernel=kernel).fit(X, Y)
    >>> bool(model.x_kernel_error_ < 0.1)
    True
    """

    def __init__(
        self,
        kernel: str | Callable[..., float] | Kernel = "rbf",
        rank: int = 300,
        *,
        method: str = "cholesky",
        random_state: SeedLike = None,
    ):
        self.kernel = kernel
        self.rank = rank
        self.method = method
        self.random_state = random_state

    def settings(self) -> tuple[Kernel, dict[str, Any]]:
        """The kernel, and the checked keyword arguments of `LowRankKernelView.of`."""
        kernel = checked_kernel(self.kernel)
        if kernel.precomputed:
            raise ValueError(
                'kernel of LowRankKernel may not be "precomputed", which is stored anyway: pass a function of two rows.'
            )
        check_count(self.rank, "rank")
        check_choice(self.method, "method", _METHODS)
        check_seed(self.random_state)
        if self.method == "random" and kernel.function != "rbf":
            raise ValueError(
                f'method="random" has features of the rbf kernel only; got kernel={shown(self.kernel)}: choose '
                '"cholesky" or "nystroem".'
            )
        return kernel, {"rank": self.rank, "method": self.method, "random_state": self.random_state}


def checked_kernel(given: Any) -> Kernel:
    """A kernel as users name it: a name, a function of two rows, or a `Kernel`."""
    if isinstance(given, Kernel):
        return given
    if isinstance(given, str) or callable(given):
        return Kernel(given)
    raise ValueError(
        f'kernel must be a callable, one of the names of scikit-learn\'s kernels, "precomputed", a Kernel or a '
        f"LowRankKernel; got {shown(given)}."
    )


def parsed_kernel(given: Any) -> tuple[Kernel | None, dict[str, Any] | None]:
    """The kernel of a view (None if it is linear), and how it is approximated (None if it is not)."""
    if isinstance(given, LowRankKernel):
        return given.settings()
    kernel = checked_kernel(given)
    return (None if kernel.linear else kernel), None
