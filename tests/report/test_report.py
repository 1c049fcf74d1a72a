"""The report: a page that stands alone, escapes what it shows, and is made from a result alone."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import scca
from scca.readers import PairedText
from scca.report import correlation_figure, render, sparsity_figure, write_report
from scca.results import Result
from scca.text import BilingualModel

ENGLISH = ["the cat sleeps", "a dog barks loudly", "the cat and dog play", "rain falls on the roof", "a red roof"]
FRENCH = [
    "le chat dort",
    "un chien <script>alert(1)</script> aboie & fort",
    "le chat et le chien jouent",
    "la pluie tombe sur le toit",
    "un toit rouge",
]
SPANISH = ["el gato duerme", "un perro ladra fuerte", "el gato y el perro juegan", "la lluvia cae", "un techo rojo"]


@pytest.fixture(scope="module")
def model():
    return BilingualModel(3).fit(PairedText.of(ENGLISH, FRENCH, ("en", "fr")))


@pytest.fixture(scope="module")
def results(model):
    """Results of each sort: two languages, three views of two kinds, the paper's method, matrices and kernels."""
    X, Y, Z = scca.datasets.make_planted(30, 9, 8, 7, n_active=3, random_state=0).views
    named = {"en": ENGLISH * 4, "es": SPANISH * 4, "numbers": X[:20]}
    kernels = ["linear", scca.Kernel("rbf", gamma=0.1), "linear"]
    return {
        "two languages": model.result(),
        "three views": scca.Model(2, held_out=2).fit(named).result(),
        "paper": BilingualModel(2, anchors="sequential", feature_weights=None)
        .fit(PairedText.of(ENGLISH, FRENCH, ("en", "fr")))
        .result(),
        "matrices": scca.SparseCCA(2, held_out=2).fit(X, Y).result(),
        "two kernels": scca.SparseCCA(2, held_out=0, mu="auto*8", kernel=(kernels[1], kernels[1])).fit(X, Y).result(),
        "kernel": scca.MultiSparseCCA(2, held_out=0, kernel=kernels).fit([X, Y, Z]).result(),
    }


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href") and not value.startswith("#")]


def test_page_stands_alone_and_escapes(model):
    page = render(model.result())
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt; aboie &amp; fort" in page
    assert tags.links == []
    assert not re.search(r"url\((?!#)", page)
    assert tags.tags.count("details") == 3
    assert tags.tags.count("svg") == 2
    assert 'name="viewport"' in page


@pytest.mark.parametrize("sort", ["two languages", "three views", "paper", "matrices", "kernel", "two kernels"])
def test_every_result_has_a_page_and_json_is_enough(results, sort):
    result = results[sort]
    page = render(result)
    assert page == render(Result.from_json(result.to_json()))
    tags = _Tags()
    tags.feed(page)
    assert tags.tags.count("details") == len(result.components)
    for view in result.views:
        assert view.name in page
    for value in ("None", "nan", "Undefined", "{{", "[]"):
        assert value not in re.sub("<(style|svg).*?</(style|svg)>", "", page, flags=re.S)


def _rows(page):
    """The cells of all table rows of a page."""
    rows = re.findall("<tr[^>]*>(.*?)</tr>", page)
    return [
        [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows
    ]


def test_words_are_shown_with_loading_and_weight_by_loading(model):
    rows = _rows(render(model.result()))
    start = rows.index(["word", "loading", "weight"])
    words = model.components()[0].words
    shown = rows[start + 1 : start + 1 + len(words)]
    assert shown == [[word.name, f"{word.loading:+.2f}", f"{word.weight:+.3f}"] for word in words]
    loadings = [word.loading for word in words]
    assert loadings == sorted(loadings, reverse=True)


def test_documents_of_all_languages_stand_together(model):
    result = model.result()
    rows = _rows(render(result))
    start = rows.index(["document", "score"])
    en, fr = (view.samples for view in result.components[0].views)
    expected = [[s.name, f"{s.score:+.3f}"] for pair in zip(en, fr, strict=True) for s in pair]
    assert rows[start + 1 : start + 1 + len(expected)] == expected


def test_withheld_documents_are_numbers(model):
    page = render(model.result().without_names())
    assert "aboie &amp; fort" not in page  # the document; its words remain
    assert "document 1, fr" in page
    assert "withheld" in page


def test_words_without_loadings_are_shown_by_weight(results):
    result = results["paper"]
    rows = _rows(render(result))
    first = result.components[0].views[0].features[0]
    assert rows[:2] == [["word", "weight"], [first.name, f"{first.weight:+.3f}"]]
    assert ["document", "weight"] in rows


def test_figures_draw_the_numbers(results):
    for result in results.values():
        lines = sparsity_figure(result).axes[0].lines
        assert [line.get_ydata().tolist() for line in lines] == [list(view.used) for view in result.views]
        axes = correlation_figure(result).axes[0]
        assert axes.lines[0].get_ydata().tolist() == [c.correlation for c in result.components]
        assert axes.get_xlabel() == "component"


@pytest.mark.parametrize(("count", "ticks"), [(1, [1]), (3, [1, 2, 3]), (12, [1, 5, 10]), (101, [1, 50, 100])])
def test_figures_count_components_from_one(model, count, ticks):
    result = model.result()
    views = tuple(replace(view, used=tuple(range(1, count + 1))) for view in result.views)
    result = replace(result, components=(result.components[0],) * count, views=views)
    for figure in (correlation_figure(result), sparsity_figure(result)):
        figure.canvas.draw()
        axes = figure.axes[0]
        assert [label.get_text() for label in axes.get_xticklabels()] == [*map(str, ticks)]
        low, high = axes.get_xlim()
        assert 0 < low < 1 <= count < high
    assert all(label.get_text().isdigit() for label in figure.axes[0].get_yticklabels())


def test_used_is_what_the_weights_say(model):
    for weights, view in zip(model.scca_.weights_, model.result().views, strict=True):
        assert list(view.used) == [np.count_nonzero(weights[:, : j + 1].any(axis=1)) for j in range(3)]


def test_written_whole_or_not_at_all(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        write_report(model.result(), tmp_path / "no" / "r.html")
    write_report(model.result(), tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").strip().endswith("</html>")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
