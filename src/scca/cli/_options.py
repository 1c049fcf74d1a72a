"""Options that several commands share, and how the library's messages name them."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .._wording import NO_VALUE

__all__ = [
    "Columns",
    "Debug",
    "DropEmpty",
    "From",
    "Json",
    "Kinds",
    "Languages",
    "Model",
    "ModelOrResult",
    "PairColumns",
    "PairLanguages",
    "Quiet",
    "Seed",
    "SeveralValues",
    "To",
    "option",
]

Model = Annotated[Path, typer.Argument(help="A model file that `scca fit` wrote.", show_default=False, readable=False)]
ModelOrResult = Annotated[
    Path,
    typer.Argument(
        help="A model file, from `scca fit` or `scca.save`; or what `scca result` wrote.",
        show_default=False,
        readable=False,
    ),
]
From = Annotated[
    str | None, typer.Option("--from", help="Language of the queries; by default detected from their words.")
]
To = Annotated[
    str | None,
    typer.Option("--to", help="Language or view of the answers; of two the other one, else detected from the words."),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "--languages",
        "--names",
        metavar="FIRST SECOND ...",
        help="Labels of the languages, or names of the views; default: the suffixes.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="FIRST SECOND ...", help="Two or more columns of a table.", show_default=False),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND ...",
        help="What the files hold: text, table, vectors or another kind; one for all files, or one for each.",
        show_default=False,
    ),
]
PairLanguages = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="FIRST SECOND", help="Two labels of the languages; default: the suffixes.", show_default=False
    ),
]
PairColumns = Annotated[
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
    "kinds": "--kind",
    "n_components": "--components",
    "source": "--from",
    "target": "--to",
    "view": "--from",
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
_LEAST_VALUES = {"--languages": 2, "--names": 2, "--columns": 2, "--kind": 1}  # options that take several values
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


class SeveralValues(TyperCommand):
    """A command with options that several values may follow, `--languages en fr es`, which Click does not know.

    The first values (`_LEAST_VALUES`) belong to the option whatever they are; later ones if they cannot be a file.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        told: list[str] = []
        waiting = list(args)
        while waiting:
            word = waiting.pop(0)
            if word == "--":
                told += [word, *waiting]
                break
            least = _LEAST_VALUES.get(word, 0)  # none for other options, and for --languages=en
            values: list[str] = []
            while waiting and least and (_is_value if len(values) < least else _may_follow)(waiting[0]):
                values.append(waiting.pop(0))
            told += [part for each in values for part in (word, each)] or [word]
        return super().parse_args(ctx, told)


def _is_value(word: str) -> bool:
    return not word.startswith("-")


def _may_follow(word: str) -> bool:
    """Whether a word is one more name: nothing that looks like an option or a file."""
    return _is_value(word) and not any(mark in word for mark in "./\\") and not Path(word).exists()
