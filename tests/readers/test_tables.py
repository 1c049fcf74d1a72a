"""TSV and CSV."""

import csv
import io
import re

import pytest
from reading import MIB, refusal

from scca._checks import DataWarning
from scca.readers import PairError, read_pairs

pytestmark = pytest.mark.filterwarnings("error")


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


def test_a_table_without_a_header_is_not_robbed_of_its_first_pair(write):
    texts = "a long first document of text\tun long premier document de texte\n"
    message = refusal(write("a.tsv", texts * 3))
    assert "seems to have no header row, since its first field is 'a long first document of text'" in message


@pytest.mark.parametrize("suffix", ["tsv", "csv"])
def test_columns_that_cannot_be_chosen(write, suffix):
    tab = "," if suffix == "csv" else "\t"
    path = write(f"a.{suffix}", "en,fr,en\n1,2,3\n".replace(",", tab))
    assert "has 3 columns ('en', 'fr', 'en')" in refusal(path)
    assert "has no column 'de' among 'en', 'fr', 'en'" in refusal(path, columns=("fr", "de"))
    assert "has no column 'it'" in refusal(path, languages=("fr", "it"))
    assert "has more than one column 'en'" in refusal(path, columns=("fr", "en"))
    assert "has more than one column 'x'" in refusal(write(f"b.{suffix}", f"x{tab}x\n1{tab}2\n"))
    assert "columns must be two different names" in refusal(path, columns=("en", "en"))
    assert "columns must be two different names" in refusal(path, columns="fr")


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_rows_and_header_must_agree(write, suffix):
    tab = "," if suffix == "csv" else "\t"
    for row, count in (("3", "1 field"), ("3,4,5", "3 fields")):
        path = write(f"a.{suffix}", f"en,fr\n1,2\n{row}\n6,7\n".replace(",", tab))
        assert f"Data row 2 of {path} (line 3) has {count} and the header has 2" in refusal(path)
    path = write(f"a.{suffix}", "en,fr\n".replace(",", tab))
    assert "has no pair at all" in refusal(path)
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


@pytest.mark.parametrize(("name", "text"), [("a.csv", 'en,fr\na,"b"c\nd,e\n'), ("a.tsv", "en\tfr\na\nd\te\n")])
def test_a_refused_table_is_closed(write, monkeypatch, name, text):
    """While its error is kept too: the garbage collector would warn of an open file, wherever it happens to run."""
    files = []

    def recorded(*given):
        files.append(open(*given))  # noqa: SIM115  (closed by the code under test)
        return files[-1]

    monkeypatch.setattr("scca.readers._files.open", recorded, raising=False)
    with pytest.raises(PairError) as kept:
        read_pairs(write(name, text))
    assert kept.value.__traceback__ is not None
    assert files
    assert all(file.closed for file in files)


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
