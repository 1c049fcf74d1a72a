"""What commands say, and how: one-line errors, notes and progress on standard error, results on standard output."""

import functools
import json
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

__all__ = ["Debug", "Json", "Quiet", "Seed", "Terminal", "one_line_errors"]

Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


_OPTIONS = {
    "drop_empty=True": "--drop-empty",
    "columns= with": "--columns with",
    "`n_components`": "--components",
    "n_components": "--components",
    "min_df=": "--min-df ",
    "min_df": "--min-df",
    "stop_words": "--stop-words",
    "; name it.": "; name it with --from.",
}


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command end with one line and a non-zero exit where it fails; a traceback only with --debug."""

    @functools.wraps(command)
    def wrapped(*args: Any, debug: bool = False, **options: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _note if not options.get("quiet") else _ignore
                warnings.simplefilter("default")
                return command(*args, debug=debug, **options)
        except KeyboardInterrupt:
            _say("scca: interrupted; no file is left half-written.")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader, `head` for example, has seen enough
            sys.stderr.close()
            raise typer.Exit(141) from None
        except MemoryError as error:
            if debug:
                raise
            _say("scca: not enough memory; use fewer documents or components, or raise --min-df.")
            raise typer.Exit(1) from error
        except (ValueError, TypeError, OSError, ImportError) as error:
            if debug:
                raise
            _say(f"scca: {_sentence(error)}")
            raise typer.Exit(1) from error

    return wrapped


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}."
    return _as_options(" ".join(str(error).split()))


def _as_options(text: str) -> str:
    """A message of the library with its parameters called as the command line calls them."""
    for parameter, option in _OPTIONS.items():
        text = text.replace(parameter, option)
    return text


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning):
        _say(f"scca: note: {_as_options(' '.join(str(message).split()))}")


def _ignore(*args: Any, **kwargs: Any) -> None:
    pass


def _say(line: str) -> None:
    print(line, file=sys.stderr)


class Terminal:
    """Results on standard output; progress and notes on standard error, unless quiet."""

    def __init__(self, quiet: bool = False, as_json: bool = False):
        self.as_json = as_json
        self._quiet = quiet
        self._out = Console()
        self._err = Console(stderr=True)

    def note(self, line: str) -> None:
        if not self._quiet:
            _say(line)

    def print(self, line: str) -> None:
        print(line if not self._out.is_terminal else textwrap.fill(line, self._out.width, replace_whitespace=False))

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Columns on a terminal; in a pipe one line a row, fields separated by tabs, nothing cut."""
        if not self._out.is_terminal:
            for row in (header, *rows):
                print("\t".join(row))
            return
        table = Table(*header, box=None)
        for row in rows:
            table.add_row(*map(escape, row))
        self._out.print(table, highlight=False)

    def json(self, value: Any) -> None:
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A bar on a terminal, fed by calls of (done, total); nothing in a pipe."""
        if self._quiet or not self._err.is_terminal:
            yield None
            return
        columns = (SpinnerColumn(), TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._err, transient=True) as bars:
            task = bars.add_task(what, total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total)
