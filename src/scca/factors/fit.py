"""The method from top to bottom: what is learnt from the views of the same samples, and how far to trust it.

A fit takes these steps, each a function from one frozen value to the next, for two views or more:

    prepare     how samples are read: how much each feature counts, centred and scaled             prepare.py
    choose      the features that are read: as few as lose nothing on samples left out             choose.py
    find        the factors: scores that all views predict best                                    find.py, large.py
    rotate      the factors to simple structure                                                    find.py
    select      few features of every view for each factor, by certified elastic nets              selection.py
    refit       the weights of these features, or of all that are read                             refit.py
    count       how many factors hold on samples left out                                          chance.py
    hold out    what to expect of every component on new samples                                   hold_out.py

Folds, cross-validation, permutations, subsamples and the cluster call the same functions on other rows. The constants
of all steps stand in constants.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, groupby

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from .._checks import EvidenceWarning, NothingSharedError, warn
from .._wording import setting
from ..parallel import blas_threads_for, one_blas_thread
from ..progress import Stage, from_checkpoint, preview, report
from ..samples import AllBut, Groups, Views, remote_blocks_of
from ..solver import ComponentResult
from ..views import PreparedView, Projector
from . import constants
from .chance import (
    Sharing,
    can_refit,
    count_before_chance,
    count_from,
    is_doubtful,
    mean_associations,
    near_copies,
    p_values,
    refitted_test,
)
from .choose import Choice, cost_of, fewer_features, nested_features
from .find import Rotation, SharedFactors, ridge_of, simple_structure
from .hold_out import HeldOut, has_many, held_out_correlations, leave_out, scores_of_split
from .large import leading_factors
from .prepare import Prepared, prepare
from .products import Scores, column_products, correlations, scores_of
from .refit import SCORING, WEIGHING, Rendering, dense_rendering, refit
from .selection import Selection, results_as_arrays, results_of_arrays
from .settings import Settings

__all__ = ["Factors", "Fit", "count_components", "fit", "fit_path", "fit_prepared", "prepare_chosen", "prepare_nested"]

_N_PREVIEWED = 3  # number of components that are shown before the features of all are selected
_SELECTION_TIME = 1.4  # approximate time to select the features of a view, relative to fitting their weights
_SEED = 0


@dataclass(frozen=True, eq=False)
class Fit:
    """What is learnt from the views; every list has one entry per view, every array one column or entry per component.

    Attributes
    ----------
    weights, loadings : list of ndarray of shape (coordinates, c)
        Weights that give a score; cosine of every prepared coordinate with each factor, times the factor's length.
    projectors : list of Projector
        Functions from new samples to scores.
    certificates : dict of ndarray of shape (views, c)
        `mu`, `objective`, `dual_gap`, `n_passes` of selecting and refitting.
    n_iter : ndarray of int of shape (c,)
    correlations : ndarray of shape (c,)
        Cosine of the views' training scores; of more than two views, the mean over pairs.
    pair_correlations : ndarray of shape (pairs, c)
        The same for each pair of views.
    converged : ndarray of bool of shape (c,)
    n_asked : int
        Number of components that were asked for, or counted.
    factors_converged : bool
    unsolved : list of str
        A sentence for each view whose weights are not precise.
    renderings : list of str
        "sparse", "joint" or "dense".
    shown : list of sparse array of shape (coordinates, c), or None
        Which features of a joint view represent a factor to a reader; None for those with weights.
    held_out : HeldOut or None
    prepared : Prepared
    """

    weights: list[np.ndarray]
    loadings: list[np.ndarray]
    projectors: list[Projector]
    certificates: dict[str, np.ndarray]
    n_iter: np.ndarray
    correlations: np.ndarray
    pair_correlations: np.ndarray
    converged: np.ndarray
    n_asked: int
    factors_converged: bool
    unsolved: list[str]
    renderings: list[str]
    shown: list[sp.csr_array | None]
    prepared: Prepared
    held_out: HeldOut | None = None


@dataclass(frozen=True, eq=False)
class Factors:
    """Factors T (n x c), how well the views share each unrotated one (sigma), and A_v'T of every view once rotated."""

    scores: Scores
    values: np.ndarray
    converged: bool
    correlations: Sequence[np.ndarray] = ()


# --- the whole --------------------------------------------------------------------------------------------------------


def fit(given: Views, settings: Settings) -> Fit:
    """Take all steps for checked views."""
    return fit_prepared(prepare_chosen(given, settings), settings)


