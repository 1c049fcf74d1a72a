"""Three views beside two: how well planted factors are found, and what a fit takes."""

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import TfidfTransformer

from scca import MultiSparseCCA
from scca.datasets import make_planted
from scca.parallel import one_blas_thread

from ._processes import in_new_process
from ._table import print_table

__all__ = ["run"]

_NEW = 2000  # new samples that stand for the truth
_SETS, _FEW_SETS = 20, 4  # data sets of a setting; of a quick run
_FACTORS, _ACTIVE = 2, 10  # planted factors, and features of a view that carry each
_PAIRS = list(combinations(range(3), 2))
_REPEATS = 3  # times that every fit is timed, in turn
_N_TOPICS, _LENGTH = 25, 60  # of made-up documents: topics, and words of a document


@dataclass(frozen=True)
class _Planted:
    n: int
    n_features: int
    strength: float
    carriers: int = 3  # views that carry the factors; the others are noise

    @property
    def name(self) -> str:
        where = "" if self.carriers == 3 else ", in views 1 and 2 alone"
        return f"{self.n} x {self.n_features:,}, strength {self.strength:g}{where}"


_SETTINGS = [
    *(_Planted(60, 30, strength) for strength in (0.7, 1.2)),
    *(_Planted(60, 200, strength) for strength in (0.9, 1.5)),
    *(_Planted(60, 2000, strength) for strength in (1.2, 2.0)),
    *(_Planted(200, 30, strength) for strength in (0.4, 0.8)),
    *(_Planted(200, 200, strength) for strength in (0.5, 1.0)),
    *(_Planted(200, 2000, strength) for strength in (0.7, 1.2)),
    *(_Planted(500, 30, strength) for strength in (0.3, 0.6)),
    *(_Planted(500, 200, strength) for strength in (0.4, 0.8)),
    *(_Planted(n, n_features, 1.0, 2) for n, n_features in ((60, 30), (200, 30), (500, 30), (200, 200))),
]


def run(quick: bool = False) -> None:
    """Cosines of scores with planted factors, and ratios of time and of memory."""
    _print_cosines(_FEW_SETS if quick else _SETS)
    _print_times(quick)


# --- planted factors --------------------------------------------------------------------------------------------------


def _print_cosines(n_sets: int) -> None:
    """Scores of the views that carry the factors, fitted with all three views, and with the best pair of them."""
    rows = []
    for setting in _SETTINGS:
        found = np.array([_cosines(setting, seed) for seed in range(n_sets)])  # sets x (three, pair) x components
        three, pair = found.mean(axis=0)
        gain = (found[:, 0] - found[:, 1]).mean(axis=1)
        gains = f"{gain.mean():+.3f} ({gain.std(ddof=1) / np.sqrt(n_sets):.3f})"
        rows.append([setting.name, _numbers(three), _numbers(pair), gains])
    title = (
        f"Mean cosine of scores with {_FACTORS} planted factors on {_NEW:,} new samples, {n_sets} data sets: "
        "the best pair of each data set, and the same two views fitted with the third"
    )
    header = ["samples x features", "with the third view", "the best pair", "difference (standard error)"]
    print_table(title, header, rows)


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.3f}".replace("0.", ".", 1) for value in values)


def _cosines(setting: _Planted, seed: int) -> np.ndarray:
    """For the best pair of views, cosines of every component with its factor: fitted with the third view, and alone."""
    planted = make_planted(
        setting.n + _NEW,
        *(setting.n_features,) * 3,
        n_factors=_FACTORS,
        n_active=_ACTIVE,
        strength=setting.strength,
        random_state=seed,
    )
    views = list(planted.views)
    for v in range(setting.carriers, 3):
        views[v] = np.random.default_rng([seed, v]).standard_normal(views[v].shape)
    train, new = [view[: setting.n] for view in views], [view[setting.n :] for view in views]
    factors = planted.factors[setting.n :]
    of_three = _scores(train, new)
    pairs = _PAIRS if setting.carriers == 3 else [(0, 1)]
    found = []
    for v, u in pairs:
        alone = _matched(_scores([train[v], train[u]], [new[v], new[u]]), factors)
        found.append(np.array([_matched([of_three[v], of_three[u]], factors), alone]))
    return max(found, key=lambda both: both[1].mean())


