"""Small files that would take hours or gigabytes: refused by a stated bound, or read in no time."""

import gzip
import time
import tracemalloc
import unicodedata

import pytest

from scca.kinds import TextVectorizer
from scca.kinds._text import _composed
from scca.readers import PairError, read_documents, read_pairs


def test_a_long_run_of_combining_marks_takes_no_time():
    start = time.perf_counter()
    text = "e" + "\u0301\u0323" * 200_000 + " word"
    vectorizer = TextVectorizer(analyzer="word").fit([text, "other word here"])
    assert "other" in vectorizer.words_
    assert time.perf_counter() - start < 10  # many minutes, by Unicode's own rule


@pytest.mark.parametrize(
    "text", ["e\u0301 " * 100, "e" + "\u0301\u0323" * 40 + "x" * 100, "\u0939\u093f\u0928\u094d" * 50]
)
def test_texts_with_few_marks_in_a_row_are_composed_as_ever(text):
    assert _composed(text) == unicodedata.normalize("NFC", text)


def test_packed_line_ends_are_bounded(tmp_path):
    path = tmp_path / "queries.gz"
    path.write_bytes(gzip.compress(b"\n" * 10**7))
    tracemalloc.start()
    try:
        with pytest.raises(PairError, match=r"queries.gz unpacks to more than 16777216 bytes .*; unpack it to a plain"):
            read_documents(path)
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


def test_real_text_may_be_packed(tmp_path):
    path = tmp_path / "queries.gz"
    path.write_bytes(gzip.compress(b"the same line again\n" * 100_000))
    assert len(read_documents(path)) == 100_000


class TestParquet:
    def written(self, path, text, rows, compression):
        pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        column = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows), pyarrow.array([text]))
        module.write_table(pyarrow.table({"en": column, "fr": column}), path, compression=compression)

    def test_a_packed_dictionary(self, tmp_path):
        path = tmp_path / "p.parquet"
        self.written(path, "x" * 4_000_000, 200, "zstd")
        assert path.stat().st_size < 10_000
        with pytest.raises(PairError, match=r"Column 'en' of .* unpacks to \d+ bytes, where 1048576 are allowed"):
            read_pairs(path)

    def test_a_document_in_every_row(self, tmp_path):
        path = tmp_path / "p.parquet"
        self.written(path, "x" * 500_000, 1000, "zstd")
        with pytest.raises(PairError, match="unpacks to more than 16777216 bytes of text"):
            read_pairs(path)

    def test_a_document_too_long(self, tmp_path):
        path = tmp_path / "p.parquet"
        self.written(path, "x" * (8 * 2**20 + 1), 2, "none")
        with pytest.raises(PairError, match="Column 'en' in row 1 of .* is longer than 8 MiB"):
            read_pairs(path)
