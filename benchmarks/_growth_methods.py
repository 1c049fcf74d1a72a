"""What is compared as the data grow: solvers of one component, and whole models of some components.

A method is prepared once for its data and then run many times; only the runs are timed. Each is imported when it is
prepared: one may be missing, and a process is to load one alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from scca.datasets import make_planted

from ._contest import GAP
from ._problem import Problem
from ._solvers import PEERS, SCCA, Solver
from .single_component import planted_problem

__all__ = ["COMPONENTS", "METHODS", "Data", "Method", "Pairs", "Ready", "make_data"]

COMPONENTS = 3  # of a whole model, and as many planted factors


class Ready(NamedTuple):
    """A method with its data: `run` is timed, `describe` says what is worth knowing of its result."""

    run: Callable[[], Any]
    describe: Callable[[Any], dict]


@dataclass(frozen=True)
class Method:
    packages: tuple[str, ...]
    prepare: Callable[[Any], Ready]

    @property
    def is_installed(self) -> bool:
        return all(find_spec(package) for package in self.packages)


@dataclass(frozen=True)
class Pairs:
    """Two views to learn from, and new samples of them."""

    train: list
    test: list


Data = Problem | Pairs


def make_data(part: str, n: int, m: int, density: float) -> Data:
    """n samples of m features in each view; below a density of 1 the views are stored as sparse matrices."""
    if part == "component":
        return planted_problem(density, n=n, m=m)
    strength = 1.0 if density == 1 else 3.0  # of what is left of a factor when most entries are zero, some can be found
    factors = {"n_factors": COMPONENTS, "n_active": 10, "strength": strength}
    planted = make_planted(2 * n, m, m, density=density, random_state=0, **factors)
    return Pairs(*([view[rows] for view in planted.views] for rows in (slice(n), slice(n, None))))


# --- one component ----------------------------------------------------------------------------------------------------


def _solver(solver: Solver) -> Method:
    """At its loosest tolerance that reaches the certified gap; if none does, `describe` shows it."""

    def prepare(problem: Problem) -> Ready:
        solve = solver.prepare(problem)
        for tolerance in solver.tolerances:
            gap = problem.judge(solve(tolerance)).gap
            if gap <= GAP:
                break
        return Ready(lambda: solve(tolerance), lambda _: {"tolerance": tolerance, "gap": gap})

    return Method(solver.packages, prepare)


# --- whole models -----------------------------------------------------------------------------------------------------


def _ours(settings: dict) -> Method:
    def prepare(pairs: Pairs) -> Ready:
        from scca import SparseCCA

        def describe(model) -> dict:
            return _correlation(*model.transform_pair(*pairs.test))

        return Ready(lambda: SparseCCA(COMPONENTS, random_state=0, **settings).fit(*pairs.train), describe)

    return Method(("scca",), prepare)


def _paper() -> Method:
    def prepare(pairs: Pairs) -> Ready:
        from scca import AnchoredCCA

        def describe(model) -> dict:
            return _correlation(*model.transform_pair(*pairs.test))

        return Ready(lambda: AnchoredCCA(COMPONENTS).fit(*pairs.train), describe)

    return Method(("scca",), prepare)


def _cca_zoo(name: str, **settings) -> Method:
    def prepare(pairs: Pairs) -> Ready:
        import cca_zoo.sparse

        train, test = _dense(pairs)
        make = getattr(cca_zoo.sparse, name)
        return Ready(
            lambda: make(n_components=COMPONENTS, random_state=0, **settings).fit(train),
            lambda model: _correlation(*model.transform(test)),
        )

    return Method(("cca_zoo",), prepare)


def _sparsecca() -> Method:
    def prepare(pairs: Pairs) -> Ready:
        from sparsecca import cca_pmd

        train, test = _dense(pairs)

        def run():
            return cca_pmd(*train, penaltyx=0.08, penaltyz=0.08, K=COMPONENTS, niter=20)

        return Ready(run, lambda found: _correlation(*(view @ w for view, w in zip(test, found[:2], strict=True))))

    return Method(("sparsecca",), prepare)


def _dense(pairs: Pairs) -> tuple[list, list]:
    """As the others need them: all refuse sparse matrices."""
    train, test = ([v.toarray() if sp.issparse(v) else v for v in views] for views in (pairs.train, pairs.test))
    return train, test


def _correlation(A: np.ndarray, B: np.ndarray) -> dict:
    """Of new samples, the mean over the components; 0 for one that was not found."""
    with np.errstate(all="ignore"):
        values = [np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)]
    return {"correlation": float(np.nan_to_num(values).sum() / COMPONENTS)}


# settings of the others: what suits planted factors of 10 features, as in the table of `peers`
METHODS: dict[str, dict[str, Method]] = {
    "component": {solver.name: _solver(solver) for solver in [SCCA, *PEERS.values()]},
    "model": {
        "scca": _ours({}),
        "scca, held_out=0": _ours({"held_out": 0}),
        "scca, the paper's": _paper(),
        "cca-zoo PMDCCA": _cca_zoo("PMDCCA", l1_bound=0.08),
        "cca-zoo SpanCCA": _cca_zoo("SpanCCA", span=10),
        "cca-zoo ParkhomenkoCCA": _cca_zoo("ParkhomenkoCCA", alpha=0.5),
        "cca-zoo IPLSCCA": _cca_zoo("IPLSCCA", alpha=0.3),
        "sparsecca cca_pmd": _sparsecca(),
    },
}
