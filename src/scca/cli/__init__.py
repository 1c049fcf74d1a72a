"""The `scca` command."""

import sys
from contextlib import suppress

from ._signals import Terminated, handle_signals, interrupted, terminated

__all__ = ["main"]


def main() -> None:
    """Run the command line, which needs the `cli` extra."""
    handle_signals()
    try:
        from ._app import run

        sys.exit(run())
    except (Exception, KeyboardInterrupt, Terminated) as error:
        ended = error if isinstance(error, Terminated) else terminated()
        if ended is not None:
            with suppress(OSError):  # the terminal may be gone
                print(f"scca: terminated; {ended.message or 'no file is left half-written.'}", file=sys.stderr)
            sys.exit(ended.code)
        if interrupted() or isinstance(error, KeyboardInterrupt):
            print("scca: interrupted; no file is left half-written.", file=sys.stderr)
            sys.exit(130)
        if isinstance(error, ImportError):
            sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
        raise
