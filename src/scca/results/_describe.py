"""The result of a fitted estimator of views, with the words and samples of a model if it is part of one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from .._checks import check_count
from ._result import ComponentView, Evidence, Feature, LearntComponent, LearntView, Result, Sample

__all__ = ["Described", "described_views", "ordered_features", "result_of", "running_union", "shown_weights"]


def _not_drawn(feature: int) -> str | None:
    """No drawing."""
    return None


@dataclass(frozen=True)
class Described:
    """The words for a view, and how its features are shown.

    Attributes
    ----------
    name, kind, unit, units, sample, samples : str
        As in `LearntView`.
    feature : callable
        The name of a feature, given its column.
    drawing : callable
        The feature as SVG, or None.
    positive_first : bool
        Whether features are listed from the largest loading to the smallest, as words, whose absence says little;
        otherwise by size.
    shows_features : bool
        False for features that mean nothing one by one.
    """

    name: str
    kind: str
    unit: str
    units: str
    sample: str
    samples: str
    feature: Callable[[int], str]
    drawing: Callable[[int], str | None] = _not_drawn
    positive_first: bool = False
    shows_features: bool = True


def described_views(estimator: Any) -> list[Described]:
    """The words for the views of an estimator that was fitted to matrices."""
    found = []
    for v, name in enumerate(estimator.view_names_):
        names = estimator.feature_names_[v]
        kind = "kernel" if estimator.are_dual_[v] else "matrix" if names is None else "table"
        unit = "feature" if names is None else "column"
        found.append(Described(name, kind, unit, f"{unit}s", "sample", "samples", _naming(names)))
    return found


def result_of(
    estimator: Any,
    views: Sequence[Described] | None = None,
    *,
    samples: Sequence[Sequence[Sequence[Sample]]] | None = None,
    features: Sequence[Sequence[Sequence[Feature]] | None] | None = None,
    n_samples: int | None = None,
    provenance: dict[str, Any] | None = None,
    withheld: bool = False,
    top: int | None = None,
) -> Result:
    """The result of a fitted estimator.

    Parameters
    ----------
    estimator : ViewsEstimator
    views : list of Described, optional
        The words for its views.
    samples : list by component of lists by view of Sample, optional
        By default those with weights, where a view has weights on samples.
    features : list by view of lists by component of Feature, optional
        Features to show instead of those with weights; None for a view without any.
    n_samples : int, optional
    provenance : dict, optional
        By default that of the estimator.
    withheld : bool, default=False
    top : int, optional
        At most so many features and samples of a component in a view; by default all.
    """
    top = None if top is None else check_count(top, "top", least=0)
    views = described_views(estimator) if views is None else views
    provenance = getattr(estimator, "provenance_", {}) if provenance is None else provenance
    n_views, c = len(views), estimator.n_components_
    evidence, shown = _evidence(estimator), [shown_weights(estimator, v) for v in range(n_views)]
    return Result(
        method=type(estimator).__name__,
        n_samples=_n_samples(estimator, provenance) if n_samples is None else n_samples,
        views=tuple(_learnt_view(estimator, v, view) for v, view in enumerate(views)),
        pairs=tuple((v, u) for v in range(n_views) for u in range(v + 1, n_views)),
        components=tuple(
            LearntComponent(
                number=j,
                correlation=float(estimator.correlations_[j]) if hasattr(estimator, "correlations_") else 0.0,
                **_held_out(estimator, j),
                penalties=_penalties(estimator, j, n_views),
                dual_gap=_gap(estimator, j),
                anchor=int(estimator.anchors_[j]) if hasattr(estimator, "anchors_") else None,
                views=tuple(
                    _component_view(
                        estimator,
                        *(v, j, view, shown[v][:, j]),
                        None if features is None or features[v] is None else features[v][j],  # type: ignore[index]
                        None if samples is None else samples[j][v],
                        top,
                    )
                    for v, view in enumerate(views)
                ),
            )
            for j in range(c)
        ),
        evidence=evidence,
        largest_gap=max((gap for j in range(c) if (gap := _gap(estimator, j)) is not None), default=None),
        provenance=provenance,
        withheld=withheld,
    )


def ordered_features(weights: np.ndarray, loadings: np.ndarray | None, positive_first: bool) -> np.ndarray:
    """The coordinates with a weight, the strongest first; ties by position."""
    if loadings is None:
        order = np.argsort(-np.abs(weights), kind="stable")
    else:
        order = np.argsort(-(loadings if positive_first else np.abs(loadings)), kind="stable")
    return order[weights[order] != 0]


def shown_weights(estimator: Any, v: int) -> np.ndarray:
    """The weights of all components in a view that are shown to a reader; the others are 0."""
    weights = estimator.weights_[v]
    chosen = getattr(estimator, "shown_", [None] * (v + 1))[v]
    return weights if chosen is None else np.where(chosen.toarray(), weights, 0.0)


def running_union(weights: np.ndarray) -> list[int]:
    """The number of rows with a weight in the first 1, 2, ... columns."""
    return np.logical_or.accumulate(weights != 0, axis=1).sum(axis=0).tolist()


def _learnt_view(estimator: Any, v: int, view: Described) -> LearntView:
    weights = estimator.weights_[v]
    return LearntView(
        **{name: getattr(view, name) for name in ("name", "kind", "unit", "units", "sample", "samples")},
        n_features=int(estimator.n_features_[v]),
        weights_on=_weights_on(estimator, v),
        used=tuple(running_union(weights)),
        rendering=estimator.rendering_[v] if hasattr(estimator, "rendering_") else None,
    )


def _component_view(
    estimator: Any,
    v: int,
    j: int,
    view: Described,
    shown: np.ndarray,
    features: Sequence[Feature] | None,
    samples: Sequence[Sample] | None,
    top: int | None,
) -> ComponentView:
    weights = estimator.weights_[v][:, j]
    loadings = estimator.loadings_[v][:, j] if hasattr(estimator, "loadings_") else None
    weights_on = _weights_on(estimator, v)
    if features is None:
        of_features = view.shows_features and weights_on == "features"
        order = ordered_features(shown, loadings, view.positive_first)[:top] if of_features else ()
        features = [
            Feature(
                view.feature(i),
                float(weights[i]),
                None if loadings is None else float(loadings[i]),
                int(i),
                view.drawing(i),
            )
            for i in order
        ]
    samples_by = "weight" if samples is None or hasattr(estimator, "anchors_") else "score"
    if samples is None:
        order = ordered_features(weights, None, False)[:top] if weights_on == "samples" else ()
        samples = [Sample(int(i), float(weights[i])) for i in order]
    return ComponentView(
        n_weights=int(np.count_nonzero(weights)),
        n_shown=int(np.count_nonzero(shown)),
        features=tuple(features[:top]),
        samples=tuple(samples[:top]),
        samples_by=samples_by,
    )


def _held_out(estimator: Any, j: int) -> dict[str, Any]:
    """The correlations of a component, and what the samples left out say of it."""
    correlation = _finite(getattr(estimator, "held_out_correlations_", None), j)
    return {
        "held_out_correlation": correlation,
        "held_out_interval": _finite(getattr(estimator, "held_out_intervals_", None), j),
        "pair_correlations": _of_pairs(getattr(estimator, "pair_correlations_", None), j),
        "held_out_pair_correlations": _of_pairs(getattr(estimator, "held_out_pair_correlations_", None), j),
        "held_out_pair_intervals": _of_pairs(getattr(estimator, "held_out_pair_intervals_", None), j),
    }


def _finite(values: np.ndarray | None, j: int) -> Any:
    """A number, or a pair of them; None if it is not known."""
    if values is None or not np.isfinite(values[j]).all():
        return None
    return float(values[j]) if values.ndim == 1 else tuple(values[j].tolist())


def _of_pairs(values: np.ndarray | None, j: int) -> tuple[Any, ...]:
    """A number, or a pair of them, of each pair of views; empty if one of them is not known."""
    if values is None:
        return ()
    found = [_finite(of_pair, j) for of_pair in values]
    return () if None in found else tuple(found)


def _evidence(estimator: Any) -> Evidence:
    p_value = getattr(estimator, "p_value_", None)
    # the cost is measured with weights on all features that are read, of which a sparse rendering has few
    has_cost = hasattr(estimator, "mates_kept_") and "sparse" not in estimator.rendering_
    return Evidence(
        p_value=None if p_value is None or not isfinite(p_value) else float(p_value),
        verdict=getattr(estimator, "verdict_", None),
        n_folds=getattr(estimator, "n_folds_", None),
        mates_kept=_finite(np.array([estimator.mates_kept_]), 0) if has_cost else None,
        mates_kept_interval=_finite(estimator.mates_kept_interval_[None], 0) if has_cost else None,
    )


def _penalties(estimator: Any, j: int, n_views: int) -> tuple[float | None, ...]:
    if not hasattr(estimator, "mu_"):
        return (None,) * n_views
    found = (estimator.mu_[j], estimator.gamma_[j]) if hasattr(estimator, "gamma_") else estimator.mu_[:, j]
    return tuple(float(value) if isfinite(value) else None for value in found)


def _gap(estimator: Any, j: int) -> float | None:
    """The certificate of a component; rounding can make a gap of zero negative."""
    gaps = getattr(estimator, "dual_gap_", None)
    gap = None if gaps is None else float(np.atleast_2d(gaps)[:, j].max())
    return None if gap is None or not isfinite(gap) else max(0.0, gap)


def _n_samples(estimator: Any, provenance: dict[str, Any]) -> int | None:
    inputs = provenance.get("inputs")
    if inputs:
        return int(inputs[0]["shape"][0])
    on_samples = (w.shape[0] for v, w in enumerate(estimator.weights_) if _weights_on(estimator, v) == "samples")
    return next(on_samples, None)


def _weights_on(estimator: Any, v: int) -> str:
    """What has weights in a view; the coordinates of an approximated kernel are neither features nor samples."""
    if not estimator.are_dual_[v]:
        return "features"
    return "samples" if estimator.kernel_errors_[v] is None else "coordinates"


def _naming(names: np.ndarray | None) -> Callable[[int], str]:
    return (lambda i: f"feature {i + 1}") if names is None else (lambda i: str(names[i]))
