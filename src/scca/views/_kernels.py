"""Kernel functions by name, as a callable or precomputed, as in scikit-learn."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, aslinearoperator, eigsh

from .._checks import check_keywords, shown
from .._types import MatrixLike

__all__ = ["Kernel", "check_kernel_matrix", "check_positive_semidefinite", "check_symmetric"]

_BLOCK = 512  # rows per task: fixed, so that results do not depend on the number of workers
_DIAGONAL_BLOCK = 16
_ASYMMETRY = 1e-6  # of the largest entry; allowed for rounding
_INDEFINITE = 1e-3  # of the largest eigenvalue; allowed below 0 for rounding and nearly valid kernels
_FEW_SAMPLES = 500  # up to which all eigenvalues are computed
_ARPACK: dict[str, Any] = {"tol": 1e-3, "ncv": 30, "maxiter": 30}


class Kernel:
    """A kernel with its parameters: one of scikit-learn's pairwise kernels, a function of two rows, or "precomputed".

    Parameters
    ----------
    function : str or callable, default="linear"
        A name from `sklearn.metrics.pairwise.pairwise_kernels`, "precomputed" for a view that is the kernel matrix
        itself, or a function of two rows.
    params : mapping, optional
        Parameters of the kernel, as an alternative to naming them.
    **named
        Parameters of the kernel.

    Examples
    --------
    >>> import scca
    >>> scca.Kernel("rbf", gamma=0.1)
    Kernel('rbf', gamma=0.1)
    """

    def __init__(
        self, function: str | Callable[..., Any] = "linear", params: Mapping[str, Any] | None = None, **named: Any
    ):
        from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS  # imported late: only kernels need it

        check_keywords(params, "params of a kernel")
        self.function, self.params = function, {**(params or {}), **named}
        names = [*sorted(PAIRWISE_KERNEL_FUNCTIONS), "precomputed"]
        if not callable(function) and not (isinstance(function, str) and function in names):
            raise ValueError(f"kernel must be a callable or one of {', '.join(names)}; got {shown(function)}.")
        if self.params and (self.linear or self.precomputed):
            raise ValueError(f"the {function} kernel takes no parameters; got {self.params}: leave them out.")

    def __repr__(self) -> str:
        params = "".join(f", {name}={value!r}" for name, value in self.params.items())
        return f"Kernel({self.function!r}{params})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and (self.function, self.params) == (other.function, other.params)

    def __hash__(self) -> int:
        return hash((self.function, *sorted(self.params)))

    @property
    def precomputed(self) -> bool:
        return self.function == "precomputed"

    @property
    def linear(self) -> bool:
        return self.function == "linear"

    def matrix(self, A: MatrixLike, B: MatrixLike = None, n_jobs: int | None = None) -> np.ndarray:
        """k of every row of A with every row of B (by default A itself), in float64."""
        from joblib import Parallel, delayed

        A, B = self._near_zero(A, A if B is None else B)
        blocks = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(self._block)(A[start : start + _BLOCK], B) for start in range(0, A.shape[0], _BLOCK)
        )
        return np.vstack(blocks)

    def column(self, samples: MatrixLike, index: int) -> np.ndarray:
        """k of every row with one of them."""
        return self._block(*self._near_zero(samples, samples[[index]])).ravel()

    def _near_zero(self, A: MatrixLike, B: MatrixLike) -> Any:
        """Both less the mean of B, which changes no distance and saves precision.

        scikit-learn computes distances as x'x - 2 x'y + y'y, in which a large offset cancels digits.
        """
        if self.function != "rbf" or sp.issparse(A) or sp.issparse(B):
            return A, B
        mean = B.mean(axis=0, dtype=np.float64)
        return A - mean, B - mean

    def diagonal(self, samples: MatrixLike) -> np.ndarray:
        """k(x, x) of every row."""
        step = 1 if callable(self.function) else _DIAGONAL_BLOCK
        starts = range(0, samples.shape[0], step)
        return np.concatenate([np.diag(self._block(s, s)) for s in (samples[i : i + step] for i in starts)])

    def _block(self, A: MatrixLike, B: MatrixLike) -> np.ndarray:
        from sklearn.metrics.pairwise import pairwise_kernels

        try:
            with np.errstate(over="ignore", invalid="ignore"):  # checked below
                values = pairwise_kernels(A, B, metric=self.function, **self.params)
        except (TypeError, ValueError) as error:
            reason = _first_line(error)
            raise ValueError(f"the kernel {self.name} failed with {dict(self.params)}: {reason}") from error
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ValueError(
                f"the kernel {self.name} gives {values[~np.isfinite(values)][0]} for some samples with "
                f"{dict(self.params)}: scale the data or choose other parameters."
            )
        return values

    @property
    def name(self) -> str:
        """As messages call it."""
        return self.function if isinstance(self.function, str) else "function, which is given two rows,"


def check_symmetric(matrix: np.ndarray) -> None:
    """Refuse the matrix of a kernel function that depends on the order of its arguments."""
    asymmetry, largest = float(np.abs(matrix - matrix.T).max()), float(np.abs(matrix).max())
    if asymmetry > _ASYMMETRY * largest:
        raise ValueError(
            f"a kernel function must be symmetric, k(a, b) = k(b, a); two samples differ by {asymmetry:.3g}, where "
            f"{_ASYMMETRY * largest:.1g} is allowed: return (k(a, b) + k(b, a)) / 2."
        )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def check_kernel_matrix(K: MatrixLike, name: str) -> Any:
    """Refuse a training kernel that is not square or not symmetric."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{name} must be a square kernel matrix of the training samples; got shape {K.shape}: pass one row and one "
            "column per training sample."
        )
    largest = max(K.max(), -K.min())
    asymmetry = (K - K.T).max()  # of each difference there is the negative one too
    if asymmetry > _ASYMMETRY * largest:
        raise ValueError(
            f"{name} must be symmetric; its largest difference from its transpose is {asymmetry:.3g}, where "
            f"{_ASYMMETRY * largest:.1g} is allowed: pass ({name} + {name}.T) / 2 if it is meant to be symmetric."
        )
    return K


