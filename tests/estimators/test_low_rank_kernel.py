"""Estimators with an approximated kernel, against the stored one."""

import io
import json
import logging

import mutated_files
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from subprocesses import run_program

import scca
from scca import AnchoredCCA, Kernel, KernelCCA, LowRankKernel, SparseCCA, SparseCCACV
from scca.datasets import make_planted
from scca.persistence import ModelFileError

RBF = Kernel("rbf", gamma=0.02)
MODELS = [
    SparseCCA(3, kernel=RBF, held_out=0),
    SparseCCA(3, kernel=(RBF, RBF), rendering="dense", held_out=0),
    AnchoredCCA(2, kernel=RBF, anchors="cross-energy", representation="dual-primal", scale="auto"),
    SparseCCA(2, kernel=RBF, held_out=3, center=False, scale=None),
    KernelCCA(3, kernel=RBF),
]


@pytest.fixture(scope="module")
def pair():
    return make_planted(120, 24, 22, n_active=5, random_state=0).views


@pytest.fixture(scope="module")
def new():
    return make_planted(40, 24, 22, n_active=5, random_state=1).views


@pytest.mark.parametrize("method", ["cholesky", "nystroem"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_full_rank_is_the_stored_kernel(pair, new, model, method):
    low = LowRankKernel(RBF, 120, method=method)
    stored = clone(model).fit(*pair)
    low = clone(model).set_params(kernel=(low, low) if isinstance(model.kernel, tuple) else low).fit(*pair)
    assert max(getattr(low, f"{name.lower()}_kernel_error_") for name in low._dual_views) < 1e-12
    np.testing.assert_allclose(low.correlations_, stored.correlations_, atol=1e-7)
    for views in (pair, new):
        for mine, other in zip(low.transform_pair(*views), stored.transform_pair(*views), strict=True):
            mine = mine * np.sign(np.sum(mine * other, axis=0))
            if (
                model.scale is not None and views is new
            ):  # the norm of a new sample is that of its part in the span of Z
                mine, other = (scores / np.linalg.norm(scores, axis=1, keepdims=True) for scores in (mine, other))
            np.testing.assert_allclose(mine, other, atol=1e-6 * np.abs(other).max())
    np.testing.assert_allclose(low.score(*new), stored.score(*new), rtol=1e-9)
    if model.scale is None:
        np.testing.assert_allclose(low.held_out_correlations_, stored.held_out_correlations_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*the kernel of")
@pytest.mark.parametrize("method", ["cholesky", "nystroem", "random"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
def test_scores_are_weights_times_the_approximated_kernel(pair, store, method):
    """Also those of the training samples alone; the certificate is of this problem."""
    X, Y = map(store, pair)
    model = KernelCCA(2, kernel=LowRankKernel(RBF, 30, method=method)).fit(X, Y)
    rows = model.y_preparation_.map.rows(store(pair[1] / np.std(pair[1], axis=0)))
    F = model.y_preparation_.preparation.transform(rows).columns(np.arange(30))
    np.testing.assert_allclose(model.transform_y(Y), F @ (F.T @ model.y_weights_), atol=1e-9)
    np.testing.assert_allclose(model.transform_y(Y[7:8]), model.transform_y(Y)[7:8], atol=1e-9)
    sparse = SparseCCA(2, kernel=LowRankKernel(RBF, 30, method=method), held_out=0).fit(X, Y)
    np.testing.assert_allclose(sparse.transform_y(Y), F @ (F.T @ sparse.y_weights_), atol=1e-9)
    assert sparse.converged_.all()
    norms = np.linalg.norm(F @ F.T, axis=0)
    assert sparse.y_loadings_.shape == (120, 2)
    assert np.abs(sparse.y_loadings_).max() <= norms.max()


def test_fewer_columns_lose_little_of_a_smooth_kernel(pair, new):
    smooth = Kernel("rbf", gamma=1e-3)
    stored, low = (KernelCCA(2, regularization=0.5, kernel=k).fit(*pair) for k in (smooth, LowRankKernel(smooth, 60)))
    assert low.x_kernel_error_ < 0.01
    np.testing.assert_allclose(low.canonical_values_, stored.canonical_values_, atol=0.01)
    assert abs(low.score(*new) - stored.score(*new)) < 0.05


def test_a_function_of_two_rows(pair):
    X, Y = pair

    def k(a, b):
        return float(np.exp(-0.02 * np.sum((a - b) ** 2)))

    by_name = SparseCCA(2, kernel=LowRankKernel(RBF, 40), held_out=0, scale=("both", "rows"))
    by_function = SparseCCA(2, kernel=LowRankKernel(k, 40), held_out=0)
    with pytest.warns(scca.DataWarning, match="relative error"):
        scores = [model.fit(X, Y).transform_y(Y) for model in (by_name, by_function)]
    np.testing.assert_allclose(*scores, atol=1e-9)


def test_float32_stays(pair):
    X, Y = (view.astype(np.float32) for view in pair)
    model = KernelCCA(2, kernel=LowRankKernel(RBF, 120)).fit(X, Y)
    assert model.transform(X).dtype == model.x_weights_.dtype == np.float32


def test_a_linear_kernel_is_the_linear_kernel(pair):
    low = KernelCCA(2, kernel=LowRankKernel("linear", 100)).fit(*pair)
    np.testing.assert_allclose(low.canonical_values_, KernelCCA(2).fit(*pair).canonical_values_, rtol=1e-9)
    assert low.x_preparation_.map.rank == 24


def test_a_large_error_is_a_warning_and_every_error_is_logged(pair, caplog):
    model = SparseCCA(2, kernel=LowRankKernel(Kernel("rbf", gamma=0.1), 10), held_out=0)
    with (
        caplog.at_level(logging.INFO, logger="scca"),
        pytest.warns(
            scca.DataWarning, match="kernel of Y is approximated with a relative error of .* raise the rank .* above 10"
        ) as caught,
    ):
        model.fit(*pair)
    assert len(caught) == 1
    assert any("kernel of Y: rank 10, relative error" in record.message for record in caplog.records)
    assert not hasattr(model, "x_kernel_error_")
    assert not hasattr(model.set_params(kernel="rbf").fit(*pair), "y_kernel_error_")  # of an earlier fit


@pytest.mark.filterwarnings("ignore:.*the kernel of")
def test_searches_and_clones(pair):
    kernel = LowRankKernel(RBF, 20, method="nystroem", random_state=3)
    model = SparseCCA(2, kernel=kernel, held_out=0)
    assert clone(model).get_params()["kernel__rank"] == 20
    search = GridSearchCV(model, {"kernel__rank": [5, 60], "kernel__method": ["cholesky"]}, cv=3).fit(*pair)
    assert search.best_params_["kernel__rank"] == 60
    assert kernel.rank == 20
    assert SparseCCACV(2, mu_factors=(1, 2), ridge_factors=(1,), cv=3, kernel=kernel, held_out=0).fit(*pair).n_splits_
    refitted = [clone(model).fit(*pair).transform_y(pair[1]) for _ in range(2)]
    np.testing.assert_array_equal(*refitted)


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (LowRankKernel("precomputed"), 'may not be "precomputed"'),
        (LowRankKernel("laplacian", method="random"), 'method="random" has features of the rbf kernel only'),
        (LowRankKernel(rank=0), "rank"),
        (LowRankKernel(rank=2.5), "rank"),
        (LowRankKernel(method="svd"), "method must be"),
        (LowRankKernel(random_state="x"), "random_state"),
        (LowRankKernel("nope"), "kernel must be a callable or one of"),
        (LowRankKernel(None), "kernel must be a callable"),
        (LowRankKernel(LowRankKernel()), "kernel must be a callable"),
        (LowRankKernel, "kernel"),
    ],
)
@pytest.mark.parametrize("estimator", [SparseCCA, KernelCCA])
def test_refused(pair, estimator, kernel, match):
    with pytest.raises(ValueError, match=match):
        estimator(1, kernel=kernel).fit(*pair)


@pytest.mark.parametrize("method", ["cholesky", "nystroem", "random"])
def test_unknown_parameters_are_refused(pair, method):
    with pytest.raises(ValueError, match=r"the kernel rbf failed with \{'gama': 1\}"):
        KernelCCA(1, kernel=LowRankKernel(Kernel("rbf", gama=1), 9, method=method)).fit(*pair)


# --- model files ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*the kernel of")
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", ["cholesky", "nystroem", "random"])
def test_model_files(pair, tmp_path, method, store):
    X, Y = map(store, pair)
    for model in (SparseCCA(2, held_out=0), AnchoredCCA(2), KernelCCA(2)):
        model.set_params(kernel=LowRankKernel(RBF, 20, method=method, random_state=1)).fit(X, Y)
        scca.save(model, tmp_path / "m.scca")
        again = scca.load(tmp_path / "m.scca")
        assert again.y_kernel_error_ == model.y_kernel_error_
        assert str(again) == str(model)
        for mine, other in zip(again.transform_pair(X, Y), model.transform_pair(X, Y), strict=True):
            np.testing.assert_array_equal(mine, other)
        again.fit(X, Y)


def test_a_function_cannot_be_saved(pair, tmp_path):
    model = KernelCCA(1, kernel=LowRankKernel(lambda a, b: float(a @ b), 30)).fit(*pair)
    with pytest.raises(TypeError, match="cannot be saved: model files have numbers and text, no code"):
        scca.save(model, tmp_path / "m.scca")


@pytest.mark.filterwarnings("ignore:.*the kernel of")
@pytest.mark.parametrize(
    ("method", "part", "change", "complaint"),
    [
        ("cholesky", "triangle", lambda a: a[:, :-1], "triangle has shape"),
        ("cholesky", "triangle", lambda a: 0 * a, "triangle is singular"),
        ("cholesky", "triangle", lambda a: a * np.nan, "triangle holds numbers that are not finite"),
        ("cholesky", "samples", lambda a: a[:, 1:], "training has shape"),
        ("cholesky", "samples", lambda a: a[1:], "triangle has shape"),
        ("random", "directions", lambda a: a[1:], "directions has shape"),
        ("random", "offsets", lambda a: a[:0], "there are no random features"),
    ],
)
def test_parts_that_do_not_fit(pair, tmp_path, method, part, change, complaint):
    path = tmp_path / "m.scca"
    scca.save(KernelCCA(1, kernel=LowRankKernel("rbf", 8, method=method)).fit(*pair), path)
    manifest, members = mutated_files.unpacked(path.read_bytes())
    manifest = json.loads(json.dumps(manifest))
    state = manifest["model"]["state"]["_projectors"][0]["state"]["preparation"]["state"]["map"]["state"]
    name = state[part]["$array"]
    changed = np.ascontiguousarray(change(np.load(io.BytesIO(members[name]))))
    path.write_bytes(mutated_files.packed(manifest, {**members, name: mutated_files.npy(changed)}))
    with pytest.raises(ModelFileError, match="is damaged, incomplete or altered") as raised:
        scca.load(path)
    assert complaint in str(raised.value.__cause__)


# --- workers ----------------------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, sys, warnings
from scca import KernelCCA, LowRankKernel, SparseCCA
from scca.datasets import make_planted
warnings.simplefilter("ignore")
X, Y = make_planted(2500, 20, 20, n_active=5, random_state=0).views  # more than a block
for n_jobs in map(int, sys.argv[1:]):
    digest = hashlib.sha256()
    for method in ("cholesky", "nystroem", "random"):
        settings = {"kernel": LowRankKernel("rbf", 30, method=method), "n_jobs": n_jobs}
        for model in (SparseCCA(2, held_out=0, **settings), KernelCCA(2, **settings)):
            for scores in model.fit(X, Y).transform_pair(X, Y):
                digest.update(scores.tobytes())
        digest.update(str(model.x_kernel_error_).encode())
    print(digest.hexdigest())
"""


@pytest.mark.parametrize("n_jobs", [(1, 4), pytest.param((1, 2, 4), marks=pytest.mark.slow)])
def test_same_bytes_for_any_number_of_workers(n_jobs):
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    digests = run_program(PROGRAM, *n_jobs, **threads).stdout.split()
    assert len(digests) == len(n_jobs)
    assert len(set(digests)) == 1
