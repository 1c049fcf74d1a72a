"""Files that appear whole or not at all."""

import errno
import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows, where what is open cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "check_folder", "check_output"]

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_TOKEN = 8  # characters that tell drafts of one file apart
_LONGEST = 255 - len("..12345678.part")  # bytes of a name that leave room for those of its draft


def check_output(path: str | os.PathLike[str]) -> Path:
    """Where a file at `path` will be written, links followed; refused if nothing can be, before any work is done."""
    path = Path(os.path.realpath(path))
    length = len(os.fsencode(path.name))
    if length > _LONGEST:
        raise OSError(f"the name {path.name[:20]}... has {length} bytes and may have {_LONGEST}; name a shorter one.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no ordinary file; name another.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} cannot be written to; choose another.")
    return path


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work is done, a folder that neither is there nor can be made, or cannot be written to."""
    path = Path(os.path.realpath(path))
    there = next(folder for folder in (path, *path.parents) if folder.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file; name a folder.")
    if not os.access(there, os.W_OK):
        raise PermissionError(f"the folder {there} cannot be written to; choose another.")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes its place at `path` only when all of it is on the disk."""
    path = check_output(path)
    try:
        _remove_leftovers(path)
        draft, descriptor = _new_draft(path)
    except PermissionError as error:
        raise PermissionError(f"the folder {path.parent} cannot be written to; choose another.") from error
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException as error:  # Ctrl-C included: nothing half-written stays
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL:
            full = OSError(
                f"{path} cannot be written ({os.strerror(error.errno)}); make room, raise the limit or name another "
                "disk."
            )
            full.errno = error.errno
            raise full from error
        raise


def _new_draft(path: Path) -> tuple[Path, int]:
    """A new file beside `path`, open for writing; its mode is the system's to choose, by the umask of the moment."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)  # Windows has text files, too
    while True:
        draft = path.with_name(f".{path.name}.{secrets.token_hex(_TOKEN // 2)}.part")
        descriptor = os.open(draft, flags, 0o666)
        if fcntl is None:
            return draft, descriptor
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # held until it is closed: this draft is being written
        if draft.exists():
            return draft, descriptor
        os.close(descriptor)  # taken for a leftover before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove drafts of `path` that nobody writes to any more: a process that was killed could not remove its own."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * _TOKEN}.part"):
        with suppress(OSError), ExitStack() as stack:  # locked by who writes it, another user's, or gone
            if fcntl is not None:
                fcntl.flock(stack.enter_context(open(draft, "rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.unlink()
