"""From `cv` to pairs of training and held-out indices."""

from numbers import Integral

import numpy as np

from .._types import Splitter
from ._views import Groups

__all__ = ["Split", "consecutive_folds", "random_folds"]

Split = tuple[np.ndarray, np.ndarray]


def consecutive_folds(cv: Splitter, n: int, *, groups: Groups | None = None, least: int = 2) -> list[Split]:
    """The folds of `cv`, a number of consecutive folds, a splitter or splits; each holds out at least `least` pairs.

    With groups, a number of folds leaves whole groups out.
    """
    folds = _splits(cv, n, groups)
    smallest = min((len(test) for _, test in folds), default=0)
    if smallest < least:
        raise ValueError(
            f"every fold of cv must hold out at least {least} pairs; got {smallest} of n_samples={n}: lower cv."
        )
    return folds


def random_folds(cv: Splitter, n: int, rng: np.random.RandomState, *, groups: Groups | None = None) -> list[Split]:
    """The folds of `cv`: a number of random folds, a splitter, or the splits; None trains and tests on everything.

    With groups, a number of folds leaves whole groups out.
    """
    from sklearn.model_selection import KFold  # imported late: scikit-learn takes seconds to load

    if cv is None:
        return [(np.arange(n), np.arange(n))]
    if isinstance(cv, Integral):
        if not 2 <= int(cv) <= n:
            raise ValueError(f"cv must be from 2 to n_samples={n} folds; got {cv!r}: None uses no folds.")
        if groups is not None and groups.labels is not None:
            return _folds_of_groups(int(cv), groups, np.random.default_rng(rng.randint(2**31 - 1)))
        cv = KFold(int(cv), shuffle=True, random_state=rng)
    return _splits(cv, n, groups)


def _folds_of_groups(n_folds: int, groups: Groups, rng: np.random.Generator) -> list[Split]:
    """Folds of whole groups."""
    if n_folds > groups.n_groups:
        raise ValueError(
            f"cv must be at most the number of groups, {groups.n_groups}; got {n_folds}: lower it, or form more groups."
        )
    return [(np.setdiff1d(np.arange(groups.n), test), test) for test in groups.parts(n_folds, rng)]


def _splits(cv: Splitter, n: int, groups: Groups | None = None) -> list[Split]:
    """The indices of all splits, drawn once, since a splitter may draw others next time."""
    from sklearn.model_selection import check_cv

    samples = np.arange(n)
    labels = None if groups is None else groups.labels
    if groups is not None and labels is not None and isinstance(cv, Integral) and int(cv) >= 2:
        return _folds_of_groups(int(cv), groups, np.random.default_rng(0))
    try:
        return [(samples[train], samples[test]) for train, test in check_cv(cv).split(samples, groups=labels)]
    except (ValueError, TypeError, IndexError) as error:
        reason = str(error).rstrip(".")
        remedy = f"pass 2 to {n} folds, a splitter, or pairs of indices"
        raise ValueError(f"cv={cv!r} cannot split n_samples={n} pairs ({reason}); {remedy}.") from error
