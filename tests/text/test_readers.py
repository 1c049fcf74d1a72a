import builtins
import csv
import gzip
import io
import os
import re
import socket
import subprocess
import sys
import tracemalloc
import unicodedata
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scca._validation import DataWarning
from scca.text._readers import PairedText, PairError, default_language, read_documents, read_pairs

MIB = 2**20


@pytest.fixture(autouse=True)
def _no_unexpected_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def refusal(*arguments, **keywords):
    """The one sentence by which read_pairs refuses."""
    with pytest.raises(PairError) as caught:
        read_pairs(*arguments, **keywords)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert not re.search(r"\. [A-Z]", message)
    return message


# two files, line by line


@pytest.mark.parametrize(("first", "second"), [("a.en", "b.fr"), ("a.en.gz", "b.fr"), ("a.en.gz", "b.fr.txt.GZ")])
def test_lines_are_paired_and_can_be_read_again(tmp_path, first, second):
    for name, text in ((first, "one\ntwo\nthree"), (second, "un\ndeux\ntrois\n")):
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    pairs = read_pairs(str(tmp_path / first), tmp_path / second)
    assert pairs.languages == ("en", "fr")
    assert len(pairs) == 3
    for _ in range(2):
        assert list(pairs.documents(0)) == ["one", "two", "three"]
        assert list(pairs.documents(1)) == ["un", "deux", "trois"]
        assert list(pairs) == [("one", "un"), ("two", "deux"), ("three", "trois")]
    assert pairs.empty == pairs.dropped == ()


def test_two_streams_do_not_disturb_each_other(write):
    pairs = read_pairs(write("a.en", "1\n2\n3\n"), write("b.fr", "4\n5\n6\n"))
    one, again = pairs.documents(0), pairs.documents(0)
    assert [next(one), next(one), next(again), next(one), next(again)] == ["1", "2", "1", "3", "2"]


def test_a_side_is_0_or_1(write):
    pairs = PairedText.of(["a"], ["b"])
    for side in (2, -1, "en"):
        with pytest.raises(ValueError, match="side must be 0 or 1"):
            pairs.documents(side)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("train.en", "en"),
        ("train.en.txt.gz", "en"),
        ("dir.x/train.pt-BR.gz", "pt-BR"),
        ("train.txt", None),
        ("train", None),
        ("dir.en/train.gz", None),
        ("a.b.TXT", "b"),
    ],
)
def test_default_language(path, language):
    assert default_language(path) == language


@pytest.mark.parametrize(("first", "second"), [("a.txt", "b.fr"), ("a.en", "b.en"), ("a", "b")])
def test_labels_without_telling_suffixes(write, first, second):
    assert read_pairs(write(first, "x"), write(second, "y")).languages == ("first", "second")


def test_languages_are_labels_of_two_files(write):
    assert read_pairs(write("a.en", "x"), write("b.fr", "y"), languages=["English", "French"]).languages == (
        "English",
        "French",
    )


@pytest.mark.parametrize("languages", ["en", ("en",), ("en", "en"), ("en", ""), ("en", 1), ("a", "b", "c")])
def test_languages_must_be_two_names(write, languages):
    message = refusal(write("a.en", "x"), write("b.fr", "y"), languages=languages)
    assert "languages must be two different names" in message
    assert repr(languages) in message


def test_columns_are_of_tables_only(write):
    assert "columns=" in refusal(write("a.en", "x"), write("b.fr", "y"), columns=("a", "b"))
    assert "columns=" in refusal(write("a.tmx", "x"), columns=("a", "b"))


def test_lines_end_at_newlines_only(write):
    odd = ["a\u2028b", "c\u0085d", "e\rf", "g\x0bh\x0ci", "j\x1ck\u2029", "\rl"]
    pairs = read_pairs(write("a.en", "\n".join(odd)), write("b.fr", "x\n" * len(odd)))
    assert list(pairs.documents(0)) == odd


def test_crlf_is_stripped_once_and_a_lone_cr_at_the_end_stays(write):
    pairs = read_pairs(write("a.en", b"one\r\ntwo\r\r\nthree\r"), write("b.fr", "1\n2\n3"))
    assert list(pairs.documents(0)) == ["one", "two\r", "three\r"]


