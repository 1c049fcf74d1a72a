"""Three and more texts, and two read as any number."""

import gzip
import os
import re
from functools import partial
from itertools import chain, pairwise

import pytest
from reading import refusal, tmx

import scca.readers._ranges as ranges
from scca._checks import DataWarning
from scca._wording import joined, ordinal, spelled
from scca.readers import PairedText, PairError, TextViews, ranges_of, read_pairs, read_texts, source_of

pytestmark = pytest.mark.filterwarnings("error")

ENGLISH, FRENCH, SPANISH = ["one", "two"], ["un", "deux"], ["uno", "dos"]
ROWS = [("one", "un", "uno"), ("two", "deux", "dos")]
NAMES = ("en", "fr", "es")
refused = partial(refusal, read=read_texts)


def three(**changed):
    """Three lists by name, some of them changed."""
    return {"en": ENGLISH, "fr": FRENCH, "es": SPANISH} | changed


def table(rows, separator="\t"):
    return "".join(separator.join(row) + "\n" for row in rows)


@pytest.fixture
def written(write):
    """Three line-aligned files."""

    def written(end="", **changed):
        return [
            write(f"a.{name}{end}", "".join(f"{line}\n" for line in lines)) for name, lines in three(**changed).items()
        ]

    return written


@pytest.fixture
def sources(write, written, parquet):
    """The same three texts in files of a kind, and how they are named."""

    def sources(kind):
        if kind in ("lines", "lines.gz"):
            return written(kind.removeprefix("lines")), {}
        if kind.startswith("tmx"):
            return [write(f"a.{kind}", tmx(*[dict(zip(NAMES, row, strict=True)) for row in ROWS]))], {
                "languages": NAMES
            }
        if kind == "parquet":
            return [parquet({"id": ["1", "2"], **three()})], {"columns": NAMES}
        separator = "," if "csv" in kind else "\t"
        numbered = [(str(number), *row) for number, row in enumerate(ROWS)]
        return [write(f"a.{kind}", table([("id", *NAMES), *numbered], separator))], {"columns": NAMES}

    return sources


KINDS = ["lines", "lines.gz", "tsv", "tsv.gz", "csv", "csv.gz", "parquet", "tmx", "tmx.gz"]


@pytest.mark.parametrize("kind", KINDS)
def test_three_texts_from_files_of_every_kind(sources, kind):
    files, named = sources(kind)
    texts = read_texts(*files, **named)
    assert type(texts) is TextViews
    assert texts.languages == NAMES
    assert len(texts) == 2
    for _ in range(2):
        assert list(texts) == ROWS
        assert [list(texts.documents(v)) for v in range(3)] == [ENGLISH, FRENCH, SPANISH]
    assert texts.empty == texts.dropped == ()
    assert texts.digest == TextViews.of(three()).digest
    for view in (3, -1, "en"):
        with pytest.raises(ValueError, match="view must be 0, 1 or 2; got"):
            texts.documents(view)


@pytest.mark.parametrize("kind", ["tsv", "csv", "parquet", "tmx"])
def test_names_choose_and_order_the_views(sources, kind):
    files, _ = sources(kind)
    texts = read_texts(*files, languages=("es", "en", "fr"))
    assert texts.languages == ("es", "en", "fr")
    assert list(texts) == [(c, a, b) for a, b, c in ROWS]
    two = read_texts(*files, languages=("es", "en"))
    assert isinstance(two, PairedText)
    assert list(two) == [(c, a) for a, _, c in ROWS]


@pytest.mark.parametrize("kind", ["tsv", "csv", "parquet"])
def test_languages_label_columns(sources, kind):
    files, named = sources(kind)
    texts = read_texts(*files, **named, languages=("English", "French", "Spanish"))
    assert texts.languages == ("English", "French", "Spanish")
    assert list(texts) == ROWS
    message = refused(*files, **named, languages=("en", "fr"))
    assert message == "languages must have a label for each of the three columns; got ('en', 'fr')."


def test_two_texts_are_pairs(written):
    files = written()[:2]
    found, pairs = read_texts(*files), read_pairs(*files)
    assert type(found) is type(pairs) is type(TextViews.of({"en": ENGLISH, "fr": FRENCH})) is PairedText
    assert found.languages == pairs.languages == ("en", "fr")
    assert found.digest == pairs.digest == PairedText.of(ENGLISH, FRENCH).digest
    assert list(found) == list(pairs)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("a.en", "b.fr", "c.es.gz"), ("en", "fr", "es")),
        (("a.en", "b.fr", "c.en"), ("first", "second", "third")),
        (("a.en", "b.fr", "c.txt"), ("first", "second", "third")),
        (("a", "b", "c", "d"), ("first", "second", "third", "fourth")),
    ],
)
def test_labels_are_suffixes_that_differ(write, names, labels):
    assert read_texts(*(write(name, "x\n") for name in names)).languages == labels


