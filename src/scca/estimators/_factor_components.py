"""What `SparseCCA` does with `anchors=None`: components that are shared factors."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from numbers import Integral
from typing import Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._checks import (
    DataWarning,
    EmptyComponentWarning,
    EvidenceWarning,
    Penalty,
    check_choice,
    check_count,
    check_seed,
    check_tolerance,
    check_verbose,
    shown,
    warn,
)
from .._types import MatrixLike
from .._wording import any_setting, setting
from ..factors import (
    FactorFit,
    Factors,
    FactorSettings,
    HeldOut,
    PreparedPair,
    Preparing,
    Scores,
    Sharing,
    can_refit,
    column_products,
    correlations,
    count_shared,
    factor_path,
    find_factors,
    has_many,
    held_out_correlations,
    held_out_scores,
    is_doubtful,
    near_copies,
    needed_share,
    refitted_test,
    scores_of,
    verdict,
)
from ..parallel import blas_threads_for
from ..progress import from_checkpoint, preview, report
from ..samples import Groups, Pairs
from ..solver import ALGORITHMS, DEFAULT_MAX_ITER
from ..views import Compressed, Projector, Scale, View
from ._base import MOST_COMPONENTS, PairedTransformer, in_types

__all__ = ["FactorComponents", "models_of_path", "refuse_without_factors"]

logger = logging.getLogger(__name__)

_VIEWS = ("X", "Y")
_PREVIEWED = 3  # components that are shown before all are rendered
_USUAL_EFFORT = {"tol": 1e-6, "max_iter": DEFAULT_MAX_ITER}
_MOSTLY = 0.5  # share of samples with a near copy above which these are named in any case
_MOST_WEIGHTS = 100  # of a factor: more are too many to read
_RIDGE = 0.25  # of the factors, for samples of unit norm
_RIDGE_PAIRS = 10_000  # more pairs have more rare features, which a fixed ridge would turn into factors of few samples


class FactorComponents(PairedTransformer):
    """The part of `SparseCCA` that fits shared factors; its docstring describes the method."""

    _chooses_features = True

    def _fit_factors(self, pair: PreparedPair, settings: FactorSettings) -> Self:
        settings = _fitted_to(pair, settings)
        sharing = self._sharing(pair, settings) if self.held_out != 0 or self._components_asked() is None else None
        n_components = self.count_components(pair, sharing)
        with blas_threads_for(*(view.n_stored for view in pair.views.values())):
            found = find_factors(pair.views, n_components, settings)
            preview(partial(_first_components, pair, found, settings))
            fit = next(factor_path(pair.views, pair.samples, found, [settings]))
            summary, n_found = _summary(pair, fit), fit.scores.shape[1]
        del fit  # its views take as much memory as the data, and the folds need it
        for samples in pair.samples.values():
            if isinstance(samples, Compressed):
                samples.forget_columns()  # the folds are some of the rows
        return self._keep(pair, summary, n_components, self._held_out(pair, settings, n_found, sharing))

    def _keep(
        self, pair: PreparedPair, summary: "_Summary", n_components: int, held_out: HeldOut | None = None
    ) -> Self:
        """Store the result of a fit, and warn of its problems."""
        found = len(summary.converged)
        if found < n_components:
            warn(
                f"the views share {found} of {setting('n_components', n_components)} factors; set "
                f"{setting('n_components', found)}.",
                ConvergenceWarning,
            )
        if not summary.factors_converged:
            remedy = f"ask for fewer components, or raise {setting('ridge')}"
            warn(f"the factors did not converge; {remedy}.", ConvergenceWarning)
        for sentence in summary.unsolved:
            warn(sentence, ConvergenceWarning)
        empty = sum(not all(weights[:, j].any() for weights in summary.weights) for j in range(found))
        if empty:
            penalties = any_setting("mu", "gamma") if self._dual_views else setting("mu")
            warn(
                f"{empty} of {found} components have no weight in one of the views; lower {penalties}.",
                EmptyComponentWarning,
            )
        if self._components_asked() is None and found == MOST_COMPONENTS:
            warn(
                f"{setting('n_components', 'auto')} stopped at {found}, the most that it looks for, and the pairs may "
                f"share more; give {setting('n_components')} as a number to have more.",
                DataWarning,
            )
        if held_out is not None and is_doubtful(held_out.p_value):
            warn(verdict(held_out.p_value, pair.groups), EvidenceWarning)

        self._begin(pair, summary.projectors, summary.weights)
        for name, values in summary.attributes.items():
            setattr(self, name, values)
        self.converged_ = summary.converged
        if self._dual_views:
            self.gamma_ = self.mu_[["XY".index(name) for name in self._dual_views]]
        self._log()
        if held_out is not None:
            self.held_out_correlations_, self.held_out_intervals_ = held_out.correlations, held_out.intervals
            self.n_folds_ = held_out.n_folds
            self.p_value_, self.verdict_ = held_out.p_value, verdict(held_out.p_value, pair.groups)
        return self

    @property
    def _sums_suffice(self) -> bool:
        return self.anchors is None and not self._dual_views

    def _log(self) -> None:
        level = logging.INFO if self.verbose else logging.DEBUG
        for j in range(self.n_components_):
            logger.log(
                level,
                "component %d: %d and %d weights, correlation %.4f, gap %.1e",
                *(j + 1, np.count_nonzero(self.x_weights_[:, j]), np.count_nonzero(self.y_weights_[:, j])),
                *(self.correlations_[j], self.dual_gap_[:, j].max()),
            )

    def _read_features(
        self, X: MatrixLike, Y: MatrixLike, n_components: int, preparing: Preparing
    ) -> int | float | None:
        automatic = isinstance(self.n_features, str)
        sparse = self.anchors is None and len(self._dense_views) < len(_VIEWS) and not self._dual_views
        if not automatic or not sparse or self.feature_weights is None:
            return super()._read_features(X, Y, n_components, preparing)
        # always with the automatic ridge, so that models with other ridges use the same features
        settings = replace(self._check_factor_settings(), dense=_VIEWS, ridge=_RIDGE)
        return needed_share(X, Y, preparing, n_components, settings)

    def _preparing(self, scales: Mapping[str, Scale]) -> Preparing:
        return replace(super()._preparing(scales), as_they_are=self._meaningless)

    def _scale_of(self, data: MatrixLike, name: str) -> Scale:
        """As for other estimators; columns that mean nothing by themselves, such as an encoder's, stay as they are."""
        if name in self._meaningless and self._scales_asked()[name] == "auto":
            return "rows"
        return super()._scale_of(data, name)

    @property
    def _meaningless(self) -> tuple[str, ...]:
        """The view whose single features mean nothing: the dense one beside a sparse one."""
        return self._dense_views if self.anchors is None and len(self._dense_views) == 1 else ()

    @property
    def _dense_views(self) -> tuple[str, ...]:
        """The views that have weights on all features."""
        asked = self.rendering
        pair = asked if isinstance(asked, tuple | list) and len(asked) == len(_VIEWS) else (asked,) * len(_VIEWS)
        for each in pair:
            check_choice(each, "rendering", ("sparse", "dense"))
        return tuple(name for name, each in zip(_VIEWS, pair, strict=True) if each == "dense")

    def _folds_asked(self) -> int | None:
        """The requested number of folds; None for as many as the pairs and time allow."""
        if isinstance(self.held_out, str) and self.held_out == "auto":
            return None
        folds = self.held_out
        if isinstance(folds, bool) or not isinstance(folds, Integral) or folds < 0 or folds == 1:
            raise ValueError(
                f'held_out must be "auto", 0 or an integer of at least 2; got {shown(folds)}: pass 2 or more folds, '
                "since each is left out of a fit to the others, or 0 to leave nothing out."
            )
        return int(folds)

    def _sharing(self, pair: PreparedPair, settings: FactorSettings) -> Sharing | None:
        """The test whether the pairs share anything; None if there are too many for it."""
        if not can_refit(pair.groups, [view.shape for view in pair.views.values()]):
            return None
        preparing = self._preparing(pair.scales)
        views = [preparing.unweighted(samples, name) for name, samples in pair.samples.items()]
        ridges = [settings.ridge_of(view) for view in views]
        found = refitted_test(views, ridges, pair.groups, self._draws())
        if found is None or is_doubtful(found.p_value) or pair.groups.labels is not None:
            return found
        if (copies := near_copies(views)) is not None:
            groups, share = copies
            together = refitted_test(views, ridges, groups, self._draws())
            self._warn_of_copies(groups, share, np.nan if together is None else together.p_value)
        return found

    def _warn_of_copies(self, groups: Groups, share: float, p_value: float) -> None:
        """Near copies are named if most samples are, or if the pairs share nothing once copies stay together."""
        changed = is_doubtful(p_value)
        if not changed and share <= _MOSTLY:
            return
        result = f"and with copies left out together the pairs no longer share more than chance (p = {p_value:.2g})"
        warn(
            f"{share:.0%} of the {groups.n} samples have a near copy among the others, in both views"
            f"{', ' + result if changed else ''}; correlations on pairs left out are then too large: pass "
            f"{setting('groups')}, which names the samples that belong together.",
            EvidenceWarning,
        )

    def _held_out(
        self, pair: PreparedPair, settings: FactorSettings, n_components: int, sharing: Sharing | None
    ) -> HeldOut | None:
        if self.held_out == 0:
            return None
        model = clone(self).set_params(  # fewer pairs, fewer factors; the scaling is that of the fit
            n_components="auto", n_features=pair.n_features, scale=tuple(pair.scales.values())
        )
        pairs = self._pairs(pair)
        # scores of several folds are pooled; those of the single fold of many pairs need not be comparable
        scores = partial(held_out_scores, model, settings, n_components, True, not has_many(len(pairs)))
        found = held_out_correlations(
            *(scores, pairs, n_components, self._folds_asked(), self.n_jobs, self._draws()), sharing is None
        )
        return found if sharing is None else replace(found, p_value=sharing.p_value)

    def count_components(self, pair: PreparedPair, sharing: Sharing | None = None) -> int:
        """The requested number of components or, if "auto", the number of factors that hold on pairs left out.

        Counted with dense weights and without feature weights, since it is factors that are counted, not their
        renderings. At most half as many as there are pairs, or groups of them.
        """
        asked = self._components_asked()
        if asked is not None:
            return asked
        settings = replace(_fitted_to(pair, self._check_factor_settings()), dense=_VIEWS)
        sharing = sharing or self._sharing(pair, settings)
        model = clone(self).set_params(feature_weights=None, n_features=None, scale=tuple(pair.scales.values()))
        most = max(1, min(pair.n_components, pair.groups.n_groups // 2))
        scores = partial(held_out_scores, model, settings, most, False, sharing is not None)
        return count_shared(scores, self._pairs(pair), sharing, self._draws())

    def _pairs(self, pair: PreparedPair) -> Pairs:
        kernels = tuple(name for name in "XY" if self._is_precomputed(name))
        X, Y = (data.rows if isinstance(data, Compressed) else data for data in (pair.samples["X"], pair.samples["Y"]))
        return Pairs(X, Y, kernels, groups=pair.groups)

    def _draws(self) -> np.random.RandomState:
        """The generator that draws the pairs left out; without a seed, the same ones in every fit."""
        return check_random_state(0 if self.random_state is None else self.random_state)

    def _components_asked(self) -> int | None:
        if isinstance(self.n_components, str) and self.n_components == "auto":
            if self.anchors is None:
                return None
            raise ValueError(
                'n_components="auto" is for shared factors; got it with anchors: give a number, or leave anchors out.'
            )
        return super()._components_asked()

    def _check_factor_settings(self) -> FactorSettings:
        self._check_weighting()
        self._folds_asked()
        dense = self._dense_views
        for name, of_dual, what in (("mu", False, "features"), ("gamma", True, "samples")):
            some = any((view in self._dual_views) == of_dual for view in _VIEWS if view not in dense)
            if isinstance(value := getattr(self, name), str) and value == "auto":
                continue
            if len(dense) == len(_VIEWS):
                raise ValueError(f'{name} is for rendering="sparse"; got {shown(value)} with "dense": drop it.')
            if not some:
                raise ValueError(f"{name} is for weights on {what}, which no view has; got {shown(value)}: drop it.")
        effort = {
            "tol": check_tolerance(self.tol),
            "max_iter": check_count(self.max_iter, "max_iter"),
        }
        check_choice(self.algorithm, "algorithm", tuple(ALGORITHMS))
        if self.algorithm != "working-set":
            raise ValueError(
                f"algorithm is for anchored components; got {shown(self.algorithm)} without anchors: drop it."
            )
        for name, usual in _USUAL_EFFORT.items() if len(dense) == len(_VIEWS) else ():
            if effort[name] != usual:
                raise ValueError(
                    f'{name} is for rendering="sparse"; got {shown(effort[name])} with "dense": leave it at {usual!r}.'
                )
        check_seed(self.random_state)
        check_verbose(self.verbose)
        ridge = Penalty.parse(self.ridge, "ridge", zero_allowed=False)
        return FactorSettings(
            ridge=_RIDGE * ridge.factor if ridge.value is None else ridge.value,
            ridge_is_automatic=ridge.value is None,
            mu=Penalty.parse(self.mu, "mu", zero_allowed=False),
            gamma=Penalty.parse(self.gamma, "gamma", zero_allowed=False),
            most=_MOST_WEIGHTS,
            dense=dense,
            effort=effort,
        )


def models_of_path(models: "Sequence[FactorComponents]", pair: PreparedPair) -> "Iterator[FactorComponents]":
    """Copies of the models, each fitted to all of the same pairs, one in memory at a time.

    Consecutive models with the same ridge share the factors, and each penalty starts from the previous solution.
    """
    threads = blas_threads_for(*(view.n_stored for view in pair.views.values()))
    asked = [(model, _fitted_to(pair, model._check_factor_settings())) for model in models]
    for (n_components, _), same in groupby(asked, key=lambda each: (each[0]._components_asked(), each[1].ridge)):
        row = list(same)
        with threads:
            found = find_factors(pair.views, n_components, row[0][1])
        path = factor_path(pair.views, pair.samples, found, [settings for _, settings in row])
        for model, _ in row:
            with threads:
                summary = _summary(pair, next(path))
            yield clone(model)._keep(pair, summary, n_components)


@dataclass(frozen=True, eq=False)
class _Summary:
    """What a model keeps of a fit: weights and projectors of X and Y, and attributes of the components."""

    projectors: Mapping[str, Projector]
    weights: Sequence[np.ndarray]
    attributes: Mapping[str, np.ndarray]
    converged: np.ndarray
    factors_converged: bool
    unsolved: Sequence[str]  # a sentence for each view whose weights are not precise


def _summary(pair: PreparedPair, fit: FactorFit) -> _Summary:
    x, y = fit.renderings["X"], fit.renderings["Y"]
    weights = in_types((x.weights, y.weights), pair)

    def measure() -> dict[str, np.ndarray]:
        report("loadings", 0, 1)
        x_loadings, y_loadings = in_types(_loadings(list(pair.views.values()), fit.scores), pair)
        cosines = _cosines(scores_of([x.view], [x.weights]), scores_of([y.view], [y.weights]))
        return {"correlations_": cosines, "x_loadings_": x_loadings, "y_loadings_": y_loadings}

    attributes = {
        f"{name}_": np.array([getattr(rendering, name) for rendering in (x, y)])
        for name in ("mu", "objective", "dual_gap", "n_passes")
    }
    return _Summary(
        projectors={name: r.view.projector(w) for (name, r), w in zip(fit.renderings.items(), weights, strict=True)},
        weights=weights,
        attributes=attributes
        | {
            "n_iter_": np.maximum(1, np.maximum(x.n_iter, y.n_iter)),  # scikit-learn requires at least one
        }
        | from_checkpoint("measures", measure, lambda found: found, dict),
        converged=x.converged & y.converged & fit.converged,
        factors_converged=fit.converged,
        unsolved=[rendering.unsolved for rendering in (x, y) if rendering.unsolved],
    )


def _first_components(pair: PreparedPair, found: Factors, settings: FactorSettings) -> tuple[np.ndarray, ...]:
    """Weights and loadings of the strongest factors, rendered alone: what all are takes longer."""
    c = found.scores.shape[1]
    first = replace(found, scores=found.scores @ np.eye(c, min(c, _PREVIEWED)))
    summary = _summary(pair, next(factor_path(pair.views, pair.samples, first, [settings])))
    return *summary.weights, summary.attributes["x_loadings_"], summary.attributes["y_loadings_"]


def _fitted_to(pair: PreparedPair, settings: FactorSettings) -> FactorSettings:
    """The settings adapted to the number of pairs and features."""
    if pair.n_features is None:  # features were not selected beforehand: a factor needs more of them
        settings = replace(settings, most=2 * settings.most)
    if settings.ridge_is_automatic:
        factor = settings.ridge / _RIDGE
        settings = replace(settings, ridge=factor * _automatic_ridge(pair.views["X"].shape[0]))
    return settings


def _automatic_ridge(n_samples: int) -> float:
    """Proportional to the number of samples if there are many, so that each factor concerns enough of them."""
    return _RIDGE * max(1.0, n_samples / _RIDGE_PAIRS)


def refuse_without_factors(model: PairedTransformer) -> None:
    """Raise ValueError if a parameter of shared factors is set for anchored components."""
    for name, unset in (("rendering", ("sparse",)), ("ridge", ("auto",)), ("held_out", ("auto", 0))):
        value = getattr(model, name)
        if isinstance(value, bool) or not any(type(value) is type(each) and value == each for each in unset):
            raise ValueError(
                f"{name} is for shared factors; got {shown(value)} with anchors: leave it at {unset[0]!r}."
            )


def _cosines(A: Scores, B: Scores) -> np.ndarray:
    norms = np.sqrt(column_products(A, A) * column_products(B, B))
    return column_products(A, B) / np.where(norms > 0, norms, 1.0)


def _loadings(views: Sequence[View], scores: Scores) -> list[np.ndarray]:
    """Cosine of every prepared coordinate of each view with each factor."""
    norms = [np.sqrt(view.square_norms()) for view in views]
    return [
        found / np.where(norm > 0, norm, 1.0)[:, None]
        for found, norm in zip(correlations(views, scores), norms, strict=True)
    ]