def _scores(train: list, new: list) -> list[np.ndarray]:
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        model = MultiSparseCCA(_FACTORS, held_out=0).fit(train)
    return [model.project(view, v) for v, view in enumerate(new)]


def _matched(scores: list[np.ndarray], factors: np.ndarray) -> np.ndarray:
    """|cosine| of every factor with the component that is matched to it, mean over views, largest first."""
    c = scores[0].shape[1]
    cosines = np.zeros((_FACTORS, _FACTORS))
    cosines[:c] = np.mean([np.abs(np.corrcoef(each.T, factors.T)[:c, c:]) for each in scores], axis=0)
    return np.sort(cosines[linear_sum_assignment(-cosines)])[::-1]


# --- time and memory --------------------------------------------------------------------------------------------------


def made_up_tables(n: int, m: int) -> list[np.ndarray]:
    return list(make_planted(n, m, m, m, n_factors=3, strength=1.0, random_state=0).views)


def made_up_documents(n: int, vocabulary: int) -> list[sp.csr_array]:
    """TF-IDF of documents in three languages with the same topics, whose words are about as frequent as real ones."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(_N_TOPICS, 0.1), n)
    frequencies = 1.0 / (10.0 + np.arange(vocabulary))
    views = []
    for _ in range(3):
        words = frequencies * rng.gamma(0.1, 10.0, (_N_TOPICS, vocabulary))
        words = topics @ (words / words.sum(axis=1, keepdims=True))
        counts = np.array([rng.multinomial(_LENGTH, row / row.sum()) for row in words])
        views.append(sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_array(counts))))
    return views


def _cases(quick: bool) -> Iterator[tuple[str, list, int]]:
    """Name, three views and number of components."""
    for n, m in ((60, 30), (100, 500), (300, 50), (300, 1000), (1000, 200)):
        yield f"tables, {n:,} x {m:,}", made_up_tables(n, m), 3
    for n, vocabulary in ((300, 1500), (1000, 3000)) if quick else ((300, 1500), (1000, 3000), (3000, 6000)):
        yield f"documents, {n:,} x {vocabulary:,}", made_up_documents(n, vocabulary), 20


def _print_times(quick: bool) -> None:
    rows = []
    for name, views, n_components in _cases(quick):
        cells = []
        for settings in ({"held_out": 0}, {}):
            two, three = _seconds(views, n_components, settings)
            cells += [f"{two:.2f}", f"{three:.2f}", f"{three / two:.2f}"]
        two_mb, three_mb = (
            in_new_process("_memory_child", (views[:count], n_components), "fit-views")[0]["bytes"] / 1e6
            for count in (2, 3)
        )
        rows.append([name, *cells, f"{two_mb:,.0f}", f"{three_mb:,.0f}", f"{three_mb / max(two_mb, 1e-9):.2f}"])
    header = ["data", "two, s", "three, s", "ratio", "two, s", "three, s", "ratio", "two, MB", "three, MB", "ratio"]
    title = (
        f"A fit of three views beside one of the first two, processor seconds, best of {_REPEATS} in turn: without "
        "samples left out, by default, and the peak of memory beyond the data by default"
    )
    print_table(title, header, rows)


def _seconds(views: list, n_components: int, settings: dict) -> tuple[float, float]:
    """The shortest processor time of a fit to the first two views, and to all three."""
    times: dict[int, list[float]] = {2: [], 3: []}
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        for repeat in range(_REPEATS + 1):
            for count, taken in times.items():
                start = time.process_time()  # which other programs hardly change
                MultiSparseCCA(n_components, **settings).fit(views[:count])
                if repeat:  # the first one may compile
                    taken.append(time.process_time() - start)
    return min(times[2]), min(times[3])