def test_text_is_left_as_it_is(write):
    decomposed = unicodedata.normalize("NFD", "été")
    pairs = read_pairs(write("a.fr", f" {decomposed}\t\n"), write("b.en", "\ufeffé\ufeff\n"))
    assert list(pairs) == [(f" {decomposed}\t", "é\ufeff")]  # only the mark at the start is none of the text


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0")), min_size=1))
def test_any_lines_come_back(tmp_path_factory, documents):
    documents = [f"x{document}x" for document in documents]
    path = tmp_path_factory.mktemp("any") / "a.en"
    path.write_bytes("\n".join(documents).encode())
    assert read_documents(path) == documents


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_byte_order_marks(write, suffix):
    mate = write("b.fr", "x\n")
    assert list(read_pairs(write("a.en" + suffix, b"\xef\xbb\xbfone\n"), mate).documents(0)) == ["one"]
    for encoding, name in (
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32-le", "UTF-32"),
        ("utf-32-be", "UTF-32"),
    ):
        message = refusal(write("a.en" + suffix, "\ufeff\none\n".encode(encoding)), mate)
        assert name in message
        assert "convert it to UTF-8" in message


def test_utf16_without_a_mark_is_refused_for_its_nul(write):
    message = refusal(write("a.en", "one\n".encode("utf-16-be")), write("b.fr", "x\n"))
    assert "a.en holds a NUL byte (0x00 at offset 0)" in message
    assert "UTF-16" in message


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_nul_is_refused_with_its_place(write, suffix, mark):
    message = refusal(write("b.fr", "x\ny\n"), write("a.en" + suffix, mark + b"one\ntw\0o\n"))
    assert message.startswith("Line 2 of ")
    assert f"offset {6 + len(mark)})" in message


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("content", "offset", "line", "byte"),
    [
        (b"\xff", 0, 1, "ff"),
        (b"caf\xe9\n", 3, 1, "e9"),  # Latin-1; the line ends where a second byte should be
        ("é".encode() * 50_000 + b"\n" + b"ab\x80\n", 100_003, 2, "80"),  # beyond any buffer
        (b"a\r\n" * 70_000 + b"\xed\xa0\x80", 210_000, 70_001, "ed"),  # a surrogate
        (b"a\nb\xc3", 3, 2, "c3"),  # cut off at the end of the file
    ],
)
def test_an_invalid_byte_is_refused_with_its_offset(write, suffix, mark, content, offset, line, byte):
    path = write("a.en" + suffix, mark + content)
    message = refusal(path, write("b.fr", "x\n" * 80_000))
    assert message.startswith(f"{path} is not UTF-8: byte 0x{byte} at offset {offset + len(mark)} (line {line})")


def test_a_long_line_is_refused_without_reading_it_whole(write):
    long = write("a.en.gz", b"x\n" + b"y" * (64 * MIB) + b"\n")
    mate = write("b.fr", "x\nx\n")
    tracemalloc.start()
    try:
        message = refusal(long, mate)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert message.startswith(f"Line 2 of {long} is longer than 8 MiB")
    assert peak < 32 * MIB


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_longest_line_is_just_allowed(write, end, mark):
    longest = b"y" * (8 * MIB)
    mate = write("b.fr", "x\n")
    assert [len(d) for d in read_pairs(write("a.en", mark + longest + end), mate).documents(0)] == [8 * MIB]
    assert "longer than 8 MiB" in refusal(write("a.en", mark + longest + b"y" + end), mate)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(("counts", "longer"), [((10, 7), 0), ((7, 10), 1)])
def test_different_numbers_of_lines(write, suffix, counts, longer):
    paths = [write(f"{name}{suffix}", "x\n" * count) for name, count in zip(("a.en", "b.fr"), counts, strict=True)]
    assert refusal(*paths).startswith(
        f"{paths[0]} has {counts[0]} lines and {paths[1]} has {counts[1]}: line 8 of {paths[longer]} has no mate; "
    )


# what is no file of text


def test_no_such_file_directory_or_loop(tmp_path, write):
    mate = write("b.fr", "x\n")
    (tmp_path / "loop.en").symlink_to(tmp_path / "loop.en")
    assert "is a directory" in refusal(tmp_path, mate)
    assert "is a directory" in refusal(mate, tmp_path)
    assert "a.en does not exist" in refusal(tmp_path / "a.en", mate)
    assert "cannot be read" in refusal(mate / "a.en", mate)
    assert "cannot be read" in refusal(tmp_path / "loop.en", mate)
    assert "cannot be read" in refusal("a\0.en", mate)
    for name in ("no.tsv", "no.csv.gz", "no.parquet", "no.tmx"):
        assert f"{name} does not exist" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["a.en", "a.tsv", "a.csv", "a.parquet", "a.tmx", "a.tmx.gz"])
def test_special_files_do_not_hang(tmp_path, write, name):
    os.mkfifo(tmp_path / name)
    second = (write("b.fr", "x\n"),) if name == "a.en" else ()
    assert "a FIFO" in refusal(tmp_path / name, *second)


