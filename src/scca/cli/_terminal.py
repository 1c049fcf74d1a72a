"""Output of commands: results on standard output; one-line errors, notes and progress on standard error."""

import json
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from .._wording import naming
from ._options import option
from ._signals import Terminated, interrupted, terminated

__all__ = [
    "INTERRUPTED",
    "WRONG_CALL",
    "WRONG_INPUT",
    "AdvisedError",
    "CallError",
    "InterruptedCommandError",
    "Terminal",
    "call_at_fault",
    "continuing",
    "harmless",
    "one_line_errors",
    "plain_json",
    "say",
    "sentence",
]

WRONG_INPUT, WRONG_CALL, INTERRUPTED, PIPE_CLOSED = 1, 2, 130, 141  # exit statuses

# Control characters (C0 and C1), which terminals obey; line and paragraph separators; embeddings and overrides of the
# writing direction, which disguise text; lone surrogates, which cannot be encoded.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_HARMFUL_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    r"""Text with the characters that a terminal would obey replaced by escapes such as \x1b."""
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def plain_json(value: Any) -> str:
    """JSON that is safe on a terminal: harmful characters are escaped, which does not change its content."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    return _HARMFUL_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class CallError(ValueError):
    """The call itself is wrong, whatever the input: contradictory or missing options."""


class AdvisedError(ValueError):
    """An input that only the library can use: a sentence, and the lines of Python that use it."""

    def __init__(self, message: str, lines: Sequence[str]):
        super().__init__(message)
        self.lines = lines


class InterruptedCommandError(Exception):
    """Ctrl-C; the message says how to go on, if that is possible."""


@contextmanager
def call_at_fault() -> Iterator[None]:
    """A context that turns ValueError into CallError."""
    try:
        yield
    except ValueError as error:
        raise CallError(str(error)) from error


def one_line_errors(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that fails with one line and a non-zero exit status; with --debug, it shows the traceback."""

    @wraps(command)
    def wrapped(*args: Any, debug: bool = False, **options: Any) -> Any:
        try:
            with warnings.catch_warnings(), naming(option):
                warnings.showwarning = partial(_note_warning, bool(options.get("quiet")))
                warnings.simplefilter("default")
                command(*args, debug=debug, **options)
                sys.stdout.flush()  # a full disk is reported here
        except KeyboardInterrupt as error:
            raise InterruptedCommandError(str(error)) from None
        except BrokenPipeError:  # the reader, for example `head`, has closed the pipe
            sys.stderr.close()
            raise typer.Exit(PIPE_CLOSED) from None
        except MemoryError as error:
            if debug:
                raise
            say("scca: not enough memory; use fewer documents or components, or raise --min-df.")
            raise typer.Exit(WRONG_INPUT) from error
        except Exception as error:
            if interrupted():
                raise InterruptedCommandError from error
            if (ended := terminated()) is not None:
                raise ended from error
            if debug or not isinstance(error, ValueError | TypeError | OSError | ImportError):
                raise
            say(f"scca: {sentence(error)}")
            for line in error.lines if isinstance(error, AdvisedError) else ():
                say(line)
            raise typer.Exit(WRONG_CALL if isinstance(error, CallError) else WRONG_INPUT) from error

    return wrapped


@contextmanager
def continuing(checkpoint: Path) -> Iterator[None]:
    """A context that says, when it is interrupted or terminated, that the same command can go on."""
    try:
        yield
    except (KeyboardInterrupt, Terminated) as stopped:
        from ..progress import has_steps

        if not has_steps(checkpoint):
            raise
        message = f"the same command goes on from {checkpoint}."
        if isinstance(stopped, KeyboardInterrupt):
            raise KeyboardInterrupt(message) from None
        stopped.message = message
        raise


def sentence(error: BaseException) -> str:
    """An error in one line."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}."
    return " ".join(str(error).split())


def _note_warning(quiet: bool, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Note a warning for users; a quiet command notes only warnings that make the result doubtful."""
    from .._checks import EvidenceWarning

    for_developers = issubclass(category, DeprecationWarning | PendingDeprecationWarning | ResourceWarning)
    if issubclass(category, EvidenceWarning) or not (quiet or for_developers):
        say(f"scca: note: {' '.join(str(message).split())}")


def say(line: str) -> None:
    """Print one line on standard error."""
    print(harmless(line), file=sys.stderr)


class Terminal:
    """Results on standard output; progress and notes on standard error, unless quiet."""

    def __init__(self, quiet: bool = False, as_json: bool = False):
        from rich.console import Console  # imported late: help and errors do not need it

        self.as_json = as_json
        self.quiet = quiet
        self._out = Console()
        self._err = Console(stderr=True)

    def note(self, line: str) -> None:
        if not self.quiet:
            say(line)

    @property
    def is_watched(self) -> bool:
        """Whether somebody may be watching a terminal, and wants to see more than the result."""
        return self._err.is_terminal and not self.quiet

    def preview(self, components: Sequence[Sequence[Sequence[str]]]) -> None:
        """Print words of components above the progress."""
        say("The first components, not yet tried on pairs left out:")
        for words in components:
            say("  " + "  |  ".join(", ".join(each) for each in words))

    def print(self, *lines: str) -> None:
        for line in map(harmless, lines):
            print(line if not self._out.is_terminal else textwrap.fill(line, self._out.width, replace_whitespace=False))

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print aligned columns on a terminal; in a pipe, print one tab-separated line per row, uncut."""
        self.table_stream(header, [rows])

    def table_stream(self, header: Sequence[str], blocks: Iterable[Iterable[Sequence[str]]]) -> None:
        """Print a table whose rows come in blocks, each as soon as it comes; columns are aligned within a block."""
        for i, rows in enumerate(blocks):
            if self._out.is_terminal:
                self._aligned(header, rows, with_header=not i)
            else:
                for row in chain([] if i else [header], rows):
                    print("\t".join(map(harmless, row)))
            sys.stdout.flush()

    def _aligned(self, header: Sequence[str], rows: Iterable[Sequence[str]], with_header: bool) -> None:
        from rich.markup import escape
        from rich.table import Column, Table

        columns = (Column(escape(harmless(name)), overflow="fold") for name in header)  # nothing is cut
        table = Table(*columns, box=None, show_header=with_header)
        for row in rows:
            table.add_row(*(escape(harmless(field)) for field in row))
        self._out.print(table, highlight=False)

    def json(self, value: Any) -> None:
        sys.stdout.write(plain_json(value))

    def json_stream(self, start: dict[str, Any], items: Iterable[Any], end: Callable[[], dict[str, Any]]) -> None:
        """Print an object as `json` does: `start` ends with an empty list, which `items` fill; `end()` has the rest."""
        sys.stdout.write(plain_json(start).removesuffix("]\n}\n"))
        separator = "\n"
        for item in items:
            sys.stdout.write(separator + "    " + plain_json(item).rstrip().replace("\n", "\n    "))
            separator = ",\n"
        sys.stdout.write("\n  ]")
        rest = end()
        sys.stdout.write("," + plain_json(rest)[1:] if rest else "\n}\n")

    @contextmanager
    def stages(self) -> Iterator[Callable[[str, float, float], None] | None]:
        """A progress bar on a terminal and a line now and then in a pipe, updated by calls of (what, done, total)."""
        if self.quiet:
            yield None
        else:
            from ._progress import bars, lines

            with bars(self._err) if self._err.is_terminal else lines(say) as report:
                yield report

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """The same for a single stage, updated by calls of (done, total)."""
        with self.stages() as report:
            yield None if report is None else partial(report, what)
