"""Parts of files of texts: together they are the whole, wherever lines begin."""

import gzip
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import scca.readers._ranges as module
from scca.readers import PairError, ranges_of, read_pairs, source_of


def here(function, jobs):
    return [function(*job) for job in jobs]


def rows_in(sources, n_blocks):
    return [list(part.rows()) for part in ranges_of(sources, n_blocks, here)]


def all_rows(sources, n_blocks):
    return list(chain.from_iterable(rows_in(sources, n_blocks)))


def write(folder, name, lines, end="\n", last="\n"):
    path = folder / name
    path.write_bytes((end.join(lines) + last).encode())
    return path


TEXTS = st.lists(
    st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=9), min_size=1, max_size=12
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    first=TEXTS,
    n_blocks=st.integers(1, 15),
    chunk=st.integers(1, 40),
    last=st.sampled_from(["\n", ""]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_lines_of_two_files_in_parts_are_all_lines(tmp_path, monkeypatch, first, n_blocks, chunk, last, end):
    monkeypatch.setattr(module, "_CHUNK", chunk)
    first = [text + "x" for text in first]  # a last line of nothing, without an end, is no line
    second = [f"{i} {text}" for i, text in enumerate(first)]
    files = write(tmp_path, "a.en", first, end, last), write(tmp_path, "a.fr", second, end, last)
    source, languages = source_of(files)
    found = rows_in([source], n_blocks)
    assert [pair for part in found for pair in part] == list(zip(first, second, strict=True))
    assert len(found) == min(n_blocks, len(first))
    assert max(map(len, found)) <= min(map(len, found)) + 1
    assert languages == ("en", "fr")


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 4)
    lines = [f"line {i}" for i in range(9)]
    files = write(tmp_path, "a.en", ["\ufeff" + lines[0], *lines[1:]]), write(tmp_path, "a.fr", lines)
    assert all_rows([source_of(files)[0]], 4) == [(line, line) for line in lines]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.tsv.gz"])
def test_rows_of_a_table_in_parts_are_all_rows(tmp_path, monkeypatch, name):
    monkeypatch.setattr(module, "_CHUNK", 5)
    comma = "," if name == "a.csv" else "\t"
    rows = [(f"word{i}", f"mot{i}") for i in range(10)]
    text = "\n".join(comma.join(row) for row in [("en", "fr"), *rows]) + "\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    for n_blocks in (1, 3, 20):
        assert all_rows([source_of([path])[0]], n_blocks) == rows


def test_several_files_are_read_one_after_another(tmp_path):
    sources, whole = [], []
    for k in range(3):
        lines = [f"{k} {i}" for i in range(4 + k)]
        sources.append(source_of([write(tmp_path, f"{k}.{language}", lines) for language in ("en", "fr")])[0])
        whole += [(line, line) for line in lines]
    assert all_rows(sources, 5) == whole
    assert len(rows_in(sources, 5)) == 6  # at least five, and as many of every file


def test_files_of_different_lengths_are_refused_in_the_words_of_the_reader(tmp_path):
    files = write(tmp_path, "a.en", ["one", "two", "three"]), write(tmp_path, "a.fr", ["un", "deux"])
    with pytest.raises(PairError) as plain:
        read_pairs(*files)
    with pytest.raises(PairError) as in_parts:
        rows_in([source_of(files)[0]], 2)
    assert str(in_parts.value) == str(plain.value)


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_errors_name_the_line_and_the_byte_of_the_whole_file(tmp_path, monkeypatch, n_blocks):
    monkeypatch.setattr(module, "_CHUNK", 6)
    good, bad = tmp_path / "a.fr", tmp_path / "a.en"
    good.write_bytes(b"ab\n" * 9)
    bad.write_bytes(b"ab\n" * 7 + b"a\xff\n" + b"ab\n")
    with pytest.raises(PairError) as plain:
        read_pairs(bad, good)
    with pytest.raises(PairError) as in_parts:
        rows_in([source_of([bad, good])[0]], n_blocks)
    assert str(in_parts.value) == str(plain.value)
    table = tmp_path / "a.tsv"
    table.write_bytes(b"en\tfr\n" + b"a\tb\n" * 6 + b"a\n")
    with pytest.raises(PairError, match=r"Data row 7 of .*\(line 8\)"):
        rows_in([source_of([table])[0]], n_blocks)
