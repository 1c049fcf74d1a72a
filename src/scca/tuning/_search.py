"""Fits with many penalties to the training pairs of a fold, each measured on the pairs left out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._checks import Collector, collected, silenced
from .._data import check_varies
from ..estimators import SparseCCA, models_of_path
from ..factors import PreparedPair
from ..samples import Pairs, Samples

__all__ = ["Fit", "Measure", "Penalties", "Trial", "fits_of_a_fold", "fitted_models", "mean_correlation"]


@dataclass(frozen=True)
class Penalties:
    """Multipliers of the automatic penalties and ridge; None for a ridge that does not apply."""

    mu: float = 1.0
    gamma: float = 1.0
    ridge: float | None = 1.0

    @property
    def params(self) -> dict[str, str]:
        """As parameters of `SparseCCA`."""
        factors = {"mu": self.mu, "gamma": self.gamma, "ridge": self.ridge}
        return {
            name: "auto" if factor == 1 else f"auto*{factor!r}"
            for name, factor in factors.items()
            if factor is not None
        }

    @property
    def place(self) -> tuple[float, float, float]:
        """Sort key: grouped by ridge, largest penalties first; anchored components in the given order."""
        return (0.0, 0.0, 0.0) if self.ridge is None else (self.ridge, -self.gamma, -self.mu)


@dataclass(frozen=True)
class Trial:
    """One fold and one setting of the penalties."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    penalties: Penalties

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.penalties.params.items())
        return f"fold {self.fold} with {settings}"


@dataclass(frozen=True)
class Fit:
    """The measurement of a trial, and its warnings."""

    measured: Any
    warned: Collector


# a function of a fitted model and both views of the held-out pairs
Measure = Callable[[SparseCCA, tuple[Samples, Samples]], Any]


def fits_of_a_fold(
    pairs: Pairs,
    measure: Measure,
    task: Sequence[tuple[SparseCCA, Trial]],
    quiet: tuple[type[Warning], ...] = (),
) -> list[Fit]:
    """All fits of a fold, to the same prepared pairs, one in memory at a time; `quiet` warnings are dropped."""
    first_model, first = task[0]
    training = pairs.training(first.train)
    for name, view in zip("XY", training, strict=True):
        if first_model.center and name not in pairs.precomputed:
            check_varies(
                view,
                f"{name} in the training pairs of fold {first.fold}",
                "pass other folds, for example KFold(shuffle=True)",
            )
    with _named(first):
        prepared = first_model.prepare_checked(*training, groups=pairs.groups.chosen(first.train))
    held_out = pairs.held_out(first.test, first.train)
    order = sorted(range(len(task)), key=lambda position: task[position][1].penalties.place)
    models = fitted_models([task[position][0] for position in order], prepared)
    fits: dict[int, Fit] = {}
    for position in order:
        trial = task[position][1]
        with _named(trial), collected(str(trial)) as warned, silenced(*quiet):
            fits[position] = Fit(measure(next(models), held_out), warned)
    return [fits[position] for position in range(len(task))]


def fitted_models(models: Iterable[SparseCCA], prepared: PreparedPair) -> Iterator[SparseCCA]:
    """Copies of the models, one after another, fitted to the same pairs; common parts are computed once."""
    models = list(models)
    if models[0].anchors is None:
        return models_of_path(models, prepared)
    return (clone(model).fit_prepared(prepared) for model in models)


@contextmanager
def _named(trial: Trial) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ValueError(f"{trial}: {error}") from error


def mean_correlation(A: np.ndarray, B: np.ndarray) -> float:
    """Mean over the columns of the correlation of A's with B's; 0 for a constant column."""
    A, B = (scores - scores.mean(axis=0, dtype=np.float64) for scores in (A, B))
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return float(np.mean(np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)))
