import numpy as np
import pytest
import scipy.sparse as sp

from scca.datasets import make_planted


def test_factors_are_where_they_are_said_to_be():
    planted = make_planted(4000, 30, 20, n_factors=2, n_active=4, strength=2.0, random_state=0)
    assert np.count_nonzero(planted.x_loadings, axis=0).tolist() == [4, 4]
    assert np.count_nonzero(planted.x_loadings.any(axis=1)) == 8
    # each carried feature is 2 factor + noise: its covariance with the factor is the loading, to sampling error
    covariance = planted.X.T @ planted.factors / 4000
    np.testing.assert_allclose(covariance, planted.x_loadings, atol=6 * np.sqrt(5 / 4000))


def test_sparse():
    planted = make_planted(200, 300, 400, density=0.05, random_state=0)
    assert sp.issparse(planted.X)
    assert planted.Y.shape == (200, 400)
    assert planted.X.nnz == 0.05 * 200 * 300


def test_seed():
    first, second = (make_planted(20, 30, 30, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    assert not np.array_equal(first.X, make_planted(20, 30, 30, random_state=4).X)


def test_bad_input():
    with pytest.raises(ValueError, match=r"n_features_y must be at least n_factors \* n_active = 20; got 19"):
        make_planted(10, 30, 19)
    with pytest.raises(ValueError, match="density must be greater than 0 and at most 1; got 0"):
        make_planted(10, density=0)
