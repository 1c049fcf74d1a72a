"""Section 5.1's lasso on raw matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import lasso_dual_bound, prepare

from scca.anchored._generation import Generator
from scca.datasets import make_bilingual


@pytest.fixture(scope="module")
def data():
    made = make_bilingual(80, vocabulary=300, random_state=0)
    return made.X, made.Y


def test_certificate_of_every_point_of_a_path(data):
    X, Y = data
    generator = Generator(X[:79], Y[:79], tol=1e-8)
    mus = [0.3, 0.01, "auto", "auto*0.3", 0.05]
    path = generator.path(Y[[79]], mus)
    dense = prepare(X[:79].toarray())
    q = Y[[79]].toarray()[0] - Y[:79].toarray().mean(axis=0)
    k = prepare(Y[:79].toarray()) @ q / np.linalg.norm(q)
    for made in path:
        objective = np.sum((k - dense @ made.weights) ** 2) + made.mu * np.abs(made.weights).sum()
        assert made.objective == pytest.approx(objective, rel=1e-9)
        assert objective - lasso_dual_bound(dense, k, made.weights, made.mu) <= 2e-8 * (k @ k)
        assert made.converged
    assert path[2].mu == pytest.approx(np.abs(2 * dense.T @ k).mean(), rel=1e-9)
    assert path[0].mu == 0.3


def test_a_path_is_the_single_solves(data):
    X, Y = data
    generator = Generator(X, Y, tol=1e-10)
    mus = np.geomspace(0.5, 0.005, 12)
    for made, mu in zip(generator.path(Y[[3]], mus), mus, strict=True):
        alone = generator.generate(Y[[3]], mu=mu)[0]
        np.testing.assert_allclose(made.weights, alone.weights, atol=1e-4)


def test_dense_and_sparse_agree(data):
    X, Y = data
    sparse = Generator(X, Y).generate(Y[:3])
    dense = Generator(X.toarray(), Y.toarray()).generate(Y[:3].toarray())
    for a, b in zip(sparse, dense, strict=True):
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-5)


def test_bad_input(data):
    X, Y = data
    with pytest.raises(ValueError, match="same number of samples; got 80 and 79"):
        Generator(X, Y[:79])
    generator = Generator(X, Y)
    with pytest.raises(ValueError, match="queries must have the 300 features of Y; got 2"):
        generator.generate(np.ones((1, 2)))
    with pytest.raises(ValueError, match="query must be a single row; got 2"):
        generator.path(Y[:2], ["auto"])
    with pytest.raises(ValueError, match="mu must be .* got -1"):
        generator.generate(sp.csr_array(Y[[0]]), mu=-1)


def test_least_squares_is_the_shortest_minimiser(rng):
    X, Y = rng.random((12, 30)), rng.random((12, 9))
    queries = rng.random((3, 9))
    centred = queries - Y.mean(axis=0)
    k = prepare(Y) @ (centred / np.linalg.norm(centred, axis=1)[:, None]).T
    expected = np.linalg.pinv(prepare(X), rcond=1e-10) @ k
    np.testing.assert_allclose(Generator(X, Y).least_squares(queries), expected.T, atol=1e-6 * np.abs(expected).max())
