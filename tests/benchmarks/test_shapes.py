"""The shapes that solvers are compared on; nothing is timed."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("benchmarks", reason="the benchmarks are not beside these tests")

from benchmarks import shapes
from benchmarks._contest import GAP, race
from benchmarks._corpus import read_texts
from benchmarks.sparse_lasso import query_problem


def test_texts_are_read_cut_and_chosen_by_length(tmp_path):
    paths = tmp_path / "a.txt.gz", tmp_path / "b.txt"
    paths[0].write_bytes(gzip.compress(b"one\none two three\none two\nlast\n"))
    paths[1].write_text("un\nun deux trois\nun deux\ndernier\n")
    texts = read_texts(*paths, 3)
    assert [first.split()[-1] for first, _ in texts] == ["one", "three", "two"]
    assert shapes._longest(texts)[0] == ("one two three\n", "un deux trois\n")
    assert shapes._cut("a b  c d e f") == "a b c d e"


def test_a_race_without_peers_certifies_scca(rng):
    X, Y = (sp.csc_array(sp.random_array((40, 30), density=0.2, rng=rng)) for _ in range(2))
    (scca,) = race(query_problem(X, Y), [], repeats=1)
    assert scca.verdict.gap <= GAP
    assert 0 < scca.verdict.chosen < 30
    assert np.isfinite(scca.best)
