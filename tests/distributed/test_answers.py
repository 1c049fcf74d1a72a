"""Scores and mates of blocks on a real cluster are those of the same rows in memory, also as Parquet files."""

import gc
import os
import signal
import time
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from subprocesses import start_program

from scca import SparseCCA, datasets, save
from scca.progress import long_work
from scca.readers import PairedText
from scca.retrieval import best_matches
from scca.text import BilingualModel

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

import pandas as pd
import polars as pl

from scca.distributed import _scoring as scoring
from scca.distributed import (
    find_mates,
    local_cluster,
    scatter,
    scatter_texts,
    write_document_scores,
    write_mates,
    write_scores,
)


@pytest.fixture(scope="module")
def views():
    planted = datasets.make_planted(300, 12, 10, n_factors=2, n_active=3, strength=2.0, random_state=0)
    return planted.views


@pytest.fixture(scope="module")
def model(views):
    return SparseCCA(2, held_out=0, random_state=0).fit(*views)


@pytest.fixture(scope="module")
def corpus():
    return datasets.load_trilingual()


@pytest.fixture(scope="module")
def bilingual(corpus):
    return BilingualModel(12, held_out=0).fit(PairedText.of(corpus.en, corpus.fr, ("en", "fr")))


def in_futures(client, rows, n_blocks):
    """Blocks of rows on the workers; of many blocks, one is empty."""
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    ends = np.linspace(0, n, n_blocks + 1).astype(int)
    if n_blocks > 2:
        ends[2] = ends[1]
    blocks = [rows[start:stop] for start, stop in pairwise(ends)]
    return [client.submit(lambda block: block, block, pure=False) for block in blocks]


def table(folder):
    return pd.read_parquet(folder)


