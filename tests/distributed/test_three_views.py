"""Three views on a real cluster: the same fits, scores and mates as in memory."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from blocks import many_pairs
from clusters import MANY

from scca import DataWarning, Model, MultiSparseCCA, datasets
from scca.kinds import TextVectorizer
from scca.readers import PairError, TextViews
from scca.readers import read_texts as read_here
from scca.retrieval import best_matches

pytest.importorskip("distributed")

from scca.distributed import (
    find_mates,
    read_rows,
    read_texts,
    rows_of,
    scatter,
    scatter_texts,
    texts_of,
    write_document_scores,
    write_mates,
    write_scores,
)

NAMES = ("a", "b", "c")
LANGUAGES = ("en", "fr", "es")
PARTS = (slice(0, 90), slice(90, None))


@pytest.fixture(scope="module")
def views():
    """200 samples of three views with two common factors, each of a few features."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((200, 2))
    found = []
    for width in (30, 25, 20):
        loadings = np.zeros((2, width))
        loadings[0, :4], loadings[1, 4:8] = 1.0, -0.8
        found.append(factors @ loadings + rng.standard_normal((200, width)))
    return found


def estimator(**settings):
    return MultiSparseCCA(**{"n_components": 2, "n_features": None, "held_out": 0, "random_state": 0, **settings})


@pytest.fixture(scope="module")
def fitted(views):
    """The fit in memory, which is the same for blocks from the number of samples on from which these stay there."""
    with pytest.MonkeyPatch.context() as patched:
        many_pairs(patched, MANY)
        return estimator(held_out=2).fit(views)


def assert_same(found, expected):
    for name in ("weights_", "loadings_"):
        for one, other in zip(getattr(found, name), getattr(expected, name), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(found.pair_correlations_, expected.pair_correlations_, atol=1e-8)
    assert found.converged_.all()


class TestMatrices:
    @pytest.mark.parametrize("n_blocks", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7))])
    def test_a_fit_is_that_of_one_process(self, cluster, views, fitted, n_blocks):
        blocks = scatter(cluster, *views, n_blocks=n_blocks)
        assert [block.name for block in blocks] == ["view 1", "view 2", "view 3"]
        found = estimator(held_out=2).fit(list(blocks))
        assert_same(found, fitted)
        for name in ("held_out_correlations_", "held_out_pair_correlations_", "held_out_pair_intervals_"):
            np.testing.assert_allclose(getattr(found, name), getattr(fitted, name), atol=1e-8, err_msg=name)
        assert found.p_value_ == fitted.p_value_

    @pytest.mark.slow
    def test_sparse_views(self, cluster, views):
        sparse = [sp.csr_array(np.where(view > 0, view, 0.0)) for view in views]
        assert_same(estimator().fit(scatter(cluster, *sparse)), estimator().fit(sparse))

    def test_views_have_their_names(self, cluster, views, fitted):
        given = dict(zip(NAMES, views, strict=True))
        blocks = scatter(cluster, given, n_blocks=2)
        assert {name: block.name for name, block in blocks.items()} == {name: name for name in NAMES}
        found = estimator().fit(blocks)
        assert found.view_names_ == list(NAMES)
        assert_same(found, fitted)

    def test_from_files_and_futures(self, cluster, views, tmp_path):
        files = [tmp_path / f"{name}.npy" for name in NAMES]
        lists = [[tmp_path / f"{name}{i}.npy" for i in range(2)] for name in NAMES]
        for file, paths, view in zip(files, lists, views, strict=True):
            np.save(file, view)
            for path, part in zip(paths, PARTS, strict=True):
                np.save(path, view[part])
        parts = [tuple(view[part] for view in views) for part in PARTS]
        named = [dict(zip(NAMES, part, strict=True)) for part in parts]
        in_order = read_rows(cluster, *files, n_blocks=3), rows_of(cluster, cluster.map(tuple, parts, pure=False))
        by_name = (
            read_rows(cluster, dict(zip(NAMES, lists, strict=True))),
            rows_of(cluster, cluster.map(dict, named, pure=False)),
        )
        for blocks in in_order:
            assert [block.name for block in blocks] == ["view 1", "view 2", "view 3"]
        for blocks in by_name:
            assert list(blocks) == [block.name for block in blocks.values()] == list(NAMES)
        for blocks in (*in_order, *(tuple(blocks.values()) for blocks in by_name)):
            for block, view in zip(blocks, views, strict=True):
                np.testing.assert_array_equal(block.chosen(np.arange(200)), view)

    def test_what_does_not_fit_together(self, cluster, views, tmp_path):
        with pytest.raises(ValueError, match="at least 2 views of the same samples are needed; got 1: pass all"):
            scatter(cluster, views[0])
        with pytest.raises(TypeError, match="a view must be a matrix or its files; got 3: pass n_blocks=3 by its name"):
            scatter(cluster, *views, 3)
        with pytest.raises(ValueError, match="names of views must be texts"):
            scatter(cluster, {1: views[0], 2: views[1]})
        with pytest.raises(ValueError, match="200 .*199"):
            scatter(cluster, *views[:2], views[2][1:])
        with pytest.raises(ValueError, match="view 1, view 2 and view 3 must have as many files; got 2, 2 and 1: list"):
            read_rows(cluster, ["a.npy", "b.npy"], ["c.npy", "d.npy"], ["e.npy"])
        blocks = cluster.map(tuple, [views, views[:2]], pure=False)
        expected = "all blocks must have the same views; block 0 has view 1, view 2 and view 3, and block 1 has X and Y"
        with pytest.raises(ValueError, match=expected):
            rows_of(cluster, blocks)