def test_sockets_and_devices(tmp_path, write, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a.en")
        assert "a socket" in refusal("a.en", write("b.fr", "x\n"))
    assert "a device" in refusal("/dev/zero", write("b.fr", "x\n"))


def test_a_file_without_permission(write, monkeypatch):
    path, mate = write("a.en", "x\n"), write("b.fr", "x\n")
    opening = builtins.open

    def forbidding(file, *arguments, **keywords):  # chmod does not stop root
        if file == path:
            raise PermissionError(13, "Permission denied")
        return opening(file, *arguments, **keywords)

    monkeypatch.setattr(builtins, "open", forbidding)
    assert "a.en may not be read by this user" in refusal(path, mate)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.en", "a.en.gz"])
def test_an_empty_file_is_refused(write, name, content):
    path = write(name, content)
    if content:  # a mark alone is one empty line: a pair, but with no text
        with pytest.warns(DataWarning, match="1 document is empty"):
            assert list(read_pairs(path, write("b.fr", "x"))) == [("", "x")]
        assert "no pair with text on both sides" in refusal(path, write("b.fr", "x"), drop_empty=True)
        return
    assert f"{path} is empty" in refusal(path, write("b.fr", "x\n"))
    assert f"{path} is empty" in refusal(write("b.fr", "x\n"), path)


def test_a_gz_file_of_no_bytes_is_empty(tmp_path, write):
    (tmp_path / "a.en.gz").touch()
    assert "a.en.gz is empty" in refusal(tmp_path / "a.en.gz", write("b.fr", "x\n"))


@pytest.mark.parametrize("name", ["a.en.gz", "a.tsv.gz", "a.csv.gz", "a.tmx.gz"])
def test_broken_gzip(tmp_path, write, name):
    path = tmp_path / name
    second = (write("b.fr", "x\n" * 5000),) if name == "a.en.gz" else ()
    text = {"a.tmx.gz": tmx(*[{"en": f"{i}", "fr": "x"} for i in range(5000)])}.get(
        name, "en\tfr\n" + "".join(f"{i * i}\tx\n" for i in range(4999))
    )
    text = text.replace("\t", ",") if "csv" in name else text
    whole = gzip.compress(text.encode())
    path.write_bytes(whole)
    assert len(read_pairs(path, *second)) in (4999, 5000)
    for length in (5, len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:length])
        assert f"{path} is truncated" in refusal(path, *second)
    for broken in (
        text.encode(),  # not compressed
        whole[:-8] + bytes(4) + whole[-4:],  # wrong checksum
        whole[:12] + b"\xff" * 50 + whole[62:],  # no deflate stream
        whole + b"rubbish",
    ):
        path.write_bytes(broken)
        assert f"{path} is not valid gzip" in refusal(path, *second)


def test_gzip_of_several_members_is_one_file(tmp_path, write):
    (tmp_path / "a.en.gz").write_bytes(gzip.compress(b"one\nt") + gzip.compress(b"wo\n"))
    assert list(read_pairs(tmp_path / "a.en.gz", write("b.fr", "x\ny\n")).documents(0)) == ["one", "two"]


def test_gzip_under_a_plain_name_is_named(tmp_path, write):
    (tmp_path / "a.en").write_bytes(gzip.compress(b"one\n"))
    assert "compressed by gzip" in refusal(tmp_path / "a.en", write("b.fr", "x\n"))


@pytest.mark.parametrize("name", ["a.en", "a", "a.gz", "a.xlsx", "a.parquet.gz", "tsv"])
def test_one_file_of_another_kind(write, name):
    message = refusal(write(name, "x\ty\n"))
    for suffix in (".tsv", ".csv", ".tmx", ".parquet", "second file"):
        assert suffix in message


# empty documents


def test_empty_documents_are_kept_and_reported_once(write):
    first, second = write("a.en", "one\n \t\u3000\nthree\n\n"), write("b.fr", "un\n\n\nquatre\n")
    expected = f"4 documents are empty (first: line 2 of {first}); pass drop_empty=True to leave such pairs out."
    with pytest.warns(DataWarning, match=re.escape(expected)) as caught:
        pairs = read_pairs(first, second)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert pairs.empty == (1, 2, 3)
    assert pairs.dropped == ()
    assert len(pairs) == 4
    assert list(pairs.documents(1)) == ["un", "", "", "quatre"]


def test_empty_documents_are_dropped_on_both_sides(write):
    pairs = read_pairs(write("a.en", "\none\n \nthree\n\n"), write("b.fr", "x\nun\ny\ntrois\nz"), drop_empty=True)
    assert pairs.empty == pairs.dropped == (0, 2, 4)
    assert len(pairs) == 2
    assert list(pairs.documents(0)) == ["one", "three"]
    assert list(pairs.documents(1)) == ["un", "trois"]
    assert list(pairs) == [("one", "un"), ("three", "trois")]


def test_the_second_side_can_be_the_first_empty_one(write):
    second = write("b.fr", "un\n\n")
    with pytest.warns(DataWarning, match=re.escape(f"1 document is empty (first: line 2 of {second})")):
        read_pairs(write("a.en", "one\ntwo\n"), second)


