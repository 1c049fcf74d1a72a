"""Choosing the features that are read: for all factors together, and as few as lose nothing on samples left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import permutations
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import stdtrit

from .._checks import NothingSharedError
from ..parallel import blas_threads_for, is_small, map_threads, one_blas_thread
from ..progress import Stage, from_checkpoint, report, unreported
from ..retrieval import ranks_among
from ..samples import AllBut, Groups, Views, remote_blocks_of
from ..views import PreparedView
from . import constants
from .find import SharedFactors
from .large import rough_factors
from .prepare import Prepared, Reading, prepare, reading_only
from .products import Scores
from .refit import Regression, joint_regression, joint_weights

__all__ = ["Choice", "Cost", "cost_of", "fewer_features", "n_rounds", "nested_features"]

_SEED = 0
_ROUGH = 1e-3  # relative residual of the weights by which features are judged

RidgeOf = Callable[[PreparedView], float]
Sizes = list[int | None]  # how many features of each view are read; None for all


def weakness(n_components: int, n_samples: int) -> float:
    """How far the weights of factors may be mostly noise: 1 for one factor of at most 100 samples, falling to 0."""
    return (min(1.0, constants.FULL_POWER_SAMPLES / n_samples) / n_components) ** 2


def features_left(n_components: int, n_samples: int) -> float:
    """The share of the features that a round keeps."""
    usual, where_weak = constants.FEATURES_LEFT
    return usual + (where_weak - usual) * weakness(n_components, n_samples)


def n_rounds(share: float, n_components: int, n_samples: int) -> int:
    """How many rounds lead to a share of the features."""
    if share >= 1.0:
        return 0
    # a little less, since sizes are rounded
    return max(1, int(np.ceil(np.log(share) / np.log(features_left(n_components, n_samples)) - 0.05)))


@dataclass(frozen=True)
class Choice:
    """How features are chosen.

    Attributes
    ----------
    n_components : int
        Number of factors for which they are chosen.
    ridge : callable
        The ridge of the factors in a view.
    chosen : tuple of bool
        The views whose features are chosen; the others are read with all.
    few : bool
        Whether few features are wanted, since every component weighs all that are read.
    """

    n_components: int
    ridge: RidgeOf
    chosen: tuple[bool, ...]
    few: bool = True

    def sizes(self, prepared: Prepared, n_features: int | float) -> Sizes:
        """How many features of each view are `n_features`, a number or a share; None for all."""
        return [
            self._size(prepared.unweighted[v], n_features) if chosen else None for v, chosen in enumerate(self.chosen)
        ]

    def _size(self, view: Any, n_features: int | float) -> int:
        m = len(view.varying)
        if isinstance(n_features, Integral):
            return min(m, int(n_features))
        return min(m, max(round(n_features * m), self.n_components, 1))

    def rounds(self, prepared: Prepared, n_features: int | float, before: Sizes | None = None) -> list[Sizes]:
        """The sizes of all rounds from those `before`, or from all features, to `n_features`.

        Each round keeps about the same share of the features of the one before.
        """
        last = self.sizes(prepared, n_features)
        both = list(zip(before or self.sizes(prepared, 1.0), last, strict=True))
        smallest = min((n / m for m, n in both if m and n is not None), default=1.0)
        count = n_rounds(smallest, self.n_components, len(prepared.given))
        return [
            [None if n is None or m is None else round(m * (n / m) ** (k / count)) if m else 0 for m, n in both]
            for k in range(1, count + 1)
        ]


@dataclass(frozen=True)
class Round:
    """Samples read with some features, and the factors found in them."""

    prepared: Prepared
    choice: Choice
    balance: Any = None  # weights of the samples, if there are many

    @cached_property
    def _found(self) -> tuple[SharedFactors, Any]:
        views = self.prepared.views
        n_components = min(self.choice.n_components, len(self.prepared.given) - 1)
        if not all(view.square_norms().any() for view in views):
            raise NothingSharedError("a view does not vary.")
        found = rough_factors(views, n_components, [self.choice.ridge(view) for view in views], self.balance)
        if not len(found[0].values):
            raise NothingSharedError("no score is predicted by all views.")
        return found

    @property
    def scores(self) -> Scores:
        """The factors, each as long as the views share it."""
        found = self._found[0]
        return found.scores * found.values

    @cached_property
    def regressions(self) -> list[Regression]:
        """Those by which the factors get weights on the features of each view."""
        return [joint_regression(view, self.choice.ridge(view)) for view in self.prepared.views]

    def fewer(self, sizes: Sequence[int | None]) -> "Round":
        """The next round: only the features of each view whose weights matter most.

        With the ridge weights W of all factors in a view A, a feature counts ||W_i|| ||a_i||, the size of its part in
        the scores of all factors, which no rotation of the factors changes. A few factors of few samples may be mostly
        noise; there what the other views predict of a feature on samples left out, R^2, counts more: the part is
        multiplied by exp(300 R^2 / c^2 min(1, 100 / n)^2) for c factors. Of equal features the first are kept.
        """
        kept = [self.prepared.kept[v] if size is None else self._leading(v, size) for v, size in enumerate(sizes)]
        return Round(reading_only(self.prepared, kept), self.choice, self._found[1])

    def _leading(self, v: int, size: int) -> np.ndarray:
        view: Any = self.prepared.views[v]
        W = self.regressions[v].weights_of(self.scores, _ROUGH).weights
        with np.errstate(divide="ignore"):
            parts = 0.5 * np.log(np.einsum("ij,ij->i", W, W) * view.square_norms())
        explained = self.prepared.explained[v] if self.prepared.explained else None
        if explained is not None:
            known = np.where(np.isfinite(explained), explained, 0.0)
            parts += constants.JUDGED_POWER * weakness(self.choice.n_components, view.shape[0]) * known
        read = self.prepared.kept[v]
        read = view.varying if read is None else read
        return read[np.sort(np.argsort(-parts[read], kind="stable")[:size])]


def fewer_features(prepared: Prepared, n_features: int | float | None, choice: Choice) -> Prepared:
    """The same samples with a number, or a share, of the features of each view; None for all."""
    if n_features is None:
        return prepared
    now = Round(prepared, choice)
    for sizes in choice.rounds(prepared, n_features):
        try:
            now = now.fewer(sizes)
        except NothingSharedError:  # then there is nothing to choose by, and the fit says so
            return prepared
    return now.prepared


def nested_features(
    prepared: Prepared, shares: Sequence[float], choice: Choice, through: float = 1.0
) -> Iterator[Prepared]:
    """The same samples with ever fewer features: for each share, largest first, some of those of the share before.

    Shares down to `through` are one round each; the features of `through` are those that `fewer_features` chooses, if
    as many shares come before it as `fewer_features` takes rounds. Between smaller shares are as many rounds as needed.
    """
    threads = blas_threads_for(*(view.n_stored for view in prepared.views))
    whole, last = choice.sizes(prepared, 1.0), choice.sizes(prepared, through)
    now, before = Round(prepared, choice), whole
    for share in shares:
        sizes = choice.sizes(prepared, share)
        if through < share < 1.0:
            part = np.log(share) / np.log(through)
            both = zip(whole, last, strict=True)
            sizes = [None if m is None or n is None else round(m * (n / m) ** part) for m, n in both]
        for each in [sizes] * int(share < 1.0) if share >= through else choice.rounds(prepared, share, before):
            with threads:
                now = now.fewer(each)
        before = sizes
        yield now.prepared


# --- what fewer features cost -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What reading only some of the features costs, on samples that the choice of features and weights did not see.

    Attributes
    ----------
    shares : tuple of float
        The shares of the features that were tried, 1 first.
    precisions : tuple of float
        The precision of finding the mates of samples left out, mean of 1 / rank, with each of these shares.
    of_all : float
        The precision of all features when all count alike: that of kernel CCA with this ridge.
    share : float
        The share that was decided on: the smallest that loses nothing measurable, or the one that was asked for.
    kept : float
        The precision with it, relative to `of_all`. The share is decided on other samples.
    interval : tuple of two floats
        For `kept`, at a level of 0.95.
    n_samples : int
        Number of samples left out.
    """

    shares: tuple[float, ...]
    precisions: tuple[float, ...]
    of_all: float
    share: float
    kept: float
    interval: tuple[float, float]
    n_samples: int