def test_twelve_texts(write):
    texts = read_texts(*(write(f"a{number}", f"x{number}\n") for number in range(12)))
    assert texts.languages[9:] == ("tenth", "11th", "12th")
    assert list(texts) == [tuple(f"x{number}" for number in range(12))]
    with pytest.raises(ValueError, match="view must be 0 to 11; got 12"):
        texts.documents(12)


def test_numbers_in_words():
    assert [ordinal(number) for number in (1, 10, 11, 13, 21, 22, 23, 24, 111, 112)] == (
        ["first", "tenth", "11th", "13th", "21st", "22nd", "23rd", "24th", "111th", "112th"]
    )
    assert (spelled(2), spelled(10), spelled(11)) == ("two", "ten", "11")
    assert [joined(NAMES[:n]) for n in range(4)] == ["", "en", "en and fr", "en, fr and es"]


# what does not fit together


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize(
    ("counts", "longer", "shorter"), [((10, 10, 7), 0, 2), ((7, 10, 10), 1, 0), ((8, 10, 7), 1, 2), ((7, 7, 10), 2, 0)]
)
def test_files_with_different_numbers_of_lines(written, end, counts, longer, shorter):
    files = written(end, **{name: ["x"] * count for name, count in zip(NAMES, counts, strict=True)})
    en, fr, es = files
    expected = (
        f"{en} has {counts[0]} lines, {fr} has {counts[1]} and {es} has {counts[2]}: line 8 of {files[longer]} has no "
        f"mate in {files[shorter]}; put all documents of a sample on the same line."
    )
    assert refused(*files) == expected
    with pytest.raises(PairError) as in_parts:
        rows_in(files, 2)
    assert str(in_parts.value) == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"es": ["uno"]},
            "The first list has 2 documents, the second has 2 and the third has 1: document 2 of the first has no mate "
            "in the third; pass all documents of a sample at the same position.",
        ),
        ({"es": ["uno", None]}, "Document 2 of the third list is None, not a string; pass strings."),
        ({"es": "du"}, "The third list is a single string, 'du'; pass a list of documents."),
        ({"en": [], "fr": [], "es": []}, "The set of three lists has no sample at all; add some."),
    ],
)
def test_lists_that_do_not_fit_together(changed, message):
    assert refusal(three(**changed), read=TextViews.of) == message


def test_lists_need_two_names():
    assert "languages must be two or more different names; got ('en',)" in refusal({"en": ["a"]}, read=TextViews.of)
    assert "languages must be two or more different names; got ()" in refusal({}, read=TextViews.of)
    assert "takes lists by the names of their languages; got a list" in refusal([["a"], ["b"]], read=TextViews.of)


def test_lists(monkeypatch):
    lists = three()
    texts = TextViews.of(lists)
    assert texts.languages == NAMES
    assert list(texts) == ROWS
    assert repr(texts) == "<TextViews of 2 samples, 'en', 'fr' and 'es'>"
    assert repr(TextViews.of({"en": ENGLISH, "fr": FRENCH})) == "<PairedText of 2 pairs, 'en' and 'fr'>"
    monkeypatch.setitem(lists, "es", [])
    assert list(texts.documents(2)) == SPANISH


@pytest.mark.parametrize("languages", ["en", ("en", "fr"), ("en", "fr", "en"), ("en", "fr", ""), ("a", "b", "c", "d")])
def test_three_files_need_three_names(written, languages):
    message = refused(*written(), languages=languages)
    assert message == f"languages must be three different names; got {languages!r}."


def test_a_table_with_more_columns_needs_names(write):
    path = write("a.tsv", table([NAMES, *ROWS]))
    assert "has 3 columns ('en', 'fr', 'es'); pass columns with the names of two or more." in refused(path)
    assert "has no column 'de' among 'en', 'fr', 'es'; pass columns with three unique names" in refused(
        path, columns=("en", "de", "es")
    )
    assert "columns must be two or more different names; got ('en',)" in refused(path, columns=("en",))
    assert "columns must be two or more different names" in refused(path, columns=("en", "fr", "en"))
    assert "columns must be two different names" in refusal(path, columns=NAMES)  # of read_pairs
    assert "languages must be two different names" in refusal(path, languages=NAMES)


def test_a_translation_memory_with_more_languages_needs_names(sources):
    (path,), _ = sources("tmx")
    assert "has 3 ('en', 'fr', 'es'); pass languages with two or more of those it has." in refused(path)


