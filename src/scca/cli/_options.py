"""Options that several commands share, and how the library's messages name them."""

from pathlib import Path
from typing import Annotated

import typer

from .._wording import NO_VALUE

__all__ = ["Columns", "Debug", "DropEmpty", "From", "Json", "Languages", "Model", "Quiet", "Seed", "option"]

Model = Annotated[Path, typer.Argument(help="A model file that `scca fit` wrote.", show_default=False, readable=False)]
From = Annotated[
    str | None, typer.Option("--from", help="Language of the queries; by default detected from their words.")
]
Languages = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="FIRST SECOND", help="Two labels of the languages; default: the suffixes.", show_default=False
    ),
]
Columns = Annotated[
    tuple[str, str] | None, typer.Option(metavar="FIRST SECOND", help="Two columns of a table.", show_default=False)
]
DropEmpty = Annotated[bool, typer.Option("--drop-empty", help="Leave out pairs with an empty document.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything drawn at random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result, and doubts about it.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

_OPTIONS = {
    "analyzer": "--characters",
    "anchors": "--paper",
    "columns": "--columns",
    "drop_empty": "--drop-empty",
    "frequencies": "--frequencies",
    "gamma": "--gamma",
    "groups": "--groups",
    "language": "--from",
    "languages": "--languages",
    "min_df": "--min-df",
    "mu": "--mu",
    "n_components": "--components",
    "source": "--from",
    "stop_words": "--stop-words",
    "top": "--top",
}
_WITHOUT_OPTION = {"max_iter", "tol"}
_PHRASES = {  # names that are not parameters
    "n_samples": "{} documents",
    "n_samples - 1": "{}, one less than the number of documents",
    "n_features": "{} words",
    "X": "the first language",
    "Y": "the second language",
}
_SWITCHES = {"analyzer", "anchors", "drop_empty"}  # options without a value


def option(name: str, value: object) -> str:
    """A parameter of the library as the command line names it; unchanged if there is no option for it."""
    if name in _WITHOUT_OPTION:
        return ""
    if name in _PHRASES:
        return _PHRASES[name].format(value)
    flag = _OPTIONS.get(name, name)
    if value is NO_VALUE or name in _SWITCHES:
        return flag
    return f"{flag} {' '.join(map(str, value)) if isinstance(value, tuple) else value}"