def cost_of(given: Views, reading: Reading, n_features: int | float | None, choice: Choice) -> Cost | None:
    """What a number or share of the features costs or, for None, the smallest share that loses nothing measurable.

    Features, factors and weights are learnt from four fifths of the samples, round after round with fewer features, and
    the mates of the others are searched among all; once with all features alike, as in kernel CCA. With few components
    mates have ranks of all sizes, and the mean of 1 / rank would tell little; so the share is decided on by the mean of
    rank^-1/4, by the place of scores, and by the mean correlation of the scores. It loses nothing measurable if in
    neither it loses more than one standard error (of the difference, sample by sample), or two where there are many
    features per sample. Where few features are wanted for themselves, the loss is that beside all features alike;
    where each component selects its own, that beside the best share. Between two shares that were tried, the loss is
    interpolated.

    With many samples, about 1,000 of them are left out in all. None with too few samples to leave any out.
    """
    n, groups = len(given), given.groups
    if n < constants.FEWEST_BUDGETED or groups.n_groups < 2 or not any(choice.chosen):
        return None
    tests = _parts_left_out(groups)
    at_once = is_small(*(data.size for data in given.data)) and not remote_blocks_of(given.data)
    stage = Stage("choosing features", float(1 if at_once else len(tests)))

    def judged(number: int) -> list[np.ndarray]:
        with unreported() if number and at_once else stage.step(1.0):
            return from_checkpoint(  # each part has a name, since the steps of all are stored in any order
                f"part {number + 1}",
                lambda: _ranks(given, tests[number], reading, n_features, choice),
                lambda found: {"ranks": np.array(found).reshape(len(found), 3, -1, len(tests[number]))},
                lambda stored: list(stored["ranks"]),
            )

    with one_blas_thread():  # the same order of sums for any number of threads
        found = map_threads(judged, range(len(tests))) if at_once else list(map(judged, range(len(tests))))
    n_found = min(map(len, found))
    if n_found < 2:  # all features alike, and at least one share of them
        return None
    ranks = [np.array(part[:n_found]) for part in found]  # all alike and rounds x 3 x pairs of views x samples left out
    if len(ranks) == 1:  # two halves, so that the share is decided on other samples than those that it is tried on
        ranks, tests = [ranks[0][..., ::2], ranks[0][..., 1::2]], [tests[0][::2], tests[0][1::2]]
    shares = _shares(given, n_features, choice)[: n_found - 1]
    precisions = [np.mean(1.0 / part[:, 0], axis=1) for part in ranks]
    of_all, of_samples = np.concatenate([part[0] for part in precisions]), groups.chosen(np.concatenate(tests))
    if n_features is None:
        nearness = [
            np.array([np.mean(part[:, 1] ** -constants.BUDGET_POWER, axis=1), np.mean(part[:, 2], axis=1)])
            for part in ranks
        ]
        decide = partial(_smallest_share, shares, errors=_errors(given, choice), few=choice.few)
        share = decide(np.dstack(nearness), of_samples)
        with_share = np.concatenate(
            [
                _at_share(shares, precisions[i][1:], _share_of_others(decide, nearness, tests, groups, i))
                for i in range(len(tests))
            ]
        )
    else:
        share, with_share = float(shares[-1]), np.concatenate([part[-1] for part in precisions])
    kept, error = _ratio(with_share, of_all, of_samples)
    return Cost(
        shares=tuple(shares.tolist()),
        precisions=tuple(np.hstack(precisions)[1:].mean(axis=1).tolist()),
        of_all=float(of_all.mean()),
        share=share,
        kept=kept,
        interval=(kept - constants.KEPT_WIDENING * error, kept + constants.KEPT_WIDENING * error),
        n_samples=len(with_share),
    )


