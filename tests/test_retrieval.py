"""Mate retrieval against a brute-force count."""

import os
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from scca.retrieval import ApproximateIndex, ExactIndex, average_precision, best_matches, mate_ranks


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
    A, B = rng.standard_normal((150, 3)), rng.standard_normal((150, 3))
    whole = mate_ranks(A, B)
    monkeypatch.setattr("scca.retrieval._cosines.QUERIES", 7)
    monkeypatch.setattr("scca.retrieval._cosines.CANDIDATES", 64)
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


def plain_matches(queries, candidates, top):
    """The whole matrix of cosines, sorted."""
    cosines = np.array([[cosine(q, c) for c in candidates] for q in queries]).reshape(len(queries), len(candidates))
    order = np.argsort(-cosines.round(9), axis=1, kind="stable")[:, :top]
    return order, np.take_along_axis(cosines, order, axis=1)


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return float(a @ b) / norms if norms else 0.0


class TestBestMatches:
    @pytest.fixture(params=["one tile", "many tiles"])
    def _tiles(self, request, monkeypatch):
        if request.param == "many tiles":
            monkeypatch.setattr("scca.retrieval._exact.CANDIDATES", 64)
            monkeypatch.setattr("scca.retrieval._exact.QUERIES", 16)

    @pytest.mark.usefixtures("_tiles")
    @pytest.mark.parametrize("top", [1, 3, 40, 299, 300, 1000])
    @pytest.mark.parametrize("n_queries", [1, 50, 150])
    def test_whole_matrix(self, rng, top, n_queries):
        queries, candidates = rng.standard_normal((n_queries, 5)), rng.standard_normal((300, 5))
        queries[n_queries // 2] = 0
        candidates[[7, 290]] = 0
        indices, similarities = best_matches(queries, candidates, top)
        expected, cosines = plain_matches(queries, candidates, top)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_allclose(similarities, cosines, atol=1e-14)

    @pytest.mark.usefixtures("_tiles")
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("n_candidates", [7, 130, 1009])
    def test_equal_candidates_tie_wherever_they_stand(self, rng, dtype, n_candidates):
        kinds = rng.standard_normal((5, 40)).astype(dtype)
        kind = rng.integers(0, 5, n_candidates)
        queries = rng.standard_normal((20, 40)).astype(dtype)
        indices, similarities = best_matches(queries, kinds[kind], n_candidates - 2)
        assert similarities.dtype == dtype
        order = plain_matches(queries, kinds.astype(float), 5)[0]
        for found, kinds_in_order in zip(indices, order, strict=True):
            expected = np.concatenate([np.flatnonzero(kind == k) for k in kinds_in_order])
            np.testing.assert_array_equal(found, expected[: n_candidates - 2])

    def test_queries_one_by_one(self, rng):
        """The answer to a query does not depend on the others, to the last bit."""
        queries, candidates = rng.standard_normal((300, 30)), rng.standard_normal((20_000, 30))
        indices, similarities = best_matches(queries, candidates, 10)
        for rows in (slice(0, 1), slice(100, 229), slice(299, 300)):
            some = best_matches(queries[rows], candidates, 10)
            np.testing.assert_array_equal(some[0], indices[rows])
            np.testing.assert_array_equal(some[1], similarities[rows])

    def test_number_of_threads_does_not_show(self, rng, monkeypatch):
        queries, candidates = rng.standard_normal((300, 30)), rng.standard_normal((20_000, 30))
        whole = best_matches(queries, candidates, 10), mate_ranks(candidates[:300], queries)
        monkeypatch.setattr("scca.parallel._tasks._N_CORES", 1)
        np.testing.assert_equal((best_matches(queries, candidates, 10), mate_ranks(candidates[:300], queries)), whole)

    def test_memory_is_bounded(self, rng):
        queries = rng.standard_normal((1000, 10)).astype(np.float32)
        candidates = rng.standard_normal((200_000, 10)).astype(np.float32)
        best_matches(queries[:2], candidates[:2], 1)
        tracemalloc.start()
        best_matches(queries, candidates, 5)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        per_core = 128 * 8192 * 4
        # products with the mask of the better ones, and what the first tile is sorted with
        assert peak < candidates.nbytes + 4 * per_core * (os.cpu_count() or 1) + 2**23

    def test_sparse_integer_and_empty(self, rng):
        queries, candidates = rng.integers(-2, 3, (6, 4)), rng.integers(-2, 3, (9, 4))
        expected = best_matches(queries.astype(float), candidates.astype(float), 3)
        np.testing.assert_equal(best_matches(queries, sp.csr_array(candidates.astype(float)), 3), expected)
        assert best_matches(np.empty((0, 4)), candidates, 3)[0].shape == (0, 3)
        assert best_matches(queries, np.empty((0, 4)), 3)[0].shape == (6, 0)

    def test_bad_input(self, rng):
        A = rng.standard_normal((5, 3))
        with pytest.raises(ValueError, match="queries and candidates must have the same number of columns"):
            best_matches(A, A[:, :2], 1)
        with pytest.raises(ValueError, match="top must be an integer of at least 1; got 0"):
            best_matches(A, A, 0)
        with pytest.raises(ValueError, match="index must be made from the candidates"):
            best_matches(A, A, 1, index=ExactIndex(A[:4]))
        A[1, 1] = np.nan
        with pytest.raises(ValueError, match="Input candidates contains NaN"):
            best_matches(np.ones((5, 3)), A, 1)


def test_index_of_one_set_of_candidates(rng):
    queries, candidates = rng.standard_normal((9, 4)), rng.standard_normal((30, 4))
    index = ExactIndex(candidates)
    expected = best_matches(queries, candidates, 3)
    np.testing.assert_equal(index.best_matches(queries, 3), expected)
    np.testing.assert_equal(best_matches(queries, candidates, 3, index=index), expected)


class TestApproximateIndex:
    @pytest.fixture(autouse=True)
    def _needs_faiss(self):
        pytest.importorskip("faiss")

    def test_finds_most(self, rng):
        candidates = rng.standard_normal((20_000, 8))
        queries = candidates[:300] + 0.3 * rng.standard_normal((300, 8))
        index = ApproximateIndex(candidates)
        indices, similarities = best_matches(queries, candidates, 10, index=index)
        expected, cosines = best_matches(queries, candidates, 10)
        found = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(indices, expected, strict=True)])
        assert 0.9 < found <= 1
        assert index.recall(queries, candidates, 10) == pytest.approx(found, abs=1e-3)
        np.testing.assert_allclose(similarities[:, 0], cosines[:, 0], atol=0.1)
        assert ApproximateIndex(candidates, n_probes=1).recall(queries, candidates, 10) < 0.9
        assert ApproximateIndex(candidates, n_probes=1000).recall(queries, candidates, 10) == 1

    def test_the_same_again(self, rng):
        candidates = rng.standard_normal((5000, 8))
        once, again = (ApproximateIndex(candidates, n_probes=2).best_matches(candidates, 4) for _ in range(2))
        np.testing.assert_equal(once, again)

    @pytest.mark.parametrize("n", [0, 1, 30, 500])
    def test_more_than_there_are(self, rng, n):
        candidates = rng.standard_normal((n, 4)).astype(np.float32)
        candidates[n // 2 :] = 0
        queries = np.vstack([rng.standard_normal((5, 4)), np.zeros((1, 4))]).astype(np.float32)
        indices, similarities = ApproximateIndex(candidates, n_probes=1).best_matches(queries, 1000)
        expected, cosines = best_matches(queries, candidates, 1000)
        np.testing.assert_array_equal(np.sort(indices, axis=1), np.sort(expected, axis=1))
        np.testing.assert_allclose(similarities, cosines, atol=1e-6)


def test_without_the_extra(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"^an approximate index needs faiss, .*: pip install 'scca\[index\]'\.$"):
        ApproximateIndex(rng.standard_normal((9, 4)))
