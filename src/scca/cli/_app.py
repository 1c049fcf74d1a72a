"""The command line: all commands, and errors in how they are called."""

import sys
from typing import Annotated

import typer

from .._version import __version__
from ._answering import generate, mates, translate
from ._learning import demo, fit, reproduce
from ._options import SeveralValues
from ._showing import explain, lexicon, report, result
from ._terminal import INTERRUPTED, WRONG_CALL, WRONG_INPUT, InterruptedCommandError, say, sentence

__all__ = ["run"]

app = typer.Typer(
    help="Sparse canonical correlation analysis: what two or more languages, or any views of the same things, share.",
    epilog="Exit status: 0 done, 1 the input is at fault, 2 the call is at fault, 130 interrupted, 143 terminated.",
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.command(cls=SeveralValues)(fit)
app.command(cls=SeveralValues)(demo)
for command in (mates, generate, translate, lexicon, explain, report, result, reproduce):
    app.command()(command)


def _version(shown: bool) -> None:
    if shown:
        print(f"scca {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _interrupted(message: str = "") -> int:
    say(f"scca: interrupted; {message or 'no file is left half-written.'}")
    return INTERRUPTED


def run() -> int:
    """Run the command in `sys.argv`; returns the exit status."""
    try:
        status = app(sys.argv[1:] or ["--help"], prog_name="scca", standalone_mode=False) or 0
        sys.stdout.flush()  # the help text, which no command has flushed
        return _interrupted() if status == INTERRUPTED else status  # Ctrl-C outside a command: Typer prints nothing
    except InterruptedCommandError as error:
        return _interrupted(str(error))
    except OSError as error:
        say(f"scca: {sentence(error)}")
        return WRONG_INPUT
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # how earlier versions of Typer report Ctrl-C
            return _interrupted()
        # Click's errors, recognised by a method: recent versions of Typer have their own copy of Click
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        command = "scca" if context is None else context.command_path
        say(f"scca: {' '.join(error.format_message().split()).rstrip('.')}; see {command} --help.")
        return WRONG_CALL
