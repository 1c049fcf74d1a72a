"""What a fit claims about new samples, compared with new samples."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from scca import MultiSparseCCA
from scca.parallel import one_blas_thread
from scca.readers import PairedText
from scca.samples import Groups
from scca.text import BilingualModel

from ._table import print_table
from ._texts import texts_of

__all__ = ["run"]

_NEW = 4000  # new samples that stand for the truth
_SETS = 200  # data sets of a setting
_FEW_SETS = 60  # of a setting that takes long
_SETS_OF_THREE = 120  # of a setting of three views
_JOBS = 2
_FEWEST_NEW = 300  # pairs of a corpus that are not learnt from
_LEVEL = 0.05

Views = tuple[np.ndarray, ...]
Draw = Callable[[int], Views]  # from a number of samples to all views of as many new ones


@dataclass(frozen=True)
class _Setting:
    """A way to draw data sets: `make(rng)` fixes what new samples have in common and returns how they are drawn."""

    name: str
    n: int
    n_components: int
    make: Callable[[np.random.Generator], Draw]
    n_sets: int = _SETS
    group_size: int = 1


def run(
    quick: bool = False,
    tables: list[Path] | None = None,
    corpus: tuple[Path, Path] | None = None,
    join: int = 1,
    n_views: int | None = None,
) -> None:
    """Held-out correlations, intervals and p-values against new samples.

    Made-up ones of two views and of three, or of `n_views` alone; with `corpus`, other pairs of the corpus instead;
    with `tables`, their verdicts over ten seeds.
    """
    if corpus or tables:
        if tables:
            _print_verdicts(tables)
        if corpus:
            _print_texts(corpus, join)
        return
    share = 10 if quick else 1
    if n_views != 3:
        _print_two_views(share)
    if n_views != 2:
        _print_three_views(share)


def _print_two_views(share: int) -> None:
    _print_claims(
        "Independent views: mean claim of every component (the truth is 0), and how often its interval has the truth",
        list(_noise_settings()),
        share,
    )
    _print_claims(
        "Planted factors: claim less truth, mean of every component, and how often the interval has the truth",
        list(_planted_settings()),
        share,
    )
    _print_p_values(share)


def _print_three_views(share: int) -> None:
    """Of three views: claims about the mean over pairs of views, and about each pair."""
    noise = _print_claims(
        "Three independent views: mean claim of every component (the truth is 0), and how often its interval has it",
        list(_three_noise_settings()),
        share,
    )
    planted = _print_claims(
        "Three views with planted factors: claim less truth, and how often the interval has the truth",
        list(_three_planted_settings()),
        share,
    )
    _print_pairs("The same for each pair of views", noise + planted)
    _print_power_of_three(share)


# --- made-up data -----------------------------------------------------------------------------------------------------


def _noise(rng: np.random.Generator, p: int, tails: float = np.inf, n_views: int = 2) -> Draw:
    """Independent views of p features each, normal or with Student's t."""

    def draw(n: int) -> Views:
        shape = (n_views, n, p)
        return tuple(rng.standard_normal(shape) if np.isinf(tails) else rng.standard_t(tails, shape))

    return draw


def _paired_features(rng: np.random.Generator, p: int, correlations: tuple[float, ...]) -> Draw:
    """Feature j of X and feature j of Y correlate by correlations[j]; all others are independent."""

    def draw(n: int) -> Views:
        X, Y = rng.standard_normal((2, n, p))
        for j, r in enumerate(correlations):
            Y[:, j] = r * X[:, j] + np.sqrt(1 - r * r) * Y[:, j]
        return X, Y

    return draw


