"""Atomic writing: files appear complete or not at all."""

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
except ImportError:  # Windows, where an open file cannot be removed anyway
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "check_folder", "check_output"]

_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_TOKEN_LENGTH = 8  # number of random characters in the name of a draft
_LONGEST = 255 - len("..12345678.part")  # maximum length of a file name, so that the name of its draft fits


def check_output(path: str | os.PathLike[str]) -> Path:
    """`path` with links followed, if a file can be written there; otherwise an OSError, before any work is done."""
    path = Path(os.path.realpath(path))
    length = len(os.fsencode(path.name))
    if length > _LONGEST:
        raise OSError(
            f"the file name {path.name[:20]}... has {length} bytes, where {_LONGEST} are allowed; choose a shorter one."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no ordinary file; name another.")
    if not path.parent.is_dir():
        existing = _existing_part(path.parent)
        if not existing.is_dir():
            raise NotADirectoryError(f"{existing} is a file, not a folder; name a file in a folder.")
        raise FileNotFoundError(f"the folder {path.parent} does not exist; make it first.")
    _check_access(path.parent)
    return path


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work is done, a folder that cannot be created or written to."""
    existing = _existing_part(Path(os.path.realpath(path)))
    if not existing.is_dir():
        raise NotADirectoryError(f"{existing} is a file; name a folder.")
    _check_access(existing)


def _existing_part(path: Path) -> Path:
    """The path itself if it exists, otherwise the innermost folder or file on it that does."""
    return next(part for part in (path, *path.parents) if part.exists())


def _check_access(folder: Path) -> None:
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder {folder} cannot be written to; choose another.")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A context with a file to write to, which replaces `path` only once it is complete on disk."""
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
    except BaseException as error:  # also after Ctrl-C: nothing half-written stays
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
    """A new file next to `path`, open for writing, with the default mode of the current umask."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)  # Windows would open a text file
    while True:
        draft = path.with_name(f".{path.name}.{secrets.token_hex(_TOKEN_LENGTH // 2)}.part")
        descriptor = os.open(draft, flags, 0o666)
        if fcntl is None:
            return draft, descriptor
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # held until the draft is closed: it is being written
        if draft.exists():
            return draft, descriptor
        os.close(descriptor)  # another process removed it as a leftover before it was locked


def _remove_leftovers(path: Path) -> None:
    """Remove drafts of `path` left by processes that were killed."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * _TOKEN_LENGTH}.part"):
        with suppress(OSError), ExitStack() as stack:  # it may be being written, another user's, or gone
            if fcntl is not None:
                fcntl.flock(stack.enter_context(open(draft, "rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.unlink()
