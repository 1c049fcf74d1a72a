"""The `scca` command."""

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line, which needs the `cli` extra."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # ignored under `nohup`
            signal.signal(number, _end)
    try:
        from ._app import run  # imported here, so that Ctrl-C is handled while libraries load

        sys.exit(run())
    except ImportError as error:
        sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
    except KeyboardInterrupt:
        print("scca: interrupted; no file is left half-written.", file=sys.stderr)
        sys.exit(130)


def _end(number: int, frame: FrameType | None) -> None:
    """Exit through all cleanup, as after Ctrl-C, so that no file is left half-written."""
    sys.exit(128 + number)