def test_nothing_left_is_refused(write):
    message = refusal(write("a.en", "\nx\n"), write("b.fr", "y\n\n"), drop_empty=True)
    assert "no pair with text on both sides" in message


def test_a_file_that_changes_is_noticed(write):
    first = write("a.en", "1\n2\n3\n")
    pairs = read_pairs(first, write("b.fr", "1\n2\n3\n"))
    for changed in ("1\n2\n", "1\n2\n3\n4\n"):
        write("a.en", changed)
        seen = []
        with pytest.raises(PairError, match="has changed since it was checked, when it held 3 pairs"):
            seen.extend(pairs.documents(0))
        assert seen == ["1", "2", "3"][: len(changed) // 2]
        with pytest.raises(PairError):
            list(pairs)


# tables


@pytest.mark.parametrize(("name", "tab"), [("a.tsv", "\t"), ("a.csv", ","), ("a.TSV", "\t"), ("a.csv.gz", ",")])
def test_tables(write, name, tab):
    text = "\ufeffid,en,fr\r\n1,NA,null\r\n2,two,NaN\r\n3,,x\n"
    path = write(name, text.replace(",", tab))
    pairs = read_pairs(path, languages=("fr", "en"), drop_empty=True)
    assert pairs.languages == ("fr", "en")
    assert list(pairs) == [("null", "NA"), ("NaN", "two")]
    assert pairs.dropped == (2,)
    assert list(pairs.documents(1)) == ["NA", "two"]
    named = read_pairs(path, columns=("id", "fr"))
    assert named.languages == ("id", "fr")
    assert next(iter(named)) == ("1", "null")
    assert read_pairs(path, columns=("id", "fr"), languages=("de", "it")).languages == ("de", "it")
    with pytest.warns(
        DataWarning, match=re.escape(f"1 document is empty (first: column 'en' in data row 3 of {path})")
    ):
        read_pairs(path, columns=("en", "fr"))


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_the_only_two_columns_are_the_pair(write, suffix):
    tab = "," if suffix == "csv" else "\t"
    pairs = read_pairs(write(f"a.{suffix}", f"de{tab}it\n1{tab}2"))
    assert pairs.languages == ("de", "it")
    assert list(pairs) == [("1", "2")]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_columns_that_cannot_be_chosen(write, suffix):
    tab = "," if suffix == "csv" else "\t"
    path = write(f"a.{suffix}", "en,fr,en\n1,2,3\n".replace(",", tab))
    assert "has 3 column(s) ('en', 'fr', 'en')" in refusal(path)
    assert "has no column 'de' among 'en', 'fr', 'en'" in refusal(path, columns=("fr", "de"))
    assert "has no column 'it'" in refusal(path, languages=("fr", "it"))
    assert "has more than one column 'en'" in refusal(path, columns=("fr", "en"))
    assert "has more than one column 'x'" in refusal(write(f"b.{suffix}", f"x{tab}x\n1{tab}2\n"))
    assert "columns must be two different names" in refusal(path, columns=("en", "en"))
    assert "columns must be two different names" in refusal(path, columns="fr")


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_rows_and_header_must_agree(write, suffix):
    tab = "," if suffix == "csv" else "\t"
    for row, count in (("3", 1), ("3,4,5", 3)):
        path = write(f"a.{suffix}", f"en,fr\n1,2\n{row}\n6,7\n".replace(",", tab))
        assert f"Data row 2 of {path} (line 3) has {count} fields and the header has 2" in refusal(path)
    path = write(f"a.{suffix}", "en,fr\n".replace(",", tab))
    assert "holds no pair at all" in refusal(path)
    assert "is empty" in refusal(write(f"a.{suffix}.gz", ""))


def test_csv_quotes_and_newlines_in_fields(write):
    rows = [['say "x"', "a,b"], ["two\nlines", "three\r\nmore\rlines\u2028"], ["'", " b "]]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["en", "fr"], *rows])
    pairs = read_pairs(write("a.csv", text.getvalue()))
    assert [list(pair) for pair in pairs] == rows


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('a,"unclosed\nb,c\n', "unexpected end of data"),
        ('a,"b"c\n', "expected after"),
        ("a,b\rc,d\n", "new-line character"),
    ],
)
def test_malformed_csv_is_refused_with_its_line(write, row, reason):
    message = refusal(write("a.csv", 'en,fr\n1,"2\n2"\n' + row))
    assert "the row that starts at line 4" in message
    assert reason in message


def test_csv_fields_may_be_long_but_not_endless(write):
    long = "y" * MIB  # csv's own limit is 128 KiB
    assert [len(text) for text in read_pairs(write("a.csv", f"en,fr\n1,{long}\n")).documents(1)] == [MIB]
    unclosed = ("z" * 1000 + "\n") * 9000
    assert "field larger than field limit" in refusal(write("a.csv", f'en,fr\n1,"{unclosed}"\n'))


