"""What was learnt and how far to trust it, as frozen plain values that JSON holds without loss."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from math import isfinite
from types import UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from .._checks import shown

__all__ = [
    "SCHEMA",
    "LearntComponent",
    "ComponentView",
    "Evidence",
    "Feature",
    "Result",
    "ResultError",
    "Sample",
    "LearntView",
]

SCHEMA = "scca-result/1"


class ResultError(ValueError):
    """JSON that is no result of this schema."""


@dataclass(frozen=True)
class Feature:
    """A feature of a component.

    Attributes
    ----------
    name : str
    weight : float
        What scores are computed from.
    loading : float or None
        Cosine with the shared factor, times the factor's length: what the component is about. None for anchored
        components.
    index : int
        The column of the feature, counted from 0.
    drawing : str or None
        The feature as SVG, where its kind draws features.
    """

    name: str
    weight: float
    loading: float | None
    index: int
    drawing: str | None = None


@dataclass(frozen=True)
class Sample:
    """A training sample of a component.

    Attributes
    ----------
    index : int
        Which sample, counted from 0.
    score : float
        Its score in this view, or its weight: `ComponentView.samples_by` says which.
    name : str or None
        How the sample is shown: its text, or the label of its row; None if that was not stored.
    """

    index: int
    score: float
    name: str | None = None


@dataclass(frozen=True)
class ComponentView:
    """A component in one view.

    Attributes
    ----------
    n_weights : int
        Number of features (of samples, in a view with weights on samples) with a weight.
    n_shown : int
        Number of those that represent the component to a reader: all of them or, where every component weighs all
        features that are read, those that an elastic net selects for this component.
    features : tuple of Feature
        The strongest features of these: by loading, or by weight where there are no loadings.
    samples : tuple of Sample
        The strongest training samples. Of a shared factor, they are those with the largest mean score of all views, the
        same ones and in the same order in every view.
    samples_by : {"score", "weight"}
        What samples are ordered by: their scores, or in anchored components, and in views of an estimator with a
        kernel, their weights.
    """

    n_weights: int
    n_shown: int
    features: tuple[Feature, ...]
    samples: tuple[Sample, ...]
    samples_by: str


@dataclass(frozen=True)
class LearntComponent:
    """A component.

    Attributes
    ----------
    number : int
        From 0, the strongest first.
    correlation : float
        Cosine of the training scores, mean over all pairs of views.
    held_out_correlation : float or None
    held_out_interval : tuple of two floats, or None
        The correlation that the component of this rank, in a fit to about this many samples, reaches on new samples,
        and its 95 % confidence interval; None if no samples were left out.
    pair_correlations, held_out_pair_correlations, held_out_pair_intervals : tuples in the order of `Result.pairs`
        The same for each pair of views; empty if nothing is known.
    penalties : tuple of float or None
        By view, the l1 penalty; None where there is none, or where it is infinite.
    dual_gap : float or None
        The certificate: the largest duality gap of the views, absolute; None if nothing was certified.
    anchor : int or None
        The anchor of an anchored component.
    views : tuple of ComponentView
    """

    number: int
    correlation: float
    held_out_correlation: float | None
    held_out_interval: tuple[float, float] | None
    pair_correlations: tuple[float, ...]
    held_out_pair_correlations: tuple[float, ...]
    held_out_pair_intervals: tuple[tuple[float, float], ...]
    penalties: tuple[float | None, ...]
    dual_gap: float | None
    anchor: int | None
    views: tuple[ComponentView, ...]


@dataclass(frozen=True)
class LearntView:
    """A view.

    Attributes
    ----------
    name, kind : str
        Its name; what it is made of, such as "text", "table", "matrix" or "kernel".
    unit, units : str
        What a feature is called: "word", "words".
    sample, samples : str
        What a sample is called: "document", "documents".
    n_features : int
        Number of features that the view has.
    weights_on : {"features", "samples", "coordinates"}
        What has weights: with a kernel the samples, with an approximated kernel its coordinates.
    used : tuple of int
        Number of different features (or samples) with a weight in the first 1, 2, ... components.
    rendering : {"sparse", "joint", "dense"} or None
        Whether a component weighs few features, all that the model reads, or all; None for other methods.
    """

    name: str
    kind: str
    unit: str
    units: str
    sample: str
    samples: str
    n_features: int
    weights_on: str
    used: tuple[int, ...]
    rendering: str | None = None

    @property
    def is_text(self) -> bool:
        return self.kind == "text"

    @property
    def weighted(self) -> tuple[str, str]:
        """What has weights, in the singular and in the plural."""
        if self.weights_on == "coordinates":
            return "coordinate", "coordinates"
        return (self.sample, self.samples) if self.weights_on == "samples" else (self.unit, self.units)


@dataclass(frozen=True)
class Evidence:
    """How far to trust what was learnt.

    Attributes
    ----------
    p_value : float or None
        Of the test that the views share no more than chance.
    verdict : str or None
        The result of the test in a sentence.
    n_folds : int or None
        Number of fits to a part of the samples.
    mates_kept : float or None
        The average precision of finding the mates of samples left out with the features that are read, relative to
        that with all features; None if it is not known, as of a view whose components weigh few of those.
    mates_kept_interval : tuple of two floats, or None
        For `mates_kept`, at a level of 0.95.
    """

    p_value: float | None = None
    verdict: str | None = None
    n_folds: int | None = None
    mates_kept: float | None = None
    mates_kept_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Result:
    """What a fit learnt and how far to trust it.

    Attributes
    ----------
    method : str
        The class of the estimator.
    n_samples : int or None
        Number of training samples.
    views : tuple of LearntView
    pairs : tuple of two ints
        All pairs of views, by number.
    components : tuple of LearntComponent
    evidence : Evidence
    largest_gap : float or None
        The largest duality gap of all components.
    provenance : dict
        Where the result comes from: `versions`; `inputs`, with the shape and a digest of each view; `settings`; `seed`.
    withheld : bool
        Whether names of samples, such as documents, were left out on purpose.
    schema : str
    """

    method: str
    n_samples: int | None
    views: tuple[LearntView, ...]
    pairs: tuple[tuple[int, int], ...]
    components: tuple[LearntComponent, ...]
    evidence: Evidence
    largest_gap: float | None
    provenance: dict[str, Any] = field(default_factory=dict)
    withheld: bool = False
    schema: str = SCHEMA

    @property
    def has_factors(self) -> bool:
        """Whether components are shared factors, not anchored ones."""
        return all(component.anchor is None for component in self.components)

    @property
    def text_views(self) -> tuple[LearntView, ...]:
        return tuple(view for view in self.views if view.is_text)

    def shortened(self, top: int | None) -> "Result":
        """The same with at most `top` features and samples of a component in a view."""
        return self._with_views(lambda view: replace(view, features=view.features[:top], samples=view.samples[:top]))

    def without_names(self) -> "Result":
        """The same without the names of samples, such as documents."""

        def unnamed(view: ComponentView) -> ComponentView:
            return replace(view, samples=tuple(replace(sample, name=None) for sample in view.samples))

        return replace(self._with_views(unnamed), withheld=True)

    def _with_views(self, change: Callable[[ComponentView], ComponentView]) -> "Result":
        components = (replace(each, views=tuple(map(change, each.views))) for each in self.components)
        return replace(self, components=tuple(components))

    def to_dict(self) -> dict[str, Any]:
        """The result as dictionaries, lists, texts and numbers."""
        return asdict(self)

    def to_json(self, *, indent: int | None = None) -> str:
        """The result as JSON, which `from_json` reads back without loss."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> "Result":
        """The result that `to_json` wrote."""
        try:
            content = json.loads(text, parse_constant=_no_number, parse_float=_finite)
        except RecursionError as error:
            raise ResultError("this JSON has too many levels; pass what to_json wrote.") from error
        except (TypeError, ValueError) as error:
            raise ResultError(f"this is no JSON ({error}); pass what to_json wrote.") from error
        schema = content.get("schema") if isinstance(content, dict) else None
        if schema != SCHEMA:
            raise ResultError(f"a result must have the schema {SCHEMA}; got {shown(schema)}: read it with its version.")
        found: Result = _read(cls, content, "the result")
        _check_numbers(found)
        return found


