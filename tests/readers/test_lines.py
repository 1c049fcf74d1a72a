"""Two files, line by line."""

import builtins
import gzip
import os
import re
import socket
import tracemalloc
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import MIB, refusal, tmx

from scca._checks import DataWarning
from scca.readers import PairedText, PairError, read_documents, read_pairs
from scca.readers._read import default_language

pytestmark = pytest.mark.filterwarnings("error")


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


def test_a_view_is_0_or_1(write):
    pairs = PairedText.of(["a"], ["b"])
    for view in (2, -1, "en"):
        with pytest.raises(ValueError, match="view must be 0 or 1; got"):
            pairs.documents(view)


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
    assert "a.en has a NUL byte (0x00 at offset 0)" in message
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
        with pytest.raises(PairError, match="has changed since it was checked, when it had 3 pairs"):
            seen.extend(pairs.documents(0))
        assert seen == ["1", "2", "3"][: len(changed) // 2]
        with pytest.raises(PairError):
            list(pairs)
