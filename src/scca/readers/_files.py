"""Opening a user's files, plain or gzip, with one-sentence errors.

No file may take more memory than about 100 times its size. An `Allowance` limits compressed files; plain files need no
limit, since a line never takes more. A pipe has no size before it is read, so its bytes are counted.
"""

import gzip
import io
import os
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["Allowance", "PairError", "Piped", "bytes_allowed", "check_regular", "opened", "optional_module", "readable"]

_ALWAYS_ALLOWED = 2**24  # bytes that any file may unpack to
_UNPACKED_PER_PACKED = 100  # bytes that a larger file may unpack to for each of its own; real text has about 5
_PIPED_AT_A_TIME, _MOST_PIPED = 2**20, 2**31  # bytes that are copied from a pipe
_BYTES_PER_DOCUMENT = 64  # memory that a document takes in addition to its text

_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


class PairError(ValueError):
    """Texts of the same things cannot be read: the message names the file, the place, the value and the remedy."""


def optional_module(module: str, extra: str, what: str = "Reading this file") -> Any:
    """Import a module that `what` needs, and that the extra `extra` installs."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.partition('.')[0]}, which is not installed: run pip install 'scca[{extra}]'."
        ) from error


def check_regular(path: Path) -> None:
    """Refuse anything but a regular nonempty file before opening it: opening a FIFO would hang."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:  # a ValueError is a NUL in the name
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise PairError(f"{path} is a directory; name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise PairError(
            f"{path} is {_KINDS.get(stat.S_IFMT(status.st_mode), 'not a regular file')}, which cannot be read more "
            "than once; copy its content to a regular file and name that."
        )
    if status.st_size == 0:
        raise PairError(f"{path} is empty; name a file with at least one document.")


class Piped:
    """Standard input ("-") or a pipe, copied to a temporary file that lives as long as this object.

    Reading a pipe can block forever, so readers refuse pipes unless they are wrapped in this.
    """

    def __init__(self, path: Path):
        self.path = path
        self.name = "standard input" if str(path) == "-" else str(path)
        self.suffix = path.suffix
        descriptor, self.copy = tempfile.mkstemp(prefix="scca-")
        weakref.finalize(self, os.unlink, self.copy)
        with (
            open(descriptor, "wb") as file,
            nullcontext(sys.stdin.buffer) if str(path) == "-" else open(path, "rb") as stream,
        ):
            self._copy(stream, file)

    def _copy(self, stream: BinaryIO, file: BinaryIO) -> None:
        try:
            while piece := stream.read(_PIPED_AT_A_TIME):
                if file.tell() + len(piece) > _MOST_PIPED:
                    raise PairError(
                        f"{self} has more than {_MOST_PIPED // 2**20} MiB, the limit for a pipe; "
                        "write it to a file and name that."
                    )
                file.write(piece)
            file.flush()
        except OSError as error:
            raise PairError(
                f"{self} cannot be copied to {tempfile.gettempdir()} ({error.strerror}); make room there, set TMPDIR "
                "to another folder, or write it to a file and name that."
            ) from error

    def __str__(self) -> str:
        return self.name


def readable(given: str | os.PathLike[str] | Piped) -> Path | Piped:
    """A path or pipe that can be read repeatedly."""
    if isinstance(given, Piped):
        return given
    return Piped(Path(given)) if str(given) == "-" else Path(given)


@contextmanager
def opened(path: Path | Piped) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed if its name ends in .gz."""
    if isinstance(path, Path):
        check_regular(path)
    file = path.copy if isinstance(path, Piped) else path
    try:
        if path.suffix.lower() == ".gz":
            with gzip.open(file, "rb") as packed, io.BufferedReader(_Unpacked(packed, path)) as stream:
                yield stream
        else:
            with open(file, "rb") as stream:
                yield stream
    except EOFError as error:
        raise PairError(f"{path} is truncated: its gzip data end too early; copy or download it again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise PairError(
            f"{path} is not valid gzip, as its name says ({error}); rename it if it is plain text, or copy or download "
            "it again."
        ) from error
    except OSError as error:
        raise _unreadable(path, error) from error


def bytes_allowed(packed: int, always: int = _ALWAYS_ALLOWED) -> int:
    """How many bytes may come out of `packed` compressed bytes: `always`, or more for larger data."""
    return max(always, _UNPACKED_PER_PACKED * packed)


class Allowance:
    """Limits the text that is read from a compressed file, since a small file can unpack to hours of work."""

    def __init__(self, path: Path | Piped):
        self._path = path
        self._most = self._left = bytes_allowed(os.path.getsize(path.copy if isinstance(path, Piped) else path))

    def spend(self, n_bytes: int, n_documents: int) -> None:
        """Count what was read, and refuse the file if it is too much."""
        self._left -= n_bytes + _BYTES_PER_DOCUMENT * n_documents
        if self._left < 0:
            raise PairError(
                f"{self._path} unpacks to more than {self._most} bytes of text, the most that a file of its size may "
                f"hold, each document counted as {_BYTES_PER_DOCUMENT} more; unpack it to a plain file if all of it is "
                "needed."
            )


class _Unpacked(io.RawIOBase):
    """The bytes that gzip unpacks, within the allowance of the file."""

    def __init__(self, packed: gzip.GzipFile, path: Path | Piped):
        self._packed, self._allowance = packed, Allowance(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._packed.read1(len(buffer))
        self._allowance.spend(len(content), content.count(b"\n"))
        buffer[: len(content)] = content
        return len(content)


def _unreadable(path: Path | Piped, error: OSError | ValueError) -> PairError:
    if isinstance(error, FileNotFoundError):
        return PairError(f"{path} does not exist; check the spelling and the folder.")
    if isinstance(error, PermissionError):
        return PairError(f"{path} may not be read by this user; change its permissions.")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return PairError(f"{str(path)!r} cannot be read ({reason}); check the name and the disk.")