def _no_number(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is no number of JSON")


def _finite(literal: str) -> float:
    value = float(literal)
    return value if isfinite(value) else _no_number(literal)


def _check_numbers(result: Result) -> None:
    """Refuse a result whose parts are not of the same views and components."""
    n_views, n_pairs, n_components = len(result.views), len(result.pairs), len(result.components)
    expected = [
        ("used features of a view", n_components, [len(view.used) for view in result.views]),
        ("views of a component", n_views, [len(each.views) for each in result.components]),
        ("penalties of a component", n_views, [len(each.penalties) for each in result.components]),
    ]
    for name in ("pair_correlations", "held_out_pair_correlations", "held_out_pair_intervals"):
        found = [len(known) for each in result.components if (known := getattr(each, name))]
        expected.append((f"{name} of a component", n_pairs, found))
    for name, count, counts in expected:
        wrong = next((each for each in counts if each != count), None)
        if wrong is not None:
            raise ResultError(f"the {name} must be {count}; got {wrong}: pass what to_json wrote.")
    unknown = [pair for pair in result.pairs if not all(0 <= v < n_views for v in pair)]
    if unknown:
        raise ResultError(f"pairs must be of {n_views} views; got {shown(unknown[0])}: pass what to_json wrote.")


def _read(kind: Any, value: Any, place: str) -> Any:
    """A JSON value as the type that a field has."""
    if isinstance(kind, type) and is_dataclass(kind):
        if not isinstance(value, dict):
            raise ResultError(f"{place} must be an object; got {shown(value)}.")
        hints, names = get_type_hints(kind), [each.name for each in fields(kind)]
        if set(value) != set(names):
            wrong = sorted(set(value) ^ set(names))
            raise ResultError(f"{place} must have the fields {', '.join(names)}; {shown(wrong[0])} is amiss.")
        return kind(**{name: _read(hints[name], value[name], f"{name} of {place}") for name in names})
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        return _read(next(part for part in parts if part is not type(None)), value, place)
    if origin is tuple:
        if not isinstance(value, list):
            raise ResultError(f"{place} must be a list; got {shown(value)}.")
        if parts[-1] is Ellipsis:
            return tuple(_read(parts[0], each, place) for each in value)
        if len(value) != len(parts):
            raise ResultError(f"{place} must have {len(parts)} values; got {len(value)}.")
        return tuple(_read(part, each, place) for part, each in zip(parts, value, strict=True))
    expected = origin or kind
    if expected is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
        raise ResultError(f"{place} must be of type {expected.__name__}; got {shown(value)}.")
    return value