def check_positive_semidefinite(kernel: Any, n: int, name: str) -> None:
    """Refuse a symmetric matrix with a clearly negative eigenvalue: it is not a matrix of inner products.

    Parameters
    ----------
    kernel : matrix, LinearOperator or function of a vector
        The n x n matrix as it will be used (centred or not), or its product with a vector.
    n : int
    name : str
        For the message, such as "the centred kernel matrix of Y".
    """
    smallest, largest = _extreme_eigenvalues(kernel, n)
    if smallest >= -_INDEFINITE * max(largest, 0.0):
        return
    share = f"{smallest / largest:.3g} times the largest" if largest > 0 else "and none is positive"
    raise ValueError(
        f"{name} must be positive semi-definite; its smallest eigenvalue is {smallest:.3g}, {share}, where "
        f"{-_INDEFINITE:g} times the largest is allowed: choose a positive semi-definite kernel (rbf, polynomial, "
        "laplacian, ...), or set the negative eigenvalues to 0."
    )


def _extreme_eigenvalues(kernel: Any, n: int) -> tuple[float, float]:
    """The smallest and the largest eigenvalue; for a large matrix by Lanczos, to a relative error of about 0.001.

    Lanczos values lie within the true range, so no valid matrix is refused.
    """
    operator = _operator(kernel, n)
    if n <= _FEW_SAMPLES:
        values = eigvalsh(operator @ np.eye(n))
        return float(values[0]), float(values[-1])
    largest = _largest_eigenvalue(operator)
    # Lanczos does not converge to 0 in relative terms; mirrored, the smallest eigenvalue is the largest
    scale = max(abs(largest), np.finfo(np.float64).tiny)
    mirrored = LinearOperator((n, n), matvec=lambda v: 2.0 * v - (operator @ v) / scale, dtype=np.float64)
    return scale * (2.0 - _largest_eigenvalue(mirrored)), largest


def _largest_eigenvalue(operator: LinearOperator) -> float:
    start = np.random.default_rng(0).standard_normal(operator.shape[0])  # ARPACK's own start differs between calls
    product = operator @ start
    if not product.any():  # ARPACK refuses a matrix of zeros
        return 0.0
    try:
        return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False, **_ARPACK)[0])
    except ArpackNoConvergence as stopped:  # the Rayleigh quotient is within the range of the eigenvalues
        return float(np.max(stopped.eigenvalues, initial=start @ product / (start @ start)))


def _operator(kernel: Any, n: int) -> LinearOperator:
    if callable(kernel) and not isinstance(kernel, LinearOperator):
        return LinearOperator(
            (n, n), matvec=lambda v: kernel(np.ravel(v)), dtype=np.float64
        )  # SciPy passes columns, too
    return aslinearoperator(kernel)
