"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_write", "check_output"]


def check_output(path: str | os.PathLike[str]) -> Path:
    """Where a file at `path` will be written, links followed; refused if nothing can be, before any work is done."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no ordinary file; name another.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} cannot be written to; choose another.")
    return path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes its place at `path` only when all of it is on the disk."""
    path = check_output(path)
    try:
        draft, descriptor = _new_draft(path)
    except PermissionError as error:
        raise PermissionError(f"the folder {path.parent} cannot be written to; choose another.") from error
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:  # Ctrl-C included: nothing half-written stays
        draft.unlink(missing_ok=True)
        raise


def _new_draft(path: Path) -> tuple[Path, int]:
    """A new file beside `path`, open for writing; its mode is the system's to choose, by the umask of the moment."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)  # Windows has text files, too
    return draft, os.open(draft, flags, 0o666)