class TestScores:
    @pytest.mark.parametrize("n_blocks", [1, 2, 7])
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda view: view.astype(np.float32)])
    def test_of_samples(self, cluster, views, model, tmp_path, n_blocks, storage):
        X, Y = map(storage, views)
        x, y = scatter(cluster, X, Y, n_blocks=n_blocks)
        write_scores(model, x, tmp_path / "x")
        write_scores(model, y, tmp_path / "y")
        for name, expected in (("x", model.transform(X)), ("y", model.transform_y(Y))):
            found = table(tmp_path / name)
            assert list(found.columns) == ["sample", "component_0", "component_1"]
            assert (found["sample"] == np.arange(300)).all()
            scores = found[["component_0", "component_1"]].to_numpy()
            assert scores.dtype == expected.dtype
            np.testing.assert_allclose(scores, expected, rtol=1e-12 if expected.dtype == float else 1e-6)
        names = [f"part-{i:05d}.parquet" for i in range(n_blocks)]
        assert sorted(os.listdir(tmp_path / "x")) == names
        assert sorted(os.listdir(tmp_path)) == ["x", "y"]
        assert pl.read_parquet(tmp_path / "x" / "*.parquet")["sample"].to_list() == list(range(300))

    @pytest.mark.parametrize("n_blocks", [1, 3])
    def test_of_futures_of_matrices(self, cluster, views, model, tmp_path, n_blocks):
        write_scores(model, in_futures(cluster, views[0], n_blocks), tmp_path / "x", view="X")
        found = table(tmp_path / "x")
        np.testing.assert_allclose(found.iloc[:, 1:], model.transform(views[0]), rtol=1e-12)

    @pytest.mark.parametrize("n_blocks", [1, 2, 5])
    def test_of_documents(self, cluster, corpus, bilingual, tmp_path, n_blocks):
        documents = ["qwxyz", *corpus.fr]
        write_document_scores(cluster, bilingual, in_futures(cluster, documents, n_blocks), "fr", tmp_path / "fr")
        expected, known = bilingual.project_known(documents, "fr")
        found = table(tmp_path / "fr")
        assert (found["document"] == np.arange(len(documents))).all()
        assert (found["known"] == known).all()
        assert not known[0]
        np.testing.assert_array_equal(found.iloc[:, 2:].to_numpy(), expected)

    def test_of_one_view_of_texts(self, cluster, corpus, bilingual, tmp_path):
        pairs = scatter_texts(cluster, PairedText.of(corpus.en, corpus.fr, ("en", "fr")), 3)
        write_document_scores(cluster, bilingual, pairs, "fr", tmp_path / "fr")
        found = table(tmp_path / "fr").iloc[:, 2:].to_numpy()
        np.testing.assert_array_equal(found, bilingual.project(corpus.fr, "fr"))

    def test_a_few_rows_at_a_time(self, cluster, corpus, bilingual, tmp_path):
        """A block is never scored as a whole: its file has several groups of rows."""
        import pyarrow.parquet as pq

        documents = corpus.fr * (2 * scoring._PIECE // len(corpus.fr) + 1)
        write_document_scores(cluster, bilingual, in_futures(cluster, documents, 1), "fr", tmp_path / "fr")
        with pq.ParquetFile(tmp_path / "fr" / "part-00000.parquet") as file:
            assert file.num_row_groups == 3
            assert file.metadata.num_rows == len(documents)

    def test_progress(self, cluster, views, model, tmp_path):
        said = []
        with long_work(lambda *of: said.append(of)):
            write_scores(model, scatter(cluster, *views, n_blocks=3)[0], tmp_path / "x")
        assert len(said) == 3
        assert said[-1] == ("scores written", 300, 300)


def tied(views):
    """Candidates that are equal, in several blocks."""
    X, Y = views
    return X, Y[np.arange(len(Y)) % 40]


class TestMates:
    @pytest.mark.parametrize("n_blocks", [1, 2, 7])
    @pytest.mark.parametrize("top", [1, 5, 1000])
    def test_of_samples(self, cluster, views, model, n_blocks, top):
        X, Y = map(sp.csr_array, tied(views))  # sparse rows have the same scores in any block
        x, y = scatter(cluster, X, Y, n_blocks=n_blocks)
        for queries, candidates, scores in (
            (x, y, (model.transform(X), model.transform_y(Y))),
            (y, x, (model.transform_y(Y), model.transform(X))),
        ):
            indices, similarities = best_matches(*scores, top)
            found = find_mates(cluster, model, queries, candidates, top=top)
            np.testing.assert_array_equal(found.indices, indices)
            np.testing.assert_array_equal(found.similarities, similarities)
            assert found.known is None

    def test_of_futures_of_matrices(self, cluster, views, model):
        X, Y = map(sp.csr_array, tied(views))
        queries, candidates = in_futures(cluster, X[:70], 4), in_futures(cluster, Y, 3)
        found = find_mates(cluster, model, queries, candidates, source="X", top=3)
        indices, similarities = best_matches(model.transform(X[:70]), model.transform_y(Y), 3)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_array_equal(found.similarities, similarities)

    @pytest.mark.parametrize("n_blocks", [1, 2, 5])
    @pytest.mark.parametrize("source", ["en", "fr"])
    def test_of_documents(self, cluster, corpus, bilingual, n_blocks, source):
        first, second = (corpus.en, corpus.fr) if source == "en" else (corpus.fr, corpus.en)
        first, second = ["qwxyz", *first], [*second[:30], *second]  # an unknown query, and ties
        expected = bilingual.mates(first, second, source=source, top=7)
        queries, candidates = in_futures(cluster, first, n_blocks), in_futures(cluster, second, 5 - n_blocks + 1)
        found = find_mates(cluster, bilingual, queries, candidates, source=source, top=7)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.similarities, expected.similarities)
        np.testing.assert_array_equal(found.known, expected.known)

    def test_more_candidates_than_a_tile(self, cluster, rng):
        """Workers compare in tiles of the size of one machine, whatever their own number of candidates."""
        X, Y = (rng.standard_normal((9000, 6)).astype(np.float32) for _ in range(2))
        X[:, :2] += 2 * Y[:, :2]
        model = SparseCCA(2, held_out=0, random_state=0).fit(X[:300], Y[:300])
        queries, candidates = sp.csr_array(X[:50]), sp.csr_array(Y[np.arange(9000) % 4500])
        found = find_mates(
            cluster, model, in_futures(cluster, queries, 2), in_futures(cluster, candidates, 5), source="X", top=20
        )
        indices, similarities = best_matches(model.transform(queries), model.transform_y(candidates), 20)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_array_equal(found.similarities, similarities)

    def test_as_files(self, cluster, corpus, bilingual, tmp_path, monkeypatch):
        monkeypatch.setattr(scoring, "_PIECE", 50)
        queries, candidates = in_futures(cluster, corpus.en, 3), in_futures(cluster, corpus.fr, 2)
        said = []
        with long_work(lambda *of: said.append(of)):
            write_mates(cluster, bilingual, queries, candidates, tmp_path / "mates", source="en", top=4)
        expected = bilingual.mates(corpus.en, corpus.fr, source="en", top=4)
        found = table(tmp_path / "mates")
        n = len(corpus.en)
        assert list(found.columns) == ["query", "rank", "candidate", "similarity"]
        assert (found["query"] == np.repeat(np.arange(n), 4)).all()
        assert (found["rank"] == np.tile([1, 2, 3, 4], n)).all()
        assert (found["candidate"] == expected.indices.ravel()).all()
        assert (found["similarity"] == expected.similarities.ravel()).all()
        assert len(os.listdir(tmp_path / "mates")) >= n // 50
        assert said[-1] == ("queries answered", n, n)

    def test_nothing_stays_on_the_workers(self, cluster, corpus, bilingual):
        gc.collect()
        queries, candidates = in_futures(cluster, corpus.en, 2), in_futures(cluster, corpus.fr, 2)
        find_mates(cluster, bilingual, queries, candidates, source="en")
        given = {future.key for future in (*queries, *candidates)}
        for _ in range(100):
            left = {key for keys in cluster.has_what().values() for key in keys} - given
            if not left:
                return
            time.sleep(0.1)
        raise AssertionError(left)