def test_no_file_and_standard_input_twice(written):
    assert "at least one file is needed; got none" in refused()
    assert refused("-", written()[0], "-") == (
        "standard input (-) can be only one of the three files; name the others."
    )
    assert "columns=('a', 'b', 'c') is for tables" in refused(*written(), columns=("a", "b", "c"))


def test_a_column_of_numbers(parquet):
    path = parquet({**three(), "n": [1, 2]})
    assert "is of type int64, not string; convert it, or name three string columns." in refused(
        path, columns=("en", "fr", "n")
    )


# blank and missing documents


def test_blank_documents_are_kept_and_reported(written):
    files = written(en=["one", "two", "three"], fr=["un", "", "trois"], es=["uno", " ", ""])
    expected = f"3 documents are empty (first: line 2 of {files[1]}); pass drop_empty=True to leave such samples out."
    with pytest.warns(DataWarning, match=f"^{re.escape(expected)}$") as caught:
        texts = read_texts(*files)
    assert caught[0].filename == __file__
    assert texts.empty == (1, 2)
    assert texts.dropped == ()
    assert len(texts) == 3


def test_blank_documents_are_dropped_in_all_views(written):
    changed = {"en": ["one", "two", "three"], "fr": ["un", "deux", "trois"], "es": ["uno", " ", "tres"]}
    for texts in (read_texts(*written(**changed), drop_empty=True), TextViews.of(three(**changed), drop_empty=True)):
        assert texts.empty == texts.dropped == (1,)
        assert len(texts) == 2
        assert list(texts) == [("one", "un", "uno"), ("three", "trois", "tres")]
        assert [len(list(texts.documents(v))) for v in range(3)] == [2, 2, 2]
    message = refused(*written(en=["one", ""], fr=["", "deux"], es=["uno", "dos"]), drop_empty=True)
    assert message.endswith("has no sample with text in all three views; add some.")


def test_missing_segments(write):
    path = write("a.tmx", tmx({"en": "one", "fr": "un", "es": "uno"}, {"fr": "deux", "en": "two"}))
    assert refused(path, languages=NAMES) == (
        f"The 'es' segment of unit 2 of {path} is missing; add it, or pass drop_empty=True to leave such samples out."
    )
    texts = read_texts(path, languages=NAMES, drop_empty=True)
    assert texts.dropped == (1,)
    assert list(texts) == [("one", "un", "uno")]


def test_missing_values(parquet):
    path = parquet({**three(), "es": ["uno", None]})
    assert refused(path, columns=NAMES).startswith(f"Column 'es' in row 2 of {path} is missing; add it, or pass ")
    assert list(read_texts(path, columns=NAMES, drop_empty=True)) == ROWS[:1]


def test_files_that_change_are_noticed(written):
    texts = read_texts(*written())
    written(en=["one"], fr=["un"], es=["uno"])
    with pytest.raises(PairError, match="has changed since it was checked, when it had 2 samples; read it again"):
        list(texts)


def test_streams_left_early_close_their_files(written):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else pytest.skip("needs /proc")
    stream = iter(read_texts(*written()))
    next(stream)
    assert len(os.listdir("/proc/self/fd")) == before + 3
    stream.close()
    assert len(os.listdir("/proc/self/fd")) == before


# ranges


def rows_in(files, n_ranges, **named):
    def here(function, jobs):
        return [function(*job) for job in jobs]

    return [list(part.rows()) for part in ranges_of([source_of(files, **named)[0]], n_ranges, here)]


@pytest.mark.parametrize("kind", ["en", "gz", "tsv", "csv"])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 25])
def test_rows_of_three_texts_in_parts_are_all_rows(tmp_path, monkeypatch, kind, chunk):
    monkeypatch.setattr(ranges, "_CHUNK", chunk)
    rows = [(f"word{i}", f"mot {i}" * i, f"palabra{i}") for i in range(1, 12)]
    if kind in ("tsv", "csv"):
        files = [tmp_path / f"a.{kind}"]
        files[0].write_text(table([NAMES, *rows], "," if kind == "csv" else "\t"))
        named = {"columns": NAMES}
    else:
        files, named = [tmp_path / f"{name}.{kind}" for name in NAMES], {}
        for file, documents in zip(files, zip(*rows, strict=True), strict=True):
            content = "".join(f"{document}\n" for document in documents).encode()
            file.write_bytes(gzip.compress(content) if kind == "gz" else content)
    for n_ranges in (1, 4):
        found = rows_in(files, n_ranges, **named)
        assert list(chain.from_iterable(found)) == rows
        assert len(found) == n_ranges
        assert all(abs(len(one) - len(other)) <= 1 for one, other in pairwise(found))
