"""The `scca` command."""

import sys

from ._signals import handle_signals, interrupted

__all__ = ["main"]


def main() -> None:
    """Run the command line, which needs the `cli` extra."""
    handle_signals()
    try:
        from ._app import run  # imported here, so that Ctrl-C is handled while libraries load

        sys.exit(run())
    except (Exception, KeyboardInterrupt) as error:
        if interrupted() or isinstance(error, KeyboardInterrupt):
            print("scca: interrupted; no file is left half-written.", file=sys.stderr)
            sys.exit(130)
        if isinstance(error, ImportError):
            sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
        raise