def test_a_stray_quote_in_tsv_swallows_nothing(write):
    pairs = read_pairs(write("a.tsv", 'en\tfr\n"one\tun\ntwo "\t"deux"\nth\rree\ttrois\n'))
    assert list(pairs) == [('"one', "un"), ('two "', '"deux"'), ("th\rree", "trois")]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.tsv.gz", "a.csv.gz"])
def test_tables_are_checked_like_lines(write, name):
    tab = b"," if "csv" in name else b"\t"
    head = b"en" + tab + b"fr\n"
    body = (b"a" + tab + b"b\r\n") * 50_000
    message = refusal(write(name, b"\xef\xbb\xbf" + head + body + b"c" + tab + b"\xe9\n"))
    assert f"byte 0xe9 at offset {3 + 6 + 250_000 + 2} (line 50002)" in message
    assert "NUL byte (0x00 at offset 6)" in refusal(write(name, head + b"\0" + tab + b"b\n"))
    assert "UTF-16" in refusal(write(name, head.decode().encode("utf-16")))
    assert "longer than 8 MiB" in refusal(write(name, head + b"c" + tab + b"d" * (9 * MIB)))


# Parquet


@pytest.fixture
def parquet(tmp_path):
    pyarrow, module = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

    def parquet(columns, name="a.parquet", **options):
        path = tmp_path / name
        module.write_table(pyarrow.table(columns), path, **options)
        return path

    return parquet


def test_parquet_strings_of_every_kind(parquet):
    pyarrow = pytest.importorskip("pyarrow")
    words = ["one", "NA", "null", "two\nlines\0"]
    columns = {
        "plain": pyarrow.array(words),
        "large": pyarrow.array(words, pyarrow.large_string()),
        "coded": pyarrow.array(words).dictionary_encode(),
        "dotted.name": pyarrow.array(words),
    }
    path = parquet({**columns, "n": pyarrow.array(range(4))}, row_group_size=3)
    for column in columns:
        other = "plain" if column != "plain" else "coded"
        pairs = read_pairs(path, columns=(column, other))
        assert pairs.languages == (column, other)
        assert list(pairs) == [(word, word) for word in words]
        assert list(pairs.documents(0)) == list(pairs.documents(1)) == words


def test_parquet_by_languages_or_by_the_only_two_columns(parquet):
    assert list(read_pairs(parquet({"en": ["a"], "fr": ["b"]}))) == [("a", "b")]
    pairs = read_pairs(parquet({"en": ["a"], "x": [1], "fr": ["b"]}), languages=("fr", "en"))
    assert pairs.languages == ("fr", "en")
    assert list(pairs) == [("b", "a")]


def test_parquet_columns_that_cannot_be_chosen(parquet):
    pyarrow = pytest.importorskip("pyarrow")
    path = parquet(
        {
            "en": ["a"],
            "n": [1],
            "bytes": [b"a"],
            "lists": [["a"]],
            "large_lists": pyarrow.array([["a"]], pyarrow.large_list(pyarrow.string())),
            "codes": pyarrow.array([1]).dictionary_encode(),
        }
    )
    assert "has 6 column(s)" in refusal(path)
    assert "has no column 'de' among 'en', 'n'" in refusal(path, columns=("en", "de"))
    for column in ("n", "bytes", "lists", "large_lists", "codes"):
        message = refusal(path, columns=("en", column))
        assert f"Column {column!r} of {path} is of type " in message
        assert "not string" in message


def test_parquet_nulls_are_missing_sides(parquet):
    pyarrow = pytest.importorskip("pyarrow")
    count = 3000  # more than one batch
    french = [None if i == 2500 else "y" for i in range(count)]
    path = parquet({"en": ["x", " "] + ["x"] * (count - 2), "fr": pyarrow.array(french).dictionary_encode()})
    assert f"Column 'fr' in row 2501 of {path} is missing" in refusal(path)
    pairs = read_pairs(path, drop_empty=True)
    assert pairs.empty == pairs.dropped == (1, 2500)
    assert len(pairs) == len(list(pairs)) == 2998
    assert set(pairs.documents(1)) == {"y"}


def test_parquet_blanks_are_reported(parquet):
    path = parquet({"en": ["x", "x"], "fr": ["y", ""]})
    with pytest.warns(DataWarning, match=re.escape(f"1 document is empty (first: column 'fr' in row 2 of {path})")):
        assert list(read_pairs(path)) == [("x", "y"), ("x", "")]


