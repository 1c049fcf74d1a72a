"""HTML and Markdown pages from templates."""

from importlib.resources import files
from typing import Any

__all__ = ["check_page_tools", "render_template"]


def check_page_tools(what: str) -> None:
    """Refuse if a library for pages or figures is missing, and name the extra; `what` begins the message."""
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} need {error.name}: pip install 'scca[report]'.") from error


def render_template(package: str, name: str, **values: Any) -> str:
    """The template `name` of `package` with `values` filled in; values in HTML are escaped."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=name.endswith(".html"), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(files(package).joinpath(name).read_text(encoding="utf-8")).render(**values)