def prepare_chosen(given: Views, settings: Settings, first: PreparedView | None = None) -> Prepared:
    """The views with the features that the settings ask for, or with as few as lose nothing on samples left out.

    `first` is the unweighted first view of the same samples, if it is known. A number of components that is counted is
    counted first, with all features, since features are chosen for all factors together.
    """
    settings = replace(settings, reading=settings.reading.decided(given))
    report("preparing", 0, 1)
    prepared = prepare(given, settings.reading, first)
    whole = _adapted(settings, prepared)
    asked = settings.n_features
    if asked is None or not any(_are_chosen(settings)):
        return prepared
    sharing = _sharing(prepared, whole) if settings.is_counted else None
    choice = _choice(replace(whole, n_components=_count(prepared, whole, sharing)))
    cost = None
    if isinstance(asked, str) or settings.n_folds != 0:
        with blas_threads_for(*(view.n_stored for view in prepared.views)):
            cost = cost_of(given, settings.reading, None if isinstance(asked, str) else asked, choice)
    if isinstance(asked, str):
        asked = cost.share if cost is not None and cost.share < 1.0 else None
    with blas_threads_for(*(view.n_stored for view in prepared.views)):
        prepared = fewer_features(prepared, asked, choice)
    return replace(prepared, cost=cost, share=asked, sharing=sharing, n_counted=choice.n_components)


def prepare_nested(
    given: Views, settings: Settings, shares: Sequence[float], through: float = 1.0
) -> Iterator[Prepared]:
    """The views with ever fewer features, those of each share, largest first; see `nested_features`."""
    settings = replace(settings, reading=settings.reading.decided(given))
    prepared = prepare(given, settings.reading)
    yield from nested_features(prepared, shares, _choice(_adapted(settings, prepared)), through)


def _are_chosen(settings: Settings) -> tuple[bool, ...]:
    """The views of which only some features may be read."""
    free = isinstance(settings.n_features, str)
    return tuple(
        kernel is None and not meaningless and not (free and rendering == "dense")
        for kernel, meaningless, rendering in zip(
            settings.reading.kernels, settings.reading.meaningless, settings.renderings, strict=True
        )
    )


def _choice(settings: Settings) -> Choice:
    chosen = _are_chosen(settings)
    few = all(rendering != "sparse" for rendering, one in zip(settings.renderings, chosen, strict=True) if one)
    return Choice(settings.n_components, partial(ridge_of, settings), chosen, few)


def fit_prepared(prepared: Prepared, settings: Settings) -> Fit:
    """All steps after preparing."""
    settings = _adapted(settings, prepared)
    sharing = prepared.sharing
    if sharing is None and (settings.n_folds != 0 or settings.is_counted):
        sharing = _sharing(prepared, settings)
    n_components = _count(prepared, settings, sharing)
    found = _learn(prepared, n_components, settings)
    prepared.forget_columns()  # the folds need their memory
    return replace(found, held_out=_hold_out(prepared, settings, len(found.converged), sharing))


def _learn(prepared: Prepared, n_components: int, settings: Settings) -> Fit:
    """Learn weights from prepared views; the memory that all samples need is free afterwards."""
    with blas_threads_for(*(view.n_stored for view in prepared.views)):
        factors = rotate(prepared, find(prepared, n_components, settings), settings)
        preview(lambda: [each[:, :_N_PREVIEWED] for each in _loadings(prepared.views, factors)])
        return _result(prepared, factors, render(prepared, factors, settings, {}), n_components)


def fit_path(prepared: Prepared, path: Sequence[Settings]) -> Iterator[Fit]:
    """Fits to the same prepared views with different penalties, without evidence; one fit is in memory at a time.

    Consecutive settings with the same ridge share the factors, and each penalty starts from the previous solution, so
    that decreasing penalties are fastest.
    """
    threads = blas_threads_for(*(view.n_stored for view in prepared.views))
    adapted = [_adapted(settings, prepared) for settings in path]
    for (n_components, _), same in groupby(adapted, key=lambda each: (each.n_components, each.ridge)):
        row = list(same)
        with threads:
            factors = rotate(prepared, find(prepared, n_components, row[0]), row[0])
        selections: dict[int, Selection] = {}
        for settings in row:
            with threads:
                found = _result(prepared, factors, render(prepared, factors, settings, selections), n_components)
            yield found


