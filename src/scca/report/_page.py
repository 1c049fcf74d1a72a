"""The page itself: one HTML file that needs nothing from anywhere."""

from importlib.resources import files

from .._files import atomic_write
from ..text import BilingualModel
from ._data import ReportData, prepare

__all__ = ["render", "write_report"]


def render(data: ReportData) -> str:
    """The page for a report's data."""
    try:
        import jinja2
        import matplotlib  # noqa: F401  (found missing here, with jinja2, and not half-way)
    except ImportError as error:
        raise ImportError(f"reports need {error.name}: pip install 'scca[report]'.") from error
    from markupsafe import Markup

    from ._figures import correlation_figure, sparsity_figure, to_svg

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    template = environment.from_string(files(__package__).joinpath("template.html").read_text(encoding="utf-8"))
    figures = {
        "correlations": Markup(to_svg(correlation_figure(data))),
        "sparsity": Markup(to_svg(sparsity_figure(data))),
    }
    return template.render(data=data, figures=figures)


def write_report(model: BilingualModel, path) -> None:
    """Write the page of a fitted model; it appears whole or not at all."""
    page = render(prepare(model)).encode()
    with atomic_write(path) as file:
        file.write(page)