def test_parquet_with_invalid_text(parquet):
    pyarrow = pytest.importorskip("pyarrow")
    binary = pyarrow.array([b"a"] * 1500 + [b"\xff"])
    path = parquet({"en": ["x"] * 1501, "fr": pyarrow.StringArray.from_buffers(1501, *binary.buffers()[1:])})
    assert f"Column 'fr' in row 1501 of {path} is not UTF-8" in refusal(path)


def test_broken_parquet(parquet, write):
    whole = parquet({"en": ["a" * 5000], "fr": ["b"]}).read_bytes()
    for content in (b"PAR1", whole[: len(whole) // 2], whole[:-9] + b"\xff" + whole[-8:], b"en\tfr\n" * 9):
        assert "cannot be read as Parquet" in refusal(write("b.parquet", content))
    assert "is empty" in refusal(write("b.parquet", b""))
    assert "holds no pair at all" in refusal(
        parquet({name: pytest.importorskip("pyarrow").array([], "string") for name in ("en", "fr")})
    )


# translation memories


def tmx_unit(content):
    if isinstance(content, dict):
        content = "".join(f'<tuv xml:lang="{k}"><seg>{v}</seg></tuv>' for k, v in content.items())
    return f"<tu>{content}</tu>\n"


def tmx(*units, head='<?xml version="1.0"?>', root="<tmx version='1.4'>"):
    """A translation memory; a unit is {language: content of seg} or XML."""
    return f"{head}\n{root}<header><prop>x</prop></header><body>{''.join(map(tmx_unit, units))}</body></tmx>"


@pytest.fixture(autouse=True, scope="module")
def _defusedxml():
    pytest.importorskip("defusedxml")


@pytest.mark.parametrize("name", ["a.tmx", "a.tmx.gz", "a.TMX"])
def test_tmx(write, name):
    pairs = read_pairs(write(name, tmx({"en": "one", "fr": "un &amp; <![CDATA[<b>]]>"}, {"fr": "deux", "en": "two"})))
    assert pairs.languages == ("en", "fr")
    assert list(pairs) == [("one", "un & <b>"), ("two", "deux")]
    assert list(pairs.documents(1)) == ["un & <b>", "deux"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_tmx_in_the_encoding_it_declares(write, encoding):
    declared = encoding.removesuffix("-sig")
    text = tmx({"en": "one", "fr": "été"}, head=f'<?xml version="1.0" encoding="{declared}"?>')
    assert list(read_pairs(write("a.tmx", text.encode(encoding)))) == [("one", "été")]


@pytest.mark.parametrize("encoding", ["nonsense", "utf-7", "shift_jis"])
def test_tmx_in_an_encoding_that_cannot_be_read(write, encoding):
    path = write("a.tmx", tmx({"en": "a", "fr": "b"}, head=f'<?xml version="1.0" encoding="{encoding}"?>'))
    assert str(path) in refusal(path)


def test_tmx_selects_languages(write):
    path = write("a.tmx", tmx({"en": "one", "fr": "un"}, {"en": "two", "FR": "deux", "de": "zwei"}))
    message = refusal(path)
    assert "has 3 ('en', 'fr', 'de')" in message
    assert "languages=" in message
    pairs = read_pairs(path, languages=("Fr", "EN"))
    assert pairs.languages == ("Fr", "EN")
    assert list(pairs) == [("un", "one"), ("deux", "two")]
    assert "has 1 ('en')" in refusal(write("a.tmx", tmx({"en": "one"})))
    assert "has 0 (none)" in refusal(write("a.tmx", tmx()))
    assert "holds no pair at all" in refusal(write("a.tmx", tmx()), languages=("en", "fr"))


def test_tmx_regions(write):
    path = write("a.tmx", tmx({"en-US": "color", "fr_CA": "couleur"}, {"EN_gb": "colour", "fr": "couleurs"}))
    assert list(read_pairs(path, languages=("en", "fr"))) == [("color", "couleur"), ("colour", "couleurs")]
    assert "The 'en-GB' segment of unit 1 " in refusal(path, languages=("en-GB", "fr"))
    assert list(read_pairs(path, languages=("en-GB", "fr"), drop_empty=True)) == [("colour", "couleurs")]
    assert "The 'e' segment of unit 1 " in refusal(path, languages=("e", "fr"))
    variants = write("a.tmx", tmx({"en-GB": "colour", "en-US": "color"}))
    assert list(read_pairs(variants)) == [("colour", "color")]
    assert list(read_pairs(variants, languages=("en", "en-GB"))) == [("color", "colour")]


def test_tmx_takes_the_first_of_several_variants(write):
    unit = "".join(
        f'<tuv xml:lang="{k}"><seg>{v}</seg></tuv>' for k, v in (("en", "a"), ("en-US", "b"), ("fr", "c"), ("fr", "d"))
    )
    assert list(read_pairs(write("a.tmx", tmx(unit)), languages=("en", "fr"))) == [("a", "c")]


def test_tmx_lang_attribute_namespace_and_doctype(write):
    text = """<!DOCTYPE tmx SYSTEM "tmx14.dtd">
    <t:tmx xmlns:t="http://www.lisa.org/tmx14"><t:header/><t:body><t:tu><t:note>n</t:note>
    <t:tuv lang="EN"><t:prop>p</t:prop><t:seg>o<t:ph>x</t:ph>ne</t:seg></t:tuv>
    <t:tuv lang="FR"><t:seg>un</t:seg></t:tuv></t:tu></t:body></t:tmx>"""
    pairs = read_pairs(write("a.tmx", text))
    assert pairs.languages == ("EN", "FR")
    assert list(pairs) == [("one", "un")]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ('a <bpt i="1">&lt;b></bpt>bold<ept i="1">&lt;/b></ept> c', "a bold c"),
        ("a<ph>{0}</ph>b<it pos='begin'>i</it>c<ut>u</ut>d", "abcd"),
        ("a <hi>b <hi>c</hi><ph>x</ph> d</hi> e", "a b c d e"),
        ("a <sub>b</sub> c<bpt i='1'>x<sub>y</sub>z</bpt>.", "a b c."),
        ("a<!-- not text -->b<?pi not text?>c", "abc"),
        ("<hi>" * 5000 + "deep" + "</hi>" * 5000, "deep"),
    ],
)
def test_tmx_inline_codes(write, segment, text):
    assert list(read_pairs(write("a.tmx", tmx({"en": segment, "fr": "x"})))) == [(text, "x")]


def test_tmx_missing_and_empty_segments(write):
    path = write("a.tmx", tmx({"en": "one", "fr": "un"}, {"en": "two"}, {"en": "", "fr": "trois"}))
    message = refusal(path)
    assert message.startswith(f"The 'fr' segment of unit 2 of {path} is missing")
    pairs = read_pairs(path, drop_empty=True)
    assert pairs.dropped == (1, 2)
    assert list(pairs) == [("one", "un")]
    path = write(
        "a.tmx", tmx({"en": "one", "fr": "<ph>x</ph> "}, '<tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="fr"/>')
    )
    assert "The 'fr' segment of unit 2 " in refusal(path)
    path = write("a.tmx", tmx({"en": "one", "fr": "<ph>x</ph> "}))
    with pytest.warns(DataWarning, match=re.escape(f"first: the 'fr' segment of unit 1 of {path})")):
        read_pairs(path)


LAUGHS = '<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "declaration",
    [
        f"<!DOCTYPE tmx [{LAUGHS}]>",
        f'<!DOCTYPE tmx [<!ENTITY i "{"x" * 1000}">]>',
        '<!DOCTYPE tmx [<!ENTITY i SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE tmx [<!ENTITY % i SYSTEM "http://localhost:9/x.dtd"> %i;]>',
        '<!DOCTYPE tmx [<!NOTATION n SYSTEM "n"><!ENTITY i SYSTEM "x.gif" NDATA n>]>',
    ],
)
@pytest.mark.parametrize("name", ["a.tmx", "a.tmx.gz"])
def test_tmx_entities_are_refused(write, name, declaration):
    path = write(name, tmx({"en": "&i;", "fr": "x"}, head=declaration))
    message = refusal(path, languages=("en", "fr"))
    assert str(path) in message
    assert "entities are refused" in message


