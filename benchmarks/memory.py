"""Peak resident memory beyond the data, in a process each, beside what the matrices never formed would take."""

from ._corpus import made_up_pair
from ._processes import in_new_process
from ._table import print_table
from .single_component import planted_problem

__all__ = ["run"]

_COMPONENTS = 20
_TEXT_PAIRS, _TEXT_COMPONENTS = 200_000, 50
_TEXT_BOUND = 3e9
_HEADER = ["task", "seconds", "extra MB", "data MB", "dense n x m MB", "dense n x n MB"]


def run() -> None:
    """One component; a fit of sparse documents; and the whole way from texts to a model, which has a bound to keep."""
    problem = planted_problem()
    documents = made_up_pair()
    stored = sum(part.nbytes for view in documents for part in (view.data, view.indices, view.indptr))
    [solved] = in_new_process("_memory_child", problem, "solve")
    [fitted] = in_new_process("_memory_child", (documents, _COMPONENTS), "fit")
    [text] = in_new_process("_memory_child", (_TEXT_PAIRS, _TEXT_COMPONENTS), "text")
    rows = [
        _row("solve_component, dense", solved, problem.X.nbytes + problem.K.nbytes, problem.X.shape),
        _row(f"SparseCCA({_COMPONENTS}), documents", fitted, stored, documents[0].shape),
        _row(f"BilingualModel({_TEXT_COMPONENTS}), {_TEXT_PAIRS:,} pairs", text, text["data"], tuple(text["shape"])),
    ]
    print_table("Peak resident memory beyond the data", _HEADER, rows)
    verdict = "met" if text["peak"] <= _TEXT_BOUND else "MISSED"
    print(f"The text process in all: {text['peak'] / 1e6:,.0f} MB, bound {_TEXT_BOUND / 1e6:,.0f} MB: {verdict}")


def _row(task: str, measured: dict, stored: int, shape: tuple[int, ...]) -> list[str]:
    n, m = shape
    sizes = measured["bytes"], stored, 8 * n * m, 8 * n * n
    return [task, f"{measured['seconds']:.2f}", *(f"{size / 1e6:,.1f}" for size in sizes)]
