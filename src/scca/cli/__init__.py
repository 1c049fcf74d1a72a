"""The `scca` command."""

import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line; its libraries are an extra of the package."""
    signal.signal(signal.SIGTERM, _end)
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
