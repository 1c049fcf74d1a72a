"""Parquet."""

import re

import pytest
from reading import refusal

from scca._checks import DataWarning
from scca.readers import PairError, read_pairs

pytestmark = pytest.mark.filterwarnings("error")


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
    assert "has 6 columns" in refusal(path)
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
    assert "has no pair at all" in refusal(
        parquet({name: pytest.importorskip("pyarrow").array([], "string") for name in ("en", "fr")})
    )


def seven_bits(number, width=1):
    """A number as Thrift's compact protocol writes it, in at least so many bytes."""
    digits = [number >> shift & 127 for shift in range(0, max(7 * width, number.bit_length()), 7)]
    return bytes([digit | 128 for digit in digits[:-1]] + digits[-1:])


@pytest.mark.parametrize("dictionary", [False, True])
@pytest.mark.parametrize("page_version", ["1.0", "2.0"])
def test_sizes_are_those_of_the_pages_and_not_what_the_file_says_of_their_sum(tmp_path, dictionary, page_version):
    """A small file would otherwise unpack to as much as its writer likes, before a document is looked at."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bomb.parquet"
    options = {"compression": "zstd", "use_dictionary": dictionary, "write_statistics": False}
    table = pa.table({"en": ["x" * 20_000_000], "fr": ["y"]})
    pq.write_table(table, path, data_page_version=page_version, **options)
    content = path.read_bytes()
    said = pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size
    true = seven_bits(2 * said)
    assert content.count(true) == 1
    path.write_bytes(content.replace(true, seven_bits(2 * 1000, len(true))))
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size == 1000
    with pytest.raises(PairError, match=r"Column 'en' of .* unpacks to 200\d+ bytes, where 1048576 are allowed"):
        read_pairs(path)