@pytest.fixture(scope="module")
def blocks(cluster, views):
    return scatter(cluster, *views, n_blocks=3)


class TestAnswersOfAnEstimator:
    def test_scores(self, cluster, views, fitted, blocks, tmp_path):
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        futures = cluster.scatter([views[2][:50], views[2][50:]])
        for folder, samples, view in (("known", blocks[2], None), ("name", futures, "view 3"), ("number", futures, 2)):
            write_scores(fitted, samples, tmp_path / folder, view=view)
            found = pd.read_parquet(tmp_path / folder).iloc[:, 1:]
            np.testing.assert_allclose(found, fitted.project(views[2], 2), rtol=1e-9, atol=1e-12)
        with pytest.raises(ValueError, match="samples must be 'view 1', 'view 2' or 'view 3'; got None: name it"):
            write_scores(fitted, futures, tmp_path / "none")

    def test_mates_from_any_view_to_any(self, cluster, views, fitted, blocks):
        scores = [fitted.project(view, v) for v, view in enumerate(views)]
        for source, target in permutations(range(3), 2):
            indices, similarities = best_matches(scores[source], scores[target], 3)
            found = find_mates(cluster, fitted, blocks[source], blocks[target], top=3)
            np.testing.assert_array_equal(found.indices, indices)
            np.testing.assert_allclose(found.similarities, similarities, atol=1e-12)
        futures = [cluster.scatter([view]) for view in views]
        found = find_mates(cluster, fitted, futures[2], futures[0], source="view 3", target=0, top=3)
        np.testing.assert_array_equal(found.indices, best_matches(scores[2], scores[0], 3)[0])

    def test_views_that_are_not_told(self, cluster, fitted, blocks, views):
        futures = cluster.scatter([views[0]])
        with pytest.raises(ValueError, match="target must be the view of the candidates, 'view 2' or 'view 3'; got"):
            find_mates(cluster, fitted, blocks[0], futures)
        with pytest.raises(ValueError, match="candidates must be of another view than view 1; got .*: pass those of"):
            find_mates(cluster, fitted, blocks[0], blocks[0])


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def documents():
    corpus = datasets.load_trilingual()
    return {name: list(getattr(corpus, name))[:200] for name in LANGUAGES}


@pytest.fixture
def files(tmp_path, documents):
    paths = [tmp_path / f"corpus.{name}" for name in LANGUAGES]
    for path, texts in zip(paths, documents.values(), strict=True):
        path.write_text("\n".join(texts) + "\n")
    return paths


def model(**settings):
    usual = {"n_components": 2, "kinds": TextVectorizer(min_df=3), "held_out": 0, "random_state": 0}
    return Model(**usual | settings)


def in_memory(documents, **settings):
    with pytest.MonkeyPatch.context() as patched:
        many_pairs(patched, MANY)
        return model(**settings).fit(TextViews.of(documents))


@pytest.fixture(scope="module")
def expected(documents):
    return in_memory(documents)


def assert_same_model(found, expected):
    assert found.view_names_ == expected.view_names_ == LANGUAGES
    for one, other in zip(found.kinds_, expected.kinds_, strict=True):
        assert list(one.words_) == list(other.words_)
        np.testing.assert_array_equal(one.idf_, other.idf_)
    assert_same(found.estimator_, expected.estimator_)
    assert found.samples_ == expected.samples_
    for one, other in zip(found.training_, expected.training_, strict=True):
        np.testing.assert_array_equal(one.toarray(), other.toarray())


