"""Documents are streamed: memory does not grow with the file."""

import os
import tracemalloc

import pytest
from reading import MIB, tmx_unit

from scca.readers import read_pairs

pytestmark = pytest.mark.filterwarnings("error")


def _large(kind, count, size, tmp_path):
    """A file of `count` pairs of documents of `size` letters a side."""
    text = ["x" * size, "y" * size]
    path = tmp_path / f"large.{kind}"
    if kind == "parquet":
        pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {"en": [f"{i}{text[0]}" for i in range(count)], "fr": [text[1]] * count}
        module.write_table(pyarrow.table(columns), path, row_group_size=512)
        return (path,)
    with open(path, "w", encoding="utf-8") as file:
        if kind == "tmx":
            file.write("<tmx><header/><body>")
            for _ in range(count):
                file.write(tmx_unit({"en": text[0], "fr": text[1]}))
            file.write("</body></tmx>")
        elif kind == "en":
            file.writelines([text[0] + "\n"] * count)
            (tmp_path / "large.fr").write_text((text[1] + "\n") * count)
            return path, tmp_path / "large.fr"
        else:
            file.writelines([("en,fr\n", "en\tfr\n")[kind == "tsv"]])
            file.writelines([("," if kind == "csv" else "\t").join(text) + "\n"] * count)
    return (path,)


@pytest.mark.parametrize("kind", ["en", "csv", "tsv", "parquet", "tmx"])
def test_documents_are_streamed(tmp_path, kind):
    count, size = 4000, 4000
    paths = _large(kind, count, size, tmp_path)
    if kind == "parquet":
        pytest.importorskip("pyarrow.parquet")  # imported before memory is counted
    tracemalloc.start()
    try:
        pairs = read_pairs(*paths)
        read = sum(1 for _ in pairs.documents(0)) + sum(1 for _ in pairs)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == 2 * count
    assert peak < 5 * MIB  # of 16 MB a side


def test_parquet_reads_one_column_in_batches(tmp_path, monkeypatch):
    module = pytest.importorskip("pyarrow.parquet")
    pairs = read_pairs(*_large("parquet", 3000, 10, tmp_path))
    calls = []
    original = module.ParquetFile.iter_batches

    def spying(self, *arguments, **keywords):
        calls.append(keywords)
        for batch in original(self, *arguments, **keywords):
            calls.append(batch.num_rows)
            yield batch

    monkeypatch.setattr(module.ParquetFile, "iter_batches", spying)
    stream = pairs.documents(1)
    next(stream)
    assert calls[0]["columns"] == ["fr"]
    assert calls[1:] == [16]


def test_a_row_group_is_not_read_whole(parquet):
    pyarrow = pytest.importorskip("pyarrow")
    documents = [str(i) * 1000 for i in range(5000)]
    path = parquet({"en": documents, "fr": documents}, use_dictionary=False, compression=None)
    assert path.stat().st_size > 32 * MIB
    stream = read_pairs(path).documents(0)
    before = pyarrow.total_allocated_bytes()
    next(stream)
    assert 0 < pyarrow.total_allocated_bytes() - before < 8 * MIB


def test_tmx_memory_does_not_grow_with_the_file(tmp_path):
    peaks = []
    for count in (2000, 20_000):
        (path,) = _large("tmx", count, 1, tmp_path)
        tracemalloc.start()
        try:
            assert len(read_pairs(path, languages=("en", "fr"))) == count
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < peaks[0] + MIB // 4


def test_a_stream_left_early_closes_its_files(tmp_path):
    pairs = read_pairs(*_large("en", 5, 10, tmp_path))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else pytest.skip("needs /proc")
    streams = [iter(pairs), pairs.documents(0)]
    for stream in streams:
        next(stream)
    assert len(os.listdir("/proc/self/fd")) == before + 3
    for stream in streams:
        stream.close()
    del stream, streams
    assert len(os.listdir("/proc/self/fd")) == before