def _shared_features(
    rng: np.random.Generator, p: int, correlations: tuple[float, ...], carriers: tuple[tuple[int, ...], ...] = ()
) -> Draw:
    """Three views whose features j correlate by correlations[j], in the views carriers[j], or in all of them."""
    carriers = carriers or ((0, 1, 2),) * len(correlations)

    def draw(n: int) -> Views:
        views = tuple(rng.standard_normal((3, n, p)))
        for j, (r, some) in enumerate(zip(correlations, carriers, strict=True)):
            factor = rng.standard_normal(n)
            for v in some:
                views[v][:, j] = np.sqrt(r) * factor + np.sqrt(1 - r) * views[v][:, j]
        return views

    return draw


def _latent(
    rng: np.random.Generator,
    p: int,
    strengths: tuple[float, ...],
    tails: float = np.inf,
    between: float = 0.0,
    n_views: int = 2,
) -> Draw:
    """Every factor is carried by ten features of each view, with these strengths; noise of neighbours may correlate."""
    loadings = np.zeros((n_views, p, len(strengths)))
    for view in loadings:
        for j, strength in enumerate(strengths):
            view[rng.choice(p, 10, replace=False), j] = strength * rng.choice([-1.0, 1.0], 10)

    def draw(n: int) -> Views:
        shape = (n, len(strengths))
        factors = (
            rng.standard_normal(shape)
            if np.isinf(tails)
            else rng.standard_t(tails, shape) / np.sqrt(tails / (tails - 2))
        )
        views = []
        for view in loadings:
            noise = rng.standard_normal((n, p))
            if between:
                for column in range(1, p):
                    noise[:, column] = between * noise[:, column - 1] + np.sqrt(1 - between**2) * noise[:, column]
            views.append(factors @ view.T + noise)
        return tuple(views)

    return draw