class TestTexts:
    def test_a_model_of_files_is_that_of_one_process(self, cluster, files, expected):
        texts = read_texts(cluster, *files, n_blocks=3)
        assert (texts.languages, len(texts)) == (LANGUAGES, 200)
        assert repr(texts) == "<ClusterTexts of 200 samples in 3 blocks>"
        assert_same_model(model().fit(texts), expected)

    @pytest.mark.slow  # matrices have the same, quickly
    def test_with_documents_held_out(self, cluster, files, documents):
        expected = in_memory(documents, held_out=3)
        found = model(held_out=3).fit(read_texts(cluster, *files))
        assert_same_model(found, expected)
        for name in ("held_out_correlations_", "held_out_pair_correlations_"):
            of_both = getattr(found.estimator_, name), getattr(expected.estimator_, name)
            np.testing.assert_allclose(*of_both, atol=1e-8, err_msg=name)
        assert found.estimator_.p_value_ == expected.estimator_.p_value_

    def test_documents_are_the_same_from_any_source(self, cluster, files, documents, tmp_path):
        import dask.bag

        rows = list(zip(*documents.values(), strict=True))
        table = [("id", *LANGUAGES), *((str(i), *row) for i, row in enumerate(rows))]
        (tmp_path / "all.tsv").write_text("".join("\t".join(row) + "\n" for row in table))
        halves = []
        for name, texts in documents.items():
            halves.append([tmp_path / f"{i}.{name}" for i in range(2)])
            for path, part in zip(halves[-1], PARTS, strict=True):
                path.write_text("\n".join(texts[part]) + "\n")
        given = {
            "lines": read_texts(cluster, *files),
            "table": read_texts(cluster, tmp_path / "all.tsv", languages=LANGUAGES),
            "lists": read_texts(cluster, *halves),
            "memory": scatter_texts(cluster, TextViews.of(documents), n_blocks=3),
            "bag": texts_of(cluster, dask.bag.from_sequence(rows, npartitions=3), LANGUAGES),
            "futures": texts_of(cluster, cluster.scatter([rows[:70], [], rows[70:]]), LANGUAGES),
        }
        assert {texts.languages for texts in given.values()} == {LANGUAGES}
        assert len({texts.digest for texts in given.values()}) == 1
        for texts in given.values():
            found = texts.here()
            assert found.digest == TextViews.of(documents).digest
            assert texts.documents(2, np.array([3, 70, 199])) == [documents["es"][i] for i in (3, 70, 199)]

    @pytest.mark.slow  # of two languages there is the same, quickly
    def test_few_documents_are_brought_here(self, cluster, files, documents, monkeypatch):
        many_pairs(monkeypatch, 201)
        here, there = model().fit(read_here(*files)), model().fit(read_texts(cluster, *files))
        for one, other in zip(there.estimator_.weights_, here.estimator_.weights_, strict=True):
            np.testing.assert_array_equal(one, other)

    def test_blank_documents_are_reported_or_dropped(self, cluster, documents, tmp_path):
        changed = {name: list(texts) for name, texts in documents.items()}
        changed["es"][3] = changed["en"][180] = " "
        paths = [tmp_path / f"a.{name}" for name in LANGUAGES]
        for path, texts in zip(paths, changed.values(), strict=True):
            path.write_text("\n".join(texts) + "\n")
        expected = r"2 documents are empty \(first: line 4 of .*a.es\); pass drop_empty=True to leave such samples out"
        with pytest.warns(DataWarning, match=expected):
            read_texts(cluster, *paths)
        dropped = read_texts(cluster, *paths, drop_empty=True)
        assert len(dropped) == 198
        assert list(dropped.here()) == list(TextViews.of(changed, drop_empty=True))

    def test_what_does_not_fit_together(self, cluster, files, tmp_path):
        (tmp_path / "short.es").write_text("uno\n")
        with pytest.raises(PairError, match=r"line 2 of .*corpus.en has no mate in .*short.es; put all documents"):
            read_texts(cluster, *files[:2], tmp_path / "short.es")
        with pytest.raises(PairError, match="all views must have as many files; got 2, 1 and 1: list the files of all"):
            read_texts(cluster, files[:2], *files[1:])
        with pytest.raises(PairError, match="at least one file is needed; got none"):
            read_texts(cluster)
        with pytest.raises(PairError, match="Sample 2 of block 0 is not a tuple of three strings; pass one for each"):
            texts_of(cluster, cluster.scatter([[("a", "b", "c"), ("a", "b")]]), LANGUAGES)
        with pytest.raises(PairError, match="Document 1 of the third view in block 0 is missing; add it, or pass "):
            texts_of(cluster, cluster.scatter([[("a", "b", None)]]), LANGUAGES)
        with pytest.raises(PairError, match="there is no sample of documents; add some"):
            texts_of(cluster, cluster.scatter([[]]), LANGUAGES)

    def test_tables_without_names_have_the_columns_of_the_first(self, cluster, tmp_path):
        for name, content in (("a", "en\tfr\none\tun\n"), ("b", "fr\ten\ndeux\ttwo\n"), ("c", "de\ten\nx\ty\n")):
            (tmp_path / f"{name}.tsv").write_text(content)
        texts = read_texts(cluster, [tmp_path / "a.tsv", tmp_path / "b.tsv"])
        assert list(texts.here()) == [("one", "un"), ("two", "deux")]
        with pytest.raises(PairError, match=r"c.tsv has no column 'fr' among 'de', 'en'"):
            read_texts(cluster, [tmp_path / "a.tsv", tmp_path / "c.tsv"])


