"""What the test on pairs left out means, in one sentence."""

from math import exp, isnan

from .._wording import counted
from ..samples import Groups
from ._left_out import FEWEST_PAIRS
from ._sharing import CHANCE

__all__ = ["is_doubtful", "verdict"]

_FEW = 100  # pairs below which a test that finds nothing may well have missed something
_FEWEST_ORDERS = 1 / CHANCE


def is_doubtful(p_value: float) -> bool:
    """Whether the test did not show that the pairs share anything."""
    return p_value > CHANCE


def verdict(p_value: float, groups: Groups) -> str:
    """What was tested, and what follows from it."""
    if isnan(p_value):
        return f"nothing is known about new pairs: at least {FEWEST_PAIRS} are needed to leave any out."
    if not is_doubtful(p_value):
        return (
            "the pairs share more than chance: the two views of a pair go together better than those of permuted pairs "
            f"(p = {p_value:.2g})."
        )
    n = groups.n_groups
    independent = (
        counted(n, "pair") if groups.labels is None else f"{counted(groups.n, 'pair')} in {counted(n, 'group')}"
    )
    n_orders = exp(min(groups.log_orders, 700.0))
    if n_orders < _FEWEST_ORDERS:
        return (
            f"these {independent} cannot tell whether they share more than chance: groups change places with groups of "
            f"the same size, in {n_orders:.0f} orders, and a p-value of {CHANCE:g} needs {_FEWEST_ORDERS:.0f}; "
            "add groups, or make them equally large."
        )
    found = (
        f"the two views of a pair do not go together clearly better than those of permuted pairs (p = {p_value:.2g})"
    )
    if n < _FEW:
        return f"these {independent} cannot tell whether they share more than chance: {found}; add pairs."
    return (
        f"the pairs share no more than chance, as far as {independent} can tell: {found}; check that both sides of "
        "each pair belong together."
    )
