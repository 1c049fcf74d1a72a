"""The report: its numbers, and a page that stands alone and escapes what it shows."""

import html
import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser

import numpy as np
import pytest

from scca.readers import PairedText
from scca.report import prepare, render, write_report
from scca.text import BilingualModel

ENGLISH = ["the cat sleeps", "a dog barks loudly", "the cat and dog play", "rain falls on the roof", "a red roof"]
FRENCH = [
    "le chat dort",
    "un chien <script>alert(1)</script> aboie & fort",
    "le chat et le chien jouent",
    "la pluie tombe sur le toit",
    "un toit rouge",
]


@pytest.fixture(scope="module")
def model():
    return BilingualModel(3).fit(PairedText.of(ENGLISH, FRENCH, ("en", "fr")))


def test_numbers(model):
    data = prepare(model)
    weights = model.scca_.x_weights_
    assert data.words_used == [np.count_nonzero(weights[:, : j + 1].any(axis=1)) for j in range(3)]
    assert data.correlations == model.scca_.correlations_.tolist()
    assert data.documents == 5
    assert data.vocabulary[0] == len(model.vectorizers_[0].words_)
    json.dumps(asdict(data), allow_nan=False)


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href") and not value.startswith("#")]


def test_page_stands_alone_and_escapes(model):
    page = render(prepare(model))
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    assert "&lt;script&gt;alert(1)&lt;/script&gt; aboie &amp; fort" in page
    assert tags.links == []
    assert not re.search(r"url\((?!#)", page)
    assert tags.tags.count("details") == 3
    assert tags.tags.count("svg") == 2
    assert 'name="viewport"' in page


def _rows(page):
    """The cells of all table rows of a page."""
    rows = re.findall("<tr>(.*?)</tr>", page)
    return [
        [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows
    ]


def test_words_are_shown_with_loading_and_weight_by_loading(model):
    rows = _rows(render(prepare(model)))
    start = rows.index(["word", "loading", "weight"])
    words = model.components()[0].words
    shown = rows[start + 1 : start + 1 + len(words)]
    assert shown == [[word.name, f"{word.loading:+.2f}", f"{word.weight:+.3f}"] for word in words]
    loadings = [word.loading for word in words]
    assert loadings == sorted(loadings, reverse=True)
    assert ["document", "score"] in rows


def test_words_without_loadings_are_shown_by_weight():
    model = BilingualModel(1, anchors="sequential", feature_weights=None)
    rows = _rows(render(prepare(model.fit(PairedText.of(ENGLISH, FRENCH)))))
    first = model.components()[0].words[0]
    assert rows[:2] == [["word", "weight"], [first.name, f"{first.weight:+.3f}"]]
    assert ["document", "weight"] in rows


def test_same_model_same_page(model):
    assert render(prepare(model)) == render(prepare(model))


def test_figures_draw_the_numbers(model):
    from scca.report._report_page import correlation_figure, sparsity_figure

    data = prepare(model)
    lines = sparsity_figure(data).axes[0].lines
    assert lines[0].get_ydata().tolist() == data.words_used
    assert lines[1].get_ydata().tolist() == data.second_used
    axes = correlation_figure(data).axes[0]
    assert axes.lines[0].get_ydata().tolist() == data.correlations
    assert axes.get_xlabel() == "component"


@pytest.mark.parametrize(("count", "ticks"), [(1, [1]), (3, [1, 2, 3]), (12, [1, 5, 10]), (101, [1, 50, 100])])
def test_figures_count_components_from_one(model, count, ticks):
    from scca.report._report_page import correlation_figure, sparsity_figure

    numbers = {"correlations": [0.5] * count, "held_out": [0.4] * count, "second_used": [*range(1, count + 1)]}
    data = replace(prepare(model), **numbers, words_used=[*range(1, count + 1)])
    for figure in (correlation_figure(data), sparsity_figure(data)):
        figure.canvas.draw()
        axes = figure.axes[0]
        assert [label.get_text() for label in axes.get_xticklabels()] == [*map(str, ticks)]
        low, high = axes.get_xlim()
        assert 0 < low < 1 <= count < high
    assert all(label.get_text().isdigit() for label in figure.axes[0].get_yticklabels())


def test_written_whole_or_not_at_all(model, tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        write_report(model, tmp_path / "no" / "r.html")
    write_report(model, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").endswith("</html>")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
