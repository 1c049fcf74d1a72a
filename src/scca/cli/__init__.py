"""The `scca` command."""

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line; its libraries are an extra of the package."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no terminal that hangs up
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _end)
    try:
        from ._app import run  # here, so that Ctrl-C while libraries load ends as quietly as later

        sys.exit(run())
    except ImportError as error:
        sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
    except KeyboardInterrupt:
        print("scca: interrupted; no file is left half-written.", file=sys.stderr)
        sys.exit(130)


def _end(number: int, frame: FrameType | None) -> None:
    """End as by Ctrl-C: through all that cleans up, so that no file is left half-written."""
    sys.exit(128 + number)
