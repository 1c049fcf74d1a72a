"""Pairs in two line-aligned UTF-8 files: line i of one is the mate of line i of the other."""

import codecs
import sys
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

from .._wording import counted
from ._files import PairError, Piped, opened
from ._paired import Source

__all__ = ["LONGEST_DOCUMENT", "LinePairs", "lines", "lines_of", "lines_once"]

LONGEST_DOCUMENT = 8 * 2**20  # bytes of a line, field or unit: a longer one indicates a broken file

_OTHER_ENCODINGS = (  # UTF-32 first: its little-endian byte order mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_GZIP = b"\x1f\x8b"


def lines(path: Path | Piped, *, ends: bool = False) -> Generator[str, None, None]:
    """Stream the lines of a plain or .gz file, with their line ends if `ends`."""
    with opened(path) as stream:
        yield from lines_of(stream, str(path), ends=ends)


def lines_once(path: Path) -> Generator[str, None, None]:
    """Stream the lines of a file that is read only once, such as those of a pipe as they come."""
    if str(path) == "-":
        yield from lines_of(sys.stdin.buffer, "standard input")
    elif path.is_fifo() and path.suffix.lower() != ".gz":
        with open(path, "rb") as stream:
            yield from lines_of(stream, str(path))
    else:
        yield from lines(Piped(path) if path.is_fifo() else path)


def lines_of(stream: BinaryIO, name: str, *, ends: bool = False, before: int = 0, offset: int = 0) -> Iterator[str]:
    r"""Stream the lines of a binary stream, called `name` in error messages.

    Lines end at \n only. Python's text files also end them at a lone \r, and `str.splitlines` at U+2028 and U+0085,
    which would shift all later pairs. A stream that does not start at the beginning of its file has `before` lines and
    `offset` bytes before it.
    """
    number = before
    while raw := stream.readline(LONGEST_DOCUMENT + 8):  # room for a byte order mark and a line end
        number += 1
        start = offset
        offset += len(raw)
        if number == 1:
            _check_start(raw, name)
            if raw.startswith(codecs.BOM_UTF8):
                raw = raw[len(codecs.BOM_UTF8) :]
                start += len(codecs.BOM_UTF8)
        line = raw[: -2 if raw.endswith(b"\r\n") else -1] if raw.endswith(b"\n") else raw
        if len(line) > LONGEST_DOCUMENT:
            raise PairError(
                f"Line {number} of {name} is longer than {LONGEST_DOCUMENT // 2**20} MiB; check that documents are "
                "separated by line ends."
            )
        nul = line.find(b"\0")
        if nul >= 0:
            raise PairError(
                f"Line {number} of {name} has a NUL byte (0x00 at offset {start + nul}); convert the file to UTF-8 "
                "text if it is UTF-16 or binary, or remove the byte."
            )
        try:
            yield (raw if ends else line).decode("utf-8")
        except UnicodeDecodeError as error:
            raise PairError(
                f"{name} is not UTF-8: byte 0x{raw[error.start]:02x} at offset {start + error.start} (line {number}) "
                "cannot be decoded; convert the file to UTF-8."
            ) from error
    if number == 0:
        raise PairError(f"{name} is empty; name a file with at least one document.")


class LinePairs(Source):
    """Two files, aligned line by line."""

    def __init__(self, first: Path | Piped, second: Path | Piped):
        self.paths = (first, second)

    def __str__(self) -> str:
        return f"{self.paths[0]} and {self.paths[1]}"

    def place(self, side: int, position: int) -> str:
        return f"line {position + 1} of {self.paths[side]}"

    def documents(self, side: int) -> Generator[str, None, None]:
        return lines(self.paths[side])

    def pairs(self) -> Iterator[tuple[str, str]]:
        with closing(self.documents(0)) as first, closing(self.documents(1)) as second:
            for number, (one, other) in enumerate(zip_longest(first, second), 1):
                if one is None:
                    raise self.uneven(number - 1, number + sum(1 for _ in second))
                if other is None:
                    raise self.uneven(number + sum(1 for _ in first), number - 1)
                yield one, other

    def uneven(self, n_first: int, n_second: int) -> PairError:
        """The error for files with different numbers of lines."""
        longer = self.paths[0 if n_first > n_second else 1]
        return PairError(
            f"{self.paths[0]} has {counted(n_first, 'line')} and {self.paths[1]} has {n_second}: line "
            f"{min(n_first, n_second) + 1} of {longer} has no mate; put both documents of a pair on the same line."
        )


def _check_start(raw: bytes, name: str) -> None:
    for mark, encoding in _OTHER_ENCODINGS:
        if raw.startswith(mark):
            raise PairError(f"{name} is encoded in {encoding}, as its first bytes say; convert it to UTF-8.")
    if raw.startswith(_GZIP):
        raise PairError(f"{name} is compressed by gzip; decompress it, or give it a name that ends in .gz.")
