"""AnchoredCCA is the paper's Algorithm 4, to the last digits, however the views are stored."""

from functools import cache
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import algorithm_4, prepare, prepare_kernel
from sklearn.metrics.pairwise import pairwise_kernels

from scca import AnchoredCCA, Kernel

# The gap of a convex problem bounds its weights by a square root, 1e-6 here, but the solver ends with linear equations
# on the free coordinates: once it knows which are free, all that is left is rounding. A gap of 1e-14 was reached on
# every problem tried; 1e-15 is the rounding error of the gap itself, and some problems stop short of it.
TOL = 1e-12
AGREE = 1e-8  # of the largest number of each array

pytestmark = pytest.mark.filterwarnings("error")  # that TOL was not reached, above all

# n samples, features of X and of Y, components. So few features beside 500 samples that no one would store the kernel.
SMALL, TALL = (40, 12, 9, 5), (500, 8, 6, 4)


@cache
def made(n, p, q, seed=1):
    """Two views that share four factors, with features of unequal size, and many zeros, for sparse storage."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n, 4))
    views = [factors @ rng.standard_normal((4, m)) + 0.5 * rng.standard_normal((n, m)) for m in (p, q)]
    for view in views:
        view *= np.linspace(0.5, 2, view.shape[1])
        view[:, :-1] *= rng.random((n, view.shape[1] - 1)) < 0.6  # the last stays: no sample is zero
    return views


@cache
def oracle(size, center, scale, **factors):
    """Algorithm 4 on all but the last tenth of the samples."""
    n, p, q, n_components = size
    X, Y = (prepare(view[: len(view) - n // 10], center, scale) for view in made(n, p, q))
    return algorithm_4(X, Y @ Y.T, n_components, **factors)


def close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=AGREE * np.abs(expected).max())


def assert_is(model, expected):
    """A fitted model against the oracle, in everything but the scores of samples."""
    assert model.anchors_.tolist() == expected.anchors.tolist()
    close(model.x_weights_, expected.x_weights)
    close(model.y_weights_, expected.y_weights)
    assert ((model.x_weights_ != 0) == (expected.x_weights != 0)).all()
    assert ((model.y_weights_ != 0) == (expected.y_weights != 0)).all()
    close(model.x_rotations_, expected.x_rotations)
    close(model.y_rotations_, expected.y_rotations)
    for name in ("mu", "gamma", "objective", "correlations"):
        np.testing.assert_allclose(getattr(model, name + "_"), getattr(expected, name), rtol=AGREE, err_msg=name)


def like_training(new, training, center, scale):
    """New samples, centred by the training means and scaled."""
    new = new - training.mean(axis=0) if center else new
    return new / np.linalg.norm(new, axis=1, keepdims=True) if scale else new


@pytest.mark.parametrize(("center", "scale"), list(product([True, False], ["rows", None])))
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("size", [SMALL, TALL])
def test_everything_agrees(size, store, center, scale):
    n, p, q, n_components = size
    n_training = n - n // 10
    (X, X_new), (Y, Y_new) = ((view[:n_training], view[n_training:]) for view in made(n, p, q))
    model = AnchoredCCA(n_components, center=center, scale=scale, tol=TOL).fit(store(X), store(Y))
    expected = oracle(size, center, scale)
    assert_is(model, expected)

    close(model.transform(store(X)), expected.x_scores)
    close(model.transform_y(store(Y)), expected.y_scores)
    X_new, Y_new = (
        (store(new), like_training(new, training, center, scale)) for new, training in ((X_new, X), (Y_new, Y))
    )
    close(model.transform(X_new[0]), X_new[1] @ expected.x_rotations)
    kernel_with_training = Y_new[1] @ prepare(Y, center, scale).T
    close(model.transform_y(Y_new[0]), kernel_with_training @ expected.y_rotations)


@pytest.mark.parametrize("size", [SMALL, TALL])
def test_other_penalties(size):
    """Small ones, which let in more weights, and some samples at their bound of 1."""
    n, p, q, n_components = size
    X, Y = (view[: n - n // 10] for view in made(n, p, q))
    model = AnchoredCCA(n_components, mu="auto*0.3", gamma="auto*0.2", tol=TOL).fit(X, Y)
    assert_is(model, oracle(size, True, "rows", mu_factor=0.3, gamma_factor=0.2))


@pytest.mark.parametrize(
    ("kernel", "parameters"), [("linear", {}), ("rbf", {"gamma": 0.05}), ("polynomial", {"degree": 2, "gamma": 0.1})]
)
@pytest.mark.parametrize("precomputed", [False, True])
def test_other_kernels(kernel, parameters, precomputed):
    X, Y = made(*SMALL[:3])
    K = pairwise_kernels(Y, metric=kernel, **parameters)
    given = "precomputed" if precomputed else Kernel(kernel, parameters)
    model = AnchoredCCA(5, kernel=given, tol=TOL).fit(X, K if precomputed else Y)
    assert_is(model, algorithm_4(prepare(X), prepare_kernel(K), 5))


def test_the_other_way_round():
    X, Y = made(*SMALL[:3])
    model = AnchoredCCA(5, representation="dual-primal", tol=TOL).fit(Y, X)
    expected = algorithm_4(prepare(X), prepare(Y) @ prepare(Y).T, 5)
    assert model.anchors_.tolist() == expected.anchors.tolist()
    close(model.y_weights_, expected.x_weights)
    close(model.x_weights_, expected.y_weights)
    close(model.y_rotations_, expected.x_rotations)
    close(model.x_rotations_, expected.y_rotations)


def test_anchors_passed_over_come_back_after_the_others():
    """Four features beside 12 samples: anchors 0 and 1 are empty at first, and 0 no longer when all had their turn."""
    rng = np.random.default_rng(37)
    X, Y = rng.standard_normal((12, 4)), rng.standard_normal((12, 6))
    expected = algorithm_4(prepare(X), prepare(Y) @ prepare(Y).T, 4)
    assert expected.anchors.tolist() == [2, 7, 11, 0]
    assert_is(AnchoredCCA(4, tol=TOL).fit(X, Y), expected)
