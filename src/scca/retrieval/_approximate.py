"""The best candidates of each query by an index, which compares it with those of the likeliest groups only."""

from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np

from .._checks import check_count
from .._types import MatrixLike
from ._search import ExactIndex, Index
from ._tiles import checked, unit_rows

__all__ = ["ApproximateIndex"]

_LEAST_MEMBERS, _SAMPLED = 39, 64  # candidates per group: at least, and used to find its centre
_LEAST_PROBES, _PROBED = 64, 16  # groups searched: at least so many, or one in so many
_CLOSE = 1e-5  # cosines this close are ties in float32


class ApproximateIndex(Index):
    """Candidates in groups around common centres; a query is compared with the groups whose centres it is closest to.

    This pays for many queries among very many candidates: `benchmarks/README.md` has figures. `recall` measures what is
    missed. Candidates are kept in float32. Needs faiss: `pip install 'scca[index]'`.

    Parameters
    ----------
    candidates : array of shape (n_candidates, c)
        Scores in the common space.
    n_probes : int, optional
        How many groups to search per query; more find more and take longer. By default a 16th of them, at least 64.

    Attributes
    ----------
    n_groups : int
        About 2 sqrt(n_candidates).
    """

    def __init__(self, candidates: MatrixLike, *, n_probes: int | None = None):
        self._faiss = _faiss()
        given = checked(candidates, "candidates", can_be_empty=True)
        self.n_candidates, self.n_components = given.shape
        self.n_groups = max(1, min(2 * isqrt(self.n_candidates), self.n_candidates // _LEAST_MEMBERS))
        if n_probes is None:
            n_probes = max(_LEAST_PROBES, self.n_groups // _PROBED)
        self.n_probes = min(check_count(n_probes, "n_probes"), self.n_groups)
        if not self.n_candidates:
            return
        units = np.ascontiguousarray(unit_rows(given), dtype=np.float32)
        self._centres = self._faiss.IndexFlatIP(self.n_components)  # the groups refer to it, and do not own it
        self._groups = self._faiss.IndexIVFFlat(
            self._centres, self.n_components, self.n_groups, self._faiss.METRIC_INNER_PRODUCT
        )
        self._groups.cp.spherical = True
        self._groups.cp.max_points_per_centroid = _SAMPLED
        self._groups.train(units)
        self._groups.add(units)

    @staticmethod
    def check_installed() -> None:
        """Raise ImportError, which names the extra to install, if faiss is missing."""
        _faiss()

    def recall(self, queries: MatrixLike, candidates: MatrixLike, top: int) -> float:
        """The share of the `top` best candidates that the index finds, by comparing the queries with all candidates.

        Parameters
        ----------
        queries, candidates : arrays of shape (n_queries, c) and (n_candidates, c)
            Scores of some queries, and of the candidates that the index was made from.
        top : int
            How many candidates per query.

        Returns
        -------
        float
        """
        _, best = ExactIndex(candidates).best_matches(queries, top)
        _, found = self.best_matches(queries, top)
        return float(np.mean(found >= best[:, -1:] - _CLOSE)) if best.size else 1.0

    def _best_matches(self, queries: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        if not top or not len(queries):
            return np.empty((len(queries), top), np.intp), np.empty((len(queries), top), np.float32)
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        indices, similarities = self._searched(queries, top, self.n_probes)
        short = np.flatnonzero((indices < 0).any(axis=1))  # the groups searched have fewer than `top` members
        if len(short):
            indices[short], similarities[short] = self._searched(queries[short], top, self.n_groups)
        order = np.lexsort((indices, -similarities), axis=1)  # ties in the candidates' order
        return np.take_along_axis(indices, order, axis=1), np.take_along_axis(similarities, order, axis=1)

    def _searched(self, queries: np.ndarray, top: int, n_probes: int) -> tuple[np.ndarray, np.ndarray]:
        similarities, indices = self._groups.search(
            queries, top, params=self._faiss.SearchParametersIVF(nprobe=n_probes)
        )
        return indices.astype(np.intp, copy=False), similarities


def _faiss() -> Any:
    try:
        return import_module("faiss")
    except ImportError as error:
        raise ImportError(
            "an approximate index needs faiss, which is not installed: pip install 'scca[index]'."
        ) from error
