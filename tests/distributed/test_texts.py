"""Models of documents that the workers of a real cluster read: the same as of documents here."""

import gzip

import numpy as np
import pytest
from blocks import many_pairs
from numpy.testing import assert_allclose, assert_array_equal

import scca.model._sources as sources
from scca import DataWarning, datasets, load, save
from scca.progress import Checkpoint, CheckpointError
from scca.readers import PairedText, PairError
from scca.readers import read_texts as read_here
from scca.text import BilingualModel

pytest.importorskip("distributed")

from scca.distributed import read_texts, scatter_texts, texts_of


@pytest.fixture(scope="module")
def documents():
    """400 pairs of made-up texts."""
    made = datasets.make_bilingual(400, vocabulary=120, n_topics=6, length=15, random_state=0)
    return [
        [
            " ".join(f"{prefix}{_letters(j)}" for j in row.indices for _ in range(int(row[0, j])))
            for row in _rows(counts)
        ]
        for prefix, counts in zip(("en", "fr"), made.views, strict=True)
    ]


def _rows(counts):
    return (counts[[i]] for i in range(counts.shape[0]))


def _letters(number):
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


@pytest.fixture
def many(monkeypatch):
    """Few pairs are treated like many."""
    many_pairs(monkeypatch, 100)


@pytest.fixture
def files(tmp_path, documents):
    paths = []
    for language, texts in zip(("en", "fr"), documents, strict=True):
        paths.append(tmp_path / f"corpus.{language}")
        paths[-1].write_text("\n".join(texts) + "\n")
    return paths


def fitted(pairs, **settings):
    return BilingualModel(4, **settings).fit(pairs)


def assert_same(found, expected):
    for one, other in zip(found.vectorizers_, expected.vectorizers_, strict=True):
        assert list(one.words_) == list(other.words_)
        assert_array_equal(one.idf_, other.idf_)
    for name in ("x_weights_", "y_weights_", "held_out_correlations_", "correlations_", "x_loadings_"):
        assert_allclose(getattr(found.scca_, name), getattr(expected.scca_, name), atol=1e-9, err_msg=name)
    assert found.scca_.p_value_ == expected.scca_.p_value_
    assert found.n_documents_ == expected.n_documents_
    assert found.texts_ == expected.texts_
    for one, other in zip(found.training_, expected.training_, strict=True):
        assert_array_equal(one.toarray(), other.toarray())


def formats(folder, documents):
    """The same pairs as arguments of `read_texts`, in every format."""
    rows = [("en", "fr"), *zip(*documents, strict=True)]
    tsv = "\n".join("\t".join(row) for row in rows) + "\n"
    (folder / "all.tsv").write_text(tsv)
    (folder / "all.csv").write_text("\n".join(",".join(row) for row in rows) + "\n")
    (folder / "all.tsv.gz").write_bytes(gzip.compress(tsv.encode()))
    parts = [[], []]
    for side, name in enumerate(("en", "fr")):
        for k in range(3):
            path = folder / f"part{k}.{name}"
            path.write_text("\n".join(documents[side][k * 150 : (k + 1) * 150]) + "\n")
            parts[side].append(path)
    return {
        "lines": (folder / "corpus.en", folder / "corpus.fr"),
        "tsv": (folder / "all.tsv",),
        "csv": (folder / "all.csv",),
        "gz": (folder / "all.tsv.gz",),
        "lists": tuple(parts),
    }


@pytest.mark.parametrize("kind", ["lines", "tsv", "csv", "gz", "lists"])
def test_a_model_of_files_is_that_of_the_same_files_here(cluster, files, documents, tmp_path, many, kind):
    expected = fitted(read_here(*files))
    pairs = read_texts(cluster, *formats(tmp_path, documents)[kind])
    assert len(pairs) == 400
    assert pairs.languages == ("en", "fr")
    assert_same(fitted(pairs), expected)


@pytest.mark.parametrize("n_blocks", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3))])
def test_a_model_does_not_depend_on_the_number_of_blocks(cluster, files, many, n_blocks):
    assert_same(fitted(read_texts(cluster, *files, n_blocks=n_blocks)), fitted(read_here(*files)))


def test_documents_from_memory_bags_and_futures(cluster, files, documents, many):
    import dask.bag

    expected = fitted(read_here(*files))
    pairs = list(zip(*documents, strict=True))
    given = {
        "memory": scatter_texts(cluster, PairedText.of(*documents, ("en", "fr")), n_blocks=3),
        "bag": texts_of(cluster, dask.bag.from_sequence(pairs, npartitions=3), ("en", "fr")),
        "futures": texts_of(cluster, cluster.scatter([pairs[:100], pairs[100:]]), ("en", "fr")),
    }
    for pairs_ in given.values():
        assert_same(fitted(pairs_), expected)
    assert len({pairs_.digest for pairs_ in given.values()}) == 1  # whatever the blocks


def test_few_pairs_are_brought_here_and_give_the_same_bytes(cluster, files, tmp_path, monkeypatch):
    many_pairs(monkeypatch, 401)
    for name, pairs in (("here", read_here(*files)), ("cluster", read_texts(cluster, *files))):
        save(fitted(pairs), tmp_path / name)
    assert (tmp_path / "here").read_bytes() == (tmp_path / "cluster").read_bytes()