def test_tmx_undeclared_entity(write):
    path = write("a.tmx", tmx({"en": "a&nbsp;b", "fr": "x"}, head='<!DOCTYPE tmx SYSTEM "tmx14.dtd">'))
    assert "undefined entity" in refusal(path)


def test_tmx_that_is_broken(write):
    whole = tmx(*[{"en": f"one {i}", "fr": "un"} for i in range(3000)])
    line = whole[: len(whole) // 2].count("\n") + 1
    message = refusal(write("a.tmx", whole[: len(whole) // 2]))
    assert f"not well-formed XML at line {line}, column " in message
    assert "at line 3, column 7 (mismatched tag)" in refusal(write("a.tmx", "<tmx>\n<body>\n<tu></tuv></body></tmx>"))
    assert "not well-formed XML at line 1" in refusal(write("a.tmx", "one\ttwo\n"))
    assert "not well-formed" in refusal(write("a.tmx", tmx({"en": "\0", "fr": "b"})))
    assert "not well-formed" in refusal(write("a.tmx", tmx({"en": "caf\xe9", "fr": "b"}).encode("latin-1")))
    assert "it starts with <html>" in refusal(write("a.tmx", "<html><tu/></html>"))


def test_tmx_unit_without_an_end_is_not_read_whole(write):
    path = write("a.tmx.gz", "<tmx><body><tu>" + "<tuv>x</tuv>" * (2 * MIB))
    tracemalloc.start()
    try:
        assert "a unit longer than 8 MiB" in refusal(path, languages=("en", "fr"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 * MIB


# streaming


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
    assert calls[1:] == [128]


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


# lists


def test_lists():
    pairs = PairedText.of(["a", "b"], ("c", "d"), languages=("en", "fr"))
    assert pairs.languages == ("en", "fr")
    assert list(pairs) == [("a", "c"), ("b", "d")]
    assert list(pairs.documents(1)) == list(pairs.documents(1)) == ["c", "d"]
    assert PairedText.of(["a"], ["b"]).languages == ("first", "second")
    assert repr(pairs) == "<PairedText of 2 pairs, 'en' and 'fr'>"


def test_lists_do_not_change_behind_ones_back():
    first = ["a", "b"]
    pairs = PairedText.of(first, ["c", "d"])
    first.append("e")
    assert list(pairs.documents(0)) == ["a", "b"]


def test_lists_with_empty_documents():
    with pytest.warns(DataWarning, match=r"2 documents are empty \(first: document 2 of the second list\)") as caught:
        pairs = PairedText.of(["a", "b", " "], ["c", "", "d"])
    assert caught[0].filename == __file__
    assert pairs.empty == (1, 2)
    assert len(pairs) == 3
    pairs = PairedText.of(["a", "b", " "], ["c", "", "d"], drop_empty=True)
    assert pairs.empty == pairs.dropped == (1, 2)
    assert list(pairs) == [("a", "c")]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (["a", "b"], ["c"], "The first list has 2 documents and the second has 1: document 2 of the first has no mate"),
        (
            ["a"],
            ["c", "d"],
            "The first list has 1 documents and the second has 2: document 2 of the second has no mate",
        ),
        (["a"], ["c", None], "The first list has 1 documents and the second has 2"),
        (["a", "b"], ["c", None], "Document 2 of the second list is None, not a string"),
        ([b"a"], ["c"], "Document 1 of the first list is b'a', not a string"),
        ("ab", ["c", "d"], "The first list is a single string, 'ab'"),
        ([], [], "The pair of lists holds no pair at all"),
    ],
)
def test_lists_that_are_no_pairs(first, second, message):
    with pytest.raises(PairError, match=re.escape(message)):
        PairedText.of(first, second)


# documents


def test_read_documents(write, monkeypatch):
    assert read_documents(write("q.txt", "one\u2028\r\ntwo")) == ["one\u2028", "two"]
    assert read_documents(str(write("q.gz", "one\ntwo\n"))) == ["one", "two"]
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfune\n\xc3\xa9t\xc3\xa9\n"), encoding="ascii")
    )
    assert read_documents("-") == ["une", "été"]


def test_read_documents_refuses_what_read_pairs_refuses(tmp_path, write, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    for path, message in (
        (tmp_path, "is a directory"),
        (tmp_path / "fifo", "a FIFO"),
        (write("empty", ""), "is empty"),
        (write("bad", b"a\n\xff"), "byte 0xff at offset 2 (line 2)"),
        (write("nul", b"a\n\0"), "NUL byte"),
        (write("long", b"a" * (9 * MIB)), "longer than 8 MiB"),
    ):
        with pytest.raises(PairError, match=re.escape(message)):
            read_documents(path)
    for content, message in (
        (b"", "standard input is empty"),
        (b"a\n\xff", "standard input is not UTF-8: byte 0xff at offset 2"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(PairError, match=message):
            read_documents("-")


def test_read_documents_from_a_pipe():
    code = "from scca.text._readers import read_documents; print(read_documents('-'))"
    run = subprocess.run([sys.executable, "-c", code], input=b"a\nb\n", capture_output=True, check=True)
    assert run.stdout.strip() == b"['a', 'b']"


def test_read_documents_reports_empty_lines(write):
    path = write("q.txt", "one\n\n \ntwo\n")
    with pytest.warns(DataWarning, match=re.escape(f"2 documents are empty (first: line 2 of {path})")) as caught:
        assert read_documents(path) == ["one", "", " ", "two"]
    assert caught[0].filename == __file__


# optional dependencies


@pytest.mark.parametrize(("kind", "module"), [("parquet", "pyarrow"), ("tmx", "defusedxml")])
def test_a_missing_dependency_names_its_extra(write, monkeypatch, kind, module):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ImportError, match=re.escape(f"needs {module}, which is not installed: run pip install 'scca[{kind}]'.")
    ):
        read_pairs(write(f"a.{kind}", "x"))


def test_reading_lines_needs_no_optional_dependency(write):
    code = (
        "import sys; sys.modules['pyarrow'] = sys.modules['defusedxml'] = None; "
        "from scca.text._readers import read_pairs; print(list(read_pairs(*sys.argv[1:])))"
    )
    paths = (write("a.en", "x"), write("b.fr", "y"))
    run = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[('x', 'y')]"
