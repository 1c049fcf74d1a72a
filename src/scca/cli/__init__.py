"""The `scca` command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; its libraries are an extra of the package."""
    try:
        from ._app import app  # here, so that Ctrl-C while libraries load ends as quietly as later

        app(prog_name="scca")
    except ImportError as error:
        sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
    except KeyboardInterrupt:
        print("scca: interrupted; no file is left half-written.", file=sys.stderr)
        sys.exit(130)