def _adapted(settings: Settings, prepared: Prepared) -> Settings:
    """The settings adapted to the number of samples and features."""
    read, whole = prepared.n_read, replace(prepared, kept=(None,) * len(prepared.views)).n_read
    share = sum(read) / max(sum(whole), 1)  # without a selection beforehand, a factor needs more features
    settings = replace(settings, most_weights=round((1.0 + share) * settings.most_weights))
    if settings.ridge_is_automatic:  # proportional to the number of samples if there are many
        growth = max(1.0, len(prepared.given) / constants.RIDGE_SAMPLES)
        settings = replace(settings, ridge=settings.ridge * growth)
    return replace(settings, reading=prepared.reading).decided(prepared.reading.scales)


# --- find, rotate, select, refit --------------------------------------------------------------------------------------


def find(prepared: Prepared, n_components: int, settings: Settings) -> Factors:
    """Factors of the views as regularised CCA orders them, each as long as the views share it (sigma)."""
    views = prepared.views
    found = from_checkpoint(
        "factors",
        lambda: leading_factors(views, n_components, [ridge_of(settings, view) for view in views]),
        SharedFactors.arrays,
        lambda stored: SharedFactors.of_arrays(stored, views),
    )
    if not len(found.values):
        names = " and ".join([", ".join(prepared.given.names[:-1]), prepared.given.names[-1]])
        raise NothingSharedError(f"{names} have nothing in common: no score is predicted by all; check the pairing.")
    # scaled so that the strongest factors count most when scores are compared
    return Factors(found.scores * found.values, found.values, bool(found.converged.all()))


def rotate(prepared: Prepared, factors: Factors, settings: Settings) -> Factors:
    """The factors in simple structure, strongest first; views with sparse weights, if any, decide the rotation."""
    with one_blas_thread():  # the same order of sums for any number of threads
        found = correlations(prepared.views, factors.scores)
    read = [v for v, dense in enumerate(settings.dense) if not dense] or list(range(len(found)))
    rotation = from_checkpoint(
        "rotation",
        lambda: simple_structure([prepared.views[v] for v in read], [found[v] for v in read], factors.values),
        Rotation.arrays,
        Rotation.of_arrays,
    )
    return Factors(
        scores=factors.scores @ rotation.matrix,
        values=factors.values,
        converged=factors.converged and rotation.converged,
        correlations=[each @ rotation.matrix for each in found],
    )


def render(
    prepared: Prepared, factors: Factors, settings: Settings, selections: dict[int, Selection]
) -> list[Rendering]:
    """The factors in every view: weights on few coordinates, selected and refitted, or on all.

    `selections` are those of earlier fits with other penalties, to start from; this fit adds its own.
    """
    views, names, T = prepared.views, prepared.given.names, factors.scores
    weighed = [v for v, dense in enumerate(settings.dense) if not dense]
    sparse = [v for v in weighed if settings.are_shown or settings.renderings[v] != "joint"]
    dense = {
        v: dense_rendering(names[v], view, T, ridge_of(settings, view))
        for v, view in enumerate(views)
        if settings.dense[v]
    }
    if not weighed:
        return [dense[v] for v in range(len(views))]
    stage = Stage("features", len(sparse) * _SELECTION_TIME + len(weighed) * 2 * WEIGHING + SCORING)
    squares = column_products(T, T)
    selected: dict[int, Sequence[ComponentResult]] = dict.fromkeys(weighed, ())
    for v in sparse:
        with stage.step(_SELECTION_TIME):
            if v not in selections:
                selections[v] = Selection(views[v], factors.correlations[v], squares, settings)
            at = partial(selections[v].at, settings)
            selected[v] = from_checkpoint(f"features of {names[v]}", at, results_as_arrays, results_of_arrays)
    return refit(prepared, T, squares, selected, dense, settings, stage)


