"""Peak resident memory beyond the data, in a process each, beside what the matrices never formed would take."""

from scca.datasets import make_planted

from ._corpus import made_up_pair
from ._processes import in_new_process
from ._table import print_table
from .single_component import planted_problem

__all__ = ["run"]

_COMPONENTS = 20
_SAMPLES = _FEATURES = 20_000
_ENTRIES_PER_ROW = 20
_HEADER = ["task", "seconds", "extra MB", "data MB", "dense n x m MB", "dense n x n MB"]


def run() -> None:
    """One component, then fits of two sparse pairs: of documents, and of noise, which keeps thousands of weights.

    The last takes minutes.
    """
    problem = planted_problem()
    [solved] = in_new_process("_memory_child", problem, "solve")
    density = _ENTRIES_PER_ROW / _FEATURES
    noise = make_planted(_SAMPLES, _FEATURES, _FEATURES, density=density, random_state=0).views
    rows = [
        _row("solve_component, dense", solved, problem.X.nbytes + problem.K.nbytes, problem.X.shape),
        _fit("documents", made_up_pair()),
        _fit("noise", noise),
    ]
    print_table("Peak resident memory beyond the data", _HEADER, rows)


def _fit(name: str, pair) -> list[str]:
    [fitted] = in_new_process("_memory_child", (pair, _COMPONENTS), "fit")
    stored = sum(part.nbytes for view in pair for part in (view.data, view.indices, view.indptr))
    return _row(f"SparseCCA({_COMPONENTS}), {name}", fitted, stored, pair[0].shape)


def _row(task: str, measured: dict, stored: int, shape: tuple[int, int]) -> list[str]:
    n, m = shape
    sizes = measured["bytes"], stored, 8 * n * m, 8 * n * n
    return [task, f"{measured['seconds']:.2f}", *(f"{size / 1e6:,.1f}" for size in sizes)]
