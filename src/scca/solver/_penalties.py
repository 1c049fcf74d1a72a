"""mu and gamma as users write them: "auto", a number, or "auto*0.5"."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["Penalty", "mean_rule"]


@dataclass(frozen=True)
class Penalty:
    """An absolute value, or a multiple of the automatic one."""

    value: float | None = None
    factor: float = 1.0

    @classmethod
    def parse(cls, given: Any, name: str, *, zero_allowed: bool) -> "Penalty":
        """Parse a user's penalty; `name` is what error messages call it."""
        bound = "at least 0" if zero_allowed else "greater than 0 and finite"
        if isinstance(given, str):
            head, _, tail = given.replace(" ", "").partition("*")
            try:
                factor = float(tail) if tail else 1.0
            except ValueError:
                factor = np.nan
            if head != "auto" or (tail == "" and "*" in given) or not 0 < factor < np.inf:
                raise ValueError(
                    f'{name} must be "auto", "auto*FACTOR" with a factor greater than 0, or a number {bound}; '
                    f'got {given!r}: write for example "auto*0.5".'
                )
            return cls(factor=factor)
        number = isinstance(given, Real) and not isinstance(given, bool)
        unfit = not number or np.isnan(given) or given < 0
        if unfit or (not zero_allowed and (given == 0 or np.isinf(given))):
            raise ValueError(
                f'{name} must be "auto", "auto*FACTOR" or a number {bound}; got {given!r}: "auto" lets the data set it.'
            )
        return cls(value=float(given))

    def resolve(self, correlations: Callable[[], np.ndarray]) -> float:
        """The penalty in the scale of the objective; `correlations` computes M'y of the coordinates it applies to."""
        return self.value if self.value is not None else self.factor * mean_rule(correlations())


def mean_rule(correlations: np.ndarray) -> float:
    """The paper's automatic value: the mean over all coordinates of |2 M'y|."""
    return 2.0 * float(np.abs(correlations).sum() / len(correlations))