def _result(prepared: Prepared, factors: Factors, renderings: Sequence[Rendering], n_asked: int) -> Fit:
    """The result of a fit: its weights, and the measures of every component."""
    weights = prepared.in_dtypes([rendering.weights for rendering in renderings])

    def cosines() -> np.ndarray:
        report("measuring", 0, 1)
        return _cosines([scores_of([rendering.view], [rendering.weights]) for rendering in renderings])

    of_pairs = from_checkpoint("measures", cosines, lambda found: {"values": found}, lambda stored: stored["values"])

    return Fit(
        weights=weights,
        loadings=prepared.in_dtypes(_loadings(prepared.views, factors)),
        projectors=[rendering.view.projector(w) for rendering, w in zip(renderings, weights, strict=True)],
        certificates={
            name: np.array([getattr(rendering, name) for rendering in renderings])
            for name in ("mu", "objective", "dual_gap", "n_passes")
        },
        n_iter=np.maximum(1, np.max([rendering.n_iter for rendering in renderings], axis=0)),  # for scikit-learn
        correlations=of_pairs.mean(axis=0),
        pair_correlations=of_pairs,
        converged=np.logical_and.reduce([rendering.converged for rendering in renderings]) & factors.converged,
        n_asked=n_asked,
        factors_converged=factors.converged,
        unsolved=[rendering.unsolved for rendering in renderings if rendering.unsolved],
        renderings=[
            "joint" if rendering.joint else "sparse" if len(rendering.selected) else "dense" for rendering in renderings
        ],
        shown=[rendering.shown for rendering in renderings],
        prepared=prepared,
    )


def _cosines(scores: Sequence[Scores]) -> np.ndarray:
    """Cosine of the scores of each pair of views, for every component."""
    norms = [np.sqrt(column_products(each, each)) for each in scores]
    cosines = []
    for v, u in combinations(range(len(scores)), 2):
        product = norms[v] * norms[u]
        cosines.append(column_products(scores[v], scores[u]) / np.where(product > 0, product, 1.0))
    return np.array(cosines)


def _loadings(views: Sequence[PreparedView], factors: Factors) -> list[np.ndarray]:
    """Cosine of every prepared coordinate of each view with each factor, times the length of the factor, at most 1.

    The length of a factor is how well the other views predict it: their sum, so that it is divided by their number.
    """
    found = factors.correlations or correlations(views, factors.scores)
    norms = [np.sqrt(view.square_norms()) * (len(views) - 1) for view in views]
    return [each / np.where(norm > 0, norm, 1.0)[:, None] for each, norm in zip(found, norms, strict=True)]


# --- evidence: what is shared, how many factors, how well they hold ---------------------------------------------------


def _draws(settings: Settings) -> np.random.RandomState:
    """The generator that draws the samples left out; without a seed, every fit leaves out the same samples."""
    return check_random_state(0 if settings.random_state is None else settings.random_state)


def _sharing(prepared: Prepared, settings: Settings) -> Sharing | None:
    """The test whether the views share anything; None if there are too many samples for it."""
    views, groups = prepared.unweighted, prepared.groups
    if not can_refit(groups, [view.shape for view in views]):
        return None
    ridges = [ridge_of(settings, view) for view in views]
    found = refitted_test(views, ridges, groups, _draws(settings))
    if found is None or is_doubtful(found.p_value) or groups.labels is not None:
        return found
    if (copies := near_copies(views)) is not None:
        copied, share = copies
        with_copies = refitted_test(views, ridges, copied, _draws(settings))
        _warn_of_copies(copied, share, np.nan if with_copies is None else with_copies.p_value, len(views))
    return found


def _warn_of_copies(groups: Groups, share: float, p_value: float, n_views: int) -> None:
    """Warn of near copies if most samples have one, or if the views share nothing once copies stay together."""
    changed = is_doubtful(p_value)
    if not changed and share <= constants.MOSTLY_COPIES:
        return
    views, samples = ("both", "pairs") if n_views == 2 else ("all", "samples")
    result = f"and with copies left out together the {samples} no longer share more than chance (p = {p_value:.2g})"
    warn(
        f"{share:.0%} of the {groups.n} samples have a near copy among the others, in {views} views"
        f"{', ' + result if changed else ''}; correlations on {samples} left out are then too large: pass "
        f"{setting('groups')}, which names the samples that belong together.",
        EvidenceWarning,
    )


def count_components(prepared: Prepared, settings: Settings) -> int:
    """The number of components of a fit."""
    return _count(prepared, _adapted(settings, prepared), None)


