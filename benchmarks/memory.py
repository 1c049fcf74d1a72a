"""Peak resident memory beyond the data, in a process each, beside what the matrices never formed would take."""

from scca.datasets import make_planted

from ._processes import in_new_process
from ._table import print_table
from .single_component import planted_problem

__all__ = ["run"]

_SAMPLES = _FEATURES = 20_000
_ENTRIES_PER_ROW = 20
_COMPONENTS = 20
_HEADER = ["task", "seconds", "extra MB", "data MB", "dense n x m MB", "dense n x n MB"]


def run() -> None:
    """The fit takes minutes: with the automatic penalties noise of this kind keeps thousands of weights a component."""
    problem = planted_problem()
    [solved] = in_new_process("_memory_child", problem, "solve")

    density = _ENTRIES_PER_ROW / _FEATURES
    pair = make_planted(_SAMPLES, _FEATURES, _FEATURES, density=density, random_state=0).views
    stored = sum(part.nbytes for view in pair for part in (view.data, view.indices, view.indptr))
    [fitted] = in_new_process("_memory_child", (pair, _COMPONENTS), "fit")

    rows = [
        _row("solve_component, dense", solved, problem.X.nbytes + problem.K.nbytes, *problem.X.shape),
        _row(f"SparseCCA({_COMPONENTS}), sparse", fitted, stored, _SAMPLES, _FEATURES),
    ]
    print_table("Peak resident memory beyond the data", _HEADER, rows)


def _row(task: str, measured: dict, stored: int, n: int, m: int) -> list[str]:
    sizes = measured["bytes"], stored, 8 * n * m, 8 * n * n
    return [task, f"{measured['seconds']:.2f}", *(f"{size / 1e6:,.1f}" for size in sizes)]
