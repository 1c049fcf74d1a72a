"""Translation memories."""

import re
import tracemalloc

import pytest
from reading import MIB, refusal, tmx

from scca._checks import DataWarning
from scca.readers import read_pairs

pytestmark = pytest.mark.filterwarnings("error")


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
    assert "pass languages with two" in message
    pairs = read_pairs(path, languages=("Fr", "EN"))
    assert pairs.languages == ("Fr", "EN")
    assert list(pairs) == [("un", "one"), ("deux", "two")]
    assert "has 1 ('en')" in refusal(write("a.tmx", tmx({"en": "one"})))
    assert "has 0 (none)" in refusal(write("a.tmx", tmx()))
    assert "has no pair at all" in refusal(write("a.tmx", tmx()), languages=("en", "fr"))


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


@pytest.mark.parametrize("longest", [1, pytest.param(8, marks=pytest.mark.slow)])
def test_tmx_unit_without_an_end_is_not_read_whole(write, monkeypatch, longest):
    import scca.readers._tmx as module

    assert module.LONGEST_DOCUMENT == 8 * MIB
    monkeypatch.setattr(module, "LONGEST_DOCUMENT", longest * MIB)
    path = write("a.tmx.gz", "<tmx><body><tu>" + "<tuv>x</tuv>" * (longest * MIB // 4))
    tracemalloc.start()
    try:
        assert f"a unit longer than {longest} MiB" in refusal(path, languages=("en", "fr"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300 / 8 * longest * MIB