def test_a_model_keeps_some_documents_and_their_numbers(cluster, files, documents, many, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "_MOST_STORED", 50)
    whole = fitted(read_here(*files))
    model = fitted(read_texts(cluster, *files))
    numbers = model.document_numbers_
    assert len(numbers) == 50
    assert model.n_documents_ == 400
    assert model.texts_ == [documents[1][i] for i in numbers]
    assert_array_equal(model.training_[0].toarray(), whole.training_[0].toarray()[numbers])
    save(model, tmp_path / "model.scca", texts=False)
    again = load(tmp_path / "model.scca")
    names = {document.name for component in again.components() for document in component.documents}
    assert names <= {f"document {i + 1}" for i in numbers}
    assert_allclose(again.project(documents[0], "en"), whole.project(documents[0], "en"), atol=1e-9)


def test_blank_documents_are_reported_or_dropped(cluster, documents, tmp_path, many):
    first, second = [list(side) for side in documents]
    first[3] = second[390] = " "
    for name, texts in (("a.en", first), ("a.fr", second)):
        (tmp_path / name).write_text("\n".join(texts) + "\n")
    files = tmp_path / "a.en", tmp_path / "a.fr"
    with pytest.warns(DataWarning, match=r"2 documents are empty \(first: line 4 of .*a.en\)"):
        read_texts(cluster, *files)
    dropped = read_texts(cluster, *files, drop_empty=True)
    assert len(dropped) == 398
    assert_same(fitted(dropped), fitted(read_here(*files, drop_empty=True)))


def test_wrong_files_are_refused_in_one_sentence(cluster, files, tmp_path):
    (tmp_path / "short.fr").write_text("un\n")
    with pytest.raises(PairError, match="line 2 of .* has no mate"):
        read_texts(cluster, files[0], tmp_path / "short.fr")
    with pytest.raises(PairError, match=r"nothing.en does not exist"):
        read_texts(cluster, tmp_path / "nothing.en", files[1])
    (tmp_path / "latin.fr").write_bytes(b"cafe\n" * 399 + b"caf\xe9\n")
    with pytest.raises(PairError, match=r"not UTF-8: byte 0xe9 at offset 1998 \(line 400\)"):
        read_texts(cluster, files[0], tmp_path / "latin.fr")
    with pytest.raises(PairError, match="Pair 2 of block 0 is not a pair of strings"):
        texts_of(cluster, cluster.scatter([[("a", "b"), ("a", 1)]]))
    with pytest.raises(ValueError, match="first: the documents contain no word"):
        fitted(texts_of(cluster, cluster.scatter([[("1", "ab"), ("2", "cd")] * 60])))


def test_a_stopped_fit_goes_on_with_other_blocks(cluster, files, many, tmp_path, monkeypatch):
    monkeypatch.setattr("scca.progress._work._WORTH_STORING", 0.0)  # every step is stored
    monkeypatch.setattr("scca.parallel._tasks._N_CORES", 1)  # no thread goes on beside the next fit
    expected = fitted(read_here(*files))
    folder, steps = tmp_path / "partial", []
    write = Checkpoint.write

    def until_the_fourth(self, name, arrays):
        write(self, name, arrays)
        steps.append(name)
        if len(steps) == 4:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Checkpoint, "write", until_the_fourth)
        BilingualModel(4).fit(read_texts(cluster, *files), checkpoint=folder)
    assert folder.exists()
    monkeypatch.setattr(Checkpoint, "write", lambda self, name, arrays: steps.append(name))
    model = BilingualModel(4).fit(read_texts(cluster, *files, n_blocks=5), checkpoint=folder)
    assert len(set(steps)) == len(steps)  # nothing was computed twice
    assert_same(model, expected)
    assert not folder.exists()


def test_a_fit_of_the_same_pairs_in_another_order_does_not_go_on(
    cluster, files, documents, many, tmp_path, monkeypatch
):
    """Scores that were stored belong to samples by their position."""
    monkeypatch.setattr("scca.progress._work._WORTH_STORING", 0.0)
    monkeypatch.setattr("scca.parallel._tasks._N_CORES", 1)
    write, folder = Checkpoint.write, tmp_path / "partial"

    def until_the_first(self, name, arrays):
        write(self, name, arrays)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Checkpoint, "write", until_the_first)
        BilingualModel(4).fit(read_texts(cluster, *files), checkpoint=folder)
    pairs = list(zip(*documents, strict=True))
    swapped_in_a_block = [[pairs[1], pairs[0], *pairs[2:200]], pairs[200:]]
    swapped_blocks = [pairs[200:], pairs[:200]]
    for blocks in (swapped_in_a_block, swapped_blocks):
        given = texts_of(cluster, cluster.scatter(blocks), ("en", "fr"))
        with pytest.raises(CheckpointError, match="with other pairs"):
            BilingualModel(4).fit(given, checkpoint=folder)


def test_stop_words_that_no_document_has(cluster, files, many):
    with pytest.warns(DataWarning, match="1 stop word occurs in no document"):
        fitted(read_texts(cluster, *files), stop_words=["absent", "ena"])


def test_documents_without_a_word_that_is_read_are_counted(cluster, documents, many):
    pairs = [*zip(*documents, strict=True), ("unheard", "ena")]
    with pytest.warns(DataWarning, match="en has 1 document without any word that is read; "):
        fitted(texts_of(cluster, cluster.scatter([pairs]), ("en", "fr")))


def test_features_of_a_model_are_read_only(cluster, files, many):
    """Words without a weight change no score, as of a model fitted here."""
    model = fitted(read_texts(cluster, *files))
    unread = ~model.scca_.x_weights_.any(axis=1)
    vectors = model.training_[0].copy()
    vectors.data[unread[vectors.indices]] *= 3
    assert unread.any()
    assert_allclose(model.scca_.transform(vectors), model.scca_.transform(model.training_[0]), atol=1e-12)
    assert np.isfinite(model.scca_.dual_gap_).all()