def _count(prepared: Prepared, settings: Settings, sharing: Sharing | None) -> int:
    """The requested number of components or, if they are counted, the number of factors that hold on samples left out.

    The count ends before five factors in a row, as regularised CCA orders them, that are no better than chance: for
    J = 1, 2, ..., the strength of the J-th and the next four factors on samples left out is tested. So one factor that
    does not hold does not end the count, and one among hundreds that holds by chance does not extend it to all before.
    Without a test of permuted samples, the samples left out are permuted.

    Factors have dense weights without feature weights, since the count is of factors, not of their renderings; it is at
    most half the number of samples, or groups. It is too large for about 1 of 20 data sets, or a little more: shared
    factors that the samples do not determine exactly leave a little to the next ones, which then are not quite chance.
    """
    if not settings.is_counted:
        return settings.n_components
    if prepared.n_counted is not None:
        return prepared.n_counted
    sharing = sharing or _sharing(prepared, settings)
    views, groups = prepared.to_split(), prepared.groups
    if len(views) < constants.FEWEST_HELD_OUT:
        return 1
    most = max(1, min(settings.n_components, groups.n_groups // 2))
    plain = replace(
        settings,
        renderings=("dense",) * len(views.data),
        reading=replace(prepared.reading, weighted=False),
        n_features=None,
    )
    scores = partial(held_out_scores, plain, most, False, sharing is not None)
    with one_blas_thread():  # the same order of sums for any number of threads, as in folds
        if sharing is None:
            rng = np.random.default_rng(_draws(settings).randint(2**31 - 1))
            train, test = leave_out(groups, len(views) // 2, rng)
            found = scores_of_split("count", scores, views, (train, test))
            return count_before_chance(p_values(found, groups.chosen(test), rng))
        of_partitions = []
        for number, parts in enumerate(sharing.partitions):
            left_out = [
                scores_of_split(f"count {number + 1} {i + 1}", scores, views, (AllBut(len(views), test), test))
                for i, test in enumerate(parts)
            ]
            pooled = [np.concatenate(each) for each in zip(*left_out, strict=True)]
            of_partitions.append(mean_associations(pooled, groups.chosen(np.concatenate(parts))))
        return count_from(np.mean(of_partitions, axis=0), sharing)


def _hold_out(prepared: Prepared, settings: Settings, n_components: int, sharing: Sharing | None) -> HeldOut | None:
    """Correlations of every component on samples left out, from fits to the others with the same settings."""
    if settings.n_folds == 0:
        return None
    views = prepared.to_split()
    # scores of several folds are pooled; those of a single fold need no common unit
    settings = replace(settings, n_features=prepared.share, n_components=n_components, are_shown=False)
    scores = partial(held_out_scores, settings, n_components, True, not has_many(len(views)))
    found = held_out_correlations(
        *(scores, views, n_components, settings.n_folds, settings.n_jobs, _draws(settings)), sharing is None
    )
    return found if sharing is None else replace(found, p_value=sharing.p_value)


def held_out_scores(
    settings: Settings,
    n_components: int,
    rotated: bool,
    in_units: bool,
    views: Views,
    train: np.ndarray | AllBut,
    test: np.ndarray,
) -> list[np.ndarray]:
    """Scores of the samples `test` in every view, from factors learnt from the samples `train` alone.

    Nothing is matched to a fit that saw the samples `test`, since matching would choose the factors that suit them. The
    factors are rotated and ordered as in any fit or, if not `rotated`, as regularised CCA orders them. With `in_units`,
    scores are in units of their standard deviation in training; 0 for a missing factor.
    """
    train = train if remote_blocks_of(views.data) else np.asarray(train)
    prepared = prepare(views.rows(train), settings.reading)
    if settings.n_features is not None:
        assert not isinstance(settings.n_features, str)  # folds read as many as was decided
        prepared = fewer_features(prepared, settings.n_features, _choice(settings))
    nothing = np.zeros((len(test), n_components))
    try:
        factors = find(prepared, n_components, settings)
        factors = rotate(prepared, factors, settings) if rotated else factors
        renderings = render(prepared, factors, settings, {})
    except NothingSharedError:  # a view may be constant on these samples
        return [nothing] * len(views.data)
    found = []
    for rendering, samples in zip(renderings, views.held_out(test, train), strict=True):
        scores = rendering.view.projector(rendering.weights)(*samples)
        if in_units:
            scores = _in_units_of(rendering.view.matmat(rendering.weights), scores)
        found.append(np.ascontiguousarray(np.hstack([scores, nothing[:, scores.shape[1] :]])))
    return found


def _in_units_of(training: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Scores less the mean of the training scores, divided by the standard deviation of these."""
    spread = training.std(axis=0)
    return np.where(spread > 0, scores - training.mean(axis=0), 0.0) / np.where(spread > 0, spread, 1.0)
