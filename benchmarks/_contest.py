"""Time solvers on one problem at the same certified gap."""

import time
import warnings
from dataclasses import dataclass, field
from statistics import median

from threadpoolctl import threadpool_limits

from ._problem import Problem, Verdict
from ._solvers import SCCA, Solve, Solver
from ._table import print_table

__all__ = ["AIMED_RATIO", "GAP", "Entry", "contest", "race"]

GAP = 1e-6
AIMED_RATIO = 3.0
_TURNS_OF_ALL = 3
_PATIENCE = 5.0  # seconds after which a slow solver has no more turns
_HEADER = ["solver", "tolerance", "certified gap", "objective", "best ms", "median ms", "best / scca's"]


@dataclass
class Entry:
    """A solver at its loosest sufficient tolerance, or at its tightest if none suffices."""

    solver: Solver
    solve: Solve
    tolerance: float
    verdict: Verdict
    seconds: list[float] = field(default_factory=list)

    @property
    def qualifies(self) -> bool:
        return self.verdict.gap <= GAP

    def run(self) -> None:
        start = time.process_time()
        self.solve(self.tolerance)
        self.seconds.append(time.process_time() - start)

    @property
    def best(self) -> float:
        return min(self.seconds)


def race(problem: Problem, peers: list[Solver], repeats: int) -> list[Entry]:
    """scca and its installed `peers`, with the processor time that each takes to reach the certified gap `GAP`.

    They take turns, so that a slow moment of the machine falls on all of them, and use one thread: the pools that BLAS
    and OpenMP keep for several libraries in one process get in one another's way. Every solver has run before it is
    timed: nothing is compiled or loaded within the times. A peer that misses the gap has no times.
    """
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of not converging, at tolerances that are then found too loose
        entries = [_enter(solver, problem) for solver in [SCCA, *peers] if solver.is_installed]
        racing = [entry for entry in entries if entry.qualifies]
        for turn in range(repeats):
            for entry in racing:
                if turn < _TURNS_OF_ALL or sum(entry.seconds) < _PATIENCE:
                    entry.run()
    assert entries[0].qualifies, f"scca stopped at a gap of {entries[0].verdict.gap:.2g}"
    return entries


def contest(title: str, problem: Problem, peers: list[Solver], repeats: int) -> None:
    """Print a `race` of scca and its `peers`."""
    entries = race(problem, peers, repeats)
    scca = entries[0]
    lowest = min(entry.verdict.objective for entry in entries)
    missing = [[peer.name, "not installed", *[""] * (len(_HEADER) - 2)] for peer in peers if not peer.is_installed]
    print_table(title, _HEADER, [_row(entry, lowest, scca.best) for entry in entries] + missing)
    _print_aim(scca, [entry for entry in entries[1:] if entry.qualifies])


def _enter(solver: Solver, problem: Problem) -> Entry:
    solve = solver.prepare(problem)
    for tolerance in solver.tolerances:
        entry = Entry(solver, solve, tolerance, problem.judge(solve(tolerance)))
        if entry.qualifies:
            break
    return entry


def _row(entry: Entry, lowest: float, scca_best: float) -> list[str]:
    verdict = entry.verdict
    excess = (verdict.objective - lowest) / lowest
    reached = [entry.solver.name, f"{entry.tolerance:.0e}", f"{verdict.gap:.1e}", f"+{excess:.1e}"]
    if not entry.seconds:
        return [*reached, "gap too wide", "", ""]
    times = f"{1e3 * entry.best:.2f}", f"{1e3 * median(entry.seconds):.2f}", f"{entry.best / scca_best:.2f}"
    return [*reached, *times]


def _print_aim(scca: Entry, peers: list[Entry]) -> None:
    if not peers:
        return
    fastest = min(peers, key=lambda entry: entry.best)
    ratio = fastest.best / scca.best
    met = "met" if ratio >= AIMED_RATIO else "not met"
    print(f"\naim, {AIMED_RATIO:g} times as fast as the fastest peer: {met} ({ratio:.2f} times {fastest.solver.name})")