class TestRefused:
    def test_a_folder_with_files(self, cluster, views, model, tmp_path):
        x, _ = scatter(cluster, *views)
        (tmp_path / "notes").touch()
        with pytest.raises(FileExistsError, match="is not empty; empty it"):
            write_scores(model, x, tmp_path)
        (tmp_path / "new.partial").mkdir()
        with pytest.raises(FileExistsError, match=r"new.partial is being written to, or left .*; remove it"):
            write_scores(model, x, tmp_path / "new")
        (tmp_path / "empty").mkdir()
        write_scores(model, x, tmp_path / "empty")
        assert len(table(tmp_path / "empty")) == 300

    def test_other_data(self, cluster, views, model, corpus, bilingual, tmp_path):
        x, y = scatter(cluster, *views)
        with pytest.raises(TypeError, match="blocks must be futures .*; got a str: send it to the cluster"):
            find_mates(cluster, bilingual, corpus.en, corpus.fr, source="en")
        with pytest.raises(TypeError, match="samples must be BlockRows or futures"):
            write_scores(model, views[0], tmp_path / "x")
        with pytest.raises(ValueError, match="candidates must be of the other view, Y"):
            find_mates(cluster, model, x, x)
        with pytest.raises(ValueError, match="source must be the view of the queries, 'en' or 'fr'; got None"):
            find_mates(cluster, bilingual, in_futures(cluster, corpus.en, 1), in_futures(cluster, corpus.fr, 1))
        with pytest.raises(ValueError, match="language must be 'en' or 'fr'; got 'de'"):
            write_document_scores(cluster, bilingual, in_futures(cluster, corpus.en, 1), "de", tmp_path / "x")
        with pytest.raises(ValueError, match="top must be"):
            find_mates(cluster, model, x, y, top=0)
        with pytest.raises(ValueError, match="at least one block"):
            find_mates(cluster, bilingual, [], in_futures(cluster, corpus.fr, 1), source="en")
        assert os.listdir(tmp_path) == []

    def test_an_error_of_a_worker_leaves_no_folder(self, cluster, bilingual, tmp_path):
        with pytest.raises(TypeError, match="every block of documents must be a list of texts"):
            write_document_scores(
                cluster, bilingual, [cluster.submit(lambda: ["a", 3], pure=False)], "en", tmp_path / "en"
            )
        assert os.listdir(tmp_path) == []

    def test_samples_of_other_features(self, cluster, views, model, tmp_path):
        with pytest.raises(ValueError, match="features"):
            write_scores(model, in_futures(cluster, views[0][:, :5], 2), tmp_path / "x", view="X")
        assert os.listdir(tmp_path) == []


def test_a_lost_worker_is_replaced(views, model, tmp_path):
    """Its blocks, which came from here, are sent again."""
    with local_cluster(2) as client:
        X, Y = map(sp.csr_array, tied(views))
        x, y = scatter(client, X, Y, n_blocks=6)
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        found = find_mates(client, model, x, y, top=3)
        write_scores(model, x, tmp_path / "x")
        del x, y
    np.testing.assert_array_equal(found.indices, best_matches(model.transform(X), model.transform_y(Y), 3)[0])
    np.testing.assert_allclose(table(tmp_path / "x").iloc[:, 1:], model.transform(X), rtol=1e-12)


INTERRUPTED = """
import sys, time
import scca
from scca.distributed import connect, write_document_scores
from scca.progress import long_work

model = scca.load(sys.argv[2])
with connect(sys.argv[1]) as client, long_work(lambda *progress: time.sleep(1)):
    blocks = client.map(lambda i: ["the court and the judge"] * i, range(20), pure=False)
    write_document_scores(client, model, blocks, "en", sys.argv[3])
"""


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_is_never_taken_for_a_complete_one(cluster, bilingual, tmp_path, end):
    save(bilingual, tmp_path / "model.scca")
    process = start_program(INTERRUPTED, cluster.scheduler.address, tmp_path / "model.scca", tmp_path / "en")
    partial = tmp_path / "en.partial"
    while process.poll() is None and not (partial.exists() and any(partial.glob("part-*"))):
        time.sleep(0.01)
    os.kill(process.pid, end)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -end, errors
    assert not (tmp_path / "en").exists()
    assert partial.exists() == (end == signal.SIGKILL)
