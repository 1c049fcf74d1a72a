"""The page: one self-contained HTML file."""

from os import PathLike

from .._drawing import to_svg
from .._files import atomic_write
from .._pages import check_page_tools, render_template
from ..text import BilingualModel
from ._data import ReportData, prepare
from ._figures import correlation_figure, sparsity_figure

__all__ = ["render", "write_report"]


def render(data: ReportData) -> str:
    """The page of a report's data."""
    check_page_tools("reports")
    from markupsafe import Markup

    figures = {
        "correlations": Markup(to_svg(correlation_figure(data))),
        "sparsity": Markup(to_svg(sparsity_figure(data))),
    }
    return render_template(__package__, "template.html", data=data, figures=figures)


def write_report(model: BilingualModel, path: str | PathLike[str], *, texts: bool = True) -> None:
    """Write the page of a fitted model, with or without its documents; the file appears complete or not at all."""
    page = render(prepare(model, texts=texts)).encode()
    with atomic_write(path) as file:
        file.write(page)