def _repeated(draw: Draw, size: int, rng: np.random.Generator) -> Draw:
    """Samples in groups of near copies."""

    def draw_groups(n: int) -> Views:
        return tuple(
            np.repeat(view, size, axis=0) + 0.3 * rng.standard_normal((size * (n // size), view.shape[1]))
            for view in draw(n // size)
        )

    return draw_groups


def _grouped(make: Callable[..., Draw], size: int, **settings) -> Callable[[np.random.Generator], Draw]:
    return lambda rng: _repeated(make(rng, **settings), size, rng)


def _noise_settings() -> Iterator[_Setting]:
    for n, p, c in ((30, 8, 2), (30, 8, 3), (40, 10, 3), (60, 15, 3), (60, 150, 3), (100, 20, 3), (200, 50, 5)):
        yield _Setting(f"{n} samples, {p} features", n, c, partial(_noise, p=p))
    yield _Setting("100 samples, 20 features, heavy tails", 100, 3, partial(_noise, p=20, tails=3.0))
    for n, size, p, c in ((120, 3, 20, 3), (80, 4, 8, 2), (120, 10, 8, 2)):
        yield _Setting(
            f"{n} samples in {n // size} groups, {p} features", n, c, _grouped(_noise, size, p=p), group_size=size
        )


def _planted_settings() -> Iterator[_Setting]:
    distinct, equal = (0.85, 0.6, 0.35), (0.6, 0.6, 0.6)
    for n, p in ((60, 15), (100, 20), (150, 25), (300, 40)):
        yield _Setting(f"distinct, {n} x {p}", n, 3, partial(_paired_features, p=p, correlations=distinct))
        yield _Setting(f"equal, {n} x {p}", n, 3, partial(_paired_features, p=p, correlations=equal))
    yield _Setting("distinct, 80 x 400", 80, 3, partial(_latent, p=400, strengths=(1.2, 0.9, 0.6)), _FEW_SETS)
    yield _Setting("equal, 80 x 400", 80, 3, partial(_latent, p=400, strengths=(0.9, 0.9, 0.9)), _FEW_SETS)
    yield _Setting(
        "distinct, 120 x 60, heavy tails", 120, 3, partial(_latent, p=60, strengths=(0.9, 0.6, 0.4), tails=4.0)
    )
    yield _Setting(
        "distinct, 120 x 60, neighbours correlate",
        120,
        3,
        partial(_latent, p=60, strengths=(0.9, 0.6, 0.4), between=0.7),
    )
    yield _Setting("distinct, 1,000 x 60", 1000, 3, partial(_paired_features, p=60, correlations=distinct), _FEW_SETS)
    for n, size, p, c in ((180, 3, 20, 3), (80, 4, 8, 2), (120, 10, 8, 2)):
        make = _grouped(_paired_features, size, p=p, correlations=distinct)
        yield _Setting(f"distinct, {n} in {n // size} groups x {p}", n, c, make, group_size=size)


def _three_noise_settings() -> Iterator[_Setting]:
    for n, p, c in ((40, 10, 3), (60, 15, 3), (60, 150, 3), (100, 20, 3), (200, 50, 5)):
        yield _Setting(f"{n} samples, {p} features", n, c, partial(_noise, p=p, n_views=3), _SETS_OF_THREE)
    make = _grouped(_noise, 3, p=20, n_views=3)
    yield _Setting("120 samples in 40 groups, 20 features", 120, 3, make, _SETS_OF_THREE, group_size=3)


def _three_planted_settings() -> Iterator[_Setting]:
    distinct, equal = (0.85, 0.6, 0.35), (0.6, 0.6, 0.6)
    for n, p in ((40, 10), (60, 15), (100, 20), (300, 40)):
        yield _Setting(
            f"distinct, {n} x {p}", n, 3, partial(_shared_features, p=p, correlations=distinct), _SETS_OF_THREE
        )
        yield _Setting(f"equal, {n} x {p}", n, 3, partial(_shared_features, p=p, correlations=equal), _SETS_OF_THREE)
    of_two = partial(_shared_features, p=20, correlations=(0.8, 0.6), carriers=((0, 1), (0, 1, 2)))
    yield _Setting(".8 in views 1 and 2, .6 in all, 100 x 20", 100, 2, of_two, _SETS_OF_THREE)
    strengths = (1.2, 0.9, 0.6)
    yield _Setting("distinct, 80 x 400", 80, 3, partial(_latent, p=400, strengths=strengths, n_views=3), _SETS_OF_THREE)
    make = _grouped(_shared_features, 3, p=20, correlations=distinct)
    yield _Setting("distinct, 180 in 60 groups x 20", 180, 3, make, _SETS_OF_THREE, group_size=3)


# --- claims -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Claims:
    """What the fits to the data sets of a setting claim; every array has one row per data set.

    `claims`, `truths` and `inside` (whether the interval has the truth) have the shape (data sets, 1 + pairs of views,
    components): first the mean over pairs of views.
    """

    setting: _Setting
    claims: np.ndarray
    truths: np.ndarray
    inside: np.ndarray
    p_values: np.ndarray


def _print_claims(title: str, settings: list[_Setting], share: int) -> list[_Claims]:
    rows, all_claims = [], []
    for setting in settings:
        found = _claims(setting, max(setting.n_sets // share, 2))
        all_claims.append(found)
        claims, truths, inside, p_values = found.claims[:, 0], found.truths[:, 0], found.inside[:, 0], found.p_values
        error = claims - truths
        rows.append(
            [
                setting.name,
                _numbers(claims.mean(axis=0)),
                _numbers(truths.mean(axis=0)),
                _numbers(error.mean(axis=0)),
                f"{(error.std(axis=0) / np.sqrt(len(error))).max():.3f}",
                _numbers(inside.mean(axis=0), 2),
                f"{np.mean(p_values <= _LEVEL):.3f}",
                str(len(claims)),
            ]
        )
    header = ["setting", "claim", "truth", "claim - truth", "se at most", "interval has it", "p <= .05", "data sets"]
    print_table(title, header, rows)
    return all_claims


def _print_pairs(title: str, all_claims: list[_Claims]) -> None:
    rows = []
    for found in all_claims:
        error = found.claims - found.truths
        for place, (v, u) in enumerate(combinations(range(3), 2), 1):
            rows.append(
                [
                    f"{found.setting.name}: views {v + 1} and {u + 1}",
                    _numbers(found.claims[:, place].mean(axis=0)),
                    _numbers(found.truths[:, place].mean(axis=0)),
                    _numbers(error[:, place].mean(axis=0)),
                    f"{(error[:, place].std(axis=0) / np.sqrt(len(error))).max():.3f}",
                    _numbers(found.inside[:, place].mean(axis=0), 2),
                ]
            )
    print_table(title, ["setting", "claim", "truth", "claim - truth", "se at most", "interval has it"], rows)


def _numbers(values: np.ndarray, digits: int = 3) -> str:
    return " ".join(f"{value:.{digits}f}".replace("0.", ".", 1) for value in values)


def _claims(setting: _Setting, n_sets: int) -> _Claims:
    found = Parallel(n_jobs=_JOBS)(delayed(_one_claim)(setting, seed) for seed in range(n_sets))
    return _Claims(setting, *(np.array(part) for part in zip(*found, strict=True)))


def _one_claim(setting: _Setting, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng([seed, setting.n])
    draw = setting.make(rng)
    groups = None if setting.group_size == 1 else np.arange(setting.n) // setting.group_size
    model = _fitted(setting.n_components, *draw(setting.n), groups=groups, seed=seed)
    scores = [each for each in model.transform(list(draw(_NEW))) if each is not None]
    of_pairs = np.zeros((len(model.view_pairs_), setting.n_components))
    for of_pair, (v, u) in zip(of_pairs, model.view_pairs_, strict=True):
        found = _correlations(scores[v], scores[u])
        of_pair[: len(found)] = found
    mean = np.tanh(np.arctanh(of_pairs).mean(axis=0)) if len(of_pairs) > 1 else of_pairs[0]
    truth = np.vstack([mean, of_pairs])
    claims = np.vstack([model.held_out_correlations_, model.held_out_pair_correlations_])
    intervals = np.concatenate([model.held_out_intervals_[None], model.held_out_pair_intervals_])
    inside = (intervals[:, :, 0] <= truth) & (truth <= intervals[:, :, 1])
    return claims, truth, inside, model.p_value_


def _fitted(n_components: int | str, *views: np.ndarray, groups=None, seed: int = 0) -> MultiSparseCCA:
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        return MultiSparseCCA(n_components, random_state=seed).fit(list(views), groups=groups)


def _correlations(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    norms = np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0)
    return np.einsum("ij,ij->j", A, B) / np.where(norms > 0, norms, 1.0)


# --- p-values ---------------------------------------------------------------------------------------------------------


def _print_p_values(share: int) -> None:
    """How often p <= .05, beside the test of earlier versions: half of the pairs left out, once."""
    settings = [
        _Setting("noise, 60 x 15", 60, 1, partial(_noise, p=15)),
        _Setting("one factor of .6, 60 x 15", 60, 1, partial(_paired_features, p=15, correlations=(0.6,))),
        _Setting("one factor of .8, 60 x 15", 60, 1, partial(_paired_features, p=15, correlations=(0.8,))),
        _Setting("five factors of .5, 60 x 15", 60, 1, partial(_paired_features, p=15, correlations=(0.5,) * 5)),
        _Setting("one factor of .5, 100 x 20", 100, 1, partial(_paired_features, p=20, correlations=(0.5,))),
        _Setting("one wide factor, 60 x 200", 60, 1, partial(_latent, p=200, strengths=(0.5,))),
        _Setting("one wide factor, 100 x 400", 100, 1, partial(_latent, p=400, strengths=(0.45,))),
    ]
    rows = []
    for setting in settings:
        found = Parallel(n_jobs=_JOBS)(
            delayed(_two_p_values)(setting, s) for s in range(max(setting.n_sets // share, 2))
        )
        ours, halves = np.array(found).T
        rows.append(
            [setting.name, f"{np.mean(ours <= _LEVEL):.3f}", f"{np.mean(halves <= _LEVEL):.3f}", str(len(found))]
        )
    print_table(
        "p <= .05, as a share of the data sets", ["setting", "p_value_", "one half left out", "data sets"], rows
    )


def _print_power_of_three(share: int) -> None:
    """How often p <= .05 with three views, beside the test of the first two of them alone."""
    settings = [
        _Setting("three views of noise, 60 x 15", 60, 1, partial(_noise, p=15, n_views=3)),
        *(
            _Setting(
                f"one factor of {r:g} in {where}, {n} x {p}",
                n,
                1,
                partial(_shared_features, p=p, correlations=(r,), carriers=(carriers,)),
            )
            for r, n, p, where, carriers in (
                (0.4, 60, 15, "all", (0, 1, 2)),
                (0.6, 60, 15, "all", (0, 1, 2)),
                (0.6, 60, 15, "views 1 and 2", (0, 1)),
                (0.8, 60, 15, "views 1 and 2", (0, 1)),
                (0.4, 100, 20, "all", (0, 1, 2)),
                (0.6, 100, 20, "views 1 and 2", (0, 1)),
            )
        ),
    ]
    rows = []
    for setting in settings:
        n_sets = max(setting.n_sets // share, 2)
        found = Parallel(n_jobs=_JOBS)(delayed(_of_three_and_two)(setting, seed) for seed in range(n_sets))
        three, two = np.array(found).T
        rows.append([setting.name, f"{np.mean(three <= _LEVEL):.3f}", f"{np.mean(two <= _LEVEL):.3f}", str(n_sets)])
    title = "p <= .05, as a share of the data sets, with all three views and with the first two alone"
    print_table(title, ["setting", "three views", "views 1 and 2", "data sets"], rows)


def _of_three_and_two(setting: _Setting, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, setting.n, 1])
    views = setting.make(rng)(setting.n)
    return _fitted(1, *views, seed=seed).p_value_, _fitted(1, *views[:2], seed=seed).p_value_


def _two_p_values(setting: _Setting, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng([seed, setting.n, 1])
    X, Y = setting.make(rng)(setting.n)
    return _fitted(1, X, Y, seed=seed).p_value_, _of_half(X, Y, rng)


def _of_half(X: np.ndarray, Y: np.ndarray, rng: np.random.Generator) -> float:
    """The largest of five factors of one half, on the other half, against permuted pairs of it."""
    order = rng.permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultiSparseCCA(5, held_out=0).fit([X[train], Y[train]])
    A, B = (model.project(view[test], v) for v, view in enumerate((X, Y)))
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)

    def largest(B: np.ndarray) -> float:
        products = A * B
        return float(np.max(products.sum(axis=0) / np.maximum(np.linalg.norm(products, axis=0), 1e-300)))

    found = largest(B)
    return (1 + sum(largest(B[rng.permutation(len(B))]) >= found for _ in range(199))) / 200


# --- real tables ------------------------------------------------------------------------------------------------------


def _print_verdicts(tables: list[Path]) -> None:
    """p-values of true and of shuffled pairs over ten seeds, for the first two matrices of every .npz file.

    Columns with missing values are left out.
    """
    rows = []
    for path in tables:
        with np.load(path) as stored:
            matrices = [stored[name] for name in stored.files if stored[name].ndim == 2]
        if len(matrices) < 2:
            print(f"{path} has {len(matrices)} matrices, and two are needed; left out")
            continue
        X, Y = (matrix[:, np.isfinite(matrix).all(axis=0)].astype(np.float64) for matrix in matrices[:2])
        found = Parallel(n_jobs=_JOBS)(delayed(_of_seed)(X, Y, seed) for seed in range(10))
        true, shuffled, counts = zip(*found, strict=True)
        rows.append(
            [
                f"{path.stem}, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]}",
                f"{max(true):.3f}",
                f"{sum(p <= _LEVEL for p in shuffled)} of {len(shuffled)}",
                " ".join(map(str, counts)),
            ]
        )
    header = ["table", "true pairs: largest p of 10 seeds", "shuffled: p <= .05", "components counted"]
    print_table("Verdicts over ten seeds", header, rows)


def _of_seed(X: np.ndarray, Y: np.ndarray, seed: int) -> tuple[float, float, int]:
    order = np.random.default_rng(seed).permutation(len(X))
    true = _fitted("auto", X, Y, seed=seed)
    return true.p_value_, _fitted(2, X, Y[order], seed=seed).p_value_, true.n_components_


# --- real text --------------------------------------------------------------------------------------------------------


def _print_texts(corpus: tuple[Path, Path], join: int) -> None:
    """Claims of models of texts against other pairs of the corpus, and against folds that learn everything themselves.

    A fit learns TF-IDF and the number of words to read from all pairs, of which its folds leave some out. If that told
    anything about the pairs left out, claims would be larger than those of folds that learn these too.
    """
    first, second = texts_of(corpus, join)
    rows = []
    for n, n_components, n_sets in ((60, 5, 20), (200, 10, 10), (800, 20, 4)):
        if n + _FEWEST_NEW > len(first):
            continue
        found = Parallel(n_jobs=_JOBS)(
            delayed(_one_text)(first, second, n, n_components, seed) for seed in range(n_sets)
        )
        claims, alone, truths, inside = (np.array(part) for part in zip(*found, strict=True))
        error = (claims - truths).mean(axis=0)
        rows.append(
            [
                f"{n} pairs, {n_components} components",
                f"{claims.mean():.3f}",
                f"{alone.mean():.3f} ({(claims - alone).mean(axis=1).std() / np.sqrt(n_sets):.3f})",
                f"{truths.mean():.3f}",
                f"{error.min():.3f} to {error.max():.3f}",
                f"{inside.mean():.3f}",
                str(n_sets),
            ]
        )
    header = [
        "setting",
        "claim",
        "all learnt in folds (se of difference)",
        "truth",
        "claim - truth by rank",
        "interval has it",
        "sets",
    ]
    print_table("Texts: mean over components of claims, and of the truth on other pairs", header, rows)


def _one_text(
    first: list[str], second: list[str], n: int, n_components: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Claims, claims of folds that learn everything, truths, and whether the intervals have them."""
    order = np.random.default_rng(seed).permutation(len(first))
    learnt, new = order[:n], order[n : n + _NEW]
    texts = [[side[i] for i in learnt] for side in (first, second)]
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        model = BilingualModel(n_components, random_state=seed).fit(PairedText.of(*texts, ("first", "second")))
        scores = [
            model.project([side[i] for i in new], name)
            for side, name in zip((first, second), model.languages_, strict=True)
        ]
        alone = _all_in_folds(texts, n_components, seed)
    truth = _correlations(*scores)
    low, high = model.scca_.held_out_intervals_.T
    return model.scca_.held_out_correlations_, alone, truth, (low <= truth) & (truth <= high)


def _all_in_folds(texts: list[list[str]], n_components: int, seed: int) -> np.ndarray:
    """Correlations on pairs left out of 8 folds, whose TF-IDF, words to read and components come from the others."""
    n = len(texts[0])
    pooled = np.zeros((2, n, n_components))
    for test in Groups.of(None, n).parts(8, np.random.default_rng(seed)):
        train = np.setdiff1d(np.arange(n), test)
        pairs = PairedText.of(*([side[i] for i in train] for side in texts), ("first", "second"))
        model = BilingualModel(n_components, held_out=0).fit(pairs)
        for scores, side, name in zip(pooled, texts, model.languages_, strict=True):
            training = model.project([side[i] for i in train], name)
            found = model.project([side[i] for i in test], name) - training.mean(axis=0)
            spread = training.std(axis=0)
            scores[test, : found.shape[1]] = found / np.where(spread > 0, spread, 1.0)
    return _correlations(*pooled)
