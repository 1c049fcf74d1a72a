"""Decompositions of symmetric matrices that release the GIL, which those of `scipy.linalg` keep.

Folds and parts of the samples are fitted in threads, and most of their time is spent here. Matrices are in C order and
overwritten; of a symmetric matrix, the lower half counts. LAPACK, which reads columns first, calls that half the upper.
"""

from ctypes import CFUNCTYPE, byref, c_char, c_double, c_int, c_void_p
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

__all__ = ["invert_by_triangle", "leading_eigh", "solve_by_triangle", "triangle_of", "whiten_by_triangle"]

_UPPER = b"U"


@cache
def _routine(name: str, n_arguments: int) -> Any:
    # functions that ctypes calls run without the GIL
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return CFUNCTYPE(None, *[c_void_p] * n_arguments)(address)


def _call(name: str, *arguments: Any) -> int:
    """Call a routine of LAPACK, with pointers to all arguments, and return its `info`."""
    kept, info = [_pointed(argument) for argument in arguments], c_int(0)
    pointers = [each.ctypes.data if isinstance(each, np.ndarray) else byref(each) for each in kept]
    _routine(name, len(kept) + 1)(*pointers, byref(info))
    if info.value < 0:
        raise ValueError(f"argument {-info.value} of {name} is invalid.")
    return info.value


def _pointed(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return argument
    if isinstance(argument, bytes):
        return c_char(argument)
    return c_int(argument) if isinstance(argument, int) else c_double(argument)


def triangle_of(C: np.ndarray) -> np.ndarray:
    """L with L L' = C, in the lower half of C; raises LinAlgError if C is not positive definite."""
    if _call("dpotrf", _UPPER, len(C), C, len(C)):
        raise np.linalg.LinAlgError("the matrix is not positive definite.")
    return C


def solve_by_triangle(L: np.ndarray, R: np.ndarray) -> np.ndarray:
    """(L L')^-1 R for a matrix R."""
    out = np.array(R, dtype=np.float64, order="F")
    _call("dpotrs", _UPPER, len(L), out.shape[1], L, len(L), out, len(L))
    return out


def invert_by_triangle(L: np.ndarray) -> np.ndarray:
    """The lower half of (L L')^-1, in that of L."""
    _call("dpotri", _UPPER, len(L), L, len(L))
    return L


def whiten_by_triangle(C: np.ndarray, L: np.ndarray) -> np.ndarray:
    """The lower half of L'C L, in that of C."""
    _call("dsygst", 2, _UPPER, len(C), C, len(C), L, len(L))
    return C


def leading_eigh(C: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The `count` largest eigenvalues of C, largest first, and their vectors."""
    n = len(C)
    values, vectors, support = np.empty(n), np.empty((n, count), order="F"), np.empty(2 * n, dtype=np.int32)
    found = np.zeros(1, dtype=np.int32)

    def compute(work: np.ndarray, whole_work: np.ndarray, sizes: tuple[int, int]) -> None:
        wanted = n - count + 1, n
        given = (b"V", b"I", _UPPER, n, C, n, 0.0, 0.0, *wanted, 0.0, found, values, vectors, n, support)
        if _call("dsyevr", *given, work, sizes[0], whole_work, sizes[1]):
            raise np.linalg.LinAlgError("the eigenvalues were not found.")

    work, whole_work = np.empty(1), np.empty(1, dtype=np.int32)
    compute(work, whole_work, (-1, -1))  # asks how much memory is best
    sizes = int(work[0]), int(whole_work[0])
    compute(np.empty(sizes[0]), np.empty(sizes[1], dtype=np.int32), sizes)
    return values[:count][::-1].copy(), vectors[:, ::-1]
