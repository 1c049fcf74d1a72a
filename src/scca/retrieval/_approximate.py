"""The best candidates of each query by an index, which compares the query only with the groups closest to it."""

from importlib import import_module
from math import isqrt
from typing import Any

import numpy as np

from .._checks import check_count
from .._types import MatrixLike
from ._cosines import checked, unit_rows
from ._exact import ExactIndex, Index

__all__ = ["ApproximateIndex"]

_LEAST_PER_GROUP = 39  # candidates of a group on average; faiss warns of fewer
_SAMPLED_PER_GROUP = 64  # candidates from which the centre of a group is found
_LEAST_PROBES, _GROUPS_PER_PROBE = 64, 16  # a query searches one in 16 groups, at least 64
_TIE = 1e-5  # cosines this close are ties in float32


class ApproximateIndex(Index):
    """Candidates in groups around common centres; a query is compared with the groups whose centres it is closest to.

    This is faster for many queries among very many candidates: `benchmarks/README.md` has figures. `recall` measures
    the share of the best candidates that is found. Candidates are stored in float32. The index needs faiss:
    `pip install 'scca[index]'`.

    Parameters
    ----------
    candidates : array of shape (n_candidates, c)
        Scores in the common space.
    n_probes : int, optional
        How many groups to search per query; more groups find more and take longer. The default is a 16th of all
        groups, but at least 64.

    Attributes
    ----------
    n_groups : int
        About 2 sqrt(n_candidates).
    """

    def __init__(self, candidates: MatrixLike, *, n_probes: int | None = None):
        self._faiss = _faiss()
        given = checked(candidates, "candidates", can_be_empty=True)
        self.n_candidates, self.n_components = given.shape
        self.n_groups = max(1, min(2 * isqrt(self.n_candidates), self.n_candidates // _LEAST_PER_GROUP))
        if n_probes is None:
            n_probes = max(_LEAST_PROBES, self.n_groups // _GROUPS_PER_PROBE)
        self.n_probes = min(check_count(n_probes, "n_probes"), self.n_groups)
        if not self.n_candidates:
            return
        units = np.ascontiguousarray(unit_rows(given), dtype=np.float32)
        self._centres = self._faiss.IndexFlatIP(self.n_components)  # the groups refer to it, and do not own it
        self._groups = self._faiss.IndexIVFFlat(
            self._centres, self.n_components, self.n_groups, self._faiss.METRIC_INNER_PRODUCT
        )
        self._groups.cp.spherical = True
        self._groups.cp.max_points_per_centroid = _SAMPLED_PER_GROUP
        self._groups.train(units)
        self._groups.add(units)

    @staticmethod
    def check_installed() -> None:
        """Raise ImportError, which names the extra to install, if faiss is missing."""
        _faiss()

    def recall(self, queries: MatrixLike, candidates: MatrixLike, top: int) -> float:
        """The share of the `top` best candidates of some queries that the index finds.

        `candidates` are those that the index was made from; the queries are compared with all of them.
        """
        _, best = ExactIndex(candidates).best_matches(queries, top)
        _, found = self.best_matches(queries, top)
        return float(np.mean(found >= best[:, -1:] - _TIE)) if best.size else 1.0

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
