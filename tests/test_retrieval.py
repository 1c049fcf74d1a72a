"""Mate retrieval against a brute-force count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scca.retrieval import average_precision, mate_ranks


def brute_force(A, B):
    """Ranks by sorting every list of cosines, ties at their mean position, a zero vector having cosine 0 with all."""

    def unit(v):
        norm = np.linalg.norm(v)
        return v / norm if norm else v

    ranks = []
    for i, query in enumerate(A):
        cosines = np.array([round(float(unit(query) @ unit(candidate)), 9) for candidate in B])
        positions = np.flatnonzero(np.sort(cosines)[::-1] == cosines[i]) + 1
        ranks.append(positions.mean())
    return np.array(ranks)


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 4))
def test_brute_force_with_ties(seed, n, c):
    rng = np.random.default_rng(seed)
    A, B = rng.integers(-1, 2, (n, c)).astype(float), rng.integers(-1, 2, (n, c)).astype(float)
    a_to_b, b_to_a = mate_ranks(A, B)
    np.testing.assert_array_equal(a_to_b, brute_force(A, B))
    np.testing.assert_array_equal(b_to_a, brute_force(B, A))
    result = average_precision(A, B)
    assert result.a_to_b == pytest.approx(np.mean(1 / brute_force(A, B)))
    assert result.average_precision == pytest.approx((result.a_to_b + result.b_to_a) / 2)


def test_blocks_do_not_show(rng, monkeypatch):
    A, B = rng.standard_normal((50, 3)), rng.standard_normal((50, 3))
    whole = mate_ranks(A, B)
    monkeypatch.setattr("scca.retrieval._BLOCK", 7)
    np.testing.assert_array_equal(mate_ranks(A, B), whole)


def test_scale_of_a_sample_does_not_matter(rng):
    A, B = rng.standard_normal((20, 3)), rng.standard_normal((20, 3))
    scaled = mate_ranks(A * 10.0 ** rng.integers(-150, 150, (20, 1)), B)
    np.testing.assert_array_equal(scaled, mate_ranks(A, B))


def test_perfect_and_uninformative(rng):
    A = rng.standard_normal((9, 4))
    assert average_precision(A, A).average_precision == 1
    a_to_b, b_to_a = mate_ranks(np.zeros((9, 4)), A)
    assert (a_to_b == 5).all()
    assert (b_to_a == 5).all()


def test_bad_input(rng):
    A = rng.standard_normal((5, 3))
    with pytest.raises(ValueError, match="A and B must have the same number of samples; got 5 and 4"):
        mate_ranks(A, A[:4])
    with pytest.raises(ValueError, match="same number of columns; got 3 and 2"):
        mate_ranks(A, A[:, :2])
    A[2, 1] = np.nan
    with pytest.raises(ValueError, match="Input B contains NaN"):
        mate_ranks(np.ones((5, 3)), A)