class TestAnswersOfAModel:
    @pytest.mark.parametrize("given", ["texts", "futures"])
    def test_mates_from_any_language_to_any(self, cluster, documents, expected, given):
        if given == "texts":
            texts = scatter_texts(cluster, TextViews.of(documents), n_blocks=3)
            blocks = dict.fromkeys(LANGUAGES, texts)
        else:
            blocks = {name: cluster.scatter([each[:50], each[50:]]) for name, each in documents.items()}
        for source, target in permutations(LANGUAGES, 2):
            here = expected.mates(documents[source], documents[target], source=source, target=target, top=3)
            found = find_mates(cluster, expected, blocks[source], blocks[target], source=source, target=target, top=3)
            np.testing.assert_array_equal(found.indices, here.indices)
            np.testing.assert_array_equal(found.known, here.known)

    def test_files_of_scores_and_mates(self, cluster, documents, expected, tmp_path):
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        texts = scatter_texts(cluster, TextViews.of(documents), n_blocks=2)
        write_document_scores(cluster, expected, texts, "es", tmp_path / "es")
        found = pd.read_parquet(tmp_path / "es").iloc[:, 2:].to_numpy()
        np.testing.assert_array_equal(found, expected.project(documents["es"], "es"))
        write_mates(cluster, expected, texts, texts, tmp_path / "mates", source="fr", target="es", top=2)
        here = expected.mates(documents["fr"], documents["es"], source="fr", target="es", top=2)
        assert (pd.read_parquet(tmp_path / "mates")["candidate"] == here.indices.ravel()).all()

    def test_views_that_are_not_told(self, cluster, documents, expected, tmp_path):
        blocks = cluster.scatter([documents["en"]])
        with pytest.raises(ValueError, match="target must be one of fr, es; name it"):
            find_mates(cluster, expected, blocks, blocks, source="en")
        with pytest.raises(ValueError, match="source must be the view of the queries, 'en', 'fr' or 'es'; got None"):
            find_mates(cluster, expected, blocks, blocks, target="en")
        with pytest.raises(ValueError, match="the texts must have the language 'es'; got"):
            given = texts_of(cluster, cluster.scatter([[("a", "b")]]), ("en", "fr"))
            find_mates(cluster, expected, given, given, source="en", target="es")

    def test_a_view_of_another_kind(self, cluster, documents, rng, tmp_path):
        """Mates may be rows of tables; documents must be texts."""
        table = rng.standard_normal((200, 6))
        mixed = model(kinds="auto").fit({"en": documents["en"], "fr": documents["fr"], "table": table})
        here = mixed.mates(documents["en"], table, source="en", target="table", top=3)
        asked, offered = cluster.scatter([documents["en"]]), cluster.scatter([table[:80], table[80:]])
        found = find_mates(cluster, mixed, asked, offered, source="en", target="table", top=3)
        np.testing.assert_array_equal(found.indices, here.indices)
        with pytest.raises(ValueError, match="table must be a view of text; got one of the kind 'table'"):
            write_document_scores(cluster, mixed, offered, "table", tmp_path / "x")
