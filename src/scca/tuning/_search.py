"""The search for penalties: many fits to the training samples of a fold, each measured on the samples left out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from .._checks import Collector, collected, silenced
from .._data import check_varies
from ..estimators import PairedTransformer
from ..factors import Prepared
from ..samples import Samples, Views

__all__ = ["Fitted", "Measure", "Multipliers", "Trial", "as_params", "fits_of_a_fold", "mean_correlation"]

# multipliers of automatic penalties, by the name of the parameter; of "n_features", the share itself
Multipliers = dict[str, float]


def as_params(multipliers: Multipliers) -> dict[str, Any]:
    """What is tried as parameters of an estimator."""
    return {
        name: factor if name == "n_features" else "auto" if factor == 1 else f"auto*{factor!r}"
        for name, factor in multipliers.items()
    }


@dataclass(frozen=True)
class Trial:
    """One fold and one setting of the penalties."""

    fold: int
    train: np.ndarray
    test: np.ndarray
    multipliers: Multipliers

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in as_params(self.multipliers).items())
        return f"fold {self.fold} with {settings}"


@dataclass(frozen=True)
class Fitted:
    """The measurement of a trial, and its warnings."""

    measured: Any
    warned: Collector


# a function of a fitted model and the held-out samples of every view
Measure = Callable[[Any, Sequence[Samples]], Any]


def fits_of_a_fold(
    views: Views,
    measure: Measure,
    task: Sequence[tuple[PairedTransformer, Trial]],
    quiet: tuple[type[Warning], ...] = (),
    through: float | None = None,
) -> list[Fitted]:
    """All fits to the prepared views of a fold, one in memory at a time; warnings in `quiet` are dropped.

    Fits with the same ridge follow each other, and the largest penalties come first: each fit of shared factors starts
    from the previous one. Fits that read ever fewer features choose them among those of the fit before; see
    `SparseCCA.prepare_nested` for `through`.
    """
    first_model, first = task[0]
    training = views.rows(first.train)
    for name, data, is_kernel in zip(views.names, training.data, views.precomputed, strict=True):
        if first_model.center and not is_kernel:
            check_varies(
                data,
                f"{name} in the training pairs of fold {first.fold}",
                "pass other folds, for example KFold(shuffle=True)",
            )
    held_out = views.held_out(first.test, first.train)
    order = sorted(range(len(task)), key=lambda position: _order_key(task[position][1].multipliers))
    with _errors_name(first):
        rows, preparing = _preparing([task[position] for position in order], training, through)
    fits: dict[int, Fitted] = {}
    begun = 0
    for length in rows:
        row, begun = order[begun : begun + length], begun + length
        with _errors_name(task[min(row)][1]):
            prepared = next(preparing)
        models = first_model.fit_many([task[position][0] for position in row], prepared)
        for position in row:
            trial = task[position][1]
            with _errors_name(trial), collected(str(trial)) as warned, silenced(*quiet):
                fits[position] = Fitted(measure(next(models), held_out), warned)
    return [fits[position] for position in range(len(task))]


def _preparing(
    task: Sequence[tuple[PairedTransformer, Trial]], training: Views, through: float | None
) -> tuple[list[int], Iterator[Prepared]]:
    """How many consecutive fits share prepared views, and these views."""
    model, tried = task[0][0], [trial.multipliers for _, trial in task]
    if through is not None:
        shares = [each["n_features"] for each in tried]
        return [1] * len(task), model.prepare_nested(training, shares, through)
    # features are chosen by factors, which depend on the ridge
    ridges = [each.get("ridge") if model.n_features is not None else None for each in tried]
    rows = [len(list(same)) for _, same in groupby(ridges)]
    firsts = [task[sum(rows[:i])][0] for i in range(len(rows))]
    return rows, (each.prepare_views(training) for each in firsts)


def _order_key(multipliers: Multipliers) -> tuple[float, ...]:
    return tuple(sign * multipliers.get(name, 1.0) for name, sign in (("ridge", 1), ("n_features", -1), ("mu", -1)))


@contextmanager
def _errors_name(trial: Trial) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise ValueError(f"{trial}: {error}") from error


def mean_correlation(A: np.ndarray, B: np.ndarray) -> float:
    """Mean over columns of the correlation of A's column with B's; 0 for a constant column."""
    A, B = (scores - scores.mean(axis=0, dtype=np.float64) for scores in (A, B))
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return float(np.mean(np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)))
