"""The `scca` command."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; its libraries are an extra of the package."""
    try:
        from ._app import app
    except ImportError as error:
        sys.exit(f"scca: the command line needs {error.name}: pip install 'scca[cli]'.")
    app(prog_name="scca")
