"""Lists in memory, single files, and missing dependencies."""

import io
import os
import re
import subprocess
import sys

import pytest
from reading import MIB

from scca._checks import DataWarning
from scca.readers import PairedText, PairError, read_documents, read_pairs

pytestmark = pytest.mark.filterwarnings("error")


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
        ([], [], "The pair of lists has no pair at all"),
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
    code = "from scca.readers._read import read_documents; print(read_documents('-'))"
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
        "from scca.readers._read import read_pairs; print(list(read_pairs(*sys.argv[1:])))"
    )
    paths = (write("a.en", "x"), write("b.fr", "y"))
    run = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[('x', 'y')]"
