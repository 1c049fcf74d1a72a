"""What commands say, and how: one-line errors, notes and progress on standard error, results on standard output."""

import functools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

__all__ = ["Debug", "Json", "Quiet", "Seed", "Terminal", "one_line_errors"]

Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def one_line_errors(command: Callable) -> Callable:
    """Make a command end with one line and a non-zero exit where it fails; a traceback only with --debug."""

    @functools.wraps(command)
    def wrapped(*args, debug: bool = False, **options):
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _note if not options.get("quiet") else _ignore
                warnings.simplefilter("default")
                return command(*args, debug=debug, **options)
        except KeyboardInterrupt:
            _say("scca: interrupted; nothing was written.")
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
    return " ".join(str(error).split())


def _note(message, category, filename, lineno, file=None, line=None) -> None:
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning):
        _say(f"scca: note: {' '.join(str(message).split())}")


def _ignore(*args, **kwargs) -> None:
    pass


def _say(line: str) -> None:
    print(line, file=sys.stderr)


class Terminal:
    """Results on standard output; progress and notes on standard error, unless quiet."""

    def __init__(self, quiet: bool = False, as_json: bool = False):
        self.as_json = as_json
        self._quiet = quiet
        self.out = Console(soft_wrap=False)
        self._err = Console(stderr=True)

    def note(self, line: str) -> None:
        if not self._quiet:
            _say(line)

    def print(self, content) -> None:
        self.out.print(content, highlight=False, markup=isinstance(content, str) and False)

    def json(self, value) -> None:
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