def _parts_left_out(groups: Groups) -> list[np.ndarray]:
    """Samples to leave out, in turn: fifths of them, or as many as are enough; groups stay together.

    Random, since samples may come in any order, but the same for all seeds, and nearly the same for one sample more.
    """
    rng = np.random.default_rng(_SEED)
    most, n = constants.BUDGET_SAMPLES, groups.n
    count = min(constants.BUDGET_FOLDS, groups.n_groups)
    if groups.labels is None:
        # each run of five samples is dealt to the five parts in random order
        dealt = rng.permuted(np.tile(np.arange(count), (-(-n // count), 1)), axis=1).ravel()[:n]
        parts = [np.flatnonzero(dealt == part) for part in range(count)]
    else:
        parts = groups.parts(count, rng)
    n_used = max(1 if groups.labels is None else 2, min(count, -(-most // max(map(len, parts)))))
    if n_used > 1:
        return parts[:n_used]
    return [parts[0][np.unique(np.linspace(0, len(parts[0]) - 1, most).astype(int))]]


def _least_share(given: Views, choice: Choice) -> float:
    """The smallest share that is tried: all of the fewest samples that any are left out of, soon much less."""
    fewest = min(data.shape[1] for data, chosen in zip(given.data, choice.chosen, strict=True) if chosen)
    least = min(constants.LEAST_BUDGET, constants.BUDGET_PER_SAMPLE * len(given) / fewest)
    few_tell_little = (constants.FEWEST_BUDGETED / len(given)) ** 3
    return min(1.0, max(least, few_tell_little, choice.n_components / fewest))  # one for each component in any case


def _shares(given: Views, n_features: int | float | None, choice: Choice) -> np.ndarray:
    """The shares that are tried: those of every round or, for a number that was asked for, all and this number."""
    if n_features is None:
        least, factors = _least_share(given, choice), (choice.n_components, len(given))
        count = n_rounds(least, *factors)
        return np.append(features_left(*factors) ** np.arange(count), least) if count else np.ones(1)
    counts = [data.shape[1] for data, chosen in zip(given.data, choice.chosen, strict=True) if chosen]
    if isinstance(n_features, Integral):
        return np.array([1.0, min(1.0, n_features / max(counts))])
    return np.array([1.0, min(1.0, max(float(n_features), choice.n_components / min(counts)))])


def _ranks(
    given: Views, test: np.ndarray, reading: Reading, n_features: int | float | None, choice: Choice
) -> list[np.ndarray]:
    """The ranks of the mates of the samples `test`, learnt from the others: all features alike, then each share."""
    train = AllBut(len(given), test)
    training = given.rows(train)
    prepared = prepare(training, reading)
    if n_features is None:
        steps = [choice.sizes(prepared, float(share)) for share in _shares(given, None, choice)[1:]]
        tried = set(range(len(steps) + 1))
    else:
        steps = choice.rounds(prepared, n_features)
        tried = {0, len(steps)}
    now, found = Round(prepared, choice), []
    try:
        report("choosing features", 0, len(steps) + 2)
        alike = replace(prepared, views=prepared.unweighted)
        found.append(_ranks_of_mates(Round(alike, choice), given, train, test))
        for k in range(len(steps) + 1):
            report("choosing features", k + 1, len(steps) + 2)
            now = now.fewer(steps[k - 1]) if k else now
            if k in tried:
                found.append(_ranks_of_mates(now, given, train, test) if k or prepared.judged else found[0])
            if n_features is None and k and _is_hopeless(found, given.groups.chosen(test)):
                break
    except NothingSharedError:  # the features that are left share nothing in these samples
        pass
    return found


def _ranks_of_mates(now: Round, given: Views, train: AllBut, test: np.ndarray) -> np.ndarray:
    """The ranks of the mates of the samples `test` among these and training samples, for each pair of views.

    By the angle between scores, as mates are found, and by the place of scores; then the share of each sample in the
    mean correlation of the scores.
    """
    views = now.prepared.views
    weights = joint_weights(now.regressions, now.scores)
    spaced = np.unique(np.linspace(0, len(given) - 1, constants.BUDGET_CANDIDATES).astype(int))
    rows = np.setdiff1d(spaced, test)[: max(1, constants.BUDGET_CANDIDATES - len(test))]
    projectors = [view.projector(W) for view, W in zip(views, weights, strict=True)]
    training = train if remote_blocks_of(given.data) else np.asarray(train)
    queries, others = (
        [project(*samples) for project, samples in zip(projectors, given.held_out(chosen, training), strict=True)]
        for chosen in (test, rows)
    )
    pairs = list(permutations(range(len(views)), 2))
    by_angle = [ranks_among(queries[u], np.vstack([queries[v], others[v]])) for u, v in pairs]
    near, far = _with_a_constant(queries, others)
    by_place = [ranks_among(near[u], np.vstack([near[v], far[v]])) for u, v in pairs]
    together = [np.sum(queries[u] * queries[v], axis=1) / (_size(queries[u]) * _size(queries[v])) for u, v in pairs]
    return np.array([by_angle, by_place, together])


def _size(scores: np.ndarray) -> float:
    """The root of the mean squared norm of a row."""
    return float(np.sqrt(np.mean(np.sum(scores**2, axis=1)))) or 1.0


def _with_a_constant(queries: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """Scores of c components, of a mean square of 1, with another coordinate that is 1 / c for all samples.

    A single component leaves no angle but its sign; the cosine of two such scores tells how far apart they are.
    """
    sizes = list(map(_size, others))
    return [
        [np.insert(each / size, 0, 1.0 / each.shape[1], axis=1) for each, size in zip(side, sizes, strict=True)]
        for side in (queries, others)
    ]


def _share_of_others(
    decide: Callable[[np.ndarray, Groups], float],
    nearness: Sequence[np.ndarray],
    tests: Sequence[np.ndarray],
    groups: Groups,
    left_out: int,
) -> float:
    """The share that is decided on by all parts of the samples but one."""
    others = [i for i in range(len(tests)) if i != left_out]
    of_others = groups.chosen(np.concatenate([tests[i] for i in others]))
    return decide(np.dstack([nearness[i] for i in others]), of_others)


def _is_hopeless(ranks: Sequence[np.ndarray], groups: Groups) -> bool:
    """Whether the last round loses so much that fewer features are not worth trying."""
    if groups.n_groups < 2:  # nothing tells how much chance makes
        return False
    of_all, last = (np.mean(each[1] ** -constants.BUDGET_POWER, axis=0) for each in (ranks[0], ranks[-1]))
    lost = of_all - last
    errors = stdtrit(max(groups.n_groups - 1, 1), 1.0 - constants.BUDGET_HOPELESS)
    return bool(lost.mean() > errors * _error(lost, groups))


def _error(values: np.ndarray, groups: Groups) -> float:
    """The standard error of the mean of these values, one per sample."""
    sums = groups.sums(values - values.mean())
    return float(np.sqrt(np.sum(sums**2) * len(sums) / max(len(sums) - 1, 1)) / len(values))


def _errors(given: Views, choice: Choice) -> float:
    """How many standard errors a share may lose: the more features there are per sample, the more are noise."""
    features = max(data.shape[1] for data, chosen in zip(given.data, choice.chosen, strict=True) if chosen)
    return float(np.clip(features / (constants.BUDGET_WIDE * len(given)), *constants.BUDGET_ERRORS))


def _smallest_share(shares: np.ndarray, nearness: np.ndarray, groups: Groups, errors: float, few: bool = True) -> float:
    """The smallest share that loses no more than so many standard errors; 1 if none is so good.

    `nearness` has a matrix for every measure of how near mates are: its first row is that of all features alike, the
    others are those of the shares. Few features are compared with all of them alike, otherwise with the best share.
    """
    ratios = np.full(len(shares), -np.inf)  # losses in standard errors
    for alike, *each in nearness:
        best = alike if few else each[int(np.argmax(np.mean(each, axis=1)))]
        lost = best - np.array(each)
        found, sure = lost.mean(axis=1), np.array([_error(loss, groups) for loss in lost])
        least = 1e-9 * (abs(float(best.mean())) or 1.0)
        ratios = np.maximum(ratios, found / np.maximum(sure, least))
    enough = np.flatnonzero(ratios <= errors)
    k = int(enough[-1]) if len(enough) else 0
    if k + 1 == len(shares) or not len(enough):
        return float(shares[k])
    part = (errors - ratios[k]) / (ratios[k + 1] - ratios[k])  # where the ratio, interpolated, is `errors`
    return float(shares[k] * (shares[k + 1] / shares[k]) ** part)


def _at_share(shares: np.ndarray, precisions: np.ndarray, share: float) -> np.ndarray:
    """The precisions at a share between two that were tried."""
    k = int(np.clip(np.searchsorted(-shares, -share), 1, len(shares) - 1)) if len(shares) > 1 else 0
    if not k:
        return precisions[0]
    part = np.log(share / shares[k - 1]) / np.log(shares[k] / shares[k - 1])
    return (1.0 - part) * precisions[k - 1] + part * precisions[k]


def _ratio(some: np.ndarray, all_: np.ndarray, groups: Groups) -> tuple[float, float]:
    """The ratio of two means over the same samples, and its standard error."""
    ratio = float(some.mean() / all_.mean())
    return ratio, _error(some - ratio * all_, groups) / float(all_.mean())
